//! The points of parallel Thompson sampling (Lin et al. 2023, section 4.2 and appendix A.3): where posterior samples
//! on the unit cube are large.
//!
//! All samples of a step are evaluated at the same random [`candidates`], in rounds. From its best candidate
//! of each round, each sample is maximised by gradient ascent ([`ascend`]).

mod ascent;
mod candidates;

pub use ascent::{Ascended, ascend};
pub use candidates::candidates;
