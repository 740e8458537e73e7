//! A stored run, read back and reported.

use std::fs;
use std::path::Path;

use gpbench_record::{CaseStatus, Row, metric, names};
use gpbench_report::{Error, Format, Run, WriteOptions, export, groups, write_all};
use polars::prelude::{ParquetReader, SerReader};

use crate::support::{charts, run, stored, trained};

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
