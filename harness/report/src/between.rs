//! Two solvers or learners of one run: how much faster one is than the other, how much more accurate, and with what confidence.
//!
//! The answer is a sentence for each problem, a table for each data set, and over several data sets two claims: about those
//! that were run, and about data sets like them. Values are compared seed by seed.

mod claims;
mod pair;
mod relation;
mod words;

use gpbench_statistics::Estimate;
use serde_json::{Value, json};

use self::claims::{Claims, OverDatasets};
pub(crate) use self::pair::Pair;
use self::pair::{Line, Speed};
use self::relation::found;
pub(crate) use self::relation::{Relation, difference};
use crate::costs::{Goal, noise};
use crate::frame::Cases;
use crate::number::{Format, ratio as two_digits};
use crate::places::machine;
use crate::problem::GroupProblem;
use crate::ratio::Ratio;
use crate::results::once_each;
use crate::split::Split;
use crate::table::{Cell, TextTable};

/// Version of the JSON form.
const SCHEMA: u32 = 1;

/// Heading of the column of ratios and differences.
const RELATION: &str = "ratio (×) or difference";

/// Two solvers or learners of one run, compared seed by seed.
#[derive(Debug, Clone, PartialEq)]
pub struct Between {
    /// Name of the run.
    run: String,
    names: [String; 2],
    /// How much faster one is than the other: on each problem, then over the data sets.
    pub sentences: Vec<String>,
    datasets: Vec<OfDataset>,
    claims: Option<Claims>,
    /// Remarks on what the names stand for and on what was not compared, a sentence each.
    pub remarks: Vec<String>,
}

/// The comparison on one data set.
#[derive(Debug, Clone, PartialEq)]
struct OfDataset {
    name: String,
    caption: String,
    rows: Vec<Row>,
}

/// One number of both on one problem.
#[derive(Debug, Clone, PartialEq)]
struct Row {
    problem: GroupProblem,
    /// Number of common seeds.
    seeds: usize,
    line: Line,
}

