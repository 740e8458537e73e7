//! When an attempt is over, and what is sent when.

use gpbench_record::Ending;

use super::bench::Bench;
use super::world::{Answer, limits};
use crate::front::Policy;
use crate::ledger::LedgerLine;
use crate::scheduler::{CancelTarget, TaskState, Trouble};

#[test]
fn a_silent_attempt_is_lost_after_two_answers_and_a_silent_heartbeat() {
    let mut bench = Bench::new(&[&["a"]]);
    bench.round();
    bench.begin(0, "n1");
    bench.round();
    bench.set(0, TaskState::NodeFailed, "NodeDown", (0, 0));
    bench.wait(75);
    assert_eq!(bench.sent().len(), 1, "the heartbeat is 75 s old");
    bench.wait(15);
    assert_eq!(bench.sent().len(), 2);
}

#[test]
fn a_copy_that_lives_on_without_the_scheduler_is_not_lost() {
    let mut bench = Bench::new(&[&["a", "b"]]);
    bench.round();
    bench.begin(0, "n1");
    bench.set(0, TaskState::NodeFailed, "NodeDown", (0, 0));
    for _ in 0..60 {
        bench.beat(0);
        bench.wait(30);
    }
    bench.row(0, "a");
    bench.row(0, "b");
    assert!(bench.round().is_finished);
    assert_eq!((bench.sent().len(), bench.journal().len()), (1, 2));
}

#[test]
fn a_failed_answer_says_nothing() {
    let mut bench = Bench::new(&[&["a"]]);
    bench.round();
    bench.begin(0, "n1");
    bench.round();
    bench.shared.0.borrow_mut().is_away = true;
    let round = bench.round();
    assert_eq!(round.notes, ["`sbatch` said no"]);
    for _ in 0..60 {
        bench.beat(0);
        bench.wait(60);
    }
    bench.shared.0.borrow_mut().is_away = false;
    bench.beat(0);
    bench.wait(60);
    assert_eq!((bench.sent().len(), bench.summary().running["n1"]), (1, 1));
}

#[test]
fn one_answer_that_knows_the_attempt_takes_back_those_that_did_not() {
    let mut bench = Bench::new(&[&["a"]]);
    bench.round();
    bench.begin(0, "n1");
    let forget = |bench: &mut Bench, is_forgotten| {
        bench.shared.0.borrow_mut().jobs.get_mut(&(1, 0)).unwrap().is_forgotten = is_forgotten;
    };
    for is_forgotten in [true, false, true] {
        forget(&mut bench, is_forgotten);
        bench.wait(60);
    }
    assert_eq!(bench.sent().len(), 1);
    bench.wait(15);
    assert_eq!(bench.sent().len(), 2);
    let reason = "unknown to Slurm, which last said RUNNING (n1)";
    assert_eq!(bench.summary().retried[0].reason, reason);
}

#[test]
fn a_task_that_runs_without_a_sign_of_life_is_cancelled() {
    let mut bench = Bench::new(&[&["a"]]);
    bench.round();
    bench.begin(0, "n1");
    bench.wait(600);
    assert!(bench.shared.0.borrow().cancelled.is_empty());
    bench.wait(15);
    assert_eq!(bench.shared.0.borrow().cancelled, [CancelTarget::Task(1, 0)]);
    bench.wait(75);
    assert_eq!(bench.sent()[1], "[n1] 0000.02 a");
    assert!(bench.summary().retried[0].reason.starts_with("running without a sign of life"));
}

#[test]
fn an_array_whose_answer_was_lost_is_found_by_its_comment() {
    let mut bench = Bench::new(&[&["a"], &["b"]]);
    bench.shared.0.borrow_mut().answers.push_back(Answer::AcceptsSilently);
    bench.round();
    bench.wait(15);
    let ledger = bench.shared.0.borrow().ledger.clone();
    assert!(ledger.contains(&LedgerLine::Submitted { submission: 1, job: 1 }), "{ledger:?}");
    bench.wait(300);
    assert_eq!(bench.sent().len(), 1);
}

#[test]
fn an_array_whose_answer_was_lost_is_found_by_its_runner() {
    let mut bench = Bench::new(&[&["a"]]);
    bench.shared.0.borrow_mut().answers.push_back(Answer::AcceptsSilently);
    bench.round();
    bench.begin(0, "n1");
    bench.shared.0.borrow_mut().jobs.get_mut(&(1, 0)).unwrap().is_forgotten = true;
    bench.wait(15);
    assert!(bench.shared.0.borrow().ledger.contains(&LedgerLine::Submitted { submission: 1, job: 1 }));
}

#[test]
fn an_array_that_has_never_arrived_is_sent_again_and_does_not_count() {
    let mut bench = Bench::new(&[&["a"]]);
    bench.shared.0.borrow_mut().answers.push_back(Answer::Refuses(Trouble::Passing));
    bench.round();
    bench.wait(60);
    assert_eq!(bench.sent().len(), 0);
    bench.wait(15);
    assert_eq!(bench.sent(), ["[] 0000.02 a"]);
    assert!(bench.summary().retried.is_empty());
}

#[test]
fn an_intent_of_a_front_that_was_killed_is_looked_up() {
    for has_arrived in [false, true] {
        let mut bench = Bench::new(&[&["a"]]);
        bench.round();
        // The front was killed between the intent and the answer.
        let mut world = bench.shared.0.borrow_mut();
        world.ledger.retain(|line| !matches!(line, LedgerLine::Submitted { .. }));
        if !has_arrived {
            world.jobs.clear();
        }
        drop(world);
        bench.restart(true);
        bench.round();
        bench.wait(75);
        assert_eq!(bench.sent().len(), if has_arrived { 1 } else { 2 });
    }
}

