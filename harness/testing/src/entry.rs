//! Solvers and learners of the SDK, as the host sees them.

use gpbench_host::{LearnerEntry, SolverEntry};
use gpbench_sdk::{Learner, Solver, export};

/// The entry of a solver.
///
/// # Panics
/// If its description breaks the interface.
pub fn solver_entry<S: Solver>() -> SolverEntry {
    // SAFETY: a table that the SDK has made, with static texts.
    let entry = unsafe { SolverEntry::of(export::solver::<S>()) };
    entry.unwrap_or_else(|wrong| panic!("{wrong}"))
}

/// The entry of a learner.
///
/// # Panics
/// If its description breaks the interface.
pub fn learner_entry<L: Learner>() -> LearnerEntry {
    // SAFETY: as for a solver.
    let entry = unsafe { LearnerEntry::of(export::learner::<L>()) };
    entry.unwrap_or_else(|wrong| panic!("{wrong}"))
}
