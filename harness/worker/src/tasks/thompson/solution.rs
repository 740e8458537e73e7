//! The file of the results of a search, which is passed from the process that ran the plugin to the one that verifies
//! them.
//!
//! | array | shape | holds |
//! |---|---|---|
//! | `best`, `points`, `chosen`, `solution` | steps; points x d; s x d; m x (1 + s) | fields of [`Found`] |

use std::path::Path;

use gpbench_files::Durability;
use gpbench_record::names;
use ndarray::{Array1, Array2};

use crate::array_file::{ArrayFile, ArrayWriter, FileError};

use super::state::State;

const KIND: &str = "thompson-solution";

/// Names of the arrays.
const BEST: &str = "best";
const POINTS: &str = "points";
const CHOSEN: &str = "chosen";
const SOLUTION: &str = "solution";

/// The results of a search.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Found {
    /// The best value that it reports after each step.
    pub(super) best: Array1<f64>,
    /// All acquired points, one per row.
    pub(super) points: Array2<f64>,
    /// The points that the samples of the last step chose, one per row.
    pub(super) chosen: Array2<f64>,
    /// Solutions of the last step, m x (1 + s).
    pub(super) solution: Array2<f64>,
}

/// Writes the file.
pub(super) fn write(path: &Path, state: &State) -> Result<(), FileError> {
    let best: Array1<f64> =
        state.saved.steps.iter().filter_map(|step| step.metrics.get(names::BEST)).collect();
    let solution = state.solution.as_ref().expect("a search takes a step");
    ArrayWriter::new(KIND, &())
        .array(BEST, best.view())
        .array(POINTS, state.points.view())
        .array(CHOSEN, state.chosen.view())
        .array(SOLUTION, solution.view())
        .write(path, Durability::ThisRun)
}

/// Reads the file.
///
/// # Errors
/// If it cannot be read, is damaged, or lacks an array.
pub(super) fn read(path: &Path) -> Result<Found, FileError> {
    let file = ArrayFile::read(path, KIND, usize::MAX)?;
    Ok(Found {
        best: file.vector(BEST)?,
        points: file.column_major(POINTS)?,
        chosen: file.column_major(CHOSEN)?,
        solution: file.column_major(SOLUTION)?,
    })
}