#[test]
fn what_a_lost_copy_adds_counts_and_what_is_there_already_does_not() {
    let mut bench = Bench::new(&[&["a", "b"]]);
    bench.round();
    bench.begin(0, "n1");
    bench.set(0, TaskState::NodeFailed, "NodeDown", (0, 0));
    bench.wait(105);
    bench.begin(0, "n2");
    bench.row(0, "a");
    bench.round();
    let first = gpbench_record::Attempt { task: 0, attempt: 1 };
    for id in ["a", "b"] {
        bench.shared.0.borrow_mut().tell(first, super::world::case_line(id), 0);
    }
    bench.round();
    assert_eq!(bench.journal(), ["a", "b"]);
    assert_eq!(bench.summary().duplicates, 1);
    // The second copy has nothing left to do.
    assert_eq!(bench.shared.0.borrow().cancelled, [CancelTarget::Task(2, 0)]);
    bench.wait(15);
    assert!(bench.round().is_finished);
}

#[test]
fn arrays_are_as_long_as_is_allowed_and_share_the_throttle() {
    let cases: Vec<Vec<String>> = (0..30).map(|k| vec![format!("c{k}")]).collect();
    let policy = Policy { throttle: Some(6), ..Policy::default() };
    let mut bench = Bench::of(super::world::manifest(&cases), policy, limits(4, 11));
    bench.round();
    let world = bench.shared.0.borrow();
    let counts: Vec<_> = world.arrays.iter().map(|array| (array.count, array.throttle)).collect();
    assert_eq!(counts, [(11, Some(2)), (11, Some(2)), (8, Some(1))]);
}

#[test]
fn fewer_tasks_are_sent_where_the_queue_is_full() {
    let mut bench = Bench::new(&[&["a"], &["b"], &["c"], &["d"]]);
    let full = Answer::Refuses(Trouble::Full);
    bench.shared.0.borrow_mut().answers.extend([full, full, full]);
    bench.round();
    bench.wait(15);
    assert_eq!(bench.sent().len(), 0, "four, then two and two were too many");
    bench.wait(15);
    let counts: Vec<_> = bench.shared.0.borrow().arrays.iter().map(|array| array.count).collect();
    assert_eq!(counts, [1, 1, 1, 1]);
}

#[test]
fn nothing_is_sent_for_a_while_where_not_one_task_fits() {
    let policy = Policy { full_seconds: 60.0, ..Policy::default() };
    let mut bench = Bench::with(&[&["a"], &["b"]], policy, limits(4, 1));
    let full = Answer::Refuses(Trouble::Full);
    bench.shared.0.borrow_mut().answers.extend([full, full]);
    bench.round();
    bench.wait(45);
    assert_eq!(bench.sent().len(), 0);
    bench.wait(30);
    assert_eq!(bench.sent().len(), 2);
}

#[test]
fn a_refusal_for_good_is_an_error_and_loses_nothing() {
    let mut bench = Bench::new(&[&["a"]]);
    bench.shared.0.borrow_mut().answers.push_back(Answer::Refuses(Trouble::Lasting));
    let now = bench.shared.0.borrow().time();
    let error = bench.manager.round(now).unwrap_err();
    assert_eq!(error.to_string(), "`sbatch` said no");
    bench.restart(true);
    bench.round();
    assert_eq!(bench.sent(), ["[] 0000.02 a"]);
}

#[test]
fn the_user_ends_the_run_and_goes_on_with_it() {
    let mut bench = Bench::new(&[&["a"], &["b"], &["c"]]);
    bench.round();
    bench.begin(0, "n1");
    bench.begin(1, "n2");
    bench.row(1, "b");
    bench.round();
    bench.manager.front.end();
    assert!(!bench.round().is_finished);
    assert_eq!(bench.shared.0.borrow().cancelled, [CancelTarget::Array(1)]);
    bench.ended(0, Ending::Signal { signal: 15 });
    bench.wait(15);
    let round = bench.round();
    assert!(round.is_finished);
    assert!(bench.summary().left.is_empty(), "nothing is given up");
    bench.restart(true);
    bench.round();
    assert_eq!(bench.sent()[1], "[] 0000.02 a 0002.02 c");
}

#[test]
fn the_pause_grows_while_nothing_changes() {
    let mut bench = Bench::new(&[&["a"]]);
    assert_eq!(bench.round().pause_seconds, 15.0);
    bench.round();
    let pauses: Vec<f64> = (0..5).map(|_| bench.round().pause_seconds).collect();
    assert_eq!(pauses, [30.0, 60.0, 120.0, 120.0, 120.0]);
    bench.begin(0, "n1");
    assert_eq!(bench.round().pause_seconds, 15.0);
}

#[test]
fn a_cancellation_that_fails_is_tried_again() {
    let mut bench = Bench::new(&[&["a"]]);
    bench.round();
    bench.manager.front.end();
    bench.shared.0.borrow_mut().is_away = true;
    bench.round();
    bench.restart(false);
    bench.manager.front.end();
    bench.shared.0.borrow_mut().is_away = false;
    bench.round();
    assert_eq!(bench.shared.0.borrow().cancelled, [CancelTarget::Array(1)]);
    assert!(bench.round().is_finished);
}

#[test]
fn rows_come_while_the_scheduler_is_away() {
    let mut bench = Bench::new(&[&["a"]]);
    bench.round();
    bench.round();
    bench.shared.0.borrow_mut().is_away = true;
    bench.begin(0, "n1");
    bench.row(0, "a");
    assert_eq!(bench.round().rows, ["a"]);
}
