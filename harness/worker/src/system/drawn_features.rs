//! Random features that a plugin asks for, at the points of the columns.

use std::sync::{Mutex, PoisonError};

use gpbench_gp::{Frequencies, RandomFeatures, seed};
use gpbench_host::FeatureProducts;
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis};

use super::System;

/// The random features last asked for, with their seed and number: the next call often asks for the same.
#[derive(Debug, Default)]
pub struct DrawnFeatures(Mutex<Option<(u64, usize, RandomFeatures)>>);

impl System {
    /// Runs `work` on `count` features of this seed, drawing them unless they are those of the call before.
    fn with_features(
        &self,
        seed: u64,
        count: usize,
        work: impl FnOnce(&RandomFeatures) -> Array2<f64> + Send,
    ) -> Array2<f64> {
        let mut drawn = self.drawn.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (.., features) = match drawn.take() {
            Some(drawn) if (drawn.0, drawn.1) == (seed, count) => drawn,
            _ => {
                let mut rng = seed::stream(seed, &["gpbench.features/1"]);
                let law = Frequencies::MultivariateT;
                (seed, count, RandomFeatures::draw(self.operator.kernel(), law, count, &mut rng))
            }
        };
        let (.., features) = drawn.insert((seed, count, features));
        self.pool.install(|| work(features))
    }
}

impl FeatureProducts for System {
    fn apply(&self, seed: u64, w: ArrayView2<'_, f64>, mut y: ArrayViewMut2<'_, f64>) -> Result<(), String> {
        let view = self.view();
        y.assign(&self.with_features(seed, w.nrows(), |features| features.apply(view.points(), w)));
        if let Some(scales) = view.scales {
            y *= &scales.insert_axis(Axis(1));
        }
        Ok(())
    }

    fn apply_transposed(
        &self,
        seed: u64,
        y: ArrayView2<'_, f64>,
        mut w: ArrayViewMut2<'_, f64>,
    ) -> Result<(), String> {
        let view = self.view();
        let scaled = view.scales.map(|scales| &y * &scales.insert_axis(Axis(1)));
        let y = scaled.as_ref().map_or(y, |scaled| scaled.view());
        let back = |features: &RandomFeatures| features.apply_transposed(view.points(), y);
        let count = w.nrows();
        w.assign(&self.with_features(seed, count, back));
        Ok(())
    }
}
