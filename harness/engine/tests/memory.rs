//! Cases that run at a time share the memory of the machine.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Barrier, Mutex};

use gpbench_engine::{End, EngineError, Event, Executor, Interrupt, Outcome, Plan, RunOptions, WorkItem};
use gpbench_record::{Environment, Message, StopReason};

use crate::support::{options, plan, plan_of, planned, run, solved, verified};

/// A machine with 1000 bytes free, on which cases meet.
struct Machine {
    /// Where cases wait until so many run.
    meeting: Barrier,
    running: AtomicUsize,
    /// Cases in the order in which they began: the solver, and how many ran then.
    begun: Mutex<Vec<(String, usize)>>,
}

impl Machine {
    fn new(meeting: usize) -> Self {
        Self { meeting: Barrier::new(meeting), running: AtomicUsize::new(0), begun: Mutex::default() }
    }

    fn begun(&self) -> Vec<(String, usize)> {
        self.begun.lock().unwrap().clone()
    }
}

impl Executor for Machine {
    fn machine(&self) -> Environment {
        Environment::default()
    }

    fn free_memory(&self) -> Option<u64> {
        Some(1000)
    }

    fn run(&self, item: &WorkItem, _log: &Path, _interrupt: &Interrupt, _seen: &dyn Fn(&Message)) -> Outcome {
        let WorkItem::Case(job) = item else {
            return Outcome { messages: vec![verified(0.005, 0.01)], ..Outcome::of(End::Exited(0)) };
        };
        self.running.fetch_add(1, Ordering::SeqCst);
        // All that run together are here between the two.
        self.meeting.wait();
        let running = self.running.load(Ordering::SeqCst);
        self.begun.lock().unwrap().push((job.case.solver.name.clone(), running));
        self.meeting.wait();
        self.running.fetch_sub(1, Ordering::SeqCst);
        let message = solved(StopReason::Converged, &[0.004, 0.009], 3.0);
        Outcome { messages: vec![message], ..Outcome::of(End::Exited(0)) }
    }
}

fn cases(count: u64) -> Plan {
    plan_of((0..count).map(|seed| planned("cg", seed)))
}

#[test]
fn no_more_cases_run_at_a_time_than_fit() {
    let folder = tempfile::tempdir().unwrap();
    let options = RunOptions { jobs: 6, memory_bytes: Some(300), ..options(folder.path()) };
    let machine = Machine::new(3);
    let (summary, _) = run(&machine, &cases(12), &options).unwrap();
    assert!(summary.is_complete());
    assert_eq!(machine.begun(), vec![("cg".to_owned(), 3); 12]);
}

#[test]
fn cases_without_limits_share_equally() {
    let folder = tempfile::tempdir().unwrap();
    let options = RunOptions { jobs: 4, ..options(folder.path()) };
    let machine = Machine::new(4);
    run(&machine, &cases(8), &options).unwrap();
    assert_eq!(machine.begun(), vec![("cg".to_owned(), 4); 8]);
}

#[test]
fn a_large_case_runs_alone_and_in_its_turn() {
    let folder = tempfile::tempdir().unwrap();
    let options = RunOptions { jobs: 4, ..options(folder.path()) };
    let mut plan = plan(&["a", "large", "c", "d"]);
    plan.files.iter_mut().for_each(|files| files.memory_estimate = Some(500));
    plan.files[1].memory_estimate = Some(5000);
    let machine = Machine::new(1);
    let (summary, events) = run(&machine, &plan, &options).unwrap();
    assert!(summary.is_complete());
    let begun = machine.begun();
    assert_eq!((&begun[0], &begun[1]), (&("a".to_owned(), 1), &("large".to_owned(), 1)));
    let warning = events.iter().find_map(|event| match event {
        Event::Warning(text) => Some(text.as_str()),
        _ => None,
    });
    assert_eq!(warning, Some("1 case may need more memory than is free (950 B): it runs alone"));
}

#[test]
fn a_limit_above_the_memory_of_the_machine_is_refused_once() {
    let folder = tempfile::tempdir().unwrap();
    let options = RunOptions { jobs: 2, memory_bytes: Some(3000), ..options(folder.path()) };
    let mut plan = cases(2);
    plan.environment.memory_bytes = 2000;
    let machine = Machine::new(1);
    let Err(error @ EngineError::Memory { .. }) = run(&machine, &plan, &options) else { panic!("it runs") };
    assert!(error.to_string().contains("--jobs 1"), "{error}");
    assert!(machine.begun().is_empty());
    // A case at a time may try.
    run(&machine, &plan, &RunOptions { jobs: 1, ..options }).unwrap();
    assert_eq!(machine.begun(), vec![("cg".to_owned(), 1); 2]);
}
