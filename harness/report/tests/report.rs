//! A stored run, read back and reported.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use gpbench_record::{
    CaseStatus, Curve, FinalPrediction, GradientEstimator, GridPoint, JournalEntry, Landscape, ParamValue,
    PathwiseTargets, Probes, RateSchedule, Row, SpectralBasis, StandardProbes, Start, Step, StopReason, Task,
    TaskOutput, Training, TrainingOutput, metric, names,
};
use gpbench_report::{COLUMNS, Error, Format, Run, WriteOptions, compare, export, groups, write_all};
use polars::prelude::{ParquetReader, SerReader};

fn stored() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/run")
}

pub(crate) fn run() -> Run {
    Run::open(stored()).unwrap()
}

#[test]
fn the_newest_row_of_a_case_wins_and_a_cut_line_is_ignored() {
    let run = run();
    assert_eq!((run.record.rows.len(), run.planned(), run.missing()), (18, 18, 0));
    assert!(run.record.truncated);
    assert!(run.record.rows.iter().all(|r| r.status != CaseStatus::Timeout), "a superseded row was kept");
    let order: Vec<_> =
        run.record.rows.iter().map(|r| (r.labels.dataset.as_str(), r.labels.solver.as_str())).collect();
    assert_eq!((order[0], order[17]), (("pol", "cholesky"), ("draw", "jacobi")));
}

#[test]
fn a_damaged_line_in_the_middle_is_named_and_the_rest_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let journal = fs::read_to_string(stored().join("journal.jsonl")).unwrap();
    let mut lines: Vec<&str> = journal.lines().collect();
    lines[1] = "{\"kind\":\"case\"";
    fs::write(dir.path().join("journal.jsonl"), lines.join("\n")).unwrap();
    let run = Run::open(dir.path()).unwrap();
    assert_eq!((run.record.rows.len(), run.warnings.len()), (17, 1));
    assert!(run.warnings[0].contains("line 2"), "{:?}", run.warnings);
    let page = export(&run, Format::Html).unwrap();
    assert!(page.contains("line 2"), "the page does not name the damaged line");
    assert!(matches!(Run::open(dir.path().join("nowhere")), Err(Error::Run(_))));
}

#[test]
fn a_journal_alone_and_an_empty_one_are_enough() {
    let dir = tempfile::tempdir().unwrap();
    fs::copy(stored().join("journal.jsonl"), dir.path().join("journal.jsonl")).unwrap();
    assert_eq!(
        write_all(&Run::open(dir.path()).unwrap(), &WriteOptions::default()).unwrap().figures.len(),
        14
    );
    fs::write(dir.path().join("journal.jsonl"), "").unwrap();
    let written = write_all(&Run::open(dir.path()).unwrap(), &WriteOptions::default()).unwrap();
    assert_eq!(written.figures.len(), 0);
    assert!(fs::read_dir(dir.path().join("figures")).unwrap().next().is_none(), "old figures were kept");
}

#[test]
fn means_and_standard_errors_are_over_the_seeds_that_have_an_answer() {
    let mut run = run();
    // A timing repeat is averaged into its seed first, so it must not count as a seed of its own.
    let cg = |r: &&mut Row| r.labels.solver == "cg" && r.labels.dataset == "pol";
    let mut repeat = None;
    for (row, value) in run.record.rows.iter_mut().filter(cg).zip([1.0, 3.0, 4.0]) {
        row.metrics.insert("test_rmse", value);
        repeat = Some(row.clone());
    }
    let mut repeat = repeat.unwrap();
    repeat.labels.repeat = 1;
    repeat.metrics.insert("test_rmse", 6.0);
    run.record.rows.push(repeat);
    let all = groups(&run).unwrap();
    let of = |d: &str, s: &str| all.iter().find(|g| g.problem.dataset == d && g.solver == s).unwrap().clone();
    let rmse = of("pol", "cg").metrics["test_rmse"];
    assert_eq!((rmse.mean, rmse.seeds, of("pol", "cg").n), (3.0, 3, 4));
    assert!((rmse.stderr.unwrap() - (4.0f64 / 3.0).sqrt()).abs() < 1e-12);
    let jacobi = of("pol", "jacobi");
    assert_eq!((jacobi.n_ok, jacobi.n, jacobi.metrics["test_rmse"].seeds), (0, 3, 2));
}

