//! From the tree of values to the typed tables, one function a table.

use super::fields::{Fields, wrong_type};
use super::{
    BudgetTable, DatasetTable, EstimatorTable, Exclude, FitTable, FractionsTable, Hyperparameters,
    InducingTable, KernelTable, LandscapeTable, LikelihoodTable, Matrix, QuadratureTable, ReplayTable,
    ReportTable, Root, ScheduleTable, SolverTable, TrainTable, WarmStart,
};
use crate::SCHEMA;
use crate::error::Mistakes;
use crate::source::{At, Location, START};
use crate::tree::{Node, Table, Value};
use crate::units::{parse_memory, parse_time};

pub(super) fn root(table: &Table, mistakes: &mut Mistakes) -> Root {
    let mut fields = Fields::new(table, "the spec", mistakes);
    schema(&mut fields);
    let root = Root {
        name: fields.required_text("name", &START, "it names the run's folder, for instance name = \"uci\""),
        task: fields.required_text(
            "task",
            &START,
            "write task = \"solve\", \"posterior\", \"train\" or \"likelihood\"",
        ),
        precision: fields.text("precision"),
        seeds: fields.wholes("seeds"),
        repeats: fields.whole("repeats"),
        threads: fields.whole("threads"),
        order_seed: fields.whole("order_seed"),
        matrix: matrix(fields.table("matrix"), fields.mistakes),
        datasets: each(&mut fields, "dataset", dataset),
        kernels: each(&mut fields, "kernel", kernel),
        estimators: each(&mut fields, "estimator", estimator),
        solvers: each(&mut fields, "solver", solver),
        budget: match fields.table("budget") {
            Some((table, _)) => budget(table, "[budget]", fields.mistakes),
            None => BudgetTable::default(),
        },
        train: fields.table("train").map(|(table, at)| train(table, at, fields.mistakes)),
        likelihood: fields.table("likelihood").map(|(table, at)| likelihood(table, at, fields.mistakes)),
        excludes: excludes(fields.node("exclude"), fields.mistakes),
        report: match fields.table("report") {
            Some((table, _)) => report(table, fields.mistakes),
            None => ReportTable::default(),
        },
    };
    fields.finish();
    root
}

fn schema(fields: &mut Fields<'_>) {
    let hint = || Some(format!("this version of gpbench reads schema = {SCHEMA}"));
    match fields.node("schema") {
        None => fields.mistakes.add(&START, "the spec lacks its `schema` number", hint()),
        Some(Node { value: Value::Int(SCHEMA), .. }) => {}
        Some(Node { value: Value::Int(other), at }) => {
            fields.mistakes.add(at, format!("schema {other} is unknown"), hint());
        }
        Some(node) => wrong_type("schema", "a whole number", node, fields.mistakes),
    }
}

/// Reads every table `[kind.NAME]`.
fn each<T>(
    fields: &mut Fields<'_>,
    kind: &'static str,
    read: fn(&At<String>, &Table, &mut Mistakes) -> T,
) -> Vec<T> {
    let tables = fields.named_tables(kind);
    tables.into_iter().map(|(name, table)| read(name, table, fields.mistakes)).collect()
}

fn matrix(found: Option<(&Table, &Location)>, mistakes: &mut Mistakes) -> Matrix {
    let empty = Table::default();
    let (table, at) = found.unwrap_or((&empty, &START));
    let mut fields = Fields::new(table, "[matrix]", mistakes);
    let matrix = Matrix {
        dataset: fields.required_names("dataset", at, "for instance dataset = [\"pol\", \"bike\"]"),
        kernel: fields.required_names("kernel", at, "for instance kernel = [\"matern32\"]"),
        estimator: fields.names("estimator"),
        solver: fields.required_names("solver", at, "for instance solver = [\"cholesky\", \"cg\"]"),
    };
    fields.finish();
    matrix
}

