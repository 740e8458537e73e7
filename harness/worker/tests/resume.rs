//! What a solver keeps between the steps of training, and training that was interrupted.

use gpbench_record::{FaultCause, GradientEstimator, Job, ParamValue, Start, Step, names};

use crate::common;
use crate::common::training::{solutions, trained, training};
use crate::common::worker::{fault, job, solve_in_steps as train, timeless};

#[test]
fn what_a_solver_saves_serves_the_next_step_and_survives_an_interruption() {
    let case = |recycle, steps| {
        let mut case = training("cg", solutions(common::standard(16), Start::Cold), steps);
        case.kernel.noise_scale = 0.1;
        case.solver.params.insert("recycle".into(), ParamValue::Int(recycle));
        case
    };
    let (plain, _folder) = job(case(0, 5), 2);
    let (whole, _folder) = job(case(20, 5), 2);
    let ((all, _), (fewer, solved)) = (train(&plain), train(&whole));
    let iterations = |step: &Step| step.metrics.get(names::ITERATIONS).unwrap();
    assert_eq!(iterations(&all[0]), iterations(&fewer[0]));
    for (all, fewer) in all.iter().zip(&fewer).skip(1) {
        assert!(iterations(fewer) < 0.9 * iterations(all), "{} {}", iterations(fewer), iterations(all));
    }

    let (mut first, folder) = job(case(20, 3), 1);
    first.checkpoint_file = Some(folder.path().join("checkpoint.safetensors"));
    train(&first);
    let second = Job { case: case(20, 5), ..first };
    let (resumed, ended) = train(&second);
    assert_eq!(timeless(&resumed), timeless(&fewer));
    assert_eq!(trained(&ended).hyperparameters, trained(&solved).hyperparameters);
}

#[test]
fn training_that_was_interrupted_ends_as_one_that_was_not() {
    for start in [Start::Cold, Start::Warm] {
        let case = |steps| {
            let mut case = training("sgd", solutions(common::pathwise(16), start), steps);
            case.solver.params.insert("batch_size".into(), ParamValue::Int(50));
            case.solver.params.insert("learning_rate".into(), ParamValue::Float(1.0));
            case.budget.max_epochs = Some(20.0);
            case
        };
        let (whole, _folder) = job(case(6), 2);
        let (steps, solved) = train(&whole);
        // Three steps of six leave the checkpoint that a kill during the fourth would.
        let (mut first, folder) = job(case(3), 1);
        first.checkpoint_file = Some(folder.path().join("checkpoint.safetensors"));
        train(&first);
        let second = Job { case: case(6), ..first.clone() };
        let (resumed, ended) = train(&second);
        assert_eq!(timeless(&resumed), timeless(&steps));
        assert_eq!((ended.entries, ended.iterations), (solved.entries, solved.iterations));
        assert_eq!(trained(&ended).hyperparameters, trained(&solved).hyperparameters);
        let read = |job: &Job| std::fs::read(&job.solution_file).unwrap();
        assert!(read(&second) == read(&whole));
        // A checkpoint that cannot be read is named, and removed before the next try.
        std::fs::write(second.checkpoint_file.as_ref().unwrap(), "something else").unwrap();
        assert_eq!(fault("case", &second).cause, FaultCause::Checkpoint);
    }
}

#[test]
fn what_a_solver_keeps_in_memory_changes_no_bit() {
    let case = |steps| {
        let mut case = training("cholesky-mixed", solutions(common::pathwise(16), Start::Warm), steps);
        case.solver.params.insert("steps_per_factor".into(), ParamValue::Int(4));
        case
    };
    let (whole, _folder) = job(case(7), 2);
    let (steps, solved) = train(&whole);
    // The first and the fifth step evaluate the entries of a factor, one tile for 200 rows.
    assert_eq!(solved.entries.self_reported, 80_000.0);
    for before in [1, 3, 4, 6, 7] {
        let (mut first, folder) = job(case(before), 1);
        first.checkpoint_file = Some(folder.path().join("checkpoint.safetensors"));
        train(&first);
        let second = Job { case: case(7), ..first.clone() };
        let (resumed, ended) = train(&second);
        assert_eq!(timeless(&resumed), timeless(&steps), "a new process after {before} steps");
        assert_eq!((ended.entries, ended.iterations), (solved.entries, solved.iterations));
        assert_eq!(trained(&ended).hyperparameters, trained(&solved).hyperparameters);
        let read = |job: &Job| std::fs::read(&job.solution_file).unwrap();
        assert!(read(&second) == read(&whole), "a new process after {before} steps");
    }
}

#[test]
fn a_second_solve_finds_nothing_that_a_solver_keeps() {
    let case = |second_solve| {
        let gradient =
            GradientEstimator::Solutions { probes: common::standard(16), second_solve, start: Start::Warm };
        let mut case = training("cholesky-mixed", gradient, 3);
        case.solver.params.insert("steps_per_factor".into(), ParamValue::Int(100));
        case
    };
    let setup = |second_solve| train(&job(case(second_solve), 2).0).1.entries.setup;
    // 200 rows are one tile. Without the second solve only the first step makes a factor, with it each step one more.
    assert_eq!((setup(false), setup(true)), (40_000.0, 160_000.0));
}