#[test]
fn every_file_is_written() {
    // A fixed place, so that the page can be opened after the test.
    let output = Path::new(env!("CARGO_TARGET_TMPDIR")).join("report");
    let options = WriteOptions { output: Some(output.clone()) };
    let written = write_all(&run(), &options).unwrap();
    let names: Vec<_> = written.figures.iter().map(|f| f.file_name().unwrap().to_str().unwrap()).collect();
    insta::assert_snapshot!(names.join("\n"));
    let html = fs::read_to_string(&written.html).unwrap();
    assert_eq!(html.matches("<svg").count(), names.len());
    assert!(!html.contains("src=") && !html.contains("<link"), "the page must need nothing beside it");
    for link in html.split("href=\"").skip(1).map(|rest| rest.split('"').next().unwrap()) {
        match link.strip_prefix('#') {
            Some(id) => assert!(html.contains(&format!("id=\"{id}\"")), "#{id} is not on the page"),
            None => assert!(output.join(link).is_file(), "{link} is not beside the page"),
        }
    }
    let shape = |file: &str| {
        ParquetReader::new(fs::File::open(output.join(file)).unwrap()).finish().unwrap().shape().0
    };
    assert_eq!(shape("results.parquet"), 18);
    let points: usize = run().record.rows.iter().map(|r| r.trace.len()).sum();
    assert_eq!(shape("traces.parquet"), points);
    for figure in &written.figures {
        let svg = fs::read_to_string(figure).unwrap();
        assert!(svg.contains("polyline") || svg.contains("rect"), "{} is empty", figure.display());
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{} has no numbers", figure.display());
    }
}

/// The posterior of a straight line, as a worker would tell it.
fn curve(error: f64) -> Curve {
    let x: Vec<f64> = (0..41).map(|i| f64::from(i) / 10.0 - 2.0).collect();
    let exact_mean: Vec<f64> = x.iter().map(|x| 0.5 * x).collect();
    let function: Vec<f64> = x.iter().map(|x| (-x * x).exp()).collect();
    Curve {
        mean: exact_mean.iter().map(|m| m + error).collect(),
        deviation: vec![0.3; x.len()],
        samples: vec![exact_mean.clone(); 2],
        exact_deviation: vec![0.3; x.len()],
        w2: vec![error; x.len()],
        range: [-1.0, 1.0],
        rows: vec![[-1.0, -0.4], [1.0, 0.6]],
        spectrum: Some(SpectralBasis {
            eigenvalues: vec![(1, 30.0), (2, 2.0), (3, 0.1)],
            functions: vec![(1, function.clone()), (2, function.iter().map(|v| -v).collect())],
        }),
        exact_mean,
        x,
    }
}

#[test]
fn a_run_on_one_input_is_drawn_along_it() {
    let mut run = run();
    for row in run.record.rows.iter_mut().filter(|row| row.labels.dataset == "draw") {
        let error = if row.labels.solver == "jacobi" { 0.5 } else { 1e-3 };
        row.output.set_curve(Some(Box::new(curve(error))));
        for point in &mut row.trace {
            let iteration = point.iteration as f64;
            point.metrics.insert("solver:gradient_variance", 100.0 / (1.0 + iteration));
            point.metrics.insert("test_nll", -1.0 + 1.0 / (1.0 + iteration));
            point.metrics.insert("weight_error", 10.0 / (1.0 + iteration));
        }
    }
    // Through the journal's own form, as a report would read it.
    let folder = tempfile::tempdir().unwrap();
    let line = |row: &Row| serde_json::to_string(&JournalEntry::Case(Box::new(row.clone()))).unwrap();
    let lines: Vec<String> = run.record.rows.iter().map(line).collect();
    fs::write(folder.path().join("journal.jsonl"), lines.join("\n") + "\n").unwrap();
    let output = Path::new(env!("CARGO_TARGET_TMPDIR")).join("report-along-an-input");
    let options = WriteOptions { output: Some(output.clone()) };
    let written = write_all(&Run::open(folder.path()).unwrap(), &options).unwrap();
    let drawn = |name: &str| {
        let path = written.figures.iter().find(|path| path.ends_with(name))?;
        Some(fs::read_to_string(path).unwrap())
    };
    for name in ["convergence", "own-numbers", "posterior", "distance-along", "spectrum"] {
        let svg = drawn(&format!("{name}-draw.svg")).unwrap_or_else(|| panic!("no {name}"));
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{name} has no numbers");
    }
    assert!(drawn("posterior-pol.svg").is_none());
    let own = drawn("own-numbers-draw.svg").unwrap();
    assert!(own.contains("gradient variance") && own.contains("iterations"));
    // One panel a solver.
    let posterior = drawn("posterior-draw.svg").unwrap();
    for solver in ["cholesky", "cg", "jacobi"] {
        assert!(posterior.contains(solver), "{solver}");
    }
}

