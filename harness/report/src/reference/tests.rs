use std::collections::BTreeMap;

use gpbench_record::{
    Activation, FeatureEstimator, FinalPrediction, Frequencies, Learning, ModelSelection, NetworkShape,
    ParamValue, PathwiseTargets, PriorSource, ProbeDistribution, RateSchedule, StandardProbes, Training,
    testing,
};

use gpbench_record::{Covariance, GradientEstimator, Probes, Start, Subsample, Task};

use super::*;

/// A case on a data set of the registry.
fn case(dataset: &str, family: Family, solver: &str) -> Case {
    let mut case = testing::case("here");
    case.dataset.source = Source::Registry { name: dataset.to_owned() };
    case.kernel.family = family.into();
    case.solver.plugin = solver.to_owned();
    case
}

fn posterior(dataset: &str, solver: &str, subsample: Option<Subsample>) -> Case {
    let mut case = case(dataset, Family::Matern32, solver);
    case.dataset.subsample = subsample;
    case
}

fn train(dataset: &str, family: Family, solver: &str, gradient: GradientEstimator) -> Case {
    let mut case = case(dataset, family, solver);
    case.task = Task::Train(Box::new(Training {
        estimator: "e".to_owned(),
        gradient,
        steps: 1,
        learning_rate: 0.1,
        schedule: RateSchedule::Constant,
        shared_length_scale: false,
        fixed: Vec::new(),
        replay: Vec::new(),
        subset: None,
        landscape: None,
        optimum: false,
        prediction: FinalPrediction {
            targets: PathwiseTargets { probes: 1, prior: PriorSource::Exact },
            params: BTreeMap::new(),
        },
    }));
    case
}

fn standard(start: Start, second_solve: bool) -> GradientEstimator {
    let probes = Probes::Standard(StandardProbes { probes: 1, distribution: ProbeDistribution::Normal });
    GradientEstimator::Solutions { probes, second_solve, start }
}

fn pathwise(start: Start) -> GradientEstimator {
    let probes = Probes::Pathwise(PathwiseTargets { probes: 1, prior: PriorSource::Exact });
    GradientEstimator::Solutions { probes, second_solve: false, start }
}

#[test]
fn the_built_in_files_are_read() {
    let rows = |name| Reference::named(name).map(|reference| reference.rows.len());
    assert_eq!(FILES.map(|(name, _)| rows(name)), [Some(51), Some(84), Some(102), Some(432)]);
    assert!(Reference::named("nobody1999").is_none());
    assert!(Reference::paper("Lin et al. 2023").is_some_and(|paper| paper.entry.contains("NeurIPS 2023")));
}

#[test]
fn a_posterior_finds_its_row_in_each_table() {
    let reference = Reference::named("lin2023").unwrap();
    let found = |dataset, solver, subsample, points| {
        let figures = reference.find(&posterior(dataset, solver, subsample), points)?;
        Some(format!("{}: {}", figures.method, figures.rmse?))
    };
    let (rows, share) = (|rows| Some(Subsample::Rows(rows)), |share| Some(Subsample::Fraction(share)));
    let says = |text: &str| Some(text.to_owned());
    assert_eq!(found("pol", "cg", None, None), says("CG: 0.08 ± 0.00"));
    assert_eq!(found("pol", "sgd-rff", None, None), says("SGD: 0.13 ± 0.00"));
    assert_eq!(found("pol", "cholesky", None, None), says("CG: 0.08 ± 0.00"));
    // 5 % and 10 % of the 13 500 training rows.
    assert_eq!(found("pol", "cholesky", rows(675), None), says("subset of data, 5 %: 0.20 ± 0.01"));
    assert_eq!(found("pol", "cholesky", share(0.05), None), says("subset of data, 5 %: 0.20 ± 0.01"));
    assert_eq!(found("pol", "cholesky", share(0.5), None), None);
    assert_eq!(found("pol", "cg", rows(1350), None), says("subset of data, 10 %: 0.16 ± 0.00"));
    assert_eq!(found("pol", "cg", rows(1000), None), None);
    assert_eq!(found("song", "cg", rows(25_000), None), says("subset of data, 25000 rows: 0.82 ± 0.00"));
    let inducing = says("inducing SGD, 218782 points: 0.08 ± 0.00");
    assert_eq!(found("houseelectric", "sgd-rff", None, Some(200_000.0)), inducing);
    assert_eq!(found("pol", "sgd-rff", None, Some(1000.0)), None);
    assert_eq!(found("houseelectric", "cg", None, Some(1000.0)), None);
}

#[test]
fn methods_that_are_only_published_are_known() {
    let reference = Reference::named("lin2023").unwrap();
    let others = |case: &Case| -> Vec<String> {
        reference.others(case, &["CG".to_owned()]).into_iter().map(|figures| figures.method).collect()
    };
    let mut case = posterior("pol", "cg", None);
    assert_eq!(others(&case), ["SGD", "SVGP"]);
    case.kernel.noise_scale = 1e-3;
    assert_eq!(others(&case), ["SGD"]);
}

