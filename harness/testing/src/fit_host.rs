//! Training data, kernel and budget for tests of learners.

use std::rc::Rc;

use gpbench_host::{FitLimits, FitProblem, FitSession, HostTable};
use gpbench_sdk::Scales;
use gpbench_terms::{Covariance, Family, NetworkShape};
use ndarray::{Array1, Array2};

use crate::fit_log::FitLog;
use crate::fixtures::{scattered, scattered_inputs};

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
/// #     fn predict(&self, learned: &f64, x: ArrayView2<'_, f64>, _: Workers<'_>) -> Result<(Array1<f64>,
/// Array1<f64>)> {
/// #         Ok((Array1::from_elem(x.nrows(), *learned), Array1::ones(x.nrows())))
/// #     }
/// # }
/// use gpbench_testing::FitHost;
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
    pub(crate) y: Array1<f64>,
    covariance: Covariance,
    scales: Scales,
    basis: Option<Array2<f64>>,
    network: Option<NetworkShape>,
    shared_length_scale: bool,
    trained_mean: bool,
    limits: FitLimits,
}

impl FitHost {
    /// A host with targets `y` (n) at `x` (n x d), an RBF kernel with unit scales and noise scale 0.3, one pass, and
    /// two threads.
    pub fn new(x: &Array2<f64>, y: &Array1<f64>) -> FitHost {
        FitHost {
            x: x.clone(),
            y: y.clone(),
            covariance: Family::Rbf.into(),
            scales: Scales {
                signal_scale: 1.0,
                noise_scale: 0.3,
                length_scale: vec![1.0; x.ncols()],
                mean: 0.0,
            },
            basis: None,
            network: None,
            shared_length_scale: false,
            trained_mean: false,
            limits: FitLimits { passes: 1.0, max_epochs: None, seconds: None, threads: 2, seed: 0 },
        }
    }

    /// A host with a smooth function of two irregular inputs, centred, with little noise.
    pub fn wave(n: usize) -> FitHost {
        let x = scattered_inputs(n);
        let value = |i: usize| (2.0 * x[[i, 0]]).sin() + x[[i, 1]] * x[[i, 0]] + 0.1 * scattered(i, 7);
        let y = Array1::from_shape_fn(n, value);
        let mean = y.sum() / n as f64;
        FitHost::new(&x, &(y - mean))
    }

    /// Sets the covariance function.
    #[must_use]
    pub fn family(mut self, family: impl Into<Covariance>) -> Self {
        self.covariance = family.into();
        self
    }

    /// Sets the initial scales and mean.
    #[must_use]
    pub fn scales(mut self, scales: Scales) -> Self {
        self.scales = scales;
        self
    }

    /// Sets the inducing points, m x d.
    #[must_use]
    pub fn basis(mut self, z: &Array2<f64>) -> Self {
        self.basis = Some(z.clone());
        self
    }

    /// Sets a network, with unit length scales on its outputs.
    #[must_use]
    pub fn network(mut self, network: NetworkShape) -> Self {
        self.scales.length_scale = vec![1.0; network.outputs()];
        self.network = Some(network);
        self
    }

    /// Asks for one length scale for all inputs.
    #[must_use]
    pub fn shared_length_scale(mut self) -> Self {
        self.shared_length_scale = true;
        self
    }

    /// Asks for a trained mean.
    #[must_use]
    pub fn trained_mean(mut self) -> Self {
        self.trained_mean = true;
        self
    }

    /// Sets the number of granted passes.
    #[must_use]
    pub fn passes(mut self, passes: f64) -> Self {
        self.limits.passes = passes;
        self
    }

    /// Sets the epochs of n^2 kernel entries after which the fit is told to stop.
    #[must_use]
    pub fn max_epochs(mut self, epochs: f64) -> Self {
        self.limits.max_epochs = Some(epochs);
        self
    }

    /// Sets the number of threads that the learner may use.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.limits.threads = threads;
        self
    }

    /// Sets the seed of the batches and of the learner's random numbers.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.limits.seed = seed;
        self
    }

    /// Training inputs, n x d.
    pub fn x(&self) -> &Array2<f64> {
        &self.x
    }

    /// Training targets, n.
    pub fn y(&self) -> Array1<f64> {
        self.y.clone()
    }

    /// The kernel's covariance function.
    pub(crate) fn covariance(&self) -> Covariance {
        self.covariance
    }

    /// Number of granted passes.
    pub(crate) fn granted(&self) -> f64 {
        self.limits.passes
    }

    /// A session of this many passes. The seed keys its batches.
    pub(crate) fn session(
        &self,
        passes: f64,
        host: &'static HostTable,
        log: &Rc<FitLog>,
    ) -> FitSession<'static> {
        let Scales { signal_scale, noise_scale, length_scale, mean } = &self.scales;
        let problem = FitProblem {
            x: self.x.view(),
            y: self.y.view(),
            basis: self.basis.as_ref().map(|basis| basis.view()),
            covariance: self.covariance,
            signal_scale: *signal_scale,
            noise_scale: *noise_scale,
            length_scale,
            shared_length_scale: self.shared_length_scale,
            mean: *mean,
            trained_mean: self.trained_mean,
            network: self.network.as_ref(),
        };
        FitSession::new(problem, FitLimits { passes, ..self.limits }, self.limits.seed, host, log.clone())
    }
}
