//! Archived results in the report of a run: a table and charts of their own.
//!
//! They are matched as by [`crate::beside()`]. They have no part in the other tables and charts, and nothing is bold
//! beside them: solvers are compared seed by seed within one run, where their cases took turns on one machine. Those
//! of an archive did not, and somebody may have chosen what is in it.

use gpbench_record::TaskKind;
use gpbench_record::metric::{self, Metric, Shown};

use crate::aggregate::Group;
use crate::beside::MatchedArchive;
use crate::charts::beside;
use crate::charts::figure::Figure;
use crate::charts::form::ChartForm;
use crate::error::Result;
use crate::frame::{Cases, is_time};
use crate::layout::cell;
use crate::problem::GroupProblem;
use crate::results::{Results, once_each};
use crate::table::{Cell, TextTable};

/// What a reader has to know of the table.
const RULE: &str = "\
`SOLVER (archive NAME)` is a result of another run, of the same problem: rows, kernel, task and seed. A solver \
that both runs have also has the same budget and parameters. Means are over the seeds that all of these runs have, \
and may differ from those above. Times are shown where they are of the same kind of machine. Solvers of different \
runs did not take turns, so nothing here is bold, and archived results have no part in ranks, speed-ups and bold \
entries of this report.";

/// Archived results beside those of a run.
pub(crate) struct ArchivePart {
    /// A row for each solver of each run on a problem; none where no archived case is of a problem of the run.
    pub(crate) table: Option<TextTable>,
    /// A chart of the first metric that is no time, and one of times, where an archived run has them.
    pub(crate) figures: Vec<Figure>,
    /// What is left out of archived runs, a sentence each.
    pub(crate) remarks: Vec<String>,
}

impl ArchivePart {
    /// The archived results for the cases of one task; nothing where the frame has no archived run. Without a form,
    /// no charts are drawn.
    ///
    /// # Errors
    /// If a chart cannot be drawn.
    pub(crate) fn of(
        cases: &Cases<'_>,
        task: TaskKind,
        form: Option<ChartForm>,
    ) -> Result<Option<ArchivePart>> {
        let archived: Vec<Cases<'_>> =
            cases.frame.archived.iter().map(|frame| Cases::of(frame).of_task(task)).collect();
        if archived.is_empty() {
            return Ok(None);
        }
        let matched = MatchedArchive::of(cases, &archived);
        let mut remarks: Vec<String> = matched.remarks.iter().map(|remark| format!("{remark}.")).collect();
        if !matched.is_any() {
            let names = matched.runs[1..].join(", ");
            remarks.push(format!("No case of the archive ({names}) is of a problem of this run."));
            return Ok(Some(ArchivePart { table: None, figures: Vec::new(), remarks }));
        }
        let metrics = metrics(cases, task);
        let table = table(&matched, &metrics, &remarks);
        let figures = match form {
            Some(form) => figures(&Results::new(cases.clone()).with_charts(form), matched, &metrics)?,
            None => Vec::new(),
        };
        Ok(Some(ArchivePart { table: Some(table), figures, remarks }))
    }
}

/// The columns: those that the spec asks for, or else those of the task that are not for wide terminals alone. Memory
/// is that of a machine, and is left out.
fn metrics(cases: &Cases<'_>, task: TaskKind) -> Vec<&'static Metric> {
    let is_of_results = |metric: &&Metric| is_time(metric.name) || !metric.unit.depends_on_machine();
    let of_task = metric::columns(task).filter(|metric| !metric.is_shown(Shown::Wide));
    match cases.options().columns.as_slice() {
        [] => of_task.filter(is_of_results).collect(),
        asked => asked.iter().filter_map(|name| metric::find(name)).filter(is_of_results).collect(),
    }
}

/// The table: for each problem that an archived run has too, the solvers of the run, then those of each archived one.
fn table(matched: &MatchedArchive, metrics: &[&Metric], remarks: &[String]) -> TextTable {
    let table = TextTable::new("Beside the archive").words("data set").words("kernel").words("estimator");
    let table = table.words("solver").numbers("ok");
    let mut table = metrics.iter().fold(table, |table, metric| table.numbers(metric.title));
    let archived = matched.groups[1..].iter().flatten().map(|group| &group.problem);
    let mut problems: Vec<&GroupProblem> = once_each(archived);
    problems.sort_by_key(|problem| {
        let of_run = matched.groups[0].iter().position(|group| group.problem == **problem);
        of_run.unwrap_or(usize::MAX)
    });
    for problem in problems {
        for (place, groups) in matched.groups.iter().enumerate() {
            for group in groups.iter().filter(|group| group.problem == *problem) {
                let name = match place {
                    0 => group.solver.clone(),
                    _ => format!("{} (archive {})", group.solver, matched.runs[place]),
                };
                table.row(cells(group, name, metrics));
            }
        }
    }
    let sentences: Vec<&str> = [RULE].into_iter().chain(remarks.iter().map(String::as_str)).collect();
    table.caption = sentences.join(" ");
    table.key(&["solver", "ok"]).minor(&["kernel", "estimator"]).without_empty_columns()
}

fn cells(group: &Group, name: String, metrics: &[&Metric]) -> Vec<Cell> {
    let GroupProblem { dataset, kernel, .. } = &group.problem;
    let words = [dataset.clone(), kernel.clone(), group.estimator().to_owned(), name];
    let mut cells: Vec<Cell> = words.map(Cell::from).into();
    cells.push(format!("{}/{}", group.n_ok, group.n).into());
    cells.extend(metrics.iter().map(|metric| cell(metric, group.metrics.get(metric.name))));
    cells
}

/// The charts of the first of these metrics that is no time and that an archived run has, and of the first time.
fn figures(results: &Results<'_>, matched: MatchedArchive, metrics: &[&Metric]) -> Result<Vec<Figure>> {
    let own: Vec<String> = matched.groups[0].iter().map(|group| group.solver.clone()).collect();
    let is_archived = |solver: &str| !own.iter().any(|name| name == solver);
    let mut beside = matched.by_metric();
    beside.runs[1..].iter_mut().for_each(|name| *name = format!("{name} (archive)"));
    let has_archived = |metric: &&&Metric| {
        let of_metric = beside.rows.iter().filter(|row| row.metric.name == metric.name);
        of_metric.flat_map(|row| &row.means[1..]).any(Option::is_some)
    };
    let first =
        |times: bool| metrics.iter().filter(has_archived).find(|metric| is_time(metric.name) == times);
    let drawn = [first(false), first(true)].into_iter().flatten();
    drawn.map(|metric| beside::figure(results, &beside, metric, &is_archived)).collect()
}
