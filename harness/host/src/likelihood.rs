//! Task `likelihood`: estimates of the marginal likelihood and its gradient, again and again.
//!
//! Each repetition draws its probes or frequencies afresh and lets a new object of the solver solve, with a
//! seed of its own; or it takes random features in the kernel's place, and needs no solver. What is found
//! stands in the solution file, a row a repetition: `y^T H^-1 y`, `log |H|` (not a number where the solver
//! has no quadrature), and the derivatives by noise, signal and length scales. Verification compares the
//! rows with the exact process, which it fits itself.

use std::sync::Arc;

use gpbench_data::Split;
use gpbench_gp::exact::{ExactGp, Gradient};
use gpbench_gp::likelihood::{self, Likelihood, Truncation};
use gpbench_gp::metrics::norm;
use gpbench_gp::thread_pool;
use gpbench_record::{
    Case, Clock, Entries, Failure, Job, Metrics, Quadrature, Solved, Status, StopReason, names,
};
use ndarray::{Array1, Array2, ArrayView1, ShapeBuilder, s};
use rand::Rng;
use rayon::ThreadPool;

use crate::case::{failure, invalid, keep_entries};
use crate::estimate;
use crate::plugin::{HostTable, Library, Session, SolverEntry, SolverObject, Terms};
use crate::process;
use crate::solution;
use crate::system::{self, System};

/// Columns of the solution file before the derivatives.
const TERMS: usize = 2;

/// Estimates, and says how it went.
pub(crate) fn run(job: &Job) -> Result<Solved, Failure> {
    let case = &job.case;
    let repetitions = repetitions(case)?;
    if case.solver.inducing.is_some() || case.dataset.collapse_duplicates {
        let what = "estimates of the likelihood take neither inducing points nor collapsed duplicates";
        return Err(invalid(what));
    }
    let data = system::rows(&case.dataset, case.seed, job.dataset_file.as_deref()).map_err(invalid)?;
    let (n, d) = data.x_train.dim();
    let mut study = Study {
        job,
        data: Arc::new(data),
        pool: thread_pool(job.threads),
        solved: Solved {
            n,
            d,
            reason: StopReason::Iterations,
            iterations: 0,
            claimed: Vec::new(),
            prepare: Clock::default(),
            solve: Clock::default(),
            entries: Entries::default(),
            peak_memory_bytes: 0,
            base_memory_bytes: process::peak_memory_bytes(),
            kept_bytes: 0,
            startup_seconds: process::seconds_since_start(),
            pose_seconds: 0.0,
            values: Default::default(),
            trained: None,
        },
        features: 0,
    };
    let mut estimates = Array2::from_elem((repetitions, TERMS + 2 + d), f64::NAN);
    if case.estimator.method.is_of_features() {
        for (repetition, mut row) in (0..).zip(estimates.rows_mut()) {
            row.assign(&flat(&study.of_features(repetition)?));
        }
        let mean = study.features as f64 / repetitions as f64;
        study.solved.values.insert(names::FEATURES.to_owned(), mean);
    } else {
        let library =
            Library::load(&job.plugin_file, HostTable::new(Some(study.pool.clone()))).map_err(invalid)?;
        let entry = library.solver(&case.solver.plugin).map_err(invalid)?;
        for (repetition, mut row) in (0..).zip(estimates.rows_mut()) {
            row.assign(&flat(&study.of_solutions(entry, library.host(), repetition)?));
        }
    }
    solution::write(&job.solution_file, estimates.view()).map_err(invalid)?;
    study.solved.peak_memory_bytes = process::peak_memory_bytes();
    Ok(study.solved)
}

/// How many estimates a case makes.
fn repetitions(case: &Case) -> Result<usize, Failure> {
    let asked = case.repetitions.and_then(|count| usize::try_from(count).ok()).filter(|&count| count > 0);
    asked.ok_or_else(|| invalid("the case does not say how often to estimate"))
}

/// What all repetitions have in common, and what they sum up.
struct Study<'a> {
    job: &'a Job,
    data: Arc<Split>,
    pool: Arc<ThreadPool>,
    solved: Solved,
    /// Random features taken by all repetitions.
    features: usize,
}

