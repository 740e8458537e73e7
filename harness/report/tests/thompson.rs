//! The report of Thompson sampling: pairs, charts, published gains, replay.

use std::fs;
use std::path::Path;

use gpbench_record::{
    Ascent, Candidates, CaseStatus, Exploit, Frequencies, IllustratedSample, Illustration, JournalEntry,
    Metrics, Objective, ObjectiveDraw, PathwiseTargets, PriorSource, Row, Source, Step, StopReason, Task,
    TaskOutput, Thompson, ThompsonOutput, WarmStart, testing,
};
use gpbench_report::{Format, Run, WriteOptions, compare, export, write_all};

const STEPS: u64 = 10;
const BATCH: usize = 50;
const N: usize = 2000;

/// Solvers by their plugins: what they gain in the end, how fast, and the kernel entries of a step over n^2.
const SOLVERS: [(&str, f64, f64, f64); 4] = [
    ("cholesky", 1.80, 2.0, 1.0),
    ("cg", 1.60, 2.5, 10.0),
    ("sdd", 1.81, 2.0, 10.0),
    ("sgd-rff", 1.3, 4.0, 10.0),
];

/// Data sets: name, length scale, level of the objectives.
const DATASETS: [(&str, f64, f64); 3] = [("l03", 0.3, 3.4), ("l05", 0.5, 3.2), ("l075", 0.75, 3.0)];

/// A number between -1 and 1 that some integers decide.
fn noise(seeds: [u64; 3]) -> f64 {
    let mixed =
        seeds.iter().fold(17.0f64, |sum, seed| (sum * 12.9898 + *seed as f64 * 78.233).sin() * 43_758.545);
    2.0 * (mixed - mixed.floor()) - 1.0
}

fn task() -> Thompson {
    let prior = PriorSource::Features { features: 2000, frequencies: Frequencies::MultivariateT };
    Thompson {
        estimator: "pathwise".into(),
        targets: PathwiseTargets { probes: BATCH, prior },
        share_features: false,
        steps: STEPS,
        candidates: Candidates {
            rounds: 5,
            points: 2000,
            explore: 0.1,
            nearby: 0.5,
            exploit: Exploit::Shifted,
        },
        ascent: Ascent { steps: 100, learning_rate: 1e-3 },
        warm_start: WarmStart::None,
        inducing: None,
        replay: Vec::new(),
    }
}

/// A step of a solver: values, entries and seconds.
fn step(t: u64, n: usize, (values, solver): ([f64; 3], usize)) -> Step {
    let [best, chosen, residual] = values;
    let (plugin, _, _, work) = SOLVERS[solver];
    let entries = work * (n * n) as f64;
    let solve = if plugin == "cholesky" { 1e-10 * (n as f64).powi(3) } else { 2e-8 * entries };
    let metrics = [
        ("n", n as f64),
        ("best", best),
        ("best_observed", best + 1e-4),
        ("batch_best", best - 0.1),
        ("batch_mean", chosen),
        ("optimism", 0.8 / (t as f64 + 1.0) - 0.1 * solver as f64),
        ("distinct", 0.9 - 0.02 * t as f64),
        ("on_boundary", 0.3),
        ("epochs", work),
        ("iterations", work),
        ("entries", entries),
        ("entries_acquire", 1e8),
        ("seconds_pose", 0.05),
        ("seconds_prepare", 0.0),
        ("seconds_solve", solve),
        ("seconds_candidates", 0.25),
        ("seconds_ascent", 1.5),
        ("residual_y", residual),
        ("residual_probes", 2.0 * residual),
    ];
    Step {
        step: t,
        hyperparameters: std::collections::BTreeMap::new(),
        reason: StopReason::Epochs,
        metrics: Metrics::from_iter(metrics.map(|(name, value)| (name.to_owned(), value))),
    }
}

