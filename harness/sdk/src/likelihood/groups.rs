//! Likelihoods of many small groups of rows at once.

use std::marker::PhantomData;

use ndarray::{Array1, Array2, ArrayRef1, ArrayRef2, ArrayView2, Axis};

use super::lanes::{Block, Density, Inner, Joint, Pair, Stationary};
use crate::kernel::Kernel;
use crate::kernel::correlation::{Correlation, by_family};
use crate::simd::dispatch;
use crate::{Error, Result, Workers};

/// Groups of a piece, one thread's unit of work.
const GROUPS: usize = 64;

/// The mean over groups of their likelihoods, and its derivatives.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupsGradient {
    /// Mean over the groups of the negative log marginal likelihood per row.
    pub nlml: f64,
    /// Derivative by the signal scale.
    pub signal_scale: f64,
    /// Derivative by the noise scale.
    pub noise_scale: f64,
    /// Derivatives by the length scales: as many as the kernel has.
    pub length_scale: Array1<f64>,
    /// Derivative by a constant prior mean, which is subtracted from `y` already.
    pub mean: f64,
}

/// The likelihoods of groups of k rows each: `members`, groups x k, has their rows of `x`, n x d, and of `y`,
/// from which the prior mean is subtracted already.
///
/// Several groups share a vector, one in each lane, which is fast for groups of up to 32 rows; for larger ones call
/// [`likelihood`](super::likelihood). A group uses k^2 kernel entries, which the caller charges.
///
/// # Errors
/// [`NotPositiveDefinite`](Error::NotPositiveDefinite) if a group's covariance is not, to working precision, or is not
/// finite; [`InvalidArgument`](Error::InvalidArgument) without groups or rows.
///
/// # Panics
/// If the shapes do not fit, or a row is not one of `x`.
pub fn groups(
    kernel: &Kernel,
    noise_scale: f64,
    x: &ArrayRef2<f64>,
    y: &ArrayRef1<f64>,
    members: &ArrayRef2<usize>,
    workers: Workers<'_>,
) -> Result<GroupsGradient> {
    if members.is_empty() {
        return Err(Error::InvalidArgument("the likelihood of no groups, or of groups of no rows".into()));
    }
    let results = each_group(kernel, noise_scale, (x, y, members), workers, Joint)?;
    let inputs = x.ncols();
    let lengths = kernel.lengths(inputs);

    // Rows are added in their order.
    let mut mean = Array1::<f64>::zeros(Joint::FIXED + inputs);
    results.rows().into_iter().for_each(|row| mean += &row);
    mean /= members.nrows() as f64;
    let by_length = mean
        .iter()
        .skip(Joint::FIXED)
        .zip(&lengths)
        .map(|(by_logarithm, length)| by_logarithm / length)
        .collect();
    Ok(GroupsGradient {
        nlml: mean[0],
        signal_scale: mean[1],
        noise_scale: mean[2],
        length_scale: kernel.collect_lengths(by_length),
        mean: mean[3],
    })
}

/// The numbers of a density for each group, groups x ([`Density::FIXED`] + d).
pub(super) fn each_group<O: Density>(
    kernel: &Kernel,
    noise_scale: f64,
    (x, y, members): (&ArrayRef2<f64>, &ArrayRef1<f64>, &ArrayRef2<usize>),
    workers: Workers<'_>,
    density: O,
) -> Result<Array2<f64>> {
    assert_eq!(x.nrows(), y.len(), "one target a row");
    let scaled = kernel.scaled(x);
    let mut results = Array2::zeros((members.nrows(), O::FIXED + x.ncols()));
    let mut outcomes = vec![Ok(()); members.nrows().div_ceil(GROUPS)];
    let pieces = results.axis_chunks_iter_mut(Axis(0), GROUPS).zip(members.axis_chunks_iter(Axis(0), GROUPS));
    workers.for_each(pieces.zip(&mut outcomes), |((mut results, members), outcome)| {
        let out = results.as_slice_mut().expect("pieces of a row-major array");
        let input = Input { scaled: &scaled, y, kernel, noise_scale };
        *outcome = by_family!(kernel.family, stationary(&input, members, out, density), linear: {
            piece::<Inner>(&input, members, out, density)
        });
    });
    let outcome = outcomes.into_iter().collect::<Result<(), usize>>();
    outcome.map_err(|minor| Error::NotPositiveDefinite { minor })?;
    Ok(results)
}

