//! Estimates of the likelihood, compared seed by seed.

use gpbench_record::{
    CaseStatus, LikelihoodEstimator, LikelihoodStudy, Probes, Row, StandardProbes, Task, names, testing,
};
use gpbench_report::{Format, Run, export};
use gpbench_runs::RunRecord;

/// Errors of the mean estimate of y^T H^-1 y on each seed.
const ERRORS: [f64; 3] = [1.0, -2.0, 1.5];

/// A case of an estimator: its error, its standard error and its seconds are these times those of the first.
fn row(estimator: &str, seed: usize, [error, spread, seconds]: [f64; 3]) -> Row {
    let mut case = testing::case("cg");
    case.seed = seed as u64;
    let probes = StandardProbes { probes: 8, distribution: Default::default() };
    let method = LikelihoodEstimator::Solutions {
        probes: Probes::Standard(probes),
        second_solve: false,
        quadrature: None,
    };
    case.task =
        Task::Likelihood(LikelihoodStudy { estimator: estimator.to_owned(), method, repetitions: 16 });
    let metrics = [
        (names::REPETITIONS, 16.0),
        (names::QUADRATIC, 100.0 + error * ERRORS[seed]),
        (names::QUADRATIC_EXACT, 100.0),
        (names::QUADRATIC_ERROR, spread),
        (names::GRADIENT_BIAS, 0.0),
        (names::SECONDS, 16.0 * seconds),
    ];
    testing::row(case, &metrics)
}

fn run(seeds: usize) -> Run {
    let of = |estimator, factors| (0..seeds).map(move |seed| row(estimator, seed, factors));
    let rows = of("plain", [1.0; 3]).chain(of("better", [0.5, 2.0, 0.25])).collect();
    let record = RunRecord { rows, name: "likelihood".to_owned(), ..RunRecord::default() };
    Run { record, warnings: Vec::new() }
}

/// The lines of the table of pairs.
fn pairs(run: &Run) -> Vec<String> {
    let text = export(run, Format::Text).unwrap();
    let table = text.split("\n\n").find(|block| block.starts_with("Beside ")).unwrap_or_default();
    table.lines().map(str::to_owned).collect()
}

/// The cells of a line, by two spaces or more.
fn cells(line: &str) -> Vec<&str> {
    line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect()
}

#[test]
fn errors_variances_and_seconds_are_ratios_to_the_first_estimate() {
    let table = pairs(&run(3));
    assert_eq!(table[0], "Beside cg · plain, seed by seed");
    // A gradient without an error has no ratio.
    let titles = ["estimate", "pairs", "yᵀH⁻¹y error ratio", "yᵀH⁻¹y variance ratio", "seconds ratio"];
    assert_eq!(cells(&table[1]), titles);
    let ratios = ["cg · better", "3", "2.0× [2.0, 2.0]", "0.25× [0.25, 0.25]", "4.0× [4.0, 4.0]"];
    assert_eq!(cells(&table[2]), ratios);
    assert_eq!(table[3], "[ ] 95 % interval");
    let page = export(&run(3), Format::Markdown).unwrap();
    assert!(page.contains("brackets are 95 % t intervals over seeds."), "{page}");
    // Two seeds have no interval.
    assert_eq!(cells(&pairs(&run(2))[2]), ["cg · better", "2", "2.0×", "0.25×", "4.0×"]);
    assert!(export(&run(2), Format::Markdown).unwrap().contains("no interval: 2 seeds."));
}

#[test]
fn seconds_are_compared_only_where_all_cases_ended_well() {
    let mut run = run(3);
    run.record.rows[4].status = CaseStatus::NotConverged;
    let table = pairs(&run);
    assert_eq!(cells(&table[2])[2..], ["2.0× [2.0, 2.0]", "0.25× [0.25, 0.25]", "2/3"]);
    assert!(table[3].ends_with("2/3: both reached it with 2 of 3 seeds"), "{table:?}");
}
