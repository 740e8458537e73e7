//! Parameters of alternating projections.

gpbench_sdk::choices! {
    /// Which rows share a block.
    pub enum Partition {
        /// Rows drawn at random, by the solver's seed.
        Random = "random",
        /// Rows that follow each other in the data.
        Contiguous = "contiguous",
    }
}

gpbench_sdk::params! {
    /// Parameters of alternating projections.
    pub struct ApParams {
        /// Rows in a block; the last block takes what is left.
        pub block_size: usize = 1000, in 1..=100_000;
        /// Which rows share a block.
        pub partition: Partition = Partition::Random;
        /// Iterations, of one block each, after which to give up; 0 leaves it to the tolerance and the budget.
        pub max_iterations: usize = 0;
    }
}
