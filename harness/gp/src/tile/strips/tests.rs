//! Tiles against the same operations on one vector after the other, bit by bit, for vectors of every width.

use std::marker::PhantomData;
use std::ops::Range;

use bytemuck::Pod;
use gpbench_numerics::Aligned;
use gpbench_numerics::simd::{self, Lanes, Real, Work};
use ndarray::Array1;
use pulp::{Arch, Simd};

use super::BATCH;
use crate::kernel::{Correlation, Matern12, Matern32};
use crate::seed::Streams;
use crate::tile::distance::{Differences, Distance, Products};
use crate::tile::evaluate::Evaluate;
use crate::tile::points::{Factors, GROUP, Part, Points};
use crate::tile::sampled::Add;
use crate::tile::waves::Angles;
use crate::tile::weigh::Weigh;
use gpbench_numerics::packed::padded;

/// Rows and columns of the tile, which need padding. In single precision the strips of rows are odd in number.
const ROWS: Range<usize> = 0..37;
const COLS: Range<usize> = 64..115;
const VARIANCE: f64 = 1.7;
/// Columns of both factors of the weights together.
const FACTORS: usize = 6;
/// Distinct columns of weights of samples.
const SAMPLES: usize = 3;

/// Compares all work on a tile with [`Plain`].
struct Compare<'a, E: Real, D, C> {
    points: &'a Points,
    factors: &'a Factors<'a, E>,
    /// Weights of samples, and the sample of each column.
    samples: &'a [E],
    of: &'a [usize],
    how: PhantomData<(D, C)>,
}

/// Numbers in the order of tiles, evaluated one vector after the other.
struct Plain<V> {
    inner_products: Vec<V>,
    arguments: Vec<V>,
    /// Entries of G.
    weights: Vec<V>,
    columns: usize,
    /// Vectors of a strip.
    vectors: usize,
}

impl<V> Plain<V> {
    /// Strip, column and vector of entry `at`.
    fn place(&self, at: usize) -> (usize, usize, usize) {
        let (column, v) = (at / self.vectors, at % self.vectors);
        (column / self.columns, column % self.columns, v)
    }
}

/// Sums over `d` coordinates, in the order of tiles.
#[inline(always)]
fn sums<S: Simd, E: Lanes<S>, D: Distance>(
    simd: S,
    strips: &[E::Strip],
    groups: &[[E; GROUP]],
    d: usize,
) -> Vec<E::V> {
    let vectors = E::STRIP / E::LANES;
    let mut out = Vec::new();
    for x in bytemuck::cast_slice::<E::Strip, E::V>(strips).chunks_exact(d * vectors) {
        for column in 0..groups.len() / d * GROUP {
            for v in 0..vectors {
                let mut sum = E::splat(simd, 0.0);
                for k in 0..d {
                    let z = E::broadcast(simd, groups[column / GROUP * d + k][column % GROUP]);
                    sum = D::add::<S, E>(simd, x[k * vectors + v], z, sum);
                }
                out.push(sum);
            }
        }
    }
    out
}

fn assert_same<A: Pod, B: Pod>(found: &[A], expected: &[B], what: &str) {
    let [found, expected] = [bytemuck::cast_slice::<A, u8>(found), bytemuck::cast_slice::<B, u8>(expected)];
    assert!(found == expected, "{what}: other bits");
}

/// `len` numbers, all of them `value`.
fn filled<E: Real>(len: usize, value: f64) -> Aligned {
    let mut memory = Aligned::zeroed::<E>(len);
    memory.numbers_mut::<E>().fill(E::from_f64(value));
    memory
}

impl<E: Real, D: Distance, C: Correlation> Work<E> for Compare<'_, E, D, C> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S)
    where
        E: Lanes<S>,
    {
        let plain = self.plain(simd);
        self.entries(simd, &plain);
        self.weighed(simd, &plain);
        self.sampled(simd, &plain);
    }
}

