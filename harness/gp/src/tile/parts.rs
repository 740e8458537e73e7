//! The work on one tile in parts that can be timed alone, to see which of them bounds its speed.
//!
//! Parts with something left out compute numbers that nobody needs: the differences between their times are what the
//! omitted operations cost beside the others. They are compiled for the Matérn-3/2 family with distances from
//! products of coordinates, in the same loops as all tiles. No division occurs in these.

use std::hint::black_box;
use std::marker::PhantomData;
use std::ops::Range;

use gpbench_numerics::packed::{CountLanes, Layout, TileProduct, padded};
use gpbench_numerics::simd::{self, Lanes, Real, Work};
use gpbench_numerics::{Aligned, Alone};
use gpbench_record::TilePart;
use ndarray::{Array1, Array2, ArrayView2, Axis, ShapeBuilder, s};
use pulp::Simd;

use super::distance::Products;
use super::evaluate::Evaluate;
use super::points::Points;
use super::tile_len;
use crate::kernel::{Correlation, Matern32};
use crate::operator::TILE;
use crate::{Arithmetic, Kernel};

/// One tile with its right-hand sides.
pub trait TileParts: Send {
    /// Rows of the tile, which are as many as its columns.
    fn size(&self) -> usize;

    /// Floating-point operations of a part: 2 d an entry for distances and 2 s for products. Square roots and
    /// correlations do not count.
    fn operations(&self, part: TilePart) -> f64;

    /// Does the work of a part once.
    fn run(&mut self, part: TilePart);
}

/// A tile of the first rows of `x` (n x d), 128 or all if there are fewer, and right-hand sides of which the first rows of
/// `v` (n x s) are used. Of the kernel only its scales count. Numbers are singles for mixed precision.
pub fn tile_parts(
    arithmetic: Arithmetic,
    kernel: &Kernel,
    x: ArrayView2<f64>,
    v: ArrayView2<f64>,
) -> Box<dyn TileParts> {
    match arithmetic {
        Arithmetic::F64 => Box::new(Parts::<f64>::new(kernel, x, v)),
        Arithmetic::Mixed => Box::new(Parts::<f32>::new(kernel, x, v)),
    }
}

/// A tile of numbers `E`.
#[derive(Debug)]
struct Parts<E> {
    points: Points,
    rows: Range<usize>,
    cols: Range<usize>,
    variance: f64,
    v: Array2<f64>,
    layout: Layout,
    packed: Aligned,
    tile: Aligned,
    sums: Aligned,
    numbers: PhantomData<E>,
}

impl<E: Real> TileParts for Parts<E> {
    fn size(&self) -> usize {
        self.rows.len()
    }

    fn operations(&self, part: TilePart) -> f64 {
        let entries = (self.size() * self.size()) as f64;
        let of_distances = 2.0 * entries * self.points.d() as f64;
        let of_product = 2.0 * entries * self.v.ncols() as f64;
        match part {
            TilePart::Entries | TilePart::NoRoot | TilePart::NoExponential | TilePart::Distances => {
                of_distances
            }
            TilePart::Forward | TilePart::Transposed => of_product,
            TilePart::Pack => 0.0,
            TilePart::Peak => 2.0 * (self.peak_steps() * CHAINS * lanes::<E>()) as f64,
        }
    }

    fn run(&mut self, part: TilePart) {
        match part {
            TilePart::Entries => self.evaluate::<Matern32>(),
            TilePart::NoRoot => self.evaluate::<Ablated<false, true>>(),
            TilePart::NoExponential => self.evaluate::<Ablated<true, false>>(),
            TilePart::Distances => self.evaluate::<Ablated<false, false>>(),
            TilePart::Forward | TilePart::Transposed => self.multiply(part == TilePart::Transposed),
            TilePart::Pack => {
                let packed = &mut self.packed.numbers_mut::<E>()[..self.layout.len()];
                self.layout.pack(self.v.view(), packed, &Alone);
            }
            TilePart::Peak => {
                black_box(E::dispatch(simd::arch(), Peak { steps: self.peak_steps() }));
            }
        }
    }
}

