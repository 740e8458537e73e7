//! Thompson sampling: values found by each solver's samples, paired by objective and seed.

use std::collections::BTreeMap;
use std::rc::Rc;

use gpbench_record::metric::{self, Style};
use gpbench_record::names;
use gpbench_statistics::estimate;

use super::section::{RESIDUALS, Section};
use crate::aggregate::{Group, MeanWithError};
use crate::bold::{Bold, ByPair};
use crate::charts::figure::Drawn;
use crate::charts::{acquisition, gains, search, search_steps, seconds};
use crate::comparable_times::MARK;
use crate::layout::{Added, Layout, column, with_error};
use crate::number::Format;
use crate::papers::LIN_2023;
use crate::problem::GroupProblem;
use crate::published_search;
use crate::reference::Reference;
use crate::results::Results;
use crate::search::{Measure, Search};
use crate::search_pool::{Pool, baseline, measure, pools};
use crate::split::Split;
use crate::table::{Cell, TextTable};

/// The section of task `thompson`.
pub(super) struct Thompson;

const MEANS: &str = "\
Mean ± standard error over seeds of the cases that ended ok or not_converged; of the timing repeats of a seed, the median of \
seconds and the mean of other metrics count. `ok` counts the cases that ended ok. A mean over fewer seeds than were run says so, \
as in `(2 of 3)`.";

const MARKS: &str = "\
Objectives differ more than solvers do, so solvers are compared by the differences of pairs: the same objective, design \
and seed. The caption of a table says what is bold. In the table of all data sets together, the value of a seed is its mean over \
these data sets; a solver is compared there if it has searched on all of them with all seeds.";

const SEARCH: &str = "\
`best` is the largest value of the objective, without noise, at all points; `gain` is `best` less the best value of a random \
search with as many points. Columns that begin with `best −` have the mean paired difference to another solver over `pairs` \
seeds, in brackets its 95 % t interval from three seeds on. `steps to 90 %` are the steps after which 90 % of that solver's \
final gain on the same objective are reached, and `entries to 90 %` the kernel entries of the solves until then; they are \
empty where no case gets there. Residuals are those of the last step. Epochs and iterations are sums over the steps. \
`all parts` are the wall-clock seconds of building systems, of prepare and solve, of candidates and of ascents.";

const REPLAY: &str = "\
Where points of another run are acquired, `best` and `gain` are that run's. Solvers are then compared by `chosen`, the \
objective's mean over the points that their samples chose, averaged over the steps.";

impl Section for Thompson {
    fn title(&self) -> &'static str {
        "Thompson sampling"
    }

    fn conventions(&self) -> &'static [&'static str] {
        &[MEANS, MARKS, SEARCH, REPLAY, RESIDUALS]
    }

    fn layouts<'a>(&self, results: &'a Results<'a>) -> Vec<Layout<'a>> {
        let pools: Rc<[Pool<'a>]> = pools(results).into();
        let layout = |problem: &'a GroupProblem| Layout {
            results,
            title: results.problem_title(problem),
            groups: results.of_problem(problem).collect(),
            names: vec![column("solver", |group| Some(group.solver.clone()))],
            added: numbers(measure(results), baseline(results)).map(|number| number.column(&pools)).collect(),
            notes: Vec::new(),
            may_be_bold: Box::new(|_: &Group| true),
        };
        results.problems().into_iter().map(layout).collect()
    }

    fn tables(&self, results: &Results<'_>) -> Vec<TextTable> {
        let is_more = |pool: &&Pool<'_>| pool.problems().len() > 1 || pool.measure == Measure::Chosen;
        pools(results).iter().filter(is_more).map(|pool| together(results, pool)).collect()
    }

    fn published(&self, results: &Results<'_>, reference: &Reference) -> Vec<TextTable> {
        pools(results).iter().filter_map(|pool| published_search::table(results, reference, pool)).collect()
    }

    fn figures(&self, results: &Results<'_>) -> Vec<Drawn> {
        let pools = pools(results);
        let mut drawn = Vec::new();
        for pool in &pools {
            drawn.push(search::figure(results, pool));
            drawn.push(search::datasets_figure(results, pool));
            drawn.push(gains::figure(results, pool));
            drawn.push(seconds::search_figure(results, pool));
        }
        for problem in results.problems() {
            drawn.push(search_steps::figure(results, problem));
        }
        for problem in results.problems() {
            drawn.extend(acquisition::figures(results, problem));
        }
        drawn
    }

    fn papers(&self) -> &'static [&'static str] {
        &[LIN_2023]
    }

    fn seconds(&self) -> &'static str {
        names::SECONDS_TOTAL
    }
}

