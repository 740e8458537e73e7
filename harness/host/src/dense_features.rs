//! Random features of a system whose matrix is stored.

use ndarray::{Array2, ArrayView2, ArrayViewMut2};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::system::FeatureProducts;

/// Random features Phi (m x count) of a [`DenseSystem`](crate::DenseSystem).
#[derive(Debug, Clone)]
pub enum DenseFeatures {
    /// Features that are the same for every seed, m x count, for solvers that request this number.
    Fixed(Array2<f64>),
    /// A root R (m x r) of the expectation of Phi Phi^T, which is R R^T: Phi = R G / sqrt(count), with signs G drawn
    /// from the seed.
    Drawn(Array2<f64>),
}

impl DenseFeatures {
    fn of(&self, seed: u64, count: usize) -> Result<Array2<f64>, String> {
        match self {
            DenseFeatures::Fixed(phi) if phi.ncols() == count => Ok(phi.clone()),
            DenseFeatures::Fixed(phi) => {
                Err(format!("{count} features were asked for, of {} fixed ones", phi.ncols()))
            }
            DenseFeatures::Drawn(root) => {
                let mut rng = ChaCha8Rng::seed_from_u64(seed);
                let length = (count as f64).sqrt().recip();
                let signs = Array2::from_shape_simple_fn((root.ncols(), count), || {
                    if rng.random::<bool>() { length } else { -length }
                });
                Ok(root.dot(&signs))
            }
        }
    }
}

impl FeatureProducts for DenseFeatures {
    fn apply(&self, seed: u64, w: ArrayView2<'_, f64>, mut y: ArrayViewMut2<'_, f64>) -> Result<(), String> {
        y.assign(&self.of(seed, w.nrows())?.dot(&w));
        Ok(())
    }

    fn apply_transposed(
        &self,
        seed: u64,
        y: ArrayView2<'_, f64>,
        mut w: ArrayViewMut2<'_, f64>,
    ) -> Result<(), String> {
        let phi = self.of(seed, w.nrows())?;
        w.assign(&phi.t().dot(&y));
        Ok(())
    }
}