impl<E: Real, D: Distance, C: Correlation> Compare<'_, E, D, C> {
    fn sides(&self) -> (Part<'_, E>, Part<'_, E>) {
        (self.points.part(&ROWS), self.points.part(&COLS))
    }

    #[inline(always)]
    fn plain<S: Simd>(&self, simd: S) -> Plain<E::V>
    where
        E: Lanes<S>,
    {
        let (rows, cols) = self.sides();
        let d = self.points.d();
        let mut plain = Plain {
            inner_products: sums::<S, E, Products>(simd, rows.strips, cols.groups, d),
            arguments: sums::<S, E, D>(simd, rows.strips, cols.groups, d),
            weights: sums::<S, E, Products>(
                simd,
                self.factors.left(&ROWS),
                self.factors.right(&COLS),
                self.factors.s(),
            ),
            columns: cols.norms.len(),
            vectors: E::STRIP / E::LANES,
        };
        let norms = bytemuck::cast_slice::<E, E::V>(rows.norms);
        for at in 0..plain.arguments.len() {
            let (strip, column, v) = plain.place(at);
            let (norm_x, norm_z) = (norms[strip * plain.vectors + v], E::broadcast(simd, cols.norms[column]));
            let r2 = D::finish::<S, E>(simd, plain.arguments[at], norm_x, norm_z);
            [plain.arguments[at]] = C::argument::<S, E, 1>(simd, [r2]);
        }
        plain
    }

    #[inline(always)]
    fn entries<S: Simd>(&self, simd: S, plain: &Plain<E::V>)
    where
        E: Lanes<S>,
    {
        let (rows, cols) = self.sides();
        let d = self.points.d();
        let len = rows.norms.len() * cols.norms.len();
        let mut tile = filled::<E>(len, f64::NAN);
        let tile = &mut tile.numbers_mut::<E>()[..len];
        let how = PhantomData::<(D, C)>;
        Evaluate { rows, cols, d, variance: VARIANCE, tile: &mut *tile, how }.run(simd);
        let mut expected = plain.arguments.clone();
        for entry in &mut expected {
            let [k] = C::from_argument::<S, E, 1>(simd, [*entry]);
            *entry = E::mul(simd, E::splat(simd, VARIANCE), k);
        }
        assert_same(tile, &expected, "entries");
        Angles { rows, cols, d, tile: &mut *tile }.run(simd);
        assert_same(tile, &plain.inner_products, "inner products");
    }

    #[inline(always)]
    fn weighed<S: Simd>(&self, simd: S, plain: &Plain<E::V>)
    where
        E: Lanes<S>,
    {
        let (rows, cols) = self.sides();
        let (height, width) = (rows.norms.len(), cols.norms.len());
        let mut tile = filled::<E>(height * width, f64::NAN);
        let (mut row_sums, mut column_sums) = (filled::<E>(height, 0.5), filled::<E>(width * E::LANES, 0.0));
        let tile = &mut tile.numbers_mut::<E>()[..height * width];
        let row_sums = &mut row_sums.numbers_mut::<E>()[..height];
        let column_sums = &mut column_sums.numbers_mut::<E>()[..width * E::LANES];
        let work = Weigh {
            rows,
            cols,
            d: self.points.d(),
            left: self.factors.left(&ROWS),
            right: self.factors.right(&COLS),
            s: self.factors.s(),
            tile: &mut *tile,
            row_sums: &mut *row_sums,
            column_sums: &mut *column_sums,
            how: PhantomData::<(D, C)>,
        };
        let total = work.run(simd);
        let zero = E::splat(simd, 0.0);
        let mut m = plain.weights.clone();
        let mut of_rows = vec![E::splat(simd, 0.5); height / E::LANES];
        let mut of_columns = vec![zero; width];
        let mut totals = vec![zero; height / E::STRIP * BATCH];
        for (at, m) in m.iter_mut().enumerate() {
            let (strip, column, v) = plain.place(at);
            let [[k], [slope]] = C::with_slope::<S, E, 1>(simd, [plain.arguments[at]]);
            let total = &mut totals[strip * BATCH + at % BATCH];
            *total = E::mul_add(simd, *m, k, *total);
            *m = E::mul(simd, *m, slope);
            let row = &mut of_rows[strip * plain.vectors + v];
            *row = E::add(simd, *row, *m);
            of_columns[column] = E::add(simd, of_columns[column], *m);
        }
        let of_vector = |sum: &[E]| sum.iter().map(|part| part.to_f64()).sum::<f64>();
        let totals = bytemuck::cast_slice::<E::V, E>(&totals).chunks_exact(E::LANES);
        let expected = totals.map(of_vector).sum::<f64>();
        assert_same(tile, &m, "M");
        assert_same(row_sums, &of_rows, "row sums");
        assert_same(column_sums, &of_columns, "column sums");
        assert_same(&[total], &[expected], "total");
    }

    #[inline(always)]
    fn sampled<S: Simd>(&self, simd: S, plain: &Plain<E::V>)
    where
        E: Lanes<S>,
    {
        let (rows, cols) = self.sides();
        let (height, width) = (rows.norms.len(), cols.norms.len());
        let (mut tile, len) = (filled::<E>(height * width, f64::NAN), width * E::LANES);
        let [mut values, mut slopes] = [0.5, -1.5].map(|start| filled::<E>(len, start));
        let tile = &mut tile.numbers_mut::<E>()[..height * width];
        let (values, slopes) = (&mut values.numbers_mut::<E>()[..len], &mut slopes.numbers_mut::<E>()[..len]);
        let work = Add {
            rows,
            cols,
            d: self.points.d(),
            weights: self.samples,
            of: self.of,
            tile: &mut *tile,
            values: &mut *values,
            slopes: &mut *slopes,
            how: PhantomData::<(D, C)>,
        };
        work.run(simd);
        let weights = bytemuck::cast_slice::<E, E::V>(self.samples);
        let mut entries = plain.arguments.clone();
        let [mut of_values, mut of_slopes] = [0.5, -1.5].map(|start| vec![E::splat(simd, start); width]);
        for (at, entry) in entries.iter_mut().enumerate() {
            let (strip, column, v) = plain.place(at);
            let weight = weights[self.of[column] * (height / E::LANES) + strip * plain.vectors + v];
            let [[k], [slope]] = C::with_slope::<S, E, 1>(simd, [*entry]);
            *entry = E::mul(simd, weight, slope);
            of_values[column] = E::mul_add(simd, weight, k, of_values[column]);
            of_slopes[column] = E::add(simd, of_slopes[column], *entry);
        }
        assert_same(tile, &entries, "weights of gradients");
        assert_same(values, &of_values, "values");
        assert_same(slopes, &of_slopes, "slopes");
    }
}

