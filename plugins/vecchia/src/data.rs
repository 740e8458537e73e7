//! Training data in two orders.

use gpbench_sdk::ndarray::{Array1, Array2, ArrayRef1, ArrayRef2, Axis};
use gpbench_sdk::{Error, Result};

/// Training data as given, and in the order of the approximation, whose row numbers are called positions.
#[derive(Debug, Clone)]
pub struct Data {
    /// Inputs as given, n x d.
    pub x: Array2<f64>,
    /// Targets as given.
    pub y: Array1<f64>,
    /// Rows by position.
    pub order: Vec<usize>,
    /// Inputs by position.
    pub ordered_x: Array2<f64>,
    /// Targets by position.
    pub ordered_y: Array1<f64>,
    /// Positions by row.
    pub positions: Vec<usize>,
}

impl Data {
    /// Data with the rows in `order`.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if the order is no permutation of the rows.
    pub fn new(x: &ArrayRef2<f64>, y: &ArrayRef1<f64>, order: Vec<usize>) -> Result<Data> {
        let mut row_major = Array2::zeros(x.dim());
        row_major.assign(x);
        let mut positions = vec![usize::MAX; x.nrows()];
        for (position, &row) in order.iter().enumerate() {
            if let Some(place) = positions.get_mut(row) {
                *place = position;
            }
        }
        if order.len() != x.nrows() || positions.contains(&usize::MAX) {
            return Err(Error::InvalidArgument("the order is no permutation of the rows".into()));
        }
        let (ordered_x, ordered_y) = (row_major.select(Axis(0), &order), y.select(Axis(0), &order));
        Ok(Data { x: row_major, y: y.to_owned(), order, ordered_x, ordered_y, positions })
    }

    /// Number of rows.
    pub fn n(&self) -> usize {
        self.order.len()
    }
}
