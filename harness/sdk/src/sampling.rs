//! The order of the rows of minibatches, as a parameter of learners.

use crate::Stream;

crate::choices! {
    /// Order of the rows of minibatches.
    pub enum Sampling {
        /// A fresh shuffle in each pass, cut into batches.
        Shuffled = "shuffled",
        /// Each batch is drawn from all rows, without repeats inside it.
        Independent = "independent",
    }
}

impl Sampling {
    /// The stream of this number, for [`Fit::batch`](crate::Fit::batch).
    pub fn stream(self, number: u16) -> Stream {
        match self {
            Sampling::Shuffled => Stream::new(number),
            Sampling::Independent => Stream::new(number).independent(),
        }
    }
}
