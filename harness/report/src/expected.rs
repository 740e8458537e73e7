//! Expected running times, which price failures in.

use std::rc::Rc;

use gpbench_statistics::ert::Ert;

use crate::aggregate::Group;
use crate::clock::Clock;
use crate::costs::Costs;
use crate::layout::{Added, column};
use crate::number::{ratio as two_digits, short};
use crate::speed_up::SpeedUps;

/// Heading of the mean seconds of the seeds that reached the tolerance.
const REACHED: &str = "reached [s]";
/// Heading of the expected running time.
pub(crate) const EXPECTED: &str = "ERT [s]";

/// The columns of a table in which some seed missed the tolerance: mean seconds of those that reached it, and the expected
/// running time.
pub(crate) fn columns<'a>(speed_ups: &Rc<SpeedUps<'a>>) -> [Added<'a>; 2] {
    let costs = Rc::clone(speed_ups);
    let mean = column(REACHED, move |group| mean(&costs.costs(group, Clock::Seconds)));
    let costs = Rc::clone(speed_ups);
    [mean, column(EXPECTED, move |group| words(&costs.costs(group, Clock::Seconds)))]
}

/// Whether some of these groups missed the goal with a seed, so that expected running times are not means, and some is known.
pub(crate) fn is_needed(speed_ups: &SpeedUps<'_>, groups: &[&Group]) -> bool {
    let costs: Vec<Costs> = groups.iter().map(|group| speed_ups.costs(group, Clock::Seconds)).collect();
    costs.iter().any(Costs::has_missed) && costs.iter().any(|costs| costs.expected().is_some())
}

/// The mean over the seeds that reached the goal, with their number.
fn mean(costs: &Costs) -> Option<String> {
    costs.level?;
    let reached = costs.of_reached();
    let mean = reached.iter().sum::<f64>() / reached.len() as f64;
    (!reached.is_empty()).then(|| format!("{} ({}/{})", short(mean), reached.len(), costs.seeds.len()))
}

/// The expected running time with its interval: `24.2 [7.2, 118]`; `> 72` where no seed reached the goal.
pub(crate) fn words(costs: &Costs) -> Option<String> {
    let found: Ert = costs.expected()?;
    if found.successes == 0 {
        return Some(format!("> {}", short(found.spent)));
    }
    let interval = found.printed().map(|of| format!(" [{}, {}]", short(of.low), short(of.high)));
    Some(short(found.ert) + &interval.unwrap_or_default())
}

/// What the columns mean, for the groups of a table: how many seeds reached the goal, and what a solver without a failure may
/// still have.
pub(crate) fn caption(speed_ups: &SpeedUps<'_>, groups: &[&Group], goal: &str) -> String {
    let all = groups.iter().filter_map(|group| speed_ups.costs(group, Clock::Seconds).expected());
    let safe =
        all.filter_map(|found| Some((found.of, found.failure_rate_below()?))).min_by_key(|(of, _)| *of);
    let mut caption = format!(
        "ERT (expected running time) counts the seconds of seeds that missed {goal} and assumes that a failed run is \
         repeated with a new seed; > where none reached it; brackets are 95 % intervals. It is blank where seconds of a failure \
         are not known and where memory was exhausted."
    );
    if let Some((of, rate)) = safe {
        let rate = two_digits(100.0 * rate);
        caption +=
            &format!(" Of a solver with no failure in {of}, a failure rate up to {rate} % is not excluded.");
    }
    caption
}
