//! A host in memory for learners: fits, pauses, saves and resumes through the tables that the real host uses, with the
//! harness's minibatches.

mod run;
mod session;
mod store;

use ndarray::{Array1, Array2};

use super::extension::by_columns;
use super::{Failure, scattered_inputs};
use crate::{Covariance, Family, Learner, NetworkShape, ParamValue, Scales, export};
use gpbench_abi as abi;

pub use run::{FitReport, FitRun, SavedFit};
pub use session::Used;

/// Training data, kernel and budget for a learner under test.
///
/// ```
/// # use gpbench_sdk::ndarray::{Array1, ArrayView2};
/// # use gpbench_sdk::{Fit, Learner, NoParams, Result, Stream, Workers};
/// # struct Mean;
/// # impl Learner for Mean {
/// #     type Params = NoParams;
/// #     const ID: &'static str = "mean";
/// #     const DOC: &'static str = "The mean of the targets";
/// #     type State = f64;
/// #     fn new(_: NoParams) -> Result<Self> { Ok(Mean) }
/// #     fn begin(&self, _: &Fit<'_>) -> Result<f64> { Ok(0.0) }
/// #     fn step(&self, learned: &mut f64, fit: &Fit<'_>) -> Result<f64> {
/// #         let rows = fit.batch(Stream::MAIN, 10)?;
/// #         let mean = rows.iter().map(|&row| fit.y()[row]).sum::<f64>() / rows.len() as f64;
/// #         *learned += 0.1 * (mean - *learned);
/// #         Ok((mean - *learned).powi(2))
/// #     }
/// #     fn predict(&self, learned: &f64, x: ArrayView2<'_, f64>, _: Workers<'_>) -> Result<(Array1<f64>, Array1<f64>)> {
/// #         Ok((Array1::from_elem(x.nrows(), *learned), Array1::ones(x.nrows())))
/// #     }
/// # }
/// use gpbench_sdk::testing::FitHost;
///
/// let host = FitHost::wave(60).passes(3.0);
/// let mut whole = host.begin::<Mean>(&[]).unwrap();
/// whole.fit().unwrap();
///
/// let mut in_turns = host.begin::<Mean>(&[]).unwrap();
/// while in_turns.steps(1).unwrap().steps < 18 {}
/// assert_eq!(whole.trace(), in_turns.trace());
/// ```
#[derive(Debug, Clone)]
pub struct FitHost {
    x: Array2<f64>,
    pub(super) y: Array2<f64>,
    family: Covariance,
    scales: Scales,
    basis: Option<Array2<f64>>,
    network: Option<NetworkShape>,
    flags: u64,
    pub(super) passes: f64,
    entries: f64,
    threads: u32,
    seed: u64,
}

impl FitHost {
    /// Targets `y` (n) at `x` (n x d), an RBF kernel with unit scales and a noise scale of 0.3, one pass, and two threads.
    pub fn new(x: &Array2<f64>, y: &Array1<f64>) -> FitHost {
        FitHost {
            x: by_columns(x),
            y: y.clone().insert_axis(ndarray::Axis(1)),
            family: Family::Rbf.into(),
            scales: Scales {
                signal_scale: 1.0,
                noise_scale: 0.3,
                length_scale: vec![1.0; x.ncols()],
                mean: 0.0,
            },
            basis: None,
            network: None,
            flags: 0,
            passes: 1.0,
            entries: f64::INFINITY,
            threads: 2,
            seed: 0,
        }
    }

    /// A smooth function of two irregular inputs, centred, with a little noise.
    pub fn wave(n: usize) -> FitHost {
        let x = scattered_inputs(n);
        let value = |i: usize| (2.0 * x[[i, 0]]).sin() + x[[i, 1]] * x[[i, 0]] + 0.1 * super::scattered(i, 7);
        let y = Array1::from_shape_fn(n, value);
        let mean = y.sum() / n as f64;
        FitHost::new(&x, &(y - mean))
    }

    /// Covariance function.
    #[must_use]
    pub fn family(mut self, family: impl Into<Covariance>) -> Self {
        self.family = family.into();
        self
    }

    /// The scales and the mean to start from.
    #[must_use]
    pub fn scales(mut self, scales: Scales) -> Self {
        self.scales = scales;
        self
    }

    /// Inducing points, m x d.
    #[must_use]
    pub fn basis(mut self, z: &Array2<f64>) -> Self {
        self.basis = Some(by_columns(z));
        self
    }

    /// A network, with unit length scales on its outputs.
    #[must_use]
    pub fn network(mut self, network: NetworkShape) -> Self {
        self.scales.length_scale = vec![1.0; network.outputs()];
        self.network = Some(network);
        self
    }

    /// Trains one length scale for all inputs.
    #[must_use]
    pub fn shared_length_scale(mut self) -> Self {
        self.flags |= abi::fit_flag::SHARED_LENGTH_SCALE;
        self
    }

    /// Trains the mean.
    #[must_use]
    pub fn trained_mean(mut self) -> Self {
        self.flags |= abi::fit_flag::TRAINED_MEAN;
        self
    }

    /// Passes to grant.
    #[must_use]
    pub fn passes(mut self, passes: f64) -> Self {
        self.passes = passes;
        self
    }

    /// Kernel entries after which the time is up.
    #[must_use]
    pub fn entries(mut self, entries: f64) -> Self {
        self.entries = entries;
        self
    }

    /// Threads that the learner may use.
    #[must_use]
    pub fn threads(mut self, threads: u32) -> Self {
        self.threads = threads;
        self
    }

    /// Seed of the batches and of the learner's random numbers.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The kernel's family.
    #[cfg(feature = "blas")]
    pub(super) fn family_of_kernel(&self) -> Covariance {
        self.family
    }

    /// Training inputs, n x d.
    pub fn x(&self) -> &Array2<f64> {
        &self.x
    }

    /// Training targets, n.
    pub fn y(&self) -> Array1<f64> {
        self.y.column(0).to_owned()
    }

    /// Makes a learner and begins a fit. Parameters not given have their defaults.
    pub fn begin<L: Learner>(&self, params: &[(&str, ParamValue)]) -> Result<FitRun<'_>, Failure> {
        self.begin_with(export::learner::<L>(), params)
    }

    /// As [`begin`](Self::begin), for a learner known by its table.
    pub fn begin_with(
        &self,
        learner: abi::Learner,
        params: &[(&str, ParamValue)],
    ) -> Result<FitRun<'_>, Failure> {
        let mut run = FitRun::create(self, learner, params)?;
        run.begin()?;
        Ok(run)
    }

    /// Makes a learner that goes on from a saved state.
    pub fn resume<L: Learner>(
        &self,
        params: &[(&str, ParamValue)],
        saved: &SavedFit,
    ) -> Result<FitRun<'_>, Failure> {
        self.resume_with(export::learner::<L>(), params, saved)
    }

    /// As [`resume`](Self::resume), for a learner known by its table.
    pub fn resume_with(
        &self,
        learner: abi::Learner,
        params: &[(&str, ParamValue)],
        saved: &SavedFit,
    ) -> Result<FitRun<'_>, Failure> {
        let mut run = FitRun::create(self, learner, params)?;
        run.load(saved)?;
        Ok(run)
    }
}
