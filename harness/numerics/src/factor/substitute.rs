//! Solves with a factor.

use std::ops::Range;

use ndarray::{ArrayRef2, ArrayViewMut2, Axis, s};

use super::{SHAPES_FIT, subtract_product, triangle};
use crate::Pool;

/// Right-hand sides in one task.
const COLUMNS: usize = 256;

/// Columns of a panel of a factor of order `n`. Wide panels make fast products; in narrow ones the work on a diagonal
/// block, which a single thread does, is small beside the rest.
fn panel_width(n: usize) -> usize {
    match n {
        0..=1024 => 128,
        1025..=4096 => 256,
        _ => 512,
    }
}

/// Rows of a tile where `rows` are left: large tiles, but at least eight for the threads to share out.
fn tile_rows(rows: usize) -> usize {
    (rows / 8).next_multiple_of(64).clamp(64, 1024)
}

/// Solves L L^T X = B in place of B. L is read twice for up to 256 columns.
///
/// # Panics
/// If the shapes do not fit, or a matrix is not column-major.
pub fn solve(factor: &ArrayRef2<f64>, b: &mut ArrayRef2<f64>, pool: impl Pool) {
    substitute(factor, false, b, &pool);
    substitute(factor, true, b, &pool);
}

/// Solves L X = B in place of B. L is read once for up to 256 columns.
///
/// # Panics
/// As [`solve`].
pub fn solve_lower(factor: &ArrayRef2<f64>, b: &mut ArrayRef2<f64>, pool: impl Pool) {
    substitute(factor, false, b, &pool);
}

/// Solves L X = B, or L^T X = B from the last row on, in place of B.
///
/// Right-looking: while one thread solves for the next panel of rows of X, the others subtract the last one from the
/// other rows of B.
fn substitute(factor: &ArrayRef2<f64>, transposed: bool, b: &mut ArrayRef2<f64>, pool: &impl Pool) {
    let (n, width) = (factor.nrows(), panel_width(factor.nrows()));
    assert_eq!(b.nrows(), n, "as many rows as the factor");
    let mut panels: Vec<Range<usize>> =
        (0..n).step_by(width).map(|start| start..n.min(start + width)).collect();
    if transposed {
        panels.reverse();
    }
    let solve = |panel: &Range<usize>, mut rows: ArrayViewMut2<'_, f64>| {
        let diagonal = factor.slice(s![panel.clone(), panel.clone()]);
        let solved = match transposed {
            false => triangle::solve(&diagonal, &mut rows),
            true => triangle::solve_transposed(&diagonal, &mut rows),
        };
        solved.expect(SHAPES_FIT);
    };
    if let Some(first) = panels.first() {
        let mut rows = b.slice_mut(s![first.clone(), ..]);
        pool.for_each(rows.axis_chunks_iter_mut(Axis(1), COLUMNS), |group| solve(first, group));
    }
    for (known, next) in panels.iter().zip(panels.iter().skip(1)) {
        // Rows of X that are known, those that are next, all others that remain; and L, or L^T, in these rows.
        let (x, next_rows, mut rest, next_block, rest_blocks) = if transposed {
            let (above, below) = b.view_mut().split_at(Axis(0), known.start);
            let blocks = factor.slice(s![known.clone(), ..known.start]).reversed_axes();
            let (rest, next_rows) = above.split_at(Axis(0), next.start);
            let (rest_blocks, next_block) = blocks.split_at(Axis(0), next.start);
            (below.slice_move(s![..known.len(), ..]), next_rows, rest, next_block, rest_blocks)
        } else {
            let (above, below) = b.view_mut().split_at(Axis(0), known.end);
            let blocks = factor.slice(s![known.end.., known.clone()]);
            let (next_rows, rest) = below.split_at(Axis(0), next.len());
            let (next_block, rest_blocks) = blocks.split_at(Axis(0), next.len());
            (above.slice_move(s![known.start.., ..]), next_rows, rest, next_block, rest_blocks)
        };
        let tile = tile_rows(rest.nrows());
        let tiles = rest.axis_chunks_iter_mut(Axis(0), tile).zip(rest_blocks.axis_chunks_iter(Axis(0), tile));
        let mut tiles: Vec<_> = std::iter::once((next_rows, next_block)).chain(tiles).collect();
        let tasks = tiles.iter_mut().enumerate().flat_map(|(index, (rows, block))| {
            let (groups, block) = (rows.axis_chunks_iter_mut(Axis(1), COLUMNS), block.view());
            let groups = groups.zip(x.axis_chunks_iter(Axis(1), COLUMNS));
            groups.map(move |(rows, x)| (index == 0, rows, block, x))
        });
        pool.for_each(tasks, |(is_next, mut rows, block, x)| {
            subtract_product(&mut rows, &block, &x);
            if is_next {
                solve(next, rows);
            }
        });
    }
}
