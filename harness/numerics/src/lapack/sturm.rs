//! Eigenvalues of symmetric tridiagonal matrices by bisection, many at a time.
//!
//! The number of negative pivots of T - x I is the number of eigenvalues less than x (Sylvester's law of inertia).

use crate::simd::arch;

/// Number of shifts that are processed together, enough to hide the latency of a division.
const LANES: usize = 16;

/// Number of halvings of an interval, enough to reach rounding errors of the largest eigenvalue.
const HALVINGS: usize = 56;

/// Number of eigenvalues less than `shift`.
pub(super) fn count(diagonal: &[f64], beside: &[f64], shift: f64) -> usize {
    Pencil::new(diagonal, beside).counts(&[shift; LANES])[0] as usize
}

/// The `count` lowest eigenvalues, ascending.
pub(super) fn lowest(diagonal: &[f64], beside: &[f64], count: usize) -> Vec<f64> {
    let pencil = Pencil::new(diagonal, beside);
    let wanted: Vec<usize> = (0..count).collect();
    let of_lanes = |wanted: &[usize]| {
        // The i-th eigenvalue, from 0, is where the count rises above i.
        let wanted: [f64; LANES] = std::array::from_fn(|lane| wanted[lane.min(wanted.len() - 1)] as f64);
        let ([mut low, mut high], mut middle) =
            ([pencil.bounds.0, pencil.bounds.1].map(|x| [x; LANES]), [0.0; LANES]);
        for _ in 0..HALVINGS {
            (0..LANES).for_each(|lane| middle[lane] = 0.5 * (low[lane] + high[lane]));
            let counts = pencil.counts(&middle);
            for lane in 0..LANES {
                let is_below = counts[lane] > wanted[lane];
                high[lane] = if is_below { middle[lane] } else { high[lane] };
                low[lane] = if is_below { low[lane] } else { middle[lane] };
            }
        }
        middle
    };
    let mut values: Vec<f64> =
        wanted.chunks(LANES).flat_map(|some| of_lanes(some).into_iter().take(some.len())).collect();
    values.sort_by(f64::total_cmp);
    values
}

/// The matrix T, prepared for the counts.
struct Pencil<'t> {
    diagonal: &'t [f64],
    /// Squares of the off-diagonal entries, preceded by 0.
    squares: Vec<f64>,
    /// Smallest magnitude of a pivot.
    least: f64,
    /// Numbers below and above all eigenvalues, by Gershgorin's circles.
    bounds: (f64, f64),
}

impl Pencil<'_> {
    fn new<'t>(diagonal: &'t [f64], beside: &[f64]) -> Pencil<'t> {
        let squares: Vec<f64> =
            std::iter::once(0.0).chain(beside.iter().map(|entry| entry * entry)).collect();
        let least = f64::MIN_POSITIVE * squares.iter().fold(1.0, |most: f64, square| most.max(*square));
        let radius = 2.0 * beside.iter().fold(0.0, |most: f64, entry| most.max(entry.abs()));
        let low = diagonal.iter().fold(f64::INFINITY, |low, entry| low.min(*entry));
        let high = diagonal.iter().fold(f64::NEG_INFINITY, |high, entry| high.max(*entry));
        let margin =
            radius + f64::EPSILON * (low.abs().max(high.abs()) + radius) * diagonal.len() as f64 + least;
        Pencil { diagonal, squares, least, bounds: (low - margin, high + margin) }
    }

    /// Numbers of eigenvalues less than each shift.
    fn counts(&self, shifts: &[f64; LANES]) -> [f64; LANES] {
        arch().dispatch(|| {
            let (mut counts, mut pivots) = ([0.0; LANES], [1.0; LANES]);
            for (entry, square) in self.diagonal.iter().zip(&self.squares) {
                for lane in 0..LANES {
                    let pivot = entry - shifts[lane] - square / pivots[lane];
                    let pivot = if pivot.abs() < self.least { -self.least } else { pivot };
                    counts[lane] += if pivot < 0.0 { 1.0 } else { 0.0 };
                    pivots[lane] = pivot;
                }
            }
            counts
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The second difference of n points: 2 - 2 cos(pi j / (n + 1)).
    #[test]
    fn eigenvalues_are_those_of_the_second_difference() {
        for n in [1, 2, 17, 100] {
            let (diagonal, beside) = (vec![2.0; n], vec![-1.0; n - 1]);
            let exact: Vec<f64> = (1..=n)
                .map(|j| 2.0 - 2.0 * (std::f64::consts::PI * j as f64 / (n + 1) as f64).cos())
                .collect();
            for count in [0, 1, n.div_ceil(2), n] {
                let found = lowest(&diagonal, &beside, count);
                assert_eq!(found.len(), count);
                assert!(found.iter().zip(&exact).all(|(found, exact)| (found - exact).abs() < 1e-14));
            }
            assert_eq!(count(&diagonal, &beside, 0.0), 0);
            assert_eq!(count(&diagonal, &beside, 4.0), n);
            assert_eq!(count(&diagonal, &beside, exact[n / 2] + 1e-9), n / 2 + 1);
        }
    }

    #[test]
    fn pivots_of_zero_are_counted_on() {
        // The matrix splits into the eigenvalue 1, and twice the pair -1 and 1.
        let (diagonal, beside) = ([1.0, 0.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 1.0]);
        assert_eq!(count(&diagonal, &beside, 0.0), 2);
        let found = lowest(&diagonal, &beside, 5);
        assert!(
            found.iter().zip([-1.0, -1.0, 1.0, 1.0, 1.0]).all(|(a, b)| (a - b).abs() < 1e-14),
            "{found:?}"
        );
        assert_eq!(count(&[], &[], 1.0), 0);
    }
}
