//! Cholesky factorisation and triangular solves with the same bits on any number of threads.
//!
//! LAPACK's own threads divide the work by their number, and so the rounding depends on it. Here pieces of fixed
//! size go to a pool, one single-threaded BLAS call each. The factorisation is left-looking: all columns before a
//! panel update it by one long product a piece, so that each entry is written to memory once.

use ndarray::linalg::general_mat_mul;
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, ShapeBuilder, s};
use rayon::ThreadPool;
use rayon::prelude::*;

use crate::blas::{self, NotPositiveDefinite};

/// Columns of a panel.
const PANEL: usize = 512;
/// Rows of a panel in one task.
const ROWS: usize = 256;
/// Right-hand sides in one task.
const COLUMNS: usize = 32;

/// Replaces the lower triangle of `a` by L with `a = L L^T`. Above it, the diagonal blocks of the panels become
/// arbitrary.
pub(crate) fn cholesky(mut a: ArrayViewMut2<f64>, pool: &ThreadPool) -> Result<(), NotPositiveDefinite> {
    let n = a.nrows();
    for start in (0..n).step_by(PANEL) {
        let end = n.min(start + PANEL);
        let (done, mut rest) = a.view_mut().split_at(Axis(1), start);
        let mut panel = rest.slice_mut(s![start.., ..end - start]);
        if start > 0 {
            // panel -= L[start.., ..start] L[start..end, ..start]^T
            let (left, pivots) = (done.slice(s![start.., ..]), done.slice(s![start..end, ..]));
            subtract_product(panel.view_mut(), left, pivots.t(), pool);
        }
        let (mut diagonal, mut below) = panel.split_at(Axis(0), end - start);
        blas::potrf(diagonal.view_mut())
            .map_err(|NotPositiveDefinite { order }| NotPositiveDefinite { order: start + order })?;
        let diagonal = diagonal.view();
        let tiles = below.axis_chunks_iter_mut(Axis(0), ROWS).collect();
        in_parallel(pool, tiles, |tile| blas::divide_by_transposed(diagonal, tile));
    }
    Ok(())
}

/// Solves `L L^T X = B` in place of `b`.
pub(crate) fn solve(factor: ArrayView2<f64>, mut b: ArrayViewMut2<f64>, pool: &ThreadPool) {
    let groups = b.axis_chunks_iter_mut(Axis(1), COLUMNS).collect();
    in_parallel(pool, groups, |group| blas::potrs(factor, group));
}

/// Solves `L X = B` in place of `b`. Right-looking, so that L is read once, whatever the number of columns.
pub(crate) fn solve_lower(factor: ArrayView2<f64>, mut b: ArrayViewMut2<f64>, pool: &ThreadPool) {
    let n = factor.nrows();
    for start in (0..n).step_by(PANEL) {
        let end = n.min(start + PANEL);
        let (mut solved, below) = b.view_mut().split_at(Axis(0), end);
        let mut panel = solved.slice_mut(s![start.., ..]);
        let diagonal = factor.slice(s![start..end, start..end]);
        let groups = panel.axis_chunks_iter_mut(Axis(1), COLUMNS).collect();
        in_parallel(pool, groups, |group| blas::solve_lower(diagonal, group));
        // B[end.., ..] -= L[end.., start..end] X[start..end, ..]
        subtract_product(below, factor.slice(s![end.., start..end]), panel.view(), pool);
    }
}

/// The lower triangle of `(L L^T)^-1`, given L in the lower triangle of `factor`. Takes `n^3 / 3` multiply-adds, a
/// third of those of n right-hand sides, and a second n x n array.
pub(crate) fn inverse(factor: ArrayView2<f64>, pool: &ThreadPool) -> Array2<f64> {
    let n = factor.nrows();
    // First M = L^-1, whose columns have zeros above the diagonal.
    let mut inverse = Array2::zeros((n, n).f());
    let panels = inverse.axis_chunks_iter_mut(Axis(1), ROWS).enumerate().collect();
    in_parallel(pool, panels, |(i, mut panel)| {
        let start = i * ROWS;
        let mut below = panel.slice_mut(s![start.., ..]);
        below.diag_mut().fill(1.0);
        blas::solve_lower(factor.slice(s![start.., start..]), below);
    });
    // Then M^T M, panel by panel: only earlier panels need the part of M that a panel overwrites.
    for start in (0..n).step_by(PANEL) {
        let end = n.min(start + PANEL);
        let m = inverse.view();
        let mut panel = Array2::zeros((n - start, end - start).f());
        let tiles = panel.axis_chunks_iter_mut(Axis(0), ROWS).enumerate().collect();
        in_parallel(pool, tiles, |(i, mut tile)| {
            let from = start + i * ROWS;
            let left = m.slice(s![from.., from..from + tile.nrows()]);
            general_mat_mul(1.0, &left.t(), &m.slice(s![from.., start..end]), 0.0, &mut tile);
        });
        inverse.slice_mut(s![start.., start..end]).assign(&panel);
    }
    inverse
}

