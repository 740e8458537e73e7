//! The report of learners: grids, looks, batch sizes, and agreement with published figures.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use gpbench_record::{
    Activation, CaseStatus, Covariance, GridPoint, JournalEntry, Learning, LearningOutput, Metrics,
    ModelKind, ModelSelection, NetworkShape, ParamValue, Row, Source, Step, StopReason, TargetScaling, Task,
    TaskOutput, TracePoint, testing,
};
use gpbench_report::{Format, Run, WriteOptions, baseline, compare, export, write_all};

const RATES: [f64; 3] = [0.1, 0.3, 1.0];

/// A case of a method with a batch size, a learning rate and a seed. The rate 0.3 is the best.
fn row(method: &str, batch: i64, rate: f64, seed: u64) -> Row {
    let entry = format!("{method}-{batch}");
    let mut case = testing::case(&format!("{entry}@learning_rate={rate}"));
    case.seed = seed;
    case.dataset.name = "bike".to_owned();
    case.dataset.source = Source::Registry { name: "bike".to_owned() };
    case.dataset.targets = TargetScaling::Centred;
    case.kernel.name = "deep-linear".to_owned();
    case.kernel.family = Covariance::Linear;
    case.kernel.network =
        Some(NetworkShape { widths: vec![128, 128], activation: Activation::Relu, random: None });
    case.solver.plugin = method.to_owned();
    case.solver.params.insert("batch".to_owned(), ParamValue::Int(batch));
    case.task = Task::Learn(Box::new(Learning {
        passes: 8,
        looks: vec![1, 2, 4, 8],
        select: ModelSelection::Nlml,
        patience: 0,
        inducing: None,
        shared_length_scale: false,
        nlml_rows: 4096,
        exact_rows: Learning::EXACT_ROWS,
        variance_rank: None,
        optimum: false,
        grid: None,
    }));
    let params = BTreeMap::from([("learning_rate".to_owned(), ParamValue::Float(rate))]);
    case.solver.grid = Some(GridPoint { entry, params });
    let offset = if method == "scgd" { -0.2 } else { 0.3 };
    let nlml = -1.2 + offset + 0.1 * (rate / 0.3).ln().powi(2) + 0.01 * seed as f64;
    let metrics = [
        ("nlml", nlml),
        ("test_rmse", 0.1 + 0.001 * seed as f64),
        ("test_nll", -0.8),
        ("passes", 8.0),
        ("seconds_per_step", 1e-4 * (batch * batch) as f64),
        ("seconds_prepare", 1.0),
        ("seconds_solve", 9.0),
        ("peak_memory_bytes", 1e8),
    ];
    let mut row = testing::row(case, &metrics);
    let look = |(step, passes): (usize, f64)| Step {
        step: step as u64,
        hyperparameters: BTreeMap::new(),
        reason: StopReason::Epochs,
        metrics: Metrics::from_iter(
            [
                ("passes", passes),
                ("nlml", nlml + 1.0 / passes),
                ("test_rmse", 0.1 + 0.1 / passes),
                ("test_nll", -0.8 + 0.1 / passes),
                ("seconds_prepare", 1.0),
                ("seconds_solve", passes),
            ]
            .map(|(name, value)| (name.to_owned(), value)),
        ),
    };
    let looks = [1.0, 2.0, 4.0, 8.0].into_iter().enumerate().map(look).collect();
    row.output = TaskOutput::Learn(Box::new(LearningOutput {
        looks,
        model: Some(ModelKind::Features),
        ..LearningOutput::default()
    }));
    let point = |i: u64| {
        let passes = 0.5 * i as f64;
        let own = [("passes", passes), ("claimed_objective", 3.0 / passes), ("solver:penalty", 0.5 / passes)];
        let metrics = Metrics::from_iter(own.map(|(name, value)| (name.to_owned(), value)));
        TracePoint { iteration: i, seconds: 1.0 + passes, epochs: 0.0, metrics }
    };
    row.trace = (1..=16).map(point).collect();
    row
}

fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for (method, batch) in ["scgd", "bsgd"].into_iter().flat_map(|m| [32, 64, 128].map(|b| (m, b))) {
        for rate in RATES {
            rows.extend([0, 1].map(|seed| row(method, batch, rate, seed)));
        }
    }
    // The largest rate of one entry diverges on one split.
    let failed = rows.iter_mut().find(|row| row.labels.solver == "bsgd-64@learning_rate=1").unwrap();
    failed.status = CaseStatus::Diverged;
    rows
}

/// A learner that hands out no model: its predictions are better than all others', and only it says so.
fn without_model(seed: u64) -> Row {
    let mut row = row("bsgd", 32, 0.3, seed);
    row.labels.solver = "own".to_owned();
    row.case.solver.name = "own".to_owned();
    row.case.solver.grid = None;
    row.output = TaskOutput::Learn(Box::default());
    row.metrics = Metrics::from_iter(
        row.metrics.iter().filter(|(name, _)| *name != "nlml").map(|(name, value)| (name.to_owned(), value)),
    );
    for (name, value) in [("test_rmse", 0.001), ("test_nll", -9.0), ("seconds_solve", 1e-3)] {
        row.metrics.insert(name, value);
    }
    row
}

