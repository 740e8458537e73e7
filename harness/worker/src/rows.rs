//! Training and test rows of a case: read from a binary copy, or drawn.

use std::path::Path;
use std::sync::Arc;

use gpbench_data::synthetic::{self, Design, DrawnObjective};
use gpbench_data::{Split, SplitError, Table, TestRows, Unscaled, copy, split_of, test_rows};
use gpbench_gp::seed::Streams;
use gpbench_record::{ColumnScale, Covariance, Dataset, FileUnits, Kernel, Source};
use thiserror::Error;

/// Reason why rows cannot be loaded.
#[derive(Debug, Error)]
pub enum RowsError {
    /// The job names no binary copy of a set that is read from one.
    #[error("data set `{name}`: the job names no binary copy")]
    NoFile {
        /// Data set.
        name: String,
    },
    /// The binary copy cannot be read.
    #[error("data set `{name}`: {source}")]
    Copy {
        /// Data set.
        name: String,
        /// The reason.
        source: copy::CopyError,
    },
    /// The binary copy is not the planned one.
    #[error("data set `{name}`: its binary copy is another than planned")]
    OtherCopy {
        /// Data set.
        name: String,
    },
    /// The split cannot be taken.
    #[error(transparent)]
    Split(#[from] SplitError),
    /// There is no such toy.
    #[error(transparent)]
    Toy(#[from] synthetic::UnknownToy),
    /// The Gaussian process cannot be drawn.
    #[error(transparent)]
    Draw(#[from] synthetic::DrawError),
    /// A drawn set must not be subsampled.
    #[error("data set `{name}` is drawn to size: it cannot be subsampled as well")]
    Subsampled {
        /// Data set.
        name: String,
    },
    /// A drawn set has too few rows.
    #[error("data set `{name}` has {n} training and {n_test} test rows; 2 and 1 are the least")]
    TooFew {
        /// Data set.
        name: String,
        /// Training rows.
        n: usize,
        /// Test rows.
        n_test: usize,
    },
}

/// The scaled rows of a data set, and the keys of the random numbers of a case.
#[derive(Debug, Clone)]
pub struct Rows {
    /// Training and test rows.
    pub split: Arc<Split>,
    /// What the columns of the user's own file were scaled by; `None` for other data sets.
    pub units: Option<FileUnits>,
    /// The test rows in the units of the file, where predictions on them are kept.
    pub test_rows: Option<TestRows>,
    /// Source of the rows.
    pub dataset: Dataset,
    /// The case's seed.
    pub seed: u64,
}

impl Rows {
    /// Reads or draws the rows of a data set; `file` is its binary copy.
    pub fn load(dataset: &Dataset, seed: u64, file: Option<&Path>) -> Result<Rows, RowsError> {
        Self::load_planned(dataset, seed, file, None)
    }

    /// Does the same as [`Rows::load`] for a copy that must be the planned one, by the SHA-256 of its content.
    pub(crate) fn load_planned(
        dataset: &Dataset,
        seed: u64,
        file: Option<&Path>,
        planned_sha256: Option<&str>,
    ) -> Result<Rows, RowsError> {
        let prepare = |drawn: Unscaled| drawn.prepare(&dataset.name, dataset.into(), seed);
        let split = match &dataset.source {
            Source::Registry { .. } | Source::File { .. } => {
                return read(dataset, seed, file, planned_sha256);
            }
            Source::Toy { name, n, n_test } => {
                check_size(dataset, *n, *n_test)?;
                prepare(synthetic::toy(name, *n, *n_test, seed)?)?
            }
            Source::GpDraw(draw) => {
                check_size(dataset, draw.n, draw.n_test)?;
                prepare(synthetic::gp_draw(draw, seed)?)?
            }
            Source::Objective(objective) => {
                let Design { x, observed, .. } = DrawnObjective::new(objective, seed)?.design()?;
                Split::raw(x, observed)
            }
        };
        let test_rows = dataset.keeps_predictions(split.y_test.len()).then(|| drawn_test_rows(&split));
        Ok(Rows { split: Arc::new(split), units: None, test_rows, dataset: dataset.clone(), seed })
    }

    /// Training rows.
    pub fn n(&self) -> usize {
        self.split.x_train.nrows()
    }

    /// Inputs.
    pub fn d(&self) -> usize {
        self.split.x_train.ncols()
    }

    /// The rows, with the kernel's prior mean subtracted from the targets.
    pub fn subtract_mean(&self, kernel: &Kernel) -> Arc<Split> {
        match kernel.mean {
            Some(mean) => Arc::new(Split::clone(&self.split).subtract_mean(mean)),
            None => self.split.clone(),
        }
    }

    /// Random streams that depend on the seed, the rows and the kernel's family, and on nothing else.
    pub fn streams(&self, family: impl Into<Covariance>) -> Streams {
        let Dataset {
            source,
            split,
            fractions,
            subsample,
            validation,
            rule,
            keep_replicates,
            name: _,
            collapse_duplicates: _,
            targets: _,
            inputs: _,
            predictions: _,
        } = &self.dataset;
        let rows = match (fractions, validation) {
            _ if self.dataset.is_grouped() => {
                let grouped = (rule, keep_replicates);
                serde_json::to_string(&(source, split, fractions, subsample, validation, grouped))
            }
            (None, None) => serde_json::to_string(&(source, split, subsample)),
            (Some(fractions), None) => serde_json::to_string(&(source, split, fractions, subsample)),
            (_, Some(_)) => serde_json::to_string(&(source, split, fractions, subsample, validation)),
        }
        .expect("plain data serialises");
        Streams::new(self.seed, &[&rows, family.into().as_str()])
    }
}

fn read(
    dataset: &Dataset,
    seed: u64,
    file: Option<&Path>,
    planned_sha256: Option<&str>,
) -> Result<Rows, RowsError> {
    let name = || dataset.name.clone();
    let file = file.ok_or_else(|| RowsError::NoFile { name: name() })?;
    // The numbers and their checksum come from one read, because the file may be replaced at any time.
    let (table, found) =
        copy::read_identified(file).map_err(|source| RowsError::Copy { name: name(), source })?;
    if planned_sha256.is_some_and(|planned| planned != found.as_str()) {
        return Err(RowsError::OtherCopy { name: name() });
    }
    let split = split_of(&table, dataset, seed)?;
    let is_kept = dataset.keeps_predictions(split.y_test.len());
    Ok(Rows {
        units: dataset.is_own_file().then(|| units(&split, &table, dataset)),
        test_rows: is_kept.then(|| test_rows(&table, dataset)).transpose()?,
        split: Arc::new(split),
        dataset: dataset.clone(),
        seed,
    })
}

/// What the columns were scaled by, with their names, and the unit of those that hold times.
fn units(split: &Split, table: &Table, dataset: &Dataset) -> FileUnits {
    let names = &table.names;
    let unit = |name: &str| match &dataset.source {
        Source::File { options, .. } if table.reading.holds_times(name) => options.time_unit.to_string(),
        _ => String::new(),
    };
    let scales = split.x_mean.iter().zip(&split.x_std).enumerate();
    let column = |name: String, centre: f64, divisor: f64| {
        let unit = unit(&name);
        ColumnScale { name, centre, divisor, unit }
    };
    let input = |(index, (centre, divisor)): (usize, (&f64, &f64))| {
        let name = names.inputs.get(index).cloned().unwrap_or_else(|| index.to_string());
        column(name, *centre, *divisor)
    };
    let target = column(names.target.clone(), split.y_mean, split.y_std);
    FileUnits { inputs: scales.map(input).collect(), target }
}

/// The test rows of a set that is drawn, whose numbers are their places.
fn drawn_test_rows(split: &Split) -> TestRows {
    let targets = split.y_test.iter().map(|y| y * split.y_std + split.y_mean);
    TestRows { rows: (0..split.y_test.len() as u64).collect(), ids: Vec::new(), targets: targets.collect() }
}

fn check_size(dataset: &Dataset, n: usize, n_test: usize) -> Result<(), RowsError> {
    let name = dataset.name.clone();
    match (dataset.subsample, n, n_test) {
        (Some(_), ..) => Err(RowsError::Subsampled { name }),
        (None, 0 | 1, _) | (None, _, 0) => Err(RowsError::TooFew { name, n, n_test }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use gpbench_record::Family;

    use super::*;

    /// A change of the key changes the random numbers, and so the results, of every case.
    #[test]
    fn streams_are_keyed_by_rows_and_family() {
        let case = gpbench_record::testing::case("cg");
        let rows = Rows::load(&case.dataset, 7, None).unwrap();
        let key = r#"[{"from":"gp-draw","n":30,"n_test":5,"d":2,"kernel":"matern32","signal_scale":1.0,"noise_scale":0.1,"length_scale":0.3},0,null]"#;
        let expected = Streams::new(7, &[key, "rbf"]).normals("probes", 3, 2);
        assert_eq!(rows.streams(Family::Rbf).normals("probes", 3, 2), expected);
    }
}
