//! Likelihoods of many rows, each given some other rows.

use ndarray::{Array1, ArrayRef1, ArrayRef2, Axis};

use super::groups::each_group;
use super::lanes::{Conditional, Density};
use crate::kernel::Kernel;
use crate::{Error, Result, Workers};

/// Log likelihoods of rows given others, and their derivatives.
#[derive(Debug, Clone, PartialEq)]
pub struct Conditionals {
    /// Sum of the log likelihoods, with all constants.
    pub log_likelihood: f64,
    /// Derivative by the signal scale.
    pub signal_scale: f64,
    /// Derivative by the noise scale.
    pub noise_scale: f64,
    /// Derivatives by the length scales: as many as the kernel has.
    pub length_scale: Array1<f64>,
    /// Derivative by a constant prior mean, which is subtracted from `y` already.
    pub mean: f64,
    /// Variance of each row given the others, the noise included.
    pub variance: Array1<f64>,
    /// Each row's target less its mean given the others.
    pub error: Array1<f64>,
}

/// The likelihood of the last of each group's rows, given the group's other rows: `members`, groups x k, has their
/// rows of `x`, n x d, and of `y`, from which the prior mean is subtracted already.
///
/// Observations are conditioned on observations, with the noise of both. Several groups share a vector, one in each
/// lane. A group takes k^3 / 3 + 2 d k^2 operations, and uses k^2 kernel entries, which the caller charges.
///
/// # Errors
/// [`NotPositiveDefinite`](Error::NotPositiveDefinite) if a group's covariance is not, to working precision, or is
/// not finite; [`InvalidArgument`](Error::InvalidArgument) without groups or rows.
///
/// # Panics
/// If the shapes do not fit, or a row is not one of `x`.
pub fn conditionals(
    kernel: &Kernel,
    noise_scale: f64,
    x: &ArrayRef2<f64>,
    y: &ArrayRef1<f64>,
    members: &ArrayRef2<usize>,
    workers: Workers<'_>,
) -> Result<Conditionals> {
    if members.is_empty() {
        return Err(Error::InvalidArgument("the likelihoods of no rows".into()));
    }
    let results = each_group(kernel, noise_scale, (x, y, members), workers, Conditional)?;
    // Rows are added in their order.
    let mut sum = Array1::<f64>::zeros(results.ncols());
    results.rows().into_iter().for_each(|row| sum += &row);
    let lengths = kernel.lengths(x.ncols());
    let by_logarithm = sum.iter().skip(Conditional::FIXED);
    let by_length = by_logarithm.zip(&lengths).map(|(by_logarithm, length)| by_logarithm / length).collect();
    Ok(Conditionals {
        log_likelihood: sum[0],
        signal_scale: sum[1],
        noise_scale: sum[2],
        mean: sum[3],
        length_scale: kernel.collect_lengths(by_length),
        variance: results.index_axis(Axis(1), 4).to_owned(),
        error: results.index_axis(Axis(1), 5).to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use ndarray::{Array2, s};

    use super::*;
    use crate::differences::{assert_close, derivatives, uniform};
    use crate::likelihood::nlml;
    use crate::simd::tests::on_each;
    use crate::{Covariance, Family};

    fn data(n: usize, d: usize) -> (Array2<f64>, Array1<f64>) {
        (uniform(n, d, 1), uniform(n, 1, 2).remove_axis(Axis(1)))
    }

    /// Groups of distinct rows.
    fn members(groups: usize, rows: usize, n: usize) -> Array2<usize> {
        Array2::from_shape_fn((groups, rows), |(g, r)| (7 * g + 3 * r) % n)
    }

    /// Log likelihood of all rows of a group.
    fn joint(kernel: &Kernel, noise: f64, x: &Array2<f64>, y: &Array1<f64>, rows: &[usize]) -> f64 {
        if rows.is_empty() {
            return 0.0;
        }
        let x = x.select(Axis(0), rows);
        let mut covariance = kernel.gram(&x, &x, Workers::new(1));
        covariance.diag_mut().iter_mut().for_each(|entry| *entry += noise * noise);
        -(rows.len() as f64) * nlml(covariance, &y.select(Axis(0), rows)).unwrap()
    }

    #[test]
    fn a_conditional_likelihood_is_a_quotient_of_joint_ones() {
        let (x, y) = data(50, 3);
        for family in Covariance::all() {
            for (count, rows) in [(1, 1), (3, 16), (70, 5), (8, 2)] {
                let kernel = Kernel { family, signal_scale: 1.1, length_scale: vec![0.5, 0.9, 1.4] };
                let members = members(count, rows, 50);
                let found = conditionals(&kernel, 0.3, &x, &y, &members, Workers::new(1)).unwrap();
                let expected: f64 = members
                    .rows()
                    .into_iter()
                    .map(|group| {
                        let group = group.to_vec();
                        let others = joint(&kernel, 0.3, &x, &y, &group[..rows - 1]);
                        joint(&kernel, 0.3, &x, &y, &group) - others
                    })
                    .sum();
                assert!((found.log_likelihood - expected).abs() < 1e-10 * expected.abs().max(1.0));
                let moments = found.variance.iter().zip(&found.error);
                let density = |(d, e): (&f64, &f64)| -0.5 * ((std::f64::consts::TAU * d).ln() + e * e / d);
                assert!((moments.map(density).sum::<f64>() - found.log_likelihood).abs() < 1e-11);
            }
        }
    }

    #[test]
    fn derivatives_are_those_of_the_value() {
        let (x, y) = data(40, 2);
        let members = members(11, 6, 40);
        for (family, lengths) in [(Family::Rbf, 2), (Family::Matern32, 1), (Family::Matern12, 2)] {
            let kernel = |s: &[f64]| Kernel {
                family: family.into(),
                signal_scale: s[0],
                length_scale: s[3..3 + lengths].to_vec(),
            };
            let evaluate = |s: &[f64]| {
                conditionals(&kernel(s), s[1], &x, &(&y - s[2]), &members, Workers::new(1)).unwrap()
            };
            let at = [1.3, 0.5, 0.1, 0.4, 0.8];
            let at = &at[..3 + lengths];
            let found = evaluate(at);
            let expected = derivatives(at, |s| evaluate(s).log_likelihood);
            let scales = [found.signal_scale, found.noise_scale, found.mean];
            assert_close(&[&scales, found.length_scale.as_slice().unwrap()].concat(), &expected, 1e-8);
        }
    }

    #[test]
    fn the_bits_do_not_depend_on_the_threads_or_the_place_of_a_group() {
        let (x, y) = data(300, 4);
        let kernel =
            Kernel { family: Family::Matern52.into(), signal_scale: 1.0, length_scale: vec![0.5; 4] };
        let members = members(200, 16, 300);
        let of = |threads| conditionals(&kernel, 0.2, &x, &y, &members, Workers::new(threads)).unwrap();
        assert_eq!(of(1), of(3));
        let part = members.slice(s![77..80, ..]);
        let part = conditionals(&kernel, 0.2, &x, &y, &part, Workers::new(1)).unwrap();
        assert_eq!(part.error, of(1).error.slice(s![77..80]));
    }

    #[test]
    fn every_instruction_set_gives_the_same_to_rounding() {
        let (x, y) = data(30, 3);
        let kernel =
            Kernel { family: Family::Matern32.into(), signal_scale: 1.0, length_scale: vec![0.5, 0.7, 0.9] };
        let results = on_each(|| {
            let found = conditionals(&kernel, 0.2, &x, &y, &members(13, 6, 30), Workers::new(1)).unwrap();
            let scales = [found.log_likelihood, found.signal_scale, found.noise_scale, found.mean];
            [&scales, found.length_scale.as_slice().unwrap()].concat()
        });
        results[1..].iter().for_each(|result| assert_close(result, &results[0], 1e-12));
    }

    #[test]
    fn singular_groups_and_none_are_errors() {
        let (x, y) = data(4, 2);
        let kernel = Kernel { family: Family::Rbf.into(), signal_scale: 1.0, length_scale: vec![1.0] };
        let twice = Array2::from_shape_vec((1, 2), vec![2, 2]).unwrap();
        let of = |noise, members: &Array2<usize>| {
            conditionals(&kernel, noise, &x, &y, members, Workers::new(1)).map(|found| found.log_likelihood)
        };
        assert!(of(1e-2, &twice).is_ok());
        assert_eq!(of(0.0, &twice), Err(Error::NotPositiveDefinite { minor: 2 }));
        assert_eq!(of(f64::NAN, &twice), Err(Error::NotPositiveDefinite { minor: 1 }));
        assert!(matches!(of(0.1, &Array2::zeros((0, 3))), Err(Error::InvalidArgument(_))));
    }
}