/// Data that all pieces share.
struct Input<'a> {
    scaled: &'a Array2<f64>,
    y: &'a ArrayRef1<f64>,
    kernel: &'a Kernel,
    noise_scale: f64,
}

fn stationary<C: Correlation>(
    input: &Input<'_>,
    members: ArrayView2<'_, usize>,
    out: &mut [f64],
    density: impl Density,
) -> Result<(), usize> {
    piece::<Stationary<C>>(input, members, out, density)
}

fn piece<P: Pair>(
    input: &Input<'_>,
    members: ArrayView2<'_, usize>,
    out: &mut [f64],
    density: impl Density,
) -> Result<(), usize> {
    let &Input { scaled, y, kernel, noise_scale } = input;
    let signal_scale = kernel.signal_scale;
    dispatch(Block { scaled, y, members, signal_scale, noise_scale, out, pair: PhantomData::<P>, density })
}

#[cfg(test)]
mod tests {
    use ndarray::{ArrayView1, array};

    use super::*;
    use crate::differences::{assert_close, derivatives, uniform};
    use crate::likelihood::likelihood;
    use crate::simd::tests::on_each;
    use crate::{Covariance, Family};

    /// The mean over groups, from one dense likelihood after the other.
    fn one_by_one(
        kernel: &Kernel,
        noise_scale: f64,
        x: &Array2<f64>,
        y: &Array1<f64>,
        members: &Array2<usize>,
    ) -> GroupsGradient {
        let count = members.nrows() as f64;
        let lengths = Array1::zeros(kernel.length_scale.len());
        let mut sum = GroupsGradient {
            nlml: 0.0,
            signal_scale: 0.0,
            noise_scale: 0.0,
            length_scale: lengths,
            mean: 0.0,
        };
        for group in members.rows() {
            let x = x.select(Axis(0), &group.to_vec());
            let mut covariance = kernel.gram(&x, &x, Workers::new(1));
            covariance.diag_mut().iter_mut().for_each(|entry| *entry += noise_scale * noise_scale);
            let found = likelihood(covariance, &y.select(Axis(0), &group.to_vec())).unwrap();
            let by_kernel = kernel.pull_back_square(&x, &found.cotangent, false, Workers::new(1));
            sum.nlml += found.nlml / count;
            sum.signal_scale += by_kernel.signal_scale / count;
            sum.noise_scale += 2.0 * noise_scale * found.cotangent.diag().sum() / count;
            sum.length_scale += &(by_kernel.length_scale / count);
            sum.mean -= found.weights.sum() / group.len() as f64 / count;
        }
        sum
    }

    fn data(n: usize, d: usize) -> (Array2<f64>, Array1<f64>) {
        (uniform(n, d, 1), uniform(n, 1, 2).remove_axis(Axis(1)))
    }

    /// Groups of distinct rows.
    fn members(groups: usize, rows: usize, n: usize) -> Array2<usize> {
        Array2::from_shape_fn((groups, rows), |(g, r)| (7 * g + 3 * r) % n)
    }

    #[test]
    fn groups_are_likelihoods_one_by_one() {
        let (x, y) = data(50, 3);
        for family in Covariance::all() {
            for length_scale in [vec![0.6], vec![0.5, 0.9, 1.4]] {
                for (count, rows) in [(1, 1), (3, 16), (70, 5), (8, 2)] {
                    let kernel = Kernel { family, signal_scale: 1.1, length_scale: length_scale.clone() };
                    let members = members(count, rows, 50);
                    let found = groups(&kernel, 0.3, &x, &y, &members, Workers::new(1)).unwrap();
                    let expected = one_by_one(&kernel, 0.3, &x, &y, &members);
                    let flat = |g: &GroupsGradient| {
                        [&[g.nlml, g.signal_scale, g.noise_scale, g.mean], g.length_scale.as_slice().unwrap()]
                            .concat()
                    };
                    assert_close(&flat(&found), &flat(&expected), 1e-12);
                }
            }
        }
    }

