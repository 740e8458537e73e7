//! The file of a solution, which is passed from the process that ran the plugin to the one that verifies it.
//!
//! | array | shape | holds |
//! |---|---|---|
//! | `solution` | m x s | one column per right-hand side |
//!
//! For a case of task `likelihood`, it has a row for each repetition: see that task.

use std::path::Path;

use gpbench_files::Durability;
use ndarray::{Array2, ArrayView2};

use crate::array_file::{ArrayFile, ArrayWriter, FileError};

const KIND: &str = "solution";
const SOLUTION: &str = "solution";

/// Writes a solution, m x s.
pub fn write(path: &Path, solution: ArrayView2<f64>) -> Result<(), FileError> {
    ArrayWriter::new(KIND, &()).array(SOLUTION, solution).write(path, Durability::ThisRun)
}

/// Reads a solution in column-major order and checks that it is m x s.
pub fn read(path: &Path, m: usize, s: usize) -> Result<Array2<f64>, FileError> {
    let file = ArrayFile::read(path, KIND, m.saturating_mul(s).saturating_mul(8))?;
    let solution = file.column_major(SOLUTION)?;
    if solution.dim() != (m, s) {
        let (rows, columns) = solution.dim();
        return Err(file.mismatch(format!("it holds a solution of {rows} x {columns}, not {m} x {s}")));
    }
    Ok(solution)
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    #[test]
    fn a_solution_survives_the_file_bit_by_bit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("solution");
        let solution = array![[1.0, -0.0], [f64::NAN, 1e-310], [3.5, f64::INFINITY]];
        write(&path, solution.view()).unwrap();
        let back = read(&path, 3, 2).unwrap();
        assert!(solution.iter().zip(&back).all(|(a, b)| a.to_bits() == b.to_bits()));
        assert_eq!(back.strides(), [1, 3]);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_wrong_shape_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("solution");
        write(&path, array![[1.0], [2.0]].view()).unwrap();
        let error = read(&path, 3, 1).unwrap_err().to_string();
        assert!(error.ends_with("holds a solution of 2 x 1, not 3 x 1"), "{error}");
        let error = read(&path, 1, 1).unwrap_err().to_string();
        assert!(error.ends_with("holds a solution of 2 x 1, not 1 x 1"), "{error}");
        write(&path, Array2::zeros((10_000, 1)).view()).unwrap();
        let error = read(&path, 1, 1).unwrap_err().to_string();
        assert!(error.ends_with(" bytes, more than the 16424 that it can need"), "{error}");
    }
}
