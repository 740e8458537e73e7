//! `[target]`: a quality, and the time that a solver takes to reach it.

use gpbench_record::{Margin, names};

use crate::keys::{ANY, Keys, Kind, Setting, fraction, name, number, shared_inner, truth};
use crate::source::At;

/// The value of a metric that reaches the target.
#[derive(Debug, Clone)]
pub(crate) enum Goal {
    /// At most this number.
    Value(f64),
    /// Within this of what the reference reaches.
    Within(Option<At<Margin>>, Option<At<String>>),
}

#[derive(Debug, Clone)]
pub(crate) struct Target {
    /// Metrics with their goals, in the order of this file.
    pub(crate) goals: Vec<(&'static str, At<Goal>)>,
    pub(crate) stop: Setting<bool>,
}

pub(crate) fn read(keys: &mut Keys<'_>) -> Target {
    let documented = [
        (
            names::RMSE_TO_EXACT,
            "Distance of the predictive mean to the exact one; relative to the exact test RMSE.",
        ),
        (names::TEST_RMSE, "Test RMSE."),
        (names::TEST_NLL, "Mean test negative log-likelihood."),
        (names::RESIDUAL_Y, "Relative residual of y; along the way, as the solver claims it."),
        (
            names::RESIDUAL_PROBES,
            "Mean relative residual of the probes; along the way, as the solver claims it.",
        ),
    ];
    let goals = documented
        .into_iter()
        .filter_map(|(metric, doc)| Some((metric, keys.optional(metric, goal(), doc)?)));
    Target {
        goals: goals.collect(),
        stop: keys.or("stop", truth(), false, "Whether a case ends where it reaches the target; without a tolerance, one that does not is `not_converged`."),
    }
}

fn goal() -> Kind<Goal> {
    let value = number(ANY).map(|value| Goal::Value(value.value));
    let percent =
        fraction().map(|by| Goal::Within(Some(At { value: Margin::Fraction(by.value), at: by.at }), None));
    let takes = "a number, a percentage such as \"1%\", or a table { within = .., of = .. }";
    value.or(percent, takes).or(shared_inner("[target.METRIC]", relative).map(|goal| goal.value), takes)
}

fn relative(keys: &mut Keys<'_>) -> Goal {
    let absolute = number(ANY).map(|by| Margin::Absolute(by.value));
    let margin = absolute
        .or(fraction().map(|by| Margin::Fraction(by.value)), "a number or a percentage such as \"1%\"");
    let hint = "write, for instance, within = \"1%\"";
    Goal::Within(
        keys.required(
            "within",
            margin,
            hint,
            "How much worse than the reference: a percentage of it, or a number.",
        ),
        keys.derived(
            "of",
            name(),
            "\"exact\"",
            "The reference: the exact process, or a name on the solver axis.",
        ),
    )
}