    #[test]
    fn derivatives_are_those_of_the_value() {
        let (x, y) = data(40, 2);
        let members = members(11, 6, 40);
        let kernel = |s: &[f64]| Kernel {
            family: Family::Rbf.into(),
            signal_scale: s[0],
            length_scale: s[2..4].to_vec(),
        };
        let evaluate =
            |s: &[f64]| groups(&kernel(s), s[1], &x, &(&y - s[4]), &members, Workers::new(1)).unwrap();
        let at = [1.3, 0.5, 0.4, 0.8, 0.1];
        let found = evaluate(&at);
        let expected = derivatives(&at, |s| evaluate(s).nlml);
        let lengths = found.length_scale.as_slice().unwrap();
        assert_close(
            &[&[found.signal_scale, found.noise_scale], lengths, &[found.mean]].concat(),
            &expected,
            1e-9,
        );
    }

    #[test]
    fn without_a_signal_uniform_groups_are_unbiased() {
        // Every row stands in equally many groups: the mean is the likelihood of all rows.
        let (x, y) = data(20, 2);
        let members = members(20, 4, 20);
        let kernel = Kernel { family: Family::Rbf.into(), signal_scale: 0.0, length_scale: vec![1.0] };
        let found = groups(&kernel, 0.7, &x, &y, &members, Workers::new(1)).unwrap();
        let all = Array2::from_shape_fn((1, 20), |(_, row)| row);
        let expected = groups(&kernel, 0.7, &x, &y, &all, Workers::new(1)).unwrap();
        assert!((found.nlml - expected.nlml).abs() < 1e-13);
        assert!((found.noise_scale - expected.noise_scale).abs() < 1e-13);
        assert_eq!((found.signal_scale, found.length_scale[0]), (0.0, 0.0));
    }

    #[test]
    fn the_bits_do_not_depend_on_the_threads_or_the_place_of_a_group() {
        let (x, y) = data(300, 4);
        let kernel =
            Kernel { family: Family::Matern52.into(), signal_scale: 1.0, length_scale: vec![0.5; 4] };
        let members = members(200, 16, 300);
        let of = |members: ArrayView2<'_, usize>, threads| {
            groups(&kernel, 0.2, &x, &y, &members, Workers::new(threads))
        };
        assert_eq!(of(members.view(), 1), of(members.view(), 3));
        let alone = |row: ArrayView1<'_, usize>| of(row.insert_axis(Axis(0)), 1).unwrap().nlml;
        let sum: f64 = members.rows().into_iter().map(alone).sum();
        assert_eq!(sum / 200.0, of(members.view(), 1).unwrap().nlml);
    }

    #[test]
    fn every_instruction_set_gives_the_same_to_rounding() {
        let (x, y) = data(30, 3);
        let kernel =
            Kernel { family: Family::Matern32.into(), signal_scale: 1.0, length_scale: vec![0.5, 0.7, 0.9] };
        let members = members(13, 6, 30);
        let results = on_each(|| {
            let found = groups(&kernel, 0.2, &x, &y, &members, Workers::new(1)).unwrap();
            [
                &[found.nlml, found.signal_scale, found.noise_scale, found.mean],
                found.length_scale.as_slice().unwrap(),
            ]
            .concat()
        });
        results[1..].iter().for_each(|result| assert_close(result, &results[0], 1e-12));
    }

    #[test]
    fn repeated_rows_need_noise() {
        let (x, y) = data(4, 2);
        let kernel = Kernel { family: Family::Rbf.into(), signal_scale: 1.0, length_scale: vec![1.0] };
        let twice = array![[0, 1], [2, 2]];
        assert!(groups(&kernel, 1e-2, &x, &y, &twice, Workers::new(1)).is_ok());
        let singular = groups(&kernel, 0.0, &x, &y, &twice, Workers::new(1));
        assert_eq!(singular, Err(Error::NotPositiveDefinite { minor: 2 }));
        let not_finite = groups(&kernel, f64::NAN, &x, &y, &twice, Workers::new(1));
        assert_eq!(not_finite, Err(Error::NotPositiveDefinite { minor: 1 }));
        let none = Array2::zeros((0, 16));
        assert!(matches!(
            groups(&kernel, 0.1, &x, &y, &none, Workers::new(1)),
            Err(Error::InvalidArgument(_))
        ));
    }
}
