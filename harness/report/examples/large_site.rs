//! Writes a web site of 50 invented runs with 20 000 cases, to see how large it is and how long it takes.
//! `ci/site-check --large` makes it, measures it and tries it in a browser.
//!
//! `cargo run --release -p gpbench-report --example large_site -- FOLDER`

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use gpbench_record::{Environment, Metrics, Row, TracePoint, names, testing};
use gpbench_report::{ArchivedRun, Run, Verification, WebSite};
use gpbench_runs::RunRecord;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

const RUNS: u64 = 50;
const DATASETS: u64 = 10;
/// Solvers of all runs, and of each run.
const SOLVERS: u64 = 20;
const SOLVERS_OF_RUN: u64 = 8;
const SEEDS: u64 = 5;
/// The name of one of the solvers, with marks of addresses and pages.
const ODD_NAME: &str = r#"odd|name, 50% & "more" #1 <b>+'s"#;
/// Points of each trace.
const POINTS: u64 = 40;
const PROCESSORS: [&str; 4] = ["AMD EPYC", "Intel Xeon", "Apple M4", "ARM Neoverse"];
const THREADS: [usize; 3] = [2, 4, 8];

fn main() -> ExitCode {
    let Some(folder) = std::env::args().nth(1) else {
        eprintln!("usage: large_site FOLDER");
        return ExitCode::from(2);
    };
    let began = Instant::now();
    let mut site = WebSite::default();
    let mut random = ChaCha8Rng::seed_from_u64(0);
    for number in 0..RUNS {
        site.add(run(number, &mut random)).expect("the tables of a run");
    }
    let written = site.write(Path::new(&folder)).expect("a site");
    let (seconds, bytes) = (began.elapsed().as_secs_f64(), written.bytes as f64);
    println!(
        "{}: {} cases, {} files, {:.2} MiB in {seconds:.1} s",
        written.front.display(),
        written.cases,
        written.files,
        bytes / f64::from(1 << 20)
    );
    ExitCode::SUCCESS
}

/// A run of some of the solvers on all data sets, on one of twelve kinds of machines.
fn run(number: u64, random: &mut ChaCha8Rng) -> ArchivedRun {
    let machine = number as usize;
    let environment = Environment {
        cpu: PROCESSORS[machine % PROCESSORS.len()].to_owned(),
        threads: THREADS[machine % THREADS.len()],
        ..Environment::default()
    };
    let mut rows = Vec::new();
    for dataset in 0..DATASETS {
        for solver in 0..SOLVERS_OF_RUN {
            let solver = (solver + number) % SOLVERS;
            rows.extend((0..SEEDS).map(|seed| row(number, [dataset, solver, seed], random)));
        }
    }
    let name = format!("suite-{}", number % 7);
    let place = format!("{name}/20260101T000000Z-{number:06x}");
    let record = RunRecord { name, rows, environments: vec![environment], ..RunRecord::default() };
    ArchivedRun { run: Run { record, warnings: Vec::new() }, place, verification: Verification::None }
}

/// A row with noise in each number, as measured rows have.
fn row(run: u64, [dataset, solver, seed]: [u64; 3], random: &mut ChaCha8Rng) -> Row {
    let mut noisy = |value: f64| {
        let noise: f64 = StandardNormal.sample(random);
        value * (0.1 * noise).exp()
    };
    let name = if solver == 1 { ODD_NAME.to_owned() } else { format!("solver-{solver}") };
    let mut case = testing::case(&name);
    case.dataset.name = format!("data-{dataset}");
    case.seed = seed;
    let seconds = noisy(1.0 + 0.3 * solver as f64);
    let metrics = [
        (names::SECONDS_SOLVE, seconds),
        (names::SECONDS, seconds),
        (names::EPOCHS, noisy(2.0)),
        (names::ITERATIONS, noisy(100.0).round()),
        (names::RESIDUAL_Y, noisy(5e-3)),
        (names::RESIDUAL_PROBES, noisy(6e-3)),
        (names::TEST_RMSE, noisy(0.25)),
        (names::TEST_NLL, noisy(0.1)),
        (names::RMSE_TO_EXACT, noisy(4e-4)),
        (names::WEIGHT_ERROR, noisy(0.14)),
        (names::RKHS_ERROR, noisy(0.017)),
    ];
    let point = |iteration: u64| {
        let share = (iteration + 1) as f64 / POINTS as f64;
        let values = [(names::TEST_RMSE, noisy(0.25 / share)), (names::CLAIMED_Y, noisy(5e-3 / share))];
        let metrics: Metrics = values.map(|(name, value)| (name.to_owned(), value)).into_iter().collect();
        TracePoint { iteration, seconds: share * seconds, epochs: share * noisy(2.0), metrics }
    };
    let trace = (0..POINTS).map(point).collect();
    let id = format!("{run:04x}{dataset:04x}{solver:04x}{seed:04x}");
    let finished = format!("2026-01-{:02}T00:00:00Z", 1 + run % 28);
    Row { id, trace, finished, ..testing::row(case, &metrics) }
}
