//! Derivatives of a function of a Gram matrix by the kernel's scales and by the points.
//!
//! With u = x / l and w = z / l, the weights V = cotangent * (-2 dk/d(r^2)) give, for one input: l: s^2 / l
//! sum_ij V_ij (u_i - w_j)^2, and x_i: -s^2 / l sum_j V_ij (u_i - w_j). Multiplied out, both are products of V
//! with the points, which are centred first to lose no digits.

use std::marker::PhantomData;
use std::sync::Mutex;

use gpbench_numerics::Aligned;
use ndarray::linalg::general_mat_mul;
use ndarray::{Array1, Array2, ArrayRef2, ArrayView2, ArrayViewMut2, Axis, ShapeBuilder, Zip, s};

use super::correlation::{Correlation, by_family};
use super::tile::{Strips, Weigh};
use super::{COLUMNS, Kernel, KernelGradient, Points};
use crate::simd::dispatch;
use crate::{Covariance, Workers};
use gpbench_numerics::pieces::in_order;

/// Sums over a piece of the columns of the weights V, or over all columns.
struct Sums {
    /// Sum of the cotangent times the entries of k; of the inner products it is found later.
    products: f64,
    /// V 1.
    rows: Array1<f64>,
    /// V^T 1.
    columns: Array1<f64>,
    /// V w, if asked for.
    row_points: Array2<f64>,
    /// V^T u.
    column_points: Array2<f64>,
}

/// Data that all pieces share.
struct Shared<'a> {
    family: Covariance,
    /// u.
    rows: &'a Array2<f64>,
    strips: &'a Strips,
    with_rows: bool,
    /// Memory for the weights of a piece, to be used by one thread after the other.
    buffers: Mutex<Vec<Aligned>>,
}

impl Shared<'_> {
    /// A free buffer for the weights of a piece, with arbitrary contents.
    fn buffer(&self) -> Aligned {
        let free = self.buffers.lock().ok().and_then(|mut buffers| buffers.pop());
        free.unwrap_or_else(|| Aligned::zeroed::<f64>(self.strips.padded() * COLUMNS))
    }

    fn give_back(&self, buffer: Aligned) {
        if let Ok(mut buffers) = self.buffers.lock() {
            buffers.push(buffer);
        }
    }
}

pub(super) fn pull_back(
    kernel: &Kernel,
    rows: &ArrayRef2<f64>,
    columns: &ArrayRef2<f64>,
    cotangent: &ArrayRef2<f64>,
    points: Points,
    workers: Workers<'_>,
) -> KernelGradient {
    let (mut u, mut w) = (kernel.scaled(rows), kernel.scaled(columns));
    if kernel.family != Covariance::Linear
        && let Some(centre) = u.mean_axis(Axis(0))
    {
        u -= &centre;
        w -= &centre;
    }
    let with_rows = matches!(points, Points::Rows | Points::Both);
    let with_columns = matches!(points, Points::Columns | Points::Both);
    let shared = Shared {
        family: kernel.family,
        rows: &u,
        strips: &Strips::new(&u),
        with_rows,
        buffers: Mutex::default(),
    };
    let sums = sums(&shared, &w, cotangent, workers);
    let lengths = kernel.lengths(u.ncols());
    let scale = kernel.signal_scale * kernel.signal_scale;

    let none = || Array2::zeros((0, 0));
    let crossed = (&w * &sums.column_points).sum_axis(Axis(0));
    if kernel.family == Covariance::Linear {
        return KernelGradient {
            signal_scale: 2.0 * kernel.signal_scale * crossed.sum(),
            length_scale: kernel.collect_lengths(-2.0 * scale * &crossed / &lengths),
            rows: if with_rows { scale * sums.row_points / &lengths } else { none() },
            columns: if with_columns { scale * sums.column_points / &lengths } else { none() },
        };
    }
    let squares = squares(&u, &sums.rows) + squares(&w, &sums.columns) - 2.0 * crossed;
    let by_points = |points: &Array2<f64>, sums: Array1<f64>, crossed: Array2<f64>| {
        scale * (crossed - points * &sums.insert_axis(Axis(1))) / &lengths
    };
    KernelGradient {
        signal_scale: 2.0 * kernel.signal_scale * sums.products,
        length_scale: kernel.collect_lengths(scale * squares / &lengths),
        rows: if with_rows { by_points(&u, sums.rows, sums.row_points) } else { none() },
        columns: if with_columns { by_points(&w, sums.columns, sums.column_points) } else { none() },
    }
}

