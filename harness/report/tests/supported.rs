//! What the pairs of solvers support over several data sets: the sentences of a report.

use gpbench_record::{CaseStatus, Row, Source, names, testing};
use gpbench_report::{Format, Run, export};
use gpbench_runs::RunRecord;

/// Values of five seeds, such as they differ between seeds.
const BASE: [f64; 5] = [0.50, 0.58, 0.46, 0.53, 0.61];

/// Factors by which one solver differs from another with each seed.
const JITTER: [f64; 5] = [1.00, 1.02, 0.99, 1.01, 0.98];

const DATASETS: [&str; 3] = ["bike", "elevators", "pol"];

/// Cases of a solver on each data set, whose metric is `factors` times the base.
fn rows(solver: &str, metric: &str, factors: [f64; 3]) -> Vec<Row> {
    let mut rows = Vec::new();
    for (dataset, factor) in DATASETS.into_iter().zip(factors) {
        for (seed, (base, jitter)) in (0..).zip(BASE.into_iter().zip(JITTER)) {
            let mut case = testing::case(solver);
            (case.dataset.name, case.seed) = (dataset.to_owned(), seed);
            let jitter = if factor == 1.0 { 1.0 } else { jitter };
            rows.push(testing::row(case, &[(metric, base * factor * jitter)]));
        }
    }
    rows
}

fn run(rows: impl IntoIterator<Item = Vec<Row>>) -> Run {
    let rows: Vec<Row> = rows.into_iter().flatten().collect();
    let mut record = RunRecord { rows, name: "supported".to_owned(), ..RunRecord::default() };
    let mut solvers: Vec<String> = record.rows.iter().map(|row| row.labels.solver.clone()).collect();
    solvers.dedup();
    record.axes.solver = solvers;
    Run { record, warnings: Vec::new() }
}

/// The sentences, and the rule below them; none where there is no such section.
fn sentences(run: &Run) -> Vec<String> {
    let page = export(run, Format::Markdown).unwrap().replace('\\', "");
    let Some((_, section)) = page.split_once("## What the pairs support\n\n") else { return Vec::new() };
    let lines = section.lines().take_while(|line| !line.starts_with('#'));
    lines.filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

#[test]
fn a_solver_that_is_faster_everywhere_is_said_to_be() {
    let two = run([rows("fast", names::SECONDS, [1.0; 3]), rows("slow", names::SECONDS, [2.0, 3.0, 4.0])]);
    let found = sentences(&two);
    let expected =
        "- fast takes fewer seconds to the tolerance than slow (2.00 to 4.00×) on all 3 data sets.";
    assert_eq!(found[0], expected, "{found:?}");
    assert_eq!(found.len(), 2, "{found:?}");
    let rule = "By paired t tests over 5 seeds on each data set, kernel and estimator (Holm over all 3 comparisons, 5 %)";
    assert!(found[1].starts_with(rule), "{found:?}");
    let html = export(&two, Format::Html).unwrap();
    assert!(html.contains("<section id=\"supported\">") && html.contains("href=\"#supported\""), "{html}");
}

#[test]
fn what_holds_on_some_data_sets_says_on_how_many() {
    let seconds = names::SECONDS;
    let three = run([
        rows("a", seconds, [1.0; 3]),
        rows("b", seconds, [3.0, 1.0, 3.0]),
        rows("c", seconds, [0.5, 3.0, 3.0]),
    ]);
    let found = sentences(&three);
    // `c` is faster than both on one data set and slower than `a` on the others: neither is said.
    assert_eq!(
        found[0], "- a takes fewer seconds to the tolerance than b (3.00×) on 2 of 3 data sets.",
        "{found:?}"
    );
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[1].contains("Holm over all 9 comparisons"), "{found:?}");
}

#[test]
fn errors_are_compared_too_and_splits_of_files_are_no_independent_seeds() {
    let mut two =
        run([rows("good", names::TEST_RMSE, [1.0; 3]), rows("bad", names::TEST_RMSE, [1.5, 1.5, 1.5])]);
    let expected = "- good has a lower test RMSE than bad on all 3 data sets.";
    assert_eq!(sentences(&two)[0], expected);
    assert!(!sentences(&two)[1].contains("overlap"));
    for row in &mut two.record.rows {
        row.case.dataset.source = Source::Registry { name: row.labels.dataset.clone() };
        row.case.dataset.split = u32::try_from(row.labels.seed).unwrap();
    }
    let of_file = sentences(&two);
    assert_eq!(of_file[0], expected);
    assert!(of_file[1].contains("Splits of different seeds overlap"), "{of_file:?}");
}

#[test]
fn few_data_sets_few_seeds_and_failures_support_nothing() {
    let two = || run([rows("fast", names::SECONDS, [1.0; 3]), rows("slow", names::SECONDS, [3.0; 3])]);
    let without = |is_left_out: &dyn Fn(&Row) -> bool| {
        let mut run = two();
        run.record.rows.retain(|row| !is_left_out(row));
        sentences(&run)
    };
    assert_eq!(without(&|_| false).len(), 2);
    assert!(without(&|row| row.labels.dataset == "pol").is_empty());
    assert!(without(&|row| row.labels.seed == 4).is_empty());
    assert!(without(&|row| row.labels.solver == "slow").is_empty());
    let mut failed = two();
    let row = failed.record.rows.iter_mut().find(|row| row.labels.solver == "slow").unwrap();
    row.status = CaseStatus::NotConverged;
    assert!(sentences(&failed).is_empty());
    // Equal solvers.
    let equal = run([rows("one", names::SECONDS, [1.0; 3]), rows("two", names::SECONDS, [1.0; 3])]);
    assert!(sentences(&equal).is_empty());
}
