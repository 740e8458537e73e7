//! Passes over the kernel matrix, in tiles that are evaluated and dropped: n^2 entries each.

use gpbench_sdk::kernel::{Kernel, KernelGradient, Points};
use gpbench_sdk::ndarray::{Array1, Array2, ArrayView2, Axis, ShapeBuilder, s};
use gpbench_sdk::{Workers, pieces};

use crate::ActionMatrix;

/// Training rows of a tile of a product.
const COLUMNS: usize = 256;

/// Columns of a tile of a pull-back, one thread's unit of work.
const PANEL: usize = 128;

/// Rows of a tile of a pull-back.
const ROWS: usize = 1024;

/// K(points, X) S, m x i and column-major.
pub fn covariances(
    kernel: &Kernel,
    points: ArrayView2<'_, f64>,
    x: ArrayView2<'_, f64>,
    actions: &ActionMatrix,
    workers: Workers<'_>,
) -> Array2<f64> {
    let mut product = Array2::zeros((points.nrows(), actions.count()).f());
    pieces::fill(points, product.view_mut(), workers, |points, mut out| {
        for (index, rows) in x.axis_chunks_iter(Axis(0), COLUMNS).enumerate() {
            let entries = kernel.gram(&points, &rows, Workers::new(1));
            actions.add_product(&entries, index * COLUMNS, &mut out);
        }
    });
    product
}

/// Derivatives of a function of K = K(X, X) by the kernel's scales, where those by the entries of K are C S^T,
/// C = `cotangent`, n x i; and the entries of K C at which S has an entry, one a row, if the actions are sparse.
pub fn pull_back(
    kernel: &Kernel,
    x: ArrayView2<'_, f64>,
    actions: &ActionMatrix,
    cotangent: &Array2<f64>,
    workers: Workers<'_>,
) -> (KernelGradient, Array1<f64>) {
    let n = x.nrows();
    let mut total = zero(kernel);
    let mut products: Array1<f64> = Array1::zeros(actions.trained().len());
    let columns = |panel: usize| PANEL * panel..n.min(PANEL * (panel + 1));
    let make = |panel: usize| {
        let range = columns(panel);
        let side = x.slice(s![range.clone(), ..]);
        let mut gradient = zero(kernel);
        let mut products: Array1<f64> = Array1::zeros(range.len());
        let tiles = x.axis_chunks_iter(Axis(0), ROWS).zip(cotangent.axis_chunks_iter(Axis(0), ROWS));
        for (rows, cotangent) in tiles {
            let weights = actions.outer(&cotangent, range.clone());
            let part = kernel.pull_back(&rows, &side, &weights, Points::Neither, Workers::new(1));
            gradient.add_scales(&part);
            if let ActionMatrix::Sparse(sparse) = actions {
                let entries = kernel.gram(&rows, &side, Workers::new(1));
                let of_rows = entries.columns().into_iter().zip(range.clone());
                for ((column, row), product) in of_rows.zip(&mut products) {
                    *product += column.dot(&cotangent.column(sparse.action[row]));
                }
            }
        }
        (gradient, products)
    };
    pieces::in_order(n.div_ceil(PANEL), workers, make, |panel, (gradient, of_panel)| {
        total.add_scales(&gradient);
        if !products.is_empty() {
            products.slice_mut(s![columns(panel)]).assign(&of_panel);
        }
    });
    (total, products)
}

/// Derivatives that are all 0.
fn zero(kernel: &Kernel) -> KernelGradient {
    KernelGradient {
        signal_scale: 0.0,
        length_scale: Array1::zeros(kernel.length_scale.len()),
        rows: Array2::zeros((0, 0)),
        columns: Array2::zeros((0, 0)),
    }
}
