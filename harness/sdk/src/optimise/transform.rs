//! Transforms of free parameters to positive scales.

use gpbench_numerics::optimise::{inverse_softplus, sigmoid, softplus};

crate::choices! {
    /// How a free parameter u becomes a scale. The optimiser's path depends on it, and so belongs to a comparison.
    pub enum Transform {
        /// Each scale is softplus(u), as in gpbench's own training.
        Scale = "scale",
        /// Variances and length scales are softplus(u), and the noise variance has a floor of 1e-4, as in GPyTorch.
        Variance = "variance",
        /// Variances and length scales are exp(u), as in Shoham and Avron.
        Logarithm = "logarithm",
        /// Scales are softplus(u), bent so as to stay bounded: all are at least 1e-4, length scales and the noise scale at most
        /// 1000, the signal scale at most 31.6.
        Capped = "capped",
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

/// Smallest noise variance of [`Transform::Variance`].
const NOISE_FLOOR: f64 = 1e-4;

/// Limits of a scale under [`Transform::Capped`]. A search without them may run to infinite scales, where the matrix of
/// inducing points has no factor; RobustGP (Burt et al.) caps variances and length scales at 1000.
fn caps(of: Scale) -> (f64, f64) {
    (1e-4, if of == Scale::Signal { 1e3_f64.sqrt() } else { 1e3 })
}

impl Transform {
    /// The scale of the free parameter `u`: a standard deviation or a length, never a variance.
    pub fn scale(self, of: Scale, u: f64) -> f64 {
        match (self, of) {
            (Transform::Scale, _) | (Transform::Variance, Scale::Length) => softplus(u),
            (Transform::Variance, _) => (softplus(u) + floor(of)).sqrt(),
            (Transform::Logarithm, Scale::Length) => u.exp(),
            (Transform::Logarithm, _) => (u / 2.0).exp(),
            (Transform::Capped, _) => {
                let (least, most) = caps(of);
                least - (most - least) * (-softplus(u) / (most - least)).exp_m1()
            }
        }
    }

    /// Derivative of [`scale`](Self::scale) by `u`.
    pub fn derivative(self, of: Scale, u: f64) -> f64 {
        match (self, of) {
            (Transform::Scale, _) | (Transform::Variance, Scale::Length) => sigmoid(u),
            (Transform::Variance, _) => sigmoid(u) / (2.0 * self.scale(of, u)),
            (Transform::Logarithm, Scale::Length) => self.scale(of, u),
            (Transform::Logarithm, _) => self.scale(of, u) / 2.0,
            (Transform::Capped, _) => {
                let (least, most) = caps(of);
                sigmoid(u) * (-softplus(u) / (most - least)).exp()
            }
        }
    }

    /// The free parameter of a scale. Not finite where no parameter gives so small or so large a scale.
    pub fn inverse(self, of: Scale, scale: f64) -> f64 {
        match (self, of) {
            (Transform::Scale, _) | (Transform::Variance, Scale::Length) => inverse_softplus(scale),
            (Transform::Variance, _) => inverse_softplus(scale * scale - floor(of)),
            (Transform::Logarithm, Scale::Length) => logarithm(scale),
            (Transform::Logarithm, _) => 2.0 * logarithm(scale),
            (Transform::Capped, _) => {
                let (least, most) = caps(of);
                let share = ((scale - least) / (most - least)).min(1.0);
                inverse_softplus(-(most - least) * (-share).ln_1p())
            }
        }
    }
}

/// Smallest variance of [`Transform::Variance`].
fn floor(of: Scale) -> f64 {
    if of == Scale::Noise { NOISE_FLOOR } else { 0.0 }
}

fn logarithm(value: f64) -> f64 {
    if value <= 0.0 { f64::NEG_INFINITY } else { value.ln() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Parameter;
    use crate::differences::derivatives;

    const ALL: [Scale; 3] = [Scale::Signal, Scale::Noise, Scale::Length];

    fn each() -> impl Iterator<Item = (Transform, Scale)> {
        [Transform::Scale, Transform::Variance, Transform::Logarithm]
            .into_iter()
            .flat_map(|transform| ALL.map(|of| (transform, of)))
    }

    #[test]
    fn a_start_at_0_is_ln_2_or_1() {
        let start = std::f64::consts::LN_2;
        for of in ALL {
            assert_eq!(Transform::Scale.scale(of, 0.0), start);
            assert_eq!(Transform::Logarithm.scale(of, 0.0), 1.0);
        }
        assert!((Transform::Variance.scale(Scale::Signal, 0.0).powi(2) - start).abs() < 1e-15);
        assert!((Transform::Variance.scale(Scale::Noise, 0.0).powi(2) - start - 1e-4).abs() < 1e-15);
        assert_eq!(Transform::Variance.scale(Scale::Length, 0.0), start);
    }

    #[test]
    fn derivatives_and_inverses_fit() {
        for (transform, of) in each() {
            for u in [-3.0, 0.0, 0.4, 5.0] {
                let expected = derivatives(&[u], |u| transform.scale(of, u[0]))[0];
                let found = transform.derivative(of, u);
                assert!((found - expected).abs() < 1e-10, "{transform:?} {of:?} {u}: {found} {expected}");
                let back = transform.inverse(of, transform.scale(of, u));
                assert!((back - u).abs() < 1e-11, "{transform:?} {of:?} {u}: {back}");
            }
        }
    }

    #[test]
    fn extreme_parameters_have_finite_scales_and_slopes() {
        for (transform, of) in each() {
            for u in [-40.0, 40.0] {
                let (scale, slope) = (transform.scale(of, u), transform.derivative(of, u));
                assert!(
                    scale > 0.0 && scale.is_finite() && slope > 0.0 && slope.is_finite(),
                    "{transform:?} {u}"
                );
            }
            assert_eq!(transform.inverse(of, 0.0), f64::NEG_INFINITY);
            assert!(transform.scale(of, f64::NAN).is_nan());
        }
        assert_eq!(Transform::Variance.inverse(Scale::Noise, 0.005), f64::NEG_INFINITY);
        assert_eq!(Transform::Scale.scale(Scale::Length, 1e6), 1e6);
    }

    #[test]
    fn capped_scales_have_limits_and_come_back() {
        for of in ALL {
            let (least, most) = caps(of);
            for scale in [2e-4, 0.1, 1.0, 0.9 * most] {
                let u = Transform::Capped.inverse(of, scale);
                assert!((Transform::Capped.scale(of, u) / scale - 1.0).abs() < 1e-11, "{of:?} {scale}");
                let expected = derivatives(&[u], |u| Transform::Capped.scale(of, u[0]))[0];
                let found = Transform::Capped.derivative(of, u);
                assert!((found - expected).abs() < 1e-6 * found, "{of:?} {scale}: {found} {expected}");
            }
            for u in [-800.0, 800.0] {
                assert!((least..=1.000_001 * most).contains(&Transform::Capped.scale(of, u)));
                assert!(Transform::Capped.derivative(of, u).is_finite());
            }
            for scale in [0.0, least, most, 2.0 * most] {
                assert!(!Transform::Capped.inverse(of, scale).is_finite(), "{of:?} {scale}");
            }
        }
    }

    #[test]
    fn specs_name_them() {
        assert_eq!(Transform::choices(), ["scale", "variance", "logarithm", "capped"]);
    }
}
