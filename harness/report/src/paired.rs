//! The table of paired differences to the baseline.

use gpbench_record::metric::{Direction, METRICS, Metric, Shown};
use gpbench_record::{TaskKind, counted};
use gpbench_statistics::{PRINTED_FROM, estimate};

use crate::aggregate::Group;
use crate::between::difference as difference_words;
use crate::clock::Clock;
use crate::pairs::differences;
use crate::results::{Results, once_each};
use crate::speed_up::SpeedUps;
use crate::split::Split;
use crate::table::{Cell, TextTable};

/// The table of [`table`], where the spec names the baseline.
pub(crate) fn with_stated_baseline(results: &Results<'_>) -> Option<TextTable> {
    results.cases.options().baseline.as_ref().and_then(|_| table(results))
}

/// Errors of each solver less those of the baseline on the same seeds, and ratios of costs: of epochs, and of the seconds of
/// learners, which no other table compares. None where there is no pair.
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
    table = table.words(results.cases.noun()).numbers("pairs").numbers(SECONDS_RATIO).numbers(EPOCHS_RATIO);
    table =
        metrics.iter().fold(table, |table, metric| table.numbers(format!("{} − {baseline}", metric.title)));
    for problem in results.problems() {
        let is_base = |group: &&Group| group.solver == baseline && !results.has_own_predictions(group);
        let Some(base) = results.of_problem(problem).find(is_base) else { continue };
        let split = Split::of(results.cases_of(problem));
        let is_other = |group: &&Group| group.solver != baseline && !results.has_own_predictions(group);
        for group in results.of_problem(problem).filter(is_other) {
            let pair = [group, base];
            let costs = [seconds(results, &speed_ups, pair), speed_ups.text(group, base, Clock::Epochs)];
            let differences = metrics.iter().map(|metric| difference(results, pair, metric, split));
            let numbers: Vec<Option<String>> = costs.into_iter().chain(differences).collect();
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
    let mut table = table.without_empty_columns();
    table.caption = caption(results, &speed_ups, &table);
    (!table.rows.is_empty()).then_some(table)
}

/// Heading of the ratio of seconds.
const SECONDS_RATIO: &str = "seconds ratio";
/// Heading of the ratio of epochs.
const EPOCHS_RATIO: &str = "epochs ratio";

/// The ratio of the seconds of learners, to the target or else of whole fits; none of solvers, whose own table has a speed-up.
fn seconds(results: &Results<'_>, speed_ups: &SpeedUps<'_>, [group, base]: [&Group; 2]) -> Option<String> {
    if !results.cases.tasks().contains(&TaskKind::Learn) {
        return None;
    }
    speed_ups.text(group, base, Clock::Seconds).or_else(|| speed_ups.of_whole(group, base))
}

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
    estimate(differences, extra_variance).map(|found| difference_words(&found, of))
}

/// Number of seeds that both groups were run with.
fn pairs(results: &Results<'_>, [own, base]: [&Group; 2]) -> usize {
    results.seeds(own).intersection(&results.seeds(base)).count()
}

/// What the columns of the table are.
fn caption(results: &Results<'_>, speed_ups: &SpeedUps<'_>, table: &TextTable) -> String {
    let most = results.groups.iter().map(|group| results.seeds(group).len()).max().unwrap_or_default();
    let noun = results.cases.noun();
    let ratio = |title: &str, costs: &str| {
        let has_column = table.columns.iter().any(|column| column.title == title);
        let of = format!("the geometric mean of the other's {costs} over the {noun}'s own");
        has_column.then(|| format!("`{title}` is {of}, above 1 where the {noun} took fewer"))
    };
    let of_seconds = match speed_ups.is_to_target() {
        true => "seconds to the target",
        false => "seconds of whole fits, all of which ended ok,",
    };
    let differences = "Means of differences over the seeds that both ran with".to_owned();
    let ratios = [ratio(SECONDS_RATIO, of_seconds), ratio(EPOCHS_RATIO, "epochs")].into_iter().flatten();
    let what = [differences].into_iter().chain(ratios).collect::<Vec<String>>().join("; ");
    let seconds = table.columns.iter().position(|column| column.title == SECONDS_RATIO);
    let has_marks = seconds.is_some_and(|j| table.rows.iter().any(|row| row[j].text.contains('/')));
    let mark = has_marks.then(|| {
        "A mark like 4/5 stands in place of a ratio: both got there with 4 of 5 common seeds.".to_owned()
    });
    let brackets = match most < PRINTED_FROM {
        true => format!("no interval: {}", counted(most, "seed")),
        false => "brackets are 95 % t intervals over seeds".to_owned(),
    };
    let of_problem = |problem| Split::of(results.cases_of(problem)).sentence();
    let splits = once_each(results.problems().into_iter().filter_map(of_problem));
    let splits = splits.into_iter().filter(|_| most >= PRINTED_FROM);
    let first = format!("{what}; {brackets}.");
    [first].into_iter().chain(mark).chain(splits).collect::<Vec<String>>().join(" ")
}
