//! The file that carries what a learner has learned, and how it predicts, from the process that ran the plugin to the one
//! that verifies it.

use std::path::Path;

use gpbench_files::Durability;
use ndarray::Array2;

use crate::array_file;
use crate::binary::FileError;
use crate::plugin::{Arrays, MOST_BYTES};

const MAGIC: &[u8; 8] = b"GPBMODL1";

/// Bytes that the header and the predictions may take beside two models.
const ROOM: usize = 1 << 30;

/// What a learner has learned, and how it predicts.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Learned {
    /// The model that is the result; none of a learner that puts none, or whose models were never finite.
    pub(crate) model: Option<Arrays>,
    /// The model at the end of the fit, which the predictions belong to, where it is not the result.
    pub(crate) last: Option<Arrays>,
    /// Means and variances of y on the test rows as the learner predicts them, m x 2; none where it has diverged.
    pub(crate) predictions: Option<Array2<f64>>,
}

/// Names of the groups of the file.
const NAMES: [&str; 3] = ["model", "last", "predictions"];

/// Writes the file.
pub(crate) fn write(path: &Path, learned: &Learned) -> Result<(), FileError> {
    let Learned { model, last, predictions } = learned;
    let predictions =
        predictions.as_ref().map(|array| Arrays::from([(NAMES[2].to_owned(), array.to_owned())]));
    let groups = NAMES.into_iter().zip([model, last, &predictions]);
    let groups: Vec<_> = groups.filter_map(|(name, arrays)| Some((name, arrays.as_ref()?))).collect();
    array_file::write(path, Durability::ThisRun, MAGIC, &(), &groups)
}

/// Reads the file, and checks that there are `rows` predictions if there are any.
pub(crate) fn read(path: &Path, rows: usize) -> Result<Learned, FileError> {
    let ((), mut groups) = array_file::read(path, MAGIC, 2 * MOST_BYTES + ROOM)?;
    let [model, last, predictions] = NAMES.map(|name| groups.remove(name));
    let predictions = predictions.and_then(|mut arrays| arrays.remove(NAMES[2]));
    if let Some((found, columns)) = predictions.as_ref().map(Array2::dim).filter(|found| *found != (rows, 2))
    {
        let what = format!("it holds predictions of {found} x {columns}, not {rows} x 2");
        return Err(FileError::mismatch(path, what));
    }
    Ok(Learned { model, last, predictions })
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    #[test]
    fn what_was_learned_survives_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("solution.bin");
        let arrays = |value: f64| Some(Arrays::from([("kind".to_owned(), array![[value]])]));
        let predictions = Some(array![[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]);
        let all = Learned { model: arrays(1.0), last: arrays(2.0), predictions };
        let without = Learned { model: None, last: None, ..all.clone() };
        for learned in [all, without, Learned::default()] {
            write(&path, &learned).unwrap();
            assert_eq!(read(&path, 3).unwrap(), learned);
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        assert_eq!(&std::fs::read(&path).unwrap()[..8], MAGIC);
    }

    #[test]
    fn a_wrong_number_of_predictions_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("solution.bin");
        write(&path, &Learned { predictions: Some(array![[1.0, 2.0]]), ..Learned::default() }).unwrap();
        let error = read(&path, 3).unwrap_err().to_string();
        assert!(error.ends_with("it holds predictions of 1 x 2, not 3 x 2"), "{error}");
    }
}
