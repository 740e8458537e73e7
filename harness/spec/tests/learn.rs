//! Task `learn`: from a spec to its cases.

use gpbench_record::{
    Capability, Covariance, GridPoint, Inducing, InputScaling, Learning, LibraryInfo, ModelSelection,
    OriginBase, ParamValue, SolverInfo, SolverKind, TargetScaling, TaskKind,
};
use gpbench_spec::{SpecCase, SpecPlan};

use crate::common;
use crate::common::plans::planned;

/// Every key of the task.
const LEARN: &str = include_str!("../../../fuzz/seeds/spec/learn.toml");

const SMALL: &str = r#"
schema = 1
name = "t"
task = "learn"
[matrix]
dataset = ["gp-draw"]
kernel = ["deep"]
solver = ["scgd"]
[kernel.deep]
family = "linear"
network = { widths = [8] }
"#;

fn named<'p>(plan: &'p SpecPlan, dataset: &str, kernel: &str, solver: &str) -> &'p SpecCase {
    let is_it = |p: &&SpecCase| {
        let labels = p.case.labels();
        (labels.dataset.as_str(), labels.kernel.as_str(), labels.solver.as_str()) == (dataset, kernel, solver)
    };
    plan.cases.iter().find(is_it).expect("planned")
}

fn learning(planned: &SpecCase) -> &Learning {
    planned.case.task.learning().expect("a case of a learner")
}

#[test]
fn a_case_is_resolved() {
    let plan = planned(LEARN, &[]);
    assert_eq!(plan.task, TaskKind::Learn);
    assert!(plan.axes.estimator.is_empty());
    let found = named(&plan, "bike", "deep-rbf", "scgd-32@average=0.9,learning_rate=0.3");
    let values = [("average", 0.9), ("learning_rate", 0.3)];
    let grid = GridPoint {
        entry: "scgd-32".into(),
        params: values.map(|(key, value)| (key.into(), ParamValue::Float(value))).into(),
    };
    let expected = Learning {
        passes: 100,
        looks: (1..=20).map(|k| 5 * k).collect(),
        select: ModelSelection::ValidationNll,
        patience: 3,
        inducing: None,
        shared_length_scale: true,
        nlml_rows: 512,
        exact_rows: Learning::EXACT_ROWS,
        variance_rank: None,
        optimum: false,
        grid: None,
    };
    assert_eq!(*learning(found), expected);
    assert_eq!(found.case.grid(), Some(&grid));
    let case = &found.case;
    assert_eq!(case.labels().estimator, None);
    assert_eq!(case.solver.params["batch"], ParamValue::Int(32));
    assert_eq!(case.solver.params["optimiser"], ParamValue::Text("adadelta".into()), "from [learn]");
    assert_eq!(case.solver.params["learning_rate"], ParamValue::Float(0.3));
    assert_eq!((case.budget.seconds, case.budget.tolerance), (Some(3600.0), None));
    let network = case.kernel.network.as_ref().expect("a network");
    assert_eq!((&network.widths[..], network.random), (&[16][..], Some(100)));
    assert_eq!((case.kernel.mean, &case.kernel.origin.base), (Some(0.0), &OriginBase::Ones));
    assert_eq!((case.dataset.targets, case.dataset.inputs), (TargetScaling::Centred, InputScaling::Box));
    assert_eq!(case.dataset.validation, Some(0.16));
    assert_eq!(found.n, Some(11_123), "0.64 of 17379 rows: validation takes rows that are left");

    let svgp = named(&plan, "pol", "deep-linear", "svgp-32");
    assert_eq!(learning(svgp).inducing, Some(Inducing::Kmeans { points: 32 }));
    assert_eq!(svgp.case.grid(), None, "its own table gives the rate");
    assert_eq!(svgp.case.solver.params["learning_rate"], ParamValue::Float(0.1));
    assert_eq!(svgp.case.budget.seconds, Some(600.0));
    assert_eq!(svgp.case.kernel.family, Covariance::Linear);
    assert_eq!(svgp.n, Some(13_500 - 2_400), "0.16 of 15000 rows, from the training rows");
    assert_eq!(named(&plan, "gp-draw", "rbf", "poe").n, Some(100 - 18), "0.16 of 110 rows");
}

