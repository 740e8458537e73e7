//! Task `likelihood`: repeated estimates of the marginal likelihood and its gradient.
//!
//! Each repetition draws its own probes or frequencies and lets a new object of the solver solve, with its
//! own seed; or it uses random features in place of the kernel, and needs no solver. The solution file
//! contains the estimates, one row per repetition: `y^T H^-1 y`, `log |H|` (NaN where the case
//! has no quadrature), and the derivatives by noise, signal and length scales. Verification compares the
//! rows with the exact process, which it fits itself.

use gpbench_gp::exact::ExactGp;
use gpbench_gp::likelihood::{self, Likelihood, Truncation};
use gpbench_gp::metrics::norm;
use gpbench_gp::{Arithmetic, Gradient};
use gpbench_host::difference;
use gpbench_record::{
    CaseStatus, Failure, FaultCause, FeatureEstimator, LikelihoodEstimator, LikelihoodStudy, Message,
    Metrics, Probes, Quadrature, Solved, StopReason, TaskOutput, Verified, names,
};
use ndarray::{Array1, Array2, ArrayView1, ShapeBuilder, s};
use rand::Rng;

use crate::failure::{CaseError, file_fault, invalid};
use crate::kernel::kernel;
use crate::runner::{Runner, Startup};
use crate::setup::Setup;
use crate::system::{NO_PROBES, System};
use crate::{estimate, process, solution};
use gpbench_host::{SolveLimits, SolveOutcome};

/// Columns of the solution file before the derivatives.
const TERMS: usize = 2;

/// Computes the task's number of estimates.
pub(super) fn run(
    setup: &Setup,
    task: &LikelihoodStudy,
    send: &mut dyn FnMut(Message),
) -> Result<Solved, CaseError> {
    let repetitions = repetitions(task)?;
    if setup.rows.dataset.collapse_duplicates {
        return Err(invalid("estimates of the likelihood do not take collapsed duplicates"));
    }
    let mut estimates = Array2::from_elem((repetitions, TERMS + 2 + setup.rows.d()), f64::NAN);
    let solved = match task.method {
        LikelihoodEstimator::Features(estimator) => by_features(setup, estimator, &mut estimates)?,
        LikelihoodEstimator::Solutions { probes, second_solve, quadrature } => {
            let runner = Runner::load(setup, send)?;
            let mut study = Study {
                setup,
                runner,
                outcome: SolveOutcome::without_a_solve(StopReason::Iterations),
                cached_bytes: 0,
            };
            for (repetition, mut row) in (0..).zip(estimates.rows_mut()) {
                row.assign(&flat(&study.estimate(probes, second_solve, quadrature, repetition)?));
            }
            study.runner.solved(study.outcome, study.cached_bytes, TaskOutput::Likelihood)
        }
    };
    solution::write(&setup.job.solution_file, estimates.view()).map_err(file_fault(FaultCause::Storage))?;
    Ok(solved)
}

/// Computes estimates by random features, which need no solver and load no library.
fn by_features(
    setup: &Setup,
    estimator: FeatureEstimator,
    estimates: &mut Array2<f64>,
) -> Result<Solved, CaseError> {
    let startup = Startup::end(setup);
    let (mut outcome, mut features, repetitions) =
        (SolveOutcome::without_a_solve(StopReason::Iterations), 0, estimates.nrows());
    for (repetition, mut row) in (0..).zip(estimates.rows_mut()) {
        let began = process::now();
        let kernel = &setup.kernel;
        let (likelihood, taken) = estimate::likelihood_of_features(setup, kernel, estimator, repetition)?;
        features += taken;
        outcome.cost.solve = outcome.cost.solve.plus(difference(process::now(), began));
        row.assign(&flat(&likelihood));
    }
    outcome.values.insert(names::FEATURES.to_owned(), features as f64 / repetitions as f64);
    Ok(startup.solved(outcome, 0, TaskOutput::Likelihood))
}

fn repetitions(task: &LikelihoodStudy) -> Result<usize, CaseError> {
    let count = usize::try_from(task.repetitions).ok().filter(|&count| count > 0);
    count.ok_or_else(|| invalid(format!("{} estimates cannot be made", task.repetitions)))
}

/// Data shared by all repetitions with a solver, and sums over the repetitions.
struct Study<'s> {
    setup: &'s Setup<'s>,
    runner: Runner<'s>,
    outcome: SolveOutcome,
    cached_bytes: usize,
}

