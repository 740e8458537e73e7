//! The saved state of Adam.

use gpbench_numerics::optimise::Adam;
use ndarray::Array2;

use super::state::{Named, put, take};
use crate::{Error, Result};

/// Whole numbers up to here are exact as doubles.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// As [`Optimiser::save`](super::Optimiser::save): `first_moment`, `second_moment`, `steps`.
pub(super) fn save(adam: &Adam, prefix: &str) -> Vec<Named> {
    vec![
        put(prefix, "first_moment", &adam.first_moment),
        put(prefix, "second_moment", &adam.second_moment),
        put(prefix, "steps", &[adam.steps as f64]),
    ]
}

/// As [`Optimiser::load`](super::Optimiser::load).
pub(super) fn load(
    adam: &mut Adam,
    prefix: &str,
    mut get: impl FnMut(&str) -> Option<Array2<f64>>,
) -> Result<()> {
    let size = adam.first_moment.len();
    let first_moment = take(prefix, "first_moment", size, &mut get)?;
    let second_moment = take(prefix, "second_moment", size, &mut get)?;
    let steps = take(prefix, "steps", 1, &mut get)?[0];
    if !(0.0..=EXACT).contains(&steps) || steps.fract() != 0.0 {
        return Err(Error::InvalidArgument(format!(
            "the saved state's {prefix}_steps is {steps}, no number of steps"
        )));
    }
    *adam = Adam { first_moment, second_moment, steps: steps as u64 };
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_steps_is_whole() {
        let mut adam = Adam::new(1);
        let state = |steps: f64| {
            move |name: &str| Some(Array2::from_elem((1, 1), if name == "a_steps" { steps } else { 0.0 }))
        };
        assert!(load(&mut adam, "a", state(2.0)).is_ok());
        for steps in [-1.0, 0.5, f64::NAN, f64::INFINITY] {
            assert!(load(&mut adam, "a", state(steps)).unwrap_err().to_string().contains("a_steps"));
        }
    }
}
