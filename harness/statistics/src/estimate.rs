//! Means and ratios with their intervals.

use crate::distribution::t_quantile;

/// Fewest values for which an interval is printed. That of two values is so wide that it says nothing.
pub const PRINTED_FROM: usize = 3;

/// An interval, nominal 95 %.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Interval {
    /// Whether the value lies within, ends included.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

/// A mean, or a ratio after [`Estimate::exp`], with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The mean, or the ratio.
    pub mean: f64,
    /// Standard deviation of the values; of a ratio, that of the logarithms. `None` below two values.
    pub sd: Option<f64>,
    /// The interval; `None` below two values.
    pub interval: Option<Interval>,
    /// Number of values.
    pub count: usize,
}

impl Estimate {
    /// The estimate of a mean of logarithms as that of a ratio.
    pub fn exp(self) -> Estimate {
        let interval = self.interval.map(|of| Interval { low: of.low.exp(), high: of.high.exp() });
        Estimate { mean: self.mean.exp(), interval, ..self }
    }

    /// The estimate of a positive number whose interval reaches as many times below it as above, as errors of seconds do.
    pub fn multiplicative(self) -> Estimate {
        let around = |of: Interval| Interval { low: self.mean * (self.mean / of.high), ..of };
        Estimate { interval: self.interval.map(around), ..self }
    }

    /// The sum of two estimates. Both ends of their intervals are added, as if one error followed the other.
    pub fn plus(&self, other: &Estimate) -> Estimate {
        let sum = |a: Interval, b: Interval| Interval { low: a.low + b.low, high: a.high + b.high };
        self.combined(
            self.mean + other.mean,
            self.interval.zip(other.interval).map(|(a, b)| sum(a, b)),
            other,
        )
    }

    /// The product of two positive estimates whose errors are independent: the squared widths of their intervals in
    /// logarithms are added, on each side.
    pub fn times(&self, other: &Estimate) -> Estimate {
        let mean = self.mean * other.mean;
        let side = |a: f64, b: f64| (a / self.mean).ln().hypot((b / other.mean).ln());
        let product = |a: Interval, b: Interval| Interval {
            low: mean * (-side(a.low, b.low)).exp(),
            high: mean * side(a.high, b.high).exp(),
        };
        self.combined(mean, self.interval.zip(other.interval).map(|(a, b)| product(a, b)), other)
    }

    /// An estimate from two, with the smaller of their numbers of values.
    fn combined(&self, mean: f64, interval: Option<Interval>, other: &Estimate) -> Estimate {
        Estimate { mean, sd: None, interval, count: self.count.min(other.count) }
    }

    /// The interval, where there are values enough to print it: [`PRINTED_FROM`].
    pub fn printed(&self) -> Option<Interval> {
        self.interval.filter(|_| self.count >= PRINTED_FROM)
    }

    /// An estimate with an interval of equal width to both sides.
    pub(crate) fn around(mean: f64, sd: Option<f64>, half_width: Option<f64>, count: usize) -> Estimate {
        let interval = half_width.map(|half| Interval { low: mean - half, high: mean + half });
        Estimate { mean, sd, interval, count }
    }

    /// The smallest interval that contains those of two estimates; `None` unless both have one.
    pub(crate) fn hull(&self, other: &Estimate) -> Option<Interval> {
        let (own, other) = (self.interval?, other.interval?);
        Some(Interval { low: own.low.min(other.low), high: own.high.max(other.high) })
    }

    /// The estimate with its interval cut to what is possible.
    pub(crate) fn within(self, low: f64, high: f64) -> Estimate {
        let cut = |of: Interval| Interval { low: of.low.max(low), high: of.high.min(high) };
        Estimate { interval: self.interval.map(cut), ..self }
    }
}

/// The mean with its t interval, mean ± t(S-1) s sqrt(1/S + q). `extra_variance` is q, which is n_test/n_train for
/// metrics of test rows where each seed splits the same data, since such splits overlap (Nadeau and Bengio 2003), and
/// otherwise 0.
///
/// Values that are not finite are left out; `None` if none is left.
pub fn estimate(values: &[f64], extra_variance: f64) -> Option<Estimate> {
    let values = finite(values);
    let mean = mean(&values)?;
    let sd = sample_variance(&values).map(f64::sqrt);
    let count = values.len();
    let half =
        sd.map(|sd| t_quantile(count as f64 - 1.0) * sd * (1.0 / count as f64 + extra_variance).sqrt());
    Some(Estimate::around(mean, sd, half, count))
}