/// A stored run of these rows, with the figures of Shoham and Avron beside them.
fn run() -> (tempfile::TempDir, Run) {
    stored(rows())
}

fn stored(rows: Vec<Row>) -> (tempfile::TempDir, Run) {
    let folder = tempfile::tempdir().unwrap();
    let lines: Vec<String> = rows
        .into_iter()
        .map(|row| serde_json::to_string(&JournalEntry::Case(Box::new(row))).unwrap())
        .collect();
    fs::write(folder.path().join("journal.jsonl"), lines.join("\n") + "\n").unwrap();
    let mut run = Run::open(folder.path()).unwrap();
    run.record.report.reference = Some("shoham2025".to_owned());
    (folder, run)
}

#[test]
fn the_page_has_the_chosen_values_their_price_and_the_published_figures() {
    let (_folder, run) = run();
    insta::assert_snapshot!(export(&run, Format::Text).unwrap());
}

#[test]
fn predictions_without_a_model_are_marked_and_never_bold() {
    let of_seed = |seed: u64| [row("scgd", 32, 0.3, seed), row("bsgd", 64, 0.3, seed), without_model(seed)];
    let (_folder, run) = stored((0..5).flat_map(of_seed).collect());
    let text = export(&run, Format::Text).unwrap();
    insta::assert_snapshot!(text);
    for format in [Format::Markdown, Format::Html] {
        let page = export(&run, format).unwrap().replace("&#39;", "'");
        assert!(page.contains("learner's own"), "{page}");
        let ratio = "is the geometric mean of the other's seconds of whole fits, all of which ended ok, over the learner's own";
        assert!(page.contains(ratio), "{page}");
        assert!(page.contains("**-1.38") || page.contains("<strong>-1.38"), "{page}");
        assert!(!page.contains("**0.001") && !page.contains("<strong>0.001"), "{page}");
    }
    let output = tempfile::tempdir().unwrap();
    write_all(&run, &WriteOptions { output: Some(output.path().to_owned()) }).unwrap();
    for page in ["report.md", "index.html"] {
        let text = fs::read_to_string(output.path().join(page)).unwrap();
        assert!(text.contains("Hollow markers, which the line passes over"), "{page}");
    }
    // Beside solvers too.
    let across = compare(&[solvers(|_| ()), run.clone()]).unwrap().methods().expect("two tasks");
    let own: Vec<&str> =
        across.rows.iter().filter(|row| row.own_predictions).map(|row| row.solver.as_str()).collect();
    assert_eq!(own, ["own"]);
    assert!(across.table().text().contains("learner's own"));
}

#[test]
fn every_chart_is_drawn() {
    let (_folder, run) = run();
    // A fixed place, so that the page can be opened after the test.
    let output = Some(Path::new(env!("CARGO_TARGET_TMPDIR")).join("learning"));
    let written = write_all(&run, &WriteOptions { output }).unwrap();
    let names: Vec<_> = written.figures.iter().map(|f| f.file_name().unwrap().to_str().unwrap()).collect();
    let expected = [
        "quality-time.svg",
        "work-precision.svg",
        "runtime-profile-seconds.svg",
        "step-cost.svg",
        "learning-bike.svg",
        "learners-own-bike.svg",
        "batch-size-bike.svg",
        "grid-bike.svg",
    ];
    assert_eq!(names, expected);
    for figure in &written.figures {
        let svg = fs::read_to_string(figure).unwrap();
        assert!(svg.contains("polyline") || svg.contains("circle"), "{} is empty", figure.display());
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{} has no numbers", figure.display());
    }
    let profile = written.figures.iter().find(|figure| figure.ends_with("runtime-profile-seconds.svg"));
    let profile = fs::read_to_string(profile.unwrap()).unwrap();
    for panel in ["test RMSE over the least: 51 targets", "likelihood below the largest: hardest target"] {
        assert!(profile.contains(panel), "{panel}");
    }
    // All cases are in the table of results, whatever was chosen.
    let cases = export(&run, Format::Csv).unwrap();
    assert_eq!(cases.lines().count(), 1 + 36);
}

#[test]
fn a_run_without_grids_or_looks_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let mut row = row("poe", 32, 0.3, 0);
    row.case.solver.grid = None;
    row.output = TaskOutput::Learn(Box::default());
    row.trace.clear();
    row.labels.solver = "poe".to_owned();
    let line = serde_json::to_string(&JournalEntry::Case(Box::new(row))).unwrap();
    fs::write(folder.path().join("journal.jsonl"), line + "\n").unwrap();
    let run = Run::open(folder.path()).unwrap();
    assert!(export(&run, Format::Text).unwrap().contains("poe"));
    assert!(write_all(&run, &WriteOptions::default()).unwrap().figures.is_empty());
}

