//! Properties of solvers and learners.

crate::words! {
    /// A property of a solver or learner that the host has to know.
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
        /// Of a learner: takes a network between inputs and kernel.
        Network = "network",
        /// Of a learner: takes kernels of finite dimension.
        Finite = "finite",
        /// Of a learner: takes the stationary families as they are.
        Kernel = "kernel",
        /// Of a learner: trains a constant prior mean.
        Mean = "mean",
    }
}

/// Properties of a solver or learner that the host has to know. Combined with [`Capabilities::and`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Capabilities(pub(crate) u64);

impl Capabilities {
    /// None: an iterative method that starts from zero.
    pub const NONE: Capabilities = Capabilities(0);
    /// Solves to working precision whatever the tolerance.
    pub const EXACT: Capabilities = Capabilities::of(Capability::Exact);
    /// Draws random numbers: the answer depends on the seed.
    pub const RANDOMIZED: Capabilities = Capabilities::of(Capability::Randomized);
    /// Uses a warm start in `x`.
    pub const WARM_START: Capabilities = Capabilities::of(Capability::WarmStart);
    /// Makes BLAS or LAPACK calls worth threading, from the thread it is called on. Their rounding errors depend on the
    /// number of threads; those of pieces of fixed size, shared out between the problem's workers, do not.
    pub const BLAS_THREADS: Capabilities = Capabilities::of(Capability::BlasThreads);
    /// Keeps an n x n matrix.
    pub const DENSE: Capabilities = Capabilities::of(Capability::Dense);
    /// Has fewer unknowns than rows.
    pub const INDUCING: Capabilities = Capabilities::of(Capability::Inducing);
    /// Of a learner: takes the stationary families as they are.
    pub const KERNEL: Capabilities = Capabilities::of(Capability::Kernel);
    /// Of a learner: trains a constant prior mean where the fit asks for it.
    pub const MEAN: Capabilities = Capabilities::of(Capability::Mean);
    /// Of a learner: takes a network between inputs and kernel.
    pub const NETWORK: Capabilities = Capabilities::of(Capability::Network);
    /// Of a learner: takes kernels of finite dimension, which are linear on a network's outputs or approximated by
    /// random features.
    pub const FINITE: Capabilities = Capabilities::of(Capability::Finite);

    /// One property.
    pub const fn of(capability: Capability) -> Capabilities {
        Capabilities(capability.number())
    }

    /// Both these and those.
    #[must_use]
    pub const fn and(self, other: Capabilities) -> Capabilities {
        Capabilities(self.0 | other.0)
    }

    /// The properties that are known here, in the order of their bits.
    pub fn iter(self) -> impl Iterator<Item = Capability> {
        Capability::ALL.into_iter().filter(move |capability| self.0 & capability.number() != 0)
    }

    /// The bits of properties that are not known here.
    pub fn unknown(self) -> u64 {
        Capability::ALL.into_iter().fold(self.0, |left, capability| left & !capability.number())
    }
}