#[test]
fn solvers_are_listed_with_what_their_products_found_in_memory() {
    let mut run = run();
    let table = |run: &Run| export(run, Format::Markdown).unwrap();
    assert!(!table(&run).contains("epochs found in memory"), "no memory is stated");
    for row in &mut run.record.rows {
        let found = if row.labels.solver == "cg" { 12.5 } else { 0.0 };
        row.metrics.insert(names::EPOCHS_FOUND, found);
    }
    let table = table(&run);
    assert!(table.contains("epochs found in memory"));
    let ends = |solver: &str, found: &str| {
        let of_solver =
            |line: &&str| line.starts_with(&format!("| {solver} ")) && line.trim_end().ends_with(found);
        assert!(table.lines().any(|line| of_solver(&line)), "{solver} {table}");
    };
    ends("cg", "| 12.5 |");
    ends("jacobi", "| 0 |");
}

#[test]
fn report_md() {
    insta::assert_snapshot!(export(&run(), Format::Markdown).unwrap());
}

#[test]
fn report_text() {
    insta::assert_snapshot!(export(&run(), Format::Text).unwrap());
}

/// A form that is JSON, read back.
fn parsed(run: &Run, format: Format) -> serde_json::Value {
    serde_json::from_str(&export(run, format).unwrap()).unwrap()
}

#[test]
fn report_json() {
    let all = parsed(&run(), Format::Json);
    assert_eq!(all["cases"].as_array().unwrap().len(), 18);
    insta::assert_snapshot!(format!("{:#}\n{:#}", all["cases"][0], all["cases"][17]));
}

#[test]
fn report_csv_has_a_line_a_case() {
    let csv = export(&run(), Format::Csv).unwrap();
    assert_eq!(csv.lines().count(), 19);
    assert!(csv.starts_with("id,dataset,kernel,estimator,solver,seed,repeat,status,reason,plugin,n,d,"));
}

#[test]
fn summary_counts_what_happened() {
    let summary = parsed(&run(), Format::Summary);
    assert_eq!(summary["statuses"], serde_json::json!({ "ok": 15, "not_converged": 2, "crashed": 1 }));
    assert_eq!(summary["groups"].as_array().unwrap().len(), 6);
}

#[test]
fn runs_stand_side_by_side() {
    let (first, mut second) = (run(), run());
    second.record.name = "changed".to_owned();
    second.record.rows.retain(|r| r.labels.solver != "jacobi");
    for row in &mut second.record.rows {
        let seconds = row.metrics.get("seconds").unwrap();
        row.metrics.insert("seconds", 0.5 * seconds);
    }
    insta::assert_snapshot!(compare(&[first, second]).unwrap().cases().unwrap().table().text());
}

