//! The kinds of references.

/// A kind of reference, which is computed once for several cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReferenceKind {
    /// The exact process of given hyperparameters.
    Exact,
    /// The optimum of the exact likelihood.
    Optimum,
}

impl ReferenceKind {
    /// Its name in messages.
    pub fn as_str(self) -> &'static str {
        match self {
            ReferenceKind::Exact => "exact reference",
            ReferenceKind::Optimum => "optimum of the likelihood",
        }
    }

    /// What leaves it out of a run.
    pub fn left_out_by(self) -> &'static str {
        match self {
            ReferenceKind::Exact => "a lower --exact-limit",
            ReferenceKind::Optimum => "`optimum = false`",
        }
    }
}