impl<E: Real> Parts<E> {
    fn new(kernel: &Kernel, x: ArrayView2<f64>, v: ArrayView2<f64>) -> Self {
        let size = x.nrows().min(TILE);
        // Rows and columns are different points where there are enough.
        let first = if x.nrows() >= 2 * TILE { TILE } else { 0 };
        let x = x.slice(s![..first + size, ..]);
        let centre = x.mean_axis(Axis(0)).unwrap_or_else(|| Array1::zeros(x.ncols()));
        let layout = Layout::new::<E>(size, v.ncols(), TILE);
        // Column-major, as the right-hand sides of products.
        let mut first_rows = Array2::zeros((size, v.ncols()).f());
        first_rows.assign(&v.slice(s![..size, ..]));
        let mut parts = Parts {
            points: Points::new(x, &centre, &kernel.length_scale),
            rows: 0..size,
            cols: first..first + size,
            variance: kernel.variance(),
            v: first_rows,
            layout,
            packed: Aligned::zeroed::<E>(layout.len()),
            tile: Aligned::zeroed::<E>(tile_len(size, size)),
            sums: Aligned::zeroed::<f64>(layout.len()),
            numbers: PhantomData,
        };
        parts.run(TilePart::Pack);
        parts
    }

    fn evaluate<C: Correlation>(&mut self) {
        let work = Evaluate {
            rows: self.points.part::<E>(&self.rows),
            cols: self.points.part::<E>(&self.cols),
            d: self.points.d(),
            variance: self.variance,
            tile: &mut self.tile.numbers_mut::<E>()[..tile_len(self.rows.len(), self.cols.len())],
            how: PhantomData::<(Products, C)>,
        };
        E::dispatch(simd::arch(), work);
    }

    fn multiply(&mut self, transposed: bool) {
        let (rows, cols) = (padded(self.rows.len()), padded(self.cols.len()));
        let tile = &self.tile.numbers::<E>()[..rows * cols];
        let v = &self.packed.numbers::<E>()[..self.layout.len()];
        let out = &mut self.sums.numbers_mut::<f64>()[..self.layout.len()];
        TileProduct { transposed, tile, rows, cols, v, out }.add();
    }

    /// Steps of [`Peak`] for as many multiply-adds as distances and one product take.
    fn peak_steps(&self) -> usize {
        let multiply_adds = self.size() * self.size() * (self.points.d() + self.v.ncols());
        multiply_adds.div_ceil(CHAINS * lanes::<E>())
    }
}

/// Numbers of a vector.
fn lanes<E: Real>() -> usize {
    E::dispatch(simd::arch(), CountLanes)
}

/// [`Matern32`] without its square root or without its correlation.
struct Ablated<const ROOT: bool, const CORRELATION: bool>;

impl<const ROOT: bool, const CORRELATION: bool> Correlation for Ablated<ROOT, CORRELATION> {
    const SPECTRAL_DEGREES_OF_FREEDOM: Option<f64> = Matern32::SPECTRAL_DEGREES_OF_FREEDOM;
    const IS_SMOOTH_AT_ZERO: bool = Matern32::IS_SMOOTH_AT_ZERO;

    #[inline(always)]
    fn argument<S: Simd, E: Lanes<S>, const M: usize>(simd: S, r2: [E::V; M]) -> [E::V; M] {
        if ROOT { Matern32::argument::<S, E, M>(simd, r2) } else { r2 }
    }

    #[inline(always)]
    fn from_argument<S: Simd, E: Lanes<S>, const M: usize>(simd: S, a: [E::V; M]) -> [E::V; M] {
        if CORRELATION { Matern32::from_argument::<S, E, M>(simd, a) } else { a }
    }

    #[inline(always)]
    fn with_slope<S: Simd, E: Lanes<S>, const M: usize>(simd: S, a: [E::V; M]) -> [[E::V; M]; 2] {
        Matern32::with_slope::<S, E, M>(simd, a)
    }

    fn slope(r2: f64) -> f64 {
        Matern32::slope(r2)
    }
}

/// Independent chains of multiply-adds: enough for two units with a latency of four cycles, few enough for sixteen
/// registers.
const CHAINS: usize = 12;

