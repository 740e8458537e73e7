//! Products of one tile with packed right-hand sides.
//!
//! A few rows of a tile times a panel of one or two vectors of right-hand sides are summed in registers over all
//! columns of the tile, or over all rows for the transposed product; then the sums are added to the result, which
//! is always `f64`. For a right-hand side that is stored separately, vectors run along a tile's rows.

use pulp::Simd;

use super::layout::{PANEL, separate};
use crate::simd::{Lanes, Real, Work, arch};

/// `out += T v`, or `out += T^T v`, for a tile T in the order of tiles.
#[derive(Debug)]
pub struct TileProduct<'a, E> {
    /// Whether T^T is multiplied.
    pub transposed: bool,
    /// Entries of T.
    pub tile: &'a [E],
    /// Rows of T, padding included.
    pub rows: usize,
    /// Columns of T, padding included.
    pub cols: usize,
    /// The packed block that is multiplied: of `cols` rows, or of `rows` for T^T.
    pub v: &'a [E],
    /// The packed block that the product is added to: of `rows` rows, or of `cols` for T^T.
    pub out: &'a mut [f64],
}

impl<'a, E: Real> TileProduct<'a, E> {
    /// Adds the product, by the instruction set of this process. All crates share its code.
    pub fn add(self) {
        if size_of::<E>() == size_of::<f64>() { add_doubles(self.typed()) } else { add_singles(self.typed()) }
    }

    /// The same for `F`, which is `E` under another name.
    fn typed<F: Real>(self) -> TileProduct<'a, F> {
        let TileProduct { transposed, tile, rows, cols, v, out } = self;
        TileProduct {
            transposed,
            tile: bytemuck::cast_slice(tile),
            rows,
            cols,
            v: bytemuck::cast_slice(v),
            out,
        }
    }
}

fn add_doubles(product: TileProduct<'_, f64>) {
    f64::dispatch(arch(), product);
}

fn add_singles(product: TileProduct<'_, f32>) {
    f32::dispatch(arch(), product);
}

impl<E: Real> Work<E> for TileProduct<'_, E> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S)
    where
        E: Lanes<S>,
    {
        let TileProduct { transposed: is_transposed, tile, rows, cols, v, out } = self;
        let tile = bytemuck::cast_slice::<E, E::Strip>(tile);
        let (inner, outer) = if is_transposed { (rows, cols) } else { (cols, rows) };
        let separate = separate(v.len() / inner, E::LANES);
        let (v, v_separate) = v.split_at(v.len() - inner * separate);
        let (out, out_separate) = out.split_at_mut(out.len() - outer * separate);
        let wide = PANEL * E::LANES;
        for (v, out) in v.chunks(inner * wide).zip(out.chunks_mut(outer * wide)) {
            let v = bytemuck::cast_slice::<E, E::V>(v);
            let whole_register = E::STRIP == E::LANES;
            match (is_transposed, v.len() / inner, whole_register) {
                (false, 2, false) => forward::<S, E, 2, 4>(simd, tile, cols, v, out),
                (false, 2, true) => forward::<S, E, 2, 8>(simd, tile, cols, v, out),
                (false, ..) => forward::<S, E, 1, 8>(simd, tile, cols, v, out),
                (true, 2, false) => transposed::<S, E, 2, 4>(simd, tile, cols, v, out),
                (true, 2, true) => transposed::<S, E, 2, 8>(simd, tile, cols, v, out),
                (true, ..) => transposed::<S, E, 1, 8>(simd, tile, cols, v, out),
            }
        }
        for (v, out) in v_separate.chunks(inner).zip(out_separate.chunks_mut(outer)) {
            if is_transposed {
                transposed_separate(simd, tile, cols, v, out);
            } else {
                forward_separate(simd, tile, cols, v, out);
            }
        }
    }
}

/// One panel of `NV` vectors, `MR` rows of the tile at a time.
#[inline(always)]
fn forward<S: Simd, E: Lanes<S>, const NV: usize, const MR: usize>(
    simd: S,
    tile: &[E::Strip],
    cols: usize,
    v: &[E::V],
    out: &mut [f64],
) {
    let (v, _) = v.as_chunks::<NV>();
    let strips = tile.chunks_exact(cols).zip(out.chunks_exact_mut(E::STRIP * NV * E::LANES));
    for (strip, out) in strips {
        for (part, out) in out.chunks_exact_mut(MR * NV * E::LANES).enumerate() {
            let first = part * MR;
            assert!(first + MR <= E::STRIP, "parts of a strip");
            let mut sums = [[E::splat(simd, 0.0); NV]; MR];
            for (entries, v) in strip.iter().zip(v) {
                for (r, sums) in sums.iter_mut().enumerate() {
                    let entry = E::broadcast(simd, entries[first + r]);
                    for (sum, &v) in sums.iter_mut().zip(v) {
                        *sum = E::mul_add(simd, entry, v, *sum);
                    }
                }
            }
            add_sums::<S, E, NV, MR>(simd, &sums, out);
        }
    }
}