#[test]
fn training_finds_the_row_with_its_probes_and_starts() {
    let reference = Reference::named("lin2024").unwrap();
    let found =
        |dataset, solver, gradient| reference.find(&train(dataset, Family::Matern32, solver, gradient), None);
    let mean = |figure: Option<Figure>| figure.map(|figure| figure.mean);
    let row = found("pol", "cg", standard(Start::Warm, false)).unwrap();
    assert_eq!((mean(row.rmse), mean(row.nll)), (Some(0.0750), Some(-1.2681)));
    assert_eq!((mean(row.minutes), row.speed_up), (Some(2.2844), Some(2.1)));
    assert_eq!(row.minutes.unwrap().to_string(), "2.2844 ± 0.0131");
    // Longer than a day, and nothing else known.
    let row = found("keggdirected", "ap", standard(Start::Cold, false)).unwrap();
    assert_eq!((row.rmse, row.minutes, row.speed_up), (None, None, None));
    let row = found("3droad", "ap", pathwise(Start::Warm)).unwrap();
    assert_eq!((row.minutes.unwrap().mean * 100.0).round(), 13083.0);
    assert_eq!(found("pol", "cholesky", standard(Start::Warm, false)), None);
    assert_eq!(found("pol", "cg", standard(Start::Warm, true)), None);
    assert_eq!(found("pol", "cg", pathwise(Start::Extrapolated)), None);
    assert_eq!(found("pol", "cg", GradientEstimator::Exact), None);
    let mut subset = train("pol", Family::Matern32, "cg", standard(Start::Warm, false));
    subset.dataset.subsample = Some(Subsample::Rows(2000));
    assert_eq!(reference.find(&subset, None), None);
}

#[test]
fn errors_and_times_of_two_tables_are_merged() {
    let reference = Reference::named("rtgps2021").unwrap();
    let found = |dataset, solver, gradient| {
        let row = reference.find(&train(dataset, Family::Rbf, solver, gradient), None)?;
        Some([row.rmse, row.nll, row.minutes].map(|figure| figure.map(|figure| figure.mean)))
    };
    let frequencies = Frequencies::MultivariateT;
    let rff = GradientEstimator::Features(FeatureEstimator::Rff { features: 2, frequencies });
    let means = |means: [f64; 3]| Some(means.map(Some));
    assert_eq!(found("pol", "rr-cg", standard(Start::Cold, true)), means([0.112, -0.458, 14.968]));
    assert_eq!(found("bike", "cholesky", GradientEstimator::Exact), means([0.035, -0.984, 34.991]));
    assert_eq!(found("elevators", "cg", rff), means([0.365, 0.780, 0.503]));
    assert_eq!(found("pol", "ap", standard(Start::Cold, false)), None);
    assert_eq!(found("protein", "cholesky", GradientEstimator::Exact), None);
}
/// A learner's case, with a batch size and perhaps a network.
fn learn(dataset: &str, plugin: &str, batch: i64, network: Option<Covariance>) -> Case {
    let mut case = case(dataset, Family::Rbf, plugin);
    case.task = Task::Learn(Box::new(Learning {
        passes: 1,
        looks: vec![1],
        select: ModelSelection::Last,
        patience: 0,
        inducing: None,
        shared_length_scale: false,
        nlml_rows: 4096,
        exact_rows: Learning::EXACT_ROWS,
        variance_rank: None,
        optimum: false,
        grid: None,
    }));
    case.solver.params.insert("batch".to_owned(), ParamValue::Int(batch));
    if let Some(family) = network {
        case.kernel.family = family;
        case.kernel.network =
            Some(NetworkShape { widths: vec![128, 128], activation: Activation::Relu, random: None });
    }
    case
}

#[test]
fn learners_are_compared_by_method_batch_and_kernel() {
    let reference = Reference::named("shoham2025").unwrap();
    let found = |case: &Case| {
        let figures = reference.find(case, None)?;
        Some((figures.nlml.unwrap().mean, figures.rmse.unwrap().mean))
    };
    let (linear, gaussian) = (Some(Covariance::Linear), Some(Family::Rbf.into()));
    assert_eq!(found(&learn("bike", "minimax", 32, linear)), Some((-1.482, 0.099)));
    assert_eq!(found(&learn("pol", "scgd", 64, gaussian)).map(|(_, rmse)| rmse), Some(2.353));
    assert_eq!(found(&learn("bike", "minimax", 16, linear)), None);
    assert_eq!(found(&learn("bike", "minimax", 32, None)), None);
    assert_eq!(found(&learn("bike", "poe", 32, linear)), None);

    let reference = Reference::named("rtgps2021").unwrap();
    let found = |plugin: &str| reference.find(&learn("bike", plugin, 1024, None), None);
    assert_eq!(found("poe").unwrap().rmse.unwrap().mean, 0.071);
    let compares_nll = |plugin: &str, rank: Option<usize>| {
        let mut case = learn("bike", plugin, 1024, None);
        if let Task::Learn(learning) = &mut case.task {
            learning.variance_rank = rank;
        }
        reference.find(&case, None).unwrap().compares_nll
    };
    assert!(compares_nll("svgp", None) && !compares_nll("sggp", None));
    assert!(!compares_nll("sggp", Some(50)) && compares_nll("sggp", Some(100)));
    // A learner is not Cholesky because it has no estimator.
    assert_eq!(found("bsgd"), None);
}