#[test]
fn only_seeds_that_gave_an_answer_in_every_run_are_compared() {
    let (first, mut second) = (run(), run());
    second.record.rows.retain(|r| r.labels.seed != 2);
    let failed =
        second.record.rows.iter_mut().find(|r| r.labels.solver == "cg" && r.labels.seed == 1).unwrap();
    failed.status = CaseStatus::Crashed;
    let comparison = compare(&[first, second]).unwrap().cases().unwrap();
    let cg = comparison.rows.iter().find(|r| r.solver == "cg" && r.metric.name == "test_rmse").unwrap();
    assert_eq!((cg.seeds, cg.means[0]), (1, cg.means[1]));
    assert_eq!(comparison.json()["rows"][0]["seeds"], 2);
}

#[test]
fn runs_without_a_common_case_have_no_comparison() {
    let (first, mut second) = (run(), run());
    for row in &mut second.record.rows {
        row.labels.solver.push('2');
    }
    assert_eq!(compare(&[first, second]).unwrap().cases().unwrap().rows, []);
}

/// A gradient from pathwise targets and warm starts, or from standard probes and cold starts.
fn gradient(targets: PathwiseTargets, standard: bool) -> GradientEstimator {
    let (probes, start) = match standard {
        true => {
            let probes = StandardProbes { probes: targets.probes, distribution: Default::default() };
            (Probes::Standard(probes), Start::Cold)
        }
        false => (Probes::Pathwise(targets), Start::Warm),
    };
    GradientEstimator::Solutions { probes, second_solve: false, start }
}

/// The training of a case.
fn training(row: &mut Row) -> &mut Training {
    let Task::Train(training) = &mut row.case.task else { panic!("the case does not train") };
    training
}

/// What a case's training yielded.
fn output(row: &mut Row) -> &mut TrainingOutput {
    let TaskOutput::Train(output) = &mut row.output else { panic!("the case did not train") };
    output
}

/// The stored run as if it had trained: each case once with pathwise targets and warm starts, and once,
/// in twice the time, with standard probes from cold starts.
pub(crate) fn trained() -> Run {
    let mut run = run();
    let pathwise = run.record.rows.clone();
    let standard = pathwise.iter().cloned().map(|mut row| {
        row.id += "-standard";
        row.labels.estimator = Some("standard".into());
        row
    });
    run.record.rows = pathwise.iter().cloned().chain(standard).collect();
    for row in &mut run.record.rows {
        let is_standard = row.labels.estimator.as_deref() == Some("standard");
        let Task::Posterior(posterior) = &row.case.task else { panic!("the stored cases are posteriors") };
        let targets = posterior.targets;
        row.case.task = Task::Train(Box::new(Training {
            estimator: row.labels.estimator.clone().unwrap(),
            gradient: gradient(targets, is_standard),
            steps: 4,
            learning_rate: 0.1,
            schedule: RateSchedule::Constant,
            shared_length_scale: false,
            replay: vec![],
            fixed: vec![],
            subset: None,
            landscape: None,
            optimum: false,
            prediction: FinalPrediction { targets, params: BTreeMap::new() },
        }));
        row.metrics.insert("seconds_train", if is_standard { 20.0 } else { 10.0 });
        row.trace.clear();
        let step = |step: u64| {
            let scale = 1.0 / (1.0 + step as f64);
            Step {
                step,
                hyperparameters: [("noise_scale".to_owned(), scale), ("length_scale_0".to_owned(), 1.0)]
                    .into(),
                reason: StopReason::Converged,
                metrics: [("epochs", 10.0 + scale), ("iterations", 8.0), ("initial_distance", 3.0 * scale)]
                    .into_iter()
                    .map(|(name, value)| (name.to_owned(), value))
                    .collect(),
            }
        };
        let steps = (0..4).map(step).collect();
        row.output = TaskOutput::Train(Box::new(TrainingOutput { steps, ..TrainingOutput::default() }));
    }
    run
}