impl Study<'_> {
    fn estimate(
        &mut self,
        probes: Probes,
        second_solve: bool,
        quadrature: Option<Quadrature>,
        repetition: u64,
    ) -> Result<Likelihood, CaseError> {
        let setup = self.setup;
        let build = |probes| setup.system(&setup.kernel, probes, Some(repetition), None);
        let mut system = build(probes)?;
        let x = self.solve(&mut system, &format!("solver/{repetition}"))?;
        let again = match second_solve {
            false => None,
            true => Some(self.solve(&mut build(NO_PROBES)?, &format!("solver/{repetition}/again"))?),
        };
        let gradient = estimate::gradient(&system, probes, x.view(), again.as_ref(), Arithmetic::F64);
        let log_det = match quadrature {
            None => f64::NAN,
            Some(quadrature) => log_det(&system, quadrature, repetition)?,
        };
        let v = x.column(0);
        Ok(Likelihood { quadratic: system.data.y_train.dot(&v), log_det, by_mean: v.sum(), gradient })
    }

    /// Solves from zero with a new object.
    fn solve(&mut self, system: &mut System, stream: &str) -> Result<Array2<f64>, CaseError> {
        let limits = self.runner.limits(system, stream);
        let seconds = limits.seconds.map(|seconds| seconds - self.outcome.cost.seconds());
        let mut x = Array2::zeros((system.n(), system.columns()).f());
        let params = &self.setup.job.case.solver.params;
        let outcome = self.runner.solve(params, system, &mut x, SolveLimits { seconds, ..limits }, None)?;
        self.cached_bytes = self.cached_bytes.max(system.view().matrix.cached_bytes());
        (self.outcome.reason, self.outcome.stop_reason) = (outcome.reason, outcome.stop_reason);
        self.outcome.cost = self.outcome.cost.plus(outcome.cost);
        Ok(x)
    }
}

/// An estimate of `log |H|` from the standard probes of the system, or else from the same number of its own probes.
fn log_det(system: &System, quadrature: Quadrature, repetition: u64) -> Result<f64, CaseError> {
    let streams = system.streams.further(&format!("quadrature {repetition}"));
    let truncation = match quadrature {
        Quadrature::Fixed { nodes } => Truncation::Fixed { terms: nodes },
        Quadrature::Random { min, rate } => {
            Truncation::Random { min, rate, seed: streams.stream("truncation").next_u64() }
        }
    };
    let probes = match system.targets.noise.ncols() {
        0 => system.targets.rhs.slice(s![.., 1..]).to_owned(),
        count => streams.normals("probes", system.n(), count),
    };
    let estimate = likelihood::log_det(&*system.operator, probes.view(), &truncation);
    estimate.ok_or_else(|| {
        let reason = "the kernel matrix with noise is not positive definite in double precision".to_owned();
        Failure { status: CaseStatus::Diverged, reason }.into()
    })
}

/// A row of the solution file.
fn flat(likelihood: &Likelihood) -> Array1<f64> {
    let Likelihood { quadratic, log_det, by_mean: _, gradient } = likelihood;
    [*quadratic, *log_det].into_iter().chain(derivatives(gradient)).collect()
}

fn derivatives(gradient: &Gradient) -> impl Iterator<Item = f64> + '_ {
    let scales = [gradient.noise_scale, gradient.signal_scale];
    scales.into_iter().chain(gradient.length_scale.iter().copied())
}

/// Compares the estimates of a case, as they are in its solution file, with the exact terms.
pub(super) fn verify(setup: &Setup, task: &LikelihoodStudy) -> Result<Verified, CaseError> {
    let Setup { job, rows, .. } = setup;
    let (repetitions, columns) = (repetitions(task)?, TERMS + 2 + rows.d());
    let estimates =
        solution::read(&job.solution_file, repetitions, columns).map_err(file_fault(FaultCause::Solution))?;
    let data = rows.subtract_mean(&setup.kernel);
    let (x, y) = (data.x_train.view(), data.y_train.view());
    let kernel = kernel(&setup.kernel, rows.d())?;
    let gp = ExactGp::fit(&kernel, setup.kernel.noise_scale, x, y, job.threads)?;
    let exact = Likelihood::exact(&gp, x);

    let mut found = Metrics::default();
    found.insert(names::REPETITIONS, repetitions as f64);
    found.insert(names::LOG_MARGINAL_LIKELIHOOD, gp.log_marginal_likelihood);
    found.insert(names::QUADRATIC_EXACT, exact.quadratic);
    found.insert(names::LOG_DET_EXACT, exact.log_det);
    let term = |column: usize| Mean::of(estimates.column(column));
    let (quadratic, log_det) = (term(0), term(1));
    found.insert(names::QUADRATIC, quadratic.mean);
    found.insert(names::QUADRATIC_ERROR, quadratic.standard_error);
    found.insert(names::LOG_DET, log_det.mean);
    found.insert(names::LOG_DET_ERROR, log_det.standard_error);

    let exact: Array1<f64> = derivatives(&exact.gradient).collect();
    let means: Vec<Mean> = (TERMS..columns).map(term).collect();
    let bias: Array1<f64> = means.iter().zip(&exact).map(|(mean, exact)| mean.mean - exact).collect();
    let errors: Array1<f64> = means.iter().map(|mean| mean.standard_error).collect();
    found.insert(names::GRADIENT_BIAS, norm(bias.view()) / norm(exact.view()));
    found.insert(names::GRADIENT_ERROR, norm(errors.view()) / norm(exact.view()));
    let z = bias.iter().zip(&errors).map(|(bias, error)| bias.abs() / error);
    found.insert(names::GRADIENT_Z, z.fold(0.0, f64::max));
    Ok(Verified { metrics: found, ..Verified::default() })
}

/// The mean of independent numbers.
struct Mean {
    mean: f64,
    /// Standard error of the mean; NaN for fewer than two numbers.
    standard_error: f64,
}

impl Mean {
    fn of(values: ArrayView1<f64>) -> Mean {
        let count = values.len() as f64;
        let mean = values.sum() / count;
        let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
        Mean { mean, standard_error: (squares / (count - 1.0) / count).sqrt() }
    }
}
