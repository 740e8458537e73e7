//! Growth of costs with a size, such as the number of rows, and predictions at larger sizes with their intervals.
//!
//! Iterations, and seconds of which one part decides, follow power laws ([`PowerLaw`]): a line through logarithms, whose
//! noise is multiplicative. Memory, and the seconds of a product with a kernel matrix, are sums of parts that are fixed,
//! linear and quadratic ([`Polynomial`]), none of them negative, and the largest part shows late: a power law through
//! them would be too flat. Which parts there are is uncertain as well, so that an interval covers every choice that fits about as
//! well as the best.
//!
//! Intervals are those of one further observation, Student's t with the fit's degrees of freedom. An interval
//! far beyond the measured sizes is wide, as it must be. Few points may lie on a curve by chance: callers state
//! the least noise that they believe in.

use crate::distribution::t_quantile;
use crate::estimate::Estimate;

/// Powers of the size in a polynomial.
const POWERS: [i32; 3] = [0, 1, 2];
/// A choice of powers is believed in as well if its residual variance is at most so many times that of the best.
const ABOUT_AS_WELL: f64 = 4.0;
/// Least difference of the logarithms of two sizes.
const LEAST_SPREAD: f64 = 1e-6;

/// The power law y = c x^p of least squares between logarithms.
#[derive(Debug, Clone, PartialEq)]
pub struct PowerLaw {
    /// Of ln y on 1 and ln x less its mean.
    line: LeastSquares,
    /// Mean of ln x.
    centre: f64,
}

impl PowerLaw {
    /// Fits sizes and values; those that are not positive and finite are left out. `None` with fewer than two
    /// different sizes.
    pub fn fit(points: &[(f64, f64)]) -> Option<PowerLaw> {
        let logs: Vec<(f64, f64)> = usable(points).map(|(x, y)| (x.ln(), y.ln())).collect();
        let sizes = || logs.iter().map(|(x, _)| *x);
        let spread = sizes().reduce(f64::max)? - sizes().reduce(f64::min)?;
        if spread < LEAST_SPREAD {
            return None;
        }
        let centre = sizes().sum::<f64>() / logs.len() as f64;
        let design: Vec<Vec<f64>> = sizes().map(|x| vec![1.0, x - centre]).collect();
        let values: Vec<f64> = logs.iter().map(|(_, y)| *y).collect();
        Some(PowerLaw { line: LeastSquares::fit(&design, &values)?, centre })
    }

    /// The exponent p.
    pub fn exponent(&self) -> f64 {
        self.line.coefficients[1]
    }

    /// Number of points.
    pub fn count(&self) -> usize {
        self.line.count
    }

    /// The value at a size, with the 95 % interval of an observation there; no interval from two points.
    /// `least_deviation` is the smallest standard deviation of logarithms that is believed in.
    pub fn predict(&self, size: f64, least_deviation: f64) -> Estimate {
        self.line.predict(&[1.0, size.ln() - self.centre], 1.0, least_deviation).exp()
    }
}

/// The polynomials y = a + b x + c x^2 of least relative squares, without negative coefficients.
#[derive(Debug, Clone, PartialEq)]
pub struct Polynomial {
    /// The fits of each choice of powers, the smallest residual variance first. Values are divided by those observed.
    choices: Vec<(Vec<i32>, LeastSquares)>,
    /// The place of the first one without negative coefficients.
    best: usize,
}

impl Polynomial {
    /// Fits sizes and values; those that are not positive and finite are left out. `None` with fewer than two points.
    pub fn fit(points: &[(f64, f64)]) -> Option<Polynomial> {
        let points: Vec<(f64, f64)> = usable(points).collect();
        let choose = |mask: u32| {
            let powers: Vec<i32> = POWERS.into_iter().filter(|power| (mask >> power) & 1 == 1).collect();
            let free = points.len().checked_sub(powers.len())?;
            // All three powers follow any three points.
            if free == 0 || (powers.len() == POWERS.len() && free < 2) {
                return None;
            }
            let relative =
                |(x, y): &(f64, f64)| -> Vec<f64> { terms(&powers, *x).map(|term| term / *y).collect() };
            let design: Vec<Vec<f64>> = points.iter().map(relative).collect();
            Some((powers, LeastSquares::fit(&design, &vec![1.0; points.len()])?))
        };
        let mut choices: Vec<_> = (1..1_u32 << POWERS.len()).filter_map(choose).collect();
        choices.sort_by(|(_, a), (_, b)| a.variance().total_cmp(&b.variance()));
        let best = choices.iter().position(|(_, fit)| fit.coefficients.iter().all(|of| *of >= 0.0))?;
        Some(Polynomial { choices, best })
    }