#[test]
fn training_has_a_row_for_each_solver_and_estimator() {
    let run = trained();
    let shown = export(&run, Format::Text).unwrap();
    let line = |solver: &str, estimator: &str| {
        let words = |line: &&str| line.split_whitespace().take(2).eq([solver, estimator]);
        shown.lines().find(words).unwrap_or_else(|| panic!("{shown}")).to_owned()
    };
    assert!(line("cg", "pathwise").contains(" 2.0× [2.0, 2.0] "), "{shown}");
    assert!(line("cg", "standard").contains(" 1× "), "{shown}");

    let output = tempfile::tempdir().unwrap();
    let options = WriteOptions { output: Some(output.path().to_owned()) };
    let written = write_all(&run, &options).unwrap();
    let names: Vec<_> = written.figures.iter().map(|f| f.file_name().unwrap().to_str().unwrap()).collect();
    assert!(names.contains(&"training-pol-cg.svg"), "{names:?}");
    assert!(!names.iter().any(|name| name.starts_with("residual")), "{names:?}");
    let steps =
        ParquetReader::new(fs::File::open(output.path().join("steps.parquet")).unwrap()).finish().unwrap();
    assert_eq!(steps.height(), 4 * run.record.rows.len());
    assert!(steps.column("length_scale_0").is_ok());
    let page = fs::read_to_string(&written.markdown).unwrap();
    assert!(page.contains("cold starts"), "the conventions are those of training");
    let html = fs::read_to_string(&written.html).unwrap();
    assert!(html.contains("href=\"steps.parquet\""), "the page does not link the steps");
    assert!(html.contains(" of input 1"), "the models do not name the inputs of length scales");
}

/// The charts of a run, by file name.
pub(crate) fn charts(run: &Run) -> BTreeMap<String, String> {
    let output = tempfile::tempdir().unwrap();
    let options = WriteOptions { output: Some(output.path().to_owned()) };
    let written = write_all(run, &options).unwrap();
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    let all = written.figures.iter().map(|path| (name(path), fs::read_to_string(path).unwrap()));
    let all: BTreeMap<String, String> = all.collect();
    for (name, svg) in &all {
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{name} has no numbers");
    }
    all
}

/// The colours of a series in the legends of all charts.
fn colours<'a>(charts: &'a BTreeMap<String, String>, series: &str) -> BTreeSet<&'a str> {
    let entry = format!("<g class=\"entry\" data-series=\"{series}\">\n");
    let entries = charts.values().filter_map(|svg| svg.split_once(entry.as_str()));
    entries.map(|(_, rest)| rest.split_once("stroke=\"").unwrap().1.split('"').next().unwrap()).collect()
}

#[test]
fn a_solver_has_one_colour_in_all_charts_whatever_the_others_did() {
    let (whole, mut part) = (run(), run());
    part.record.rows.retain(|row| row.labels.solver != "cholesky");
    let [whole, part] = [whole, part].map(|run| charts(&run));
    for solver in ["cg", "jacobi"] {
        assert_eq!(colours(&whole, solver).len(), 1, "{solver}");
        assert_eq!(colours(&whole, solver), colours(&part, solver), "{solver}");
    }
    assert_ne!(colours(&whole, "cg"), colours(&whole, "jacobi"));
    // Estimators look like no solver.
    let training = charts(&trained());
    assert!(!colours(&training, "pathwise").is_empty());
    assert!(colours(&training, "pathwise").is_disjoint(&colours(&training, "cg")));
}

#[test]
fn a_page_can_hide_the_elements_of_a_solver() {
    let page = export(&run(), Format::Html).unwrap();
    for class in ["entry", "series"] {
        assert!(page.contains(&format!("<g class=\"{class}\" data-series=\"cg\">")), "{class}");
    }
    assert_eq!(page.matches("<g class=").count(), page.matches("</g>").count());
    assert!(page.contains("needs-script\" hidden"), "without the script, no hint is shown");
    // Charts of a page alone have no files.
    assert!(!page.contains("href=\"figures/"));
}

#[test]
fn seconds_of_training_are_the_solver_and_the_rest() {
    let mut run = trained();
    for row in &mut run.record.rows {
        row.metrics.insert("seconds", 7.5);
    }
    let charts = charts(&run);
    let bars = &charts["seconds.svg"];
    for words in ["right-hand sides and gradients", "cg · pathwise", "7.50 + 2.50 s", "7.50 + 12.5 s"] {
        assert!(bars.contains(words), "{words}");
    }
    let along = &charts["training-pol-cg.svg"];
    assert!(along.contains("initial distance") && along.contains("iterations"));
}

