//! The file of a learner's models and predictions, which is passed from the process that ran the plugin to the one
//! that verifies them.
//!
//! | array | shape | holds |
//! |---|---|---|
//! | `model/NAME` | the learner's | the model that is the result |
//! | `last/NAME` | the learner's | the model at the end of the fit, where it is not the result |
//! | `predictions` | test rows x 2 | means and variances |
//!
//! Arrays may be absent: see [`Learned`].

use std::path::Path;

use gpbench_files::Durability;
use gpbench_host::{Arrays, MOST_BYTES};
use ndarray::Array2;

use crate::array_file::{ArrayFile, ArrayWriter, FileError};

const KIND: &str = "model";

/// Names of the groups of both models, and of the predictions.
const MODEL: &str = "model";
const LAST: &str = "last";
const PREDICTIONS: &str = "predictions";

/// Bytes that the header and the predictions may take in addition to two models.
const ROOM: usize = 1 << 30;

/// A learner's models and predictions.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Learned {
    /// The model that is the result; `None` for a learner that supplies no model, or whose models were never finite.
    pub(crate) model: Option<Arrays>,
    /// The model at the end of the fit, to which the predictions belong, where it is not the result.
    pub(crate) last: Option<Arrays>,
    /// Means and variances of y on the test rows as the learner predicts them, m x 2; `None` where it has diverged.
    pub(crate) predictions: Option<Array2<f64>>,
}

/// Writes the file.
pub(crate) fn write(path: &Path, learned: &Learned) -> Result<(), FileError> {
    let Learned { model, last, predictions } = learned;
    let mut file = ArrayWriter::new(KIND, &());
    for (group, model) in [(MODEL, model), (LAST, last)] {
        if let Some(model) = model {
            file = file.group(group, model);
        }
    }
    if let Some(predictions) = predictions {
        file = file.array(PREDICTIONS, predictions.view());
    }
    file.write(path, Durability::ThisRun)
}

/// Reads the file, and checks that there are `rows` predictions if there are any.
pub(crate) fn read(path: &Path, rows: usize) -> Result<Learned, FileError> {
    let file = ArrayFile::read(path, KIND, 2 * MOST_BYTES + ROOM)?;
    let model = |group| Ok(Some(file.group(group)?).filter(|arrays| !arrays.is_empty()));
    let predictions = file.optional(PREDICTIONS)?;
    if let Some((found, columns)) = predictions.as_ref().map(Array2::dim).filter(|found| *found != (rows, 2))
    {
        let what = format!("it holds predictions of {found} x {columns}, not {rows} x 2");
        return Err(file.mismatch(what));
    }
    Ok(Learned { model: model(MODEL)?, last: model(LAST)?, predictions })
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    #[test]
    fn what_was_learned_survives_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("solution");
        let arrays = |value: f64| Some(Arrays::from([("kind".to_owned(), array![[value]])]));
        let predictions = Some(array![[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]);
        let all = Learned { model: arrays(1.0), last: arrays(2.0), predictions };
        let without = Learned { model: None, last: None, ..all.clone() };
        for learned in [all, without, Learned::default()] {
            write(&path, &learned).unwrap();
            assert_eq!(read(&path, 3).unwrap(), learned);
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_wrong_number_of_predictions_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("solution");
        write(&path, &Learned { predictions: Some(array![[1.0, 2.0]]), ..Learned::default() }).unwrap();
        let error = read(&path, 3).unwrap_err().to_string();
        assert!(error.ends_with("it holds predictions of 1 x 2, not 3 x 2"), "{error}");
    }
}
