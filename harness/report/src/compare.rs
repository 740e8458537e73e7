//! Two or more runs side by side, and the last of them checked against the first.

use std::collections::{BTreeMap, BTreeSet};

use gpbench_record::metric::{METRICS, Metric, Shown};
use serde_json::{Value, json};

use crate::across::{self, AcrossTasks};
use crate::aggregate::{Group, MeanWithError, groups_of};
use crate::baseline::{self, Check};
use crate::between::{Between, Relation, paired};
use crate::change::{CHANGE, Changes};
use crate::error::Result;
use crate::fit::Fitted;
use crate::frame::{CaseView, Cases, Frame};
use crate::grid;
use crate::number::Format;
use crate::problem::GroupProblem;
use crate::run::Run;
use crate::side::{Side, content_remark, headings};
use crate::table::{Cell, TextTable};

/// Version of the JSON form.
const SCHEMA: u32 = 1;

/// What the cells of runs side by side are.
const MEANS: &str = "Means over the seeds that have an answer in every run with that solver; of repeats, the median \
                     of seconds and the mean of others.";

/// Runs side by side.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// Names of the runs.
    pub runs: Vec<String>,
    /// One metric of one solver on one problem each; none if no two runs share a case.
    pub rows: Vec<Compared>,
    /// The last run against the first, case by case.
    pub check: Check,
    /// What the cells of the table are.
    caption: String,
}

/// One metric of one solver on one problem.
#[derive(Debug, Clone, PartialEq)]
pub struct Compared {
    /// The problem.
    pub problem: GroupProblem,
    /// Solver, as named in the spec.
    pub solver: String,
    /// The metric.
    pub metric: &'static Metric,
    /// Number of seeds that the means are over.
    pub seeds: usize,
    /// Mean in each run; absent where the run has no such case.
    pub means: Vec<Option<f64>>,
    /// How the last run relates to the first, seed by seed; absent where nothing can be compared, such as times of different
    /// machines.
    pub(crate) change: Option<Relation>,
}

/// Runs side by side.
#[derive(Debug, Clone, PartialEq)]
pub enum SideBySide {
    /// Case by case.
    Cases(Comparison),
    /// Learners and solvers, which share no case, by data set.
    Methods(AcrossTasks),
}

impl SideBySide {
    /// The comparison case by case.
    pub fn cases(self) -> Option<Comparison> {
        if let SideBySide::Cases(comparison) = self { Some(comparison) } else { None }
    }

    /// The comparison of learners with solvers.
    pub fn methods(self) -> Option<AcrossTasks> {
        if let SideBySide::Methods(across) = self { Some(across) } else { None }
    }
}

/// Two solvers or learners of one run.
#[derive(Debug, Clone, PartialEq)]
pub enum OfOneRun {
    /// Seed by seed.
    Pair(Between),
    /// A learner and a solver of a merged run, by data set.
    Methods(AcrossTasks),
}

impl OfOneRun {
    /// The comparison seed by seed.
    pub fn pair(self) -> Option<Between> {
        if let OfOneRun::Pair(between) = self { Some(between) } else { None }
    }
}

/// Compares runs: the last of them with the first, seed by seed and case by case, and means of all.
///
/// # Errors
/// If a table of results cannot be built.
///
/// # Panics
/// If there are no runs.
pub fn compare(runs: &[Run]) -> Result<SideBySide> {
    let frames = runs.iter().map(Frame::new).collect::<Result<Vec<_>>>()?;
    let side = |frame| -> Side<'_> {
        let cases = Cases::of(frame);
        Side { name: &cases.record().name, cases }
    };
    Ok(side_by_side(frames.iter().map(side).collect()))
}

/// Compares two solvers or learners of one run, seed by seed. Their repeats took turns, which makes a comparison of times fair.
/// The name of a learner's grid stands for its chosen points.
///
/// # Errors
/// If the table of results cannot be built.
pub fn between(run: &Run, first: &str, second: &str) -> Result<OfOneRun> {
    let frame = Frame::new(run)?;
    // Which times are comparable follows from all solvers.
    let all = Cases::of(&frame).with_times_of_one_kind().with_comparable_times();
    let chosen = grid::chosen(&all);
    let side = |name| {
        let is_own = |case: &CaseView<'_>| case.solver() == name;
        let cases = if all.iter().any(|case| is_own(&case)) { &all } else { &chosen };
        Side { name, cases: cases.filter(is_own) }
    };
    let sides = vec![side(first), side(second)];
    if let Some(across) = across::across_tasks(&sides) {
        return Ok(OfOneRun::Methods(across));
    }
    let named: Vec<(String, Option<String>)> = sides.iter().map(points).collect();
    let [first, second] = [&named[0].0, &named[1].0].map(String::as_str);
    let remarks =
        named.iter().filter_map(|(_, remark)| remark.clone()).chain(all.remarks_on_times()).collect();
    Ok(OfOneRun::Pair(paired([first, second], [&sides[0].cases, &sides[1].cases], remarks)))
}