/// One panel of `NV` vectors, `MR` columns of the tile at a time.
#[inline(always)]
fn transposed<S: Simd, E: Lanes<S>, const NV: usize, const MR: usize>(
    simd: S,
    tile: &[E::Strip],
    cols: usize,
    v: &[E::V],
    out: &mut [f64],
) {
    let (v, _) = v.as_chunks::<NV>();
    for (part, out) in out.chunks_exact_mut(MR * NV * E::LANES).enumerate() {
        let first = part * MR;
        let mut sums = [[E::splat(simd, 0.0); NV]; MR];
        for (strip, v) in tile.chunks_exact(cols).zip(v.chunks_exact(E::STRIP)) {
            let columns: &[E::Strip; MR] = strip[first..first + MR].try_into().expect("MR columns");
            for (r, v) in v.iter().enumerate() {
                for (column, sums) in columns.iter().zip(&mut sums) {
                    let entry = E::broadcast(simd, column[r]);
                    for (sum, &v) in sums.iter_mut().zip(v) {
                        *sum = E::mul_add(simd, entry, v, *sum);
                    }
                }
            }
        }
        add_sums::<S, E, NV, MR>(simd, &sums, out);
    }
}

/// Vectors of sums for one right-hand side: as many as keep both multiply-add units busy.
const SUMS: usize = 8;

/// One separate right-hand side: vectors along the rows of a strip, a few columns at a time.
#[inline(always)]
fn forward_separate<S: Simd, E: Lanes<S>>(simd: S, tile: &[E::Strip], cols: usize, v: &[E], out: &mut [f64]) {
    let vectors = E::STRIP / E::LANES;
    for (strip, out) in tile.chunks_exact(cols).zip(out.chunks_exact_mut(E::STRIP)) {
        let mut sums = [E::splat(simd, 0.0); SUMS];
        for (columns, v) in strip.chunks_exact(SUMS / vectors).zip(v.chunks_exact(SUMS / vectors)) {
            let columns = bytemuck::cast_slice::<E::Strip, E::V>(columns);
            for (i, (sum, &entries)) in sums.iter_mut().zip(columns).enumerate() {
                *sum = E::mul_add(simd, entries, E::broadcast(simd, v[i / vectors]), *sum);
            }
        }
        for (i, sum) in sums.into_iter().enumerate() {
            E::add_to(simd, sum, &mut out[i % vectors * E::LANES..][..E::LANES]);
        }
    }
}

/// One separate right-hand side: vectors along the rows of a strip, one sum for each of a few columns.
#[inline(always)]
fn transposed_separate<S: Simd, E: Lanes<S>>(
    simd: S,
    tile: &[E::Strip],
    cols: usize,
    v: &[E],
    out: &mut [f64],
) {
    let v = bytemuck::cast_slice::<E, E::V>(v);
    for (part, out) in out.chunks_exact_mut(SUMS).enumerate() {
        let first = part * SUMS;
        let mut sums = [E::splat(simd, 0.0); SUMS];
        for (strip, v) in tile.chunks_exact(cols).zip(v.chunks_exact(E::STRIP / E::LANES)) {
            for (column, sum) in strip[first..first + SUMS].iter().zip(&mut sums) {
                let column = bytemuck::cast_slice::<E::Strip, E::V>(std::slice::from_ref(column));
                for (&entries, &v) in column.iter().zip(v) {
                    *sum = E::mul_add(simd, entries, v, *sum);
                }
            }
        }
        for (sum, out) in sums.iter().zip(out) {
            let parts = bytemuck::cast_slice::<E::V, E>(std::slice::from_ref(sum));
            *out += parts.iter().map(|part| part.to_f64()).sum::<f64>();
        }
    }
}

#[inline(always)]
fn add_sums<S: Simd, E: Lanes<S>, const NV: usize, const MR: usize>(
    simd: S,
    sums: &[[E::V; NV]; MR],
    out: &mut [f64],
) {
    for (sums, out) in sums.iter().zip(out.chunks_exact_mut(NV * E::LANES)) {
        for (sum, out) in sums.iter().zip(out.chunks_exact_mut(E::LANES)) {
            E::add_to(simd, *sum, out);
        }
    }
}
