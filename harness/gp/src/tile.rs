//! Dense tiles of a kernel matrix: where all entries are evaluated.
//!
//! Squared distances come either from products, `|x|^2 + |z|^2 - 2 x.z`, which
//! BLAS does at full speed but which lose about `eps |x|^2`, or from direct
//! differences. Differences are taken where they cost little (few inputs), where
//! the loss would show (a Matérn-1/2 correlation is `1 - r` near 0, so an error
//! `e` in `r^2` becomes `sqrt(e)`; tight clusters far apart beside little noise),
//! and where a factorisation asks for them.

use std::ops::Range;

use ndarray::linalg::general_mat_mul;
use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2, Axis, ShapeBuilder, s};

use crate::vector;
use crate::{Family, Kernel};

/// Up to this many inputs direct differences are as fast as a product.
const FEW_INPUTS: usize = 6;
/// Share of the noise variance that the loss of products may come to. Beyond it,
/// rows that nearly coincide would see noise that is not there.
const LOSS: f64 = 1e-4;
/// Rows whose squared distances are summed together in registers.
const LANES: usize = 32;

/// Inputs, centred and divided by the length scales.
#[derive(Debug, Clone)]
pub(crate) struct Points {
    /// n x d, column-major, so that one input of consecutive rows is contiguous.
    scaled: Array2<f64>,
    /// Squared norm of each row of `scaled`.
    norms: Vec<f64>,
}

impl Points {
    pub(crate) fn new(x: ArrayView2<f64>, centre: &Array1<f64>, length_scale: &[f64]) -> Self {
        assert_eq!(x.ncols(), length_scale.len(), "inputs have as many columns as length scales");
        let mut scaled = Array2::zeros(x.dim().f());
        for (k, &length) in length_scale.iter().enumerate() {
            let centre = centre[k];
            scaled.column_mut(k).zip_mut_with(&x.column(k), |to, &from| *to = (from - centre) / length);
        }
        let norms = scaled.map_axis(Axis(1), |row| row.iter().map(|v| v * v).sum()).to_vec();
        Points { scaled, norms }
    }

    pub(crate) fn select(&self, rows: &[usize]) -> Self {
        let mut scaled = Array2::zeros((rows.len(), self.scaled.ncols()).f());
        for (mut to, from) in scaled.columns_mut().into_iter().zip(self.scaled.columns()) {
            to.iter_mut().zip(rows).for_each(|(to, &row)| *to = from[row]);
        }
        let norms = rows.iter().map(|&row| self.norms[row]).collect();
        Points { scaled, norms }
    }

    pub(crate) fn n(&self) -> usize {
        self.scaled.nrows()
    }

    /// Largest squared norm of a row.
    pub(crate) fn largest_norm(&self) -> f64 {
        self.norms.iter().copied().fold(0.0, f64::max)
    }
}

/// Which training row each point is: an entry where a row meets itself is set,
/// not computed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Identity<'a> {
    /// Point `i` is training row `i`.
    Training,
    /// Point `i` is training row `rows[i]`.
    Selected(&'a [usize]),
    /// No point is a training row.
    Foreign,
}

/// A set of points and who they are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Side<'a> {
    pub(crate) points: &'a Points,
    pub(crate) identity: Identity<'a>,
}

/// How squared distances are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Distances {
    Products,
    Differences,
}

/// Evaluates tiles of `s^2 k`, with another value where a row meets itself.
#[derive(Debug, Clone)]
pub(crate) struct Tiles {
    family: Family,
    variance: f64,
    /// Entry where a training row meets itself: `s^2 + noise^2`.
    diagonal: f64,
    distances: Distances,
}

impl Tiles {
    /// Tiles of H in the fastest accurate way, for points of squared norms up to `largest_norm`.
    pub(crate) fn new(kernel: &Kernel, noise_scale: f64, largest_norm: f64) -> Self {
        let (variance, noise) = (kernel.variance(), noise_scale * noise_scale);
        let accurate = f64::EPSILON * largest_norm * variance <= LOSS * noise;
        let products = kernel.d() > FEW_INPUTS && kernel.family != Family::Matern12 && accurate;
        let distances = if products { Distances::Products } else { Distances::Differences };
        Tiles { family: kernel.family, variance, diagonal: variance + noise, distances }
    }

    /// Tiles of H from direct differences, whatever the family.
    pub(crate) fn accurate(kernel: &Kernel, noise_scale: f64) -> Self {
        Tiles { distances: Distances::Differences, ..Tiles::new(kernel, noise_scale, 0.0) }
    }

    pub(crate) fn diagonal(&self) -> f64 {
        self.diagonal
    }

    /// `out = H[rows of a, cols of b]`; `out` has contiguous columns.
    pub(crate) fn evaluate(
        &self,
        a: Side<'_>,
        rows: Range<usize>,
        b: Side<'_>,
        cols: Range<usize>,
        mut out: ArrayViewMut2<f64>,
    ) {
        assert_eq!(out.dim(), (rows.len(), cols.len()), "the tile has the shape of its ranges");
        let points_a = a.points.scaled.slice(s![rows.clone(), ..]);
        let points_b = b.points.scaled.slice(s![cols.clone(), ..]);
        match self.distances {
            Distances::Products => {
                general_mat_mul(1.0, &points_a, &points_b.t(), 0.0, &mut out);
                let norms_a = &a.points.norms[rows.clone()];
                let norms_b = &b.points.norms[cols.clone()];
                self.correlate(out.view_mut(), Products { norms_a, norms_b });
            }
            Distances::Differences => {
                let inputs = points_a.columns().into_iter().map(contiguous).collect();
                let others = points_b.as_standard_layout();
                let others = others.as_slice().expect("a standard layout is one slice");
                self.correlate(out.view_mut(), Differences { inputs, others });
            }
        }
        for (i, j) in coincidences(a.identity, rows, b.identity, cols) {
            out[(i, j)] = self.diagonal;
        }
    }

