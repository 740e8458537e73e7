//! Random features that a plugin has requested.

use std::sync::{Mutex, PoisonError};

use gpbench_gp::{FeatureRows, Frequencies, Kernel, RandomFeatures, seed};
use ndarray::{Array2, ArrayView2};
use rayon::ThreadPool;

/// Name of the random stream of the features, below the plugin's own seed.
const STREAM: &str = "gpbench.features/1";

/// Largest number of features of all points that are kept: 32 MiB. To evaluate them takes several times as long as a
/// product with one column.
const KEPT: usize = 1 << 22;

/// The random features of the latest request. They are kept because a plugin multiplies by the same features from both
/// sides.
#[derive(Debug, Default)]
pub struct DrawnFeatures(Mutex<Option<Drawn>>);

#[derive(Debug)]
struct Drawn {
    seed: u64,
    features: RandomFeatures,
    /// The features of all points, where these are few.
    blocks: Vec<Array2<f64>>,
}

impl DrawnFeatures {
    /// Runs `work` on the rows of `count` features of a kernel and a seed at points, m x d. The points are the same in
    /// all calls. Features are drawn unless the previous call used the same ones.
    ///
    /// The lock is taken outside of the pool: a thread of the pool that waited for a part of its own work could take up
    /// another call, which would wait for the lock.
    pub(super) fn with<R: Send>(
        &self,
        (kernel, points): (&Kernel, ArrayView2<'_, f64>),
        (seed, count): (u64, usize),
        pool: &ThreadPool,
        work: impl FnOnce(FeatureRows<'_>) -> R + Send,
    ) -> R {
        let mut latest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_kept = points.nrows().saturating_mul(count) <= KEPT;
        let drawn = match latest.take() {
            Some(drawn) if (drawn.seed, drawn.features.count()) == (seed, count) => drawn,
            other => {
                let mut rng = seed::stream(seed, &[STREAM]);
                let features = RandomFeatures::draw(kernel, Frequencies::MultivariateT, count, &mut rng);
                let mut blocks = other.map(|other| other.blocks).unwrap_or_default();
                if is_kept {
                    pool.install(|| features.evaluate(points, &mut blocks));
                }
                Drawn { seed, features, blocks }
            }
        };
        let Drawn { features, blocks, .. } = latest.insert(drawn);
        let rows = if is_kept { FeatureRows::Kept(blocks) } else { FeatureRows::Evaluated(features, points) };
        pool.install(|| work(rows))
    }
}
