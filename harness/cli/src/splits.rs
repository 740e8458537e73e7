//! The training rows of the splits that a spec takes: targets that do not vary in them are mistakes, and inputs that do not
//! are warned of.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;

use gpbench_data::{HardlyVaries, SplitError, Table, TrainingColumns, copy, training_columns};
use gpbench_record::{Dataset, Predictions};

/// The most splits and columns that a warning names.
const MOST: usize = 10;

/// The splits of data sets that were read from files.
#[derive(Default)]
pub(crate) struct Splits {
    /// The binary copy of each data set, by name.
    copies: RefCell<BTreeMap<String, PathBuf>>,
    /// What was found in each split, by the name of its data set and its number. A spec takes a split in one way only.
    found: RefCell<BTreeMap<(String, u32), Result<Training, SplitError>>>,
    /// The table that was read last, with its name.
    table: RefCell<Option<(String, Table)>>,
}

/// The training rows of a split.
#[derive(Debug, Clone)]
struct Training {
    /// Their number, before a subsample is taken.
    rows: usize,
    /// Number of the split's test rows.
    test_rows: usize,
    /// Inputs that hardly vary in them, by their labels.
    hardly: Vec<(HardlyVaries, String)>,
}

impl Splits {
    /// Adds a data set.
    pub(crate) fn add(&self, name: &str, copy: PathBuf) {
        self.copies.borrow_mut().insert(name.to_owned(), copy);
    }

    /// Training rows of a case before a subsample is taken, or why nothing can be learned from them. Splits that leave too few
    /// rows are the spec's concern, unless rows stay together.
    pub(crate) fn look(&self, dataset: &Dataset) -> Option<Result<usize, String>> {
        match self.training(dataset)? {
            Ok(training) => Some(Ok(training.rows)),
            Err(error) if error.is_of_target() || dataset.is_grouped() => Some(Err(error.to_string())),
            Err(_) => None,
        }
    }

    /// Why nothing can be learned from the rows of a case, if that is so.
    pub(crate) fn fault(&self, dataset: &Dataset) -> Option<String> {
        self.look(dataset)?.err()
    }

    /// A warning for each kind of input that hardly varies in the training rows of splits, by the name of the data set.
    pub(crate) fn warnings<'d>(
        &self,
        datasets: impl Iterator<Item = &'d Dataset>,
    ) -> BTreeMap<String, Vec<String>> {
        let mut splits: BTreeMap<(String, HardlyVaries, String), Vec<u32>> = BTreeMap::new();
        for dataset in datasets {
            let training = self.training(dataset).and_then(Result::ok);
            for (kind, column) in training.map(|training| training.hardly).unwrap_or_default() {
                let splits = splits.entry((dataset.name.clone(), kind, column)).or_default();
                if let Err(place) = splits.binary_search(&dataset.split) {
                    splits.insert(place, dataset.split);
                }
            }
        }
        self.table.borrow_mut().take();
        // Columns of the same splits share a warning: a rare category has many neighbours.
        let mut columns: BTreeMap<(String, HardlyVaries, Vec<u32>), Vec<String>> = BTreeMap::new();
        for ((name, kind, column), splits) in splits {
            columns.entry((name, kind, splits)).or_default().push(format!("`{column}`"));
        }
        let mut warnings: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for ((name, kind, splits), columns) in columns {
            warnings.entry(name).or_default().push(warning(kind, &columns, &splits));
        }
        warnings
    }

    /// A warning of predictions that are not kept because the test rows of a user's own file are many.
    pub(crate) fn unkept_predictions(&self, dataset: &Dataset) -> Option<String> {
        if !dataset.is_own_file() || dataset.predictions.is_some() {
            return None;
        }
        let test_rows = self.training(dataset)?.ok()?.test_rows;
        let [kept, most] = [Predictions::ROWS_BY_DEFAULT, Predictions::MOST_ROWS];
        let hint = if test_rows > most {
            format!("up to {most} can be kept: give `fractions` with a smaller share of test rows")
        } else {
            "set `predictions` to true to keep them".to_owned()
        };
        (test_rows > kept).then(|| {
            format!("it has more than {kept} test rows, so that predictions.parquet leaves them out; {hint}")
        })
    }

    /// The training rows of a case; nothing where its files were not read.
    fn training(&self, dataset: &Dataset) -> Option<Result<Training, SplitError>> {
        let key = (dataset.name.clone(), dataset.split);
        if let Some(found) = self.found.borrow().get(&key) {
            return Some(found.clone());
        }
        let copies = self.copies.borrow();
        let path = copies.get(&dataset.name)?;
        let mut last = self.table.borrow_mut();
        if last.as_ref().is_none_or(|(name, _)| *name != dataset.name) {
            // A damaged copy is made again when a case needs it.
            let table = copy::read(path).ok()?;
            // The spec's name, as everywhere in messages, rather than that of the file.
            *last = Some((dataset.name.clone(), Table { name: dataset.name.clone(), ..table }));
        }
        let (_, table) = last.as_ref()?;
        let label =
            |index: usize| table.names.inputs.get(index).cloned().unwrap_or_else(|| index.to_string());
        let found = training_columns(table, dataset).map(|found| {
            let TrainingColumns { rows, test_rows, hardly_varying } = found;
            let hardly = hardly_varying.into_iter().map(|(index, kind)| (kind, label(index))).collect();
            Training { rows, test_rows, hardly }
        });
        self.found.borrow_mut().insert(key, found.clone());
        Some(found)
    }
}

fn warning(kind: HardlyVaries, columns: &[String], splits: &[u32]) -> String {
    let is_one = columns.len() == 1;
    let (column, they, carry) =
        if is_one { ("column", "it is", "carries") } else { ("columns", "they are", "carry") };
    let vary = if is_one { "varies" } else { "vary" };
    let what = match kind {
        HardlyVaries::Constant if is_one => "does not vary".to_owned(),
        HardlyVaries::Constant => "do not vary".to_owned(),
        HardlyVaries::TooSmall => format!("{vary} by less than 1e-290, too little to be scaled,"),
        HardlyVaries::Nearly => format!("{vary} by less than 1e-9 of the values"),
    };
    let then = match kind {
        HardlyVaries::Constant | HardlyVaries::TooSmall => {
            format!("{they} used, but {carry} no information there")
        }
        HardlyVaries::Nearly => {
            "most digits of the differences are lost to rounding: subtract a constant before the \
                                 numbers are rounded"
                .to_owned()
        }
    };
    let numbers: Vec<String> = splits.iter().map(u32::to_string).collect();
    let split = if splits.len() == 1 { "split" } else { "splits" };
    format!(
        "{column} {} {what} in the training rows of {split} {}; {then}",
        listed(columns),
        listed(&numbers)
    )
}

/// A list in words, of which the first are named.
fn listed(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] if items.len() <= MOST => format!("{} and {last}", first.join(", ")),
        _ => format!("{} and {} others", items[..MOST - 1].join(", "), items.len() + 1 - MOST),
    }
}
