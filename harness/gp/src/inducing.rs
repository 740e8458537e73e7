//! Inducing points, which replace the rows by fewer unknowns.
//!
//! With basis points Z in place of the inputs X, the posterior mean is `K(., Z) v` for
//!
//! ```text
//! v = argmin |y - K(X, Z) v|^2 + noise^2 v^T K(Z, Z) v
//! ```
//!
//! and samples have `f(X) + noise` in place of y (Lin et al. 2023, equations 11 to 13; the mean is that of Titsias
//! 2009). The approximation is good if every row has a point within about half a length scale.

mod kmeans;
mod neighbours;

use std::sync::Arc;

use ndarray::{Array2, ArrayView2, Axis};
use rand::Rng;
use rand::seq::index;
use rayon::ThreadPool;

use crate::pivoted::PivotedFactor;
use crate::{Kernel, KernelOperator};

/// A method to choose inducing points. All methods use the unscaled inputs alone; [`greedy`] uses a kernel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Selection {
    /// Random rows without repeats, in the order of the rows.
    Subset {
        /// Number of points.
        points: usize,
    },
    /// Centres of clusters: Lloyd's iterations from seeds by k-means++ (Arthur and Vassilvitskii 2007).
    KMeans {
        /// Number of points.
        points: usize,
    },
    /// The rows that remain after elimination of near neighbours (Lin et al. 2023, appendix A.2); their number
    /// depends on the distance. Uses no random numbers.
    Neighbours {
        /// Euclidean distance below which rows count as near.
        distance: f64,
        /// Largest number of neighbours of a row that are considered.
        neighbours: usize,
    },
}

/// Reason why inducing points cannot be chosen.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum SelectionError {
    /// A number of points that is 0 or larger than the number of rows.
    #[error("{points} inducing points were asked for; there are {rows} training rows to choose from")]
    Count {
        /// Number of points requested.
        points: usize,
        /// Number of rows.
        rows: usize,
    },
    /// A distance that is not positive and finite.
    #[error("inducing points by neighbours need a positive distance, not {distance}")]
    Distance {
        /// The distance.
        distance: f64,
    },
}

/// Chooses inducing points (m x d, row-major) for the rows of `x` (n x d), on the caller's rayon pool. They depend
/// on `x` and `rng` alone.
///
/// # Errors
/// If the selection is impossible for these rows.
pub fn select(
    selection: Selection,
    x: ArrayView2<f64>,
    rng: &mut impl Rng,
) -> Result<Array2<f64>, SelectionError> {
    let n = x.nrows();
    let x = x.as_standard_layout();
    let count = |points| match points {
        1.. if points <= n => Ok(points),
        _ => Err(SelectionError::Count { points, rows: n }),
    };
    Ok(match selection {
        Selection::Subset { points } => {
            let mut rows = index::sample(rng, n, count(points)?).into_vec();
            rows.sort_unstable();
            x.select(Axis(0), &rows)
        }
        Selection::KMeans { points } => kmeans::centres(x.view(), count(points)?, rng),
        Selection::Neighbours { distance, neighbours } => {
            if !(distance > 0.0 && distance.is_finite()) {
                return Err(SelectionError::Distance { distance });
            }
            x.select(Axis(0), &neighbours::thin(x.view(), distance, neighbours))
        }
    })
}

/// Inducing points that are chosen greedily among the rows of `x` (n x d): each is the row whose variance under the
/// kernel the points before it explain least (Burt, Rasmussen and van der Wilk 2020, *Convergence of Sparse
/// Variational Inference in Gaussian Processes Regression*). At most `points` rows, in the order of their choice, and
/// fewer where nothing remains to be explained. m points take m n kernel entries and m^2 n multiply-adds.
pub fn greedy(kernel: &Kernel, x: ArrayView2<f64>, points: usize, pool: &Arc<ThreadPool>) -> Array2<f64> {
    let op = KernelOperator::with_pool(kernel, 0.0, x, Arc::clone(pool));
    x.select(Axis(0), &PivotedFactor::new(&op, x, points).pivots)
}
