//! Estimates of the likelihood by the program itself, with the real plugins where they stand beside it.

// Helpers of tests are tests too.
#![allow(clippy::unwrap_used)]

mod common;

use common::worker::{failure, job, library, solve, verify};
use gpbench_record::{Case, EstimatorMethod, Metrics, Param, ProbeDistribution, Quadrature, Task, names};

/// Standard errors within which a mean without bias has to lie. Each test looks at three such statistics; one of
/// three normal variables goes beyond 4 by chance in 2e-4 of all choices of seeds. The seeds are fixed.
const STANDARD_ERRORS: f64 = 4.0;

fn estimates(plugin: &str, method: EstimatorMethod, repetitions: u64) -> Case {
    let mut case = common::case(200);
    case.task = Task::Likelihood;
    case.solver = common::solver(plugin);
    case.estimator.method = method;
    case.estimator.probes = 4;
    case.repetitions = Some(repetitions);
    case
}

fn metrics(case: Case) -> Option<Metrics> {
    let plugin = library(&case.solver.plugin.replace('-', "_"))?;
    let (job, _folder) = job(case, plugin, 2);
    solve(&job);
    Some(verify(&job))
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
    let mut case = estimates("cg", EstimatorMethod::Standard, 12);
    case.estimator.probes = 16;
    case.estimator.probe_distribution = ProbeDistribution::Rademacher;
    case.solver.params.insert("max_iterations".into(), Param::Int(4));
    case.solver.quadrature = Some(Quadrature::Fixed { nodes: 4 });
    let Some(metrics) = metrics(case) else { return };
    let (off, error) = bias(&metrics, names::QUADRATIC);
    assert!(off < 0.0 && error < 1e-10, "{off} {error}: y is the same in every repetition");
    let (off, error) = bias(&metrics, names::LOG_DET);
    assert!(off > 3.0 * error, "{off} {error}");
    assert_eq!(metrics.get(names::REPETITIONS), Some(12.0));
    assert!(metrics.get(names::LOG_MARGINAL_LIKELIHOOD).is_some());
}

/// No bit of an estimate changes where entries stay in memory.
#[test]
fn kernel_entries_are_kept_within_the_memory_budget() {
    let Some(plugin) = library("cg") else { return };
    let study = |memory_bytes| {
        let mut case = estimates("cg", EstimatorMethod::Standard, 2);
        case.budget.memory_bytes = memory_bytes;
        let (job, _folder) = job(case, plugin.clone(), 2);
        let (_, solved) = solve(&job);
        (solved, std::fs::read(&job.solution_file).unwrap())
    };
    let ((without, estimates), (with, same)) = (study(None), study(Some(1 << 30)));
    assert!(without.kept_bytes == 0 && with.kept_bytes > 0);
    assert!(with.entries.evaluated < without.entries.evaluated);
    assert!(same == estimates);
}

#[test]
fn random_truncation_has_no_bias() {
    let mut case = estimates("rr-cg", EstimatorMethod::Standard, 60);
    case.estimator.second_solve = true;
    for (name, value) in [("lambda", Param::Float(0.1)), ("min_iterations", Param::Int(10))] {
        case.solver.params.insert(name.into(), value);
    }
    case.solver.params.insert("reorthogonalise".into(), Param::Bool(true));
    case.solver.quadrature = Some(Quadrature::Random { min: 10, rate: 0.1 });
    let Some(metrics) = metrics(case) else { return };
    is_unbiased(&metrics);
}

#[test]
fn features_overfit_and_a_single_sample_has_no_bias() {
    let mut case = estimates("cholesky", EstimatorMethod::Rff, 40);
    case.estimator.features = 40;
    let Some(found) = metrics(case.clone()) else { return };
    let ((quadratic, error), (log_det, other)) =
        (bias(&found, names::QUADRATIC), bias(&found, names::LOG_DET));
    assert!(quadratic > 3.0 * error, "{quadratic} {error}");
    assert!(log_det < -3.0 * other, "{log_det} {other}");

    case.estimator.method = EstimatorMethod::SsRff;
    case.estimator.feature_step = 40;
    case.repetitions = Some(200);
    is_unbiased(&metrics(case).unwrap());
}

#[test]
fn pathwise_targets_make_estimates_too() {
    let mut case = estimates("cholesky", EstimatorMethod::Pathwise, 30);
    case.estimator.frequencies = gpbench_record::Frequencies::Exact;
    case.solver.quadrature = Some(Quadrature::Fixed { nodes: 60 });
    let Some(metrics) = metrics(case) else { return };
    let (off, error) = bias(&metrics, names::QUADRATIC);
    assert!(off.abs() < 1e-9 && error < 1e-9, "{off} {error}");
    assert!(metrics.get(names::GRADIENT_Z).unwrap() <= STANDARD_ERRORS);
}

#[test]
fn what_cannot_be_estimated_is_said() {
    let Some(plugin) = library("cholesky") else { return };
    let mut case = estimates("cholesky", EstimatorMethod::Standard, 2);
    case.repetitions = None;
    let (_, reason) = failure(&job(case, plugin.clone(), 1).0);
    assert_eq!(reason, "the case does not say how often to estimate");
    let mut case = estimates("cholesky", EstimatorMethod::Rff, 2);
    case.estimator.features = 3;
    assert!(failure(&job(case, plugin, 1).0).1.contains("they come in pairs"));
}