/// A case of a solver on a data set.
fn row(solver: usize, dataset: usize, seed: u64) -> Row {
    let (plugin, gain, pace, work) = SOLVERS[solver];
    let (name, length_scale, level) = DATASETS[dataset];
    let mut case = testing::case(plugin);
    case.solver.plugin = plugin.to_owned();
    case.seed = seed;
    case.dataset.name = name.to_owned();
    case.dataset.source = Source::Objective(Objective {
        n: N,
        d: 8,
        kernel: gpbench_record::Family::Matern32,
        signal_scale: 1.0,
        noise_scale: 1e-3,
        length_scale,
        draw: ObjectiveDraw::Features { features: 16_384, frequencies: Frequencies::MultivariateT },
    });
    case.task = Task::Thompson(Box::new(task()));
    case.budget.tolerance = None;
    case.budget.max_epochs = Some(work);
    // Objectives differ more than solvers do.
    let start = level + 0.4 * noise([dataset as u64, seed, 0]);
    let own = 0.05 * noise([solver as u64, dataset as u64, seed]);
    let residual = [1e-14, 1e-2, 3e-3, 5e-2][solver];
    let mut steps = Vec::new();
    for t in 0..STEPS {
        let share = 1.0 - (-(t as f64 + 1.0) / pace).exp();
        let best = start + (gain + own) * share;
        steps.push(step(
            t,
            N + t as usize * BATCH,
            ([best, best - 0.8, residual * (1.0 + t as f64)], solver),
        ));
    }
    let random: Vec<f64> = (1..=STEPS).map(|t| start + 0.004 * t as f64).collect();
    let sum = |name: &str| steps.iter().filter_map(|step| step.metrics.get(name)).sum::<f64>();
    let best = steps[steps.len() - 1].metrics.get("best").unwrap();
    let mut metrics = vec![
        ("best", best),
        ("gain", best - random[random.len() - 1]),
        ("area", sum("best") / STEPS as f64),
        ("best_start", start),
        ("best_random", random[random.len() - 1]),
        ("residual_y", residual * STEPS as f64),
        ("residual_probes", 2.0 * residual * STEPS as f64),
        ("steps", STEPS as f64),
        ("iterations", work * STEPS as f64),
    ];
    let sums = ["epochs", "entries", "entries_acquire", "seconds_pose", "seconds_prepare", "seconds_solve"];
    metrics.extend(
        sums.into_iter().chain(["seconds_candidates", "seconds_ascent"]).map(|name| (name, sum(name))),
    );
    let total = metrics.iter().filter(|(name, _)| name.starts_with("seconds_")).map(|(_, value)| value).sum();
    metrics.push(("seconds_total", total));
    let mut row = testing::row(case, &metrics);
    row.n = Some(N);
    row.d = Some(8);
    row.output = TaskOutput::Thompson(Box::new(ThompsonOutput {
        steps,
        random_search: random,
        ..ThompsonOutput::default()
    }));
    row
}

fn rows(seeds: u64) -> Vec<Row> {
    let all = |dataset: usize, solver: usize| (0..seeds).map(move |seed| row(solver, dataset, seed));
    let pairs =
        (0..DATASETS.len()).flat_map(|dataset| (0..SOLVERS.len()).map(move |solver| (dataset, solver)));
    pairs.flat_map(|(dataset, solver)| all(dataset, solver)).collect()
}

fn stored(rows: &[Row]) -> (tempfile::TempDir, Run) {
    let folder = tempfile::tempdir().unwrap();
    let line = |row: &Row| serde_json::to_string(&JournalEntry::Case(Box::new(row.clone()))).unwrap();
    let lines: Vec<String> = rows.iter().map(line).collect();
    fs::write(folder.path().join("journal.jsonl"), lines.join("\n") + "\n").unwrap();
    let mut run = Run::open(folder.path()).unwrap();
    run.record.axes.solver = SOLVERS.iter().map(|(plugin, ..)| (*plugin).to_owned()).collect();
    run.record.report.reference = Some("lin2023".to_owned());
    (folder, run)
}

