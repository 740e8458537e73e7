//! Profiles over problems and targets, and rankings over data sets.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use gpbench_record::{CaseStatus, names};
use gpbench_report::{Format, Run, WriteOptions, export, write_all};

use crate::support;

/// The stored run of three solvers and three seeds, on so many copies of a data set. Cholesky takes 8 seconds, CG 2
/// on even and 4 on odd data sets, and Jacobi does not converge.
fn run(datasets: usize) -> Run {
    let mut run = support::run();
    let rows: Vec<_> = run.record.rows.iter().filter(|row| row.labels.dataset == "pol").cloned().collect();
    run.record.rows.clear();
    for at in 0..datasets {
        for mut row in rows.clone() {
            row.labels.dataset = format!("set-{at}");
            row.case.dataset.name = row.labels.dataset.clone();
            row.id = row.labels.to_string();
            if row.status.is_answer() {
                let seconds = match row.labels.solver.as_str() {
                    "cholesky" => 8.0,
                    "cg" if at.is_multiple_of(2) => 2.0,
                    "cg" => 4.0,
                    _ => 1.0,
                };
                row.metrics.insert(names::SECONDS, seconds);
                let count = row.trace.len() as f64 + 1.0;
                for (k, point) in row.trace.iter_mut().enumerate() {
                    point.seconds = seconds * (k as f64 + 1.0) / count;
                }
            }
            run.record.rows.push(row);
        }
    }
    run
}

/// The tables of a report on a terminal that is wide enough, by their titles.
fn tables(run: &Run) -> Vec<(String, String)> {
    let text = export(run, Format::Text).unwrap();
    let blocks = text.split("\n\n").filter_map(|block| block.split_once('\n'));
    blocks.map(|(title, rows)| (title.to_owned(), rows.to_owned())).collect()
}

/// The cells of a row, by two spaces or more.
fn cells(table: &str, solver: &str) -> Vec<String> {
    let line =
        table.lines().find(|line| line.starts_with(solver)).unwrap_or_else(|| panic!("{solver}: {table}"));
    line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).map(str::to_owned).collect()
}

#[test]
fn solvers_are_ranked_over_data_sets_at_the_head_of_the_tables() {
    let five = tables(&run(5));
    let (title, ranking) = &five[0];
    assert_eq!(title, "Ranking over 5 data sets: seconds to the tolerance");
    assert_eq!(cells(ranking, "cg"), ["cg", "1.0 [1.0, 1.0]", "5/5", "1× [1, 1]", "0.330× [0.206, 0.529]"]);
    assert_eq!(cells(ranking, "cholesky")[4], "1×");
    // It misses a seed, and shares the last rank.
    assert_eq!(cells(ranking, "jacobi"), ["jacobi", "3.0 [3.0, 3.0]", "0/5"]);
    // The tables of each data set follow.
    assert!(five.iter().any(|(title, _)| title == "set-0") && five.iter().any(|(title, _)| title == "set-4"));
    let page = export(&run(5), Format::Markdown).unwrap();
    assert!(page.contains("Brackets are 95 % t intervals over data sets.") && !page.contains("ranks first"));
}

#[test]
fn few_data_sets_have_no_intervals_and_fewer_no_ranking() {
    let three = tables(&run(3));
    assert_eq!(cells(&three[0].1, "cg"), ["cg", "1.0", "3/3", "1×", "0.315×"]);
    assert!(export(&run(3), Format::Markdown).unwrap().contains("too few data sets for an interval"));
    assert!(!export(&run(2), Format::Markdown).unwrap().contains("Ranking over"));
    // A data set on which nobody has a time does not count.
    let mut failed = run(3);
    for row in failed.record.rows.iter_mut().filter(|row| row.labels.dataset == "set-1") {
        row.status = CaseStatus::Timeout;
    }
    assert!(!export(&failed, Format::Markdown).unwrap().contains("Ranking over"));
    let mut failed = run(4);
    for row in failed.record.rows.iter_mut().filter(|row| row.labels.dataset == "set-1") {
        row.status = CaseStatus::Timeout;
    }
    let page = export(&failed, Format::Markdown).unwrap();
    assert!(page.contains("Ranking over 3 data sets") && page.contains("ranked, 1 of them, are left out"));
}

