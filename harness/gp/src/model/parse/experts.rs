//! Arrays of experts, with a column for each expert.

use gpbench_record::Covariance;
use ndarray::Array2;

use crate::Kernel;
use crate::experts::{Combine, Expert, Experts};
use crate::model::Shape;
use crate::model::arrays::{Entries, InvalidArray, Reader, Size, invalid_entry};

/// The meaning of the columns.
const EACH: &str = "a column for each expert";

/// The experts whose weight is positive. An expert of weight 0 affects no result, so its columns are not checked.
pub(super) fn read(
    reader: &mut Reader<'_>,
    family: Covariance,
    shape: Shape,
) -> Result<Experts, InvalidArray> {
    let Covariance::Stationary(family) = family else {
        let wanted = "another: experts have no linear kernel";
        return Err(InvalidArray::new("kind", "is that of experts", wanted));
    };
    let size = Size { rows: Some(1), columns: None, meaning: EACH };
    let weights = reader.entries("weight", size, Entries::NotNegative)?.row(0);
    let used: Vec<usize> = (0..weights.len()).filter(|&expert| weights[expert] > 0.0).collect();
    if used.is_empty() {
        let error = InvalidArray::new("weight", "is 0 for every expert", "positive for at least one");
        return Err(error.of_divergence());
    }
    let mut columns = Columns { reader, count: weights.len(), used: &used };
    let signal_scale = columns.array("signal_scale", Some(1), EACH, Entries::Positive)?;
    let noise_scale = columns.array("noise_scale", Some(1), EACH, Entries::Positive)?;
    let meaning = "a row for each input (or one for all), a column for each expert";
    let lengths = columns.reader.rows_or_one("length_scale", shape.inputs);
    let length_scale = columns.array("length_scale", Some(lengths), meaning, Entries::Positive)?;
    let mean = match columns.reader.has("mean") {
        true => columns.array("mean", Some(1), EACH, Entries::Finite)?.to_owned(),
        false => Array2::zeros((1, weights.len())),
    };
    let rows = columns.training_rows(shape.rows)?;
    let combine = combine(reader)?;
    let expert = |&index: &usize| Expert {
        kernel: Kernel::new(
            family,
            signal_scale[(0, index)],
            &length_scale.column(index).to_vec(),
            shape.inputs,
        ),
        noise_scale: noise_scale[(0, index)],
        mean: mean[(0, index)],
        rows: rows.column(index).mapv(|row| row as usize).to_vec(),
        weight: weights[index],
    };
    Ok(Experts { experts: used.iter().map(expert).collect(), combine })
}

/// Arrays with a column for each expert, of which only those in use are checked.
struct Columns<'r, 'a> {
    reader: &'r mut Reader<'a>,
    count: usize,
    /// In ascending order.
    used: &'r [usize],
}

impl<'a> Columns<'_, 'a> {
    fn is_used(&self, expert: usize) -> bool {
        self.used.binary_search(&expert).is_ok()
    }

    fn array(
        &mut self,
        name: &str,
        rows: Option<usize>,
        meaning: &str,
        entries: Entries,
    ) -> Result<&'a Array2<f64>, InvalidArray> {
        let array = self.reader.array(name, Size { rows, columns: Some(self.count), meaning })?;
        entries.check(name, array, |expert| self.is_used(expert))?;
        Ok(array)
    }

    /// Indices of training rows, all below `n`.
    fn training_rows(&mut self, n: usize) -> Result<&'a Array2<f64>, InvalidArray> {
        let meaning = "a row for each training row of an expert, a column for each expert";
        let rows = self.array("rows", None, meaning, Entries::NotNegative)?;
        let wrong = rows
            .indexed_iter()
            .find(|&((_, expert), &row)| self.is_used(expert) && (row.fract() != 0.0 || row >= n as f64));
        match wrong {
            Some((place, _)) => {
                let wanted = format!("a whole number below {n}, the number of training rows");
                Err(invalid_entry("rows", rows, place, wanted))
            }
            None => Ok(rows),
        }
    }
}

fn combine(reader: &mut Reader<'_>) -> Result<Combine, InvalidArray> {
    let code = reader.array("combine", Size { rows: Some(1), columns: Some(1), meaning: "" })?;
    match code[(0, 0)] {
        0.0 => Ok(Combine::Observed),
        1.0 => Ok(Combine::Latent),
        _ => Err(invalid_entry("combine", code, (0, 0), "0 (of y) or 1 (of the latent function)")),
    }
}
