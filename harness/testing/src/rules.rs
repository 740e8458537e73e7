//! The conformance suite: the rules that every solver and learner must keep, independently of its method.
//!
//! A rule asks a [`Subject`] to solve small dense systems, or to fit small data sets, and judges the outcomes by its
//! own arithmetic. It never judges speed, and checks only what the subject claims. A solution must be accurate only
//! if convergence is claimed, and a warm start must help only if the solver states that it uses one. A solver that
//! draws random numbers may give a different answer when the rows are reordered.
//!
//! Three traits abstract the differences between the programs that check rules. [`MakeSystem`] serves the systems,
//! [`Judge`] computes predictions and the objective of a learner's model by other code than the learner's, and
//! [`ProcessState`] shows the state of the process that runs the subject.
//!
//! A solver may crash or hang, so `gpbench plugin test` runs each rule in a process of its own. This also shows
//! changes that a solver makes to its process: threads, memory, floating-point modes. In the test program of a
//! plugin, the macros `solver_rules!` and `learner_rules!` make a `#[test]` of each rule, given a [`Tested`]. There,
//! only rules that need a process of their own run in one.

mod claims;
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

pub use claims::Claims;
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
