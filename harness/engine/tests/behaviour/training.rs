//! Cases that train: checkpoints that outlive a run, steps in the row, verification at the end's
//! hyperparameters.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Mutex;

use gpbench_engine::{End, Engine, Executor, Interrupt, Outcome, Plan, Work, read_rows};
use gpbench_record::{
    Clock, EstimatorMethod, Hyperparameters, Job, Message, Metrics, Schedule, Solved, Status, Step,
    StopReason, Task, Trained, Training, names,
};

use crate::support::{Noon, options, plan, solved, verified};

fn hyperparameters() -> Hyperparameters {
    BTreeMap::from(
        [("noise_scale", 0.5), ("signal_scale", 2.0), ("length_scale", 3.0)].map(|(k, v)| (k.into(), v)),
    )
}

/// Takes one step and is interrupted; where it finds its checkpoint it ends.
#[derive(Default)]
struct Trainer {
    verified: Mutex<Vec<Job>>,
}

impl Executor for Trainer {
    fn run(&self, work: &Work, _log: &Path, interrupt: &Interrupt) -> Outcome {
        let ended = |messages, end| Outcome { messages, end, peak_memory_bytes: 0, seconds_over_limit: None };
        match work {
            Work::Case(job) => {
                let checkpoint = job.checkpoint_file.as_ref().unwrap();
                if !checkpoint.is_file() {
                    fs::write(checkpoint, "one step").unwrap();
                    interrupt.raise(2);
                    return ended(Vec::new(), End::Interrupted);
                }
                let Message::Solved(solved) = solved(StopReason::Converged, &[0.004, 0.009], 3.0) else {
                    panic!("a solve");
                };
                let trained = Trained {
                    hyperparameters: hyperparameters(),
                    steps: 2,
                    seconds: 7.0,
                    predict: Clock { wall: 0.5, cpu: 1.0 },
                    predict_epochs: 4.0,
                    landscape: None,
                };
                let steps = (0..2).map(|step| {
                    let metrics: Metrics = [(names::RESIDUAL_Y.to_owned(), 0.01)].into_iter().collect();
                    let hyperparameters = hyperparameters();
                    Message::Step(Step { step, hyperparameters, reason: StopReason::Converged, metrics })
                });
                let last = Message::Solved(Solved { trained: Some(trained), ..solved });
                ended(steps.chain([last]).collect(), End::Exited(0))
            }
            Work::Verify(job) => {
                self.verified.lock().unwrap().push(job.clone());
                ended(vec![verified(0.005, 0.01)], End::Exited(0))
            }
            Work::Exact(_) => panic!("nobody asked for a reference"),
        }
    }
}

fn training() -> Plan {
    let mut plan = plan(&["cg"]);
    let case = &mut plan.cases[0].case;
    case.task = Task::Train;
    case.estimator.method = EstimatorMethod::Standard;
    let schedule = Schedule::Constant;
    case.train = Some(Training {
        steps: 2,
        learning_rate: 0.1,
        schedule,
        shared_length_scale: true,
        replay: vec![],
        fixed: vec![],
        subset: None,
        landscape: None,
    });
    plan
}

#[test]
fn an_interrupted_case_goes_on_from_its_checkpoint_which_its_row_makes_useless() {
    let folder = tempfile::tempdir().unwrap();
    let (plan, options, trainer) = (training(), options(folder.path()), Trainer::default());
    let run = || {
        let engine = Engine { executor: &trainer, clock: &Noon, interrupt: Interrupt::default() };
        engine.run(&plan, &options, &mut |_| {}).unwrap()
    };
    let first = run();
    assert!(first.interrupted.is_some() && first.ran == 0);
    let checkpoints = first.folder.join("checkpoints");
    assert_eq!(fs::read_dir(&checkpoints).unwrap().count(), 1);
    let second = run();
    assert_eq!((&second.folder, second.ran), (&first.folder, 1));
    assert!(!checkpoints.exists());

    let row = &read_rows(&second.folder).unwrap()[0];
    assert_eq!((row.status, row.reason.as_str(), row.steps.len()), (Status::Ok, "", 2));
    assert_eq!(row.hyperparameters, hyperparameters());
    for (name, value) in [
        (names::STEPS, 2.0),
        (names::SECONDS_TRAIN, 7.0),
        (names::SECONDS_PREDICT, 0.5),
        (names::EPOCHS_PREDICT, 4.0),
        (names::EPOCHS, 3.0),
    ] {
        assert_eq!(row.metrics.get(name), Some(value), "{name}");
    }
    let verified = trainer.verified.lock().unwrap();
    let case = &verified[0].case;
    assert_eq!((case.task, case.estimator.method), (Task::Posterior, EstimatorMethod::Pathwise));
    assert_eq!((case.kernel.noise_scale, &case.kernel.length_scale), (0.5, &vec![3.0]));
    assert_eq!(verified[0].checkpoint_file, None);
}
