//! Specs of Thompson sampling, and what their cases are likely to cost.

use crate::common;
use gpbench_record::{
    Ascent, Candidates, Exploit, Frequencies, Objective, ObjectiveDraw, Row, Source, TaskOutput, Thompson,
    ThompsonOutput, WarmStart, testing,
};
use gpbench_spec::{CaseCost, Catalog, SpecPlan, ThompsonSeconds, load};

const SPEC: &str = r#"
schema = 1
name = "t"
task = "thompson"
[matrix]
dataset = ["objective"]
kernel = ["as-drawn"]
solver = ["cg", "cholesky"]
[dataset.objective]
from = "objective"
n = 2000
d = 8
length_scale = 0.5
noise_scale = 1e-3
[kernel.as-drawn]
family = "matern32"
hyperparameters = "generating"
[estimator.pathwise]
probes = 50
[budget]
max_epochs = 10
"#;

fn planned(sets: &[&str], replayed: Option<Vec<Row>>) -> Result<SpecPlan, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("spec.toml");
    std::fs::write(&path, SPEC).unwrap();
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    let typed = load(&path, &sets).map_err(|errors| errors.to_string())?;
    let expected = replayed.as_ref().map(|_| folder.path().join("earlier"));
    assert_eq!(typed.replayed_run(), expected);
    let catalog = Catalog { replayed: replayed.map(Ok), ..common::catalog() };
    typed.check(&catalog).map(|checked| checked.plan()).map_err(|errors| errors.to_string())
}

fn thompson(plan: &SpecPlan) -> Thompson {
    plan.cases[0].case.task.thompson().unwrap().clone()
}

/// The cost of the case of a solver on one thread.
fn cost(plan: &SpecPlan, solver: &str) -> CaseCost {
    let is_its = |planned: &&gpbench_spec::SpecCase| planned.case.solver.name == solver;
    plan.cases.iter().find(is_its).unwrap().cost(1).unwrap()
}

#[test]
fn defaults_are_those_of_the_reference() {
    let plan = planned(&[], None).unwrap();
    let found = thompson(&plan);
    let candidates =
        Candidates { rounds: 5, points: 2000, explore: 0.1, nearby: 0.5, exploit: Exploit::Shifted };
    assert_eq!((found.steps, found.candidates), (10, candidates));
    assert_eq!(found.ascent, Ascent { steps: 100, learning_rate: 1e-3 });
    assert_eq!((found.warm_start, found.share_features, found.replay.len()), (WarmStart::None, false, 0));
    let Source::Objective(objective) = &plan.cases[0].case.dataset.source else { panic!("an objective") };
    let draw = ObjectiveDraw::Features { features: 16_384, frequencies: Frequencies::MultivariateT };
    assert_eq!((objective.n, objective.d, objective.draw), (2000, 8, draw));
    // Nothing is standardised, so the hyperparameters are those of the draw.
    let kernel = &plan.cases[0].case.kernel;
    assert_eq!((kernel.signal_scale, kernel.noise_scale, &*kernel.length_scale), (1.0, 1e-3, &[0.5][..]));
    let sets = [
        "thompson.warm_start=all",
        "thompson.candidates.exploit=public-2023",
        "dataset.objective.frequencies=product_t",
    ];
    let found = planned(&sets, None).unwrap();
    assert_eq!(thompson(&found).warm_start, WarmStart::All);
    assert_eq!(thompson(&found).candidates.exploit, Exploit::Public2023);
}

#[test]
fn the_points_of_an_earlier_run_are_replayed() {
    let first = planned(&[], None).unwrap();
    let mut row =
        testing::row(first.cases.iter().find(|p| p.case.solver.name == "cg").unwrap().case.clone(), &[]);
    let points: Vec<f64> = (0..3 * 50 * 8).map(|place| f64::from(place) / 1200.0).collect();
    row.output =
        TaskOutput::Thompson(Box::new(ThompsonOutput { points: points.clone(), ..Default::default() }));
    let replay = "thompson.replay=earlier";
    let found = thompson(&planned(&[replay], Some(vec![row.clone()])).unwrap());
    assert_eq!((found.steps, &found.replay), (3, &points));
    let fewer = thompson(&planned(&[replay, "thompson.steps=2"], Some(vec![row.clone()])).unwrap());
    assert_eq!((fewer.steps, &*fewer.replay), (2, &points[..800]));
    let error = planned(&[replay, "estimator.pathwise.probes=20"], Some(vec![row.clone()])).unwrap_err();
    assert!(error.contains("has another objective than data set `objective`, or another number"), "{error}");
    let Source::Objective(objective) = &mut row.case.dataset.source else { panic!("an objective") };
    *objective = Objective { length_scale: 0.4, ..objective.clone() };
    assert!(planned(&[replay], Some(vec![row])).is_err());
}

#[test]
fn all_four_parts_are_estimated() {
    let of = |sets: &[&str], solver: &str| cost(&planned(sets, None).unwrap(), solver);
    let parts = |sets: &[&str]| of(sets, "cg").thompson.unwrap();
    let all = parts(&[]);
    assert!([all.pose, all.solve, all.candidates, all.ascent].iter().all(|part| *part > 0.0), "{all:?}");
    assert_eq!(of(&[], "cg").seconds, all.total());
    let ratio = |sets: &[&str], part: fn(ThompsonSeconds) -> f64| part(parts(sets)) / part(all);
    let close = |found: f64, expected: f64| assert!((found / expected - 1.0).abs() < 0.01, "{found}");
    close(ratio(&["thompson.candidates.points=4000"], |parts| parts.candidates), 2.0);
    close(ratio(&["thompson.ascent.steps=201"], |parts| parts.ascent), 2.0);
    close(ratio(&["budget.max_epochs=20"], |parts| parts.solve), 2.0);
    close(ratio(&["estimator.pathwise.features=4000"], |parts| parts.pose), 2.0);
    assert_eq!(ratio(&["budget.max_epochs=20"], |parts| parts.candidates), 1.0);
    // A factor takes n^2 numbers.
    let bytes = |solver| of(&[], solver).memory_bytes;
    assert_eq!(bytes("cholesky") - bytes("cg"), 8.0 * 2500.0_f64.powi(2));
    let timed = of(&["budget.time=1ms"], "cg");
    assert_eq!(timed.thompson.unwrap().solve, 1e-3);
}

#[test]
fn a_learner_is_refused_with_the_reason() {
    let error = planned(&["matrix.solver=['svgp']"], None).unwrap_err();
    assert!(error.contains("`svgp` is a learner, which task \"thompson\" does not take"), "{error}");
    assert!(error.contains("posterior samples are made of weights of the rows"), "{error}");
}
