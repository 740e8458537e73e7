//! Estimates of the likelihood by the program itself, with the real plugins.

use crate::common;
use crate::common::worker::{failure, job, job_of, solve, verify};
use gpbench_record::{
    Case, FeatureEstimator, Frequencies, LikelihoodEstimator, LikelihoodStudy, Metrics, ParamValue,
    PathwiseTargets, PriorSource, ProbeDistribution, Probes, Quadrature, StandardProbes, Task, names,
};

/// Standard errors within which a mean without bias has to lie. Each test looks at three such statistics; one of
/// three normal variables goes beyond 4 by chance in 2e-4 of all choices of seeds. The seeds are fixed.
const STANDARD_ERRORS: f64 = 4.0;

const FREQUENCIES: Frequencies = Frequencies::MultivariateT;

/// Estimates from solutions for these right-hand sides beside y.
fn solutions(probes: Probes, quadrature: Option<Quadrature>) -> LikelihoodEstimator {
    LikelihoodEstimator::Solutions { probes, second_solve: false, quadrature }
}

fn estimates(plugin: &str, method: LikelihoodEstimator, repetitions: u64) -> Case {
    let mut case = common::by(plugin, common::case(200));
    case.task = Task::Likelihood(LikelihoodStudy { estimator: "estimator".into(), method, repetitions });
    case
}

fn metrics(case: Case) -> Metrics {
    let (job, _folder) = job(case, 2);
    solve(&job);
    verify(&job)
}

/// How far the mean of a term lies from the exact one, and its standard error.
fn bias(metrics: &Metrics, term: &str) -> (f64, f64) {
    let value = |name: &str| metrics.get(name).unwrap_or_else(|| panic!("{name} is missing"));
    let off = value(term) - value(&format!("{term}_exact"));
    (off, value(&format!("{term}_standard_error")))
}

fn is_unbiased(metrics: &Metrics) {
    for term in [names::QUADRATIC, names::LOG_DET] {
        let (off, error) = bias(metrics, term);
        assert!(off.abs() <= STANDARD_ERRORS * error, "{term}: {off} against {error}");
    }
    let z = metrics.get(names::GRADIENT_Z).unwrap();
    assert!(z <= STANDARD_ERRORS, "gradient: {z} standard errors");
}

#[test]
fn truncated_conjugate_gradients_underfit() {
    let probes = StandardProbes { probes: 16, distribution: ProbeDistribution::Rademacher };
    let method = solutions(Probes::Standard(probes), Some(Quadrature::Fixed { nodes: 4 }));
    let mut case = estimates("cg", method, 12);
    case.solver.params.insert("max_iterations".into(), ParamValue::Int(4));
    let metrics = metrics(case);
    let (off, error) = bias(&metrics, names::QUADRATIC);
    assert!(off < 0.0 && error < 1e-10, "{off} {error}: y is the same in every repetition");
    let (off, error) = bias(&metrics, names::LOG_DET);
    assert!(off > 3.0 * error, "{off} {error}");
    assert_eq!(metrics.get(names::REPETITIONS), Some(12.0));
    assert!(metrics.get(names::LOG_MARGINAL_LIKELIHOOD).is_some());
}

/// No bit of an estimate changes where entries are cached.
#[test]
fn kernel_entries_are_cached_within_the_memory_budget() {
    let study = |memory_bytes| {
        let mut case = estimates("cg", solutions(common::standard(4), None), 2);
        case.budget.memory_bytes = memory_bytes;
        let (job, _folder) = job(case, 2);
        let (_, solved) = solve(&job);
        (solved, std::fs::read(&job.solution_file).unwrap())
    };
    let ((without, estimates), (with, same)) = (study(None), study(Some(1 << 30)));
    assert!(without.cached_bytes == 0 && with.cached_bytes > 0);
    assert!(with.entries.evaluated < without.entries.evaluated);
    assert!(same == estimates);
}

#[test]
fn random_truncation_has_no_bias() {
    let quadrature = Some(Quadrature::Random { min: 10, rate: 0.1 });
    let probes = common::standard(4);
    let method = LikelihoodEstimator::Solutions { probes, second_solve: true, quadrature };
    let mut case = estimates("rr-cg", method, 60);
    for (name, value) in [("lambda", ParamValue::Float(0.1)), ("min_iterations", ParamValue::Int(10))] {
        case.solver.params.insert(name.into(), value);
    }
    case.solver.params.insert("reorthogonalise".into(), ParamValue::Bool(true));
    is_unbiased(&metrics(case));
}

#[test]
fn features_overfit_and_a_single_sample_has_no_bias() {
    let estimator = FeatureEstimator::Rff { features: 40, frequencies: FREQUENCIES };
    let found = metrics(estimates("cholesky", LikelihoodEstimator::Features(estimator), 40));
    let ((quadratic, error), (log_det, other)) =
        (bias(&found, names::QUADRATIC), bias(&found, names::LOG_DET));
    assert!(quadratic > 3.0 * error, "{quadratic} {error}");
    assert!(log_det < -3.0 * other, "{log_det} {other}");

    let estimator = FeatureEstimator::SsRff { features: 40, step: 40, frequencies: FREQUENCIES };
    is_unbiased(&metrics(estimates("cholesky", LikelihoodEstimator::Features(estimator), 200)));
}

#[test]
fn estimates_by_features_load_no_library() {
    let estimator = FeatureEstimator::Rff { features: 40, frequencies: FREQUENCIES };
    let case = estimates("cholesky", LikelihoodEstimator::Features(estimator), 2);
    let (job, _folder) = job_of(case, "/there/is/no/such/library.so".into(), 1);
    solve(&job);
    assert_eq!(verify(&job).get(names::REPETITIONS), Some(2.0));
}

#[test]
fn pathwise_targets_make_estimates_too() {
    let probes = Probes::Pathwise(PathwiseTargets { probes: 4, prior: PriorSource::Exact });
    let metrics =
        metrics(estimates("cholesky", solutions(probes, Some(Quadrature::Fixed { nodes: 60 })), 30));
    let (off, error) = bias(&metrics, names::QUADRATIC);
    assert!(off.abs() < 1e-9 && error < 1e-9, "{off} {error}");
    assert!(metrics.get(names::GRADIENT_Z).unwrap() <= STANDARD_ERRORS);
}

#[test]
fn impossible_estimates_are_refused() {
    let (_, reason) = failure(&job(estimates("cholesky", solutions(common::standard(4), None), 0), 1).0);
    assert_eq!(reason, "0 estimates cannot be made");
    let estimator = FeatureEstimator::Rff { features: 3, frequencies: FREQUENCIES };
    let case = estimates("cholesky", LikelihoodEstimator::Features(estimator), 2);
    assert!(failure(&job(case, 1).0).1.contains("they come in pairs"));
}
