//! Parameters of alternating projections.

use gpbench_sdk::Precision;
use gpbench_sdk::projection::Partition;

gpbench_sdk::params! {
    /// Parameters of alternating projections.
    pub struct ApParams {
        /// Rows in a block; the last block takes what is left.
        pub block_size: usize = 1000, in 1..=100_000;
        /// Rows that share a block.
        pub partition: Partition = Partition::Random;
        /// Iterations, of one block each, after which to give up; 0 leaves it to the tolerance and the budget.
        pub max_iterations: usize = 0;
        /// Precision of products with A; in `mixed` the residual is still that of double.
        pub precision: Precision = Precision::Double;
    }
}
