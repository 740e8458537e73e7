//! Charts: along an input, by a swept parameter, and the colours and names that they share.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use gpbench_record::{Curve, GridPoint, JournalEntry, ParamValue, Row, SpectralBasis, metric};
use gpbench_report::{COLUMNS, Format, Run, WriteOptions, export, write_all};

use crate::support::{charts, run, trained};

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
