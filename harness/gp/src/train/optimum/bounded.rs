//! A positive number between two limits, as a smooth function of a free parameter.

/// `log value = low + range sigmoid(4 u / range)`: between the limits, and equal to u up to a constant near their
/// geometric mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bounded {
    /// Logarithm of the lower limit.
    low: f64,
    /// Logarithm of the ratio of the limits.
    range: f64,
}

/// Where a value outside of the limits is moved to: this share of the range from its end, on a logarithmic scale. The
/// derivative vanishes at the limits themselves.
const INSIDE: f64 = 0.01;

impl Bounded {
    /// Numbers between two positive limits, the smaller first.
    pub(super) fn new([low, high]: [f64; 2]) -> Bounded {
        Bounded { low: low.ln(), range: (high / low).ln() }
    }

    /// The number of a parameter.
    pub(super) fn value(&self, parameter: f64) -> f64 {
        (self.low + self.range * self.share(parameter)).exp()
    }

    /// The derivative of the number by its parameter.
    pub(super) fn derivative(&self, parameter: f64) -> f64 {
        let share = self.share(parameter);
        4.0 * share * (1.0 - share) * self.value(parameter)
    }

    /// The parameter of a number, or of the nearest one well within the limits.
    pub(super) fn parameter(&self, value: f64) -> f64 {
        let share = ((value.ln() - self.low) / self.range).clamp(INSIDE, 1.0 - INSIDE);
        self.range / 4.0 * (share / (1.0 - share)).ln()
    }

    /// The share of the range below the number, on a logarithmic scale.
    fn share(&self, parameter: f64) -> f64 {
        1.0 / (1.0 + (-4.0 * parameter / self.range).exp())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stay_within_the_limits_and_have_their_parameters() {
        let bounded = Bounded::new([1e-4, 1e3]);
        for value in [3e-4, 0.01, 1.0, 500.0] {
            let parameter = bounded.parameter(value);
            assert!((bounded.value(parameter) / value - 1.0).abs() < 1e-12, "{value}");
            let step = 1e-6;
            let difference =
                (bounded.value(parameter + step) - bounded.value(parameter - step)) / (2.0 * step);
            assert!((bounded.derivative(parameter) / difference - 1.0).abs() < 1e-6, "{value}");
        }
        for (parameter, limit) in [(-1e6, 1e-4), (1e6, 1e3)] {
            assert!((bounded.value(parameter) / limit - 1.0).abs() < 1e-12);
            assert_eq!(bounded.derivative(parameter), 0.0);
        }
        for (outside, limit) in [(1e-9, 1e-4), (1e9, 1e3)] {
            let moved = bounded.value(bounded.parameter(outside));
            assert!((1e-4..1e3).contains(&moved) && (moved / limit).ln().abs() < 0.2, "{moved}");
        }
    }
}
