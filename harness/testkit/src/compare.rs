//! Distance of a result from the known answer.
//!
//! Errors are relative to the whole array, not to each entry: small entries of a solution carry
//! the rounding errors of the large ones.

use ndarray::{ArrayRef, Dimension};

/// max |got - expected| / max |expected|; NaN if either array contains NaN.
///
/// # Panics
/// If the shapes differ.
#[must_use]
#[track_caller]
pub fn relative_error<D: Dimension>(got: &ArrayRef<f64, D>, expected: &ArrayRef<f64, D>) -> f64 {
    assert_eq!(got.shape(), expected.shape(), "shapes differ");
    let difference = got.iter().zip(expected).map(|(a, b)| a - b);
    largest(difference) / largest(expected.iter().copied())
}

/// Largest absolute value; unlike with `f64::max`, NaN if one entry is NaN.
fn largest(entries: impl Iterator<Item = f64>) -> f64 {
    let absolute = entries.map(f64::abs);
    absolute.fold(0.0, |largest, entry| if largest >= entry || largest.is_nan() { largest } else { entry })
}

/// Asserts that the [`relative_error`] is at most `tolerance`.
#[track_caller]
pub fn assert_close<D: Dimension>(got: &ArrayRef<f64, D>, expected: &ArrayRef<f64, D>, tolerance: f64) {
    let error = relative_error(got, expected);
    assert!(error <= tolerance, "off by {error:e} where {tolerance:e} is allowed");
}

/// Asserts that |got - expected| / |expected| is at most `tolerance`.
#[track_caller]
pub fn assert_number(got: f64, expected: f64, tolerance: f64) {
    let error = ((got - expected) / expected).abs();
    assert!(error <= tolerance, "{got} against {expected}: off by {error:e} where {tolerance:e} is allowed");
}

#[cfg(test)]
mod tests {
    use ndarray::{ShapeBuilder, array};

    use super::*;

    #[test]
    fn errors_are_relative_to_the_largest_entry() {
        let expected = array![[1.0, -4.0], [0.0, 2.0]];
        let mut got = ndarray::Array2::zeros((2, 2).f());
        got.assign(&expected);
        assert_eq!(relative_error(&got, &expected), 0.0, "whatever the layout");
        got[(1, 0)] = -0.5;
        got[(0, 0)] = 1.25;
        assert_eq!(relative_error(&got, &expected), 0.125);
    }

    #[test]
    fn not_a_number_is_never_close() {
        for at in 0..3 {
            let mut broken = array![1.0, 2.0, 3.0];
            broken[at] = f64::NAN;
            let sound = array![1.0, 2.0, 3.0];
            assert!(relative_error(&broken, &sound).is_nan() && relative_error(&sound, &broken).is_nan());
        }
    }

    #[test]
    #[should_panic(expected = "off by 2e-1 where 1e-1 is allowed")]
    fn too_far_is_too_far() {
        assert_close(&array![1.0, 4.0], &array![1.0, 5.0], 0.1);
    }

    #[test]
    #[should_panic(expected = "4 against 5: off by 2e-1 where 1e-1 is allowed")]
    fn numbers_too() {
        assert_number(4.0, 5.0, 0.1);
    }

    #[test]
    #[should_panic(expected = "shapes differ")]
    fn shapes_have_to_agree() {
        let _ = relative_error(&array![1.0, 2.0], &array![1.0]);
    }
}
