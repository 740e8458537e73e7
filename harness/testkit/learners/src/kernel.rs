//! Entries of the stationary families.

use gpbench_sdk::ndarray::{Array2, ArrayView2, ShapeBuilder};
use gpbench_sdk::{Error, Family, Inputs, Result};

/// A stationary kernel with unit signal scale.
#[derive(Debug, Clone)]
pub(crate) struct Kernel {
    pub family: Family,
    pub length_scale: Vec<f64>,
}

impl Kernel {
    /// The initial kernel of a fit.
    ///
    /// # Errors
    /// If the kernel is linear.
    pub(crate) fn of(inputs: &Inputs<'_>) -> Result<Kernel> {
        let family = inputs.family.stationary();
        let family = family.ok_or_else(|| Error::Unsupported("a linear kernel".into()))?;
        Ok(Kernel { family, length_scale: inputs.length_scale.to_vec() })
    }

    /// k(a, b), column-major.
    pub(crate) fn gram(&self, a: ArrayView2<'_, f64>, b: ArrayView2<'_, f64>) -> Array2<f64> {
        Array2::from_shape_fn((a.nrows(), b.nrows()).f(), |(i, j)| {
            let scaled = self.length_scale.iter().enumerate();
            let squares = scaled.map(|(k, l)| ((a[[i, k]] - b[[j, k]]) / l).powi(2));
            self.value(squares.sum::<f64>().sqrt())
        })
    }

    fn value(&self, r: f64) -> f64 {
        let (sqrt3, sqrt5) = (3f64.sqrt() * r, 5f64.sqrt() * r);
        match self.family {
            Family::Rbf => (-r * r / 2.0).exp(),
            Family::Matern12 => (-r).exp(),
            Family::Matern32 => (1.0 + sqrt3) * (-sqrt3).exp(),
            Family::Matern52 => (1.0 + sqrt5 + sqrt5 * sqrt5 / 3.0) * (-sqrt5).exp(),
        }
    }
}