    /// Squared distances, then covariances in their place.
    fn correlate(&self, out: ArrayViewMut2<f64>, distance: impl SquaredDistance) {
        let (arch, variance) = (pulp::Arch::new(), self.variance);
        match self.family {
            Family::Rbf => arch.dispatch(Correlate { out, variance, distance, correlation: vector::rbf }),
            Family::Matern12 => {
                arch.dispatch(Correlate { out, variance, distance, correlation: vector::matern12 })
            }
            Family::Matern32 => {
                arch.dispatch(Correlate { out, variance, distance, correlation: vector::matern32 })
            }
            Family::Matern52 => {
                arch.dispatch(Correlate { out, variance, distance, correlation: vector::matern52 })
            }
        }
    }
}

/// The work on one tile, compiled once for each instruction set. Everything that
/// it calls is `inline(always)`: a function of its own would be compiled for the
/// oldest processor.
struct Correlate<'a, D, C> {
    out: ArrayViewMut2<'a, f64>,
    variance: f64,
    distance: D,
    correlation: C,
}

impl<D: SquaredDistance, C: Fn(f64) -> f64> pulp::WithSimd for Correlate<'_, D, C> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        let Correlate { mut out, variance, distance, correlation } = self;
        for (j, column) in out.axis_iter_mut(Axis(1)).enumerate() {
            let column = column.into_slice().expect("tiles have contiguous columns");
            distance.column(j, column);
            for value in column {
                *value = variance * correlation(*value);
            }
        }
    }
}

/// Squared distances of one column of a tile.
trait SquaredDistance {
    /// Fills column `j`, which holds products of inputs where they are wanted.
    fn column(&self, j: usize, column: &mut [f64]);
}

/// `|x|^2 + |z|^2 - 2 x.z`, at least 0, in place of `x.z`.
struct Products<'a> {
    norms_a: &'a [f64],
    norms_b: &'a [f64],
}

impl SquaredDistance for Products<'_> {
    #[inline(always)]
    fn column(&self, j: usize, column: &mut [f64]) {
        let norm_b = self.norms_b[j];
        for (value, norm_a) in column.iter_mut().zip(self.norms_a) {
            let r2 = (norm_a + norm_b) - 2.0 * *value;
            // Not `max`, which would turn NaN into 0.
            *value = if r2 < 0.0 { 0.0 } else { r2 };
        }
    }
}

/// `sum_k (x_k - z_k)^2`.
struct Differences<'a> {
    /// Each input of the tile's rows.
    inputs: Vec<&'a [f64]>,
    /// The points of the tile's columns, one after the other.
    others: &'a [f64],
}

impl SquaredDistance for Differences<'_> {
    #[inline(always)]
    fn column(&self, j: usize, column: &mut [f64]) {
        let d = self.inputs.len();
        let other = &self.others[j * d..(j + 1) * d];
        let (chunks, rest) = column.as_chunks_mut::<LANES>();
        let whole = chunks.len() * LANES;
        for (c, chunk) in chunks.iter_mut().enumerate() {
            let mut sum = [0.0; LANES];
            for (input, z) in self.inputs.iter().zip(other) {
                let lanes = &input[c * LANES..(c + 1) * LANES];
                for (sum, x) in sum.iter_mut().zip(lanes) {
                    *sum += (x - z) * (x - z);
                }
            }
            *chunk = sum;
        }
        rest.fill(0.0);
        for (input, z) in self.inputs.iter().zip(other) {
            for (sum, x) in rest.iter_mut().zip(&input[whole..]) {
                *sum += (x - z) * (x - z);
            }
        }
    }
}

fn contiguous<'a>(column: ndarray::ArrayView1<'a, f64>) -> &'a [f64] {
    column.to_slice().expect("scaled inputs are column-major")
}

/// Positions inside a tile where a training row meets itself.
fn coincidences(
    a: Identity<'_>,
    rows: Range<usize>,
    b: Identity<'_>,
    cols: Range<usize>,
) -> Vec<(usize, usize)> {
    match (a, b) {
        (Identity::Foreign, _) | (_, Identity::Foreign) => Vec::new(),
        (Identity::Training, Identity::Training) => {
            let (start, end) = (rows.start.max(cols.start), rows.end.min(cols.end));
            (start..end).map(|row| (row - rows.start, row - cols.start)).collect()
        }
        (Identity::Training, Identity::Selected(list)) => {
            let inside = list[cols].iter().enumerate().filter(|(_, row)| rows.contains(row));
            inside.map(|(j, row)| (row - rows.start, j)).collect()
        }
        (Identity::Selected(_), Identity::Training) => {
            coincidences(b, cols, a, rows).into_iter().map(|(j, i)| (i, j)).collect()
        }
        (Identity::Selected(left), Identity::Selected(right)) => {
            let mut found = Vec::new();
            for (i, row) in left[rows].iter().enumerate() {
                let matches = right[cols.clone()].iter().enumerate().filter(|(_, other)| *other == row);
                found.extend(matches.map(|(j, _)| (i, j)));
            }
            found
        }
    }
}