fn dataset(name: &At<String>, table: &Table, mistakes: &mut Mistakes) -> DatasetTable {
    let of = format!("[dataset.{}]", name.value);
    let mut fields = Fields::new(table, &of, mistakes);
    let dataset = DatasetTable {
        name: name.clone(),
        from: fields.text("from"),
        path: fields.text("path"),
        target: match fields.node("target") {
            Some(Node { value: Value::Int(column), at }) => {
                Some(At { value: column.to_string(), at: at.clone() })
            }
            Some(_) => fields.text("target"),
            None => None,
        },
        subsample: fields.amount("subsample"),
        split: fields.whole("split"),
        fractions: fields.table("fractions").map(|(table, at)| fractions(table, at, name, fields.mistakes)),
        collapse_duplicates: fields.truth("collapse_duplicates"),
        n: fields.whole("n"),
        n_test: fields.whole("n_test"),
        d: fields.whole("d"),
        kernel: fields.text("kernel"),
        signal_scale: fields.number("signal_scale"),
        noise_scale: fields.number("noise_scale"),
        length_scale: fields.number("length_scale"),
    };
    fields.finish();
    dataset
}

fn fractions(
    table: &Table,
    at: &Location,
    dataset: &At<String>,
    mistakes: &mut Mistakes,
) -> At<FractionsTable> {
    let of = format!("`fractions` of [dataset.{}]", dataset.value);
    let mut fields = Fields::new(table, &of, mistakes);
    let value = FractionsTable { train: fields.number("train"), test: fields.number("test") };
    fields.finish();
    At { value, at: at.clone() }
}

fn kernel(name: &At<String>, table: &Table, mistakes: &mut Mistakes) -> KernelTable {
    let of = format!("[kernel.{}]", name.value);
    let mut fields = Fields::new(table, &of, mistakes);
    let family = fields.text("family");
    let hyperparameters = start(&mut fields, "hyperparameters");
    fields.finish();
    KernelTable { name: name.clone(), family, hyperparameters }
}

/// The value of `key`: the name of known hyperparameters, or a table of numbers.
fn start(fields: &mut Fields<'_>, key: &'static str) -> Option<At<Hyperparameters>> {
    let node = fields.node(key)?;
    match &node.value {
        Value::Text(from) => {
            let from = Some(At { value: from.clone(), at: node.at.clone() });
            Some(At { value: Hyperparameters { from, ..Hyperparameters::default() }, at: node.at.clone() })
        }
        Value::Table(inner) => hyperparameters(inner, &node.at, fields.mistakes),
        _ => {
            wrong_type(key, "a text or a table", node, fields.mistakes);
            None
        }
    }
}

fn hyperparameters(table: &Table, at: &Location, mistakes: &mut Mistakes) -> Option<At<Hyperparameters>> {
    let mut fields = Fields::new(table, "hyperparameters", mistakes);
    let from = fields.text("from");
    let signal_scale = fields.number("signal_scale");
    let noise_scale = fields.number("noise_scale");
    let (length_scale, shared) = match fields.node("length_scale") {
        Some(Node { value: Value::Text(text), at }) if text == "shared" => (None, Some(at.clone())),
        _ => (fields.numbers("length_scale"), None),
    };
    let fit = fields.text("fit").map(|method| FitTable {
        method,
        centroids: fields.whole("centroids"),
        size: fields.whole("size"),
        steps: fields.whole("steps"),
    });
    fields.finish();
    let value = Hyperparameters { from, signal_scale, noise_scale, length_scale, shared, fit };
    Some(At { value, at: at.clone() })
}

fn train(table: &Table, at: &Location, mistakes: &mut Mistakes) -> At<TrainTable> {
    let mut fields = Fields::new(table, "[train]", mistakes);
    let value = TrainTable {
        steps: fields.whole("steps"),
        learning_rate: fields.number("learning_rate"),
        schedule: fields.node("schedule").and_then(|node| schedule(node, fields.mistakes)),
        initial: start(&mut fields, "initial"),
        replay: fields.node("replay").and_then(|node| replay(node, fields.mistakes)),
        fixed: fields.names("fixed"),
        mean: fields.text("mean"),
        landscape: fields.table("landscape").map(|(table, at)| landscape(table, at, fields.mistakes)),
    };
    fields.finish();
    At { value, at: at.clone() }
}

