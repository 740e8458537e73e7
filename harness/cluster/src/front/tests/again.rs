//! Failed cases that run again.

use gpbench_record::{Attempt, Ending};

use super::bench::Bench;
use super::world::case_line;
use crate::ledger::LedgerLine;
use crate::scheduler::TaskState;

/// A run whose two tasks are done; `a` and `d` are then to run again.
fn again() -> Bench {
    let mut bench = Bench::new(&[&["a", "b"], &["c", "d"]]);
    bench.round();
    for (task, ids) in [(0, ["a", "b"]), (1, ["c", "d"])] {
        bench.begin(task, "n1");
        ids.iter().for_each(|id| bench.row(task, id));
        bench.ended(task, Ending::Done);
        bench.set(task, TaskState::Completed, "", (0, 0));
    }
    assert!(bench.round().is_finished);
    bench.restart(true);
    bench.manager.front.again(&["d".to_owned(), "a".to_owned()]);
    bench
}

#[test]
fn failed_cases_run_again_and_their_old_rows_are_not_taken_for_new_ones() {
    let mut bench = again();
    let round = bench.round();
    assert!(round.rows.is_empty() && !round.is_finished, "{round:?}");
    assert_eq!(bench.sent()[1], "[] 0000.02 a 0001.02 d");
    assert_eq!((bench.summary().rows, bench.summary().duplicates), (2, 0));
    // An old copy that lives on says nothing new.
    bench.shared.0.borrow_mut().tell(Attempt { task: 0, attempt: 1 }, case_line("a"), 0);
    assert!(bench.round().rows.is_empty());
    bench.begin(0, "n1");
    bench.row(0, "a");
    assert_eq!(bench.round().rows, ["a"]);
    assert_eq!(bench.journal(), ["a", "b", "c", "d", "a"]);
}

#[test]
fn another_front_goes_on_with_cases_that_run_again() {
    let mut bench = again();
    bench.round();
    bench.restart(false);
    assert!(bench.round().rows.is_empty());
    assert_eq!(bench.sent().len(), 2);
    for (task, id) in [(0, "a"), (1, "d")] {
        bench.begin(task, "n1");
        bench.row(task, id);
        bench.ended(task, Ending::Done);
        bench.set(task, TaskState::Completed, "", (0, 0));
        bench.round();
        bench.restart(false);
        bench.round();
    }
    assert!(bench.round().is_finished);
    assert_eq!(bench.journal(), ["a", "b", "c", "d", "a", "d"], "each new row is copied once");
    assert_eq!((bench.sent().len(), bench.summary().rows), (2, 4));
}

#[test]
fn a_case_runs_again_after_its_task_has_ended() {
    let mut bench = Bench::new(&[&["a", "b"]]);
    bench.round();
    bench.begin(0, "n1");
    bench.row(0, "a");
    bench.round();
    bench.restart(true);
    bench.manager.front.again(&["a".to_owned()]);
    bench.round();
    assert_eq!(bench.sent().len(), 1, "the other case is still running");
    bench.row(0, "b");
    bench.ended(0, Ending::Done);
    bench.set(0, TaskState::Completed, "", (0, 0));
    assert_eq!(bench.round().rows, ["b"]);
    assert_eq!(bench.sent()[1], "[] 0000.02 a");
    assert!(bench.summary().retried.is_empty());
}

#[test]
fn a_case_that_was_killed_has_all_of_its_chances_again() {
    let mut bench = Bench::new(&[&["a"]]);
    bench.round();
    ["n1", "n2", "n3"].iter().for_each(|node| bench.fail(0, node, "a", TaskState::Failed, (0, 9)));
    assert_eq!(bench.journal().len(), 1);
    bench.restart(true);
    bench.manager.front.again(&["a".to_owned()]);
    bench.round();
    ["n1", "n2"].iter().for_each(|node| bench.fail(0, node, "a", TaskState::Failed, (0, 9)));
    assert_eq!(bench.journal().len(), 1);
    bench.fail(0, "n3", "a", TaskState::Failed, (0, 9));
    assert_eq!(bench.journal().len(), 2);
    let renewed = LedgerLine::Renewed { case: "a".into() };
    assert!(bench.shared.0.borrow().ledger.contains(&renewed));
    bench.restart(true);
    assert!(bench.round().is_finished);
}
