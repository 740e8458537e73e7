//! The linear systems of a case: operator, right-hand sides, and the system that a solver receives.
//!
//! Running and verifying a case build the same systems in two processes and get the same numbers: every random
//! stream is keyed by the seed, the rows and the kernel's family, and by nothing that depends on the solver.
//! Two kernels of one family use the same standard normal numbers, scaled differently.

mod drawn_features;
mod feature_products;
mod linear_system;

use std::sync::Arc;

use gpbench_data::Split;
use gpbench_gp::inducing::{self, Selection, SelectionError};
use gpbench_gp::pathwise::{self, Prior, PriorError, ProbeLaw, Targets};
use gpbench_gp::seed::Streams;
use gpbench_gp::{Kernel, KernelMatrix, KernelOperator, RandomFeatures, SystemMatrix};
use gpbench_record::{self as record, Inducing, ProbeDistribution, Probes, StandardProbes};
use ndarray::{Array2, ArrayView1, ArrayView2, CowArray, Ix2, ShapeBuilder};
use rayon::ThreadPool;
use thiserror::Error;

use crate::collapse::Collapse;
use crate::kernel::{KernelError, kernel};
use crate::rows::Rows;

pub use drawn_features::DrawnFeatures;

/// Reason why a system cannot be built.
#[derive(Debug, Error)]
pub enum SystemError {
    /// The hyperparameters are invalid for any kernel.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// The number of random features is odd or 0.
    #[error("{count} random features were asked for; they come in pairs")]
    Features {
        /// Number of features requested.
        count: usize,
    },
    /// The inducing points cannot be chosen.
    #[error(transparent)]
    Inducing(#[from] SelectionError),
    /// Two formulations are requested at once.
    #[error("inducing points cannot be combined with a data set of collapsed duplicates")]
    InducingAndCollapsed,
    /// The exact prior draw failed.
    #[error("the prior cannot be drawn exactly: {0}")]
    Prior(#[from] PriorError),
}

/// Inputs from which a system is built.
#[derive(Debug, Clone, Copy)]
pub struct SystemSpec<'a> {
    /// Training and test rows.
    pub rows: &'a Rows,
    /// Kernel, noise and prior mean.
    pub kernel: &'a record::Kernel,
    /// Right-hand sides other than y. Under other hyperparameters they are the same draws in other scales.
    pub probes: Probes,
    /// Number of the draw, where right-hand sides differ from those of other systems of the case.
    pub redraw: Option<u64>,
    /// Features of the prior draws, in place of those that the case would draw.
    pub features: Option<&'a RandomFeatures>,
    /// Inducing points as the solver's unknowns.
    pub inducing: Option<Inducing>,
    /// Threads for products.
    pub pool: &'a Arc<ThreadPool>,
}

/// No right-hand side other than y.
pub const NO_PROBES: Probes =
    Probes::Standard(StandardProbes { probes: 0, distribution: ProbeDistribution::Normal });

/// The linear systems of a case, with the data needed to evaluate their solutions.
#[derive(Debug)]
pub struct System {
    /// Training and test rows, with the prior mean subtracted from the targets.
    pub data: Arc<Split>,
    /// H = K + noise_scale^2 I.
    pub operator: Box<dyn SystemMatrix>,
    /// Right-hand sides y, z_1 .. z_s, and the parts of the z.
    pub targets: Targets,
    /// Features of the prior draws, where the z are computed from features.
    pub features: Option<RandomFeatures>,
    /// The system that the solver works on.
    pub formulation: Formulation,
    /// Random streams of this case.
    pub streams: Streams,
    /// Random streams of the right-hand sides, which differ where these are drawn anew.
    pub of_targets: Streams,
    /// Random features that the plugin requests.
    pub drawn: DrawnFeatures,
    /// Threads for products.
    pub pool: Arc<ThreadPool>,
}

/// The system that a solver works on.
#[derive(Debug)]
pub enum Formulation {
    /// H itself.
    Full,
    /// K(X, Z), with an unknown for each inducing point.
    Inducing {
        /// Z, m x d, row-major.
        z: Array2<f64>,
        /// K(X, Z), n x m.
        matrix: Box<dyn KernelMatrix>,
    },
    /// M + noise_scale^2 I, with an unknown for each of the unique inputs.
    Collapsed(Box<Collapse>),
}

/// The system that a solver receives, with n rows and m columns.
#[derive(Debug, Clone, Copy)]
pub struct SolverView<'a> {
    /// The matrix, n x m.
    pub matrix: &'a dyn KernelMatrix,
    /// Inputs of the rows, n x d.
    pub inputs: &'a Array2<f64>,
    /// Inducing points, m x d, where the columns belong to them.
    pub basis: Option<&'a Array2<f64>>,
    /// Factors of rows and columns, where duplicates are collapsed.
    pub scales: Option<ArrayView1<'a, f64>>,
    /// Right-hand sides, and their parts.
    pub targets: &'a Targets,
}

