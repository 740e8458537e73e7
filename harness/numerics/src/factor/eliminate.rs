//! The factorisation A = L L^T.

use ndarray::{ArrayRef2, ArrayView2, ArrayViewMut2, Axis, s};

use super::{SHAPES_FIT, subtract_product, triangle};
use crate::lapack::{self, Number};
use crate::{Error, Pool, Result};

/// Columns of a panel. Products of narrower ones are slower, since BLAS copies more numbers an operation. That costs more than
/// a large diagonal block, which a single thread factorises, even where a matrix has two panels only.
const WIDTH: usize = 512;

/// Rows and columns of a piece of the last diagonal block's work, which all threads share.
const STRIPE: usize = 128;

/// Rows of a tile where `rows` are left: eight tiles for the threads to share out, but no low ones, whose products are as
/// slow as those of narrow panels.
fn tile_rows(rows: usize) -> usize {
    (rows / 8).next_multiple_of(64).clamp(256, 1024)
}

/// Replaces the lower triangle of A by L with A = L L^T. The upper triangle is neither read nor written.
///
/// Left-looking: one long product updates a tile of a panel by all columns before the preceding panel, a second one
/// by that panel. So the pool gets one batch of work a panel: one thread factorises the next diagonal block while
/// the others finish the panel and update the next one.
///
/// # Errors
/// [`Error::NotPositiveDefinite`], [`Error::Shape`].
pub fn factorise(a: &mut ArrayRef2<f64>, pool: impl Pool) -> Result<()> {
    let n = a.nrows();
    if a.ncols() != n {
        return Err(Error::Shape(format!("the matrix is {n} x {}, not square", a.ncols())));
    }
    let first = WIDTH.min(n);
    if n > 0 {
        lapack::cholesky(&mut a.slice_mut(s![..first, ..first]))?;
    }
    for start in (0..n).step_by(WIDTH).take_while(|start| start + WIDTH < n) {
        eliminate(a, start, &pool)?;
    }
    Ok(())
}

/// Finishes the panel from column `start` on, whose diagonal block is factorised. Factorises the next diagonal block, and
/// begins the updates of the next panel and of the diagonal block after it.
///
/// On entry, columns before `start` are those of L. The panel's rows below the diagonal block lack the update by the
/// preceding panel, and the next diagonal block those by the preceding panel and by this one.
fn eliminate(a: &mut ArrayRef2<f64>, start: usize, pool: &impl Pool) -> Result<()> {
    let n = a.nrows();
    let [end, next_end, ahead_end] = [1, 2, 3].map(|panels| n.min(start + panels * WIDTH));
    let (done, rest) = a.view_mut().split_at(Axis(1), start);
    let (current, rest) = rest.split_at(Axis(1), WIDTH);
    let (next, rest) = rest.split_at(Axis(1), next_end - end);
    let ahead = rest.slice_move(s![next_end..ahead_end, ..ahead_end - next_end]);
    let (own, below) = current.split_at(Axis(0), end);
    let (pivots, mut below) = below.split_at(Axis(0), next_end - end);
    let (diagonal, mut next) = next.slice_move(s![end.., ..]).split_at(Axis(0), next_end - end);

    let panel = Elimination {
        factor: own.slice(s![start.., ..]),
        left: done.slice(s![start..end, ..]),
        next: done.slice(s![end..next_end, ..]),
        preceding: start.saturating_sub(WIDTH),
        tidy: |_| {},
    };
    let mut outcome = Ok(());
    let mut tasks =
        vec![EliminationTask::Pivots { rows: pivots, left: panel.next, diagonal, outcome: &mut outcome }];
    if next_end < n {
        tasks.push(EliminationTask::Ahead { left: done.slice(s![next_end..ahead_end, ..]), diagonal: ahead });
    }
    let (rows, lefts) = (tile_rows(n - next_end), done.slice(s![next_end.., ..]));
    let tiles = below.axis_chunks_iter_mut(Axis(0), rows).zip(lefts.axis_chunks_iter(Axis(0), rows));
    let tiles = tiles.zip(next.axis_chunks_iter_mut(Axis(0), rows));
    tasks.extend(tiles.map(|((rows, left), next)| EliminationTask::Rows { rows, left, next }));
    panel.work_on(tasks, pool);
    outcome.map_err(|error| beyond(end, error))
}

/// The error of a diagonal block that begins in row `first`, as one of the whole matrix.
pub fn beyond(first: usize, error: Error) -> Error {
    match error {
        Error::NotPositiveDefinite { minor } => Error::NotPositiveDefinite { minor: first + minor },
        other => other,
    }
}

/// Finished parts of L that the tasks of a panel read.
#[derive(Debug)]
pub struct Elimination<'a, E> {
    /// The diagonal block.
    pub factor: ArrayView2<'a, E>,
    /// L left of the diagonal block.
    pub left: ArrayView2<'a, E>,
    /// L left of the panel, in the rows of the next diagonal block.
    pub next: ArrayView2<'a, E>,
    /// First column of the preceding panel.
    pub preceding: usize,
    /// What is done to entries before they are divided or factorised, and after it.
    pub tidy: fn(&mut ArrayRef2<E>),
}