/// Runs the work with this machine's vectors, without vectors, and with every width of processors.
fn every_way<E: Real, W: Work<E, Output = ()>>(work: impl Fn() -> W) {
    E::dispatch(simd::arch(), work());
    E::dispatch(Arch::Scalar, work());
    #[cfg(target_arch = "x86_64")]
    if let Some(avx2) = pulp::x86::V3::try_new() {
        E::dispatch(Arch::V3(avx2), work());
    }
    for doubles in [2, 4, 8] {
        E::emulate(doubles, work());
    }
}

fn check<E: Real, D: Distance, C: Correlation>(d: usize) {
    let normals = |name, n, columns| Streams::new(8, &[]).normals(name, n, columns);
    let x = normals("x", COLS.end, d);
    let points = Points::new(x.view(), &Array1::zeros(d), &vec![1.3; d]);
    let (u, w) = (normals("u", COLS.end, FACTORS / 2), normals("w", COLS.end, FACTORS / 2));
    let len = Factors::<E>::len(COLS.end, FACTORS / 2);
    let (mut strips, mut groups) = (Aligned::zeroed::<E>(len), Aligned::zeroed::<E>(len));
    let (strips, groups) = (&mut strips.numbers_mut()[..len], &mut groups.numbers_mut()[..len]);
    let factors = Factors::<E>::new(u.view(), w.view(), strips, groups);
    let height = padded(ROWS.len());
    let mut samples = Aligned::zeroed::<E>(SAMPLES * height);
    let samples = &mut samples.numbers_mut::<E>()[..SAMPLES * height];
    samples.iter_mut().zip(&normals("v", SAMPLES * height, 1)).for_each(|(to, &v)| *to = E::from_f64(v));
    let of: Vec<usize> = (0..padded(COLS.len())).map(|column| column % SAMPLES).collect();
    every_way::<E, _>(|| Compare {
        points: &points,
        factors: &factors,
        samples: &*samples,
        of: &of,
        how: PhantomData::<(D, C)>,
    });
}

#[test]
fn tiles_have_the_bits_of_one_vector_after_the_other() {
    for d in [1, 2, 9] {
        check::<f64, Products, Matern32>(d);
        check::<f32, Products, Matern32>(d);
        check::<f64, Differences, Matern12>(d);
        check::<f32, Differences, Matern12>(d);
    }
}
