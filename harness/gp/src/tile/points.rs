//! Inputs in the order in which tiles read them.

use std::ops::Range;
use std::sync::OnceLock;

use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, ShapeBuilder, s};

use crate::threads::Here;
use gpbench_numerics::packed::{PAD, padded};
use gpbench_numerics::simd::Real;
use gpbench_numerics::{Aligned, Pool};

/// Columns of a tile that are evaluated together.
pub(crate) const GROUP: usize = 8;

/// Inputs, centred and divided by the length scales.
#[derive(Debug, Clone)]
pub(crate) struct Points {
    /// n x d, column-major.
    scaled: Array2<f64>,
    double: Packed,
    /// The same in single precision, made when first needed.
    single: OnceLock<Packed>,
}

/// Inputs in two orders: as rows of tiles and as columns of tiles.
#[derive(Debug, Clone)]
struct Packed {
    /// Strips of rows, each input by input.
    strips: Aligned,
    /// Groups of [`GROUP`] columns, each input by input.
    groups: Aligned,
    /// Squared norm of each row.
    norms: Aligned,
}

impl Points {
    pub(crate) fn new(x: ArrayView2<f64>, centre: &Array1<f64>, length_scale: &[f64]) -> Self {
        assert_eq!(x.ncols(), length_scale.len(), "inputs have as many columns as length scales");
        let mut scaled = Array2::zeros(x.dim().f());
        for (k, &length) in length_scale.iter().enumerate() {
            let centre = centre[k];
            scaled.column_mut(k).zip_mut_with(&x.column(k), |to, &from| *to = (from - centre) / length);
        }
        Points::packed(scaled)
    }

    fn packed(scaled: Array2<f64>) -> Self {
        let double = Packed::new::<f64>(&scaled);
        Points { scaled, double, single: OnceLock::new() }
    }

    pub(crate) fn select(&self, rows: &[usize]) -> Self {
        let mut scaled = Array2::zeros((rows.len(), self.d()).f());
        for (mut to, from) in scaled.columns_mut().into_iter().zip(self.scaled.columns()) {
            to.iter_mut().zip(rows).for_each(|(to, &row)| *to = from[row]);
        }
        Points::packed(scaled)
    }

    pub(crate) fn n(&self) -> usize {
        self.scaled.nrows()
    }

    pub(crate) fn d(&self) -> usize {
        self.scaled.ncols()
    }

    /// The scaled inputs, n x d.
    pub(crate) fn scaled(&self) -> &Array2<f64> {
        &self.scaled
    }

    /// Largest squared norm of a row.
    pub(crate) fn largest_norm(&self) -> f64 {
        self.double.norms.numbers::<f64>().iter().copied().fold(0.0, f64::max)
    }
}

/// Consecutive points, as a tile reads them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part<'a, E: Real> {
    pub(crate) strips: &'a [E::Strip],
    pub(crate) groups: &'a [[E; GROUP]],
    pub(crate) norms: &'a [E],
}

impl Points {
    /// The points of `range`, which starts at a multiple of [`PAD`], padded to the next multiple.
    pub(crate) fn part<E: Real>(&self, range: &Range<usize>) -> Part<'_, E> {
        assert_eq!(range.start % PAD, 0, "tiles start at whole strips");
        let packed = if size_of::<E>() == size_of::<f64>() {
            &self.double
        } else {
            self.single.get_or_init(|| Packed::new::<f32>(&self.scaled))
        };
        let (start, end, d) = (range.start, range.start + padded(range.len()), self.d());
        let strips = &packed.strips.numbers::<E>()[start * d..end * d];
        let groups = &packed.groups.numbers::<E>()[start * d..end * d];
        Part {
            strips: bytemuck::cast_slice(strips),
            groups: groups.as_chunks().0,
            norms: &packed.norms.numbers::<E>()[start..end],
        }
    }
}

