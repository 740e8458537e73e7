//! The number of epochs that an estimate assumes, which nobody knows beforehand.

use std::fmt;

use gpbench_record::{Case, ParamValue};

/// What an estimated time assumes of an iterative solver.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Assumption {
    /// So many epochs to the tolerance.
    Tolerance(f64),
    /// All epochs that budget and parameters allow.
    Allowed(f64),
    /// The whole time budget, in seconds.
    Time(f64),
}

impl Assumption {
    /// The epochs of a solve of `n` rows that is assumed to need `to_tolerance` of them, if it has a tolerance. Without one, it
    /// takes all that its budget and its parameters allow.
    pub(super) fn of(case: &Case, n: f64, to_tolerance: f64) -> (f64, Assumption) {
        match (allowed(case, n), case.budget.tolerance) {
            (Some(allowed), None) => (allowed, Assumption::Allowed(allowed)),
            (Some(allowed), Some(_)) if allowed <= to_tolerance => (allowed, Assumption::Allowed(allowed)),
            _ => (to_tolerance, Assumption::Tolerance(to_tolerance)),
        }
    }
}

/// The most epochs that budget and parameters allow, where they bound them.
fn allowed(case: &Case, n: f64) -> Option<f64> {
    let number = |name: &str| match case.solver.params.get(name)? {
        ParamValue::Int(number) => Some(*number as f64),
        ParamValue::Float(number) => Some(*number),
        ParamValue::Bool(_) | ParamValue::Text(_) => None,
    };
    let positive = |name: &str| number(name).filter(|number| *number > 0.0);
    // An iteration is an epoch, unless it takes a part of the rows.
    let part = positive("batch_size").or(positive("block_size")).map_or(1.0, |rows| (rows / n).min(1.0));
    let iterations = match (positive("min_iterations"), positive("lambda")) {
        // The expected number, where it is random.
        (Some(least), Some(rate)) => Some(least + rate.recip()),
        _ => positive("max_iterations"),
    };
    let allowed = [case.budget.max_epochs, iterations.map(|iterations| iterations * part)];
    allowed.into_iter().flatten().reduce(f64::min)
}

impl fmt::Display for Assumption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Iterations that take a part of the rows give long fractions of an epoch.
        let rounded = |epochs: f64| match epochs {
            100.0.. => epochs.round(),
            _ => format!("{epochs:.2e}").parse().unwrap_or(epochs),
        };
        match self {
            Assumption::Tolerance(epochs) => write!(f, "{} epochs to the tolerance", rounded(*epochs)),
            Assumption::Allowed(epochs) => write!(f, "all {} epochs allowed", rounded(*epochs)),
            Assumption::Time(seconds) => write!(f, "the whole time budget of {seconds} s"),
        }
    }
}

#[cfg(test)]
mod tests {
    use gpbench_record::{Budget, testing};

    use super::*;

    fn of(budget: Budget, params: &[(&str, i64)]) -> (f64, String) {
        let mut case = testing::case("cg");
        case.budget = budget;
        let params = params.iter().map(|(name, value)| ((*name).to_owned(), ParamValue::Int(*value)));
        case.solver.params = params.collect();
        let (epochs, assumption) = Assumption::of(&case, 1000.0, 100.0);
        (epochs, assumption.to_string())
    }

    #[test]
    fn the_tolerance_or_what_is_allowed_decides() {
        let (tolerance, epochs) = (Some(0.01), |max_epochs| Budget { max_epochs, ..Budget::default() });
        let with = |max_epochs| Budget { tolerance, ..epochs(max_epochs) };
        for (budget, params, expected) in [
            (with(None), &[][..], (100.0, "100 epochs to the tolerance")),
            (with(Some(1000.0)), &[], (100.0, "100 epochs to the tolerance")),
            (with(Some(20.0)), &[], (20.0, "all 20 epochs allowed")),
            (epochs(Some(1000.0)), &[], (1000.0, "all 1000 epochs allowed")),
            (epochs(None), &[("max_iterations", 10_000), ("batch_size", 7)], (70.0, "all 70 epochs allowed")),
            (epochs(None), &[("max_iterations", 100), ("batch_size", 3)], (0.3, "all 0.3 epochs allowed")),
            // Time alone bounds it.
            (epochs(None), &[], (100.0, "100 epochs to the tolerance")),
        ] {
            let (epochs, text) = of(budget, params);
            assert_eq!((epochs, text.as_str()), expected, "{budget:?}, {params:?}");
        }
    }
}
