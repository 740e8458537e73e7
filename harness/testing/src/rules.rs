//! The rules that every solver and learner has to keep, whatever its method: the conformance suite.
//!
//! A rule asks a [`Subject`] to solve small dense systems, or to fit small data sets, and judges the outcomes by
//! arithmetic of its own. It never judges speed, and nothing that the subject does not claim: a solution counts only
//! where convergence is claimed, a warm start only where the solver says that it uses one, and a solver that draws
//! random numbers may answer differently when the rows are reordered.
//!
//! What differs between programs that check rules is behind three traits: [`MakeSystem`] serves the systems, [`Judge`]
//! computes what follows from a learner's model by other code than the learner's, and [`ProcessState`] shows the state of
//! the process that runs the subject.
//!
//! A solver may crash or hang, so `gpbench plugin test` runs each rule in a process of its own. That also shows what a
//! solver leaves behind in a process: threads, memory, floating-point modes. In the test program of a plugin, the macros
//! `solver_rules!` and `learner_rules!` make a `#[test]` of each rule, given a [`Tested`]; only those that need it run in a
//! process of their own.

mod dense_judge;
mod dense_systems;
mod description;
mod finding;
mod kernel_system;
mod learners;
mod leftovers;
mod process_state;
mod rule;
mod solvers;
mod subject;
mod tested;

pub use finding::Finding;
pub use kernel_system::KernelSystem;
pub use learners::{FitRequest, Judge, Judged, LEARNERS};
pub use process_state::{FloatMode, ProcessState};
pub use rule::Rule;
pub use solvers::{Ask, MakeSystem, SOLVERS, SolveRequest};
pub use subject::{Expect, Subject, SubjectEntry};
pub use tested::Tested;
#[doc(hidden)]
pub use tested::check;