/// A part of the work on a panel.
#[derive(Debug)]
pub enum EliminationTask<'a, E> {
    /// The rows of the next diagonal block, which is factorised.
    Pivots {
        /// The rows' entries in the panel.
        rows: ArrayViewMut2<'a, E>,
        /// L left of the panel, in the same rows.
        left: ArrayView2<'a, E>,
        /// The next diagonal block.
        diagonal: ArrayViewMut2<'a, E>,
        /// Whether that block has a factor.
        outcome: &'a mut Result<()>,
    },
    /// The diagonal block after the next one.
    Ahead {
        /// L left of the panel, in the same rows.
        left: ArrayView2<'a, E>,
        /// The block.
        diagonal: ArrayViewMut2<'a, E>,
    },
    /// Rows below the next diagonal block.
    Rows {
        /// The rows' entries in the panel.
        rows: ArrayViewMut2<'a, E>,
        /// L left of the panel, in the same rows.
        left: ArrayView2<'a, E>,
        /// The rows' entries in the next panel.
        next: ArrayViewMut2<'a, E>,
    },
}

impl<E: Number + Send + Sync> Elimination<'_, E> {
    /// Finishes the tasks' rows of the panel, and begins or finishes the blocks of later panels that the tasks have. Where
    /// the next diagonal block is the only task, since it is the last block, all threads share it.
    ///
    /// # Panics
    /// If shapes do not fit, or a matrix is not column-major.
    pub fn work_on(&self, tasks: Vec<EliminationTask<'_, E>>, pool: &impl Pool) {
        match <[_; 1]>::try_from(tasks) {
            Ok([EliminationTask::Pivots { rows, left, diagonal, outcome }]) => {
                *outcome = self.factorise_last(rows, &left, diagonal, pool);
            }
            Ok([task]) => self.work_alone(task),
            Err(tasks) => pool.for_each(tasks, |task| self.work_alone(task)),
        }
    }

    /// One task, on the calling thread.
    fn work_alone(&self, task: EliminationTask<'_, E>) {
        match task {
            EliminationTask::Pivots { mut rows, left, mut diagonal, outcome } => {
                self.finish(&mut rows, &left);
                subtract_gram(&mut diagonal, &left.slice(s![.., self.preceding..]));
                subtract_gram(&mut diagonal, &rows);
                *outcome = self.factorise(&mut diagonal);
            }
            EliminationTask::Ahead { left, mut diagonal } => subtract_gram(&mut diagonal, &left),
            EliminationTask::Rows { mut rows, left, mut next } => {
                self.finish(&mut rows, &left);
                subtract_product(&mut next, &left, &self.next.t());
            }
        }
    }

    /// The task of the last diagonal block. Its rows of the panel are finished in pieces, and the block is updated in
    /// stripes of columns, before one thread factorises it.
    fn factorise_last(
        &self,
        mut rows: ArrayViewMut2<'_, E>,
        left: &ArrayRef2<E>,
        mut diagonal: ArrayViewMut2<'_, E>,
        pool: &impl Pool,
    ) -> Result<()> {
        let pieces = rows.axis_chunks_iter_mut(Axis(0), STRIPE).zip(left.axis_chunks_iter(Axis(0), STRIPE));
        pool.for_each(pieces, |(mut rows, left)| self.finish(&mut rows, &left));
        let stripes = diagonal.axis_chunks_iter_mut(Axis(1), STRIPE).enumerate();
        pool.for_each(stripes, |(index, stripe)| {
            let (first, end) = (index * STRIPE, index * STRIPE + stripe.ncols());
            let (mut square, mut below) = stripe.slice_move(s![first.., ..]).split_at(Axis(0), end - first);
            for left in [left.slice(s![.., self.preceding..]), rows.view()] {
                subtract_gram(&mut square, &left.slice(s![first..end, ..]));
                subtract_product(&mut below, &left.slice(s![end.., ..]), &left.slice(s![first..end, ..]).t());
            }
        });
        self.factorise(&mut diagonal)
    }

    /// The factor of an updated diagonal block in place of it.
    fn factorise(&self, diagonal: &mut ArrayRef2<E>) -> Result<()> {
        (self.tidy)(diagonal);
        let outcome = lapack::cholesky(diagonal);
        (self.tidy)(diagonal);
        outcome
    }

    /// Computes some rows of the panel, by the preceding panel's columns and the diagonal block.
    fn finish(&self, rows: &mut ArrayRef2<E>, left: &ArrayRef2<E>) {
        let pivots = self.left.slice(s![.., self.preceding..]);
        subtract_product(rows, &left.slice(s![.., self.preceding..]), &pivots.t());
        (self.tidy)(rows);
        triangle::divide_transposed(rows, &self.factor).expect(SHAPES_FIT);
        (self.tidy)(rows);
    }
}

/// The lower triangle of `diagonal -= left left^T`.
fn subtract_gram<E: Number>(diagonal: &mut ArrayRef2<E>, left: &ArrayRef2<E>) {
    if !left.is_empty() {
        lapack::symmetric_product(E::MINUS_ONE, left, false, E::ONE, diagonal).expect(SHAPES_FIT);
    }
}
