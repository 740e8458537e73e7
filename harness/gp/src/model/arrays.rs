//! Named arrays, and a reader that checks their shapes and values.

use std::collections::{BTreeMap, BTreeSet};

use ndarray::{Array1, Array2};

/// Arrays by their names. Vectors are matrices of one column.
pub type Arrays = BTreeMap<String, Array2<f64>>;

/// Error of an array that does not fit the kind of its model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{array}` {found}; it must be {wanted}")]
pub struct InvalidArray {
    /// Name of the array.
    pub array: String,
    /// The fault that was found, as the predicate of a sentence.
    pub found: String,
    /// The required property.
    pub wanted: String,
    /// Whether the array indicates a diverged fit: an entry is not finite, or the square of a scale underflows or
    /// overflows.
    pub diverged: bool,
}

impl InvalidArray {
    pub(super) fn new(array: &str, found: impl Into<String>, wanted: impl Into<String>) -> Self {
        InvalidArray { array: array.to_owned(), found: found.into(), wanted: wanted.into(), diverged: false }
    }

    /// Marks this as the error of a diverged fit.
    pub(super) fn of_divergence(self) -> Self {
        InvalidArray { diverged: true, ..self }
    }
}

/// Condition on the entries of an array. All of them must be finite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Entries {
    Finite,
    /// Positive and with a normal square, for example scales, which are used squared.
    Positive,
    NotNegative,
}

impl Entries {
    fn allow(self, value: f64) -> bool {
        value.is_finite()
            && match self {
                Entries::Finite => true,
                Entries::Positive => value > 0.0 && (value * value).is_normal(),
                Entries::NotNegative => value >= 0.0,
            }
    }

    /// Whether a refused entry indicates a diverged fit: it is not finite, or a scale whose square underflows or
    /// overflows.
    fn tells_of_divergence(self, value: f64) -> bool {
        !value.is_finite() || (self == Entries::Positive && value >= 0.0)
    }

    fn in_words(self) -> &'static str {
        match self {
            Entries::Finite => "finite",
            Entries::Positive => "positive and finite, and so must be its square",
            Entries::NotNegative => "finite and not negative",
        }
    }

    /// Checks the entries of the columns that `is_used` names.
    pub(super) fn check(
        self,
        name: &str,
        array: &Array2<f64>,
        is_used: impl Fn(usize) -> bool,
    ) -> Result<(), InvalidArray> {
        let wrong = array.indexed_iter().find(|&((_, column), &value)| is_used(column) && !self.allow(value));
        match wrong {
            Some((place, &value)) => {
                let error = invalid_entry(name, array, place, self.in_words());
                Err(InvalidArray { diverged: self.tells_of_divergence(value), ..error })
            }
            None => Ok(()),
        }
    }
}

/// The error of the entry at a position.
pub(super) fn invalid_entry(
    name: &str,
    array: &Array2<f64>,
    place: (usize, usize),
    wanted: impl Into<String>,
) -> InvalidArray {
    let (value, (row, column)) = (in_digits(array[place]), place);
    let found = match array.len() {
        1 => format!("is {value}"),
        _ => format!("has {value} in row {row}, column {column}, counted from 0"),
    };
    InvalidArray::new(name, found, wanted)
}

/// The shortest decimal form that distinguishes a number, with an exponent where it is very small or very large.
fn in_digits(value: f64) -> String {
    let is_plain = value == 0.0 || !value.is_finite() || (1e-5..1e16).contains(&value.abs());
    if is_plain { value.to_string() } else { format!("{value:e}") }
}

/// The shape that an array must have.
#[derive(Debug, Clone, Copy)]
pub(super) struct Size<'a> {
    /// Number of rows; `None` allows any number m except 0.
    pub(super) rows: Option<usize>,
    /// Number of columns, as for `rows`; one of the two is not `None`.
    pub(super) columns: Option<usize>,
    /// Meaning of the rows and columns, for messages.
    pub(super) meaning: &'a str,
}

