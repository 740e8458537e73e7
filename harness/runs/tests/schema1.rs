//! Run folders of schema 1, as gpbench wrote them: read as what they meant.
//!
//! Curves and traces in the fixtures are cut to a few points.

use std::path::{Path, PathBuf};

use gpbench_record::{
    CaseStatus, FeatureEstimator, Frequencies, GradientEstimator, Inducing, LikelihoodEstimator, ParamValue,
    PathwiseTargets, PriorSource, ProbeDistribution, Probes, Quadrature, RateSchedule, Row, Scale,
    StandardProbes, Start, Task, names,
};
use gpbench_runs::{PlanFile, RunRecord};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/schema1").join(name)
}

/// The run of this name, whose plan and rows must agree.
fn open(name: &str) -> RunRecord {
    let record = RunRecord::open(folder(name)).unwrap();
    assert_eq!((record.name.as_str(), record.missing.len(), record.environments.len()), (name, 0, 1));
    assert!(record.damaged.is_empty() && !record.truncated, "{:?}", record.damaged);
    let plan = PlanFile::read(&folder(name)).unwrap();
    for row in &record.rows {
        let planned = plan.cases.iter().find(|entry| entry.id == row.id).unwrap();
        assert_eq!((&planned.case, &planned.labels), (&row.case, &row.labels));
        assert_eq!((row.status, row.case.labels()), (CaseStatus::Ok, row.labels.clone()));
    }
    record
}

/// The row of an estimator and a solver.
fn row<'a>(record: &'a RunRecord, estimator: &str, solver: &str) -> &'a Row {
    let is = |row: &&Row| row.labels.estimator.as_deref() == Some(estimator) && row.labels.solver == solver;
    record.rows.iter().find(is).unwrap()
}

const FEATURES: PriorSource = PriorSource::Features { features: 32, frequencies: Frequencies::MultivariateT };

#[test]
fn solves() {
    let record = open("solve");
    let probes = |estimator| match &row(&record, estimator, "cg").case.task {
        Task::Solve(solve) => solve.probes,
        other => panic!("{other:?}"),
    };
    let standard = |distribution| Probes::Standard(StandardProbes { probes: 2, distribution });
    let pathwise = |prior| Probes::Pathwise(PathwiseTargets { probes: 2, prior });
    assert_eq!(probes("standard"), standard(ProbeDistribution::Normal));
    assert_eq!(probes("rademacher"), standard(ProbeDistribution::Rademacher));
    assert_eq!(
        probes("pathwise"),
        pathwise(PriorSource::Features { features: 32, frequencies: Frequencies::ProductT })
    );
    assert_eq!(probes("exact-draws"), pathwise(PriorSource::Exact));
    let residual = row(&record, "standard", "cg").metrics.get(names::RESIDUAL_Y).unwrap();
    assert!(residual < 1e-6);
    // The spec says `solver = "cg"`, which is not a list.
    assert_eq!((record.axes.solver, record.axes.dataset), (vec!["cg".into()], vec!["toy-grid".into()]));
    let order: Vec<_> = record.rows.iter().map(|row| row.labels.estimator.as_deref().unwrap()).collect();
    assert_eq!(order, ["standard", "rademacher", "pathwise", "exact-draws"]);
}

#[test]
fn posteriors() {
    let record = open("posterior");
    assert_eq!(record.report.baseline.as_deref(), Some("cg"));
    let first = &record.rows[0].labels;
    assert_eq!((first.dataset.as_str(), first.solver.as_str()), ("draw", "cholesky"));
    let posterior = |row: &Row| match &row.case.task {
        Task::Posterior(posterior) => posterior.clone(),
        other => panic!("{other:?}"),
    };
    for row in &record.rows {
        assert_eq!(posterior(row).targets, PathwiseTargets { probes: 2, prior: FEATURES });
        assert_eq!(row.output.curve().is_some(), row.labels.dataset == "toy-sine");
    }
    for (solver, inducing) in [
        ("sgd-subset", Inducing::Subset { points: 10 }),
        ("sgd-kmeans", Inducing::Kmeans { points: 10 }),
        ("sgd-neighbours", Inducing::Neighbours { distance: 0.1, neighbours: 5 }),
    ] {
        assert_eq!(posterior(row(&record, "pathwise", solver)).inducing, Some(inducing));
    }
    let mine = record.rows.iter().find(|row| row.labels.dataset == "mine").unwrap();
    assert!(mine.case.dataset.fractions.is_some() && mine.case.dataset.subsample.is_some());
    assert_eq!(mine.case.kernel.origin.to_string(), "given");
}