impl Packed {
    fn new<E: Real>(scaled: &Array2<f64>) -> Self {
        let (n, d) = scaled.dim();
        let rows = padded(n);
        let mut strips = Aligned::zeroed::<E>(rows * d);
        let mut groups = Aligned::zeroed::<E>(rows * d);
        let mut norms = Aligned::zeroed::<E>(rows);
        pack::<E>(scaled, E::STRIP, strips.numbers_mut());
        pack::<E>(scaled, GROUP, groups.numbers_mut());
        // From the rounded numbers, so that the distance of a point to itself is 0.
        let squares =
            |row: ArrayView1<f64>| row.iter().map(|&v| E::from_f64(v).to_f64().powi(2)).sum::<f64>();
        let each = scaled.axis_iter(Axis(0)).map(squares);
        norms.numbers_mut::<E>().iter_mut().zip(each).for_each(|(to, norm)| *to = E::from_f64(norm));
        Packed { strips, groups, norms }
    }
}

/// The factors of a matrix `U W^T + W U^T`, in the order in which tiles read them.
#[derive(Debug)]
pub(crate) struct Factors<'a, E> {
    strips: &'a [E],
    groups: &'a [E],
    s: usize,
}

impl<'a, E: Real> Factors<'a, E> {
    /// Numbers of memory for each of the two packed forms, for n x s matrices U and W.
    pub(crate) fn len(n: usize, s: usize) -> usize {
        padded(n) * 2 * s
    }

    /// Packs `u` and `w`, both n x s, into `strips` and `groups` of [`Factors::len`] numbers each.
    pub(crate) fn new(
        u: ArrayView2<f64>,
        w: ArrayView2<f64>,
        strips: &'a mut [E],
        groups: &'a mut [E],
    ) -> Self {
        assert_eq!(u.dim(), w.dim(), "both factors have the same shape");
        let s = 2 * u.ncols();
        for (out, width, first, second) in [(&mut *strips, E::STRIP, u, w), (&mut *groups, GROUP, w, u)] {
            let columns: Vec<_> = first.columns().into_iter().chain(second.columns()).collect();
            let bundles = out.chunks_exact_mut((width * s).max(1)).enumerate();
            Here.for_each(bundles, |(b, bundle)| pack_bundle(&columns, b * width, width, bundle));
        }
        Factors { strips, groups, s }
    }

    pub(crate) fn s(&self) -> usize {
        self.s
    }

    /// Rows of U and W, of a range that starts at a multiple of [`PAD`].
    pub(crate) fn left(&self, range: &Range<usize>) -> &[E::Strip] {
        bytemuck::cast_slice(&self.strips[range.start * self.s..(range.start + padded(range.len())) * self.s])
    }

    /// Rows of W and U, of such a range.
    pub(crate) fn right(&self, range: &Range<usize>) -> &[[E; GROUP]] {
        self.groups[range.start * self.s..(range.start + padded(range.len())) * self.s].as_chunks().0
    }
}

/// Packs rows in bundles of `width`, each input by input.
fn pack<E: Real>(scaled: &Array2<f64>, width: usize, out: &mut [E]) {
    let columns: Vec<_> = scaled.columns().into_iter().collect();
    let bundles = out.chunks_exact_mut((width * columns.len()).max(1)).enumerate();
    bundles.for_each(|(b, bundle)| pack_bundle(&columns, b * width, width, bundle));
}

/// Packs one bundle, of the rows from `start` on; rows beyond the last are 0.
fn pack_bundle<E: Real>(columns: &[ArrayView1<f64>], start: usize, width: usize, bundle: &mut [E]) {
    for (to, column) in bundle.chunks_exact_mut(width).zip(columns) {
        let rows = start.min(column.len())..column.len().min(start + width);
        let values = column.slice(s![rows]);
        let (to, padding) = to.split_at_mut(values.len());
        to.iter_mut().zip(values).for_each(|(to, &value)| *to = E::from_f64(value));
        padding.fill(E::from_f64(0.0));
    }
}
