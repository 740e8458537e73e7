//! Tiles and their products against plain sums, for vectors of every width.

use ndarray::{Array1, Array2, ShapeBuilder};

use super::*;
use crate::seed::Streams;
use crate::threads::Here;
use gpbench_numerics::Aligned;
use gpbench_numerics::packed::{Layout, TileProduct};

/// Rows and columns of a tile that need padding.
const ROWS: usize = 37;
const COLS: usize = 51;

fn normal(name: &str, n: usize, d: usize) -> Array2<f64> {
    Streams::new(5, &[]).normals(name, n, d)
}

/// The tile of two sets of points, as a matrix.
fn tile<E: Real>(kernel: &Kernel, tiles: &Tiles, x: &Array2<f64>, z: &Array2<f64>) -> Array2<f64> {
    let centre = Array1::zeros(x.ncols());
    let points = [x, z].map(|x| Points::new(x.view(), &centre, &kernel.length_scale));
    let [a, b] = [&points[0], &points[1]].map(|points| Side { points, identity: Identity::Foreign });
    let mut tile = Aligned::zeroed::<E>(tile_len(ROWS, COLS));
    tiles.evaluate::<E>(a, &(0..ROWS), b, &(0..COLS), tile.numbers_mut());
    let width = padded(COLS);
    Array2::from_shape_fn((ROWS, COLS), |(i, j)| tile.numbers::<E>()[position::<E>(width, i, j)].to_f64())
}

#[test]
fn entries_are_those_of_the_plain_definition() {
    for d in [1, 3, 7, 26] {
        let (x, z) = (normal("x", ROWS, d), normal("z", COLS, d));
        for family in Family::ALL {
            let kernel = Kernel::new(family, 1.7, &[0.8 * (d as f64).sqrt()], d);
            let expected = kernel.matrix(x.view(), z.view());
            let worst = |found: Array2<f64>| (found - &expected).iter().fold(0.0, |w: f64, e| w.max(e.abs()));
            let tiles = Tiles::new(&kernel, 0.1, 10.0);
            let (double, single) =
                (tile::<f64>(&kernel, &tiles, &x, &z), tile::<f32>(&kernel, &tiles, &x, &z));
            assert!(worst(double) < 3e-14, "{family} in {d} inputs");
            assert!(worst(single) < 1e-5, "{family} in {d} inputs, single precision");
        }
    }
}

/// `T v` and `T^T u` by a tile of numbers `E`, with vectors of this number of doubles.
fn products<E: Real>(doubles: usize, t: &Array2<f64>, v: &Array2<f64>, u: &Array2<f64>) -> [Array2<f64>; 2] {
    let (rows, cols) = (padded(ROWS), padded(COLS));
    let mut tile = Aligned::zeroed::<E>(rows * cols);
    for ((i, j), &entry) in t.indexed_iter() {
        tile.numbers_mut::<E>()[position::<E>(cols, i, j)] = E::from_f64(entry);
    }
    let tile = &tile.numbers::<E>()[..rows * cols];
    let lanes = doubles * size_of::<f64>() / size_of::<E>();
    let layout = |n| Layout::with_lanes(n, v.ncols(), 64, lanes);
    let (of_v, of_u) = (layout(COLS), layout(ROWS));
    let columns = v.ncols();
    // Numbers are packed into memory that is not 0, as in a product.
    let packed = |layout: Layout, columns: &Array2<f64>| {
        let mut packed = Aligned::zeroed::<E>(layout.len());
        packed.numbers_mut::<E>().fill(E::from_f64(f64::NAN));
        layout.pack(columns.view(), &mut packed.numbers_mut::<E>()[..layout.len()], &Here);
        packed
    };
    let (v, u) = (packed(of_v, v), packed(of_u, u));
    let [mut forward, mut transposed] = [of_u, of_v].map(|layout| Aligned::zeroed::<f64>(layout.len()));
    let (v, out) = (&v.numbers()[..of_v.len()], &mut forward.numbers_mut()[..of_u.len()]);
    E::emulate(doubles, TileProduct { transposed: false, tile, rows, cols, v, out });
    let (v, out) = (&u.numbers()[..of_u.len()], &mut transposed.numbers_mut()[..of_v.len()]);
    E::emulate(doubles, TileProduct { transposed: true, tile, rows, cols, v, out });
    let unpacked = |layout: Layout, sums: Aligned, n: usize| {
        let mut out = Array2::zeros((n, columns).f());
        layout.unpack(&sums.numbers()[..layout.len()], out.view_mut(), |to, sum| *to = sum, &Here);
        out
    };
    [unpacked(of_u, forward, ROWS), unpacked(of_v, transposed, COLS)]
}

#[test]
fn products_are_those_of_the_matrix() {
    fn check<E: Real>(doubles: usize, tolerance: f64) {
        let t = normal("t", ROWS, COLS);
        for columns in [1, 2, 5, 9, 17, 40] {
            let (v, u) = (normal("v", COLS, columns), normal("u", ROWS, columns));
            let [forward, transposed] = products::<E>(doubles, &t, &v, &u);
            for (found, expected) in [(forward, t.dot(&v)), (transposed, t.t().dot(&u))] {
                let worst = (&found - &expected).iter().fold(0.0, |w: f64, e| w.max(e.abs()));
                assert!(worst < tolerance, "{columns} columns: {worst:e}");
            }
        }
    }
    for doubles in [2, 4, 8] {
        check::<f64>(doubles, 1e-13);
        check::<f32>(doubles, 1e-4);
    }
}

/// Over several blocks and partial ones, with right-hand sides in panels and separate ones.
#[test]
fn what_is_packed_from_any_layout_is_unpacked_to_any_layout() {
    for (n, lanes) in [(1, 2), (63, 4), (64, 8), (65, 8), (197, 4), (270, 16)] {
        for columns in [1, 2, 5, 9, 17, 40] {
            let v = normal("v", n, columns);
            let by_rows = v.as_standard_layout().to_owned();
            let by_columns = gpbench_numerics::layout::column_major(&v);
            let layout = Layout::with_lanes(n, columns, 128, lanes);
            let packed = |v: &Array2<f64>| {
                let mut packed = vec![f64::NAN; layout.len()];
                layout.pack(v.view(), &mut packed, &Here);
                packed
            };
            let numbers = packed(&by_columns);
            assert_eq!(numbers, packed(&by_rows), "{n} x {columns}, {lanes} lanes");
            let twice = [&numbers[..], &numbers[..]].concat();
            for mut out in [Array2::zeros((n, columns).f()), Array2::zeros((n, columns))] {
                layout.unpack(&twice, out.view_mut(), |to: &mut f64, number| *to += number, &Here);
                assert_eq!(out, 2.0 * &v, "{n} x {columns}, {lanes} lanes");
            }
        }
    }
}
