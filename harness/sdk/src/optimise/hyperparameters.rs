//! The hyperparameters of a Gaussian process as an optimiser moves them.

use super::{Scale, Transform};
use crate::kernel::Kernel;
use crate::{Covariance, Error, Fit, Result, Scales};

/// Free parameters, and the scales that they stand for.
///
/// In this order: signal scale, noise scale, length scales (one, or one an input), and the prior mean, which is its own
/// free parameter, where it is trained.
///
/// ```
/// use gpbench_sdk::Scales;
/// use gpbench_sdk::optimise::{Hyperparameters, Transform};
///
/// let start = Scales { signal_scale: 1.0, noise_scale: 0.1, length_scale: vec![0.5, 2.0], mean: 0.0 };
/// let hyperparameters = Hyperparameters::new(&start, Transform::Scale, false, true).unwrap();
/// assert_eq!(hyperparameters.free.len(), 5);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Hyperparameters {
    /// The free parameters.
    pub free: Vec<f64>,
    transform: Transform,
    /// Inputs of the kernel.
    inputs: usize,
    /// Length scales that are free: one, or one an input.
    lengths: usize,
    /// The prior mean where it is not trained.
    fixed_mean: Option<f64>,
}

impl Hyperparameters {
    /// Starts from `start`, with one length scale for all inputs if `is_shared`.
    ///
    /// # Errors
    /// A scale is not positive and finite, or outside of what the transform can give.
    pub fn new(
        start: &Scales,
        transform: Transform,
        is_shared: bool,
        trains_mean: bool,
    ) -> Result<Hyperparameters> {
        let inputs = start.length_scale.len();
        let lengths = if is_shared { inputs.min(1) } else { inputs };
        let scales = [(Scale::Signal, start.signal_scale), (Scale::Noise, start.noise_scale)];
        let length_scales = start.length_scale[..lengths].iter().map(|&length| (Scale::Length, length));
        let mut free = Vec::with_capacity(lengths + 3);
        for (of, scale) in scales.into_iter().chain(length_scales) {
            let u = transform.inverse(of, scale);
            if !u.is_finite() {
                let text = format!("a fit cannot start from {scale} as a {}", name(of, transform));
                return Err(Error::InvalidArgument(text));
            }
            free.push(u);
        }
        if trains_mean {
            free.push(start.mean);
        }
        let fixed_mean = (!trains_mean).then_some(start.mean);
        Ok(Hyperparameters { free, transform, inputs, lengths, fixed_mean })
    }

    /// Starts where the fit says.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn of(fit: &Fit<'_>, transform: Transform) -> Result<Hyperparameters> {
        let inputs = fit.inputs();
        let start = Scales {
            signal_scale: inputs.signal_scale,
            noise_scale: inputs.noise_scale,
            length_scale: inputs.length_scale.to_vec(),
            mean: fit.mean(),
        };
        Hyperparameters::new(&start, transform, fit.has_shared_length_scale(), fit.trains_mean())
    }

    /// Standard deviation of the latent function.
    pub fn signal_scale(&self) -> f64 {
        self.transform.scale(Scale::Signal, self.free[0])
    }

    /// Standard deviation of the noise.
    pub fn noise_scale(&self) -> f64 {
        self.transform.scale(Scale::Noise, self.free[1])
    }

    /// Constant prior mean.
    pub fn mean(&self) -> f64 {
        self.fixed_mean.unwrap_or_else(|| self.free[2 + self.lengths])
    }

    /// The kernel, with one length scale where all inputs share it.
    pub fn kernel(&self, family: impl Into<Covariance>) -> Kernel {
        let lengths = self.free[2..2 + self.lengths].iter();
        let length_scale = lengths.map(|&u| self.transform.scale(Scale::Length, u)).collect();
        Kernel { family: family.into(), signal_scale: self.signal_scale(), length_scale }
    }

    /// The scales, with one length scale for each input.
    pub fn scales(&self) -> Scales {
        let length = |input: usize| self.free[2 + if self.lengths == self.inputs { input } else { 0 }];
        Scales {
            signal_scale: self.signal_scale(),
            noise_scale: self.noise_scale(),
            length_scale: (0..self.inputs)
                .map(|input| self.transform.scale(Scale::Length, length(input)))
                .collect(),
            mean: self.mean(),
        }
    }

    /// Whether all scales are positive, and all parameters finite.
    pub fn is_sound(&self) -> bool {
        let Scales { signal_scale, noise_scale, length_scale, mean } = self.scales();
        let is_positive = |scale: f64| scale.is_normal() && scale > 0.0;
        [signal_scale, noise_scale].into_iter().chain(length_scale).all(is_positive) && mean.is_finite()
    }

    /// Derivatives by the free parameters from those by the scales, by the chain rule. `length_scale` has as many
    /// entries as the kernel has length scales.
    ///
    /// # Panics
    /// If it has not.
    pub fn chain(&self, by: &Scales) -> Vec<f64> {
        assert_eq!(by.length_scale.len(), self.lengths, "one derivative for each free length scale");
        let scales = [(Scale::Signal, by.signal_scale), (Scale::Noise, by.noise_scale)];
        let lengths = by.length_scale.iter().map(|&by| (Scale::Length, by));
        let free = scales.into_iter().chain(lengths).zip(&self.free);
        let mut gradient: Vec<f64> =
            free.map(|((of, by), &u)| by * self.transform.derivative(of, u)).collect();
        if self.fixed_mean.is_none() {
            gradient.push(by.mean);
        }
        gradient
    }
}

