//! The file that carries what a search has found to the process that verifies it.

use std::path::Path;

use gpbench_files::Durability;
use gpbench_record::names;
use ndarray::Array2;

use crate::array_file;
use crate::binary::FileError;
use crate::plugin::Arrays;

use super::state::State;

const MAGIC: &[u8; 8] = b"GPBTHSO1";

/// The group of the file, and the names of its arrays.
const GROUP: &str = "found";
const NAMES: [&str; 3] = ["points", "chosen", "solution"];

/// What a search has found.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Found {
    /// The best value that it reports after each step.
    pub(super) best: Vec<f64>,
    /// All acquired points, one a row.
    pub(super) points: Array2<f64>,
    /// The points that the samples of the last step chose, one a row.
    pub(super) chosen: Array2<f64>,
    /// Solutions of the last step, m x (1 + s).
    pub(super) solution: Array2<f64>,
}

/// Writes the file.
pub(super) fn write(path: &Path, state: &State) -> Result<(), FileError> {
    let best: Vec<f64> = state.saved.steps.iter().filter_map(|step| step.metrics.get(names::BEST)).collect();
    let solution = state.solution.as_ref().expect("a search takes a step");
    let arrays = NAMES.into_iter().zip([&state.points, &state.chosen, solution]);
    let arrays: Arrays = arrays.map(|(name, array)| (name.to_owned(), array.clone())).collect();
    array_file::write(path, Durability::ThisRun, MAGIC, &best, &[(GROUP, &arrays)])
}

/// Reads the file.
///
/// # Errors
/// If it cannot be read, is damaged, or lacks an array.
pub(super) fn read(path: &Path) -> Result<Found, FileError> {
    let (best, mut groups): (Vec<f64>, _) = array_file::read(path, MAGIC, usize::MAX)?;
    let mut arrays = groups.remove(GROUP).unwrap_or_default();
    let [points, chosen, solution] = NAMES.map(|name| arrays.remove(name));
    match (points, chosen, solution) {
        (Some(points), Some(chosen), Some(solution)) => Ok(Found { best, points, chosen, solution }),
        _ => Err(FileError::mismatch(path, "it lacks an array".to_owned())),
    }
}
