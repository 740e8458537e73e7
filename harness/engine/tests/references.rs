//! Exact references whose making was interrupted, and the load by other programs during a run.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use gpbench_engine::{
    End, Engine, Event, Executor, Interrupt, Outcome, Plan, ProcessorTimes, RunOptions, WorkItem,
};
use gpbench_record::{
    Environment, ExactSummary, Fault, FaultCause, Message, Metrics, StopReason, TracePoint, names,
};
use gpbench_runs::RunRecord;

use crate::support::{Noon, change, options, plan, solved, verified};

/// Makes references, unless each is interrupted. Of its four processors others use one.
struct Machine {
    interrupts: bool,
    seconds: AtomicU64,
}

impl Machine {
    fn new(interrupts: bool) -> Self {
        Self { interrupts, seconds: AtomicU64::default() }
    }
}

impl Executor for Machine {
    fn machine(&self) -> Environment {
        Environment::default()
    }

    fn processor_times(&self) -> Option<ProcessorTimes> {
        let ticks = 100 * self.seconds.fetch_add(10, Ordering::SeqCst);
        Some(ProcessorTimes { total: 4 * ticks, busy: 2 * ticks, own: ticks })
    }

    fn run(&self, item: &WorkItem, _log: &Path, interrupt: &Interrupt, seen: &dyn Fn(&Message)) -> Outcome {
        let message = match item {
            WorkItem::Exact(_) if self.interrupts => {
                interrupt.raise(2);
                return Outcome::of(End::Interrupted);
            }
            WorkItem::Exact(request) => {
                std::fs::write(&request.output, "exact").unwrap();
                Message::Exact(ExactSummary { metrics: Metrics::default() })
            }
            WorkItem::Case(_) => {
                let metrics = Metrics::from_iter([(names::CLAIMED_Y.to_owned(), 0.5)]);
                seen(&Message::Trace(TracePoint { iteration: 1, seconds: 0.1, epochs: 1.0, metrics }));
                solved(StopReason::Converged, &[0.004, 0.009], 3.0)
            }
            WorkItem::Verify(_) => verified(0.005, 0.01),
            WorkItem::Optimum(_) => panic!("no optimum was requested"),
        };
        Outcome { messages: vec![message], ..Outcome::of(End::Exited(0)) }
    }
}

/// A plan whose one case wants an exact reference.
fn exact_plan() -> Plan {
    let mut plan = plan(&["cg"]);
    plan.environment.cores = 4;
    change(&mut plan.file.cases[0], |_, fingerprint| fingerprint.exact = true);
    plan
}

/// Runs a plan; for each reference that was begun, whether it was so again.
fn begun(machine: &Machine, plan: &Plan, options: &RunOptions) -> Vec<bool> {
    let interrupt = Interrupt::default();
    let engine = Engine { executor: machine, clock: &Noon, interrupt, renew_dataset: &|_| Ok(()) };
    let mut begun = Vec::new();
    let mut note = |event| {
        if let Event::ReferenceStarted { again, .. } = event {
            begun.push(again);
        }
    };
    engine.run(plan, options, &mut note).unwrap();
    begun
}

#[test]
fn an_interrupted_reference_is_told_when_it_begins_again() {
    let folder = tempfile::tempdir().unwrap();
    let (plan, options) = (exact_plan(), options(folder.path()));
    assert_eq!(begun(&Machine::new(true), &plan, &options), [false]);
    assert_eq!(begun(&Machine::new(true), &plan, &options), [true]);
    assert_eq!(begun(&Machine::new(false), &plan, &options), [true]);
    // Made anew, for it was lost, but nothing was interrupted.
    let fresh = RunOptions { fresh: true, ..options };
    std::fs::remove_dir_all(fresh.cache_dir.join("exact")).unwrap();
    assert_eq!(begun(&Machine::new(false), &plan, &fresh), [false]);
    assert_eq!(begun(&Machine::new(false), &plan, &fresh), [false; 0]);
}

/// Runs a plan of two kernels with references in an unusable cache; the warnings, and the references of the run.
fn without_a_cache(options: &RunOptions) -> (Vec<String>, Vec<PathBuf>) {
    let mut plan = plan(&["cg", "ap"]);
    for (planned, signal_scale) in plan.file.cases.iter_mut().zip([1.0, 2.0]) {
        change(planned, |case, fingerprint| {
            fingerprint.exact = true;
            case.kernel.signal_scale = signal_scale;
        });
    }
    let machine = Storing::default();
    let interrupt = Interrupt::default();
    let engine = Engine { executor: &machine, clock: &Noon, interrupt, renew_dataset: &|_| Ok(()) };
    let mut warnings = Vec::new();
    let mut note = |event| {
        if let Event::Warning(text) = event {
            warnings.push(text);
        }
    };
    let summary = engine.run(&plan, options, &mut note).unwrap();
    assert!(summary.is_complete(), "every case has its row: {:?}", summary.without_rows);
    (warnings, machine.made.into_inner().unwrap())
}

/// Makes references as the worker does: one that cannot be written is a fault of storage.
#[derive(Default)]
struct Storing {
    made: Mutex<Vec<PathBuf>>,
}

impl Executor for Storing {
    fn machine(&self) -> Environment {
        Environment::default()
    }

