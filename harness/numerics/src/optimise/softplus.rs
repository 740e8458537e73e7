//! The softplus function, which maps free parameters to positive scales.

/// log(1 + exp(u)), without overflow.
pub fn softplus(u: f64) -> f64 {
    u.max(0.0) + (-u.abs()).exp().ln_1p()
}

/// The derivative of [`softplus`]: 1 / (1 + exp(-u)).
pub fn sigmoid(u: f64) -> f64 {
    1.0 / (1.0 + (-u).exp())
}

/// The inverse of [`softplus`], log(exp(value) - 1), without overflow. Minus infinity at 0 and below.
pub fn inverse_softplus(value: f64) -> f64 {
    if value <= 0.0 { f64::NEG_INFINITY } else { value + (-(-value).exp_m1()).ln() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn softplus_and_its_inverse_cancel() {
        for value in [1e-12, 1e-3, 0.5, 1.0, 30.0, 1e3] {
            let back = softplus(inverse_softplus(value));
            assert!((back - value).abs() <= 1e-14 * value.max(1e-3), "{value} {back}");
        }
        assert_eq!((softplus(-800.0), softplus(800.0)), (0.0, 800.0));
    }

    #[test]
    fn no_parameter_has_a_softplus_of_0() {
        assert_eq!((inverse_softplus(0.0), inverse_softplus(-1.0)), (f64::NEG_INFINITY, f64::NEG_INFINITY));
    }
}