impl<'a> SolverView<'a> {
    /// The points of the columns, m x d.
    pub fn points(&self) -> ArrayView2<'a, f64> {
        self.basis.unwrap_or(self.inputs).view()
    }
}

impl System {
    /// Builds a system.
    pub fn build(spec: SystemSpec<'_>) -> Result<System, SystemError> {
        let SystemSpec { rows, redraw, pool, .. } = spec;
        let data = rows.subtract_mean(spec.kernel);
        let kernel = kernel(spec.kernel, rows.d())?;
        let noise_scale = spec.kernel.noise_scale;
        let x = data.x_train.view();
        let operator: Box<dyn SystemMatrix> =
            Box::new(KernelOperator::with_pool(&kernel, noise_scale, x, pool.clone()));
        let streams = rows.streams(kernel.family);
        let redrawn = redraw.map(|draw| streams.further(&format!("redraw {draw}")));
        let of_targets = redrawn.as_ref().unwrap_or(&streams);
        let (targets, features) =
            pool.install(|| targets(&data, &kernel, noise_scale, spec.probes, spec.features, of_targets))?;
        let of_targets = of_targets.clone();
        let formulation = match (spec.inducing, rows.dataset.collapse_duplicates) {
            (None, false) => Formulation::Full,
            (None, true) => Formulation::Collapsed(Box::new(Collapse::new(&*operator, x, &targets, pool))),
            (Some(inducing), false) => {
                let z = pool.install(|| select(inducing, x, &streams))?;
                Formulation::Inducing { matrix: operator.between(z.view()), z }
            }
            (Some(_), true) => return Err(SystemError::InducingAndCollapsed),
        };
        let (drawn, pool) = (DrawnFeatures::default(), pool.clone());
        Ok(System { data, operator, targets, features, formulation, streams, of_targets, drawn, pool })
    }