    fn run(&self, item: &WorkItem, _: &Path, _: &Interrupt, _: &dyn Fn(&Message)) -> Outcome {
        let message = match item {
            WorkItem::Exact(request) => match std::fs::write(&request.output, "exact") {
                Ok(()) => {
                    self.made.lock().unwrap().push(request.output.clone());
                    Message::Exact(ExactSummary { metrics: Metrics::default() })
                }
                Err(error) => Message::Fault(Fault {
                    cause: FaultCause::Storage,
                    reason: error.to_string(),
                    plugin_ran: false,
                }),
            },
            WorkItem::Case(job) => {
                assert!(job.exact_file.as_ref().is_some_and(|file| file.is_file()), "{job:?}");
                solved(StopReason::Converged, &[0.004, 0.009], 3.0)
            }
            WorkItem::Verify(_) => verified(0.005, 0.01),
            WorkItem::Optimum(_) => panic!("no optimum was requested"),
        };
        Outcome { messages: vec![message], ..Outcome::of(End::Exited(0)) }
    }
}

#[test]
fn references_that_cannot_be_stored_are_made_for_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let options = options(folder.path());
    std::fs::create_dir(&options.cache_dir).unwrap();
    let cache = options.cache_dir.join("exact");
    let told = |(warnings, made): (Vec<String>, Vec<PathBuf>)| {
        let about: Vec<&String> = warnings.iter().filter(|text| text.contains("cannot be stored")).collect();
        assert_eq!((about.len(), made.len()), (1, 2), "{warnings:?}");
        assert!(about[0].contains(&cache.display().to_string()), "{about:?}");
        assert!(made.iter().all(|file| !file.exists() && !file.starts_with(&options.cache_dir)), "{made:?}");
    };
    // A file stands where the folder should be.
    std::fs::write(&cache, "").unwrap();
    told(without_a_cache(&RunOptions { fresh: true, ..options.clone() }));
    // The folder exists, and no file can be made in it.
    std::fs::remove_file(&cache).unwrap();
    std::os::unix::fs::symlink("/proc", &cache).unwrap();
    told(without_a_cache(&RunOptions { fresh: true, ..options.clone() }));
    // A usable cache is used again.
    std::fs::remove_file(&cache).unwrap();
    let (warnings, made) = without_a_cache(&RunOptions { fresh: true, ..options.clone() });
    assert!(warnings.iter().all(|text| !text.contains("cannot be stored")), "{warnings:?}");
    assert!(
        made.len() == 2 && made.iter().all(|file| file.starts_with(&cache) && file.is_file()),
        "{made:?}"
    );
}

/// Makes references whose log likelihood is known to a relative error.
struct Rounding {
    error: f64,
}

impl Executor for Rounding {
    fn machine(&self) -> Environment {
        Environment::default()
    }

    fn run(&self, item: &WorkItem, log: &Path, interrupt: &Interrupt, seen: &dyn Fn(&Message)) -> Outcome {
        let mut outcome = Machine::new(false).run(item, log, interrupt, seen);
        for message in &mut outcome.messages {
            if let Message::Verified(verified) = message {
                verified.metrics.insert(names::EXACT_ERROR, self.error);
            }
        }
        outcome
    }
}

#[test]
fn a_reference_of_few_digits_is_warned_of_once() {
    let warnings = |error: f64| {
        let folder = tempfile::tempdir().unwrap();
        // Both cases are compared with one reference.
        let mut plan = plan(&["cg", "ap"]);
        for planned in &mut plan.file.cases {
            change(planned, |_, fingerprint| fingerprint.exact = true);
        }
        let (executor, interrupt) = (&Rounding { error }, Interrupt::default());
        let engine = Engine { executor, clock: &Noon, interrupt, renew_dataset: &|_| Ok(()) };
        let mut warnings = Vec::new();
        let mut note = |event| {
            if let Event::Warning(text) = event {
                warnings.push(text);
            }
        };
        let summary = engine.run(&plan, &options(folder.path()), &mut note).unwrap();
        assert!(summary.is_complete(), "{:?}", summary.without_rows);
        warnings.retain(|text| text.contains("nearly singular"));
        warnings
    };
    let found = warnings(2e-3);
    assert_eq!(found.len(), 1, "{found:?}");
    let expected = "rounding changes its log likelihood by about 0.002 of its size, and what is compared with it is not \
                    known better; a larger noise scale is";
    assert!(found[0].contains(expected), "{found:?}");
    assert_eq!(warnings(1e-3), [""; 0], "three digits");
}

#[test]
fn residuals_are_told_as_they_come_and_the_load_by_others_is_stored() {
    let folder = tempfile::tempdir().unwrap();
    let engine = Engine {
        executor: &Machine::new(false),
        clock: &Noon,
        interrupt: Interrupt::default(),
        renew_dataset: &|_| Ok(()),
    };
    let mut residuals = Vec::new();
    let mut note = |event| {
        if let Event::CaseAdvanced { metrics, .. } = event {
            residuals.extend(metrics.get(names::CLAIMED_Y));
        }
    };
    let summary = engine.run(&exact_plan(), &options(folder.path()), &mut note).unwrap();
    assert_eq!(residuals, [0.5]);
    assert_eq!(summary.other_load, Some(0.25));
    let stored = RunRecord::open(&summary.folder).unwrap();
    assert_eq!(stored.environments[0].other_load, Some(0.25));
}