/// sum_i weight_i point_ik^2, for each input k.
fn squares(points: &Array2<f64>, weights: &Array1<f64>) -> Array1<f64> {
    let mut sum = Array1::zeros(points.ncols());
    Zip::from(points.rows()).and(weights).for_each(|point, &weight| {
        Zip::from(&mut sum).and(point).for_each(|sum, &coordinate| *sum += weight * coordinate * coordinate);
    });
    sum
}

/// The sums over all columns, piece by piece.
fn sums(shared: &Shared<'_>, w: &Array2<f64>, cotangent: &ArrayRef2<f64>, workers: Workers<'_>) -> Sums {
    let (n, d) = shared.rows.dim();
    let mut total = Sums {
        products: 0.0,
        rows: Array1::zeros(n),
        columns: Array1::zeros(w.nrows()),
        row_points: Array2::zeros(if shared.with_rows { (n, d) } else { (0, 0) }),
        column_points: Array2::zeros(w.dim()),
    };
    let columns = |piece: usize| COLUMNS * piece..w.nrows().min(COLUMNS * (piece + 1));
    let count = if n == 0 { 0 } else { w.nrows().div_ceil(COLUMNS) };
    let make =
        |piece| of_piece(shared, w.slice(s![columns(piece), ..]), cotangent.slice(s![.., columns(piece)]));
    in_order(count, workers, make, |piece, part| {
        total.products += part.products;
        total.rows += &part.rows;
        total.row_points += &part.row_points;
        total.columns.slice_mut(s![columns(piece)]).assign(&part.columns);
        total.column_points.slice_mut(s![columns(piece), ..]).assign(&part.column_points);
    });
    total
}

/// The sums over a piece of the columns.
fn of_piece(shared: &Shared<'_>, w: ArrayView2<'_, f64>, cotangent: ArrayView2<'_, f64>) -> Sums {
    by_family!(shared.family, weighed(shared, w, cotangent), linear: inner(shared, w, cotangent))
}

/// The sums over a piece for inner products, whose weights are the cotangent itself.
fn inner(shared: &Shared<'_>, w: ArrayView2<'_, f64>, cotangent: ArrayView2<'_, f64>) -> Sums {
    let sums = Sums {
        products: 0.0,
        rows: Array1::zeros(shared.rows.nrows()),
        columns: Array1::zeros(w.nrows()),
        row_points: Array2::zeros((0, 0)),
        column_points: Array2::zeros((0, 0)),
    };
    with_points(shared, w, cotangent, sums)
}

/// The sums over a piece for a stationary family.
fn weighed<C: Correlation>(
    shared: &Shared<'_>,
    w: ArrayView2<'_, f64>,
    cotangent: ArrayView2<'_, f64>,
) -> Sums {
    let (n, padded) = (shared.rows.nrows(), shared.strips.padded());
    let mut buffer = shared.buffer();
    let numbers = &mut buffer.numbers_mut::<f64>()[..padded * w.nrows()];
    let mut weights =
        ArrayViewMut2::from_shape((padded, w.nrows()).f(), &mut *numbers).expect("as many as the shape has");
    weights.slice_mut(s![..n, ..]).assign(&cotangent);
    weights.slice_mut(s![n.., ..]).fill(0.0);
    let mut row_sums = vec![0.0; padded];
    let mut columns = Array1::zeros(w.nrows());
    let products = dispatch(Weigh::<C> {
        rows: shared.strips,
        points: w.to_slice().expect("pieces of a row-major array"),
        cotangent: numbers,
        row_sums: &mut row_sums,
        column_sums: columns.as_slice_mut().expect("just made"),
        family: PhantomData,
    });
    row_sums.truncate(n);
    let sums = Sums {
        products,
        rows: row_sums.into(),
        columns,
        row_points: Array2::zeros((0, 0)),
        column_points: Array2::zeros((0, 0)),
    };
    let weights = ArrayView2::from_shape((padded, w.nrows()).f(), numbers).expect("as many as the shape has");
    let sums = with_points(shared, w, weights.slice(s![..n, ..]), sums);
    shared.give_back(buffer);
    sums
}

/// Adds the products of the weights with the points.
fn with_points(
    shared: &Shared<'_>,
    w: ArrayView2<'_, f64>,
    weights: ArrayView2<'_, f64>,
    sums: Sums,
) -> Sums {
    let mut column_points = Array2::zeros(w.dim());
    general_mat_mul(1.0, &weights.t(), shared.rows, 0.0, &mut column_points);
    let mut row_points = Array2::zeros((0, 0));
    if shared.with_rows {
        row_points = Array2::zeros(shared.rows.dim());
        general_mat_mul(1.0, &weights, &w, 0.0, &mut row_points);
    }
    Sums { row_points, column_points, ..sums }
}
