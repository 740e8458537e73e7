//! Coefficients of Nesterov's momentum.

/// Coefficients of the three sequences of ASkotch; see [`Iterates`](crate::Iterates) for their use.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Nesterov {
    /// Assumed rate of convergence in expectation of one step without momentum.
    pub mu: f64,
    /// Share of V that is kept.
    pub beta: f64,
    /// Length of V's step, in units of W's.
    pub gamma: f64,
    /// Share of V in the next point Z.
    pub alpha: f64,
}

impl Nesterov {
    /// The coefficients for `mu`, above 0 and lowered to 1 / `nu` if it is larger, and for `nu` = n / b, the number of
    /// blocks in n rows.
    #[must_use]
    pub fn new(mu: f64, nu: f64) -> Nesterov {
        let mu = mu.min(1.0 / nu);
        let gamma = 1.0 / (mu * nu).sqrt();
        Nesterov { mu, beta: 1.0 - (mu / nu).sqrt(), gamma, alpha: 1.0 / (1.0 + gamma * nu) }
    }

    /// Whether mu nu is 1 up to rounding: all three sequences are then equal, and there is no momentum.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.gamma < 1.0 + 1e-12
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coefficients_are_those_of_the_papers() {
        let nesterov = Nesterov::new(0.01, 25.0);
        assert_eq!((nesterov.beta, nesterov.gamma, nesterov.alpha), (0.98, 2.0, 1.0 / 51.0));
        assert!(!nesterov.is_idle());
    }

    #[test]
    fn much_noise_switches_momentum_off() {
        for (mu, nu) in [(0.25, 4.0), (7.0, 4.0), (0.5, 1.0 / 0.3), (1.0, 1.0)] {
            let nesterov = Nesterov::new(mu, nu);
            assert!(nesterov.is_idle() && nesterov.mu <= 1.0 / nu, "{nesterov:?}");
        }
    }
}
