//! Reduction of symmetric matrices to tridiagonal form by all threads, with the same bits on any number of them.
//!
//! A = Q T Q^T, Q = H_0 H_1 ..., H_i = I - tau_i v_i v_i^T, as LAPACK's `dsytrd` has it (Dongarra, Sorensen and
//! Hammarling 1989). Of the 4 n^3 / 3 operations half are products of the rest of A and a vector, one for each
//! column. Each reads the rest from memory, n^3 / 6 numbers in all, which limits the speed of one thread; several have
//! their own caches. The other half are products of matrices, which update the rest after each panel of columns.

use ndarray::linalg::{general_mat_mul, general_mat_vec_mul};
use ndarray::{Array1, Array2, ArrayRef2, ArrayView1, ArrayView2, ArrayViewMut1, Axis, ShapeBuilder, s};

use crate::simd::arch;
use crate::{Alone, Pool};

/// Reflections between two updates of the rest.
const PANEL: usize = 24;
/// Columns of the rest in one task.
const BLOCK: usize = 128;
/// Order of a rest that fits into the cache of one thread, so that it is not worth waking others.
const ALONE: usize = 512;

/// A reduced matrix.
#[derive(Debug)]
pub(crate) struct Reduction {
    /// v_i, which begins with 1, below the diagonal of column i.
    pub(crate) reflections: Array2<f64>,
    /// tau_i, one for each column but the last.
    pub(crate) factors: Vec<f64>,
    /// T's diagonal.
    pub(crate) diagonal: Vec<f64>,
    /// T's entries below the diagonal, one fewer.
    pub(crate) beside: Vec<f64>,
}

/// Reduces a square, column-major matrix, of which the lower triangle is read.
pub(crate) fn reduce(a: Array2<f64>, pool: impl Pool) -> Reduction {
    let n = a.nrows();
    let mut reduction = Reduction { reflections: a, factors: vec![], diagonal: vec![], beside: vec![] };
    let mut space = Space {
        w: Array2::zeros((n, PANEL).f()),
        parts: Array2::zeros((n, n.div_ceil(BLOCK)).f()),
        v: Array1::zeros(n),
    };
    for start in (0..n).step_by(PANEL) {
        reduction.reduce_panel(start, &mut space, &pool);
    }
    reduction
}

/// Memory of a reduction.
struct Space {
    /// The vectors w_i of a panel: the rest of A is A - V W^T - W V^T.
    w: Array2<f64>,
    /// Parts of a product, one for each block of columns.
    parts: Array2<f64>,
    /// v_i.
    v: Array1<f64>,
}

impl Reduction {
    /// Reduces the columns of a panel, and updates the rest. The last column of all has no reflection.
    fn reduce_panel(&mut self, start: usize, space: &mut Space, pool: &impl Pool) {
        let mut rest = self.reflections.slice_mut(s![start.., start..]);
        let order = rest.nrows();
        let width = PANEL.min(order - 1);
        let Space { w, parts, v } = space;
        let mut w = w.slice_mut(s![start.., ..]);
        for i in 0..PANEL.min(order) {
            let (known, mut columns) = rest.view_mut().split_at(Axis(1), i);
            let mut column = columns.slice_mut(s![i.., 0]);
            if i > 0 {
                let (known, w) = (known.slice(s![i.., ..]), w.slice(s![i.., ..i]));
                general_mat_vec_mul(-1.0, &known, &w.row(0), 1.0, &mut column);
                general_mat_vec_mul(-1.0, &w, &known.row(0), 1.0, &mut column);
            }
            self.diagonal.push(column[0]);
            if i == width {
                return;
            }
            let mut below = column.slice_mut(s![1..]);
            let (beta, tau) = reflect(below.as_slice_mut().expect("a column is contiguous"));
            self.beside.push(beta);
            self.factors.push(tau);

            let mut v = v.slice_mut(s![..order - i - 1]);
            v.assign(&column.slice(s![1..]));
            let (known, columns) = (known.slice(s![i + 1.., ..]), columns.slice(s![i + 1.., 1..]));
            let (w_known, mut w_rest) = w.view_mut().split_at(Axis(1), i);
            let (w_known, mut w) = (w_known.slice(s![i + 1.., ..]), w_rest.slice_mut(s![i + 1.., 0]));
            let (v, y) = (v.as_slice().expect("v is contiguous"), w.as_slice_mut().expect("w is contiguous"));
            multiply(&columns, v, y, parts, pool);
            let v = ndarray::aview1(v);
            if i > 0 {
                let (by_w, by_v) = (w_known.t().dot(&v), known.t().dot(&v));
                general_mat_vec_mul(-1.0, &known, &by_w, 1.0, &mut w);
                general_mat_vec_mul(-1.0, &w_known, &by_v, 1.0, &mut w);
            }
            w *= tau;
            let along = -0.5 * tau * w.dot(&v);
            w.scaled_add(along, &v);
        }
        let (v, mut rest) = rest.slice_move(s![width.., ..]).split_at(Axis(1), width);
        update(&mut rest, &v, &w.slice(s![width..order, ..width]), pool);
    }
}