/// A column of numbers of a solver's searches.
struct Number {
    title: String,
    text: Text,
}

/// The text of a cell, of a solver of a pool.
type Text = Box<dyn Fn(&Pool<'_>, &str) -> Option<String>>;

impl Number {
    /// A column of means with standard errors.
    fn new(
        title: impl Into<String>,
        style: Style,
        of: fn(&Pool<'_>, &str) -> Option<MeanWithError>,
    ) -> Number {
        let text = move |pool: &Pool<'_>, solver: &str| Some(with_error(style, &of(pool, solver)?));
        Number { title: title.into(), text: Box::new(text) }
    }

    /// The column of a table with one row a group.
    fn column<'a>(self, pools: &Rc<[Pool<'a>]>) -> Added<'a> {
        let pools = Rc::clone(pools);
        column(self.title, move |group| {
            pools.iter().find_map(|pool| (self.text)(&pool.of_problem(&group.problem), &group.solver))
        })
    }
}

/// The columns beside the metrics.
fn numbers(measure: Measure, baseline: Option<&str>) -> impl Iterator<Item = Number> {
    let start = Number::new("start", Style::Fixed, |pool, solver| {
        mean(pool, solver, |search| Some(search.stop(0).best))
    });
    let random = Number::new("random search", Style::Fixed, |pool, solver| {
        mean(pool, solver, |search| search.random.last().copied())
    });
    let chosen = Number::new(CHOSEN, Style::Fixed, |pool, solver| {
        mean(pool, solver, |search| search.score(Measure::Chosen))
    });
    let steps = Number::new("steps to 90 %", Style::Short, |pool, solver| {
        reached(pool, solver, |_, step| step as f64)
    });
    let entries = Number::new("entries to 90 %", Style::Short, |pool, solver| {
        reached(pool, solver, |search, step| search.stop(step).entries)
    });
    let (score, _) = compared(measure)[0];
    let paired = baseline.map(|baseline| {
        [
            Number { title: format!("{score} − {baseline}"), text: Box::new(difference) },
            Number { title: "pairs".to_owned(), text: Box::new(pairs) },
        ]
    });
    let paired = paired.into_iter().flatten();
    let own = match measure {
        Measure::Best => vec![start, random].into_iter().chain(paired).chain([steps, entries]).collect(),
        Measure::Chosen => [chosen].into_iter().chain(paired).collect::<Vec<Number>>(),
    };
    own.into_iter()
}

/// Headings of the columns by which searches are compared.
const BEST: &str = "best";
const GAIN: &str = "gain";
const CHOSEN: &str = "chosen";

/// Heading of the seconds of searches.
const ALL_PARTS: &str = "all parts [s]";

/// The columns by which searches are compared under a measure, and their metrics.
fn compared(measure: Measure) -> &'static [(&'static str, &'static str)] {
    match measure {
        Measure::Best => &[(BEST, names::BEST), (GAIN, names::GAIN)],
        Measure::Chosen => &[(CHOSEN, names::BATCH_MEAN)],
    }
}

/// The mean of a number over a solver's searches.
fn mean(pool: &Pool<'_>, solver: &str, of: impl Fn(&Search) -> Option<f64>) -> Option<MeanWithError> {
    let values: Vec<f64> = pool.of(solver).filter_map(of).collect();
    MeanWithError::of(&values, pool.targets().len())
}

/// The mean difference of a solver to the baseline with its interval.
fn difference(pool: &Pool<'_>, solver: &str) -> Option<String> {
    let found = estimate(&pool.differences(solver), 0.0)?;
    let number = |value: f64| Style::Fixed.format(value);
    let interval = found.printed().map(|of| format!(" [{}, {}]", number(of.low), number(of.high)));
    Some(number(found.mean) + &interval.unwrap_or_default())
}

