//! Transforms of free parameters to positive scales.

crate::choices! {
    /// How a free parameter u becomes a scale. The optimiser's path depends on it, and so belongs to a comparison.
    pub enum Transform {
        /// Each scale is softplus(u), as in gpbench's own training.
        Scale = "scale",
        /// Variances and length scales are softplus(u), and the noise variance has a floor of 1e-4, as in GPyTorch.
        Variance = "variance",
        /// Variances and length scales are exp(u), as in Shoham and Avron.
        Logarithm = "logarithm",
    }
}

/// What a parameter is, since variances and lengths are transformed differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Standard deviation of the latent function.
    Signal,
    /// Standard deviation of the noise.
    Noise,
    /// A length scale.
    Length,
}

impl Transform {
    /// The scale of the free parameter `u`: a standard deviation or a length, never a variance.
    pub fn scale(self, of: Scale, u: f64) -> f64 {
        todo!()
    }

    /// Derivative of [`scale`](Self::scale) by `u`.
    pub fn derivative(self, of: Scale, u: f64) -> f64 {
        todo!()
    }

    /// The free parameter of a scale. Minus infinity where no parameter gives so small a scale.
    pub fn inverse(self, of: Scale, scale: f64) -> f64 {
        todo!()
    }
}
