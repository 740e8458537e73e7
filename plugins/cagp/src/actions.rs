//! Actions: the columns of S, on whose products with the targets the process is conditioned.

use std::ops::Range;

use gpbench_sdk::ndarray::linalg::general_mat_mul;
use gpbench_sdk::ndarray::{Array1, Array2, ArrayRef2, ShapeBuilder, s};
use gpbench_sdk::{Model, Scales, Workers, tall};

/// The matrix S, n x i.
#[derive(Debug, Clone, PartialEq)]
pub enum ActionMatrix {
    /// Each row is in one action.
    Sparse(SparseActions),
    /// Any entries, in linearly independent columns.
    Dense(Array2<f64>),
}

/// Actions of which each row has one entry.
#[derive(Debug, Clone, PartialEq)]
pub struct SparseActions {
    /// The action of each row, from 0.
    pub action: Vec<usize>,
    /// The entry of each row. A row whose entry is 0 is in no action.
    pub entry: Array1<f64>,
    /// Number of actions.
    pub count: usize,
}

impl SparseActions {
    /// Actions of these rows and entries, as many as the largest number asks for.
    pub fn new(action: Vec<usize>, entry: Array1<f64>) -> SparseActions {
        let count = action.iter().max().map_or(0, |last| last + 1);
        SparseActions { action, entry, count }
    }
}

impl ActionMatrix {
    /// Number of actions i.
    pub fn count(&self) -> usize {
        match self {
            ActionMatrix::Sparse(sparse) => sparse.count,
            ActionMatrix::Dense(dense) => dense.ncols(),
        }
    }

    /// Entries that are trained.
    pub fn trained(&self) -> &[f64] {
        match self {
            ActionMatrix::Sparse(sparse) => sparse.entry.as_slice().expect("a vector that is in one piece"),
            ActionMatrix::Dense(_) => &[],
        }
    }

    /// S^T V, i x k, for V, n x k.
    pub fn project(&self, v: &ArrayRef2<f64>, workers: Workers<'_>) -> Array2<f64> {
        match self {
            ActionMatrix::Sparse(sparse) => {
                let mut projected: Array2<f64> = Array2::zeros((sparse.count, v.ncols()).f());
                for (mut out, column) in projected.columns_mut().into_iter().zip(v.columns()) {
                    for ((&action, &entry), &value) in sparse.action.iter().zip(&sparse.entry).zip(column) {
                        out[action] += entry * value;
                    }
                }
                projected
            }
            ActionMatrix::Dense(dense) => tall::product(dense, v, workers),
        }
    }

    /// S M, n x k and column-major, for M, i x k.
    pub fn combine(&self, m: &ArrayRef2<f64>, workers: Workers<'_>) -> Array2<f64> {
        match self {
            ActionMatrix::Sparse(sparse) => {
                let mut combined = Array2::zeros((sparse.action.len(), m.ncols()).f());
                for (mut out, column) in combined.columns_mut().into_iter().zip(m.columns()) {
                    for ((out, &action), &entry) in out.iter_mut().zip(&sparse.action).zip(&sparse.entry) {
                        *out = entry * column[action];
                    }
                }
                combined
            }
            ActionMatrix::Dense(dense) => {
                let mut combined = Array2::zeros((dense.nrows(), m.ncols()).f());
                tall::add_product(1.0, dense, m, &mut combined, workers);
                combined
            }
        }
    }

    /// S^T S, i x i.
    pub fn gram(&self, workers: Workers<'_>) -> Array2<f64> {
        match self {
            ActionMatrix::Sparse(sparse) => {
                let mut gram: Array2<f64> = Array2::zeros((sparse.count, sparse.count).f());
                for (&action, &entry) in sparse.action.iter().zip(&sparse.entry) {
                    gram[[action, action]] += entry * entry;
                }
                gram
            }
            ActionMatrix::Dense(dense) => tall::product(dense, dense, workers),
        }
    }

    /// out += K S_J, for the columns K of the rows J, which begin at `first`.
    pub(crate) fn add_product(&self, columns: &Array2<f64>, first: usize, out: &mut ArrayRef2<f64>) {
        match self {
            ActionMatrix::Sparse(sparse) => {
                for (column, row) in columns.columns().into_iter().zip(first..) {
                    out.column_mut(sparse.action[row]).scaled_add(sparse.entry[row], &column);
                }
            }
            ActionMatrix::Dense(dense) => {
                let rows = dense.slice(s![first..first + columns.ncols(), ..]);
                general_mat_mul(1.0, columns, &rows, 1.0, out);
            }
        }
    }

    /// A S_J^T, for the rows J of S and a matrix A of i columns.
    pub(crate) fn outer(&self, a: &ArrayRef2<f64>, rows: Range<usize>) -> Array2<f64> {
        let mut product = Array2::zeros((a.nrows(), rows.len()).f());
        match self {
            ActionMatrix::Sparse(sparse) => {
                for (mut column, row) in product.columns_mut().into_iter().zip(rows) {
                    column.scaled_add(sparse.entry[row], &a.column(sparse.action[row]));
                }
            }
            ActionMatrix::Dense(dense) => {
                general_mat_mul(1.0, a, &dense.slice(s![rows, ..]).t(), 0.0, &mut product);
            }
        }
        product
    }

    /// The same actions with other entries, if these are trained.
    pub(crate) fn with_entries(&self, entries: &[f64]) -> ActionMatrix {
        match self {
            ActionMatrix::Sparse(sparse) => {
                ActionMatrix::Sparse(SparseActions { entry: entries.to_vec().into(), ..sparse.clone() })
            }
            ActionMatrix::Dense(dense) => ActionMatrix::Dense(dense.clone()),
        }
    }

    /// The model of these actions.
    pub(crate) fn model(&self, scales: &Scales) -> Model {
        match self {
            ActionMatrix::Sparse(sparse) => {
                Model::sparse_actions(scales, &sparse.action, sparse.entry.view())
            }
            ActionMatrix::Dense(dense) => Model::dense_actions(scales, dense.view()),
        }
    }
}