    /// The system that a solver receives.
    pub fn view(&self) -> SolverView<'_> {
        let System { data, operator, targets, .. } = self;
        let matrix: &dyn KernelMatrix = &**operator;
        let full = SolverView { matrix, inputs: &data.x_train, basis: None, scales: None, targets };
        match &self.formulation {
            Formulation::Full => full,
            Formulation::Inducing { z, matrix } => SolverView { matrix: &**matrix, basis: Some(z), ..full },
            Formulation::Collapsed(collapse) => {
                let Collapse { inputs, operator, targets, .. } = &**collapse;
                let scales = Some(operator.scales());
                SolverView { matrix: operator, inputs: &inputs.x, basis: None, scales, targets }
            }
        }
    }

    /// The matrix of the points to which [`System::weights`] belong: H, or K(X, Z) with inducing points.
    pub fn predictor(&self) -> &dyn KernelMatrix {
        match &self.formulation {
            Formulation::Full | Formulation::Collapsed(_) => &*self.operator,
            Formulation::Inducing { matrix, .. } => &**matrix,
        }
    }

    /// Lets the solver's products cache up to `bytes` bytes of the entries that they evaluate.
    pub fn cache_entries(&mut self, bytes: usize) {
        match &mut self.formulation {
            Formulation::Full => self.operator.cache_entries(bytes),
            Formulation::Inducing { matrix, .. } => matrix.cache_entries(bytes),
            Formulation::Collapsed(collapse) => collapse.operator.cache_entries(bytes),
        }
    }

    fn collapse(&self) -> Option<&Collapse> {
        match &self.formulation {
            Formulation::Collapsed(collapse) => Some(collapse),
            Formulation::Full | Formulation::Inducing { .. } => None,
        }
    }

    /// The weights (n x s, or m x s with inducing points) that follow from the solver's solution (m x s).
    pub fn weights<'x>(&self, solution: CowArray<'x, f64, Ix2>) -> CowArray<'x, f64, Ix2> {
        match self.collapse() {
            None => solution,
            Some(Collapse { inputs, .. }) => {
                let (rhs, noise_scale) = (self.targets.rhs.view(), self.operator.noise_scale());
                inputs.weights(solution.view(), rhs, noise_scale).into()
            }
        }
    }

    /// Unknowns of each right-hand side: inducing points, unique inputs, or else training rows.
    pub fn m(&self) -> usize {
        self.view().matrix.shape().1
    }

    /// Training rows.
    pub fn n(&self) -> usize {
        self.data.x_train.nrows()
    }

    /// Inputs.
    pub fn d(&self) -> usize {
        self.data.x_train.ncols()
    }

    /// Right-hand sides, y among them.
    pub fn columns(&self) -> usize {
        self.targets.rhs.ncols()
    }

    /// The weights of the first prior draws of the pathwise targets, features x samples; `None` where the draws are
    /// not computed from features.
    pub fn prior_weights(&self, samples: usize) -> Option<Array2<f64>> {
        Some(pathwise::prior_weights(self.features.as_ref()?, samples, &self.of_targets))
    }

    /// The prior draws of the pathwise targets at other inputs (m x d): m x s, without columns where
    /// the probes are not pathwise targets.
    ///
    /// # Errors
    /// Where an exact prior cannot be factorised.
    pub fn prior_at(&self, x: ArrayView2<f64>) -> Result<Array2<f64>, SystemError> {
        let samples = self.targets.f_test.ncols();
        if samples == 0 {
            return Ok(Array2::zeros((x.nrows(), 0).f()));
        }
        let prior = self.features.as_ref().map_or(Prior::Exact, Prior::Features);
        let (kernel, x_train) = (self.operator.kernel(), self.data.x_train.view());
        Ok(self.pool.install(|| prior.draw(kernel, x_train, x, samples, &self.of_targets))?.test)
    }
}

/// Inducing points for the rows of `x`, from the stream `inducing`.
pub(crate) fn select(
    inducing: Inducing,
    x: ArrayView2<f64>,
    streams: &Streams,
) -> Result<Array2<f64>, SelectionError> {
    let selection = match inducing {
        Inducing::Subset { points } => Selection::Subset { points },
        Inducing::Kmeans { points } => Selection::KMeans { points },
        Inducing::Neighbours { distance, neighbours } => Selection::Neighbours { distance, neighbours },
    };
    inducing::select(selection, x, &mut streams.stream("inducing"))
}

/// Right-hand sides, and the features of their prior draws, if any.
fn targets(
    data: &Split,
    kernel: &Kernel,
    noise_scale: f64,
    probes: Probes,
    shared: Option<&RandomFeatures>,
    streams: &Streams,
) -> Result<(Targets, Option<RandomFeatures>), SystemError> {
    let (y, x_train, x_test) = (data.y_train.view(), data.x_train.view(), data.x_test.view());
    let targets = match probes {
        Probes::Pathwise(targets) => targets,
        Probes::Standard(StandardProbes { probes, distribution }) => {
            let law = match distribution {
                ProbeDistribution::Normal => ProbeLaw::Normal,
                ProbeDistribution::Rademacher => ProbeLaw::Rademacher,
            };
            return Ok((Targets::standard(y, law, probes, x_test.nrows(), streams), None));
        }
    };
    let features = match targets.prior {
        record::PriorSource::Exact => None,
        record::PriorSource::Features { features: count, .. } if count == 0 || count % 2 == 1 => {
            return Err(SystemError::Features { count });
        }
        record::PriorSource::Features { features, frequencies } => {
            let rng = &mut streams.stream("prior-frequencies");
            let draw = || RandomFeatures::draw(kernel, frequencies, features, rng);
            Some(shared.cloned().unwrap_or_else(draw))
        }
    };
    let prior = features.as_ref().map_or(Prior::Exact, Prior::Features);
    let draws = prior.draw(kernel, x_train, x_test, targets.probes, streams)?;
    Ok((Targets::pathwise(y, noise_scale, draws, streams), features))
}