#[test]
fn estimators_that_differ_in_their_probes_alone_are_drawn_over_them() {
    let mut run = trained();
    assert!(!charts(&run).keys().any(|name| name.starts_with("probes")));
    let more = run.record.rows.clone().into_iter().map(|mut row| {
        row.id += "-256";
        row.labels.estimator.as_mut().unwrap().push_str("-256");
        let training = training(&mut row);
        training.estimator += "-256";
        training.prediction.targets.probes = 256;
        let GradientEstimator::Solutions { probes, .. } = &mut training.gradient else { panic!() };
        *probes = probes.with_count(256);
        row
    });
    run.record.rows.extend(more.collect::<Vec<_>>());
    let charts = charts(&run);
    let probes = &charts["probes-pol.svg"];
    for words in ["probes", "test RMSE", "seconds of training", "cg · standard", "cg · pathwise", "64", "256"]
    {
        assert!(probes.contains(words), "{words}");
    }
}

/// Training whose noise scales are off by a share, and exact training beside it.
fn trained_exactly_too(off: f64) -> Run {
    let mut run = trained();
    let exact =
        run.record.rows.iter().filter(|row| row.labels.solver == "cholesky").cloned().map(|mut row| {
            row.id += "-exact";
            row.labels.estimator = Some("exact".into());
            training(&mut row).gradient = GradientEstimator::Exact;
            row
        });
    let exact: Vec<Row> = exact.collect();
    for step in run.record.rows.iter_mut().flat_map(|row| output(row).steps.iter_mut()) {
        *step.hyperparameters.get_mut("noise_scale").unwrap() *= 1.0 + off;
    }
    run.record.rows.extend(exact);
    run
}

#[test]
fn training_has_a_distance_to_exact_training() {
    let run = trained_exactly_too(0.025);
    let page = export(&run, Format::Markdown).unwrap();
    let (_, table) = page.split_once("### Distance to exact training").unwrap();
    let (table, _) = table.split_once("\n## ").unwrap();
    // Half of the hyperparameters are noise scales; the others are the same.
    assert!(table.contains("| pol | cg | pathwise | 2.50 % | 2.50 % | 2.50 % |"), "{table}");
    assert!(!table.contains("| exact |"), "{table}");
    let svg = &charts(&run)["training-distance-pol.svg"];
    assert!(svg.contains("cg · standard") && !svg.contains("cholesky · exact"));
    assert!(!charts(&trained()).contains_key("training-distance-pol.svg"));

    // As many steps, but not of the same size: nothing to compare with.
    let mut other = run.clone();
    for training in other.record.rows.iter_mut().map(training) {
        if training.gradient == GradientEstimator::Exact {
            training.learning_rate = 0.01;
        }
    }
    assert!(!export(&other, Format::Markdown).unwrap().contains("### Distance to exact training"));
}

#[test]
fn a_swept_parameter_has_a_chart() {
    let mut run = run();
    let kind = |row: &Row| row.labels.solver == "cg" || row.labels.solver == "jacobi";
    run.record.rows.retain(|row| row.labels.dataset == "pol" && kind(row));
    for row in &mut run.record.rows {
        // Two solvers of the stored run stand for two values.
        let rank = if row.labels.solver == "cg" { 100 } else { 10 };
        let point = GridPoint { entry: "cg".into(), params: [("rank".into(), ParamValue::Int(rank))].into() };
        row.labels.solver = point.name();
        row.case.solver.name = point.name();
        row.case.solver.grid = Some(point);
    }
    run.record.axes.solver = vec!["cg@rank=10".into(), "cg@rank=100".into()];
    let charts = charts(&run);
    let sweep = &charts["sweep-rank-pol.svg"];
    assert!(sweep.contains("By rank: pol") && sweep.contains("\ncg\n"), "{sweep}");
    let results = export(&run, Format::Csv).unwrap();
    let header = results.lines().next().unwrap();
    for name in header.split(',') {
        let is_it = |(column, _): &&(&str, &str)| match column.strip_suffix('*') {
            Some(beginning) => name.starts_with(beginning),
            None => *column == name,
        };
        let is_known = COLUMNS.iter().any(|column| is_it(&column)) || metric::find(name).is_some();
        assert!(is_known, "`{name}` has no documentation");
    }
    assert!(
        ["tolerance", "kernel.noise_scale", "reused_from"].iter().all(|name| header.contains(name)),
        "{header}"
    );
}

