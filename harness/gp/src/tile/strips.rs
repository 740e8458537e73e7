//! The loop over the entries of a tile, which all work on tiles shares.
//!
//! A few strips of rows at a time are evaluated group by group of columns, in three stages:
//!
//! 1. squared distances, whose sums over the inputs stay in registers;
//! 2. arguments of the correlation, which are square roots but for one family;
//! 3. a [`Step`]: exponentials, and what is done with them.
//!
//! A square root occupies a unit of its own, with AVX-512 for longer than the exponential of a vector takes. So
//! stage 2 of a group runs between the batches of stage 3 of the group before it: its roots overlap with these, and
//! with stage 1 of the next group. In loops of their own, exponentials would wait for roots. Where a processor hardly
//! overlaps roots, `Lanes::sqrt` takes multiply-adds for most of them. Neither changes a bit of a result.

use std::iter::StepBy;
use std::ops::Range;

use pulp::Simd;

use super::distance::Distance;
use super::points::{GROUP, Part};
use crate::kernel::Correlation;
use gpbench_numerics::packed::PAD;
use gpbench_numerics::simd::{Lanes, Real};

/// Calls `$work.columns`, for numbers `$real` in vectors of `$simd_type`, with the shape of the sums that registers
/// hold: NS strips of NV vectors, times NJ columns.
///
/// Processors with vectors as long as a strip have 32 registers. 16 sums of two strips take 10 loads for each input,
/// where two times 8 sums of one strip would take 18, and they keep two multiply-add units busy through their
/// latency. Other processors may have 16 registers, half of which hold sums.
macro_rules! by_registers {
    ($real:ident, $simd_type:ident, $work:expr, $simd:expr) => {
        match $real::STRIP / $real::LANES {
            1 => $work.columns::<$simd_type, 2, 1, 8>($simd),
            2 => $work.columns::<$simd_type, 1, 2, 4>($simd),
            4 => $work.columns::<$simd_type, 1, 4, 2>($simd),
            8 => $work.columns::<$simd_type, 1, 8, 1>($simd),
            _ => $work.columns::<$simd_type, 1, 16, 1>($simd),
        }
    };
}
pub(super) use by_registers;

/// Vectors of correlations that are evaluated together: enough to hide the latency of each, few enough for the
/// registers.
pub(super) const BATCH: usize = 4;

/// The place of a batch in a tile.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    /// Index of the strip in the tile.
    pub(super) strip: usize,
    /// Index of the batch's first vector among those of the strip, column by column.
    pub(super) vector: usize,
}

/// What is done with the entries of a tile. Strips have `NV` vectors.
///
/// The batches of a strip come in the order of columns, and the batches of the same columns in the order of strips.
/// So the order of sums over columns and over rows does not depend on the number of strips evaluated together.
/// Implementations are `inline(always)`.
pub(super) trait Step<S: Simd, E: Lanes<S>, const NV: usize, const NJ: usize> {
    /// Called before the batches of a group of columns, in the `NS` strips from strip `first` on.
    #[inline(always)]
    fn begin<const NS: usize>(&mut self, _simd: S, _first: usize, _group: usize) {}

    /// Replaces arguments of the correlation by the numbers that the tile is to hold.
    fn batch(&mut self, simd: S, place: Place, entries: &mut [E::V; BATCH]);
}

/// Runs `step` on all entries between `rows` and `cols`, points with `d` inputs, and leaves its results in `tile`.
#[inline(always)]
pub(super) fn each_batch<
    S: Simd,
    E: Lanes<S>,
    D: Distance,
    C: Correlation,
    T: Step<S, E, NV, NJ>,
    const NS: usize,
    const NV: usize,
    const NJ: usize,
>(
    simd: S,
    points: (Part<'_, E>, Part<'_, E>),
    d: usize,
    tile: &mut [E],
    step: &mut T,
) {
    let (rows, cols) = points;
    let len = cols.norms.len() * NV;
    let tile = bytemuck::cast_slice_mut::<E, E::V>(tile);
    let (together, rest) = together::<E, NS>(rows.norms.len());
    for first in together {
        let out = &mut tile[first * len..][..NS * len];
        some_strips::<S, E, D, C, T, NS, NV, NJ>(simd, points, d, first, out, step);
    }
    for first in rest {
        let out = &mut tile[first * len..][..len];
        some_strips::<S, E, D, C, T, 1, NV, NJ>(simd, points, d, first, out, step);
    }
}

/// For `rows` rows, padding included: the first strip of each `NS` strips together, and the strips that are left.
#[inline(always)]
pub(super) fn together<E: Real, const NS: usize>(rows: usize) -> (StepBy<Range<usize>>, Range<usize>) {
    let strips = rows / E::STRIP;
    // Where padding leaves no strips, the compiler omits the code for them.
    let whole = if (PAD / E::STRIP).is_multiple_of(NS) { strips } else { strips - strips % NS };
    ((0..whole).step_by(NS), whole..strips)
}

/// The three stages for the `NS` strips from strip `first` on; `out` is their part of the tile.
#[inline(always)]
fn some_strips<
    S: Simd,
    E: Lanes<S>,
    D: Distance,
    C: Correlation,
    T: Step<S, E, NV, NJ>,
    const NS: usize,
    const NV: usize,
    const NJ: usize,
