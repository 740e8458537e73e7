//! Test rows outside the range of the training rows, where predictions extrapolate.

use std::fmt;

use gpbench_record::text;
use ndarray::{ArrayView1, Axis};

use crate::table::Table;

/// Most inputs that are named.
const MOST_NAMED: usize = 5;

/// Test rows that lie outside the box of the training rows: below the smallest or above the largest value of some input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutsideBox {
    /// Number of such rows.
    pub rows: usize,
    /// Number of all test rows.
    pub of: usize,
    /// The inputs in which they do, by name, each with the number of rows; the largest number first.
    pub inputs: Vec<(String, usize)>,
}

impl Table {
    /// The test rows of the first split that lie outside the box of its training rows. `None` where no split comes with the
    /// table.
    pub fn outside_training_box(&self) -> Option<OutsideBox> {
        let mask = self.test_masks.first()?;
        let (test, training): (Vec<usize>, Vec<usize>) = (0..self.n()).partition(|row| mask[*row]);
        let mut is_outside = vec![false; test.len()];
        let mut inputs = Vec::new();
        for (index, column) in self.x.axis_iter(Axis(1)).enumerate() {
            let [smallest, largest] = limits(column.select(Axis(0), &training).view());
            let mut count = 0;
            for (row, is_outside) in test.iter().zip(&mut is_outside) {
                if !(smallest..=largest).contains(&column[*row]) {
                    (*is_outside, count) = (true, count + 1);
                }
            }
            if count > 0 {
                let name = self.names.inputs.get(index).cloned().unwrap_or_else(|| index.to_string());
                inputs.push((name, count));
            }
        }
        // Stable: inputs with equal numbers keep their order.
        inputs.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let rows = is_outside.into_iter().filter(|is_outside| *is_outside).count();
        Some(OutsideBox { rows, of: test.len(), inputs })
    }
}

fn limits(column: ArrayView1<'_, f64>) -> [f64; 2] {
    let smallest = column.iter().copied().fold(f64::INFINITY, f64::min);
    [smallest, column.iter().copied().fold(f64::NEG_INFINITY, f64::max)]
}

impl fmt::Display for OutsideBox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rows, of, inputs } = self;
        let verb = if *rows == 1 { "lies" } else { "lie" };
        if *rows == 0 {
            return write!(f, "0 of {of} test rows lie outside the range of the training rows");
        }
        let share = 100.0 * *rows as f64 / *of as f64;
        let shown = |name: &str| text::cut(name, text::NAME).into_owned();
        let named = inputs.iter().take(MOST_NAMED);
        let named = named.map(|(name, count)| format!("`{}` ({count})", shown(name)));
        let named = named.collect::<Vec<_>>().join(", ");
        let more = match inputs.len().saturating_sub(MOST_NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        write!(
            f,
            "{rows} of {of} test rows ({share:.1} %) {verb} outside the range of the training rows, where predictions extrapolate: \
             in {named}{more}"
        )
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{Array1, array};

    use super::*;
    use crate::Names;

    fn table(masks: Vec<Vec<bool>>) -> Table {
        Table {
            name: "mine".into(),
            x: array![[0.0, 5.0], [1.0, 6.0], [0.0, 6.0], [1.5, 5.5], [-1.0, 9.0]],
            y: Array1::zeros(5),
            test_masks: masks,
            names: Names { inputs: vec!["lon".into(), "lat".into()], target: "y".into() },
            ..Table::default()
        }
    }

    #[test]
    fn rows_beyond_a_limit_of_some_input_are_counted_once() {
        let found = table(vec![vec![false, false, true, true, true]]).outside_training_box().unwrap();
        let expected = OutsideBox { rows: 2, of: 3, inputs: vec![("lon".into(), 2), ("lat".into(), 1)] };
        assert_eq!(found, expected);
        assert_eq!(
            found.to_string(),
            "2 of 3 test rows (66.7 %) lie outside the range of the training rows, where predictions extrapolate: in `lon` (2), \
             `lat` (1)"
        );
    }

    #[test]
    fn limits_belong_to_the_range() {
        let found = table(vec![vec![false, false, true, false, false]]).outside_training_box().unwrap();
        assert_eq!(found.to_string(), "0 of 1 test rows lie outside the range of the training rows");
        assert_eq!(table(vec![]).outside_training_box(), None);
    }
}
