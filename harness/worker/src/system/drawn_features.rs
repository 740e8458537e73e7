//! Random features that a plugin has requested.

use std::sync::{Mutex, PoisonError};

use gpbench_gp::{Frequencies, Kernel, RandomFeatures, seed};

/// Name of the random stream of the features, below the plugin's own seed.
const STREAM: &str = "gpbench.features/1";

/// The random features of the latest request, with their seed and number. They are kept because the next call often
/// requests the same features.
#[derive(Debug, Default)]
pub struct DrawnFeatures(Mutex<Option<(u64, usize, RandomFeatures)>>);

impl DrawnFeatures {
    /// Runs `work` on `count` features of a kernel and a seed, which are drawn unless the previous call used the same
    /// ones.
    pub(super) fn with<R>(
        &self,
        kernel: &Kernel,
        seed: u64,
        count: usize,
        work: impl FnOnce(&RandomFeatures) -> R,
    ) -> R {
        let mut drawn = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (.., features) = match drawn.take() {
            Some(drawn) if (drawn.0, drawn.1) == (seed, count) => drawn,
            _ => {
                let mut rng = seed::stream(seed, &[STREAM]);
                (seed, count, RandomFeatures::draw(kernel, Frequencies::MultivariateT, count, &mut rng))
            }
        };
        let (.., features) = drawn.insert((seed, count, features));
        work(features)
    }
}
