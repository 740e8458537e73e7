//! The problem that a learner fits, and the tables through which the learner reads it.

use gpbench_abi::{Inputs, Mat, Network, fit_flag};
use gpbench_terms::{Covariance, NetworkShape, Shape};
use ndarray::{Array2, ArrayView1, ArrayView2, Axis};

use crate::seal::checksum;
use crate::views::mat;
use gpbench_numerics::layout::column_major;

/// Problem that a learner fits: data, kernel and initial hyperparameters.
#[derive(Debug, Clone, Copy)]
pub struct FitProblem<'a> {
    /// Training inputs, n x d.
    pub x: ArrayView2<'a, f64>,
    /// Training targets.
    pub y: ArrayView1<'a, f64>,
    /// Inducing points, m x d.
    pub basis: Option<ArrayView2<'a, f64>>,
    /// The kernel on the inputs, or on the network's outputs.
    pub covariance: Covariance,
    /// Standard deviation of the latent function to start from.
    pub signal_scale: f64,
    /// Standard deviation of the noise to start from.
    pub noise_scale: f64,
    /// Length scales to start from, one for each input of the kernel.
    pub length_scale: &'a [f64],
    /// Whether all inputs have one length scale, which is trained as one number.
    pub shared_length_scale: bool,
    /// Prior mean to start from.
    pub mean: f64,
    /// Whether the mean is trained.
    pub trained_mean: bool,
    /// The network between inputs and kernel.
    pub network: Option<&'a NetworkShape>,
}

impl FitProblem<'_> {
    /// The sizes of the problem, for which a learner gets ready before it sees the data.
    pub fn shape(&self, threads: usize) -> Shape {
        let (n, d) = self.x.dim();
        let m = self.basis.map_or(n, |basis| basis.nrows());
        Shape { covariance: Some(self.covariance), n, m, d, s: 1, threads, batch: None }
    }
}

/// A problem in the form that learners read. The tables point into the arrays, which are never written or moved.
pub(crate) struct FitData {
    pub(crate) inputs: Inputs,
    pub(crate) y_table: Mat,
    pub(crate) network: Option<Network>,
    pub(crate) mean: f64,
    pub(crate) flags: u64,
    /// The sizes, for one thread.
    shape: Shape,
    x: Array2<f64>,
    y: Array2<f64>,
    basis: Option<Array2<f64>>,
    length_scale: Vec<f64>,
    _widths: Vec<i64>,
    seal: [u64; 4],
}

impl FitData {
    /// Copies a problem.
    pub(crate) fn new(problem: FitProblem) -> FitData {
        let (x, y) = (column_major(&problem.x), column_major(&problem.y.insert_axis(Axis(1))));
        let basis = problem.basis.map(|z| column_major(&z));
        let length_scale = problem.length_scale.to_vec();
        let widths: Vec<i64> =
            problem.network.iter().flat_map(|net| &net.widths).map(|width| *width as i64).collect();
        let none = Mat { data: std::ptr::null_mut(), rows: 0, cols: 0, ld: 0 };
        let inputs = Inputs {
            size: size_of::<Inputs>() as u32,
            family: problem.covariance.number(),
            x: mat(x.view()),
            basis: basis.as_ref().map_or(none, |basis| mat(basis.view())),
            signal_scale: problem.signal_scale,
            noise_scale: problem.noise_scale,
            length_scale: length_scale.as_ptr(),
            scales: std::ptr::null(),
        };
        let network = problem.network.map(|net| Network {
            size: size_of::<Network>() as u32,
            activation: net.activation.number(),
            widths: widths.as_ptr(),
            n_widths: widths.len() as i64,
            random: net.random.unwrap_or_default() as i64,
        });
        let flag = |set: bool, bit: u64| if set { bit } else { 0 };
        let mut data = FitData {
            inputs,
            y_table: mat(y.view()),
            network,
            mean: problem.mean,
            flags: flag(problem.shared_length_scale, fit_flag::SHARED_LENGTH_SCALE)
                | flag(problem.trained_mean, fit_flag::TRAINED_MEAN),
            shape: problem.shape(1),
            x,
            y,
            basis,
            length_scale,
            _widths: widths,
            seal: [0; 4],
        };
        data.seal = data.checksums();
        data
    }

    /// The sizes, as [`FitProblem::shape`] gives them.
    pub(crate) fn shape(&self, threads: usize) -> Shape {
        Shape { threads, ..self.shape }
    }

    /// Number of training rows.
    pub(crate) fn n(&self) -> usize {
        self.x.nrows()
    }

    /// Number of inputs.
    pub(crate) fn d(&self) -> usize {
        self.x.ncols()
    }

    /// Name of the read-only data that the plugin has modified, if any.
    pub(crate) fn tampered(&self) -> Option<&'static str> {
        let names = ["inputs", "targets", "inducing points", "length scales"];
        let changed = self.checksums().into_iter().zip(self.seal).map(|(now, then)| now != then);
        names.into_iter().zip(changed).find_map(|(name, changed)| changed.then_some(name))
    }

    fn checksums(&self) -> [u64; 4] {
        let basis = self.basis.as_ref().map_or(0, |basis| checksum(basis.view()));
        let length_scale = checksum(ArrayView1::from(&self.length_scale[..]).insert_axis(Axis(0)));
        [checksum(self.x.view()), checksum(self.y.view()), basis, length_scale]
    }
}
