//! Tasks `train` and `likelihood`: from a spec to their cases.

use std::collections::BTreeMap;

use gpbench_record::{
    Case, FeatureEstimator, FinalPrediction, Frequencies, GradientEstimator, LikelihoodEstimator, Metrics,
    ParamValue, PathwiseTargets, PriorSource, ProbeDistribution, Probes, Quadrature, RateSchedule,
    StandardProbes, Start, Step, StopReason, Subset, Task, TaskKind, TaskOutput, Training, TrainingOutput,
    testing,
};
use gpbench_spec::{Catalog, SpecCase, SpecPlan, load};

use crate::common;
use crate::common::plans::{cases, planned};

/// What a training case asks for.
fn training(case: &Case) -> &Training {
    let Task::Train(training) = &case.task else { panic!("a training case") };
    training
}

#[test]
fn training_is_resolved() {
    let text = r#"
schema = 1
name = "t"
task = "train"
[matrix]
dataset = ["gp-draw", "pol"]
kernel = ["matern32", "shared"]
estimator = ["pathwise", "warm", "exact"]
solver = ["cg"]
[kernel.shared]
family = "rbf"
hyperparameters = { from = "ones", noise_scale = 0.5, length_scale = "shared" }
[estimator.warm]
method = "standard"
probes = 8
probe_distribution = "rademacher"
warm_start = true
[train]
steps = 20
schedule = { milestones = [10], factor = 0.5 }
initial = { signal_scale = 2, noise_scale = 0.1, length_scale = 3 }
[budget]
tolerance = 0.01
"#;
    let plan = planned(text, &[]);
    assert_eq!((plan.task, plan.cases.len()), (TaskKind::Train, 12));
    let named = |kernel: &str, estimator: &str| {
        let found = cases(&plan, "pol", "cg");
        let wanted = |c: &&Case| c.kernel.name == kernel && c.task.estimator() == Some(estimator);
        let case = found.into_iter().find(wanted).expect("a case");
        (case.kernel.clone(), training(case).clone())
    };
    let (kernel, first) = named("matern32", "pathwise");
    let prior = PriorSource::Features { features: 2000, frequencies: Frequencies::MultivariateT };
    let targets = PathwiseTargets { probes: 64, prior };
    let probes = Probes::Pathwise(targets);
    let expected = Training {
        estimator: "pathwise".to_owned(),
        gradient: GradientEstimator::Solutions { probes, second_solve: false, start: Start::Cold },
        steps: 20,
        learning_rate: 0.1,
        schedule: RateSchedule::MultiStep { milestones: vec![10], factor: 0.5 },
        shared_length_scale: false,
        replay: vec![],
        fixed: vec![],
        subset: None,
        landscape: None,
        optimum: false,
        prediction: FinalPrediction { targets, params: BTreeMap::new() },
    };
    assert_eq!(first, expected);
    assert!((kernel.signal_scale, kernel.length_scale) == (2.0, vec![3.0]));
    assert_eq!(kernel.mean, None);
    let (kernel, warm) = named("shared", "warm");
    assert!(warm.shared_length_scale);
    assert_eq!((kernel.noise_scale, kernel.signal_scale), (0.5, 1.0));
    let probes = Probes::Standard(StandardProbes { probes: 8, distribution: ProbeDistribution::Rademacher });
    let gradient = GradientEstimator::Solutions { probes, second_solve: false, start: Start::Warm };
    assert_eq!(warm.gradient, gradient);
    assert_eq!(warm.prediction.targets, PathwiseTargets { probes: 8, prior });
    assert_eq!(named("matern32", "exact").1.gradient, GradientEstimator::Exact);
    let with_mean = planned(text, &["train.mean=constant"]);
    assert!(with_mean.cases.iter().all(|planned| planned.case.kernel.mean == Some(0.0)));
    let parts = planned(text, &["train.initial={ fit = \"subset\", centroids = 3 }"]);
    let fitted = training(cases(&parts, "pol", "cg")[0]).subset;
    assert_eq!(
        fitted,
        Some(Subset { centroids: 3, size: 10_000, steps: 200, learning_rate: 0.1, tolerance: 1e-3 })
    );
    let one = planned(text, &["train.steps=1"]);
    let seconds = |plan: &SpecPlan| plan.cases[0].cost(1).expect("rows are known").seconds;
    assert_eq!(seconds(&plan), 20.0 * seconds(&one));
    // The factor and the inverse of exact training.
    let memory = |estimator: &str| {
        let wanted = |p: &&SpecCase| p.case.task.estimator() == Some(estimator) && p.n == Some(13_500);
        plan.cases.iter().find(wanted).expect("planned").cost(1).expect("rows are known").memory_bytes
    };
    assert!(memory("exact") - memory("pathwise") > 15.0 * 13_500_f64.powi(2));
}

