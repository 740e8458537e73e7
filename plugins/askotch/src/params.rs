//! Parameters of sketch-and-project.

use gpbench_sdk::Precision;

gpbench_sdk::choices! {
    /// How the system is solved on a block.
    pub enum BlockSolver {
        /// By a Nystrom approximation of the block's kernel matrix, plus a multiple of the identity, as published.
        Nystrom = "nystrom",
        /// Exactly, by a Cholesky factor.
        Exact = "exact",
        /// By the block's residual, divided by the block's largest eigenvalue.
        Identity = "identity",
    }
}

gpbench_sdk::choices! {
    /// What is added to a Nystrom approximation.
    pub enum Damping {
        /// The noise variance and the approximation's least eigenvalue.
        Adaptive = "adaptive",
        /// The noise variance.
        Noise = "noise",
    }
}

gpbench_sdk::choices! {
    /// Where momentum takes its constant mu from.
    pub enum Acceleration {
        /// Relative where blocks are solved exactly, otherwise published.
        Automatic = "automatic",
        /// Noise variance over signal variance.
        Relative = "relative",
        /// Noise variance.
        Published = "published",
        /// No momentum: Skotch.
        None = "none",
    }
}

gpbench_sdk::choices! {
    /// How the rows of a block are drawn.
    pub enum BlockSampling {
        /// All equally likely.
        Uniform = "uniform",
        /// By approximate ridge leverage scores.
        Leverage = "leverage",
    }
}

gpbench_sdk::params! {
    /// Parameters of sketch-and-project.
    pub struct AskotchParams {
        /// Rows in a block; 0: a hundredth of all rows, and at least 256.
        pub block_size: usize = 0, in 0..=100_000;
        /// How the system is solved on a block.
        pub block_solver: BlockSolver = BlockSolver::Nystrom;
        /// Rank of the Nystrom approximation of a block; blocks of at most so many rows are solved exactly.
        pub rank: usize = 100, in 1..=100_000;
        /// What is added to a Nystrom approximation: noise variance and least eigenvalue, or noise variance.
        pub damping: Damping = Damping::Adaptive;
        /// Rounds of the power iteration that determines the length of a step; unused with exact solves.
        pub power_iterations: usize = 10, in 1..=1000;
        /// How the rows of a block are drawn.
        pub sampling: BlockSampling = BlockSampling::Uniform;
        /// Constant mu of the momentum: `relative` is noise over signal variance, `published` noise variance, `automatic` the
        /// first with exact blocks, else the second; `none`: no momentum.
        pub momentum: Acceleration = Acceleration::Automatic;
        /// Constant mu of the momentum in place of the one that `momentum` names; 0: that one.
        pub mu: f64 = 0.0, in 0.0..=1e6;
        /// Steps after which to give up; 0 leaves it to the tolerance and the budget.
        pub max_iterations: usize = 0;
        /// Precision of products with A; in `mixed` the residual is still that of double.
        pub precision: Precision = Precision::Double;
    }
}

/// Least number of rows in a block of automatic size.
const LEAST_ROWS: usize = 256;

impl AskotchParams {
    /// Rows in a block, out of n.
    #[must_use]
    pub fn block_size(&self, n: usize) -> usize {
        match self.block_size {
            0 => (n / 100).max(LEAST_ROWS).min(n),
            given => given.min(n),
        }
    }

    /// How systems are solved on blocks of so many rows.
    #[must_use]
    pub fn block_solver(&self, block_size: usize) -> BlockSolver {
        match self.block_solver {
            BlockSolver::Nystrom if self.rank >= block_size => BlockSolver::Exact,
            given => given,
        }
    }

    /// The constant mu of the momentum for these variances; none for no momentum.
    #[must_use]
    pub fn mu(&self, solver: BlockSolver, noise_variance: f64, signal_variance: f64) -> Option<f64> {
        let relative = noise_variance / signal_variance;
        match self.momentum {
            Acceleration::None => None,
            _ if self.mu > 0.0 => Some(self.mu),
            Acceleration::Relative => Some(relative),
            Acceleration::Automatic if solver == BlockSolver::Exact => Some(relative),
            Acceleration::Automatic | Acceleration::Published => Some(noise_variance),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_a_hundredth_of_many_rows() {
        let size = |block_size, n| AskotchParams { block_size, ..AskotchParams::default() }.block_size(n);
        assert_eq!((size(0, 100), size(0, 2000), size(0, 100_000)), (100, 256, 1000));
        assert_eq!((size(75, 1000), size(75, 40)), (75, 40));
    }

    #[test]
    fn small_blocks_are_solved_exactly() {
        let params = AskotchParams::default();
        assert_eq!(params.block_solver(100), BlockSolver::Exact);
        assert_eq!(params.block_solver(101), BlockSolver::Nystrom);
        let identity = AskotchParams { block_solver: BlockSolver::Identity, ..params };
        assert_eq!(identity.block_solver(10), BlockSolver::Identity);
    }

    #[test]
    fn mu_is_relative_with_exact_blocks_unless_it_is_given() {
        let mu = |momentum, mu, solver| {
            AskotchParams { momentum, mu, ..AskotchParams::default() }.mu(solver, 0.5, 4.0)
        };
        let automatic = |solver| mu(Acceleration::Automatic, 0.0, solver);
        assert_eq!(automatic(BlockSolver::Exact), Some(0.125));
        assert_eq!(automatic(BlockSolver::Nystrom), Some(0.5));
        assert_eq!(automatic(BlockSolver::Identity), Some(0.5));
        assert_eq!(mu(Acceleration::Relative, 0.0, BlockSolver::Nystrom), Some(0.125));
        assert_eq!(mu(Acceleration::Published, 0.0, BlockSolver::Exact), Some(0.5));
        assert_eq!(mu(Acceleration::Published, 0.3, BlockSolver::Exact), Some(0.3));
        assert_eq!(mu(Acceleration::None, 0.3, BlockSolver::Exact), None);
    }
}