/// Writes the report of a run to a fixed place, so that the page can be opened after the test; gives names of the charts.
fn charts(run: &Run, place: &str) -> Vec<String> {
    let output = Path::new(env!("CARGO_TARGET_TMPDIR")).join(place);
    let written = write_all(run, &WriteOptions { output: Some(output) }).unwrap();
    for figure in &written.figures {
        let svg = fs::read_to_string(figure).unwrap();
        assert!(svg.contains("polyline") || svg.contains("rect"), "{} is empty", figure.display());
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{} has no numbers", figure.display());
    }
    written.figures.iter().map(|path| path.file_name().unwrap().to_str().unwrap().to_owned()).collect()
}

#[test]
fn the_tables_have_pairs_and_published_gains() {
    let (_folder, run) = stored(&rows(5));
    insta::assert_snapshot!(export(&run, Format::Text).unwrap());
}

#[test]
fn every_chart_is_drawn() {
    let (_folder, run) = stored(&rows(5));
    let expected = [
        "search.svg",
        "search-data-sets.svg",
        "gains.svg",
        "seconds.svg",
        "search-steps-l03.svg",
        "search-steps-l05.svg",
        "search-steps-l075.svg",
    ];
    assert_eq!(charts(&run, "thompson"), expected);
    let page = export(&run, Format::Markdown).unwrap();
    assert!(page.contains("objective on the unit cube: a draw from a GP (matern32"), "{page}");
    assert!(page.contains("5 rounds of 2000, 10 % uniform") && !page.contains("biased"), "{page}");
}

/// Rows of a table of a page of text that begin with one of the solvers, as far as the solver is marked in its column `best`.
fn marked(text: &str) -> Vec<String> {
    let lines = text.lines().skip_while(|line| !line.starts_with("All data sets together")).skip(2);
    // The legend begins with what the mark means.
    let lines = lines.take_while(|line| !line.is_empty() && !line.starts_with("* "));
    lines
        .filter(|line| line.contains('*'))
        .map(|line| line.split_whitespace().next().unwrap().to_owned())
        .collect()
}

#[test]
fn only_what_pairs_show_is_marked() {
    // Exact sampling and SDD are not told apart; both are better than the others.
    let (_folder, run) = stored(&rows(5));
    assert_eq!(marked(&export(&run, Format::Text).unwrap()), ["cholesky", "sdd"]);
    // One seed on each data set: three pairs are too few.
    let (_folder, run) = stored(&rows(1));
    let text = export(&run, Format::Text).unwrap();
    assert!(marked(&text).is_empty() && !text.contains('*'), "{text}");
    // A solver that fails somewhere is not called the best, and its other searches still make pairs.
    let mut failing = rows(5);
    failing.iter_mut().find(|row| row.labels.solver == "sdd").unwrap().status = CaseStatus::Crashed;
    let (_folder, run) = stored(&failing);
    let text = export(&run, Format::Text).unwrap();
    assert_eq!(marked(&text), ["cholesky"]);
    assert!(text.contains("14/15"), "{text}");
}

#[test]
fn points_of_another_run_are_judged_by_the_chosen_ones() {
    let mut rows = rows(5);
    for row in &mut rows {
        let Task::Thompson(task) = &mut row.case.task else { panic!("the task is Thompson sampling") };
        task.replay = vec![0.5; 8 * BATCH * STEPS as usize];
    }
    let (_folder, run) = stored(&rows);
    let text = export(&run, Format::Text).unwrap();
    assert!(text.contains("chosen − cholesky") && !text.contains("best − cholesky"), "{text}");
    assert_eq!(marked(&text), ["cholesky", "sdd"]);
    let names = charts(&run, "thompson-replay");
    assert!(names.contains(&"chosen.svg".to_owned()), "{names:?}");
    assert!(
        !names.iter().any(|name| name.starts_with("search-data") || name.starts_with("gains")),
        "{names:?}"
    );
    let svg = Path::new(env!("CARGO_TARGET_TMPDIR")).join("thompson-replay/figures/search-steps-l03.svg");
    assert!(fs::read_to_string(svg).unwrap().contains("with the points of another run"));
    let page = export(&run, Format::Markdown).unwrap();
    assert!(page.contains("points of another run"), "{page}");
}

