//! Builds what a case is about: rows, kernel, operator, right-hand sides.
//!
//! `case` and `verify` call the same function in two processes and get the same
//! numbers: every random stream is keyed by the seed, the rows and the kernel's
//! family, and by nothing that depends on the solver. Two kernels of one family
//! see the same standard normal numbers, scaled differently.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use gpbench_data::{Split, SplitError, copy, split, synthetic, training_rows};
use gpbench_gp::blas::NotPositiveDefinite;
use gpbench_gp::inducing::{self, Selection, SelectionError};
use gpbench_gp::pathwise::{Prior, ProbeLaw, Targets};
use gpbench_gp::seed::Streams;
use gpbench_gp::{
    CrossOperator, Family, FrequencyLaw, Kernel, KernelMatrix, KernelOperator, LinearOperator,
    RandomFeatures, UnknownFamily, thread_pool,
};
use gpbench_record::{
    self as record, Case, Dataset, EstimatorMethod, Fractions, Frequencies, GpDraw, Inducing,
    ProbeDistribution, Source,
};
use ndarray::{Array1, Array2, ArrayView2, CowArray, Ix2, ShapeBuilder};
use rayon::ThreadPool;
use thiserror::Error;

use crate::collapse::Collapse;

/// Why a case cannot be set up.
#[derive(Debug, Error)]
pub enum SetupError {
    /// A set that is read needs a file.
    #[error("data set `{name}`: the job names no binary copy")]
    NoFile {
        /// Data set.
        name: String,
    },
    /// The binary copy cannot be read.
    #[error("data set `{name}`: {source}")]
    Copy {
        /// Data set.
        name: String,
        /// Why.
        source: copy::CopyError,
    },
    /// The split cannot be taken.
    #[error(transparent)]
    Split(#[from] SplitError),
    /// No such toy.
    #[error(transparent)]
    Toy(#[from] synthetic::UnknownToy),
    /// No such draw.
    #[error(transparent)]
    Draw(#[from] synthetic::DrawError),
    /// A number that no data set or estimator can have.
    #[error("{what}")]
    Impossible {
        /// What is wrong.
        what: String,
    },
    /// A kernel that cannot be.
    #[error("kernel `{name}`: {what}")]
    Kernel {
        /// Kernel.
        name: String,
        /// What is wrong.
        what: String,
    },
    /// The inducing points cannot be chosen.
    #[error("solver `{name}`: {source}")]
    Inducing {
        /// Solver.
        name: String,
        /// Why.
        source: SelectionError,
    },
    /// The exact prior draw failed.
    #[error("the prior cannot be drawn exactly: {0}")]
    Prior(#[from] NotPositiveDefinite),
}

/// The linear systems of a case, and what is needed to judge their solutions.
#[derive(Debug)]
pub struct System {
    /// Training and test rows.
    pub data: Arc<Split>,
    /// H = K + noise_scale^2 I.
    pub operator: KernelOperator,
    /// Right-hand sides y, z_1 .. z_s, and the parts of the z.
    pub targets: Targets,
    /// Features of the prior draws, where the z are made of such.
    pub features: Option<RandomFeatures>,
    /// Inducing points, where the solver's unknowns are theirs.
    pub inducing: Option<InducingPoints>,
    /// The system of the unique inputs, where rows that share one are collapsed.
    pub collapse: Option<Collapse>,
    /// Random streams of this case.
    pub streams: Streams,
}

/// Basis points Z in place of the training inputs.
#[derive(Debug)]
pub struct InducingPoints {
    /// Z, m x d, row-major.
    pub z: Array2<f64>,
    /// K(X, Z), n x m.
    pub matrix: CrossOperator,
}

impl System {
    /// The system of a case.
    pub fn build(case: &Case, dataset_file: Option<&Path>, threads: usize) -> Result<System, SetupError> {
        let data = rows(&case.dataset, case.seed, dataset_file)?;
        System::pose(case, Arc::new(data), thread_pool(threads), None)
    }

    /// The system of a case over rows that are known already. Whenever a case differs from another in
    /// its hyperparameters alone, its right-hand sides are the other's under new scales, unless they
    /// are drawn afresh: `redraw` numbers such draws. Targets are counted from the prior mean.
    pub fn pose(
        case: &Case,
        data: Arc<Split>,
        pool: Arc<ThreadPool>,
        redraw: Option<u64>,
    ) -> Result<System, SetupError> {
        let data = about(data, &case.kernel);
        let kernel = kernel(&case.kernel, data.x_train.ncols())?;
        let noise_scale = case.kernel.noise_scale;
        let x_train = data.x_train.view();
        let operator = KernelOperator::with_pool(&kernel, noise_scale, x_train, pool.clone());
        let streams = streams(&case.dataset, kernel.family, case.seed);
        let redrawn = redraw.map(|draw| streams.further(&format!("redraw {draw}")));
        let of_targets = redrawn.as_ref().unwrap_or(&streams);
        let (targets, features) = pool.install(|| targets(case, &data, &kernel, of_targets))?;
        let inducing = case.solver.inducing.map(|inducing| {
            let points = pool.install(|| select(inducing, data.x_train.view(), &streams));
            let named = |source| SetupError::Inducing { name: case.solver.name.clone(), source };
            let z = points.map_err(named)?;
            let matrix = operator.between(z.view());
            Ok::<_, SetupError>(InducingPoints { z, matrix })
        });
        let inducing = inducing.transpose()?;
        let collapse = case.dataset.collapse_duplicates;
        if collapse && inducing.is_some() {
            let name = &case.solver.name;
            let what =
                format!("solver `{name}`: inducing points do not go with a data set of collapsed duplicates");
            return Err(SetupError::Impossible { what });
        }
        let collapse = collapse.then(|| Collapse::new(&operator, data.x_train.view(), &targets));
        Ok(System { data, operator, targets, features, inducing, collapse, streams })
    }

    /// What the solver is to work with: H, or K(X, Z) with inducing points, or M + noise_scale^2 I
    /// where duplicates are collapsed.
    pub fn matrix(&self) -> &dyn KernelMatrix {
        match &self.collapse {
            None => self.predictor(),
            Some(collapse) => &collapse.operator,
        }
    }

    /// What [`System::weights`] are the weights of: H, or K(X, Z) with inducing points.
    pub fn predictor(&self) -> &dyn KernelMatrix {
        match &self.inducing {
            None => &self.operator,
            Some(inducing) => &inducing.matrix,
        }
    }

    /// The inputs that the solver sees: of all training rows, or the unique ones where duplicates are
    /// collapsed.
    pub fn inputs(&self) -> &Array2<f64> {
        self.collapse.as_ref().map_or(&self.data.x_train, |collapse| &collapse.inputs.x)
    }

    /// Lets the solver's products keep the entries that they evaluate, in up to so many bytes.
    pub fn keep_entries(&mut self, bytes: usize) {
        match &mut self.collapse {
            None => self.operator.keep_entries(bytes),
            Some(collapse) => collapse.operator.keep_entries(bytes),
        }
    }

    /// Bytes of entries that are kept from one of the solver's products to the next.
    pub fn kept_bytes(&self) -> usize {
        let collapse = self.collapse.as_ref();
        collapse.map_or_else(|| self.operator.kept_bytes(), |collapse| collapse.operator.kept_bytes())
    }

    /// The diagonal of [`System::matrix`]; none with inducing points.
    pub fn diagonal(&self) -> Option<Array1<f64>> {
        match (&self.inducing, &self.collapse) {
            (Some(_), _) => None,
            (None, Some(collapse)) => Some(collapse.operator.diag()),
            (None, None) => Some(self.operator.diag()),
        }
    }

    /// Right-hand sides of [`System::matrix`], and their parts.
    pub fn posed(&self) -> &Targets {
        self.collapse.as_ref().map_or(&self.targets, |collapse| &collapse.targets)
    }

    /// The weights (n x s, or one row an inducing point) that a solution of what the solver works with
    /// stands for.
    pub fn weights<'x>(&self, solution: CowArray<'x, f64, Ix2>) -> CowArray<'x, f64, Ix2> {
        match &self.collapse {
            None => solution,
            Some(Collapse { inputs, .. }) => {
                let (rhs, noise_scale) = (self.targets.rhs.view(), self.operator.noise_scale());
                inputs.weights(solution.view(), rhs, noise_scale).into()
            }
        }
    }

    /// Relative residual norms of the right-hand sides from those that the solver claims, one a column,
    /// or none.
    pub fn norms(&self, claimed: &[f64]) -> Vec<f64> {
        self.collapse.as_ref().map_or_else(|| claimed.to_vec(), |collapse| collapse.norms(claimed))
    }

    /// Unknowns of each right-hand side: inducing points, unique inputs, or else training rows.
    pub fn m(&self) -> usize {
        self.matrix().shape().1
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

    /// The prior draws of the pathwise targets at other inputs (m x d): m x s, without columns where
    /// the probes are no such targets.
    ///
    /// # Errors
    /// Where an exact prior cannot be factorised.
    pub fn prior_at(&self, x: ArrayView2<f64>) -> Result<Array2<f64>, SetupError> {
        let samples = self.targets.f_test.ncols();
        if samples == 0 {
            return Ok(Array2::zeros((x.nrows(), 0).f()));
        }
        let prior = self.features.as_ref().map_or(Prior::Exact, Prior::Features);
        let (kernel, x_train) = (self.operator.kernel(), self.data.x_train.view());
        let pool = self.operator.pool();
        Ok(pool.install(|| prior.draw(kernel, x_train, x, samples, &self.streams))?.test)
    }

    /// Whether the probes are targets of posterior samples.
    pub fn has_samples(&self) -> bool {
        self.targets.f_test.ncols() > 0
    }
}

/// Inducing points for the rows of `x`, from the stream `inducing`.
fn select(inducing: Inducing, x: ArrayView2<f64>, streams: &Streams) -> Result<Array2<f64>, SelectionError> {
    let selection = match inducing {
        Inducing::Subset { points } => Selection::Subset { points },
        Inducing::Kmeans { points } => Selection::KMeans { points },
        Inducing::Neighbours { distance, neighbours } => Selection::Neighbours { distance, neighbours },
    };
    inducing::select(selection, x, &mut streams.stream("inducing"))
}

/// The rows of a data set, standardised.
pub fn rows(dataset: &Dataset, seed: u64, file: Option<&Path>) -> Result<Split, SetupError> {
    let name = &dataset.name;
    let drawn = |n: usize, n_test: usize| match (dataset.subsample, n, n_test) {
        (Some(_), ..) => Err(format!("data set `{name}` is drawn to size: it cannot be subsampled as well")),
        (None, 0 | 1, _) | (None, _, 0) => {
            Err(format!("data set `{name}` has {n} training and {n_test} test rows; 2 and 1 are the least"))
        }
        _ => Ok(()),
    };
    let impossible = |what| SetupError::Impossible { what };
    match &dataset.source {
        Source::Registry { .. } | Source::File { .. } => {
            let file = file.map(PathBuf::from).ok_or_else(|| SetupError::NoFile { name: name.clone() })?;
            let table =
                copy::read(&file).map_err(|source| SetupError::Copy { name: name.clone(), source })?;
            let shares = dataset.fractions.map(|Fractions { train, test }| [train, test]);
            let all = training_rows(&table, dataset.split, shares)?;
            let kept = dataset.subsample.map(|subsample| (subsample.rows(all), seed));
            Ok(split(&table, dataset.split, shares, kept)?)
        }
        Source::Toy { name, n, n_test } => {
            drawn(*n, *n_test).map_err(impossible)?;
            Ok(synthetic::toy(name, *n, *n_test, seed)?)
        }
        Source::GpDraw(draw) => {
            drawn(draw.n, draw.n_test).map_err(impossible)?;
            gp_draw(draw, seed)
        }
    }
}

fn gp_draw(draw: &GpDraw, seed: u64) -> Result<Split, SetupError> {
    let GpDraw { n, n_test, d, kernel, signal_scale, noise_scale, length_scale } = draw;
    let family =
        kernel.parse().map_err(|error: UnknownFamily| SetupError::Impossible { what: error.to_string() })?;
    let draw = synthetic::GpDraw {
        n: *n,
        n_test: *n_test,
        d: *d,
        family,
        signal_scale: *signal_scale,
        noise_scale: *noise_scale,
        length_scale: *length_scale,
    };
    Ok(synthetic::gp_draw(&draw, seed)?)
}

/// The covariance function over `d` inputs.
pub fn kernel(kernel: &record::Kernel, d: usize) -> Result<Kernel, SetupError> {
    let record::Kernel { name, family, signal_scale, noise_scale, length_scale, .. } = kernel;
    let wrong = |what: String| SetupError::Kernel { name: name.clone(), what };
    let family: Family = family.parse().map_err(|error: UnknownFamily| wrong(error.to_string()))?;
    if length_scale.len() != 1 && length_scale.len() != d {
        return Err(wrong(format!("{} length scales for {d} inputs", length_scale.len())));
    }
    // Within these, no square of a scale or of a scaled distance overflows or vanishes.
    let positive = |what: &str, value: f64| match value {
        1e-100..=1e100 => Ok(()),
        _ if value > 0.0 => Err(wrong(format!("{what} {value:e} is not between 1e-100 and 1e100"))),
        _ => Err(wrong(format!("{what} {value} is not positive"))),
    };
    positive("signal_scale", *signal_scale)?;
    positive("noise_scale", *noise_scale)?;
    length_scale.iter().try_for_each(|&length| positive("length_scale", length))?;
    Ok(Kernel::new(family, *signal_scale, length_scale, d))
}

/// The rows, with targets counted from the kernel's prior mean.
pub(crate) fn about(data: Arc<Split>, kernel: &record::Kernel) -> Arc<Split> {
    match kernel.mean {
        Some(mean) => Arc::new(Arc::unwrap_or_clone(data).about(mean)),
        None => data,
    }
}

/// Streams that depend on the seed, the rows and the kernel's family.
pub(crate) fn streams(dataset: &Dataset, family: Family, seed: u64) -> Streams {
    let Dataset { source, split, fractions, subsample, name: _, collapse_duplicates: _ } = dataset;
    let rows = match fractions {
        None => serde_json::to_string(&(source, split, subsample)),
        Some(fractions) => serde_json::to_string(&(source, split, fractions, subsample)),
    }
    .expect("plain data serialises");
    Streams::new(seed, &[&rows, &family.to_string()])
}

fn targets(
    case: &Case,
    data: &Split,
    kernel: &Kernel,
    streams: &Streams,
) -> Result<(Targets, Option<RandomFeatures>), SetupError> {
    let estimator = &case.estimator;
    let y = data.y_train.view();
    let probes = match estimator.method {
        EstimatorMethod::Pathwise => None,
        EstimatorMethod::Standard => Some(estimator.probes),
        EstimatorMethod::Exact | EstimatorMethod::Rff | EstimatorMethod::SsRff => Some(0),
    };
    if let Some(probes) = probes {
        let law = match estimator.probe_distribution {
            ProbeDistribution::Normal => ProbeLaw::Normal,
            ProbeDistribution::Rademacher => ProbeLaw::Rademacher,
        };
        return Ok((Targets::standard(y, law, probes, data.x_test.nrows(), streams), None));
    }
    let law = match estimator.frequencies {
        Frequencies::Exact => None,
        Frequencies::MultivariateT => Some(FrequencyLaw::MultivariateT),
        Frequencies::ProductT => Some(FrequencyLaw::ProductT),
    };
    let count = estimator.features;
    if law.is_some() && (count == 0 || count % 2 == 1) {
        let what = format!("estimator `{}` has {count} features; they come in pairs", estimator.name);
        return Err(SetupError::Impossible { what });
    }
    let features =
        law.map(|law| RandomFeatures::draw(kernel, law, count, &mut streams.stream("prior-frequencies")));
    let prior = features.as_ref().map_or(Prior::Exact, Prior::Features);
    let (x_train, x_test) = (data.x_train.view(), data.x_test.view());
    let draws = prior.draw(kernel, x_train, x_test, estimator.probes, streams)?;
    Ok((Targets::pathwise(y, case.kernel.noise_scale, draws, streams), features))
}