#[test]
fn many_data_sets_rank_a_solver_first() {
    let page = export(&run(12), Format::Markdown).unwrap();
    assert!(page.contains("cg ranks first."), "{page}");
}

/// A kernel that only some solvers can have says nothing of the others.
#[test]
fn kernels_of_few_solvers_are_left_out() {
    let mut run = run(3);
    let of_cg: Vec<_> = run.record.rows.iter().filter(|row| row.labels.solver == "cg").cloned().collect();
    for solver in ["cg", "features"] {
        for mut row in of_cg.clone() {
            row.labels.kernel = "finite".to_owned();
            row.labels.solver = solver.to_owned();
            row.id = row.labels.to_string();
            run.record.rows.push(row);
        }
    }
    let ranking = &tables(&run)[0].1;
    assert_eq!(cells(ranking, "cholesky")[..3], ["cholesky", "2.0", "3/3"]);
    assert!(!ranking.lines().any(|line| line.starts_with("features")), "{ranking}");
    let page = export(&run, Format::Markdown).unwrap();
    let words = "Left out: kernels and estimators with which fewer solvers ran, and with them features.";
    assert!(page.matches(words).count() >= 2, "of the ranking and of the profile: {page}");
}

#[test]
fn a_failed_seed_is_a_lost_data_set() {
    let mut run = run(5);
    let row = run.record.rows.iter_mut().find(|row| row.labels.solver == "cg").unwrap();
    row.status = CaseStatus::NotConverged;
    let ranking = &tables(&run)[0].1;
    // Ranks 2.5, with Jacobi, and four times 1; no ratio over all data sets is known.
    assert_eq!(cells(ranking, "cg")[..3], ["cg", "1.3 [1.0, 2.1]", "4/5"]);
    assert_eq!(cells(ranking, "cg").len(), 3);
}

/// The charts of a run, by file name.
fn charts(run: &Run) -> BTreeMap<String, String> {
    let output = tempfile::tempdir().unwrap();
    let written = write_all(run, &WriteOptions { output: Some(output.path().to_owned()) }).unwrap();
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    written.figures.iter().map(|path| (name(path), fs::read_to_string(path).unwrap())).collect()
}

#[test]
fn profiles_are_drawn_of_both_errors_on_both_clocks() {
    let charts = charts(&run(2));
    for word in ["epochs", "seconds"] {
        let svg = &charts[&format!("runtime-profile-{word}.svg")];
        for panel in ["residual y: 51 targets", "RMSE to exact: hardest target"] {
            assert!(svg.contains(panel), "{word}: {panel}");
        }
        assert!(svg.contains("median budget of what was not reached"), "{word}");
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{word}");
    }
    // Seconds of several data sets are ratios.
    assert!(charts["runtime-profile-seconds.svg"].contains("seconds over the fastest"));
    assert!(!self::charts(&run(1))["runtime-profile-seconds.svg"].contains("seconds over the fastest"));
    // Jacobi has no value of the seed that crashed.
    let precision = &charts["work-precision.svg"];
    assert!(precision.contains("data-series=\"cg\"") && !precision.contains("data-series=\"jacobi\""));
}

#[test]
fn areas_stand_beside_the_performance_profile() {
    let table =
        tables(&run(2)).into_iter().find(|(title, _)| title.starts_with("Performance profile")).unwrap().1;
    // Cholesky is 4 times as slow on one of the two problems, and twice on the other: 1 - (log 4 + log 2) / 2.
    assert_eq!(cells(&table, "cg"), ["cg", "100 %", "100 %", "100 %", "100 %", "1"]);
    assert_eq!(cells(&table, "cholesky"), ["cholesky", "100 %", "0 %", "50 %", "100 %", "0.548"]);
    assert_eq!(cells(&table, "jacobi"), ["jacobi", "0 %", "0 %", "0 %", "0 %", "0"]);
    let page = export(&run(2), Format::Markdown).unwrap();
    assert!(page.contains("read the curves pairwise") && page.contains("Over 6 systems"), "{page}");
}

#[test]
fn a_run_with_one_solver_has_neither() {
    let mut run = run(5);
    run.record.rows.retain(|row| row.labels.solver == "cg");
    let page = export(&run, Format::Markdown).unwrap();
    assert!(!page.contains("Ranking over") && !page.contains("Performance profile"));
    assert!(charts(&run).keys().all(|name| !name.contains("profile") && !name.contains("precision")));
}