#[test]
fn biased_samples_are_warned_of() {
    let mut rows = rows(1);
    let Task::Thompson(task) = &mut rows[0].case.task else { panic!("the task is Thompson sampling") };
    task.warm_start = WarmStart::All;
    let (_folder, run) = stored(&rows);
    for format in [Format::Markdown, Format::Html] {
        let page = export(&run, format).unwrap();
        assert!(page.contains("Results are biased") && page.contains("drawn once (biased)"), "{page}");
    }
}

#[test]
fn one_solver_on_one_objective_is_reported() {
    // Verification did not end: nothing is known of random search.
    let mut row = row(1, 0, 0);
    let TaskOutput::Thompson(output) = &mut row.output else { panic!("the output is of Thompson sampling") };
    output.random_search.clear();
    let (_folder, run) = stored(&[row.clone()]);
    assert!(export(&run, Format::Text).unwrap().contains("cg"));
    assert_eq!(charts(&run, "thompson-one"), ["search.svg", "search-steps-l03.svg"]);
    // A case that took no step.
    row.output = TaskOutput::Thompson(Box::default());
    row.status = CaseStatus::Crashed;
    let (_folder, run) = stored(&[row]);
    assert!(charts(&run, "thompson-none").is_empty());
    assert!(export(&run, Format::Text).unwrap().contains("crashed"));
}

#[test]
fn runs_are_compared_and_followed() {
    let (_folder, first) = stored(&rows(2));
    let mut better = first.clone();
    for row in &mut better.record.rows {
        let best = row.metrics.get("best").unwrap();
        row.metrics.insert("best", best + 0.5);
    }
    let comparison = compare(&[first.clone(), better.clone()]).unwrap().cases().unwrap();
    let text = comparison.table().text();
    assert!(text.contains("best") && text.contains("gain") && text.contains("all parts [s]"), "{text}");
    let best = gpbench_record::metric::find("best").unwrap();
    let history = gpbench_report::History::new("run", best, &[first.clone(), better]).unwrap();
    assert_eq!(history.points.len(), 2 * DATASETS.len() * SOLVERS.len());
    for (format, word) in [(Format::Json, "\"seconds_candidates\""), (Format::Csv, "best_random")] {
        assert!(export(&first, format).unwrap().contains(word));
    }
}

/// How two samples of an objective with one input chose their points.
fn illustration() -> Illustration {
    let x: Vec<f64> = (0..=100).map(|i| f64::from(i) / 100.0).collect();
    let objective = |x: f64| (9.0 * x).sin() + 0.5 * (23.0 * x).cos();
    let sample = |shift: f64| {
        let value = move |x: f64| objective(x) + 0.3 * (31.0 * x + shift).sin();
        let ascent =
            |from: f64| (0..20).map(|i| from + 0.0012 * f64::from(i)).map(|x| [x, value(x)]).collect();
        IllustratedSample {
            values: x.iter().map(|x| value(*x)).collect(),
            ascents: [0.12, 0.2, 0.74].map(ascent).into(),
            chosen: [0.22, value(0.22)],
        }
    };
    Illustration {
        objective: x.iter().map(|x| objective(*x)).collect(),
        data: [0.05, 0.3, 0.45, 0.62, 0.9].map(|x| [x, objective(x)]).into(),
        candidates: (0..7).map(|i| 0.05 + 0.14 * f64::from(i)).collect(),
        samples: [0.0, 1.0, 2.5].map(sample).into(),
        x,
    }
}

#[test]
fn the_choice_of_points_is_drawn_along_one_input() {
    let mut row = row(0, 0, 0);
    let TaskOutput::Thompson(output) = &mut row.output else { panic!("the output is of Thompson sampling") };
    output.illustration = Some(Box::new(illustration()));
    let (_folder, run) = stored(&[row]);
    let names = charts(&run, "thompson-one-input");
    assert!(names.contains(&"acquisition-l03-cholesky.svg".to_owned()), "{names:?}");
}
