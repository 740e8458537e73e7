//! What captions say of distances to the optimum of the likelihood.

use gpbench_record::names;

use crate::aggregate::Group;
use crate::frame::CaseView;
use crate::number::short;
use crate::results::{Results, once_each};

/// What the distances of some groups are to; `None` where no case has one.
pub(crate) fn caption(results: &Results<'_>, groups: &[&Group]) -> Option<String> {
    let cases = || groups.iter().flat_map(|group| results.of(group).map(move |case| (*group, case)));
    cases().find(|(_, case)| case.metric(names::OPTIMUM_DISTANCE).is_some())?;
    let what = "The distance to the optimum is how far the exact log likelihood of the learned hyperparameters is below \
                the greatest one that L-BFGS finds from several starts, per row.";
    let exceeded = |case: &CaseView<'_>| case.metric(names::OPTIMUM_EXCEEDED);
    let Some(most) = cases().filter_map(|(_, case)| exceeded(&case)).reduce(f64::max) else {
        return Some(what.to_owned());
    };
    let is_best =
        |case: &CaseView<'_>| exceeded(case).is_some() && case.metric(names::OPTIMUM_DISTANCE) == Some(0.0);
    let best = once_each(cases().filter(|(_, case)| is_best(case)).map(|(group, _)| results.label(group)));
    let who = match &best[..] {
        [] => "A step of a case".to_owned(),
        names => names.join(", "),
    };
    let by = short(most);
    Some(format!("{what} {who} exceeded that by up to {by}: there, distances are those to the best case."))
}