/// Replaces x by v, which begins with 1, so that I - tau v v^T maps x to (beta, 0, ..., 0). Returns beta and tau.
fn reflect(x: &mut [f64]) -> (f64, f64) {
    let (first, tail) = x.split_first_mut().expect("a vector has an entry");
    let alpha = std::mem::replace(first, 1.0);
    let largest = tail.iter().fold(0.0, |largest: f64, entry| largest.max(entry.abs()));
    if largest == 0.0 {
        return (alpha, 0.0);
    }
    let norm = largest * tail.iter().map(|entry| (entry / largest).powi(2)).sum::<f64>().sqrt();
    let beta = -alpha.hypot(norm).copysign(alpha);
    tail.iter_mut().for_each(|entry| *entry /= alpha - beta);
    (beta, (beta - alpha) / beta)
}

/// `rest -= V W^T + W V^T` in the lower triangle, and in parts of the upper one.
fn update(rest: &mut ArrayRef2<f64>, v: &ArrayRef2<f64>, w: &ArrayRef2<f64>, pool: &impl Pool) {
    let width = v.ncols();
    let beside = |left: &ArrayRef2<f64>, right: &ArrayRef2<f64>| {
        let mut both = Array2::zeros((left.nrows(), 2 * width).f());
        both.slice_mut(s![.., ..width]).assign(left);
        both.slice_mut(s![.., width..]).assign(right);
        both
    };
    let (left, right) = (beside(v, w), beside(w, v));
    pool.for_each(rest.axis_chunks_iter_mut(Axis(1), BLOCK).enumerate(), |(index, mut columns)| {
        let first = index * BLOCK;
        let right = right.slice(s![first..first + columns.ncols(), ..]);
        let mut below = columns.slice_mut(s![first.., ..]);
        general_mat_mul(-1.0, &left.slice(s![first.., ..]), &right.t(), 1.0, &mut below);
    });
}

/// y = A v for a symmetric A, of which the lower triangle is read. `parts` has a column for each block of columns.
fn multiply(a: &ArrayRef2<f64>, v: &[f64], y: &mut [f64], parts: &mut Array2<f64>, pool: &impl Pool) {
    let order = v.len();
    let blocks = a.axis_chunks_iter(Axis(1), BLOCK).zip(parts.columns_mut()).enumerate();
    let work = |(index, (columns, mut part)): (usize, (ArrayView2<'_, f64>, ArrayViewMut1<'_, f64>))| {
        let first = index * BLOCK;
        let part = &mut part.as_slice_mut().expect("a column is contiguous")[first..order];
        part.fill(0.0);
        let columns = columns.slice(s![first.., ..]);
        arch().dispatch(|| add_product(&columns, &v[first..], part));
    };
    if order <= ALONE {
        Alone.for_each(blocks, work)
    } else {
        pool.for_each(blocks, work)
    }
    y.fill(0.0);
    for (index, part) in parts.columns().into_iter().take(order.div_ceil(BLOCK)).enumerate() {
        let first = index * BLOCK;
        let part = part.slice(s![first..order]);
        y[first..].iter_mut().zip(&part).for_each(|(y, part)| *y += part);
    }
}

/// Columns whose entries are used together, so that y is read and written once for all.
const GROUP: usize = 4;
/// Rows whose products are summed separately.
const LANES: usize = 8;

