//! Archived runs beside one: by case, errors always, times of one kind of machine alone.

use gpbench_report::{BesideArchive, Format, Frame, Run, WriteOptions, beside};

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

/// The report of a run beside archived ones.
fn report(run: &Run, archived: &[Run], format: Format) -> String {
    Frame::new(run).unwrap().with_archive(archived).unwrap().export(format).unwrap()
}

/// The section of a page of text about archived results, and the page without it.
fn section(page: &str) -> (String, String) {
    let begin = page.find("## Beside the archive").expect("a section");
    let end = page[begin..].find("\n## ").map_or(page.len(), |end| begin + end + 1);
    (page[begin..end].to_owned(), format!("{}{}", &page[..begin], &page[end..]))
}

/// A cell of the table of archived results: that of the first row of a solver.
fn cell(section: &str, solver: &str, column: &str) -> String {
    let cells = |line: &str| line.split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<String>>();
    let mut lines = section.lines().filter(|line| line.starts_with('|')).map(cells);
    let titles = lines.next().expect("headings");
    let at = titles.iter().position(|title| title == column).unwrap_or_else(|| panic!("{titles:?}"));
    let row = lines.find(|row| row.iter().any(|cell| cell == solver));
    row.unwrap_or_else(|| panic!("{solver}: {section}"))[at].clone()
}

#[test]
fn a_report_has_archived_results_without_marks_and_is_else_the_same() {
    let ours = ours();
    let page = report(&ours, &[archive()], Format::Markdown);
    let (own, rest) = section(&page);
    assert_eq!(rest, report(&ours, &[], Format::Markdown));
    assert!(!own.contains("**"), "{own}");
    for column in ["ok", "test RMSE", r"total \[s\]"] {
        let archived = cell(&own, "cholesky (archive archive)", column);
        assert!(!archived.is_empty() && archived == cell(&own, "cholesky", column), "{column}: {own}");
    }
    assert!(own.contains("nothing here is bold, and archived results have no part in ranks"), "{own}");
    let wide = report(&ours, &[archive()], Format::Text);
    assert!(wide.contains("Beside the archive") && wide.contains("cg (archive archive)"), "{wide}");
    assert!(report(&ours, &[archive()], Format::Latex).contains("cg (archive archive)"));
}

#[test]
fn times_of_another_machine_are_in_no_report() {
    let mut theirs = archive();
    theirs.record.environments[0].cpu = "Another".to_owned();
    let (own, _) = section(&report(&ours(), &[theirs], Format::Markdown));
    assert_eq!(cell(&own, "cholesky (archive archive)", r"total \[s\]"), "");
    assert_ne!(cell(&own, "cholesky", r"total \[s\]"), "");
    assert_ne!(cell(&own, "cholesky (archive archive)", "test RMSE"), "");
    assert!(own.contains("its times are left out, since they are of another kind of machine."), "{own}");
}

#[test]
fn a_report_draws_archived_results_and_names_their_solvers_so() {
    let mut ours = ours();
    ours.record.rows.retain(|row| row.labels.solver == "cg");
    let folder = tempfile::tempdir().unwrap();
    let frame = Frame::new(&ours).unwrap();
    let archived = [archive()];
    let options = WriteOptions { output: Some(folder.path().to_owned()) };
    let written = frame.with_archive(&archived).unwrap().write(&options).unwrap();
    let drawn = |name: &str| std::fs::read_to_string(folder.path().join("figures").join(name)).unwrap();
    for name in ["archive-residual-y.svg", "archive-seconds.svg"] {
        assert!(written.figures.iter().any(|figure| figure.ends_with(name)), "{:?}", written.figures);
        let chart = drawn(name);
        assert!(chart.contains("data-series=\"cholesky (archive)\""), "{chart}");
        assert!(chart.contains("data-series=\"cg\"") && chart.contains("archive (archive)"), "{chart}");
    }
    let page = std::fs::read_to_string(written.html).unwrap();
    assert!(page.contains("<section id=\"archive\">") && page.contains("href=\"#archive\""));
}

#[test]
fn an_archive_without_a_problem_of_the_run_is_named_and_foreign_names_are_escaped() {
    let mut theirs = archive();
    theirs.record.name = "<script>|`x`".to_owned();
    let shown = report(&ours(), &[theirs.clone()], Format::Markdown);
    assert!(shown.contains(r"cg (archive \<script\>\|\`x\`)"), "{shown}");
    assert!(!report(&ours(), &[theirs.clone()], Format::Html).contains("<script>|"));
    theirs.record.rows.iter_mut().for_each(|row| row.case.kernel.noise_scale = 7.0);
    let text = report(&ours(), &[theirs.clone()], Format::Text);
    assert!(text.contains("No case of the archive (<script>|`x`) is of a problem of this run."), "{text}");
    let page = report(&ours(), &[theirs], Format::Markdown);
    assert!(!page.contains("Beside the archive"), "{page}");
}
