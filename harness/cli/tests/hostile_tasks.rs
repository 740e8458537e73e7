//! A misbehaving plugin costs no row and changes no other result where solvers train, estimate likelihoods and search too.

use crate::support::zoo::{Expected, Task, act, by_solver, check_left, run, spec};
use crate::support::{Sandbox, reproducible};

/// Acts in training.
const IN_TRAINING: &[Expected] = &[
    ("solve_well", "ok", ""),
    ("print_stdout", "ok", ""),
    ("escape_unmarked", "ok", ""),
    ("exhaust_threads", "ok", ""),
    ("change_folder", "ok", ""),
    ("remove_checkpoint", "ok", ""),
    ("cut_checkpoint", "ok", ""),
    ("panic", "crashed", "panic"),
    ("panic_in_prepare", "crashed", "panic"),
    ("abort", "crashed", "SIGABRT"),
    ("exit0", "crashed", "exited with status 0"),
    ("exit_in_destroy", "crashed", "exited with status 0"),
    ("refuse_bytes", "crashed", "SIGXFSZ"),
    ("allocate_memfd", "out_of_memory", "killed"),
    ("allocate_in_daemon", "out_of_memory", "killed"),
    ("allocate_without_leader", "out_of_memory", "killed"),
    ("forge_trace", "invalid", ""),
    ("nan", "diverged", "not finite"),
    ("lie", "invalid", "claimed residual 0"),
    ("error", "invalid", "as told"),
    ("foreign_text", "invalid", "end of foreign text"),
    ("write_rhs", "invalid", "wrote into the right-hand sides"),
    ("write_inputs", "invalid", "wrote into the inputs"),
    ("hang", "timeout", "killed"),
    ("hang_without_leader", "timeout", "killed"),
];

/// Acts in estimates of the likelihood.
const IN_LIKELIHOOD: &[Expected] = &[
    ("solve_well", "ok", ""),
    ("print_stdout", "ok", ""),
    ("escape_unmarked", "ok", ""),
    ("exhaust_threads", "ok", ""),
    ("change_folder", "ok", ""),
    ("panic", "crashed", "panic"),
    ("abort", "crashed", "SIGABRT"),
    ("exit_in_destroy", "crashed", "exited with status 0"),
    ("refuse_bytes", "crashed", "SIGXFSZ"),
    ("allocate_memfd", "out_of_memory", "killed"),
    ("allocate_shared", "out_of_memory", "killed"),
    ("forge_trace", "invalid", ""),
    ("error", "invalid", "as told"),
    ("foreign_text", "invalid", "end of foreign text"),
    ("write_rhs", "invalid", "wrote into the right-hand sides"),
    ("hang", "timeout", "killed"),
    ("hang_without_leader", "timeout", "killed"),
];

/// Acts in Thompson sampling.
const IN_SEARCH: &[Expected] = &[
    ("solve_well", "ok", ""),
    ("print_stdout", "ok", ""),
    ("escape_unmarked", "ok", ""),
    ("remove_checkpoint", "ok", ""),
    ("cut_checkpoint", "ok", ""),
    ("panic", "crashed", "panic"),
    ("abort", "crashed", "SIGABRT"),
    ("exit_in_destroy", "crashed", "exited with status 0"),
    ("allocate_memfd", "out_of_memory", "killed"),
    ("forge_trace", "invalid", ""),
    ("nan", "diverged", "step 0: the solution is not finite"),
    ("lie", "invalid", "claimed residual 0"),
    ("error", "invalid", "as told"),
    ("write_rhs", "invalid", "wrote into the right-hand sides"),
    ("write_inputs", "invalid", "wrote into the inputs"),
    ("hang", "timeout", "killed"),
];

/// Runs the acts beside the healthy solvers, and compares these with a run without acts.
#[track_caller]
fn check(task: Task, acts: &[Expected]) {
    let alone = Sandbox::with_spec(&spec(task, &[]));
    run(&alone, &["-j", "4"]).exits(0);

    let tables: Vec<_> = acts.iter().map(|(name, status, _)| act(name, *status == "timeout")).collect();
    let sandbox = Sandbox::with_spec(&spec(task, &tables));
    run(&sandbox, &["-j", "4", "--kill-after", "4"]).exits(1);
    check_left(&sandbox, &alone.cases(), acts);
    let cases = sandbox.cases();
    let found = by_solver(&cases);
    let well = reproducible(found["solve_well"]);
    for (name, ..) in acts.iter().filter(|(_, status, _)| *status == "ok") {
        assert_eq!(reproducible(found[name]), well, "{name} changed its own result");
    }
    println!("tried {} acts in {task:?}: no row lost, no healthy result changed", acts.len());
}

#[test]
fn acts_in_training() {
    check(Task::Training, IN_TRAINING);
}

#[test]
fn acts_in_thompson_sampling() {
    check(Task::Search, IN_SEARCH);
}

#[test]
fn acts_in_estimates_of_the_likelihood() {
    check(Task::Likelihood, IN_LIKELIHOOD);
}