/// What a scale is called, with the limits that a start has to keep.
fn name(of: Scale, transform: Transform) -> &'static str {
    match (of, transform) {
        (Scale::Signal, Transform::Capped) => "signal scale: it has to be above 1e-4 and below 31.6",
        (Scale::Noise, Transform::Capped) => "noise scale: it has to be above 1e-4 and below 1000",
        (Scale::Length, Transform::Capped) => "length scale: it has to be above 1e-4 and below 1000",
        (Scale::Signal, _) => "signal scale",
        (Scale::Noise, _) => "noise scale (where the noise has a floor, more than that)",
        (Scale::Length, _) => "length scale",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start() -> Scales {
        Scales { signal_scale: 1.3, noise_scale: 0.2, length_scale: vec![0.5, 2.0, 7.0], mean: -0.4 }
    }

    const TRANSFORMS: [Transform; 3] = [Transform::Scale, Transform::Variance, Transform::Logarithm];

    #[test]
    fn scales_come_back() {
        for transform in TRANSFORMS {
            for (is_shared, trains_mean, count) in [(false, true, 6), (true, true, 4), (true, false, 3)] {
                let mut start = start();
                if is_shared {
                    start.length_scale.fill(0.5);
                }
                let parameters = Hyperparameters::new(&start, transform, is_shared, trains_mean).unwrap();
                assert_eq!(parameters.free.len(), count);
                let scales = parameters.scales();
                let near = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-12, "{transform:?}: {a}, {b}");
                near(scales.signal_scale, start.signal_scale);
                near(scales.noise_scale, start.noise_scale);
                near(scales.mean, start.mean);
                scales.length_scale.iter().zip(&start.length_scale).for_each(|(&a, &b)| near(a, b));
                assert!(parameters.is_sound());
            }
        }
    }

    #[test]
    fn the_chain_rule_agrees_with_differences() {
        // f = 1.1 signal + 0.7 noise - 2 l_1 + 3 l_2 + 0.1 l_3 + 5 mean
        let by =
            Scales { signal_scale: 1.1, noise_scale: 0.7, length_scale: vec![-2.0, 3.0, 0.1], mean: 5.0 };
        let f = |parameters: &Hyperparameters| {
            let at = parameters.scales();
            let lengths = at.length_scale.iter().zip(&by.length_scale).map(|(at, by)| at * by).sum::<f64>();
            at.signal_scale * by.signal_scale + at.noise_scale * by.noise_scale + lengths + at.mean * by.mean
        };
        for transform in TRANSFORMS {
            let parameters = Hyperparameters::new(&start(), transform, false, true).unwrap();
            for (i, by) in parameters.chain(&by).into_iter().enumerate() {
                let at = |h: f64| {
                    let mut moved = parameters.clone();
                    moved.free[i] += h;
                    f(&moved)
                };
                let difference = (at(1e-5) - at(-1e-5)) / 2e-5;
                assert!((by - difference).abs() < 1e-8, "{transform:?}, {i}: {by} against {difference}");
            }
        }
    }

    #[test]
    fn a_start_below_the_floor_is_refused() {
        let start = Scales { noise_scale: 1e-3, ..start() };
        let refused = Hyperparameters::new(&start, Transform::Variance, false, true).unwrap_err();
        assert!(refused.to_string().contains("noise scale"), "{refused}");
        assert!(Hyperparameters::new(&start, Transform::Scale, false, true).is_ok());
        let start = Scales { length_scale: vec![0.0], ..start };
        assert!(Hyperparameters::new(&start, Transform::Scale, false, true).is_err());
        let start = Scales { length_scale: vec![1e4], ..start };
        let refused = Hyperparameters::new(&start, Transform::Capped, false, true).unwrap_err();
        assert!(refused.to_string().contains("below 1000"), "{refused}");
    }

    #[test]
    fn vanished_scales_are_not_sound() {
        let mut parameters = Hyperparameters::new(&start(), Transform::Scale, false, true).unwrap();
        for u in [-1e4, f64::NAN, f64::INFINITY] {
            parameters.free[2] = u;
            assert!(!parameters.is_sound(), "{u}");
        }
    }
}
