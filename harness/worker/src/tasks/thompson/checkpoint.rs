//! The file from which a search continues after a crash: the steps so far, their points, and the last solutions where they
//! are still needed. The objective is asked again.

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

/// What the file of a search must agree with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    /// Inputs.
    pub(super) d: usize,
    /// Points of a step.
    pub(super) batch: usize,
    /// Outer steps of the whole search.
    pub(super) steps: u64,
    /// Whether each step starts from the solutions of the one before.
    pub(super) is_warm: bool,
}

impl Shape {
    /// Whether the solutions of a step serve a later one, or the verification.
    fn keeps_solution(self, taken: usize) -> bool {
        taken > 0 && (self.is_warm || taken as u64 == self.steps)
    }
}

/// Writes a state.
pub(super) fn write(path: &Path, shape: Shape, state: &State) -> Result<(), FileError> {
    let State { points, solution, chosen, saved, .. } = state;
    let mut arrays = Arrays::from([(POINTS.to_owned(), points.clone()), (CHOSEN.to_owned(), chosen.clone())]);
    let kept = solution.clone().filter(|_| shape.keeps_solution(saved.steps.len()));
    arrays.extend(kept.map(|solution| (SOLUTION.to_owned(), solution)));
    array_file::write(path, Durability::Whole, MAGIC, saved, &[(GROUP, &arrays)])
}

/// Reads a state; `None` where there is no file yet.
///
/// # Errors
/// If the file cannot be read, is damaged, is one of another version, or does not agree with the search.
pub(super) fn read(path: &Path, shape: Shape) -> Result<Option<Checkpoint>, FileError> {
    let (saved, mut groups): (Saved, _) = match array_file::read(path, MAGIC, usize::MAX) {
        Err(FileError::Missing { .. }) => return Ok(None),
        read => read?,
    };
    let mut arrays = groups.remove(GROUP).unwrap_or_default();
    let taken = saved.steps.len();
    let solution = arrays.remove(SOLUTION);
    let mut of_points = |name: &str, rows: usize| {
        let found = arrays.remove(name).filter(|points| points.dim() == (rows, shape.d));
        // The file's arrays are column-major.
        found.map(|points| Array2::from_shape_fn(points.dim(), |place| points[place]))
    };
    let (points, chosen) =
        (of_points(POINTS, taken * shape.batch), of_points(CHOSEN, if taken > 0 { shape.batch } else { 0 }));
    let fits = match &solution {
        Some(solution) => solution.ncols() == 1 + shape.batch,
        None => !shape.keeps_solution(taken),
    };
    match (points, chosen) {
        (Some(points), Some(chosen)) if fits => Ok(Some(Checkpoint { saved, points, solution, chosen })),
        _ => {
            Err(FileError::mismatch(path, format!("it is not of a search of {} points a step", shape.batch)))
        }
    }
}
