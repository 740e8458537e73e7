//! A run beside archived ones, such as packed runs of others: what they found for the problems of the run.
//!
//! Results stand beside each other where the case is the same: the same rows, kernel, task, budget and parameters. Of
//! the same problem, results of solvers that the run does not have are shown too. Errors are always shown; times only
//! where they are of the same kind of machine.

use std::collections::{BTreeMap, BTreeSet};
use std::iter::once;

use gpbench_record::{Case, Labels, OriginBase};
use serde_json::{Value, json};

use crate::aggregate::{Group, groups_of};
use crate::baseline::{is_one_machine, other_contents};
use crate::compare::{Compared, on_common_seeds, rows_of, table_of};
use crate::error::Result;
use crate::frame::{CaseView, Cases, Frame};
use crate::run::Run;
use crate::side::{Side, headings};
use crate::table::TextTable;

/// Version of the JSON form.
const SCHEMA: u32 = 1;

/// Fields of a kernel with numbers that a case finds in the data, where last bits depend on the machine.
const FOUND: [&str; 5] = ["signal_scale", "noise_scale", "length_scale", "mean", "start"];

/// A run beside archived ones.
#[derive(Debug, Clone, PartialEq)]
pub struct BesideArchive {
    /// Names of the runs; the first is the run itself.
    pub runs: Vec<String>,
    /// One metric of one solver on one problem each; none where no archived case is of a problem of the run.
    pub rows: Vec<Compared>,
    /// What is left out of archived runs, a sentence each.
    pub remarks: Vec<String>,
}

/// Sets archived runs beside a run.
///
/// # Errors
/// If a table of results cannot be built.
pub fn beside(run: &Run, archived: &[Run]) -> Result<BesideArchive> {
    let frames = once(run).chain(archived).map(Frame::new).collect::<Result<Vec<_>>>()?;
    let cases: Vec<Cases<'_>> = frames.iter().map(Cases::of).collect();
    Ok(MatchedArchive::of(&cases[0], &cases[1..]).by_metric())
}

/// A run and archived ones, with the results of each that stand beside those of the others.
pub(crate) struct MatchedArchive {
    /// Names of the runs; the first is the run itself.
    pub(crate) runs: Vec<String>,
    /// The groups of each run, over the seeds that all runs with the solver have.
    pub(crate) groups: Vec<Vec<Group>>,
    /// What is left out of archived runs, a sentence each, without a full stop.
    pub(crate) remarks: Vec<String>,
}

impl MatchedArchive {
    /// Matches the cases of archived runs with those of a run.
    pub(crate) fn of(own: &Cases<'_>, archived: &[Cases<'_>]) -> MatchedArchive {
        let own = with_fair_times(own);
        let asked = Asked::of(&own);
        let (mut sides, mut remarks) = (vec![own.clone()], Vec::new());
        for cases in archived {
            sides.push(asked.of_archive(&own, &with_fair_times(cases), &mut remarks));
        }
        let groups = on_common_seeds(&sides).iter().map(groups_of).collect();
        let named = sides.iter().map(|cases| Side { name: &cases.record().name, cases: cases.clone() });
        MatchedArchive { runs: headings(&named.collect::<Vec<_>>()), groups, remarks }
    }

    /// Whether an archived case is of a problem of the run.
    pub(crate) fn is_any(&self) -> bool {
        self.groups[1..].iter().any(|groups| !groups.is_empty())
    }

    /// The results by metric; none where no archived case is of a problem of the run.
    pub(crate) fn by_metric(self) -> BesideArchive {
        let rows = if self.is_any() { rows_of(&self.groups).0 } else { Vec::new() };
        BesideArchive { runs: self.runs, rows, remarks: self.remarks }
    }
}

/// The cases with those of their times that can be compared with each other.
fn with_fair_times<'f>(cases: &Cases<'f>) -> Cases<'f> {
    cases.with_times_of_one_kind().with_comparable_times()
}

/// The problems and cases of a run.
struct Asked {
    problems: BTreeSet<String>,
    cases: BTreeMap<Labels, Value>,
}

impl Asked {
    fn of(own: &Cases<'_>) -> Asked {
        Asked {
            problems: own.rows().map(|row| problem(&row.case)).collect(),
            cases: own.rows().map(|row| (labels(&row.labels), whole(&row.case))).collect(),
        }
    }

    /// The cases of an archived run that stand beside the run's; remarks on what is left out.
    fn of_archive<'f>(&self, own: &Cases<'_>, archived: &Cases<'f>, remarks: &mut Vec<String>) -> Cases<'f> {
        let name = archived.run().label();
        let sets: BTreeSet<&str> = archived.iter().map(|case| case.dataset()).collect();
        let others: BTreeSet<&str> = other_contents(own.record(), archived.record(), sets).collect();
        for set in &others {
            remarks.push(format!(
                "{name}: the content of data set `{set}` is another; its results are left out"
            ));
        }
        let of_problems = archived
            .filter(|case| !others.contains(case.dataset()) && self.problems.contains(&problem(case.case())));
        let is_other = |case: &CaseView<'_>| {
            let row = case.row();
            self.cases.get(&labels(&row.labels)).is_some_and(|own| *own != whole(&row.case))
        };
        let same = of_problems.filter(|case| !is_other(case));
        let left_out = of_problems.len() - same.len();
        if left_out > 0 {
            remarks.push(format!(
                "{name}: {left_out} cases have names of this run and are others, by parameters or budget; they are left out"
            ));
        }
        if same.is_empty() || is_one_machine(own, &same) {
            return same;
        }
        remarks.push(format!("{name}: its times are left out, since they are of another kind of machine"));
        same.with(|case| Some(case.without_times()))
    }
}

/// The names of a case, whatever its repeat.
fn labels(labels: &Labels) -> Labels {
    Labels { repeat: 0, ..labels.clone() }
}

/// The case without its repeat, and without numbers that it found in the data.
fn whole(case: &Case) -> Value {
    let mut value = json!(case);
    value["repeat"] = Value::Null;
    if case.kernel.start.is_some() || case.kernel.origin.base == OriginBase::Data {
        for number in FOUND {
            value["kernel"][number] = Value::Null;
        }
    }
    value
}

/// The problem of a case: all but its solver, and what belongs to a solver.
fn problem(case: &Case) -> String {
    let mut value = whole(case);
    for of_solver in ["solver", "budget", "stop_at"] {
        value[of_solver] = Value::Null;
    }
    for of_solver in ["inducing", "replay"] {
        value["task"][of_solver] = Value::Null;
    }
    value.to_string()
}

impl BesideArchive {
    /// One row a problem, solver and metric; one column a run.
    pub fn table(&self) -> TextTable {
        let table = table_of(&self.runs, &self.rows);
        TextTable { title: "Beside the archive".to_owned(), caption: self.remarks.join(" "), ..table }
    }

    /// `{"schema": 1, "runs": [...], "rows": [{"dataset", ..., "metric", "seeds", "means": [...]}], "remarks":
    /// [...]}`.
    pub fn json(&self) -> Value {
        json!({
            "schema": SCHEMA,
            "runs": self.runs,
            "rows": self.rows.iter().map(Compared::json).collect::<Vec<_>>(),
            "remarks": self.remarks,
        })
    }
}