/// The name of a side: of a grid, its one point, or its own name with a remark on the points that were chosen.
fn points(side: &Side<'_>) -> (String, Option<String>) {
    let mut points: BTreeMap<&str, usize> = BTreeMap::new();
    side.cases.rows().for_each(|row| *points.entry(row.labels.solver.as_str()).or_default() += 1);
    match points.first_key_value() {
        Some((point, _)) if points.len() == 1 => ((*point).to_owned(), None),
        _ => {
            let each: Vec<String> =
                points.iter().map(|(point, cases)| format!("{point} ({cases} cases)")).collect();
            (
                side.name.to_owned(),
                Some(format!("{} stands for its chosen points: {}", side.name, each.join(", "))),
            )
        }
    }
}

fn side_by_side(sides: Vec<Side<'_>>) -> SideBySide {
    match across::across_tasks(&sides) {
        Some(across) => SideBySide::Methods(across),
        None => SideBySide::Cases(case_by_case(&sides)),
    }
}

/// Compares sides by the means over those seeds that have an answer on all of them: means over different seeds would
/// be means over different problems. Means of times are over those seeds that have times on all of them. Changes are of the
/// pairs of the first side and the last. The check compares single cases, so it includes the other seeds.
fn case_by_case(sides: &[Side<'_>]) -> Comparison {
    let (first, last) = (&sides[0].cases, &sides[sides.len() - 1].cases);
    let mut check = baseline::against_cases(last, first);
    let between = &sides[1..sides.len().saturating_sub(1).max(1)];
    check.remarks.extend(between.iter().filter_map(|side| content_remark(first, side)));
    let comparable: Vec<Cases<'_>> =
        sides.iter().map(|side| side.cases.with_times_of_one_kind().with_comparable_times()).collect();
    let comparable = with_common_times(&comparable);
    let is_one_machine = baseline::is_one_machine(&comparable[0], &comparable[sides.len() - 1]);
    let per_run: Vec<Vec<Group>> = on_common_seeds(&comparable).iter().map(groups_of).collect();
    let (mut rows, is_shared) = rows_of(&per_run);
    if !is_shared {
        rows.clear();
    }
    let changes = Changes::new(&comparable[0], &comparable[sides.len() - 1], is_one_machine);
    for row in &mut rows {
        row.change = changes.of(&row.problem, &row.solver, row.metric);
    }
    let caption = [MEANS.to_owned()].into_iter().chain(changes.caption()).collect::<Vec<String>>().join(" ");
    Comparison { runs: headings(sides), rows, check, caption }
}

/// The groups of some sides as rows without changes, one for each metric of each solver on each problem; and whether two sides
/// share one.
pub(crate) fn rows_of(per_side: &[Vec<Group>]) -> (Vec<Compared>, bool) {
    let mut keys: Vec<(&GroupProblem, &str)> = Vec::new();
    for group in per_side.iter().flatten() {
        if !keys.contains(&(&group.problem, &group.solver)) {
            keys.push((&group.problem, &group.solver));
        }
    }
    let (mut rows, mut is_shared) = (Vec::new(), false);
    for (problem, solver) in keys {
        let is_it = |g: &&Group| g.problem == *problem && g.solver == solver;
        let found: Vec<Option<&Group>> = per_side.iter().map(|groups| groups.iter().find(is_it)).collect();
        is_shared |= found.iter().flatten().count() > 1;
        for metric in METRICS.iter().filter(|metric| metric.is_shown(Shown::Compare)) {
            let means: Vec<Option<MeanWithError>> =
                found.iter().map(|group| group.as_ref()?.metrics.get(metric.name).copied()).collect();
            if let Some(any) = means.iter().flatten().next() {
                rows.push(Compared {
                    problem: problem.clone(),
                    solver: solver.to_owned(),
                    metric,
                    seeds: any.seeds,
                    means: means.iter().map(|mean| mean.map(|mean| mean.mean)).collect(),
                    change: None,
                });
            }
        }
    }
    (rows, is_shared)
}

impl Comparison {
    /// One row a problem, solver and metric; one column a run, and the change from the first run to the last.
    pub fn table(&self) -> TextTable {
        TextTable { caption: self.caption.clone(), ..table_of(&self.runs, &self.rows) }
    }

    /// The table in at most `width` columns of a terminal, above a line that says what its changes are.
    pub fn fitted(&self, width: Option<usize>) -> Fitted {
        self.table().with_legend(width, "solver")
    }

    /// `{"schema": 1, "runs": [...], "rows": [{"dataset", ..., "metric", "seeds", "means": [...], "ratio" or "difference", "low",
    /// "high", "pairs"}], "check": {...}}`, the last as [`Check::json`] gives it. Ratios are the last run's cost or error over the
    /// first one's, and differences the last one's less the first one's. Where no ratio is stated, a row has "both_reached", and
    /// "at_least" or "at_most" where a spent budget bounds it.
    pub fn json(&self) -> Value {
        json!({
            "schema": SCHEMA,
            "runs": self.runs,
            "rows": self.rows.iter().map(Compared::json).collect::<Vec<_>>(),
            "check": self.check.json(),
        })
    }
}

impl Compared {
    /// `{"dataset", ..., "metric", "seeds", "means": [...]}`, with the members of the change where there is one.
    pub(crate) fn json(&self) -> Value {
        let GroupProblem { dataset, kernel, estimator } = &self.problem;
        let Compared { solver, metric, seeds, means, change, .. } = self;
        let mut row = json!({
            "dataset": dataset, "kernel": kernel, "estimator": estimator, "solver": solver,
            "metric": metric.name, "seeds": seeds, "means": means,
        });
        let members = change.as_ref().map(Relation::members).unwrap_or_default();
        members.into_iter().for_each(|(name, value)| row[name] = value);
        row
    }
}

/// A table of one row a problem, solver and metric; one column a run, and one of changes where there are any.
pub(crate) fn table_of(runs: &[String], rows: &[Compared]) -> TextTable {
    let mut table = TextTable::new("Comparison").words("data set").words("kernel").words("estimator");
    table = table.words("solver").words("metric").numbers("seeds");
    for run in runs {
        table = table.numbers(run);
    }
    let runs: Vec<&str> = runs.iter().map(String::as_str).collect();
    table = table.numbers(CHANGE).major(&["data set", CHANGE]).major(&runs);
    table = table.key(&["solver", "metric"]).minor(&["kernel", "estimator", "seeds"]);
    for row in rows {
        let Compared { problem, solver, metric, seeds, means, change } = row;
        let estimator = problem.estimator.as_deref().unwrap_or_default();
        let names = [problem.dataset.as_str(), &problem.kernel, estimator, solver, metric.title];
        let mut cells: Vec<Cell> = names.map(Cell::from).into();
        cells.push(seeds.to_string().into());
        cells.extend(means.iter().map(|m| m.map_or_else(Cell::default, |v| metric.style.format(v).into())));
        cells.push(change.as_ref().map(Relation::words).unwrap_or_default().into());
        table.row(cells);
    }
    table.without_empty_columns()
}

/// The sides with the times of those seeds alone that have times on every side with an answer of that solver on that problem.
fn with_common_times<'f>(sides: &[Cases<'f>]) -> Vec<Cases<'f>> {
    let key = |case: &CaseView<'f>| (method(case), case.seed());
    let answers = sides.iter().flat_map(Cases::iter).filter(CaseView::is_answer);
    let untimed: BTreeSet<_> = answers.filter(|case| !case.is_timed()).map(|case| key(&case)).collect();
    let shown =
        |case: &CaseView<'f>| Some(if untimed.contains(&key(case)) { case.without_times() } else { *case });
    sides.iter().map(|cases| cases.with(shown)).collect()
}

/// The sides with only those cases whose seed has an answer on every side with any answer of that solver on that problem.
pub(crate) fn on_common_seeds<'f>(sides: &[Cases<'f>]) -> Vec<Cases<'f>> {
    let seeds_of = |cases: &Cases<'f>| {
        let mut seeds: BTreeMap<SolverOnProblem<'f>, BTreeSet<u64>> = BTreeMap::new();
        for case in cases.iter().filter(CaseView::is_answer) {
            seeds.entry(method(&case)).or_default().insert(case.seed());
        }
        seeds
    };
    let answered: Vec<_> = sides.iter().map(seeds_of).collect();
    let is_common = |case: &CaseView<'f>| {
        let mut with_answers = answered.iter().filter_map(|seeds| seeds.get(&method(case)));
        with_answers.all(|seeds| seeds.contains(&case.seed()))
    };
    sides.iter().map(|cases| cases.filter(is_common)).collect()
}

/// Data set, kernel, estimator and solver.
type SolverOnProblem<'f> = (&'f str, &'f str, Option<&'f str>, &'f str);

fn method<'f>(case: &CaseView<'f>) -> SolverOnProblem<'f> {
    (case.dataset(), case.kernel(), case.estimator(), case.solver())
}