/// Multiply-adds in registers, `steps` in each chain.
struct Peak {
    steps: usize,
}

impl<E: Real> Work<E> for Peak {
    /// The sum of the chains, so that they are computed.
    type Output = f64;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> f64
    where
        E: Lanes<S>,
    {
        let [factor, term] = black_box([0.5, 1.0]);
        let (factor, term) = (E::splat(simd, factor), E::splat(simd, term));
        // The chains begin with different numbers, so that no two of them are the same.
        let mut chains = [factor; CHAINS];
        for (i, chain) in chains.iter_mut().enumerate() {
            *chain = E::splat(simd, black_box(i as f64));
        }
        for _ in 0..self.steps {
            for chain in &mut chains {
                *chain = E::mul_add(simd, factor, *chain, term);
            }
        }
        let mut sums = [0.0; 16];
        for chain in chains {
            E::add_to(simd, chain, &mut sums[..E::LANES]);
        }
        sums.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Family;
    use crate::seed::Streams;
    use crate::tile::position;

    /// A tile of `n` points with 5 right-hand sides.
    fn parts<E: Real>(n: usize) -> (Parts<E>, Array2<f64>, Kernel) {
        let streams = Streams::new(3, &[]);
        let (x, v) = (streams.normals("x", n, 7), streams.normals("v", n, 5));
        let kernel = Kernel::new(Family::Matern32, 1.3, &[2.0], 7);
        (Parts::new(&kernel, x.view(), v.view()), x, kernel)
    }

    /// Largest difference of the tile from a function of the entries and of the squared scaled distances.
    fn worst<E: Real>(n: usize, part: TilePart, expected: impl Fn(f64) -> f64) -> f64 {
        let (mut parts, x, kernel) = parts::<E>(n);
        parts.run(part);
        let (size, first) = (parts.size(), parts.cols.start);
        let entry = |i: usize, j: usize| {
            let differences = &x.row(i) - &x.row(first + j);
            expected(differences.iter().map(|difference| (difference / 2.0).powi(2)).sum())
                * kernel.variance()
        };
        let found = |i, j| parts.tile.numbers::<E>()[position::<E>(padded(size), i, j)].to_f64();
        let entries = (0..size).flat_map(|i| (0..size).map(move |j| (i, j)));
        // The distance of a point to itself is rounding errors.
        let entries = entries.filter(|(i, j)| *i != first + *j);
        entries.map(|(i, j)| (found(i, j) - entry(i, j)).abs()).fold(0.0, f64::max)
    }

    #[test]
    fn parts_leave_out_what_they_say() {
        let correlation = |a: f64| (1.0 + a) * (-a).exp();
        for n in [20, 2 * TILE + 9] {
            assert!(worst::<f64>(n, TilePart::Entries, |r2| correlation((3.0 * r2).sqrt())) < 1e-12);
            assert!(worst::<f64>(n, TilePart::NoRoot, correlation) < 1e-12);
            assert!(worst::<f64>(n, TilePart::NoExponential, |r2| (3.0 * r2).sqrt()) < 1e-12);
            assert!(worst::<f64>(n, TilePart::Distances, |r2| r2) < 1e-12);
            assert!(worst::<f32>(n, TilePart::Entries, |r2| correlation((3.0 * r2).sqrt())) < 2e-5);
        }
    }

    #[test]
    fn every_part_runs_and_counts_its_operations() {
        let (mut parts, ..) = parts::<f32>(40);
        let operations = TilePart::ALL.map(|part| {
            parts.run(part);
            parts.operations(part)
        });
        let entries = 2.0 * 1600.0;
        assert_eq!(operations[..4], [7.0 * entries; 4]);
        assert_eq!(operations[4..7], [5.0 * entries, 5.0 * entries, 0.0]);
        // Whole steps of all chains.
        assert!(operations[7] >= 12.0 * entries && operations[7] < 12.0 * entries + 2.0 * 16.0 * 12.0);
        assert!(parts.sums.numbers::<f64>().iter().any(|sum| *sum != 0.0));
    }
}
