//! A matrix whose entries are stored.

use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2, Axis};

use crate::LinearOperator;

/// An operator whose entries are stored, for small systems and for tests of other operators.
#[derive(Debug, Clone, PartialEq)]
pub struct Dense(pub Array2<f64>);

impl LinearOperator for Dense {
    fn shape(&self) -> (usize, usize) {
        self.0.dim()
    }

    fn apply(&self, x: ArrayView2<'_, f64>, mut y: ArrayViewMut2<'_, f64>) {
        y.assign(&self.0.dot(&x));
    }

    fn rows(&self, rows: &[usize], x: ArrayView2<'_, f64>, mut y: ArrayViewMut2<'_, f64>) {
        y.assign(&self.0.select(Axis(0), rows).dot(&x));
    }

    fn rows_and_back(
        &self,
        rows: &[usize],
        x: ArrayView2<'_, f64>,
        f: &mut dyn FnMut(ArrayViewMut2<'_, f64>),
        mut z: ArrayViewMut2<'_, f64>,
    ) {
        let rows = self.0.select(Axis(0), rows);
        let mut u = rows.dot(&x);
        f(u.view_mut());
        z += &rows.t().dot(&u);
    }

    fn columns(&self, cols: &[usize], x: ArrayView2<'_, f64>, mut y: ArrayViewMut2<'_, f64>) {
        y += &self.0.select(Axis(1), cols).dot(&x);
    }

    fn block(&self, rows: &[usize], cols: &[usize], mut out: ArrayViewMut2<'_, f64>) {
        out.assign(&self.0.select(Axis(0), rows).select(Axis(1), cols));
    }

    /// The diagonal; `None` unless the matrix is square, since rows and columns are otherwise different points.
    fn diagonal(&self) -> Option<Array1<f64>> {
        self.0.is_square().then(|| self.0.diag().to_owned())
    }
}