#[test]
fn a_grid_makes_a_case_of_each_value_on_the_solver_axis() {
    let plan = planned(LEARN, &[]);
    let points = [
        "scgd-32@average=0.5,learning_rate=0.1",
        "scgd-32@average=0.5,learning_rate=0.3",
        "scgd-32@average=0.9,learning_rate=0.1",
        "scgd-32@average=0.9,learning_rate=0.3",
    ];
    let mut on_axis = plan.axes.solver.clone();
    on_axis[..4].sort();
    assert_eq!(on_axis, [&points[..], &["svgp-32", "poe"]].concat());
    let of = |solver: &str, seed: u64| {
        let is_it = |case: &gpbench_record::Case| {
            (case.dataset.name.as_str(), case.solver.name.as_str(), case.seed) == ("pol", solver, seed)
        };
        plan.cases.iter().filter(|p| is_it(&p.case)).count()
    };
    // An exclude names a grid, or one of its points.
    assert_eq!([of(points[0], 0), of(points[0], 1), of(points[1], 1)], [2, 0, 2]);
    assert!(plan.cases.iter().all(|p| p.case.kernel.name != "rbf" || p.case.solver.plugin != "scgd"));

    let chosen = |solver: &str| plan.filter(&[solver.to_owned()], &[]).expect("known").cases;
    let all = chosen("scgd-32");
    assert_eq!(all.len(), plan.cases.iter().filter(|p| p.case.solver.plugin == "scgd").count());
    assert!(chosen(points[3]).iter().all(|p| p.case.solver.name == points[3]));
    assert!(plan.filter(&["scgd".to_owned()], &[]).is_err());
}

#[test]
fn looks_are_even_on_a_logarithmic_axis_unless_the_spec_says() {
    let looks = |sets: &[&str]| learning(&planned(SMALL, sets).cases[0]).looks.clone();
    assert_eq!(looks(&["learn.epochs=60"]), (1..=60).collect::<Vec<_>>());
    assert_eq!(looks(&["learn.epochs=1"]), [1]);
    assert_eq!(looks(&["learn.epochs=10", "learn.every=4"]), [4, 8, 10]);
    assert_eq!(looks(&["learn.epochs=10", "learn.every=5"]), [5, 10]);
    assert_eq!(looks(&["learn.epochs=10", "learn.every=11"]), [10]);
    let many = looks(&["learn.epochs=100000"]);
    assert!(many.len() <= 60 && many.is_sorted_by(|a, b| a < b));
    assert_eq!((many[0], many[many.len() - 1]), (1, 100_000));
    let ratio = many[many.len() - 1] as f64 / many[many.len() - 2] as f64;
    assert!((ratio - 100_000_f64.powf(1.0 / 59.0)).abs() < 1e-3);
}

#[test]
fn defaults_are_the_last_look_without_validation() {
    let plan = planned(SMALL, &[]);
    let (case, task) = (&plan.cases[0].case, learning(&plan.cases[0]));
    assert_eq!(
        (task.passes, task.select, task.patience, task.nlml_rows),
        (100, ModelSelection::Last, 0, 4096)
    );
    assert_eq!((case.dataset.validation, case.kernel.mean), (None, None));
    assert_eq!(case.solver.name, "scgd");
}

#[test]
fn generating_hyperparameters_stay_in_units_of_the_draw() {
    let text = r#"
schema = 1
name = "t"
task = "posterior"
[matrix]
dataset = ["gp-draw", "raw"]
kernel = ["matern32"]
solver = ["cholesky"]
[dataset.raw]
from = "gp-draw"
targets = "centred"
inputs = "box"
[kernel.matern32]
hyperparameters = "generating"
"#;
    let plan = planned(text, &[]);
    let kernel = |dataset| &named(&plan, dataset, "matern32", "cholesky").case.kernel;
    for kernel in [kernel("gp-draw"), kernel("raw")] {
        let numbers = (kernel.signal_scale, kernel.noise_scale, &kernel.length_scale[..]);
        assert_eq!(numbers, (1.0, 0.1, &[0.3][..]));
        assert_eq!(kernel.origin, OriginBase::Drawn.into());
    }

    let published = text.replace("\"generating\"", "\"published\"").replace("\"gp-draw\", ", "");
    let published = published.replace("from = \"gp-draw\"", "from = \"pol\"");
    let errors = common::check_text(&published, &[]).map(|_| ()).unwrap_err().to_string();
    assert!(errors.contains("data set `raw` unless its inputs and targets are standardised"), "{errors}");
}

#[test]
fn costs_follow_what_is_learned() {
    let plan = planned(LEARN, &[]);
    let cost = |p: &SpecCase| p.cost(1).expect("rows are known");
    for cost in plan.cases.iter().map(cost) {
        assert!(cost.seconds > 0.0 && cost.seconds.is_finite() && cost.memory_bytes < 1e11);
    }
    let seconds = |sets: &[&str]| cost(&planned(SMALL, sets).cases[0]).seconds;
    assert!(seconds(&["learn.epochs=1000"]) > 5.0 * seconds(&["learn.epochs=100"]));
    assert!(seconds(&["kernel.deep.network.widths=[512]"]) > 10.0 * seconds(&[]));
    // The budget bounds the fit, not the looks.
    let bounded = seconds(&["learn.epochs=1000000", "kernel.deep.network.widths=[512]", "budget.time=1s"]);
    assert!((1.0..10.0).contains(&bounded), "{bounded}");
    // The exact likelihood of a kernel of infinite dimension, at the end, on all rows.
    let bytes = |kernel: &str| cost(named(&plan, "pol", kernel, "svgp-32")).memory_bytes;
    assert!(bytes("rbf") - bytes("deep-linear") > 7.0 * 11_100_f64.powi(2));
}