/// y += C v for the first columns C of a symmetric matrix, and their mirror images. The lower triangle is read.
#[inline(always)]
fn add_product(columns: &ArrayView2<'_, f64>, v: &[f64], y: &mut [f64]) {
    let width = columns.ncols();
    for first in (0..width).step_by(GROUP) {
        let below = width.min(first + GROUP);
        for j in first..below {
            y[j] += columns[[j, j]] * v[j];
            for i in j + 1..below {
                y[i] += columns[[i, j]] * v[j];
                y[j] += columns[[i, j]] * v[i];
            }
        }
        // Columns that the last group lacks have weight 0.
        let group: [ArrayView1<'_, f64>; GROUP] =
            std::array::from_fn(|k| columns.column((first + k).min(below - 1)));
        let group = group.map(|column| &column.to_slice().expect("a column is contiguous")[below..]);
        let weights = std::array::from_fn(|k| if first + k < below { v[first + k] } else { 0.0 });
        let sums = add_group(group, weights, &v[below..], &mut y[below..]);
        y[first..below].iter_mut().zip(sums).for_each(|(y, sum)| *y += sum);
    }
}

/// Adds the columns, times their weights, to y. Returns the products of columns and v.
#[inline(always)]
fn add_group(columns: [&[f64]; GROUP], weights: [f64; GROUP], v: &[f64], y: &mut [f64]) -> [f64; GROUP] {
    let combine = |entries: [f64; GROUP]| {
        (entries[0] * weights[0] + entries[1] * weights[1])
            + (entries[2] * weights[2] + entries[3] * weights[3])
    };
    let mut sums = [[0.0; LANES]; GROUP];
    let lanes = columns.map(|column| column.as_chunks::<LANES>().0);
    let (y_lanes, _) = y.as_chunks_mut::<LANES>();
    for (i, (y, v)) in y_lanes.iter_mut().zip(v.as_chunks::<LANES>().0).enumerate() {
        let entries = lanes.map(|column| &column[i]);
        for lane in 0..LANES {
            let entries = entries.map(|entries| entries[lane]);
            y[lane] += combine(entries);
            (0..GROUP).for_each(|k| sums[k][lane] += entries[k] * v[lane]);
        }
    }
    for i in v.len() / LANES * LANES..v.len() {
        let entries = columns.map(|column| column[i]);
        y[i] += combine(entries);
        (0..GROUP).for_each(|k| sums[k][0] += entries[k] * v[i]);
    }
    sums.map(|lanes| lanes.iter().sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::uniform;
    use crate::layout::column_major;
    use crate::pool::Threads;

    /// A symmetric matrix, and a copy with other numbers above the diagonal, which must not be read.
    fn symmetric(n: usize) -> (Array2<f64>, Array2<f64>) {
        let part = uniform(n, n, 3);
        let clean = &part + &part.t();
        let mut dirty = column_major(&clean);
        dirty.indexed_iter_mut().filter(|((i, j), _)| i < j).for_each(|(_, entry)| *entry = f64::NAN);
        (clean, dirty)
    }

    /// Q, from its reflections.
    fn product_of_reflections(reduction: &Reduction) -> Array2<f64> {
        let n = reduction.diagonal.len();
        let mut q = Array2::eye(n);
        for (i, tau) in reduction.factors.iter().enumerate().rev() {
            let v = Array1::from_shape_fn(n, |row| match row.cmp(&(i + 1)) {
                std::cmp::Ordering::Less => 0.0,
                std::cmp::Ordering::Equal => 1.0,
                std::cmp::Ordering::Greater => reduction.reflections[[row, i]],
            });
            let along = v.dot(&q) * *tau;
            for (row, entry) in v.iter().enumerate() {
                q.row_mut(row).scaled_add(-entry, &along);
            }
        }
        q
    }

    #[test]
    fn reflections_make_the_matrix_tridiagonal_with_the_same_bits_on_any_number_of_threads() {
        for n in [1, 2, 3, 23, 24, 25, 63, 65, 129, 540] {
            let (clean, dirty) = symmetric(n);
            let one = reduce(dirty.clone(), Threads(1));
            let t = Array2::from_shape_fn((n, n), |(i, j)| match i.abs_diff(j) {
                0 => one.diagonal[i],
                1 => one.beside[i.min(j)],
                _ => 0.0,
            });
            let q = product_of_reflections(&one);
            let close = |a: &Array2<f64>, b: &Array2<f64>| (a - b).iter().all(|gap| gap.abs() < 1e-11);
            assert!(close(&q.t().dot(&q), &Array2::eye(n)), "n = {n}");
            assert!(close(&q.dot(&t).dot(&q.t()), &clean), "n = {n}");
            for threads in [2, 3] {
                let other = reduce(dirty.clone(), Threads(threads));
                assert_eq!((&one.diagonal, &one.beside), (&other.diagonal, &other.beside));
                assert_eq!(one.factors, other.factors);
            }
        }
    }

    #[test]
    fn products_with_vectors_are_those_of_the_whole_matrix() {
        for n in [1, 4, 11, 127, 128, 133, 600] {
            let (clean, dirty) = symmetric(n);
            let v = Array1::from_shape_fn(n, |i| (i as f64).sin());
            let mut y = vec![f64::NAN; n];
            let mut parts = Array2::from_elem((n, n.div_ceil(BLOCK)).f(), f64::NAN);
            multiply(&dirty, v.as_slice().unwrap(), &mut y, &mut parts, &Threads(2));
            assert!(clean.dot(&v).iter().zip(&y).all(|(a, b)| (a - b).abs() < 1e-12), "n = {n}");
        }
    }

    #[test]
    fn a_diagonal_matrix_stays_as_it_is() {
        let reduction = reduce(column_major(&Array2::from_diag(&ndarray::array![3.0, 1.0, 2.0])), Alone);
        assert_eq!((reduction.diagonal, reduction.beside), (vec![3.0, 1.0, 2.0], vec![0.0; 2]));
        assert_eq!(reduction.factors, vec![0.0; 2]);
    }
}
