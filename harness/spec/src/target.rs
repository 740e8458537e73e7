//! The target of quality that times are measured to, checked.

use gpbench_record::{Axes, Margin, Target, TargetBound, TargetReference, TaskKind, names};

use crate::error::Mistakes;
use crate::nearest;
use crate::source::{At, Location};
use crate::tables::target::Goal;
use crate::typed::Typed;

/// The name of the exact Gaussian process as a reference.
const EXACT: &str = "exact";

/// The target of `[target]`, and whether cases stop there.
pub(crate) fn resolve(
    typed: &Typed,
    task: TaskKind,
    axes: &Axes,
    mistakes: &mut Mistakes,
) -> Option<(Target, bool)> {
    let table = &typed.root.target;
    let at = table.at.as_ref()?;
    let known = Target::metrics(task);
    if known.is_empty() {
        let what = format!("task \"{task}\" records nothing along the way that a target could be of");
        mistakes.add(at, what, None);
        return None;
    }
    let ((metric, goal), others) = match table.value.goals.split_first() {
        Some((first, others)) => (first, others),
        None => {
            if mistakes.is_empty() {
                let hint = format!("name one: {}", known.join(", "));
                mistakes.add(at, "[target] names no metric", hint);
            }
            return None;
        }
    };
    if let Some((other, goal)) = others.first() {
        let what = format!("[target] names two metrics, `{metric}` and `{other}`");
        mistakes.add(&goal.at, what, "keep one".to_owned());
    }
    if !known.contains(metric) {
        let what = format!("task \"{}\" does not record `{metric}` along the way", task);
        mistakes.add(&goal.at, what, nearest::list(known.iter().copied()));
        return None;
    }
    let target =
        Target { metric: (*metric).to_owned(), bound: bound(typed, task, metric, goal, axes, mistakes)? };
    let stop = &table.value.stop;
    if let Some(at) = stop.at.as_ref().filter(|_| stop.value) {
        check_stop(at, task, &target, mistakes);
    }
    Some((target, stop.value))
}

fn bound(
    typed: &Typed,
    task: TaskKind,
    metric: &str,
    goal: &At<Goal>,
    axes: &Axes,
    mistakes: &mut Mistakes,
) -> Option<TargetBound> {
    let may_be_negative = metric == names::TEST_NLL;
    let (margin, of) = match &goal.value {
        Goal::Value(value) => {
            if *value <= 0.0 && !may_be_negative {
                mistakes.add(&goal.at, format!("`{metric}` must be positive, not {value}"), None);
            }
            return Some(TargetBound::Value(*value));
        }
        Goal::Within(margin, of) => (margin.as_ref()?, of),
    };
    if let Margin::Fraction(by) | Margin::Absolute(by) = margin.value
        && by <= 0.0
    {
        mistakes.add(&margin.at, "the margin of a target must be positive", None);
    }
    if may_be_negative && matches!(margin.value, Margin::Fraction(_)) {
        let hint = "write a number of nats, as in { within = 0.01 }".to_owned();
        mistakes.add(&margin.at, "a percentage of a log-likelihood, which may be 0, is no margin", hint);
    }
    let reference = match of {
        Some(of) if of.value != EXACT => {
            if !axes.solver.contains(&of.value) && !typed.axes_overridden {
                let known = axes.solver.iter().map(String::as_str).chain([EXACT]);
                let hint = nearest::hint(&of.value, known);
                mistakes.add(
                    &of.at,
                    format!("`{}` is neither \"{EXACT}\" nor on the solver axis", of.value),
                    hint,
                );
            }
            TargetReference::Solver(of.value.clone())
        }
        _ => TargetReference::Exact,
    };
    if reference == TargetReference::Exact {
        check_exact(&goal.at, task, metric, mistakes);
    }
    Some(TargetBound::Within(margin.value, reference))
}

/// Reports a target relative to the exact process whose metric the exact process does not have.
fn check_exact(at: &Location, task: TaskKind, metric: &str, mistakes: &mut Mistakes) {
    let hint = "write a number, or { within = \"10%\", of = \"SOLVER\" }".to_owned();
    if [names::RESIDUAL_Y, names::RESIDUAL_PROBES].contains(&metric) {
        mistakes.add(at, format!("the exact process has no `{metric}` to be relative to"), hint);
    } else if task != TaskKind::Posterior {
        let what = format!("in task \"{task}\", the exact process is another one for each case");
        mistakes.add(at, what, hint);
    }
}

/// Reports a target at which no case can stop.
fn check_stop(at: &Location, task: TaskKind, target: &Target, mistakes: &mut Mistakes) {
    let is_residual = target.traced() != target.metric;
    if is_residual {
        let hint = "write `tolerance` of [budget]".to_owned();
        mistakes.add(
            at,
            "`stop` is for errors of predictions: solvers stop at residuals by themselves",
            hint,
        );
    } else if task != TaskKind::Posterior {
        let what = format!("`stop` is for task \"posterior\", not \"{task}\"");
        mistakes.add(at, what, "leave it out: the target is timed all the same".to_owned());
    } else if let Some(solver) = target.solver() {
        let what = format!("no case can stop at what `{solver}` reaches: it may run later");
        mistakes.add(at, what, "leave it out: the target is timed all the same".to_owned());
    }
}