impl Study<'_> {
    fn of_features(&mut self, repetition: u64) -> Result<Likelihood, Failure> {
        let began = process::now();
        let (likelihood, taken) =
            estimate::likelihood_of_features(&self.job.case, &self.data, &self.pool, repetition)?;
        let ended = process::now();
        self.features += taken;
        self.solved.solve.wall += ended.wall - began.wall;
        self.solved.solve.cpu += ended.cpu - began.cpu;
        Ok(likelihood)
    }

    fn of_solutions(
        &mut self,
        entry: &SolverEntry,
        host: &'static HostTable,
        repetition: u64,
    ) -> Result<Likelihood, Failure> {
        let case = &self.job.case;
        let (data, pool) = (&self.data.clone(), &self.pool.clone());
        let pose =
            |case: &Case| System::pose(case, data.clone(), pool.clone(), Some(repetition)).map_err(invalid);
        let mut system = pose(case)?;
        let x = self.solve(&mut system, entry, host, &format!("solver/{repetition}"))?;
        let again = match case.estimator.second_solve {
            false => None,
            true => {
                let mut alone = case.clone();
                alone.estimator.probes = 0;
                Some(self.solve(&mut pose(&alone)?, entry, host, &format!("solver/{repetition}/again"))?)
            }
        };
        let gradient = estimate::gradient(&system, case.estimator.method, x.view(), again.as_ref());
        let log_det = match case.solver.quadrature {
            None => f64::NAN,
            Some(quadrature) => log_det(&system, quadrature, repetition)?,
        };
        let v = x.column(0);
        Ok(Likelihood { quadratic: system.data.y_train.dot(&v), log_det, by_mean: v.sum(), gradient })
    }

    /// Solves from zero, with an object of its own.
    fn solve(
        &mut self,
        system: &mut System,
        entry: &SolverEntry,
        host: &'static HostTable,
        stream: &str,
    ) -> Result<Array2<f64>, Failure> {
        let Case { solver, budget, .. } = &self.job.case;
        let mut object = SolverObject::create(entry, host, &solver.params).map_err(failure)?;
        let solved = &mut self.solved;
        keep_entries(&object, system, self.job, solved.base_memory_bytes)?;
        let terms = Terms {
            tolerance: budget.tolerance,
            max_epochs: budget.max_epochs,
            seconds: budget.seconds.map(|seconds| seconds - solved.prepare.wall - solved.solve.wall),
            threads: self.job.threads,
            seed: system.streams.stream(stream).next_u64(),
        };
        let mut x = Array2::zeros((system.n(), system.columns()).f());
        let observer = &mut ();
        let ending =
            object.run(&Session::new(system, terms, process::now, observer), &mut x).map_err(failure)?;
        solved.kept_bytes = solved.kept_bytes.max(system.kept_bytes() as u64);
        solved.iterations += ending.iterations;
        solved.reason = ending.reason;
        solved.prepare = solved.prepare.plus(ending.prepare);
        solved.solve = solved.solve.plus(ending.solve);
        solved.entries = solved.entries.plus(ending.entries);
        Ok(x)
    }
}

/// An estimate of `log |H|` from the standard probes of the system, or else from as many of its own.
fn log_det(system: &System, quadrature: Quadrature, repetition: u64) -> Result<f64, Failure> {
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
    let estimate = likelihood::log_det(&system.operator, probes.view(), &truncation);
    estimate.ok_or_else(|| Failure {
        status: Status::Diverged,
        reason: "the kernel matrix with noise is not positive definite in double precision".to_owned(),
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

/// Compares the estimates of a case, as they stand in its solution file, with the exact terms.
pub(crate) fn verify(job: &Job) -> Result<Metrics, Failure> {
    let case = &job.case;
    let system = System::build(case, job.dataset_file.as_deref(), job.threads).map_err(invalid)?;
    let (repetitions, columns) = (repetitions(case)?, TERMS + 2 + system.d());
    let estimates = solution::read(&job.solution_file, repetitions, columns).map_err(invalid)?;
    let (x, y) = (system.data.x_train.view(), system.data.y_train.view());
    let (kernel, noise_scale) = (system.operator.kernel(), system.operator.noise_scale());
    let gp = ExactGp::fit(kernel, noise_scale, x, y, job.threads).map_err(invalid)?;
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
    Ok(found)
}

/// The mean of independent numbers.
struct Mean {
    mean: f64,
    /// Not a number of fewer than two.
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
