//! The table of paired differences to the baseline.

use gpbench_record::metric::{Direction, METRICS, Metric, Shown};
use gpbench_statistics::{PRINTED_FROM, estimate};

use crate::aggregate::Group;
use crate::clock::Clock;
use crate::number::short;
use crate::pairs::differences;
use crate::results::{Results, once_each};
use crate::speed_up::{SpeedUps, counted};
use crate::split::Split;
use crate::table::{Cell, TextTable};

/// The table of [`table`], where the spec names the baseline.
pub(crate) fn with_stated_baseline(results: &Results<'_>) -> Option<TextTable> {
    results.cases.options().baseline.as_ref().and_then(|_| table(results))
}

/// Errors of each solver less those of the baseline on the same seeds, and the ratio of epochs; none where there is no pair.
pub(crate) fn table(results: &Results<'_>) -> Option<TextTable> {
    let baseline = results.cases.baseline_solver()?;
    let is_measured =
        |metric: &&Metric| results.groups.iter().any(|group| group.metrics.contains_key(metric.name));
    let metrics: Vec<&Metric> = METRICS.iter().filter(is_compared).filter(is_measured).collect();
    let speed_ups = SpeedUps::new(results);
    let several = results.problems().len() > 1;
    let mut table = TextTable::new(format!("Beside {baseline}, seed by seed"));
    if several {
        table = table.words("problem");
    }
    table = table.words(results.cases.noun()).numbers("pairs").numbers(EPOCHS_RATIO);
    table =
        metrics.iter().fold(table, |table, metric| table.numbers(format!("{} − {baseline}", metric.title)));
    for problem in results.problems() {
        let Some(base) = results.of_problem(problem).find(|group| group.solver == baseline) else { continue };
        let split = Split::of(results.cases_of(problem));
        let is_other = |group: &&Group| group.solver != baseline && !results.has_own_predictions(group);
        for group in results.of_problem(problem).filter(is_other) {
            let pair = [group, base];
            let epochs = speed_ups.text(group, base, Clock::Epochs);
            let differences = metrics.iter().map(|metric| difference(results, pair, metric, split));
            let numbers: Vec<Option<String>> = [epochs].into_iter().chain(differences).collect();
            if numbers.iter().all(Option::is_none) {
                continue;
            }
            let mut cells: Vec<Cell> =
                if several { vec![results.problem_title(problem).into()] } else { Vec::new() };
            cells.extend([group.solver.clone(), pairs(results, pair).to_string()].map(Cell::from));
            cells.extend(numbers.into_iter().map(|number| Cell::from(number.unwrap_or_default())));
            table.row(cells);
        }
    }
    table.caption = caption(results);
    (!table.rows.is_empty()).then(|| table.without_empty_columns())
}

/// Heading of the ratio of epochs.
const EPOCHS_RATIO: &str = "epochs ratio";

/// Whether the table has the differences of a metric: of errors that runs are compared by, other than those that span decades.
fn is_compared(metric: &&Metric) -> bool {
    metric.is_shown(Shown::Compare)
        && metric.is_shown(Shown::Best)
        && metric.direction != Direction::Neither
        && !metric.is_compared_as_log()
}

/// The mean difference of the first group to the second with its interval, and the number of pairs where some are missing.
fn difference(results: &Results<'_>, groups: [&Group; 2], metric: &Metric, split: Split) -> Option<String> {
    let [own, base] = groups.map(|group| results.by_seed(group, metric.name));
    with_interval(&differences(&own, &base), split.extra_variance(metric), pairs(results, groups))
}

/// The mean of differences with its interval, and their number where some of `of` seeds are missing; `None` without differences.
pub(crate) fn with_interval(differences: &[f64], extra_variance: f64, of: usize) -> Option<String> {
    let found = estimate(differences, extra_variance)?;
    let interval = found.printed().map(|of| format!(" [{}, {}]", short(of.low), short(of.high)));
    let counted = if found.count < of { format!(" ({} of {of})", found.count) } else { String::new() };
    Some(format!("{}{}{counted}", short(found.mean), interval.unwrap_or_default()))
}

/// Number of seeds that both groups were run with.
fn pairs(results: &Results<'_>, [own, base]: [&Group; 2]) -> usize {
    results.seeds(own).intersection(&results.seeds(base)).count()
}

fn caption(results: &Results<'_>) -> String {
    let most = results.groups.iter().map(|group| results.seeds(group).len()).max().unwrap_or_default();
    let what = "Means of differences over the seeds that both ran with; `epochs ratio` is the geometric mean of the other's epochs \
                over the solver's own, above 1 where the solver took fewer";
    if most < PRINTED_FROM {
        return format!("{what}; no interval: {}.", counted(most));
    }
    let of_problem = |problem| Split::of(results.cases_of(problem)).sentence();
    let splits = once_each(results.problems().into_iter().filter_map(of_problem));
    let first = format!("{what}; brackets are 95 % t intervals over seeds.");
    [first].into_iter().chain(splits).collect::<Vec<String>>().join(" ")
}
