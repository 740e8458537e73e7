//! The number of epochs that an estimate assumes, which nobody knows beforehand.

use std::fmt;

use gpbench_record::{Case, ParamValue};

use super::measured::measured;

/// What an estimated time assumes of an iterative solver.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Assumption {
    /// So many epochs to the tolerance.
    Tolerance(f64),
    /// All epochs that budget and parameters allow.
    Allowed(f64),
    /// The epochs of a step that a published run measured.
    Measured {
        /// Epochs.
        epochs: f64,
        /// Training rows of that run.
        rows: usize,
        /// Its folder.
        run: &'static str,
    },
    /// The whole time budget, in seconds.
    Time(f64),
}

impl Assumption {
    /// The epochs of a solve of `n` rows that is assumed to need `to_tolerance` products with A, if it has a tolerance.
    /// Without one, it takes all that its budget and its parameters allow. A measurement of a published run takes the
    /// place of what is assumed. With inducing points, A has the share `part` of n columns.
    pub(super) fn of(case: &Case, n: f64, part: f64, to_tolerance: f64) -> (f64, Assumption) {
        let to_tolerance = part * to_tolerance;
        let allowed = allowed(case, n, part);
        if let Some(found) = measured(case, n)
            && allowed.is_none_or(|allowed| found.epochs < allowed)
        {
            let (epochs, rows, run) = (found.epochs, found.rows, found.run.as_str());
            return (epochs, Assumption::Measured { epochs, rows, run });
        }
        // Minibatches with inducing points have no residual, so that the tolerance is ignored.
        let ignored = part < 1.0 && positive(case, "batch_size").is_some();
        match (allowed, case.budget.tolerance.filter(|_| !ignored)) {
            (Some(allowed), None) => (allowed, Assumption::Allowed(allowed)),
            (Some(allowed), Some(_)) if allowed <= to_tolerance => (allowed, Assumption::Allowed(allowed)),
            _ => (to_tolerance, Assumption::Tolerance(to_tolerance)),
        }
    }

    /// Whether a measurement stands behind it.
    pub fn is_measured(&self) -> bool {
        matches!(self, Assumption::Measured { .. })
    }
}

/// The most epochs that budget and parameters allow, where they bound them.
fn allowed(case: &Case, n: f64, of_columns: f64) -> Option<f64> {
    let positive = |name: &str| positive(case, name);
    // An iteration is an epoch, unless it takes a part of the rows, or A has fewer columns.
    let of_rows = positive("batch_size").or(positive("block_size")).map_or(1.0, |rows| (rows / n).min(1.0));
    let part = of_rows * of_columns;
    let iterations = match (positive("min_iterations"), positive("lambda")) {
        // The expected number, where it is random.
        (Some(least), Some(rate)) => Some(least + rate.recip()),
        _ => positive("max_iterations"),
    };
    let allowed = [case.budget.max_epochs, iterations.map(|iterations| iterations * part)];
    allowed.into_iter().flatten().reduce(f64::min)
}

/// A parameter of the solver that is a positive number.
fn positive(case: &Case, name: &str) -> Option<f64> {
    let number = match case.solver.params.get(name)? {
        ParamValue::Int(number) => *number as f64,
        ParamValue::Float(number) => *number,
        ParamValue::Bool(_) | ParamValue::Text(_) => return None,
    };
    Some(number).filter(|number| *number > 0.0)
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
            Assumption::Measured { epochs, rows, run } => {
                write!(f, "{epochs} epochs a step, measured on {rows} rows ({run})")
            }
            Assumption::Time(seconds) => write!(f, "the whole time budget of {seconds} s"),
        }
    }
}

#[cfg(test)]
mod tests {
    use gpbench_record::{Budget, testing};

    use super::*;

    fn of(budget: Budget, params: &[(&str, i64)]) -> (f64, String) {
        with_columns(budget, params, 1.0)
    }

    fn with_columns(budget: Budget, params: &[(&str, i64)], part: f64) -> (f64, String) {
        let mut case = testing::case("cg");
        case.budget = budget;
        let params = params.iter().map(|(name, value)| ((*name).to_owned(), ParamValue::Int(*value)));
        case.solver.params = params.collect();
        let (epochs, assumption) = Assumption::of(&case, 1000.0, part, 100.0);
        (epochs, assumption.to_string())
    }

    #[test]
    fn a_measurement_names_its_run() {
        let measured = Assumption::Measured { epochs: 10.4, rows: 2000, run: "a-run" };
        assert_eq!(measured.to_string(), "10.4 epochs a step, measured on 2000 rows (a-run)");
        assert!(measured.is_measured() && !Assumption::Tolerance(100.0).is_measured());
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

    #[test]
    fn with_fewer_columns_an_iteration_is_a_part_of_an_epoch() {
        let budget = |tolerance| Budget { tolerance, max_epochs: Some(200.0), ..Budget::default() };
        let few = |tolerance, params: &[(&str, i64)]| with_columns(budget(tolerance), params, 0.25);
        assert_eq!(few(Some(0.01), &[]), (25.0, "25 epochs to the tolerance".to_owned()));
        assert_eq!(few(Some(0.01), &[("max_iterations", 20)]), (5.0, "all 5 epochs allowed".to_owned()));
        assert_eq!(few(None, &[]), (200.0, "all 200 epochs allowed".to_owned()));
    }

    #[test]
    fn minibatches_of_inducing_points_ignore_the_tolerance() {
        let budget = Budget { tolerance: Some(0.01), max_epochs: Some(200.0), ..Budget::default() };
        let batch = [("batch_size", 10)];
        assert_eq!(with_columns(budget, &batch, 0.25), (200.0, "all 200 epochs allowed".to_owned()));
        assert_eq!(of(budget, &batch), (100.0, "100 epochs to the tolerance".to_owned()));
    }
}