impl Size<'_> {
    fn in_words(&self) -> String {
        let number = |count: Option<usize>| count.map_or("m".to_owned(), |count| count.to_string());
        let shape = format!("{} x {}", number(self.rows), number(self.columns));
        let any = if self.rows.and(self.columns).is_none() { " with m > 0" } else { "" };
        let meaning = if self.meaning.is_empty() { "" } else { ": " };
        format!("{shape}{any}{meaning}{}", self.meaning)
    }

    fn check(&self, name: &str, array: &Array2<f64>) -> Result<(), InvalidArray> {
        let fits = |wanted: Option<usize>, found: usize| wanted.map_or(found > 0, |wanted| wanted == found);
        if fits(self.rows, array.nrows()) && fits(self.columns, array.ncols()) {
            return Ok(());
        }
        let found = format!("is {} x {}", array.nrows(), array.ncols());
        Err(InvalidArray::new(name, found, self.in_words()))
    }
}

/// Reader that takes the arrays of a model one by one.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    arrays: &'a Arrays,
    read: BTreeSet<&'a str>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(arrays: &'a Arrays) -> Self {
        Reader { arrays, read: BTreeSet::new() }
    }

    /// Whether there is an array of this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.arrays.contains_key(name)
    }

    /// Number of rows of an array that may have a single row for all: 1 or `rows`.
    pub(super) fn rows_or_one(&self, name: &str, rows: usize) -> usize {
        self.arrays.get(name).filter(|array| array.nrows() == 1).map_or(rows, |_| 1)
    }

    /// An array of this size, with any entries.
    pub(super) fn array(&mut self, name: &str, size: Size<'_>) -> Result<&'a Array2<f64>, InvalidArray> {
        let Some((name, array)) = self.arrays.get_key_value(name) else {
            return Err(InvalidArray::new(name, "is missing", size.in_words()));
        };
        self.read.insert(name);
        size.check(name, array)?;
        Ok(array)
    }

    /// An array of this size whose entries satisfy `entries`.
    pub(super) fn entries(
        &mut self,
        name: &str,
        size: Size<'_>,
        entries: Entries,
    ) -> Result<&'a Array2<f64>, InvalidArray> {
        let array = self.array(name, size)?;
        entries.check(name, array, |_| true)?;
        Ok(array)
    }

    /// One number.
    pub(super) fn number(&mut self, name: &str, entries: Entries) -> Result<f64, InvalidArray> {
        let size = Size { rows: Some(1), columns: Some(1), meaning: "" };
        Ok(self.entries(name, size, entries)?[(0, 0)])
    }

    /// One number, or a default value if the array is missing.
    pub(super) fn number_or(
        &mut self,
        name: &str,
        entries: Entries,
        default: f64,
    ) -> Result<f64, InvalidArray> {
        if self.has(name) { self.number(name, entries) } else { Ok(default) }
    }

    /// One column.
    pub(super) fn column(
        &mut self,
        name: &str,
        rows: usize,
        meaning: &str,
        entries: Entries,
    ) -> Result<Array1<f64>, InvalidArray> {
        let size = Size { rows: Some(rows), columns: Some(1), meaning };
        Ok(self.entries(name, size, entries)?.column(0).to_owned())
    }

    /// Refuses arrays that were not read although their names have a meaning in some kind of model, such as
    /// `frequencies` for a linear kernel. Other arrays are the learner's own.
    pub(super) fn finish(self) -> Result<(), InvalidArray> {
        match self.arrays.keys().find(|name| is_of_models(name) && !self.read.contains(name.as_str())) {
            Some(name) => Err(InvalidArray::new(name, "is not part of this kind of model", "left out")),
            None => Ok(()),
        }
    }
}

/// Names of arrays in any kind of model. A list of weights is no mistake, so it is not among them.
const NAMES: [&str; 16] = [
    "signal_scale",
    "noise_scale",
    "length_scale",
    "mean",
    "z",
    "q_mean",
    "q_root",
    "jitter",
    "frequencies",
    "rows",
    "weight",
    "combine",
    "neighbours",
    "action",
    "entry",
    "actions",
];

fn is_of_models(name: &str) -> bool {
    let layer = name.strip_prefix("weight_").or(name.strip_prefix("bias_"));
    let is_of_layer = layer.is_some_and(|number| number.bytes().all(|digit| digit.is_ascii_digit()));
    NAMES.contains(&name) || is_of_layer
}
