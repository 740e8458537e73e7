//! Cases that train: checkpoints that outlive a run, steps in the row, verification at the final hyperparameters.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Mutex;

use gpbench_engine::{End, Engine, Executor, Interrupt, Outcome, Plan, WorkItem};
use gpbench_record::{
    CaseStatus, Environment, FinalPrediction, GradientEstimator, Job, Message, Metrics, ParamValue,
    RateSchedule, Solved, Step, StopReason, Task, TaskOutput, Training, TrainingOutput, names,
};
use gpbench_runs::read_journal;

use crate::support::{Noon, change, hyperparameters, options, plan, solved, verified};

/// Takes one step and is interrupted; where it finds its checkpoint it ends.
#[derive(Default)]
struct Trainer {
    verified: Mutex<Vec<Job>>,
}

impl Executor for Trainer {
    fn machine(&self) -> Environment {
        Environment::default()
    }

    fn run(&self, item: &WorkItem, _log: &Path, interrupt: &Interrupt, _seen: &dyn Fn(&Message)) -> Outcome {
        let ended = |messages, end| Outcome {
            messages,
            end,
            peak_memory_bytes: 0,
            seconds_over_limit: None,
            stood_still: None,
        };
        match item {
            WorkItem::Case(job) => {
                let checkpoint = job.checkpoint_file.as_ref().unwrap();
                if !checkpoint.is_file() {
                    fs::write(checkpoint, "one step").unwrap();
                    interrupt.raise(2);
                    return ended(Vec::new(), End::Interrupted);
                }
                let Message::Solved(solved) = solved(StopReason::Converged, &[0.004, 0.009], 3.0) else {
                    panic!("a solve");
                };
                let output = TrainingOutput { hyperparameters: hyperparameters(), ..Default::default() };
                let metrics = [(names::STEPS, 2.0), (names::SECONDS_TRAIN, 7.0)];
                let metrics = metrics.map(|(name, value)| (name.to_owned(), value)).into_iter().collect();
                let steps = (0..2).map(|step| {
                    let metrics: Metrics = [(names::RESIDUAL_Y.to_owned(), 0.01)].into_iter().collect();
                    let hyperparameters = hyperparameters();
                    Message::Step(Step { step, hyperparameters, reason: StopReason::Converged, metrics })
                });
                let last = Message::Solved(Solved {
                    metrics,
                    output: TaskOutput::Train(Box::new(output)),
                    ..solved
                });
                ended(steps.chain([last]).collect(), End::Exited(0))
            }
            WorkItem::Verify(job) => {
                self.verified.lock().unwrap().push(job.clone());
                ended(vec![verified(0.005, 0.01)], End::Exited(0))
            }
            WorkItem::Exact(_) | WorkItem::Optimum(_) => panic!("no reference was requested"),
        }
    }
}

/// A plan of one case that trains exactly in two steps.
pub(crate) fn training() -> Plan {
    let mut plan = plan(&["cg"]);
    change(&mut plan.file.cases[0], |case, _| {
        let Task::Posterior(posterior) = &case.task else { panic!("a posterior") };
        let params = BTreeMap::from([("max_iterations".to_owned(), ParamValue::Int(40))]);
        case.task = Task::Train(Box::new(Training {
            estimator: "exact".into(),
            gradient: GradientEstimator::Exact,
            steps: 2,
            learning_rate: 0.1,
            schedule: RateSchedule::Constant,
            shared_length_scale: true,
            replay: vec![],
            fixed: vec![],
            subset: None,
            landscape: None,
            optimum: false,
            prediction: FinalPrediction { targets: posterior.targets, params },
        }));
    });
    plan
}

#[test]
fn an_interrupted_case_continues_from_its_checkpoint_which_its_row_removes() {
    let folder = tempfile::tempdir().unwrap();
    let (plan, options, trainer) = (training(), options(folder.path()), Trainer::default());
    let run = || {
        let engine = Engine {
            executor: &trainer,
            clock: &Noon,
            interrupt: Interrupt::default(),
            renew_dataset: &|_| Ok(()),
        };
        engine.run(&plan, &options, &mut |_| {}).unwrap()
    };
    let first = run();
    assert!(first.interrupted.is_some() && first.ran == 0);
    let checkpoints = first.folder.join("checkpoints");
    assert_eq!(fs::read_dir(&checkpoints).unwrap().count(), 1);
    let second = run();
    assert_eq!((&second.folder, second.ran), (&first.folder, 1));
    assert!(!checkpoints.exists());

    let row = &read_journal(&second.folder).unwrap().rows[0];
    // As if the run had been killed after it wrote the row.
    fs::create_dir(&checkpoints).unwrap();
    fs::write(checkpoints.join(format!("{}.safetensors", row.id)), "two steps").unwrap();
    assert_eq!(run().ran, 0);
    assert!(!checkpoints.exists());

    assert_eq!((row.status, row.reason.as_str(), row.output.steps().len()), (CaseStatus::Ok, "", 2));
    assert_eq!(row.output.training().unwrap().hyperparameters, hyperparameters());
    for (name, value) in [(names::STEPS, 2.0), (names::SECONDS_TRAIN, 7.0), (names::EPOCHS, 3.0)] {
        assert_eq!(row.metrics.get(name), Some(value), "{name}");
    }
    let verified = trainer.verified.lock().unwrap();
    let case = &verified[0].case;
    assert!(matches!(&case.task, Task::Posterior(posterior) if posterior.targets.probes == 4));
    assert_eq!(case.solver.params["max_iterations"], ParamValue::Int(40));
    assert_eq!((case.kernel.noise_scale, &case.kernel.length_scale), (0.5, &vec![3.0]));
    assert_eq!(verified[0].checkpoint_file, None);
}
