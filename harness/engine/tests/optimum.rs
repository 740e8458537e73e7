//! Cases of training that are compared with the optimum of the likelihood.

use std::fs;
use std::path::Path;
use std::sync::Mutex;

use gpbench_engine::{
    End, Engine, Event, Executor, Interrupt, Outcome, Plan, ReferenceKind, RunOptions, RunSummary, WorkItem,
};
use gpbench_files::{Durability, replace_sealed};
use gpbench_record::{
    CaseStatus, Environment, Failure, Message, Metrics, Optimum, Solved, Step, StopReason, Task, TaskOutput,
    TrainingOutput, Verified, names,
};
use gpbench_runs::{RunRecord, read_journal};

use crate::support::{Noon, change, hyperparameters, options, solved};
use crate::training::training;

/// Trains in two steps, and searches for the optimum, unless it cannot.
#[derive(Default)]
struct Machine {
    fails: bool,
    asked: Mutex<Vec<&'static str>>,
}

fn metrics(likelihood: f64) -> Metrics {
    let residuals = [(names::RESIDUAL_Y, 1e-3), (names::RESIDUAL_PROBES, 1e-3)];
    let values = [(names::LOG_MARGINAL_LIKELIHOOD, likelihood)].into_iter().chain(residuals);
    values.map(|(name, value)| (name.to_owned(), value)).collect()
}

impl Executor for Machine {
    fn machine(&self) -> Environment {
        Environment::default()
    }

    fn run(&self, item: &WorkItem, _: &Path, _: &Interrupt, _: &dyn Fn(&Message)) -> Outcome {
        self.asked.lock().unwrap().push(item.verb());
        let messages = match item {
            WorkItem::Optimum(_) if self.fails => {
                let reason = "from every start, the kernel matrix is singular".to_owned();
                vec![Message::Failed(Failure { status: CaseStatus::Diverged, reason })]
            }
            WorkItem::Optimum(request) => {
                let optimum = Optimum {
                    log_marginal_likelihood: -20.0,
                    hyperparameters: hyperparameters(),
                    n: 10,
                    evaluations: 7,
                };
                let json = serde_json::to_vec(&optimum).unwrap();
                let output = &request.system.output;
                replace_sealed(output, Durability::ThisRun, |file| file.write_all(&json)).unwrap();
                vec![Message::Optimum(optimum)]
            }
            WorkItem::Case(_) => {
                let step = |step: u64| {
                    let (hyperparameters, reason) = (hyperparameters(), StopReason::Converged);
                    let metrics = metrics(-40.0 + 10.0 * step as f64);
                    Message::Step(Step { step, hyperparameters, reason, metrics })
                };
                let Message::Solved(solved) = solved(StopReason::Converged, &[0.004, 0.009], 3.0) else {
                    panic!("a solve");
                };
                let output = TrainingOutput { hyperparameters: hyperparameters(), ..Default::default() };
                let last = Solved { output: TaskOutput::Train(Box::new(output)), ..solved };
                vec![step(0), step(1), Message::Solved(last)]
            }
            WorkItem::Verify(_) => {
                vec![Message::Verified(Verified { metrics: metrics(-21.0), ..Verified::default() })]
            }
            WorkItem::Exact(_) => panic!("no exact reference was requested"),
        };
        Outcome { messages, ..Outcome::of(End::Exited(0)) }
    }
}

/// A plan of one case that is compared with the optimum.
fn compared() -> Plan {
    let mut plan = training();
    change(&mut plan.file.cases[0], |case, _| {
        let Task::Train(training) = &mut case.task else { panic!("training") };
        training.optimum = true;
    });
    plan
}

/// Runs a plan; the kinds of the references that were made, and the warnings.
fn run(
    machine: &Machine,
    plan: &Plan,
    options: &RunOptions,
) -> (RunSummary, Vec<ReferenceKind>, Vec<String>) {
    let interrupt = Interrupt::default();
    let engine = Engine { executor: machine, clock: &Noon, interrupt, renew_dataset: &|_| Ok(()) };
    let (mut kinds, mut warnings) = (Vec::new(), Vec::new());
    let mut note = |event| match event {
        Event::ReferenceStarted { kind, .. } => kinds.push(kind),
        Event::Warning(text) => warnings.push(text),
        _ => {}
    };
    let summary = engine.run(plan, options, &mut note).unwrap();
    (summary, kinds, warnings)
}

#[test]
fn distances_stand_in_the_row_and_its_steps_and_the_optimum_is_sought_once() {
    let folder = tempfile::tempdir().unwrap();
    let (plan, machine) = (compared(), Machine::default());
    let options = RunOptions { fresh: true, ..options(folder.path()) };
    let (summary, kinds, _) = run(&machine, &plan, &options);
    assert_eq!(kinds, [ReferenceKind::Optimum]);
    assert_eq!(*machine.asked.lock().unwrap(), ["optimum", "case", "verify"]);

    let row = &read_journal(&summary.folder).unwrap().rows[0];
    assert_eq!((row.status, row.lacks_exact), (CaseStatus::Ok, false), "{}", row.reason);
    let distance = |metrics: &Metrics| metrics.get(names::OPTIMUM_DISTANCE);
    let along: Vec<Option<f64>> = row.output.steps().iter().map(|step| distance(&step.metrics)).collect();
    assert_eq!((along, distance(&row.metrics)), (vec![Some(2.0), Some(1.0)], Some(0.1)));
    assert_eq!(row.metrics.get(names::OPTIMUM_LIKELIHOOD), Some(-20.0));

    // Stored in the cache.
    assert_eq!(run(&machine, &plan, &options).1, []);
    let files: Vec<_> = fs::read_dir(options.cache_dir.join("exact")).unwrap().collect();
    assert_eq!(files.len(), 1, "{files:?}");
    // A damaged file is made again.
    let file = files[0].as_ref().unwrap().path();
    fs::write(&file, "not sealed").unwrap();
    let (summary, kinds, _) = run(&machine, &plan, &options);
    assert!(summary.is_complete(), "{:?}", summary.without_rows);
    assert_eq!(kinds, [ReferenceKind::Optimum]);
    assert!(fs::read(&file).unwrap().len() > 100);
}

#[test]
fn an_optimum_that_cannot_be_found_is_a_warning_and_the_case_has_its_row() {
    let folder = tempfile::tempdir().unwrap();
    let machine = Machine { fails: true, ..Machine::default() };
    let (summary, _, warnings) = run(&machine, &compared(), &options(folder.path()));
    assert!(summary.is_complete());
    let expected =
        "no optimum of the likelihood for draw (n = 10): from every start, the kernel matrix is singular";
    assert_eq!(warnings, [expected]);
    let row = &RunRecord::open(&summary.folder).unwrap().rows[0];
    assert!(row.lacks_exact && row.metrics.get(names::OPTIMUM_DISTANCE).is_none());
}
