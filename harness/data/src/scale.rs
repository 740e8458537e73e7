//! The scale of a column, and whether it varies at all.
//!
//! A column whose values are equal but for rounding, such as 0.3 and 0.1 * 3, is constant: divided by its standard deviation,
//! it would be noise of deviation 1. One rule holds for inputs and targets.

use gpbench_record::InputScaling;
use ndarray::{ArrayView1, Axis};

use crate::table::Table;

/// Largest difference of two values of a constant column, relative to its largest value: what some ten operations may leave.
const ROUNDING: f64 = 64.0 * f64::EPSILON;
/// Difference of two values, relative to the largest, below which most digits of the differences are lost to rounding.
const FEW_DIGITS: f64 = 1e-9;
/// Smallest difference of two values of a column that can be scaled: smaller ones have few digits, or overflow in a division.
const SMALLEST: f64 = 1e-290;

/// How much the values of a column differ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Spread {
    /// Not at all, or by rounding only.
    Constant,
    /// By less than can be scaled in double precision.
    TooSmall,
    /// By this much.
    Usable(f64),
}

impl Spread {
    /// The spread of a column with at least one value, all finite.
    pub fn of(column: ArrayView1<'_, f64>) -> Spread {
        let [smallest, largest] = limits(column);
        match largest - smallest {
            spread if spread <= ROUNDING * largest.abs().max(smallest.abs()) => Spread::Constant,
            spread if spread < SMALLEST => Spread::TooSmall,
            spread => Spread::Usable(spread),
        }
    }
}

/// Whether a column varies, but only in the last digits of its values.
pub fn is_nearly_constant(column: ArrayView1<'_, f64>) -> bool {
    let [smallest, largest] = limits(column);
    matches!(Spread::of(column), Spread::Usable(spread) if spread < FEW_DIGITS * largest.abs().max(smallest.abs()))
}

fn limits(column: ArrayView1<'_, f64>) -> [f64; 2] {
    [
        column.iter().copied().fold(f64::INFINITY, f64::min),
        column.iter().copied().fold(f64::NEG_INFINITY, f64::max),
    ]
}

/// What is subtracted from the values of a column, and what they are divided by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scale {
    pub(crate) centre: f64,
    pub(crate) divisor: f64,
    /// Differences from the centre that count as none; 0 for a column that varies.
    rounding: f64,
}

impl Scale {
    /// The scale of an input by its training rows.
    pub(crate) fn of_input(column: ArrayView1<'_, f64>, scaling: InputScaling) -> Scale {
        match scaling {
            InputScaling::Standardised => Scale::standardising(column),
            InputScaling::Box => match Spread::of(column) {
                Spread::Usable(_) => {
                    let [smallest, largest] = limits(column);
                    let (centre, divisor) = (smallest / 2.0 + largest / 2.0, largest / 2.0 - smallest / 2.0);
                    Scale { centre, divisor, rounding: 0.0 }
                }
                Spread::Constant | Spread::TooSmall => Scale::constant(column),
            },
        }
    }

    /// Mean and population standard deviation.
    pub(crate) fn standardising(column: ArrayView1<'_, f64>) -> Scale {
        let Spread::Usable(spread) = Spread::of(column) else { return Scale::constant(column) };
        let n = column.len() as f64;
        let mean = column.sum() / n;
        // A second pass over the deviations corrects the rounding of the first.
        let mean = mean + column.iter().map(|value| value - mean).sum::<f64>() / n;
        let variance = column.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n;
        let deviation = if variance < f64::MIN_POSITIVE / f64::EPSILON {
            // Squares underflow, or lose digits.
            spread * (column.iter().map(|value| ((value - mean) / spread).powi(2)).sum::<f64>() / n).sqrt()
        } else {
            variance.sqrt()
        };
        Scale { centre: mean, divisor: deviation, rounding: 0.0 }
    }

    /// The scale of a column that does not vary. Values that differ from it by rounding become 0, others keep their unit.
    fn constant(column: ArrayView1<'_, f64>) -> Scale {
        let [smallest, largest] = limits(column);
        let centre = column[0];
        let rounding = (ROUNDING * largest.abs().max(smallest.abs())).max(largest - smallest);
        Scale { centre, divisor: 1.0, rounding }
    }

    /// The same centre, in the units of the column.
    pub(crate) fn in_units_of_file(self) -> Scale {
        Scale { divisor: 1.0, ..self }
    }

    /// A value in this scale.
    pub(crate) fn apply(&self, value: f64) -> f64 {
        let difference = value - self.centre;
        let is_rounding = self.rounding > 0.0 && difference.abs() <= self.rounding;
        if is_rounding { 0.0 } else { difference / self.divisor }
    }
}

impl Table {
    /// Indices of the inputs that do not vary, up to rounding, and so carry no information.
    pub fn constant_inputs(&self) -> Vec<usize> {
        let columns = self.x.axis_iter(Axis(1)).enumerate();
        columns
            .filter(|(_, column)| Spread::of(*column) == Spread::Constant)
            .map(|(index, _)| index)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array1, array};

    fn standardised(column: &Array1<f64>) -> Array1<f64> {
        let scale = Scale::standardising(column.view());
        column.mapv(|value| scale.apply(value))
    }

    #[test]
    fn a_column_that_is_constant_up_to_rounding_becomes_0() {
        let tenth_sums = array![1.0, (0..10).map(|_| 0.1).sum::<f64>()];
        let large = array![3e20, 3e20 + 65536.0, 3e20];
        for column in
            [array![0.3, 0.1 * 3.0, 0.3], tenth_sums, large, array![-0.3, 0.1 * -3.0], array![0.0, -0.0]]
        {
            assert_eq!(Spread::of(column.view()), Spread::Constant, "{column}");
            assert!(standardised(&column).iter().all(|value| *value == 0.0), "{column}");
            for scaling in InputScaling::ALL {
                let scale = Scale::of_input(column.view(), scaling);
                assert_eq!((scale.divisor, scale.apply(column[0] + 7.0)), (1.0, column[0] + 7.0 - column[0]));
            }
        }
    }

    #[test]
    fn small_differences_that_are_no_rounding_are_kept() {
        for column in [array![1e9, 1e9 + 1e-3, 1e9 + 2e-3], array![1.0, 1.0 + 1e-12, 1.0 + 2e-12]] {
            assert!(matches!(Spread::of(column.view()), Spread::Usable(_)), "{column}");
            let scaled = standardised(&column);
            assert!((scaled[2] - 1.5_f64.sqrt()).abs() < 1e-3, "{scaled}");
            assert!(is_nearly_constant(column.view()));
        }
        assert!(!is_nearly_constant(array![1e6, 1e6 + 1.0].view()));
    }

    #[test]
    fn tiny_columns_are_scaled_like_others() {
        let column = array![1.0, 2.0, 4.0, 8.5];
        let expected = standardised(&column);
        for unit in [1e-130, 1e-150, 1e-155, 1e-160, 1e-170, 1e-200, 1e-280, 1e140] {
            let scaled = standardised(&column.mapv(|value| value * unit));
            let error = (&scaled - &expected).mapv(f64::abs).into_iter().fold(0.0, f64::max);
            assert!(error < 1e-13, "{unit}: {error}");
        }
        assert_eq!(Spread::of(column.mapv(|value| value * 1e-300).view()), Spread::TooSmall);
        assert_eq!(Spread::of(array![5e-324, 0.0].view()), Spread::TooSmall);
    }
}