#[test]
fn estimates_of_the_likelihood_are_resolved() {
    let text = r#"
schema = 1
name = "t"
task = "likelihood"
[matrix]
dataset = ["gp-draw"]
kernel = ["rbf"]
estimator = ["standard", "rff", "single"]
solver = ["cg", "cg-5"]
[estimator.standard]
second_solve = true
[estimator.single]
method = "ss-rff"
features = 20
step = 10
[solver.cg]
quadrature = { min = 3, rate = 0.5 }
[solver.cg-5]
plugin = "cg"
quadrature = 5
[budget]
max_epochs = 20
"#;
    let plan = planned(text, &[]);
    assert_eq!((plan.task, plan.cases.len()), (TaskKind::Likelihood, 6));
    let of = |estimator: &str, solver: &str| {
        let wanted = |c: &&Case| c.task.estimator() == Some(estimator);
        let case = cases(&plan, "gp-draw", solver).into_iter().find(wanted).expect("a case").clone();
        let Task::Likelihood(study) = case.task else { panic!("a likelihood") };
        (study.repetitions, study.method)
    };
    let probes = Probes::Standard(StandardProbes { probes: 64, distribution: ProbeDistribution::Normal });
    let standard = |quadrature| LikelihoodEstimator::Solutions { probes, second_solve: true, quadrature };
    let random = Quadrature::Random { min: 3, rate: 0.5 };
    assert_eq!(of("standard", "cg"), (100, standard(Some(random))));
    assert_eq!(of("standard", "cg-5"), (100, standard(Some(Quadrature::Fixed { nodes: 5 }))));
    let frequencies = Frequencies::MultivariateT;
    let rff = FeatureEstimator::Rff { features: 2000, frequencies };
    assert_eq!(of("rff", "cg").1, LikelihoodEstimator::Features(rff));
    let single = FeatureEstimator::SsRff { features: 20, step: 10, frequencies };
    assert_eq!(of("single", "cg").1, LikelihoodEstimator::Features(single));
}

#[test]
fn a_study_of_features_predicts_with_features_of_its_own() {
    let text = r#"
schema = 1
name = "t"
task = "train"
[matrix]
dataset = ["gp-draw"]
kernel = ["rbf"]
estimator = ["few"]
solver = ["cg"]
[estimator.few]
method = "rff"
features = 20
frequencies = "product_t"
[solver.cg]
prediction = { rank = 7 }
[budget]
tolerance = 0.01
"#;
    let plan = planned(text, &[]);
    let training = training(&plan.cases[0].case);
    let frequencies = Frequencies::ProductT;
    let few = FeatureEstimator::Rff { features: 20, frequencies };
    assert_eq!(training.gradient, GradientEstimator::Features(few));
    let prior = PriorSource::Features { features: 2000, frequencies };
    assert_eq!(training.prediction.targets, PathwiseTargets { probes: 64, prior });
    assert_eq!(training.prediction.params, [("rank".to_owned(), ParamValue::Int(7))].into());
}

#[test]
fn the_steps_of_an_earlier_run_are_replayed() {
    let text = r#"
schema = 1
name = "t"
task = "train"
[matrix]
dataset = ["gp-draw"]
kernel = ["rbf"]
estimator = ["pathwise"]
solver = ["cg"]
[train]
steps = 3
[budget]
tolerance = 0.01
"#;
    let scales = |noise: f64| -> BTreeMap<String, f64> {
        [("noise_scale", noise), ("signal_scale", 1.0), ("length_scale", 2.0)]
            .into_iter()
            .map(|(name, scale)| (name.to_owned(), scale))
            .collect()
    };
    let step = |count: u64| Step {
        step: count,
        hyperparameters: scales(count as f64 + 1.0),
        reason: StopReason::Converged,
        metrics: Metrics::default(),
    };
    let mut row = testing::row(planned(text, &[]).cases.remove(0).case, &[]);
    row.output = TaskOutput::Train(Box::new(TrainingOutput {
        steps: (0..3).map(step).collect(),
        hyperparameters: scales(9.0),
        ..TrainingOutput::default()
    }));
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("spec.toml");
    std::fs::write(&path, text).expect("a writable folder");
    let check = |sets: &[&str], replayed| {
        let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
        let typed = load(&path, &sets).unwrap_or_else(|errors| panic!("{errors}"));
        assert_eq!(typed.replayed_run(), Some(folder.path().join("earlier")));
        let catalog = Catalog { replayed: Some(replayed), ..common::catalog() };
        typed.check(&catalog).map(|checked| checked.plan())
    };
    let path_of = |sets: &[&str]| {
        let plan = check(sets, Ok(vec![row.clone()])).unwrap_or_else(|errors| panic!("{errors}"));
        let training = training(&plan.cases[0].case);
        let noises: Vec<f64> = training.replay.iter().map(|scales| scales["noise_scale"]).collect();
        (training.steps, noises)
    };
    let replay = "train.replay=earlier";
    assert_eq!(path_of(&[replay]), (3, vec![1.0, 2.0, 3.0, 9.0]));
    assert_eq!(path_of(&[replay, "train.steps=2"]), (2, vec![1.0, 2.0, 3.0]));
    let other = "train.replay={ run = \"earlier\", solver = \"ap\" }";
    let errors = check(&[other], Ok(vec![row.clone()])).unwrap_err().to_string();
    assert!(errors.contains("0 cases of that run that can be replayed"), "{errors}");
    let errors = check(&[replay], Err("no such folder".to_owned())).unwrap_err().to_string();
    assert!(errors.contains("cannot replay run `earlier`: no such folder"), "{errors}");
}
