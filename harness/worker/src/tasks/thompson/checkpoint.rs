//! The file from which a search continues after a crash. The objective is evaluated again.
//!
//! | array | shape | holds |
//! |---|---|---|
//! | `points` | points x d | all acquired points, one a row |
//! | `chosen` | s x d | the points that the samples of the last step chose; 0 x d before the first |
//! | `solution` | m x (1 + s) | solutions of the last step, where they are still needed |
//!
//! The state of the file is [`Saved`]: the steps so far.

use std::path::Path;

use gpbench_files::Durability;
use ndarray::Array2;

use crate::array_file::{ArrayFile, ArrayWriter, FileError};

use super::state::{Saved, State};

const KIND: &str = "thompson-checkpoint";

/// Names of the arrays.
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

/// Properties of a search with which its file must agree.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    /// Number of inputs.
    pub(super) d: usize,
    /// Number of points of a step.
    pub(super) batch: usize,
    /// Number of outer steps of the whole search.
    pub(super) steps: u64,
    /// Whether each step starts from the solutions of the one before.
    pub(super) is_warm: bool,
}

impl Shape {
    /// Whether the solutions of a step are needed by a later step or by verification.
    fn keeps_solution(self, taken: usize) -> bool {
        taken > 0 && (self.is_warm || taken as u64 == self.steps)
    }
}

/// Writes a state.
pub(super) fn write(path: &Path, shape: Shape, state: &State) -> Result<(), FileError> {
    let State { points, solution, chosen, saved, .. } = state;
    let mut file = ArrayWriter::new(KIND, saved).array(POINTS, points.view()).array(CHOSEN, chosen.view());
    if let Some(solution) = solution.as_ref().filter(|_| shape.keeps_solution(saved.steps.len())) {
        file = file.array(SOLUTION, solution.view());
    }
    file.write(path, Durability::Whole)
}

/// Reads a state; `None` where there is no file yet.
///
/// # Errors
/// If the file cannot be read, is damaged, is one of another version, or does not agree with the search.
pub(super) fn read(path: &Path, shape: Shape) -> Result<Option<Checkpoint>, FileError> {
    let file = match ArrayFile::read(path, KIND, usize::MAX) {
        Err(FileError::Missing { .. }) => return Ok(None),
        read => read?,
    };
    let saved: Saved = file.state()?;
    let (points, chosen) = (file.row_major(POINTS)?, file.row_major(CHOSEN)?);
    let solution = file.optional(SOLUTION)?;
    let taken = saved.steps.len();
    let solution_fits = match &solution {
        Some(solution) => solution.ncols() == 1 + shape.batch,
        None => !shape.keeps_solution(taken),
    };
    let rows = [taken * shape.batch, if taken > 0 { shape.batch } else { 0 }];
    if solution_fits && [points.dim(), chosen.dim()] == rows.map(|rows| (rows, shape.d)) {
        Ok(Some(Checkpoint { saved, points, solution, chosen }))
    } else {
        Err(file.mismatch(format!("it is not of a search of {} points a step", shape.batch)))
    }
}