/// Compares the cases of two solvers of one run, whose times are comparable. There are no tables where they share no seed of a
/// problem.
pub(crate) fn paired(names: [&str; 2], sides: [&Cases<'_>; 2], remarks: Vec<String>) -> Between {
    let problems = once_each(sides[0].rows().map(|row| GroupProblem::of(&row.labels)));
    let goal = Goal::of(sides[0]);
    let pairs: Vec<Pair<'_>> = problems.iter().filter_map(|problem| Pair::new(problem, sides)).collect();
    let speeds: Vec<Option<Speed>> = pairs.iter().map(|pair| pair.speed(&goal)).collect();
    let mut sentences: Vec<String> = pairs
        .iter()
        .zip(&speeds)
        .map(|(pair, speed)| match speed {
            Some(speed) => words::on_problem(names, &place(&pairs, pair), speed, &pair.held_equal()),
            None => words::without_goal(names, &place(&pairs, pair)),
        })
        .collect();
    let datasets = once_each(pairs.iter().map(|pair| pair.problem.dataset.as_str()));
    let by_dataset: Vec<(&str, Vec<Option<&Speed>>)> = datasets
        .iter()
        .map(|name| {
            let own = pairs.iter().zip(&speeds).filter(|(pair, _)| pair.problem.dataset == *name);
            (*name, own.map(|(_, speed)| speed.as_ref()).collect())
        })
        .collect();
    let over = OverDatasets::of(&by_dataset);
    sentences.extend(over.sentences(names));
    let tables = datasets.iter().map(|name| {
        let own: Vec<&Pair<'_>> = pairs.iter().filter(|pair| pair.problem.dataset == *name).collect();
        of_dataset(name, names, &own, &goal, sides[0])
    });
    Between {
        run: sides[0].record().name.clone(),
        names: names.map(str::to_owned),
        sentences,
        datasets: tables.collect(),
        claims: over.claims(),
        remarks,
    }
}

/// The name of a pair's problem: data set and kernel, and the estimator where several are compared.
fn place(pairs: &[Pair<'_>], pair: &Pair<'_>) -> String {
    let GroupProblem { dataset, kernel, estimator } = &pair.problem;
    let has_several = pairs.iter().any(|other| other.problem.estimator != *estimator);
    let estimator = estimator.iter().filter(|_| has_several).map(|name| format!("/{name}"));
    format!("{dataset}/{kernel}{}", estimator.collect::<String>())
}

fn of_dataset(
    name: &str,
    names: [&str; 2],
    pairs: &[&Pair<'_>],
    goal: &Goal<'_>,
    cases: &Cases<'_>,
) -> OfDataset {
    let row = |pair: &Pair<'_>, line| Row { problem: pair.problem.clone(), seeds: pair.seeds.len(), line };
    let rows: Vec<Row> =
        pairs.iter().flat_map(|pair| pair.lines(goal).into_iter().map(|line| row(pair, line))).collect();
    OfDataset { name: name.to_owned(), caption: caption(names, pairs, goal, cases, &rows), rows }
}

/// What the cells of a data set's table are.
fn caption(
    [first, second]: [&str; 2],
    pairs: &[&Pair<'_>],
    goal: &Goal<'_>,
    cases: &Cases<'_>,
    rows: &[Row],
) -> String {
    let ends = |of: &dyn Fn(&Pair<'_>) -> usize| {
        let all = || pairs.iter().map(|pair| of(pair));
        (all().min().unwrap_or_default(), all().max().unwrap_or_default())
    };
    let seeds = match ends(&|pair| pair.seeds.len()) {
        (1, 1) => "1 seed".to_owned(),
        (low, high) if low == high => format!("{high} seeds"),
        (low, high) => format!("{low} to {high} seeds"),
    };
    let reduced = match ends(&|pair| pair.repeats()).1 {
        1 => String::new(),
        repeats => format!(", of medians of {repeats} repeats"),
    };
    let between =
        if matches!(goal, Goal::Target(..)) { ", including the distance between evaluations" } else { "" };
    let brackets = match ends(&|pair| pair.seeds.len()).1 {
        0..3 => "without intervals below three seeds".to_owned(),
        _ => format!("brackets are 95 % t intervals over seeds{between}"),
    };
    let mut sentences = vec![format!(
        "Ratios (×) are those of {second} to {first}, geometric means over {seeds}{reduced}; differences are {first} − {second}; \
         {brackets}."
    )];
    if rows.iter().any(|row| matches!(row.line.relation, Some(Relation::Ratio(Ratio::Missed { .. })))) {
        sentences.push(
            "A mark like 4/5 stands in place of a ratio: both got there with 4 of 5 common seeds; ≥ and ≤ are bounds from a \
             budget that was spent."
                .to_owned(),
        );
    }
    let noise_of = |side| pairs.iter().filter_map(|pair| noise(pair.of(side))).reduce(f64::max);
    if let (Some(own), Some(other)) = (noise_of(0), noise_of(1)) {
        let most = if pairs.len() > 1 { "at most " } else { "" };
        let [own, other] = [own, other].map(|noise| two_digits(100.0 * noise));
        sentences.push(format!("Timing noise {most}{own} % and {other} %."));
    }
    let has_differences =
        rows.iter().any(|row| matches!(row.line.relation, Some(Relation::Difference { .. })));
    let split = pairs.first().map(|pair| Split::of(pair.all())).filter(|_| has_differences);
    sentences.extend(split.and_then(Split::sentence));
    sentences
        .extend(cases.timed_environment().map(|environment| format!("Machine: {}.", machine(environment))));
    sentences.join(" ")
}

impl Between {
    /// Whether the two share no seed of any problem.
    pub fn is_empty(&self) -> bool {
        self.datasets.is_empty()
    }

    /// A table for each data set: a row for each number, with both values and how they relate.
    pub fn tables(&self) -> Vec<TextTable> {
        self.datasets.iter().map(|dataset| self.table(std::slice::from_ref(dataset))).collect()
    }

    /// All rows as one table.
    pub fn whole(&self) -> TextTable {
        self.table(&self.datasets)
    }

    fn table(&self, datasets: &[OfDataset]) -> TextTable {
        let [first, second] = &self.names;
        let title = if let [one] = datasets { one.title() } else { format!("{first} and {second}") };
        let mut table = TextTable::new(title);
        for name in ["data set", "kernel", "estimator", "metric"] {
            table = table.words(name);
        }
        for name in [first, second, RELATION] {
            table = table.numbers(name);
        }
        table = table.numbers("seeds").key(&["metric", RELATION]).major(&[first.as_str(), second]);
        table = table.minor(&["kernel", "estimator", "seeds"]);
        for (dataset, row) in
            datasets.iter().flat_map(|dataset| dataset.rows.iter().map(move |row| (dataset, row)))
        {
            table.row(cells(dataset, row));
        }
        if let [one] = datasets {
            table.caption = one.caption.clone();
            table = table.without(if one.is_one_problem() {
                &["data set", "kernel", "estimator"]
            } else {
                &["data set"]
            });
        }
        table.without_empty_columns()
    }

    /// `{"schema": 1, "run", "runs": [A, B], "sentences": [...], "rows": [{"dataset", "kernel", "estimator", "metric", "seeds",
    /// "means": [a, b], "ratio" or "difference", "low", "high", "pairs"}], "over_datasets": {"datasets", "these", "such"},
    /// "remarks": [...]}`. Ratios are B's cost or error over A's. Where none is stated, a row has "both_reached", and "at_least" or
    /// "at_most" where a spent budget bounds it.
    pub fn json(&self) -> Value {
        let rows = self.datasets.iter().flat_map(|dataset| &dataset.rows).map(Row::json);
        let over = |Claims { datasets, these, such }: &Claims| json!({ "datasets": datasets, "these": claimed(these), "such": such.as_ref().map(claimed) });
        json!({
            "schema": SCHEMA,
            "run": self.run,
            "runs": self.names,
            "sentences": self.sentences,
            "rows": rows.collect::<Vec<Value>>(),
            "over_datasets": self.claims.as_ref().map(over),
            "remarks": self.remarks,
        })
    }
}

impl OfDataset {
    /// Whether all rows are of one kernel and estimator.
    fn is_one_problem(&self) -> bool {
        self.rows.iter().all(|row| row.problem == self.rows[0].problem)
    }

    /// The data set, with its kernel and estimator where there is one of each.
    fn title(&self) -> String {
        let problem = self.rows.first().map(|row| &row.problem).filter(|_| self.is_one_problem());
        let parts = problem.map(|problem| [Some(&problem.kernel), problem.estimator.as_ref()]);
        let parts = parts.into_iter().flatten().flatten().map(|part| format!("/{part}"));
        format!("{}{}", self.name, parts.collect::<String>())
    }
}

fn cells(dataset: &OfDataset, Row { problem, seeds, line }: &Row) -> Vec<Cell> {
    let estimator = problem.estimator.as_deref().unwrap_or_default();
    let mut cells: Vec<Cell> =
        [dataset.name.as_str(), &problem.kernel, estimator, line.metric.title].map(Cell::from).into();
    let value = |value: &Option<f64>| {
        value.map_or_else(Cell::default, |value| line.metric.style.format(value).into())
    };
    cells.extend(line.values.iter().map(value));
    let relation = line.relation.as_ref().map(Relation::words).unwrap_or_default();
    cells.extend([relation, seeds.to_string()].map(Cell::from));
    cells
}

/// A ratio as a JSON object of its own.
fn claimed(estimate: &Estimate) -> Value {
    found("ratio", estimate).into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

impl Row {
    fn json(&self) -> Value {
        let Row { problem: GroupProblem { dataset, kernel, estimator }, seeds, line } = self;
        let mut row = json!({
            "dataset": dataset,
            "kernel": kernel,
            "estimator": estimator,
            "metric": line.metric.name,
            "seeds": seeds,
            "means": line.values,
        });
        let members = line.relation.as_ref().map(Relation::members).unwrap_or_default();
        members.into_iter().for_each(|(name, value)| row[name] = value);
        row
    }
}