/// `target -= left right`, in tiles of `ROWS` rows.
fn subtract_product(
    mut target: ArrayViewMut2<f64>,
    left: ArrayView2<f64>,
    right: ArrayView2<f64>,
    pool: &ThreadPool,
) {
    let tiles = target.axis_chunks_iter_mut(Axis(0), ROWS).zip(left.axis_chunks_iter(Axis(0), ROWS));
    in_parallel(pool, tiles.collect(), |(mut tile, left)| {
        general_mat_mul(-1.0, &left, &right, 1.0, &mut tile);
    });
}

fn in_parallel<T: Send>(pool: &ThreadPool, items: Vec<T>, work: impl Fn(T) + Send + Sync) {
    pool.install(|| items.into_par_iter().with_max_len(1).for_each(work));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Streams;
    use crate::threads::thread_pool;

    /// More than two panels, the last one narrower.
    const N: usize = 2 * PANEL + 77;

    /// `I + G G^T / n` with normal G.
    fn positive_definite() -> Array2<f64> {
        let g = Streams::new(5, &[]).normals("factor", N, 40);
        let mut a = Array2::zeros((N, N).f());
        general_mat_mul(1.0 / N as f64, &g, &g.t(), 0.0, &mut a);
        a.diag_mut().iter_mut().for_each(|entry| *entry += 1.0);
        a
    }

    #[test]
    fn panels_solve_like_the_whole_with_the_same_bits_on_any_number_of_threads() {
        let a = positive_definite();
        let x = Streams::new(6, &[]).normals("solution", N, 37);
        let mut b = Array2::zeros(x.dim().f());
        general_mat_mul(1.0, &a, &x, 0.0, &mut b);
        let solved = |threads: usize| {
            let (pool, mut factor, mut b) = (thread_pool(threads).unwrap(), a.clone(), b.clone());
            cholesky(factor.view_mut(), &pool).unwrap();
            solve(factor.view(), b.view_mut(), &pool);
            b
        };
        let one = solved(1);
        assert!((&one - &x).iter().all(|e| e.abs() < 1e-12));
        assert_eq!(one, solved(2));
        assert_eq!(one, solved(5));
    }

    #[test]
    fn forward_substitution_has_the_same_bits_on_any_number_of_threads() {
        let mut factor = positive_definite();
        cholesky(factor.view_mut(), &thread_pool(2).unwrap()).unwrap();
        let x = Streams::new(7, &[]).normals("solution", N, COLUMNS + 5);
        let mut b = x.clone();
        blas::multiply_lower(factor.view(), b.view_mut());
        let solved = |threads: usize| {
            let mut b = b.clone();
            solve_lower(factor.view(), b.view_mut(), &thread_pool(threads).unwrap());
            b
        };
        let one = solved(1);
        assert!((&one - &x).iter().all(|e| e.abs() < 1e-12));
        assert_eq!(one, solved(2));
        assert_eq!(one, solved(5));
    }

    #[test]
    fn the_inverse_solves_for_the_identity_with_the_same_bits_on_any_number_of_threads() {
        let a = positive_definite();
        let mut factor = a.clone();
        cholesky(factor.view_mut(), &thread_pool(2).unwrap()).unwrap();
        let mut solved = Array2::zeros((N, N).f());
        solved.diag_mut().fill(1.0);
        solve(factor.view(), solved.view_mut(), &thread_pool(2).unwrap());
        let one = inverse(factor.view(), &thread_pool(1).unwrap());
        for (j, column) in one.columns().into_iter().enumerate() {
            for i in j..N {
                assert!((column[i] - solved[(i, j)]).abs() < 1e-14, "({i}, {j})");
            }
        }
        assert_eq!(one, inverse(factor.view(), &thread_pool(2).unwrap()));
        assert_eq!(one, inverse(factor.view(), &thread_pool(5).unwrap()));
    }

    #[test]
    fn the_order_of_the_first_bad_minor_counts_all_panels() {
        let mut a = positive_definite();
        a[(PANEL + 9, PANEL + 9)] = -1.0;
        let error = cholesky(a.view_mut(), &thread_pool(2).unwrap()).unwrap_err();
        assert_eq!(error.order, PANEL + 10);
    }
}