>(
    simd: S,
    (rows, cols): (Part<'_, E>, Part<'_, E>),
    d: usize,
    first: usize,
    out: &mut [E::V],
    step: &mut T,
) {
    let x = vectors::<S, E, NS, NV>(rows.strips, d, first);
    let norms_x = bytemuck::cast_slice::<E, E::V>(rows.norms).as_chunks::<NV>().0;
    let norms_x: &[[E::V; NV]; NS] = norms_x[first..first + NS].try_into().expect("NS strips");
    let norms_z = cols.norms.as_chunks::<GROUP>().0;
    let (len, in_group) = (out.len() / NS, GROUP * NV);
    for group in 0..=norms_z.len() {
        // Stages 1 and 2 are at `group`, stage 3 is one group behind.
        if group < norms_z.len() {
            let z = &cols.groups[group * d..(group + 1) * d];
            for part in 0..GROUP / NJ {
                let mut sums = pair_sums::<S, E, D, NS, NV, NJ>(simd, x, z, part * NJ);
                finish::<S, E, D, NS, NV, NJ>(simd, &mut sums, norms_x, &norms_z[group], part * NJ);
                put::<S, E, NS, NV, NJ>(&sums, out, group * GROUP + part * NJ);
            }
        }
        if group > 0 {
            step.begin::<NS>(simd, first, group - 1);
        }
        let batches = out.as_chunks_mut::<BATCH>().0;
        for batch in 0..in_group / BATCH {
            for strip in 0..NS {
                let at = (strip * len + group * in_group) / BATCH + batch;
                if group < norms_z.len() {
                    batches[at] = C::argument::<S, E, BATCH>(simd, batches[at]);
                }
                if group > 0 {
                    let vector = (group - 1) * in_group + batch * BATCH;
                    let place = Place { strip: first + strip, vector };
                    step.batch(simd, place, &mut batches[at - in_group / BATCH]);
                }
            }
        }
    }
}

/// The `NS` strips from strip `first` on as vectors, for strips of `width` cache lines.
#[inline(always)]
pub(super) fn vectors<S: Simd, E: Lanes<S>, const NS: usize, const NV: usize>(
    strips: &[E::Strip],
    width: usize,
    first: usize,
) -> [&[[E::V; NV]]; NS] {
    let strips = bytemuck::cast_slice::<E::Strip, E::V>(strips).as_chunks::<NV>().0;
    let mut found = [strips; NS];
    for (i, found) in found.iter_mut().enumerate() {
        *found = &strips[(first + i) * width..][..width];
    }
    found
}

/// Sums over coordinates for some strips of rows and `NJ` columns of a group, from column `first` on.
#[inline(always)]
pub(super) fn pair_sums<
    S: Simd,
    E: Lanes<S>,
    D: Distance,
    const NS: usize,
    const NV: usize,
    const NJ: usize,
>(
    simd: S,
    mut x: [&[[E::V; NV]]; NS],
    z: &[[E; GROUP]],
    first: usize,
) -> [[[E::V; NV]; NJ]; NS] {
    assert!(first + NJ <= GROUP, "parts of a group");
    // All slices have the length of z, so that the loop needs no checks.
    for x in &mut x {
        *x = &x[..z.len()];
    }
    let mut sums = [[[E::splat(simd, 0.0); NV]; NJ]; NS];
    for (k, z) in z.iter().enumerate() {
        for j in 0..NJ {
            let z = E::broadcast(simd, z[first + j]);
            for i in 0..NS {
                for v in 0..NV {
                    sums[i][j][v] = D::add::<S, E>(simd, x[i][k][v], z, sums[i][j][v]);
                }
            }
        }
    }
    sums
}

/// Replaces sums of products or of squared differences by squared distances.
#[inline(always)]
fn finish<S: Simd, E: Lanes<S>, D: Distance, const NS: usize, const NV: usize, const NJ: usize>(
    simd: S,
    sums: &mut [[[E::V; NV]; NJ]; NS],
    norms_x: &[[E::V; NV]; NS],
    norms_z: &[E; GROUP],
    first: usize,
) {
    for (sums, norms_x) in sums.iter_mut().zip(norms_x) {
        for (j, sums) in sums.iter_mut().enumerate() {
            let norm_z = E::broadcast(simd, norms_z[first + j]);
            for (sum, &norm_x) in sums.iter_mut().zip(norms_x) {
                *sum = D::finish::<S, E>(simd, *sum, norm_x, norm_z);
            }
        }
    }
}

/// Puts the numbers of `NJ` columns, from column `first` on, into their places in `NS` strips.
#[inline(always)]
pub(super) fn put<S: Simd, E: Lanes<S>, const NS: usize, const NV: usize, const NJ: usize>(
    numbers: &[[[E::V; NV]; NJ]; NS],
    out: &mut [E::V],
    first: usize,
) {
    let width = out.len() / (NS * NV);
    let out = out.as_chunks_mut::<NV>().0.as_chunks_mut::<NJ>().0;
    for (strip, numbers) in numbers.iter().enumerate() {
        out[(strip * width + first) / NJ] = *numbers;
    }
}

#[cfg(test)]
mod tests;
