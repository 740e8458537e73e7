//! Kinds of models that learners return.

crate::words! {
    /// The kind of a learner's model, by which the harness computes predictions and likelihoods.
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
        /// An exact Gaussian process that predicts each row from its nearest training rows only.
        Neighbours = "neighbours",
        /// A Gaussian process that is conditioned on projections of the targets only.
        Actions = "actions",
    }
}
