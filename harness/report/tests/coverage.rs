//! The papers' tables beside published runs.

use std::fs;
use std::path::Path;

use gpbench_record::{Environment, Source, Subsample};
use gpbench_report::{HOURS, Hours, Run, SpecEstimate, WriteOptions, coverage, write_all};

use crate::support;

/// A run with one solver on pol, whose test errors are these, one for each seed.
pub(crate) fn run(solver: &str, errors: &[f64]) -> Run {
    let mut run = support::run();
    run.record.rows.retain(|row| row.labels.solver == "cg" && row.labels.dataset == "pol");
    run.record.rows.truncate(errors.len());
    for (row, error) in run.record.rows.iter_mut().zip(errors) {
        row.case.dataset.source = Source::Registry { name: "pol".to_owned() };
        row.case.dataset.subsample = None;
        row.case.solver.plugin = solver.to_owned();
        row.metrics.insert("test_rmse", *error);
        row.metrics.insert("test_nll", -1.17);
    }
    run
}

/// Keeps the files of a run that are published.
pub(crate) fn publish(folder: &Path, name: &str, run: &Run) {
    let output = folder.join(name);
    write_all(run, &WriteOptions { output: Some(output.clone()) }).unwrap();
    let environment = Environment { cpu: "a processor".to_owned(), threads: 2, ..Environment::default() };
    fs::write(output.join("environment.json"), serde_json::to_string(&environment).unwrap()).unwrap();
    fs::write(output.join("spec.toml"), "name = 'x'\n[report]\nreference = 'lin2023'\n").unwrap();
}

fn page(folder: &Path, name: &str) -> String {
    coverage(folder).unwrap().into_iter().find(|(own, _)| own == name).unwrap().1
}

/// The line of a page that begins with these cells.
fn line(page: &str, cells: &str) -> Option<String> {
    page.lines().find(|line| line.starts_with(cells)).map(str::to_owned)
}

#[test]
fn a_cell_shows_the_published_figure_ours_and_the_distance() {
    let dir = tempfile::tempdir().unwrap();
    publish(dir.path(), "exact", &run("cg", &[0.079, 0.080, 0.081]));
    let page = page(dir.path(), "lin2023.md");
    let rmse = line(&page, "| pol | CG | RMSE |").unwrap();
    assert_eq!(rmse, "| pol | CG | RMSE | 0.08 ± 0.00 | 0.080 ± 0.001 | 3 | +0.0 | +0.0 | exact | cg |");
    let nll = line(&page, "| pol | CG | NLL |").unwrap();
    assert!(nll.starts_with("| pol | CG | NLL | -1.17 ± 0.01 | -1.170 ± 0.000 | 3 |"), "{nll}");
    assert!(page.contains("2 measured, of them 2 within"), "{page}");
    assert!(page.contains("gpbench run reports/published/exact/spec.toml"));
}

#[test]
fn the_run_with_the_most_seeds_counts_and_a_part_of_the_rows_does_not() {
    let dir = tempfile::tempdir().unwrap();
    publish(dir.path(), "few", &run("cg", &[0.5]));
    publish(dir.path(), "many", &run("cholesky", &[0.081, 0.081]));
    let mut part = run("cg", &[0.3, 0.3, 0.3]);
    part.record.rows.iter_mut().for_each(|row| row.case.dataset.subsample = Some(Subsample::Rows(2000)));
    publish(dir.path(), "part", &part);
    let page = page(dir.path(), "lin2023.md");
    let rmse = line(&page, "| pol | CG | RMSE |").unwrap();
    assert!(rmse.contains("| 0.081 ± 0.000 | 2 | +0.1 | +0.2 | many | cg (stands in) |"), "{rmse}");
}

#[test]
fn a_remark_is_numbered_where_a_cell_differs_and_hours_stand_where_none_is_measured() {
    let dir = tempfile::tempdir().unwrap();
    let measured = run("cg", &[0.2, 0.2]);
    publish(dir.path(), "off", &measured);
    let folder = dir.path().join("coverage");
    fs::create_dir_all(&folder).unwrap();
    let notes = "[[differs]]\npaper = 'lin2023'\nquantities = ['RMSE']\ntext = 'A control says why.'\n\
                 [[absent]]\npaper = 'lin2023'\ndatasets = ['song']\ntext = 'the files are not at hand'\n";
    fs::write(folder.join("notes.toml"), notes).unwrap();
    let mut case = measured.record.rows[0].case.clone();
    case.dataset.source = Source::Registry { name: "elevators".to_owned() };
    let cases = [0, 1].map(|seed| {
        let labels = gpbench_record::Labels { seed, ..measured.record.rows[0].labels.clone() };
        (labels, case.clone(), Some(1800.0))
    });
    let estimate = SpecEstimate {
        reference: "lin2023".to_owned(),
        spec: "lin2023/table1.toml".to_owned(),
        cases: cases.into(),
    };
    let hours = Hours::of("a processor".to_owned(), 4, "2026-11-23".to_owned(), &[estimate]);
    fs::write(folder.join(HOURS), hours.text()).unwrap();
    let page = page(dir.path(), "lin2023.md");
    assert!(line(&page, "| pol | CG | RMSE |").unwrap().ends_with("| off | cg | (1) |"), "{page}");
    assert!(page.contains("1. A control says why."));
    assert!(
        line(&page, "| elevators | CG |").unwrap().contains("| RMSE, NLL | 1 | lin2023/table1.toml |"),
        "{page}"
    );
    assert!(line(&page, "| song | CG |").unwrap().contains("the files are not at hand"), "{page}");
    let overview = coverage(dir.path()).unwrap().remove(0).1;
    assert!(overview.contains("with 4 threads of a processor, 2026-11-23"), "{overview}");
}

#[test]
fn a_remark_on_no_cell_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("coverage");
    fs::create_dir_all(&folder).unwrap();
    fs::write(
        folder.join("notes.toml"),
        "[[absent]]\npaper = 'lin2023'\ndatasets = ['pool']\ntext = 'too deep'\n",
    )
    .unwrap();
    let error = coverage(dir.path()).unwrap_err().to_string();
    assert!(error.contains("notes.toml") && error.contains("\"too deep\""), "{error}");
}
