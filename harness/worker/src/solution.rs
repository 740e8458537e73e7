//! The file that carries a solution from the process that ran the plugin to the
//! one that verifies it.

use std::path::Path;

use gpbench_files::Durability;
use ndarray::{Array2, ArrayView2, ShapeBuilder};

use crate::binary::{self, FileError};

const MAGIC: &[u8; 8] = b"GPBSOLV2";

/// Writes a solution, m x s, column by column.
pub fn write(path: &Path, solution: ArrayView2<f64>) -> Result<(), FileError> {
    let (m, s) = solution.dim();
    binary::write_numbers(path, Durability::ThisRun, MAGIC, &[m as u64, s as u64], solution.t().iter())
}

/// Reads a solution and checks that it is m x s.
pub fn read(path: &Path, m: usize, s: usize) -> Result<Array2<f64>, FileError> {
    let most = m.saturating_mul(s);
    let (found, numbers) = binary::read_numbers(path, MAGIC, most, |[m, s]| m.checked_mul(s))?;
    if found != [m, s] {
        let [rows, columns] = found;
        return Err(FileError::mismatch(
            path,
            format!("it holds a solution of {rows} x {columns}, not {m} x {s}"),
        ));
    }
    Ok(Array2::from_shape_vec((m, s).f(), numbers).expect("as many numbers as the sizes say"))
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    #[test]
    fn a_solution_survives_the_file_bit_by_bit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("solution.bin");
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
        let path = folder.path().join("solution.bin");
        write(&path, array![[1.0], [2.0]].view()).unwrap();
        let error = read(&path, 3, 1).unwrap_err().to_string();
        assert!(error.ends_with("holds a solution of 2 x 1, not 3 x 1"), "{error}");
        let error = read(&path, 1, 1).unwrap_err().to_string();
        assert!(error.ends_with("it has 72 bytes, more than the 64 that it can need"), "{error}");
    }
}
