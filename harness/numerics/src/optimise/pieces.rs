//! A step of an optimiser in pieces that threads compute. The step of a parameter does not depend on the others, so
//! the division into pieces does not change results.

use crate::Pool;
use crate::simd::arch;

/// Number of parameters in a piece.
const PIECE: usize = 1 << 16;

/// Calls `work` with pieces of the parameters, of their derivatives and of the two averages that an optimiser keeps.
///
/// # Panics
/// If the lengths differ.
pub fn in_pieces(
    parameters: &mut [f64],
    gradient: &[f64],
    averages: (&mut [f64], &mut [f64]),
    pool: impl Pool,
    work: impl Fn(&mut [f64], &[f64], (&mut [f64], &mut [f64])) + Sync,
) {
    let size = averages.0.len();
    assert_eq!((parameters.len(), gradient.len()), (size, size), "one derivative a parameter");
    let averages = averages.0.chunks_mut(PIECE).zip(averages.1.chunks_mut(PIECE));
    let pieces = parameters.chunks_mut(PIECE).zip(gradient.chunks(PIECE)).zip(averages);
    pool.for_each(pieces, |((parameters, gradient), averages)| {
        arch().dispatch(|| work(parameters, gradient, averages));
    });
}