fn landscape(table: &Table, at: &Location, mistakes: &mut Mistakes) -> At<LandscapeTable> {
    let mut fields = Fields::new(table, "`landscape` of [train]", mistakes);
    let value = LandscapeTable {
        length_scale: fields.numbers("length_scale"),
        noise_scale: fields.numbers("noise_scale"),
        points: fields.whole("points"),
    };
    fields.finish();
    At { value, at: at.clone() }
}

/// A run's folder, or a table that also tells which of its cases.
fn replay(node: &Node, mistakes: &mut Mistakes) -> Option<At<ReplayTable>> {
    let value = match &node.value {
        Value::Text(run) => {
            let run = Some(At { value: run.clone(), at: node.at.clone() });
            ReplayTable { run, solver: None, estimator: None }
        }
        Value::Table(table) => {
            let mut fields = Fields::new(table, "`replay` of [train]", mistakes);
            let value = ReplayTable {
                run: fields.required_text("run", &node.at, "it is the folder of a run that has trained"),
                solver: fields.text("solver"),
                estimator: fields.text("estimator"),
            };
            fields.finish();
            value
        }
        _ => {
            wrong_type("replay", "a text or a table", node, mistakes);
            return None;
        }
    };
    Some(At { value, at: node.at.clone() })
}

fn likelihood(table: &Table, at: &Location, mistakes: &mut Mistakes) -> At<LikelihoodTable> {
    let mut fields = Fields::new(table, "[likelihood]", mistakes);
    let value = LikelihoodTable { repetitions: fields.whole("repetitions") };
    fields.finish();
    At { value, at: at.clone() }
}

fn schedule(node: &Node, mistakes: &mut Mistakes) -> Option<At<ScheduleTable>> {
    let value = match &node.value {
        Value::Text(name) => ScheduleTable::Named(name.clone()),
        Value::Table(table) => {
            let mut fields = Fields::new(table, "`schedule` of [train]", mistakes);
            let (milestones, factor) = (fields.wholes("milestones"), fields.number("factor"));
            fields.finish();
            let (Some(milestones), Some(factor)) = (milestones, factor) else {
                let hint = "for instance { milestones = [50, 80], factor = 0.5 }".to_owned();
                mistakes.add(&node.at, "`schedule` needs `milestones` and `factor`", hint);
                return None;
            };
            let milestones = milestones.value.iter().map(|step| step.value).collect();
            ScheduleTable::MultiStep { milestones, factor: factor.value }
        }
        _ => {
            wrong_type("schedule", "a text or a table", node, mistakes);
            return None;
        }
    };
    Some(At { value, at: node.at.clone() })
}

fn estimator(name: &At<String>, table: &Table, mistakes: &mut Mistakes) -> EstimatorTable {
    let of = format!("[estimator.{}]", name.value);
    let mut fields = Fields::new(table, &of, mistakes);
    let estimator = EstimatorTable {
        name: name.clone(),
        method: fields.text("method"),
        probes: fields.whole("probes"),
        features: fields.whole("features"),
        frequencies: fields.text("frequencies"),
        probe_distribution: fields.text("probe_distribution"),
        warm_start: warm_start(&mut fields),
        second_solve: fields.truth("second_solve"),
        step: fields.whole("step"),
    };
    fields.finish();
    estimator
}

fn warm_start(fields: &mut Fields<'_>) -> Option<At<WarmStart>> {
    let node = fields.node("warm_start")?;
    let value = match &node.value {
        Value::Bool(truth) => WarmStart::Truth(*truth),
        Value::Text(name) => WarmStart::Named(name.clone()),
        _ => {
            wrong_type("warm_start", "true, false or \"extrapolated\"", node, fields.mistakes);
            return None;
        }
    };
    Some(At { value, at: node.at.clone() })
}

