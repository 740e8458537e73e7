//! Momentum with optimal coefficients.
//!
//! Nesterov's momentum adds to every step a multiple of the last move. The best multiple depends on eigenvalues,
//! which CD++ and ADASAP estimate or assume. Here the product of A with every move is known: it is the change of
//! the residual. So the minimum of f(x) = x^T A x / 2 - b^T x over the span of a few moves needs no kernel entry
//! and no estimate, and f never increases. With one move and the same symmetric step in each iteration this is the
//! method of conjugate gradients. The greedy choice of blocks changes the step from one iteration to the next,
//! which needs a few more moves (Notay 2000, *Flexible conjugate gradients*).

use gpbench_sdk::ndarray::{ArrayViewMut1, ArrayViewMut2};
use gpbench_sdk::projection::{Blocks, Projection, Residual};
use gpbench_sdk::{Workers, dot};

/// Share of d^T A d that has to remain when a move is made conjugate to the earlier ones. A smaller remainder is
/// rounding error.
const ROUNDING: f64 = 1e-10;

/// The momentum of all right-hand sides, each by itself.
#[derive(Debug)]
pub(crate) struct Momentum(Vec<Column>);

/// The momentum of one right-hand side, relative to its norm.
#[derive(Debug)]
struct Column {
    /// Moves to remember.
    memory: usize,
    /// The last moves made, A-orthonormal, the latest last.
    moves: Vec<Direction>,
    /// The move in progress: in `d` the change of the iterate since the last move, in `product` the residual at
    /// that time.
    next: Direction,
}

/// A direction and A's product with it.
#[derive(Debug, Clone)]
struct Direction {
    d: Vec<f64>,
    product: Vec<f64>,
}

impl Momentum {
    /// No moves yet; the next one starts at this residual.
    pub(crate) fn new(residual: &Residual, memory: usize) -> Momentum {
        let columns = residual.r.columns().into_iter().map(|r| Column {
            memory,
            moves: Vec::with_capacity(memory),
            next: Direction { d: vec![0.0; r.len()], product: r.to_vec() },
        });
        Momentum(columns.collect())
    }

    /// Adds a projection to the move in progress.
    pub(crate) fn add(&mut self, projection: &Projection, blocks: &Blocks) {
        let rows = blocks.rows(projection.block);
        for (column, change) in self.0.iter_mut().zip(projection.change.columns()) {
            rows.iter().zip(change).for_each(|(&row, change)| column.next.d[row] += change);
        }
    }

    /// Completes the move in progress, and goes to the minimum over it and the stored moves.
    pub(crate) fn accelerate(
        &mut self,
        mut x: ArrayViewMut2<'_, f64>,
        residual: &mut Residual,
        blocks: &Blocks,
        workers: Workers<'_>,
    ) {
        let columns = self.0.iter_mut().zip(&residual.scales).zip(x.columns_mut());
        workers.for_each(columns.zip(residual.r.columns_mut()), |(((column, scale), mut x), r)| {
            column.remember(&r);
            column.search(&mut x, r, *scale);
        });
        residual.measure(blocks, workers);
    }
}

impl Column {
    /// Stores the move in progress: made A-orthogonal to the earlier ones, with unit norm.
    fn remember(&mut self, r: &ArrayViewMut1<'_, f64>) {
        let Direction { d, product } = &mut self.next;
        // A d = (b - A x) - (b - A (x + d))
        product.iter_mut().zip(r).for_each(|(start, r)| *start -= r);
        let before = dot(d, product);
        for earlier in &self.moves {
            let part = dot(&earlier.product, d);
            subtract(d, part, &earlier.d);
            subtract(product, part, &earlier.product);
        }
        let square = dot(d, product);
        // Also false where the move is zero or not finite, or A is not positive definite.
        if square > ROUNDING * before && square.is_finite() {
            let norm = square.sqrt();
            d.iter_mut().chain(product.iter_mut()).for_each(|entry| *entry /= norm);
            let room = if self.moves.len() < self.memory {
                self.next.clone()
            } else {
                // Reuses the memory of the oldest move.
                self.moves.remove(0)
            };
            self.moves.push(std::mem::replace(&mut self.next, room));
        }
    }

    /// x += d d^T r, r -= A d d^T r along every move: the minimum of f over them, as they are A-orthonormal.
    fn search(&mut self, x: &mut ArrayViewMut1<'_, f64>, mut r: ArrayViewMut1<'_, f64>, scale: f64) {
        // A contiguous copy of the residual, which the next move starts from.
        let Direction { d: added, product: start } = &mut self.next;
        start.iter_mut().zip(&r).for_each(|(start, r)| *start = *r);
        added.fill(0.0);
        for Direction { d, product } in &self.moves {
            let step = dot(d, start);
            if step.is_finite() {
                x.iter_mut().zip(d).for_each(|(x, d)| *x += scale * step * d);
                subtract(start, step, product);
            }
        }
        r.iter_mut().zip(start).for_each(|(r, start)| *r = *start);
    }
}

/// a -= c b.
fn subtract(a: &mut [f64], c: f64, b: &[f64]) {
    a.iter_mut().zip(b).for_each(|(a, b)| *a -= c * b);
}