/// Seconds that learners took for 100 passes over elevators, 14 940 rows, with looks after each pass, on one thread.
const MEASURED: [(&str, &str, f64); 8] = [
    ("svgp", "32", 35.0),
    ("svgp", "128", 40.0),
    ("bsgd", "32", 18.0),
    ("bsgd", "128", 13.0),
    ("scgd", "32", 30.0),
    ("scgd", "128", 16.0),
    ("minimax", "32", 98.0),
    ("minimax", "64", 56.0),
];

#[test]
fn costs_are_within_a_factor_of_three_of_what_was_measured() {
    let text = r#"
schema = 1
name = "t"
task = "learn"
[matrix]
dataset = ["elevators"]
kernel = ["deep"]
solver = ["x"]
[kernel.deep]
family = "linear"
network = { widths = [128, 128] }
[learn]
epochs = 100
every = 1
select = "nlml"
[solver.x]
plugin = "PLUGIN"
params.batch = BATCH
"#;
    for (plugin, batch, measured) in MEASURED {
        let inducing = format!("inducing = {{ select = \"subset\", points = {batch} }}\n");
        let text = text.replace("PLUGIN", plugin).replace("BATCH", batch);
        let text = if plugin == "svgp" { text + &inducing } else { text };
        let found = planned(&text, &[]).cases[0].cost(1).expect("rows are known").seconds;
        assert!(
            (measured / 3.0..measured * 3.0).contains(&found),
            "{plugin}-{batch}: {found}, not {measured}"
        );
    }
}

#[test]
fn an_expert_of_all_rows_costs_an_exact_step() {
    let text = r#"
schema = 1
name = "t"
task = "learn"
[matrix]
dataset = ["protein"]
kernel = ["rbf"]
solver = ["poe"]
[dataset.protein]
subsample = 16000
[learn]
epochs = 50
every = 50
[solver.poe]
params.points = 16000
"#;
    let seconds =
        |sets: &[&str], threads| planned(text, sets).cases[0].cost(threads).expect("rows are known").seconds;
    let step = seconds(&[], 4) / 50.0;
    assert!((10.0..90.0).contains(&step), "{step} seconds a step, where 30 were measured");
    // An expert has one thread; several share them.
    assert!(seconds(&[], 1) < 1.1 * seconds(&[], 4));
    let four = ["solver.poe.params.points=4000"];
    assert!(seconds(&four, 1) > 3.5 * seconds(&four, 4));
    assert!(seconds(&[], 4) > 100.0 * seconds(&["solver.poe.params.points=1000"], 4));
}

/// `benchmarks/learners-small.toml`: processor seconds of 40 passes over 600 rows by experts of so many rows.
#[test]
fn experts_cost_what_was_measured() {
    let text = r#"
schema = 1
name = "t"
task = "learn"
[matrix]
dataset = ["draw"]
kernel = ["rbf"]
solver = ["poe"]
[dataset.draw]
from = "gp-draw"
n = 600
d = 3
[learn]
epochs = 40
every = 40
"#;
    for (points, measured) in [(600, 0.45), (150, 0.09)] {
        let case = &planned(text, &[&format!("solver.poe.params.points={points}")]).cases[0];
        let found = case.cost(1).expect("rows are known").seconds;
        assert!((measured / 2.0..measured * 2.0).contains(&found), "{points}: {found}, not {measured}");
    }
}