#[test]
fn trainings() {
    let record = open("train");
    let solutions =
        |probes, second_solve, start| GradientEstimator::Solutions { probes, second_solve, start };
    let targets = |prior| PathwiseTargets { probes: 2, prior };
    let standard = Probes::Standard(StandardProbes { probes: 2, distribution: ProbeDistribution::Normal });
    let frequencies = Frequencies::MultivariateT;
    let many = PriorSource::Features { features: 2000, frequencies };
    let rff = FeatureEstimator::Rff { features: 16, frequencies };
    let ss_rff = FeatureEstimator::SsRff { features: 8, step: 2, frequencies };
    for (estimator, gradient, prior) in [
        ("exact", GradientEstimator::Exact, FEATURES),
        ("standard", solutions(standard, false, Start::Cold), FEATURES),
        ("standard-second", solutions(standard, true, Start::Cold), FEATURES),
        ("pathwise-warm", solutions(Probes::Pathwise(targets(FEATURES)), false, Start::Warm), FEATURES),
        (
            "pathwise-extrapolated",
            solutions(Probes::Pathwise(targets(PriorSource::Exact)), false, Start::Extrapolated),
            PriorSource::Exact,
        ),
        ("rff", GradientEstimator::Features(rff), many),
        ("ss-rff", GradientEstimator::Features(ss_rff), many),
    ] {
        let row = row(&record, estimator, "cg");
        let Task::Train(training) = &row.case.task else { panic!("{:?}", row.case.task) };
        assert_eq!(
            (training.gradient, training.prediction.targets),
            (gradient, targets(prior)),
            "{estimator}"
        );
        assert_eq!(training.prediction.params["max_iterations"], ParamValue::Int(40));
        assert_eq!(
            (training.steps, training.shared_length_scale, &*training.fixed),
            (2, true, &[Scale::SignalScale][..])
        );
        assert_eq!(training.schedule, RateSchedule::MultiStep { milestones: vec![1], factor: 0.5 });
        let output = row.output.training().unwrap();
        assert_eq!((output.steps.len(), row.metrics.get(names::STEPS)), (2, Some(2.0)));
        assert!(output.hyperparameters.contains_key("length_scale") && output.curve.is_some());
        assert_eq!(output.landscape.is_some(), estimator == "exact");
        assert_eq!(training.landscape.is_some(), estimator == "exact");
    }
}

#[test]
fn likelihoods() {
    let record = open("likelihood");
    let study = |estimator, solver| match &row(&record, estimator, solver).case.task {
        Task::Likelihood(study) => study.clone(),
        other => panic!("{other:?}"),
    };
    let pathwise = PriorSource::Features { features: 16, frequencies: Frequencies::MultivariateT };
    let standard = Probes::Standard(StandardProbes { probes: 2, distribution: ProbeDistribution::Normal });
    for (solver, quadrature) in [
        ("cg", None),
        ("cg-fixed", Some(Quadrature::Fixed { nodes: 5 })),
        ("cg-random", Some(Quadrature::Random { min: 3, rate: 0.5 })),
    ] {
        for (estimator, probes, second_solve) in [
            ("standard", standard, false),
            ("standard-second", standard, true),
            ("pathwise", Probes::Pathwise(PathwiseTargets { probes: 2, prior: pathwise }), false),
        ] {
            let study = study(estimator, solver);
            let expected = LikelihoodEstimator::Solutions { probes, second_solve, quadrature };
            assert_eq!((study.method, study.repetitions), (expected, 3), "{estimator} {solver}");
        }
    }
    let frequencies = Frequencies::MultivariateT;
    let features = FeatureEstimator::SsRff { features: 8, step: 2, frequencies };
    assert_eq!(study("ss-rff", "cg").method, LikelihoodEstimator::Features(features));
    let features = FeatureEstimator::Rff { features: 16, frequencies };
    assert_eq!(study("rff", "cg").method, LikelihoodEstimator::Features(features));
}
