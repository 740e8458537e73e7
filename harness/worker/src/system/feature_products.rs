//! Products with random features of the kernel at the points of the columns.

use gpbench_gp::FeatureRows;
use gpbench_host::FeatureProducts;
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis};

use super::System;

impl System {
    fn with_features(
        &self,
        seed: u64,
        count: usize,
        work: impl FnOnce(FeatureRows<'_>) -> Array2<f64> + Send,
    ) -> Array2<f64> {
        let of = (self.operator.kernel(), self.view().points());
        self.drawn.with(of, (seed, count), &self.pool, work)
    }
}

impl FeatureProducts for System {
    fn apply(&self, seed: u64, w: ArrayView2<'_, f64>, mut y: ArrayViewMut2<'_, f64>) -> Result<(), String> {
        let view = self.view();
        y.assign(&self.with_features(seed, w.nrows(), |features| features.apply(w)));
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
        let count = w.nrows();
        w.assign(&self.with_features(seed, count, |features| features.apply_transposed(y)));
        Ok(())
    }
}