fn solver(name: &At<String>, table: &Table, mistakes: &mut Mistakes) -> SolverTable {
    let of = format!("[solver.{}]", name.value);
    let mut fields = Fields::new(table, &of, mistakes);
    let solver = SolverTable {
        name: name.clone(),
        plugin: fields.text("plugin"),
        library: fields.text("library"),
        params: fields.table("params").map(|(table, _)| table.0.clone()).unwrap_or_default(),
        inducing: fields.table("inducing").map(|(table, at)| inducing(table, at, name, fields.mistakes)),
        prediction: fields.table("prediction").map(|(table, _)| table.0.clone()).unwrap_or_default(),
        quadrature: fields.node("quadrature").and_then(|node| quadrature(node, name, fields.mistakes)),
        budget: match fields.table("budget") {
            Some((table, _)) => budget(table, &format!("[solver.{}.budget]", name.value), fields.mistakes),
            None => BudgetTable::default(),
        },
    };
    fields.finish();
    solver
}

fn inducing(table: &Table, at: &Location, solver: &At<String>, mistakes: &mut Mistakes) -> At<InducingTable> {
    let of = format!("`inducing` of [solver.{}]", solver.value);
    let mut fields = Fields::new(table, &of, mistakes);
    let hint = "write select = \"subset\", \"kmeans\" or \"neighbours\"";
    let value = InducingTable {
        select: fields.required_text("select", at, hint),
        points: fields.whole("points"),
        distance: fields.number("distance"),
        neighbours: fields.whole("neighbours"),
    };
    fields.finish();
    At { value, at: at.clone() }
}

fn quadrature(node: &Node, solver: &At<String>, mistakes: &mut Mistakes) -> Option<At<QuadratureTable>> {
    let value = match &node.value {
        Value::Int(nodes) => QuadratureTable::Nodes(*nodes),
        Value::Table(table) => {
            let of = format!("`quadrature` of [solver.{}]", solver.value);
            let mut fields = Fields::new(table, &of, mistakes);
            let value = QuadratureTable::Random { min: fields.whole("min"), rate: fields.number("rate") };
            fields.finish();
            value
        }
        _ => {
            wrong_type("quadrature", "a whole number or a table", node, mistakes);
            return None;
        }
    };
    Some(At { value, at: node.at.clone() })
}

fn budget(table: &Table, of: &str, mistakes: &mut Mistakes) -> BudgetTable {
    let mut fields = Fields::new(table, of, mistakes);
    let budget = BudgetTable {
        tolerance: fields.number("tolerance"),
        max_epochs: fields.number("max_epochs"),
        seconds: fields.unit("time", "1h30m", parse_time),
        memory_bytes: fields.unit("memory", "8GiB", parse_memory),
    };
    fields.finish();
    budget
}

fn excludes(node: Option<&Node>, mistakes: &mut Mistakes) -> Vec<Exclude> {
    let Some(node) = node else { return Vec::new() };
    let items = match &node.value {
        Value::Array(items) => items.as_slice(),
        _ => std::slice::from_ref(node),
    };
    let mut excludes = Vec::new();
    for item in items {
        let Value::Table(table) = &item.value else {
            wrong_type("exclude", "tables, each written under [[exclude]]", item, mistakes);
            continue;
        };
        let mut fields = Fields::new(table, "[[exclude]]", mistakes);
        excludes.push(Exclude {
            at: item.at.clone(),
            dataset: fields.names("dataset"),
            kernel: fields.names("kernel"),
            estimator: fields.names("estimator"),
            solver: fields.names("solver"),
            seed: fields.wholes("seed"),
        });
        fields.finish();
    }
    excludes
}

fn report(table: &Table, mistakes: &mut Mistakes) -> ReportTable {
    let mut fields = Fields::new(table, "[report]", mistakes);
    let report = ReportTable { reference: fields.text("reference"), baseline: fields.text("baseline") };
    fields.finish();
    report
}