/// Number of seeds that the difference to the baseline is over.
fn pairs(pool: &Pool<'_>, solver: &str) -> Option<String> {
    let count = pool.differences(solver).len();
    (count > 0).then(|| count.to_string())
}

/// A number of the step with which a solver's searches reach most of the baseline's gain, over the targets that both have.
fn reached(pool: &Pool<'_>, solver: &str, of: fn(&Search, usize) -> f64) -> Option<MeanWithError> {
    let pairs: Vec<(&Search, &Search)> =
        pool.of(solver).filter_map(|search| Some((search, pool.base(&search.target)?))).collect();
    let values: Vec<f64> = pairs.iter().filter_map(|(own, base)| Some(of(own, own.reaches(base)?))).collect();
    MeanWithError::of(&values, pairs.len())
}

/// The table of all data sets of a pool together.
fn together(results: &Results<'_>, pool: &Pool<'_>) -> TextTable {
    let title = if pool.title.is_empty() { String::new() } else { format!(": {}", pool.title) };
    let best =
        Number::new(BEST, Style::Fixed, |pool, solver| mean(pool, solver, |search| Some(search.end().best)));
    let gain = Number::new(GAIN, Style::Fixed, |pool, solver| {
        mean(pool, solver, |search| search.gain(search.stops.len()))
    });
    let seconds = Number::new(ALL_PARTS, Style::Short, |pool, solver| {
        mean(pool, solver, |search| Some(search.end().seconds()).filter(|seconds| seconds.is_finite()))
    });
    let columns: Vec<Number> =
        [best, gain].into_iter().chain(numbers(pool.measure, pool.baseline)).chain([seconds]).collect();
    let table = TextTable::new(format!("All data sets together{title}")).words("solver").numbers("searches");
    let mut table = columns.iter().fold(table, |table, number| table.numbers(&number.title));
    let bold = bold(pool);
    for (i, solver) in pool.solvers.iter().enumerate() {
        let searches = format!("{}/{}", pool.of(solver).count(), pool.targets().len());
        let mut cells: Vec<Cell> = vec![(*solver).into(), searches.into()];
        let mut groups = results.groups.iter().filter(|group| group.solver == *solver);
        let is_incomparable = groups.any(|group| !results.mark(group, names::SECONDS).is_empty());
        cells.extend(columns.iter().map(|number| {
            let place = compared(pool.measure).iter().position(|(title, _)| number.title == *title);
            let mark = if is_incomparable && number.title == ALL_PARTS { MARK } else { "" };
            let text = (number.text)(pool, solver).map(|text| text + mark);
            Cell {
                strong: place.is_some_and(|place| bold.marks[place][i]),
                ..text.unwrap_or_default().into()
            }
        }));
        table.row(cells);
    }
    let means = "Mean ± standard error over data sets and seeds together. Means over different searches are not comparable; paired \
                 differences are: of means over these data sets, by seed."
        .to_owned();
    table.caption = bold.caption.into_iter().chain([means]).collect::<Vec<String>>().join(" ");
    table.key(&["solver", BEST, CHOSEN]).major(&["searches", ALL_PARTS]).without_empty_columns()
}

/// The bold entries of the columns by which searches are compared, among the solvers that have searched on every target.
fn bold(pool: &Pool<'_>) -> Bold {
    let is_whole = |solver: &str| pool.of(solver).count() == pool.targets().len();
    let values = |name: &str, solver: &str| match name {
        _ if !is_whole(solver) => BTreeMap::new(),
        names::GAIN => pool.by_seed(solver, |search| search.gain(search.stops.len())),
        _ => pool.by_seed(solver, |search| search.score(pool.measure)),
    };
    let column = |(_, name): &(&str, &str)| {
        let metric = metric::find(name).expect("registered");
        (metric, pool.solvers.iter().map(|solver| values(name, solver)).collect::<ByPair>())
    };
    Bold::new(&compared(pool.measure).iter().map(column).collect::<Vec<_>>(), Split::Drawn, "solver")
}