/// The rows as those of a run of solvers on the same splits, changed as a test says.
fn solvers(change: impl Fn(&mut Row)) -> Run {
    let (_folder, mut run) = run();
    run.record.name = "solvers".to_owned();
    run.record.rows = [0, 1, 2].map(|seed| row("scgd", 32, 0.3, seed)).into();
    for row in &mut run.record.rows {
        let posterior = testing::case("cg");
        row.case.task = posterior.task;
        row.case.solver = posterior.solver;
        row.labels = row.case.labels();
        row.output = TaskOutput::empty(row.case.task.kind());
        row.metrics.insert("test_rmse", 0.2);
        change(row);
    }
    run
}

#[test]
fn learners_stand_beside_solvers_by_data_set() {
    let (_folder, learners) = run();
    let across = compare(&[solvers(|_| ()), learners.clone()]).unwrap().methods().expect("two tasks");
    let metrics: Vec<&str> = across.metrics.iter().map(|metric| metric.name).collect();
    assert_eq!(metrics, ["test_rmse", "test_nll", "seconds"], "nobody has epochs");
    // One solver, and six grids of learners with their chosen values.
    let solvers_of = |run: usize| across.rows.iter().filter(move |row| row.run == run);
    assert_eq!((solvers_of(0).count(), solvers_of(1).count()), (1, 6));
    let cg = solvers_of(0).next().unwrap();
    assert_eq!(
        (cg.solver.as_str(), cg.seeds, cg.means[0]),
        ("cg", 2, Some(0.2)),
        "a seed is of the solver alone"
    );
    assert!(solvers_of(1).all(|row| row.seeds == 2 && row.means[0].is_some() && !row.solver.contains('@')));
    assert!(across.remarks.is_empty());
    let text = across.table().text();
    assert!(text.contains("test RMSE") && text.contains("bsgd-128") && text.contains("cg"), "{text}");
    let json = across.json();
    assert_eq!((&json["rows"][0]["run"], &json["rows"][0]["means"]["test_rmse"]), (&0.into(), &0.2.into()));

    // Runs of one task share cases, and are compared by these.
    assert_eq!(compare(&[learners.clone(), learners.clone()]).unwrap().methods(), None);
    assert_eq!(compare(&[solvers(|_| ()), solvers(|_| ())]).unwrap().methods(), None);
    // A check against a run of another task says why nothing matches.
    let check = baseline::against(&learners, &solvers(|_| ())).unwrap();
    assert_eq!(check.exit_code(), 4);
    assert!(
        check.remarks[0].contains("the task is learn here and posterior in the earlier run"),
        "{:?}",
        check.remarks
    );
}

#[test]
fn other_content_of_a_data_set_is_remarked_across_tasks() {
    let (_folder, learners) = run();
    let dataset = learners.record.rows[0].labels.dataset.clone();
    let with_content = |mut run: Run, digest: &str| {
        run.record.contents.insert(dataset.clone(), [digest.to_owned()].into());
        run
    };
    let remarks = |digest: &str| {
        let runs = [with_content(solvers(|_| ()), "aa"), with_content(learners.clone(), digest)];
        compare(&runs).unwrap().methods().expect("two tasks").remarks
    };
    assert_eq!(remarks("aa"), [""; 0]);
    let expected = format!("the content of these data sets is other than in the first run: {dataset}");
    let found = remarks("bb");
    assert!(found.len() == 1 && found[0].contains(&expected), "{found:?}");
}

#[test]
fn what_differs_in_its_rows_is_not_compared() {
    let (_folder, learners) = run();
    let remark = |change: fn(&mut Row)| {
        let across = compare(&[solvers(change), learners.clone()]).unwrap().methods().expect("two tasks");
        assert!(across.rows.is_empty());
        across.remarks.join("; ")
    };
    let expected = "data set `bike` was not compared: ";
    type Change = fn(&mut Row);
    let cases: [(Change, &str); 5] = [
        (
            |row| row.case.dataset.targets = TargetScaling::Standardised,
            "the runs differ in its scaling of targets",
        ),
        (|row| row.case.dataset.split = 7, "the runs differ in its split"),
        (|row| row.case.dataset.source = testing::case("cg").dataset.source, "the runs differ in its source"),
        (|row| row.status = CaseStatus::Crashed, "only one run has an answer on it"),
        (|row| row.labels.seed += 5, "no seed has an answer of every solver and learner"),
    ];
    for (change, why) in cases {
        assert_eq!(remark(change), format!("{expected}{why}"));
    }
    let elsewhere = remark(|row| row.labels.dataset = "pol".to_owned());
    assert_eq!(elsewhere.matches("only one run has an answer on it").count(), 2, "{elsewhere}");
}