#[test]
fn truncated_training_is_shown_with_exact_training() {
    let mut run = trained_exactly_too(0.0);
    assert!(!charts(&run).keys().any(|name| name.starts_with("truncation")), "a tolerance ended all solves");
    for row in &mut run.record.rows {
        row.case.budget.tolerance = None;
        row.metrics.insert("steps", 4.0);
        row.metrics.insert(
            "iterations",
            if row.labels.estimator.as_deref() == Some("standard") { 80.0 } else { 40.0 },
        );
    }
    let charts = charts(&run);
    let truncation = &charts["truncation-pol.svg"];
    for words in ["iterations of a solve", "test RMSE", "test NLL", "cg · standard", "cg · pathwise"] {
        assert!(truncation.contains(words), "{words}");
    }
    assert!(!truncation.contains("cholesky · exact"), "it is the level");
}

#[test]
fn starts_lie_on_the_quadratic_that_is_minimised() {
    let mut run = trained_exactly_too(0.0);
    assert!(!charts(&run).keys().any(|name| name.starts_with("section")));
    for step in run.record.rows.iter_mut().flat_map(|row| output(row).steps.iter_mut()) {
        let numbers = [("curvature_1", 900.0), ("curvature_2", 100.0), ("start_1", 0.5), ("start_2", -2.0)];
        numbers.into_iter().for_each(|(name, value)| step.metrics.insert(name, value));
    }
    let charts = charts(&run);
    let section = &charts["section-pol.svg"];
    for words in ["in step 4: pol", "standard probes", "pathwise targets", "along the steepest direction"] {
        assert!(section.contains(words), "{words}");
    }
}

#[test]
fn a_landscape_lies_under_the_paths() {
    let mut run = trained();
    for row in &mut run.record.rows {
        let output = output(row);
        for step in &mut output.steps {
            let length = step.hyperparameters.remove("length_scale_0").unwrap();
            step.hyperparameters.insert("length_scale".to_owned(), length);
        }
        output.hyperparameters = output.steps[3].hyperparameters.clone();
    }
    let plain = charts(&run).remove("training-paths-pol.svg").unwrap();
    assert!(!plain.contains("nats below"));
    let scales: Vec<f64> = (-4..=4).map(|e| 10f64.powf(0.25 * f64::from(e))).collect();
    let bowl = |noise: &f64, length: &f64| -40.0 * (noise.ln().powi(2) + (length.ln() - 0.5).powi(2));
    let row_of = |noise: &f64| scales.iter().map(|length| Some(bowl(noise, length))).collect();
    let landscape = Landscape {
        log_likelihood: scales.iter().map(row_of).collect(),
        length_scale: scales.clone(),
        noise_scale: scales.clone(),
    };
    let pol = run.record.rows.iter_mut().find(|row| row.labels.dataset == "pol").unwrap();
    output(pol).landscape = Some(Box::new(landscape));
    let charts = charts(&run);
    let paths = &charts["training-paths-pol.svg"];
    for words in ["nats below", "maximum of the likelihood", "\n10\n", "\n100\n"] {
        assert!(paths.contains(words), "{words}");
    }
    assert!(!charts["training-paths-draw.svg"].contains("nats below"));
}

