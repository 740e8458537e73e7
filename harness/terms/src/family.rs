//! Families of stationary covariance functions.

crate::words! {
    /// A stationary covariance family, as a function of the scaled distance
    /// `r^2 = sum_k ((x_k - z_k) / l_k)^2`.
    pub enum Family: "kernel family" {
        /// Squared exponential: `exp(-r^2 / 2)`.
        Rbf = "rbf",
        /// Matérn with smoothness 1/2: `exp(-r)`.
        Matern12 = "matern12",
        /// Matérn with smoothness 3/2: `(1 + a) exp(-a)`, `a = sqrt(3) r`.
        Matern32 = "matern32",
        /// Matérn with smoothness 5/2: `(1 + a + a^2 / 3) exp(-a)`, `a = sqrt(5) r`.
        Matern52 = "matern52",
    }
}

impl Family {
    /// The correlation as a function of r, as text for users.
    pub fn formula(self) -> &'static str {
        match self {
            Family::Rbf => "exp(-r^2 / 2)",
            Family::Matern12 => "exp(-r)",
            Family::Matern32 => "(1 + a) exp(-a), a = sqrt(3) r",
            Family::Matern52 => "(1 + a + a^2 / 3) exp(-a), a = sqrt(5) r",
        }
    }
}
