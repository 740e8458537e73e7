//! Categories: a column of words becomes an input for each of its values, 1 where a row has the value and else 0.

use std::collections::HashMap;

use ndarray::Array2;

use crate::cell::is_lacking;

/// The most values of a column of categories. A column with more is a name or a number of each row.
pub(crate) const MOST: usize = 1000;

/// The values of a column of categories or of groups, each with a code.
#[derive(Debug)]
pub(crate) struct Levels {
    codes: HashMap<String, usize>,
    most: usize,
    /// Whether there can be no further ones.
    is_closed: bool,
}

impl Default for Levels {
    fn default() -> Levels {
        Levels { codes: HashMap::new(), most: MOST, is_closed: false }
    }
}

impl Levels {
    /// The values of a column of groups, of any number.
    pub(crate) fn of_groups() -> Levels {
        Levels { most: usize::MAX, ..Levels::default() }
    }

    /// These values, and no further ones.
    pub(crate) fn closed(&self) -> Levels {
        Levels { codes: self.codes.clone(), is_closed: true, ..Levels::default() }
    }

    /// Whether there can be no further ones.
    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// The code of a value, as a number; none where there are too many values, or no further ones.
    pub(crate) fn code(&mut self, value: &str) -> Option<f64> {
        if let Some(code) = self.codes.get(value) {
            return Some(*code as f64);
        }
        let code = self.codes.len();
        if code == self.most || self.is_closed {
            return None;
        }
        self.codes.insert(value.to_owned(), code);
        Some(code as f64)
    }

    /// A value that marks a missing one, such as `?`.
    fn missing(&self) -> Option<&str> {
        self.codes.keys().map(String::as_str).filter(|value| is_lacking(value.as_bytes())).min()
    }

    /// Two values that differ by the form of a number, such as 1 and 1.0, or by capital letters alone.
    fn alike(&self) -> Option<(&str, &str)> {
        let mut seen: HashMap<String, &str> = HashMap::new();
        self.sorted().into_iter().find_map(|(value, _)| {
            let form = match value.parse::<f64>() {
                Ok(number) => number.to_string(),
                Err(_) => value.to_lowercase(),
            };
            seen.insert(form, value).map(|other| (other, value))
        })
    }

    /// Warnings of a value that marks a missing one, and of two that may be meant as one. `description` describes the column, and
    /// `one` and `several` are what its values make: a category or a group.
    pub(crate) fn warnings(&self, description: &str, [one, several]: [&str; 2]) -> Vec<String> {
        let missing = self.missing().map(|value| {
            format!(
                "`{value}` in column {description} marks a missing value and is read as a {one} of its own; remove its rows if that \
                 is not meant"
            )
        });
        let alike = self.alike().map(|(other, value)| {
            format!(
                "`{other}` and `{value}` in column {description} are two {several}; write them alike if one is meant"
            )
        });
        missing.into_iter().chain(alike).collect()
    }

    /// The names of groups in their order, numbers by their values and others alphabetically, and for each code the number of
    /// its group.
    pub(crate) fn groups(&self) -> (Vec<String>, Vec<f64>) {
        let mut sorted = self.sorted();
        let number = |name: &str| name.parse::<f64>().ok().filter(|number| number.is_finite());
        if sorted.iter().all(|(name, _)| number(name).is_some()) {
            sorted.sort_by(|(a, _), (b, _)| number(a).unwrap_or(0.0).total_cmp(&number(b).unwrap_or(0.0)));
        }
        let mut numbers = vec![0.0; sorted.len()];
        for (group, (_, code)) in sorted.iter().enumerate() {
            numbers[*code as usize] = group as f64;
        }
        (sorted.into_iter().map(|(name, _)| name.to_owned()).collect(), numbers)
    }

    /// Values in alphabetical order, and their codes.
    pub(crate) fn sorted(&self) -> Vec<(&str, f64)> {
        let mut sorted: Vec<_> =
            self.codes.iter().map(|(value, code)| (value.as_str(), *code as f64)).collect();
        sorted.sort_unstable_by_key(|(value, _)| *value);
        sorted
    }
}

/// An input as it was read: its place and name in the file, and its values if it holds categories.
pub(crate) struct Input {
    /// For messages.
    pub(crate) description: String,
    /// What the user calls it.
    pub(crate) label: String,
    pub(crate) levels: Option<Levels>,
}

impl Input {
    /// Warnings of categories.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let of = |levels: &Levels| levels.warnings(&self.description, ["category", "categories"]);
        self.levels.as_ref().map(of).unwrap_or_default()
    }
}

/// Descriptions and labels of inputs after [`expand`].
pub(crate) struct Expanded {
    pub(crate) descriptions: Vec<String>,
    pub(crate) labels: Vec<String>,
}

/// Number of inputs after [`expand`].
pub(crate) fn width(inputs: &[Input]) -> usize {
    inputs.iter().map(|input| input.levels.as_ref().map_or(1, |levels| levels.codes.len())).sum()
}

/// Replaces each column of codes in `x`, of shape (n, inputs), by one column for each value, in alphabetical order.
pub(crate) fn expand(x: Array2<f64>, inputs: &[Input]) -> (Array2<f64>, Expanded) {
    let names = |name: fn(&Input) -> &str| {
        let of = |input: &Input| match &input.levels {
            None => vec![name(input).to_owned()],
            Some(levels) => {
                levels.sorted().iter().map(|(value, _)| format!("{}={value}", name(input))).collect()
            }
        };
        inputs.iter().flat_map(of).collect()
    };
    let expanded =
        Expanded { descriptions: names(|input| &input.description), labels: names(|input| &input.label) };
    if inputs.iter().all(|input| input.levels.is_none()) {
        return (x, expanded);
    }
    let mut wide = Array2::zeros((x.nrows(), width(inputs)));
    let mut columns = wide.columns_mut().into_iter();
    for (input, read) in inputs.iter().zip(x.columns()) {
        match &input.levels {
            None => columns.next().expect("a column for each input").assign(&read),
            Some(levels) => {
                for ((_, code), mut column) in levels.sorted().into_iter().zip(&mut columns) {
                    column.assign(&read.mapv(|value| f64::from(u8::from(value == code))));
                }
            }
        }
    }
    (wide, expanded)
}
