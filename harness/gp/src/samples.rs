//! Posterior samples as functions, which can be evaluated with their gradients at any point.
//!
//! With the prior draw `f_c(x) = phi(x) w_c` and the weights `v_c = v_y - v_xi_c` of [pathwise
//! conditioning](crate::pathwise), the sample is
//!
//! ```text
//! s_c(x)      = phi(x) w_c + sum_j v_jc k(x, x_j)
//! grad s_c(x) = grad phi(x) w_c - (x sum_j a_j - sum_j a_j x_j) / l^2,     a_j = v_jc slope(x, x_j)
//! ```
//!
//! with `slope = -2 dk/d(r^2)`, and one length scale l for each input. Thompson sampling evaluates all samples at
//! candidates that they share, and follows the gradient of each from points of its own (Lin et al. 2023, appendix A.3).
//! A pass over `k(x, X)` gives the value and the gradient together.

mod block;
mod gradients;
mod terms;

use std::sync::Arc;

use gpbench_numerics::Pool;
use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2, Axis, ShapeBuilder};
use rayon::ThreadPool;

use crate::RandomFeatures;
use crate::operator::{TILE, pieces};
use crate::scratch::Scratch;
use crate::threads::{Here, OnPool, inside};

use gradients::Gradients;
use terms::{KernelTerms, PriorTerms, Terms};

/// Posterior samples `s_c(x) = phi(x) w_c + k(x, X) v_c`, c = 0 .. s.
#[derive(Debug)]
pub struct PosteriorSamples<'a> {
    kernel: KernelTerms<'a>,
    prior: PriorTerms<'a>,
    samples: usize,
    pool: Arc<ThreadPool>,
    /// Memory for tiles and sums.
    memory: Scratch,
}

impl<'a> PosteriorSamples<'a> {
    /// Samples with the prior draws `features` times `w` (m x s), and weights `v` (n x s) of the rows of `points`
    /// (n x d): training inputs or inducing points. The kernel is that of the features.
    ///
    /// No value has noise; `noise_scale`, that of the data, only decides how accurate distances have to be. Takes (n + m) s
    /// numbers of memory.
    ///
    /// # Panics
    /// If shapes do not agree.
    pub fn new(
        features: &'a RandomFeatures,
        w: ArrayView2<'a, f64>,
        points: ArrayView2<f64>,
        v: ArrayView2<'a, f64>,
        noise_scale: f64,
        pool: Arc<ThreadPool>,
    ) -> Self {
        assert_eq!(w.nrows(), features.count(), "one weight per feature");
        assert_eq!(v.nrows(), points.nrows(), "one row of weights per point");
        assert_eq!(w.ncols(), v.ncols(), "one prior draw per sample");
        let kernel = features.kernel();
        let (kernel, prior) = inside(&pool, || {
            let kernel_terms = KernelTerms::new(kernel, noise_scale, points, v);
            (kernel_terms, PriorTerms::new(kernel, features.omega(), w))
        });
        PosteriorSamples { kernel, prior, samples: v.ncols(), pool, memory: Scratch::default() }
    }

    /// Number of samples s.
    pub fn count(&self) -> usize {
        self.samples
    }

    /// All samples at the rows of `x` (C x d): C x s.
    pub fn values(&self, x: ArrayView2<f64>) -> Array2<f64> {
        let mut out = Array2::zeros((x.nrows(), self.count()).f());
        let tasks = x.axis_chunks_iter(Axis(0), TILE).zip(out.axis_chunks_iter_mut(Axis(0), TILE));
        OnPool(&self.pool).for_each(tasks, |(x, out)| self.values_of_tile(x, out));
        out
    }

    /// For each sample the row of `x` (C x d) where it is largest, the first of equals, and its value there. NaN is
    /// never the largest value, unless all values are NaN.
    ///
    /// Each thread keeps the values at the rows of one tile; no array has C x s numbers.
    ///
    /// # Panics
    /// If `x` has no rows.
    pub fn best_of(&self, x: ArrayView2<f64>) -> Vec<(usize, f64)> {
        assert!(x.nrows() > 0, "there is a candidate");
        let tiles = x.axis_chunks_iter(Axis(0), TILE).enumerate();
        let best_of_tile = |(tile, x): (usize, ArrayView2<f64>)| -> Vec<(usize, f64)> {
            let mut values = Array2::zeros((x.nrows(), self.count()).f());
            self.values_of_tile(x, values.view_mut());
            let with_rows = |(row, &value): (usize, &f64)| (tile * TILE + row, value);
            values
                .columns()
                .into_iter()
                .map(|values| best(values.iter().enumerate().map(with_rows)))
                .collect()
        };
        let of_tiles = OnPool(&self.pool).map(tiles, best_of_tile);
        (0..self.count()).map(|c| best(of_tiles.iter().map(|tile| tile[c]))).collect()
    }

    /// The sample `owner[i]` and its gradient at row i of `starts` (N x d): N and N x d numbers. Owners may come in any
    /// order.
    ///
    /// Within 1e-6 length scales of a point, the Matérn-1/2 kernel, which has no gradient there, adds one that falls
    /// to 0.
    ///
    /// # Panics
    /// If there are not as many owners as starts, or one of them is not a sample.
    pub fn value_and_gradient(&self, starts: ArrayView2<f64>, owner: &[usize]) -> (Array1<f64>, Array2<f64>) {
        assert_eq!(starts.nrows(), owner.len(), "one owner per start");
        assert!(owner.iter().all(|&owner| owner < self.count()), "owners are samples");
        // Starts are grouped by sample, so that those of one sample share its weights.
        let mut order: Vec<usize> = (0..owner.len()).collect();
        order.sort_by_key(|&start| owner[start]);
        let sorted = starts.select(Axis(0), &order);
        let owners: Vec<usize> = order.iter().map(|&start| owner[start]).collect();
        let gradients = Gradients { kernel: &self.kernel, prior: &self.prior, memory: &self.memory };
        let (values, gradients) = inside(&self.pool, || gradients.value_and_gradient(sorted.view(), &owners));
        let mut of_starts = (Array1::zeros(starts.nrows()), Array2::zeros(starts.dim()));
        for (place, &start) in order.iter().enumerate() {
            of_starts.0[start] = values[place];
            of_starts.1.row_mut(start).assign(&gradients.row(place));
        }
        of_starts
    }

    /// The samples at the rows of one tile, on the calling thread.
    fn values_of_tile(&self, x: ArrayView2<f64>, out: ArrayViewMut2<f64>) {
        let result = self.kernel.result(x.nrows());
        self.memory.with(result.len(), |sums: &mut [f64]| {
            sums.fill(0.0);
            add_terms(&self.prior, x, &self.memory, sums);
            add_terms(&self.kernel, x, &self.memory, sums);
            result.unpack(sums, out, |to, sum| *to = sum, &Here);
        });
    }
}

/// `sums += T v` over all rows of the terms, at the points of one tile.
fn add_terms(terms: &impl Terms, x: ArrayView2<f64>, memory: &Scratch, sums: &mut [f64]) {
    let at = terms.place(x);
    for rows in pieces(terms.rows().n(), TILE) {
        terms.add_values((&at, &(0..x.nrows())), &rows, memory, sums);
    }
}

/// The first of the largest values, each with its row.
fn best(values: impl Iterator<Item = (usize, f64)>) -> (usize, f64) {
    let larger = |best: (usize, f64), next: (usize, f64)| {
        if next.1 > best.1 || (best.1.is_nan() && !next.1.is_nan()) { next } else { best }
    };
    values.reduce(larger).expect("there is a value")
}
