//! Kinds of models that learners give.

crate::words! {
    /// What a learner's model is, so that the harness computes predictions and likelihoods from it.
    pub enum ModelKind {
        /// An exact Gaussian process on all training rows.
        Gp = "gp",
        /// Inducing points with a variational distribution.
        Inducing = "inducing",
        /// Finitely many features of a network.
        Features = "features",
        /// An exact Gaussian process on a network's outputs.
        NetworkGp = "network_gp",
        /// Inducing points on a network's outputs.
        NetworkInducing = "network_inducing",
        /// Exact processes on subsets, combined.
        Experts = "experts",
    }
}
