//! Estimated costs of learners by the kind of their model, which follows from capabilities and parameters.

use gpbench_record::{Capability, ParamKind, ParamSchema, ParamValue, SolverInfo, SolverKind};
use gpbench_spec::CaseCost;

use crate::common;

/// Rows and inputs of `protein`.
const N: f64 = 41_157.0;
const D: f64 = 9.0;

/// Bytes of a process.
const PROCESS: f64 = 64e6;

fn learner(id: &str, capabilities: &[Capability], params: Vec<ParamSchema>) -> SolverInfo {
    SolverInfo { kind: SolverKind::Learner, ..common::solver(id, capabilities, params) }
}

fn count(name: &str, default: i64) -> ParamSchema {
    common::int(name, default, 0.0, 1e6)
}

/// Learners that take all rows in a step, with the parameters of plugins and scripts.
fn all_rows() -> Vec<SolverInfo> {
    use Capability::{Inducing, Kernel};
    let policy = ParamSchema {
        choices: vec!["sparse".into(), "cg".into()],
        kind: ParamKind::Text,
        default: ParamValue::Text("sparse".into()),
        min: None,
        max: None,
        ..count("policy", 0)
    };
    vec![
        learner("own-points", &[Kernel, Inducing], vec![count("points", 512)]),
        learner("experts", &[Kernel], vec![count("points", 512)]),
        learner("actions", &[Kernel], vec![policy, count("actions", 0)]),
        learner("near", &[Kernel], vec![count("neighbours", 30), count("prediction_neighbours", 0)]),
        learner("exact", &[Kernel], vec![]),
    ]
}

/// The cost on `protein` with ten passes and one look.
fn cost(solver: &str, rest: &str) -> CaseCost {
    let mut catalog = common::catalog();
    catalog.libraries.push(common::library("all-rows", all_rows()));
    let text = format!(
        "schema = 1\nname = \"t\"\ntask = \"learn\"\n[matrix]\ndataset = [\"protein\"]\nkernel = [\"rbf\"]\n\
         solver = [\"{solver}\"]\n[learn]\nepochs = 10\nevery = 10\nnlml_rows = 512\n{rest}"
    );
    let checked = common::check_text_against(&text, &[], &catalog);
    let plan = checked.unwrap_or_else(|errors| panic!("{errors}")).plan();
    plan.cases[0].cost(1).expect("rows are known")
}

#[test]
fn a_learner_that_takes_inducing_points_has_as_many_as_it_states() {
    let own = cost("own-points", "");
    // A step takes 5 M^2 n operations, at 3e10 a second.
    let step = 5.0 * 512.0 * 512.0 * N / 3e10;
    assert!((10.0 * step..20.0 * step).contains(&own.seconds), "{}, where steps take {step}", own.seconds);
    let held = PROCESS + 8.0 * (2.0 * N * D + 8.0 * 512.0 * 512.0 + 5.0 * 512.0 * N);
    assert!((own.memory_bytes / held - 1.0).abs() < 0.01, "{} against {held}", own.memory_bytes);
    // Points of experts are rows, of one matrix at a time.
    let experts = cost("experts", "");
    assert!(experts.memory_bytes < 0.5 * own.memory_bytes, "{}", experts.memory_bytes);
    // The spec may choose them.
    let given = cost("own-points", "[solver.own-points]\ninducing = { select = \"subset\", points = 64 }\n");
    assert!(given.seconds < 0.1 * own.seconds, "{} and {}", given.seconds, own.seconds);
    let same = cost("own-points", "[solver.own-points]\nparams.points = 64\n");
    assert_eq!(given, same);
}

#[test]
fn actions_read_the_whole_matrix() {
    let of = |params: &str| cost("actions", &format!("[solver.actions]\nparams = {{ {params} }}\n"));
    let sparse = of("actions = 256");
    // Ten steps evaluate and differentiate n^2 entries of about 50 operations each.
    let entries = 10.0 * N * N * 50.0 / 3e10;
    assert!((2.0 * entries..10.0 * entries).contains(&sparse.seconds), "{} and {entries}", sparse.seconds);
    let held = PROCESS + 8.0 * (2.0 * N * D + 4.0 * N * 256.0 + 10.0 * 256.0 * 256.0);
    assert!((sparse.memory_bytes / held - 1.0).abs() < 0.01, "{} against {held}", sparse.memory_bytes);
    // As many as the learner chooses by itself.
    assert_eq!(cost("actions", ""), sparse);
    assert_eq!(of("policy = \"cg\""), of("policy = \"cg\", actions = 32"));
    // Each dense action is a product with the matrix.
    let dense = |actions: usize| of(&format!("policy = \"cg\", actions = {actions}")).seconds;
    assert!(dense(64) > 1.8 * dense(32), "{} and {}", dense(64), dense(32));
}

#[test]
fn a_learner_without_minibatches_takes_all_rows() {
    let seconds = |solver| cost(solver, "").seconds;
    // An exact step takes n^3 operations.
    assert!(seconds("exact") > 10.0 * N * N * N / 3e10, "{}", seconds("exact"));
    let near = seconds("near");
    let step = N * 31.0 * 31.0 * (31.0 + 3.0 * 48.0) / 3e10;
    assert!((10.0 * step..20.0 * step).contains(&near), "{near}, where steps take {step}");
}
