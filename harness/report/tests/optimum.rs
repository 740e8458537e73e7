//! Distances to the optimum of the likelihood: their column, their chart, and cases that do better than the search.

use std::fs;

use gpbench_record::{JournalEntry, Row, Task, names};
use gpbench_report::{Format, Run, export};

use crate::support::{charts, trained};

/// The training of a test, where the case of `cg` with pathwise targets ends at this distance to the optimum and
/// others at 0.5, written and read again.
fn compared(end: f64) -> Run {
    let mut run = trained();
    run.record.rows.iter_mut().for_each(|row| compare(row, end));
    let folder = tempfile::tempdir().unwrap();
    let line = |row: &Row| serde_json::to_string(&JournalEntry::Case(Box::new(row.clone()))).unwrap() + "\n";
    let journal: String = run.record.rows.iter().map(line).collect();
    fs::write(folder.path().join("journal.jsonl"), journal).unwrap();
    Run::open(folder.path()).unwrap()
}

fn is_best(row: &Row) -> bool {
    row.labels.solver == "cg" && row.labels.estimator.as_deref() == Some("pathwise")
}

fn compare(row: &mut Row, end: f64) {
    let Task::Train(training) = &mut row.case.task else { panic!("a case of training") };
    training.optimum = true;
    let end = if is_best(row) { end } else { 0.5 };
    row.metrics.insert(names::OPTIMUM_LIKELIHOOD, -20.0);
    row.metrics.insert(names::OPTIMUM_DISTANCE, end);
    let mut steps = row.output.steps().to_vec();
    for step in &mut steps {
        let distance = 2.0 / (1.0 + step.step as f64);
        let costs = [(names::SECONDS_PREPARE, 0.1), (names::SECONDS_SOLVE, 0.5), (names::SECONDS_OUTER, 0.1)];
        for (name, value) in costs.into_iter().chain([(names::OPTIMUM_DISTANCE, distance)]) {
            step.metrics.insert(name, value);
        }
    }
    row.output.set_steps(steps);
}

/// The report with its captions, without line breaks.
fn words(run: &Run) -> String {
    export(run, Format::Markdown).unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
}

fn distance(run: &Run, is_wanted: fn(&Row) -> bool) -> f64 {
    let row = run.record.rows.iter().find(|row| row.labels.dataset == "pol" && is_wanted(row)).unwrap();
    row.metrics.get(names::OPTIMUM_DISTANCE).unwrap()
}

#[test]
fn distances_are_a_column_and_a_chart() {
    let run = compared(0.125);
    assert_eq!(distance(&run, is_best), 0.125);
    let shown = words(&run);
    assert!(shown.contains("distance to optimum") && shown.contains("0.125"), "{shown}");
    assert!(shown.contains("that L-BFGS finds from several starts, per row.") && !shown.contains("exceeded"));
    let charts = charts(&run);
    let chart = &charts["optimum-pol.svg"];
    for words in ["outer steps", "seconds", "epochs", "distance to the optimum"] {
        assert!(chart.contains(words), "{words}");
    }
    assert!(!charts["training-pol-cg.svg"].contains("distance to the optimum"), "once");
}

#[test]
fn a_case_that_does_better_is_said_and_is_the_reference() {
    let run = compared(-0.25);
    assert_eq!((distance(&run, is_best), distance(&run, |row| !is_best(row))), (0.0, 0.75));
    let best = run.record.rows.iter().find(|row| is_best(row) && row.labels.dataset == "pol").unwrap();
    let n = best.n.unwrap() as f64;
    assert_eq!(best.metrics.get(names::OPTIMUM_LIKELIHOOD), Some(-20.0 + 0.25 * n));
    assert_eq!(best.metrics.get(names::OPTIMUM_EXCEEDED), Some(0.25));
    let step = &best.output.steps()[1];
    assert_eq!(step.metrics.get(names::OPTIMUM_DISTANCE), Some(1.25));
    let shown = words(&run);
    let expected = "cg · pathwise exceeded that by up to 0.250: there, distances are those to the best case.";
    assert!(shown.contains(expected), "{shown}");
}

#[test]
fn a_difference_of_rounding_is_not_said() {
    let run = compared(-1e-8);
    assert_eq!(distance(&run, is_best), 0.0);
    assert!(run.record.rows.iter().all(|row| row.metrics.get(names::OPTIMUM_EXCEEDED).is_none()));
    assert!(!words(&run).contains("exceeded"));
}
