//! Properties of solvers and learners.

crate::words! {
    /// A property of a solver or learner that the host needs.
    pub enum Capability {
        /// Solves to working precision whatever the tolerance.
        Exact = "exact",
        /// Draws random numbers: the answer depends on the seed.
        Randomized = "randomized",
        /// Uses a warm start.
        WarmStart = "warm_start",
        /// Calls BLAS or LAPACK for work worth several threads.
        BlasThreads = "blas_threads",
        /// Stores an n x n matrix.
        Dense = "dense",
        /// Solves for weights of inducing points; of a learner: needs them.
        Inducing = "inducing",
        /// Of a learner: supports a network between inputs and kernel.
        Network = "network",
        /// Of a learner: supports kernels of finite dimension.
        Finite = "finite",
        /// Of a learner: supports the stationary families.
        Kernel = "kernel",
        /// Of a learner: trains a constant prior mean.
        Mean = "mean",
    }
}

/// A set of properties of a solver or learner that the host needs. [`Capabilities::and`] combines sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Capabilities(pub(crate) u64);

impl Capabilities {
    /// No property: an iterative method that starts from zero.
    pub const NONE: Capabilities = Capabilities(0);
    /// Solves to working precision whatever the tolerance.
    pub const EXACT: Capabilities = Capabilities::of(Capability::Exact);
    /// Draws random numbers: the answer depends on the seed.
    pub const RANDOMIZED: Capabilities = Capabilities::of(Capability::Randomized);
    /// Uses a warm start in `x`.
    pub const WARM_START: Capabilities = Capabilities::of(Capability::WarmStart);
    /// Calls BLAS or LAPACK, on the calling thread, for work worth several threads. The rounding errors of these
    /// calls depend on the number of threads; those of pieces of fixed size that the problem's workers compute do
    /// not.
    pub const BLAS_THREADS: Capabilities = Capabilities::of(Capability::BlasThreads);
    /// Keeps an n x n matrix.
    pub const DENSE: Capabilities = Capabilities::of(Capability::Dense);
    /// Has fewer unknowns than rows; of a learner: takes inducing points that the spec chooses.
    pub const INDUCING: Capabilities = Capabilities::of(Capability::Inducing);
    /// Of a learner: supports the stationary families.
    pub const KERNEL: Capabilities = Capabilities::of(Capability::Kernel);
    /// Of a learner: trains a constant prior mean where the fit asks for it.
    pub const MEAN: Capabilities = Capabilities::of(Capability::Mean);
    /// Of a learner: supports a network between inputs and kernel.
    pub const NETWORK: Capabilities = Capabilities::of(Capability::Network);
    /// Of a learner: supports kernels of finite dimension, which are linear on a network's outputs or approximated by
    /// random features.
    pub const FINITE: Capabilities = Capabilities::of(Capability::Finite);

    /// The set of one property.
    pub const fn of(capability: Capability) -> Capabilities {
        Capabilities(capability.number())
    }

    /// The union of both sets.
    #[must_use]
    pub const fn and(self, other: Capabilities) -> Capabilities {
        Capabilities(self.0 | other.0)
    }

    /// The properties that this version knows, in the order of their bits.
    pub fn iter(self) -> impl Iterator<Item = Capability> {
        Capability::ALL.into_iter().filter(move |capability| self.0 & capability.number() != 0)
    }

    /// The bits of properties that this version does not know.
    pub fn unknown(self) -> u64 {
        Capability::ALL.into_iter().fold(self.0, |left, capability| left & !capability.number())
    }
}
