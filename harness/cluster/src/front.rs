//! The state of a cluster run, and the decisions that follow from it.

mod again;
mod events;
mod judge;
mod known;
mod policy;
mod replay;
mod state;
mod step;
mod submit;
mod summary;

pub use policy::Policy;
pub use state::{Action, Cancellation, Front, FrontRow, Submission};
pub use summary::{FrontSummary, TaskNote};

#[cfg(test)]
mod tests;
