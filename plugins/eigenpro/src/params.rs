//! Parameters of EigenPro.

use gpbench_sdk::Precision;

gpbench_sdk::params! {
    /// Parameters of EigenPro.
    pub struct EigenProParams {
        /// Rows from which eigenvectors are computed; all of them if there are fewer. 0: a quarter of the rows, at
        /// most 2000.
        pub subset_size: usize = 0, in 0..=20_000;
        /// Eigenvectors that are damped; 0: as few as permit steps of full length on the largest batch.
        pub rank: usize = 0, in 0..=20_000;
        /// Exponent of the damping; with 0 nothing is damped, with 1 all are damped to the largest eigenvalue that
        /// follows.
        pub exponent: f64 = 0.95, in 0.0..=1.0;
        /// Rows of a minibatch; all of them if there are fewer. 0: as many as permit steps of full length, at most a
        /// tenth of the rows.
        pub batch_size: usize = 0, in 0..;
        /// Learning rate, for gradients that are divided by the batch size; 0: from the eigenvalues.
        pub learning_rate: f64 = 0.0, in 0.0..=1e12;
        /// Steps after which to give up; 0 leaves it to the tolerance and the budget.
        pub max_iterations: usize = 0;
        /// Precision of products with A; in `mixed` the residual is still that of double.
        pub precision: Precision = Precision::Double;
    }
}

/// Most rows of a subset of automatic size.
const MOST_SUBSET: usize = 2000;

/// All rows over the most rows of a subset of automatic size.
const PARTS_OF_SUBSET: usize = 4;

/// All rows over the most rows of a batch of automatic size.
const PARTS_OF_BATCH: usize = 10;

impl EigenProParams {
    /// Rows of the subset, out of n.
    #[must_use]
    pub fn subset_size(&self, n: usize) -> usize {
        match self.subset_size {
            0 => (n / PARTS_OF_SUBSET).clamp(1, MOST_SUBSET),
            given => given.min(n),
        }
    }

    /// Most rows of a batch, out of n.
    #[must_use]
    pub fn most_batch(&self, n: usize) -> usize {
        match self.batch_size {
            0 => (n / PARTS_OF_BATCH).max(1),
            given => given.min(n),
        }
    }

    /// Rows of a batch, out of n, where steps are of full length up to a batch of `critical` rows.
    #[must_use]
    pub fn batch_size(&self, n: usize, critical: f64) -> usize {
        let most = self.most_batch(n);
        // A number that is too large for a whole one becomes the largest of these.
        if self.batch_size == 0 { (critical as usize).clamp(1, most) } else { most }
    }
}
