//! The file from which a search continues after a crash: the steps so far, their points, and the last solutions. The
//! objective is asked again.

use std::path::Path;

use gpbench_files::Durability;
use ndarray::Array2;

use crate::array_file;
use crate::binary::FileError;
use crate::plugin::Arrays;

use super::state::{Saved, State};

const MAGIC: &[u8; 8] = b"GPBTHOM1";

/// The group of the file, and the names of its arrays.
const GROUP: &str = "state";
const POINTS: &str = "points";
const SOLUTION: &str = "solution";
const CHOSEN: &str = "chosen";

/// The part of a state that cannot be computed again.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Checkpoint {
    pub(super) saved: Saved,
    pub(super) points: Array2<f64>,
    pub(super) solution: Option<Array2<f64>>,
    pub(super) chosen: Array2<f64>,
}

/// Writes a state.
pub(super) fn write(path: &Path, state: &State) -> Result<(), FileError> {
    let State { points, solution, chosen, saved, .. } = state;
    let mut arrays = Arrays::from([(POINTS.to_owned(), points.clone()), (CHOSEN.to_owned(), chosen.clone())]);
    arrays.extend(solution.clone().map(|solution| (SOLUTION.to_owned(), solution)));
    array_file::write(path, Durability::Whole, MAGIC, saved, &[(GROUP, &arrays)])
}

/// Reads a state of points with `d` inputs; `None` where there is no file yet.
///
/// # Errors
/// If the file cannot be read, is damaged, or is one of another version.
pub(super) fn read(path: &Path, d: usize) -> Result<Option<Checkpoint>, FileError> {
    let (saved, mut groups): (Saved, _) = match array_file::read(path, MAGIC, usize::MAX) {
        Err(FileError::Missing { .. }) => return Ok(None),
        read => read?,
    };
    let mut arrays = groups.remove(GROUP).unwrap_or_default();
    let mut of_points = |name: &str| {
        let found = arrays.remove(name).filter(|points| points.ncols() == d);
        // The file's arrays are column-major.
        found.map(|points| Array2::from_shape_fn(points.dim(), |place| points[place]))
    };
    let (Some(points), Some(chosen)) = (of_points(POINTS), of_points(CHOSEN)) else {
        return Err(FileError::mismatch(path, format!("it has no points of {d} inputs")));
    };
    Ok(Some(Checkpoint { saved, points, solution: arrays.remove(SOLUTION), chosen }))
}