#[test]
fn metrics_that_no_table_shows_stand_in_the_details() {
    let run = run();
    let page = export(&run, Format::Markdown).unwrap();
    let (before, details) = page.split_once("## Details of posterior").unwrap();
    for title in ["exact RMSE", "processor time [s]", "claimed residual y"] {
        assert!(!before.contains(title) && details.contains(title), "{title}");
    }
    assert!(export(&run, Format::Html).unwrap().contains("<summary>Details of posterior</summary>"));
    // Every metric of the run is in a table, with its documentation.
    for (name, _) in run.record.rows[0].metrics.iter() {
        let metric = metric::find(name).unwrap();
        assert!(details.contains(&format!("- {}: {}", metric.title, metric.doc())), "{name}");
    }
}

#[test]
fn a_spec_may_choose_the_columns() {
    let mut run = run();
    run.record.report.columns = vec!["test_rmse".to_owned(), "peak_memory_bytes".to_owned()];
    let text = export(&run, Format::Text).unwrap();
    let heading: Vec<&str> =
        text.lines().nth(1).unwrap().split("  ").filter(|word| !word.is_empty()).collect();
    let heading: Vec<&str> = heading.into_iter().map(str::trim).collect();
    let expected =
        ["solver", "ok", "test RMSE", "memory [MiB]", "speed-up over cholesky", "reached [s]", "ERT [s]"];
    assert_eq!(heading, expected);
    let page = export(&run, Format::Markdown).unwrap();
    let (_, details) = page.split_once("## Details").unwrap();
    assert!(details.contains("residual probes"), "what left the table is in the details");
}

#[test]
fn a_run_may_hold_several_tasks() {
    let mut run = run();
    run.record.rows.extend(trained().record.rows.into_iter().filter(|row| row.labels.dataset == "pol"));
    let page = export(&run, Format::Markdown).unwrap();
    for heading in ["## Results: Gaussian-process posteriors", "## Results: Training of hyperparameters"] {
        assert!(page.contains(heading), "{heading}");
    }
    let names: Vec<String> = charts(&run).into_keys().collect();
    assert!(names.contains(&"posterior-residual-epochs-draw.svg".to_owned()), "{names:?}");
    assert!(names.contains(&"train-training-pol-cg.svg".to_owned()), "{names:?}");
}

#[test]
fn a_solver_names_what_to_cite() {
    let mut run = run();
    let references = |run: &Run| {
        let page = export(run, Format::Markdown).unwrap();
        let (_, after) = page.split_once("## References").unwrap();
        after.split_once("## Details").unwrap().0.to_owned()
    };
    assert!(!references(&run).contains("Hestenes"));
    run.record.sources.insert("cg".to_owned(), "M. R. Hestenes, E. Stiefel. 1952.".to_owned());
    run.record.sources.insert("unused".to_owned(), "Nobody. 1999.".to_owned());
    let cited = references(&run);
    assert!(cited.contains("Hestenes") && !cited.contains("Nobody"), "{cited}");
}

#[test]
fn a_residual_that_the_mean_hides_is_shown_beside_it_and_marked() {
    let mut run = run();
    for row in &mut run.record.rows {
        row.case.budget.tolerance = Some(0.01);
        row.metrics.insert("residual_probes", 0.005);
        row.metrics.insert("residual_max", 0.009);
    }
    let text = |run: &Run| export(run, Format::Markdown).unwrap();
    let plain = text(&run);
    assert!(!plain.contains('\u{2021}'), "{plain}");
    let is_cg = |row: &&mut Row| row.labels.solver == "cg" && row.status == CaseStatus::Ok;
    let bad = run.record.rows.iter_mut().find(is_cg).expect("a case of cg");
    bad.metrics.insert("residual_max", 0.3);
    let marked = text(&run);
    let heading = marked.lines().find(|line| line.contains("residual probes")).expect("a table of residuals");
    let titles: Vec<&str> = heading.split('|').map(str::trim).collect();
    let mean = titles.iter().position(|title| *title == "residual probes").unwrap();
    assert_eq!(titles[mean + 1], "largest residual", "{heading}");
    assert!(marked.lines().any(|line| line.starts_with("| cg ") && line.contains('\u{2021}')), "{marked}");
    let remark = "\u{2021} the largest residual of a right-hand side is above the tolerance, which the mean meets, in 1";
    assert!(marked.contains(remark), "{marked}");
}
