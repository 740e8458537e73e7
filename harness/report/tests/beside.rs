//! Archived runs beside one: by case, errors always, times of one kind of machine alone.

use gpbench_report::{BesideArchive, Run, beside};

use crate::timed::stored;

/// A run whose solvers all solve the same systems.
fn ours() -> Run {
    let mut run = stored();
    let kernel = run.record.rows[0].case.kernel.clone();
    run.record.rows.iter_mut().for_each(|row| row.case.kernel.clone_from(&kernel));
    run
}

/// The same run under another name.
fn archive() -> Run {
    let mut run = ours();
    run.record.name = "archive".to_owned();
    run
}

/// The means of a solver on the data set `draw`.
fn means(found: &BesideArchive, solver: &str, metric: &str) -> Vec<Option<f64>> {
    let is_it = |row: &&gpbench_report::Compared| {
        row.solver == solver && row.metric.name == metric && row.problem.dataset == "draw"
    };
    found.rows.iter().find(is_it).map(|row| row.means.clone()).unwrap_or_default()
}

#[test]
fn equal_runs_stand_side_by_side() {
    let ours = ours();
    let found = beside(&ours, &[archive()]).unwrap();
    assert_eq!((&found.runs[0], &*found.runs[1], found.remarks.len()), (&ours.record.name, "archive", 0));
    for metric in ["residual_y", "test_rmse", "seconds"] {
        let means = means(&found, "cholesky", metric);
        assert!(means[0].is_some() && means[0] == means[1], "{metric}: {means:?}");
    }
    assert!(found.table().markdown().contains("| archive |"), "{}", found.table().markdown());
}

#[test]
fn times_of_another_machine_are_left_out() {
    let mut theirs = archive();
    theirs.record.environments[0].cpu = "Another".to_owned();
    let found = beside(&ours(), &[theirs]).unwrap();
    assert!(matches!(means(&found, "cholesky", "seconds")[..], [Some(_), None]));
    assert!(matches!(means(&found, "cholesky", "test_rmse")[..], [Some(_), Some(_)]));
    assert!(found.remarks[0].ends_with("its times are left out, since they are of another kind of machine"));
}

#[test]
fn solvers_that_the_run_does_not_have_are_shown_of_its_problems_alone() {
    let mut ours = ours();
    ours.record.rows.retain(|row| row.labels.solver == "cg" && row.labels.dataset == "draw");
    let found = beside(&ours, &[archive()]).unwrap();
    assert!(matches!(means(&found, "cholesky", "test_rmse")[..], [None, Some(_)]));
    assert!(found.rows.iter().all(|row| row.problem.dataset == "draw"), "{:?}", found.rows);
    // Of another problem, nothing is.
    ours.record.rows.iter_mut().for_each(|row| row.case.kernel.noise_scale = 7.0);
    assert!(beside(&ours, &[archive()]).unwrap().rows.is_empty());
}

#[test]
fn other_cases_and_other_contents_of_the_same_names_are_left_out() {
    let mut theirs = archive();
    for row in theirs.record.rows.iter_mut().filter(|row| row.labels.solver == "cg") {
        row.case.budget.tolerance = Some(0.1);
    }
    let found = beside(&ours(), &[theirs.clone()]).unwrap();
    assert!(matches!(means(&found, "cg", "test_rmse")[..], [Some(_), None]));
    assert!(found.remarks[0].contains("have names of this run and are others"), "{:?}", found.remarks);

    let with_content = |run: &mut Run, content: &str| {
        run.record.contents.insert("draw".to_owned(), [content.to_owned()].into());
    };
    let mut ours = ours();
    with_content(&mut ours, "aa");
    with_content(&mut theirs, "bb");
    let found = beside(&ours, &[theirs]).unwrap();
    assert!(means(&found, "cholesky", "test_rmse").get(1).is_none_or(Option::is_none));
    assert!(found.remarks[0].contains("the content of data set `draw` is another"), "{:?}", found.remarks);
}
