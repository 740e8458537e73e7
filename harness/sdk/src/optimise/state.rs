//! Saved states: vectors of numbers under names.

use ndarray::Array2;

use crate::{Error, Result};

/// A named matrix of a saved state.
pub type Named = (String, Array2<f64>);

/// A vector as a matrix of one column.
pub(super) fn put(prefix: &str, name: &str, numbers: &[f64]) -> Named {
    let column = Array2::from_shape_fn((numbers.len(), 1), |(i, _)| numbers[i]);
    (format!("{prefix}_{name}"), column)
}

/// The reverse of [`put`], for a vector of known length.
pub(super) fn take(
    prefix: &str,
    name: &str,
    length: usize,
    get: &mut impl FnMut(&str) -> Option<Array2<f64>>,
) -> Result<Vec<f64>> {
    let name = format!("{prefix}_{name}");
    let column =
        get(&name).ok_or_else(|| Error::InvalidArgument(format!("the saved state has no matrix {name}")))?;
    if column.dim() != (length, 1) {
        let (rows, columns) = column.dim();
        let text = format!("the saved state's {name} is {rows} x {columns}, expected {length} x 1");
        return Err(Error::InvalidArgument(text));
    }
    Ok(column.iter().copied().collect())
}