    /// The value at a size by the best choice of powers, with an interval that contains the 95 % intervals of an
    /// observation there by all choices that fit about as well. `least_deviation` is the smallest relative standard
    /// deviation that is believed in.
    pub fn predict(&self, size: f64, least_deviation: f64) -> Estimate {
        let believed = |fit: &LeastSquares| fit.variance().max(least_deviation.powi(2));
        let best = &self.choices[self.best];
        let most = ABOUT_AS_WELL * believed(&best.1);
        let predict = |(powers, fit): &(Vec<i32>, LeastSquares)| {
            let row: Vec<f64> = terms(powers, size).collect();
            fit.predict(&row, dot(&row, &fit.coefficients).powi(2), least_deviation)
        };
        // A coefficient that is negative by chance may as well be positive, which its interval tells.
        let others = self.choices.iter().filter(|(_, fit)| believed(fit) <= most).map(predict);
        let hull = others.fold(predict(best), |best, other| Estimate { interval: best.hull(&other), ..best });
        hull.within(0.0, f64::INFINITY)
    }
}

/// Points of positive and finite numbers.
fn usable(points: &[(f64, f64)]) -> impl Iterator<Item = (f64, f64)> {
    let is_usable = |value: f64| value > 0.0 && value.is_finite();
    points.iter().copied().filter(move |(x, y)| is_usable(*x) && is_usable(*y))
}

/// Powers of a size.
fn terms(powers: &[i32], size: f64) -> impl Iterator<Item = f64> {
    powers.iter().map(move |power| size.powi(*power))
}

/// A linear regression with few coefficients.
#[derive(Debug, Clone, PartialEq)]
struct LeastSquares {
    coefficients: Vec<f64>,
    /// Inverse of the design's Gram matrix.
    inverse: Vec<Vec<f64>>,
    /// Sum of squared residuals.
    squares: f64,
    /// Number of observations.
    count: usize,
}

impl LeastSquares {
    /// Regresses values on the columns of a design, which has a row for each value. `None` where the columns
    /// depend on each other.
    fn fit(design: &[Vec<f64>], values: &[f64]) -> Option<LeastSquares> {
        let columns = design.first()?.len();
        let sum = |f: &dyn Fn(&[f64], f64) -> f64| -> f64 {
            design.iter().zip(values).map(|(row, value)| f(row, *value)).sum()
        };
        // Columns of length 1 differ little in size, so that the inverse is accurate.
        let lengths: Vec<f64> = (0..columns).map(|j| sum(&|row, _| row[j] * row[j]).sqrt()).collect();
        let product = |i: usize, j: usize| sum(&|row, _| row[i] * row[j]) / (lengths[i] * lengths[j]);
        let gram = |i: usize| -> Vec<f64> { (0..columns).map(|j| product(i, j)).collect() };
        let mut inverse = inverse((0..columns).map(gram).collect())?;
        for (i, row) in inverse.iter_mut().enumerate() {
            row.iter_mut().enumerate().for_each(|(j, entry)| *entry /= lengths[i] * lengths[j]);
        }
        let moments: Vec<f64> = (0..columns).map(|j| sum(&|row, value| row[j] * value)).collect();
        let coefficients: Vec<f64> = inverse.iter().map(|row| dot(row, &moments)).collect();
        let squares = sum(&|row, value| (value - dot(row, &coefficients)).powi(2));
        Some(LeastSquares { coefficients, inverse, squares, count: values.len() })
    }

    /// Degrees of freedom.
    fn free(&self) -> f64 {
        (self.count - self.coefficients.len()) as f64
    }

    /// Variance of the residuals; NaN without degrees of freedom.
    fn variance(&self) -> f64 {
        self.squares / self.free()
    }

    /// The value of a row, with the 95 % interval of an observation whose variance is `own` times that of the
    /// residuals.
    fn predict(&self, row: &[f64], own: f64, least_deviation: f64) -> Estimate {
        let mean = dot(row, &self.coefficients);
        let deviation = (self.free() > 0.0).then(|| self.variance().sqrt().max(least_deviation));
        let leverage: f64 = self.inverse.iter().zip(row).map(|(of, entry)| dot(of, row) * entry).sum();
        let half = deviation.map(|of| t_quantile(self.free()) * of * (own + leverage).sqrt());
        Estimate::around(mean, deviation, half, self.count)
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The inverse of a positive definite matrix with a diagonal of ones, by elimination. `None` where it is
/// singular up to rounding.
fn inverse(mut matrix: Vec<Vec<f64>>) -> Option<Vec<Vec<f64>>> {
    let n = matrix.len();
    let unit = |i: usize| -> Vec<f64> { (0..n).map(|j| if i == j { 1.0 } else { 0.0 }).collect() };
    let mut inverse: Vec<Vec<f64>> = (0..n).map(unit).collect();
    for pivot in 0..n {
        let scale = matrix[pivot][pivot];
        // Also where it is not a number.
        if !(scale > 1e-12) {
            return None;
        }
        for side in [&mut matrix, &mut inverse] {
            side[pivot].iter_mut().for_each(|entry| *entry /= scale);
        }
        for i in (0..n).filter(|i| *i != pivot) {
            let factor = matrix[i][pivot];
            for side in [&mut matrix, &mut inverse] {
                let of_pivot = side[pivot].clone();
                side[i].iter_mut().zip(of_pivot).for_each(|(entry, of)| *entry -= factor * of);
            }
        }
    }
    Some(inverse)
}
