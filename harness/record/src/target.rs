//! The target of a run: the quality that its solvers are to reach.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Metrics, TaskKind, metric, names};

/// The target of a run: an upper bound on a metric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Target {
    /// Name of the metric, one of [`Target::metrics`].
    pub metric: String,
    /// The bound.
    pub bound: TargetBound,
}

/// An upper bound on a metric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TargetBound {
    /// A number.
    Value(f64),
    /// A margin above a reference.
    Within(Margin, TargetReference),
}

/// The amount by which a value may be worse than a reference.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Margin {
    /// An amount in the units of the metric.
    Absolute(f64),
    /// A fraction of the reference.
    Fraction(f64),
}

/// The reference of a relative target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TargetReference {
    /// The exact Gaussian process with the case's hyperparameters.
    Exact,
    /// The verified final value of this solver, on the same problem with the same seed.
    Solver(String),
}

impl Target {
    /// The metrics for which a task can have a target: those that it records in its trace or steps.
    pub fn metrics(task: TaskKind) -> &'static [&'static str] {
        match task {
            TaskKind::Solve => &[names::RESIDUAL_Y, names::RESIDUAL_PROBES],
            TaskKind::Posterior => &[
                names::RMSE_TO_EXACT,
                names::TEST_RMSE,
                names::TEST_NLL,
                names::RESIDUAL_Y,
                names::RESIDUAL_PROBES,
            ],
            TaskKind::Train | TaskKind::Learn => &[names::TEST_RMSE, names::TEST_NLL],
            _ => &[],
        }
    }

    /// The solver to which the target is relative, if there is one.
    pub fn solver(&self) -> Option<&str> {
        match &self.bound {
            TargetBound::Within(_, TargetReference::Solver(name)) => Some(name),
            TargetBound::Within(_, TargetReference::Exact) | TargetBound::Value(_) => None,
        }
    }

    /// The metric's name in traces and steps; for a residual, the name of the solver's claim.
    pub fn traced(&self) -> &str {
        match self.metric.as_str() {
            names::RESIDUAL_Y => names::CLAIMED_Y,
            names::RESIDUAL_PROBES => names::CLAIMED_PROBES,
            metric => metric,
        }
    }

    /// The bound in the units of the metric. A relative distance to the exact mean refers to the exact process's test
    /// RMSE.
    ///
    /// `own` has the metrics of the exact process for the case, and `solver` is the value that the solver named by
    /// [`Target::solver`] reached. `None` where the reference is unknown.
    pub fn limit(&self, own: &Metrics, solver: Option<f64>) -> Option<f64> {
        let (margin, of) = match &self.bound {
            TargetBound::Value(value) => return Some(*value),
            TargetBound::Within(margin, of) => (margin, of),
        };
        let (reference, scale) = match (of, self.metric.as_str()) {
            (TargetReference::Solver(_), _) => (solver?, solver?.abs()),
            (TargetReference::Exact, names::RMSE_TO_EXACT) => (0.0, own.get(names::TEST_RMSE_EXACT)?),
            (TargetReference::Exact, names::TEST_NLL) => {
                let exact = own.get(names::TEST_NLL_EXACT)?;
                (exact, exact.abs())
            }
            (TargetReference::Exact, _) => {
                let exact = own.get(names::TEST_RMSE_EXACT)?;
                (exact, exact)
            }
        };
        Some(match margin {
            Margin::Absolute(by) => reference + by,
            Margin::Fraction(by) => reference + by * scale,
        })
    }
}

impl fmt::Display for Target {
    /// Writes the target in words, such as "test RMSE within 1 % of that of the exact process".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let title = metric::find(&self.metric).map_or(self.metric.as_str(), |metric| metric.axis);
        let (margin, of) = match &self.bound {
            TargetBound::Value(value) => return write!(f, "{title} at most {value}"),
            TargetBound::Within(margin, of) => (margin, of),
        };
        let by = match margin {
            Margin::Absolute(by) => format!("{by}"),
            Margin::Fraction(by) => format!("{} %", shortened(100.0 * by)),
        };
        match of {
            TargetReference::Exact if self.metric == names::RMSE_TO_EXACT => match margin {
                Margin::Absolute(_) => write!(f, "{title} at most {by}"),
                Margin::Fraction(_) => write!(f, "{title} at most {by} of the exact process's test RMSE"),
            },
            TargetReference::Exact => write!(f, "{title} within {by} of that of the exact process"),
            TargetReference::Solver(name) => write!(f, "{title} within {by} of that of {name}"),
        }
    }
}

/// A number without the rounding error of multiplication by 100.
fn shortened(number: f64) -> f64 {
    (number * 1e9).round() / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(metric: &str, margin: Margin, of: TargetReference) -> Target {
        Target { metric: metric.to_owned(), bound: TargetBound::Within(margin, of) }
    }

    #[test]
    fn limits_are_relative_to_what_they_name() {
        let own = Metrics::from_iter([
            (names::TEST_RMSE_EXACT.to_owned(), 0.5),
            (names::TEST_NLL_EXACT.to_owned(), -2.0),
        ]);
        let (exact, percent) = (TargetReference::Exact, Margin::Fraction(0.01));
        let value = Target { metric: names::TEST_RMSE.to_owned(), bound: TargetBound::Value(0.3) };
        assert_eq!(value.limit(&Metrics::default(), None), Some(0.3));
        assert_eq!(value.to_string(), "test RMSE at most 0.3");

        let rmse = target(names::TEST_RMSE, percent, exact.clone());
        assert_eq!(rmse.limit(&own, None), Some(0.505));
        assert_eq!(rmse.limit(&Metrics::default(), None), None);
        assert_eq!(rmse.to_string(), "test RMSE within 1 % of that of the exact process");

        let distance = target(names::RMSE_TO_EXACT, percent, exact.clone());
        assert_eq!(distance.limit(&own, None), Some(0.005));
        let words = "RMSE to the exact mean at most 1 % of the exact process's test RMSE";
        assert_eq!(distance.to_string(), words);

        let nll = target(names::TEST_NLL, Margin::Absolute(0.05), exact);
        assert_eq!(nll.limit(&own, None), Some(-1.95));

        let solver = target(names::RESIDUAL_Y, Margin::Fraction(0.5), TargetReference::Solver("cg".into()));
        assert_eq!((solver.limit(&own, Some(0.01)), solver.limit(&own, None)), (Some(0.015), None));
        assert_eq!((solver.solver(), solver.traced()), (Some("cg"), names::CLAIMED_Y));
    }

    #[test]
    fn every_target_is_a_metric_of_its_task() {
        for task in TaskKind::ALL {
            assert!(Target::metrics(task).iter().all(|name| metric::find(name).unwrap().is_of(task)));
        }
    }
}
