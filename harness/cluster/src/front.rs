//! What a cluster run knows, and what it does next.

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