/// A learner of neighbours holds their indices and weights, whatever its minibatches; a learner with a kernel alone
/// holds the matrix of a minibatch.
#[test]
fn neighbours_take_no_matrix_of_a_batch() {
    let batch = || common::int("batch", 1024, 1.0, 1e9);
    let near = ["neighbours", "prediction_neighbours", "inducing"];
    let near = near.map(|name| common::int(name, if name == "neighbours" { 30 } else { 0 }, 0.0, 1e4));
    let learner = |id, params| SolverInfo {
        kind: SolverKind::Learner,
        ..common::solver(id, &[Capability::Kernel], params)
    };
    let both =
        vec![learner("near", near.into_iter().chain([batch()]).collect()), learner("dense", vec![batch()])];
    let mut catalog = common::catalog();
    catalog.libraries.push(common::library("both", both));
    let cost = |solver: &str, sets: &[&str]| {
        let text = format!(
            "schema = 1\nname = \"t\"\ntask = \"learn\"\n[matrix]\ndataset = [\"protein\"]\nkernel = [\"rbf\"]\n\
             solver = [\"{solver}\"]\n[learn]\nepochs = 10\nnlml_rows = 512\n"
        );
        let checked = common::check_text_against(&text, sets, &catalog);
        let plan = checked.unwrap_or_else(|errors| panic!("{errors}")).plan();
        plan.cases[0].cost(1).expect("rows are known")
    };
    let (n, d) = (41_157.0, 9.0);
    let (near, dense) = (cost("near", &[]), cost("dense", &[]));
    // Beside the data: inputs twice, and three numbers for each of a row and its 30 neighbours.
    let held = 64e6 + 8.0 * n * (4.0 * d + 3.0 * 31.0);
    assert!((near.memory_bytes / held - 1.0).abs() < 1e-3, "{} against {held}", near.memory_bytes);
    assert_eq!(near.memory_bytes, cost("near", &["solver.near.params.batch=20000"]).memory_bytes);
    assert!(
        cost("dense", &["solver.dense.params.batch=20000"]).memory_bytes > 8.0 * 3.0 * 20_000_f64.powi(2)
    );
    assert!(near.seconds < 0.1 * dense.seconds, "{} against {}", near.seconds, dense.seconds);
    // Inducing points are held with all rows.
    let points = cost("near", &["solver.near.params.inducing=200"]).memory_bytes - near.memory_bytes;
    assert!((points / (8.0 * 6.0 * 200.0 * n) - 1.0).abs() < 0.01, "{points}");
}

#[test]
fn threads_do_not_speed_up_small_steps() {
    let steps = "learn.epochs=100000";
    let seconds = |threads| planned(SMALL, &[steps]).cases[0].cost(threads).expect("rows are known").seconds;
    assert!(seconds(64) > 0.9 * seconds(1));
}

#[test]
fn random_features_of_the_rbf_kernel_need_no_network() {
    let plain = |family: &str| {
        let text = SMALL.replace("\"linear\"", &format!("\"{family}\""));
        text.replace("network = { widths = [8] }\n", "")
    };
    let case = &planned(&plain("rbf"), &[]).cases[0].case;
    assert_eq!((case.kernel.family.as_str(), &case.kernel.network), ("rbf", &None));
    let errors = common::check_text(&plain("matern32"), &[]).map(|_| ()).unwrap_err().to_string();
    assert!(errors.contains("has random ones of the family rbf alone; use family = \"rbf\""), "{errors}");
}

#[test]
fn a_learner_without_functions_is_refused() {
    let text = SMALL.replace("\"scgd\"", "\"early\"").replace("widths = [8] }", "widths = [8] }\n[learn]");
    let errors = common::check_text(&text, &[]).map(|_| ()).unwrap_err().to_string();
    let expected = "learner `early` cannot run: tests/mistakes/lib/early.so was built for interface 1.1, which has no \
                    functions of learners; build the library again";
    assert!(errors.contains(expected), "{errors}");
    assert_eq!(errors.matches("error").count(), 1, "{errors}");
}

#[test]
fn messages_call_a_learner_by_its_kind() {
    let errors =
        |text: &str, sets: &[&str]| common::check_text(text, sets).map(|_| ()).unwrap_err().to_string();
    let parameter = errors(SMALL, &["solver.scgd.params.btach=3"]);
    assert!(
        parameter.contains("learner `scgd` has no parameter `btach`; did you mean `batch`?"),
        "{parameter}"
    );
    let points = errors(SMALL, &["solver.scgd.inducing={select='subset',points=3}"]);
    assert!(points.contains("learner `scgd` does not take inducing points; these do: svgp"), "{points}");
    let library = errors(SMALL, &["solver.scgd.library='mistakes/lib/x.so'"]);
    assert!(!library.contains("solver `"), "{library}");
    let plan = planned(SMALL, &[]);
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let unknown = plan.filter(&names(&["scdg"]), &[]).unwrap_err().to_string();
    assert!(unknown.starts_with("no learner `scdg` in this plan"), "{unknown}");
}

#[test]
fn a_library_adds_what_the_task_takes() {
    let learner = SolverInfo {
        kind: SolverKind::Learner,
        ..common::solver("both-learner", &[Capability::Network], vec![])
    };
    let both = vec![common::solver("both-solver", &[], vec![]), learner];
    let library = LibraryInfo { file: "/nowhere/both.so".into(), ..common::library("both", both) };
    let mut catalog = common::catalog();
    catalog.libraries.push(library.clone());
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    std::fs::write(file.path(), SMALL).expect("a writable file");
    let typed = gpbench_spec::load(file.path(), &[]).expect("TOML").with_libraries(&[library]);
    let plan = typed.check(&catalog).unwrap_or_else(|errors| panic!("{errors}")).plan();
    assert_eq!(plan.axes.solver, ["scgd", "both-learner"]);
}
