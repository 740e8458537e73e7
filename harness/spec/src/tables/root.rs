//! The top level of a spec.

use gpbench_record::TaskKind;

use super::{
    budget, dataset, estimator, exclude, kernel, learn, likelihood, matrix, report, solver, target, thompson,
    train,
};
use crate::keys::{
    ANY, COUNT_OR_ZERO, Keys, Kind, Setting, Tables, ValueType, WrongType, between, choice,
    choice_of_version, count, inner_list, list, text, whole,
};
use crate::source::At;
use crate::tree::Value;

/// Version of the spec format that this crate reads: the value of a spec's `schema` key.
pub(crate) const SCHEMA: i64 = 1;

#[derive(Debug, Clone)]
pub(crate) struct Root {
    pub(crate) name: Option<At<String>>,
    pub(crate) task: Option<At<TaskKind>>,
    pub(crate) seeds: Option<At<Vec<At<u64>>>>,
    pub(crate) repeats: Setting<u32>,
    pub(crate) threads: Option<At<usize>>,
    pub(crate) order_seed: Option<At<i64>>,
    pub(crate) matrix: matrix::Matrix,
    pub(crate) datasets: Tables<dataset::Dataset>,
    pub(crate) kernels: Tables<kernel::Kernel>,
    pub(crate) estimators: Tables<estimator::Estimator>,
    pub(crate) solvers: Tables<solver::Solver>,
    pub(crate) budget: budget::Bounds,
    pub(crate) train: Setting<train::Train>,
    pub(crate) likelihood: Setting<likelihood::Likelihood>,
    pub(crate) learn: Setting<learn::Learn>,
    pub(crate) thompson: Setting<thompson::Thompson>,
    pub(crate) excludes: Vec<At<exclude::Exclude>>,
    pub(crate) target: Setting<target::Target>,
    pub(crate) report: report::Report,
}

pub(crate) fn read(keys: &mut Keys<'_>) -> Root {
    keys.required("schema", version(), &version_hint(), "Version of the spec format: 1.");
    let hint = "it names the run's folder, for instance name = \"uci\"";
    let name = keys.required("name", text(), hint, "Names the run's folder.");
    let tasks = choice("task", TaskKind::ALL.map(|task| (task.as_str(), task)));
    let hint = "write task = \"solve\", \"posterior\", \"train\", \"likelihood\", \"learn\" or \"thompson\"";
    let task = keys.required("task", tasks, hint, "What every case measures.");
    let precision = choice_of_version("precision", [("f64", ())], &["mixed"]);
    keys.or("precision", precision, "f64", "Arithmetic of kernel products.");
    Root {
        name,
        task,
        seeds: keys.derived(
            "seeds",
            list(whole(COUNT_OR_ZERO)),
            "[0]",
            "Seeds: each cell of the matrix runs with every one. Seed k also selects split k. Five or more tell solvers apart.",
        ),
        repeats: keys.or(
            "repeats",
            whole(between(1.0, 1000.0)),
            1,
            "Number of times that each case runs, for timing.",
        ),
        threads: keys.derived("threads", count(), "all processors", "Threads of the whole run."),
        order_seed: keys.derived("order_seed", whole(ANY), "a hash of `name`", "Seed of the order of cases."),
        matrix: keys
            .table("matrix", matrix::read, "The axes; the plan is their product without the excludes.")
            .value,
        datasets: keys.tables("dataset", dataset::read, "Data sets that need more than a name."),
        kernels: keys.tables("kernel", kernel::read, "Kernels that need more than a family's name."),
        estimators: keys.tables(
            "estimator",
            estimator::read,
            "Estimators that need more than a method's name.",
        ),
        solvers: keys.tables("solver", solver::read, "Solvers that need more than a plugin's id."),
        budget: keys
            .table("budget", budget::read, "When a solver has to stop; in training, in each step.")
            .value,
        train: keys.table("train", train::read, "How task `train` trains."),
        likelihood: keys.table("likelihood", likelihood::read, "How task `likelihood` makes its estimates."),
        learn: keys.table("learn", learn::read, "How task `learn` lets learners learn."),
        thompson: keys.table("thompson", thompson::read, "How task `thompson` searches an objective."),
        excludes: keys
            .optional(
                "exclude",
                inner_list("exclude", exclude::read),
                "Cells to leave out: those that match every key given.",
            )
            .map(|list| list.value)
            .unwrap_or_default(),
        target: keys.table(
            "target",
            target::read,
            "The quality whose first reaching is timed: one metric, and how good it has to be.",
        ),
        report: keys.table("report", report::read, "What the report shows.").value,
    }
}

fn version_hint() -> String {
    format!("this version of gpbench reads schema = {SCHEMA}")
}

/// The version that this crate reads.
fn version() -> Kind<()> {
    Kind::new("a whole number", ValueType::Integer, |node, _, mistakes| {
        match node.value {
            Value::Int(SCHEMA) => {}
            Value::Int(other) => mistakes.add(&node.at, format!("schema {other} is unknown"), version_hint()),
            _ => return Err(WrongType),
        }
        Ok(Some(()))
    })
}