/// The ratio exp(mean) of logarithms of ratios, with its t interval.
pub fn ratio(log_ratios: &[f64]) -> Option<Estimate> {
    Some(estimate(log_ratios, 0.0)?.exp())
}

/// The geometric mean with its t interval, of the values that are positive and finite.
pub fn geometric_estimate(values: &[f64]) -> Option<Estimate> {
    let logs: Vec<f64> = values.iter().filter(|value| **value > 0.0).map(|value| value.ln()).collect();
    ratio(&logs)
}

/// The geometric mean of positive values; not a number where there are none.
pub fn geometric_mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len();
    (values.map(f64::ln).sum::<f64>() / count as f64).exp()
}

/// The median of the finite values: with an even number of them, the mean of the middle two.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut values = finite(values);
    values.sort_by(f64::total_cmp);
    let upper = *values.get(values.len() / 2)?;
    let is_odd = values.len() % 2 == 1;
    Some(if is_odd { upper } else { 0.5 * (values[values.len() / 2 - 1] + upper) })
}

/// The variance of a sample, with the divisor S - 1; `None` below two values.
pub fn sample_variance(values: &[f64]) -> Option<f64> {
    let mean = mean(values).filter(|_| values.len() > 1)?;
    let squares = values.iter().map(|value| (value - mean).powi(2));
    Some(squares.sum::<f64>() / (values.len() - 1) as f64)
}

pub(crate) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

pub(crate) fn finite(values: &[f64]) -> Vec<f64> {
    values.iter().copied().filter(|value| value.is_finite()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_left_out() {
        let estimate = estimate(&[1.0, f64::NAN, 3.0, f64::INFINITY], 0.0).unwrap();
        assert_eq!((estimate.mean, estimate.count), (2.0, 2));
        assert!(estimate.interval.is_some() && estimate.printed().is_none());
        assert!(super::estimate(&[f64::NAN], 0.0).is_none());
        let one = super::estimate(&[5.0], 0.0).unwrap();
        assert_eq!((one.sd, one.interval), (None, None));
        assert_eq!(geometric_estimate(&[0.0, 2.0, 8.0]).map(|of| of.count), Some(2));
    }

    #[test]
    fn sums_and_products_have_intervals_of_both() {
        let of = |low: f64, mean: f64, high: f64, count| Estimate {
            mean,
            sd: Some(1.0),
            interval: Some(Interval { low, high }),
            count,
        };
        let sum = of(1.0, 2.0, 4.0, 5).plus(&of(2.0, 3.0, 5.0, 4));
        assert_eq!(sum, Estimate { sd: None, ..of(3.0, 5.0, 9.0, 4) });
        // In logarithms, 3 and 4 to either side are 5 together.
        let (three, four, five) = (3.0_f64.exp(), 4.0_f64.exp(), 5.0_f64.exp());
        let product = of(2.0 / three, 2.0, 2.0 * three, 5).times(&of(3.0 / four, 3.0, 3.0 * four, 4));
        let interval = product.interval.unwrap();
        assert!(product.mean == 6.0 && (interval.high / (6.0 * five) - 1.0).abs() < 1e-12);
        assert!((interval.low * five / 6.0 - 1.0).abs() < 1e-12);
        // An interval from 0 on leads to one, unless errors are taken to be multiplicative.
        assert_eq!(of(0.0, 2.0, 4.0, 5).times(&of(1.0, 1.0, 1.0, 5)).interval.unwrap().low, 0.0);
        assert_eq!(of(0.0, 2.0, 4.0, 5).multiplicative(), of(1.0, 2.0, 4.0, 5));
        let alone = Estimate { interval: None, ..of(1.0, 2.0, 3.0, 5) };
        assert_eq!((alone.plus(&sum).interval, alone.times(&sum).interval), (None, None));
    }

    #[test]
    fn medians_of_even_numbers_are_between_the_middle_two() {
        assert_eq!(median(&[4.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median(&[f64::NAN]), None);
    }
}
