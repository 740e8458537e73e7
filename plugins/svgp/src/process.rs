//! The process: a kernel, perhaps on a network, inducing points and their variational distribution, as one vector
//! of free parameters.

use std::ops::Range;

use gpbench_sdk::inducing::InducingPosterior;
use gpbench_sdk::kernel::{Kernel, Points};
use gpbench_sdk::ndarray::{
    Array1, Array2, ArrayRef1, ArrayRef2, ArrayView1, ArrayView2, Axis, ShapeBuilder, concatenate, s,
};
use gpbench_sdk::network::{Mlp, Pass};
use gpbench_sdk::optimise::{Hyperparameters, Scale, Transform};
use gpbench_sdk::{Covariance, Error, Fit, Model, Result, Scales, Workers, panels};

use crate::SvgpParams;
use crate::bound::{BoundGradient, Minibatch, WhitenedDistribution};
use crate::optimum::{Optimum, Sums};

/// Largest jitter.
const MOST_JITTER: f64 = 1e-3;

/// A sparse variational Gaussian process.
///
/// Its free parameters are those of the scales and the prior mean, then m, R (column-major), Z (row-major) and the
/// network's.
#[derive(Debug, Clone)]
pub struct SparseProcess {
    /// All free parameters. Call [`update`](Self::update) after a change.
    pub parameters: Vec<f64>,
    hyperparameters: Hyperparameters,
    family: Covariance,
    network: Option<Mlp>,
    /// Inducing points.
    m: usize,
    /// Inputs.
    d: usize,
    /// Number added to the diagonal of K(Z, Z).
    jitter: f64,
    moves_points: bool,
    /// Least free parameter of the noise scale.
    noise_floor: f64,
}

/// Memory for gradients.
#[derive(Debug)]
pub struct GradientMemory {
    /// Derivatives of the negative bound by the free parameters.
    pub gradient: Vec<f64>,
    by_kernel: BoundGradient,
    /// K(Z, Z), whose lower triangle becomes its factor.
    inducing: Array2<f64>,
    /// K(Z, X), in the first columns.
    cross: Array2<f64>,
}

/// A bound, with numbers from its evaluation.
#[derive(Debug, Clone, Copy)]
pub struct Evaluation {
    /// The evidence lower bound, an estimate from the minibatch.
    pub bound: f64,
    /// The jitter that was needed.
    pub jitter: f64,
    /// Features of the network that are 0 for the whole minibatch and all inducing points.
    pub dead_features: usize,
}

impl GradientMemory {
    /// Memory for a process, and minibatches of up to `rows` rows.
    pub fn new(process: &SparseProcess, rows: usize) -> GradientMemory {
        let m = process.m;
        GradientMemory {
            gradient: Vec::with_capacity(process.parameters.len()),
            by_kernel: BoundGradient::new(m, rows),
            inducing: Array2::zeros((m, m).f()),
            cross: Array2::zeros((m, rows).f()),
        }
    }
}

impl SparseProcess {
    /// A process that starts where the fit says, with the prior as variational distribution and inducing
    /// points `points`, m x d.
    ///
    /// # Errors
    /// No inducing points, or scales that the transform cannot give.
    pub fn new(fit: &Fit<'_>, params: &SvgpParams, points: ArrayView2<'_, f64>) -> Result<SparseProcess> {
        let (m, d) = points.dim();
        if m == 0 || d != fit.d() {
            let text = format!("{m} inducing points of {d} inputs, for data of {}", fit.d());
            return Err(Error::InvalidArgument(text));
        }
        let hyperparameters = Hyperparameters::of(fit, params.transform)?;
        let network = fit.network().map(|network| Mlp::new(d, &network.widths)).transpose()?;
        let mut parameters = hyperparameters.free.clone();
        parameters.extend(std::iter::repeat_n(0.0, m));
        parameters.extend(Array2::<f64>::eye(m).iter());
        parameters.extend(points.iter());
        if let Some(network) = &network {
            parameters.extend(network.start(fit.seed()));
        }
        let mut process = SparseProcess {
            parameters,
            hyperparameters,
            family: fit.family(),
            network,
            m,
            d,
            jitter: params.jitter,
            moves_points: params.move_points,
            noise_floor: Transform::inverse(params.transform, Scale::Noise, params.noise_floor.sqrt()),
        };
        process.update();
        Ok(process)
    }

    /// Updates what depends on the free parameters, after raising the noise to its floor.
    pub fn update(&mut self) {
        // The noise scale is the second parameter. One that is not a number stays so.
        if self.parameters[1] < self.noise_floor {
            self.parameters[1] = self.noise_floor;
        }
        let scales = self.hyperparameters.free.len();
        self.hyperparameters.free.copy_from_slice(&self.parameters[..scales]);
    }

    /// Number of inducing points.
    pub fn m(&self) -> usize {
        self.m
    }

    /// Whether the kernel is on a network's outputs.
    pub fn has_network(&self) -> bool {
        self.network.is_some()
    }

    /// The scales, and the prior mean.
    pub fn scales(&self) -> Scales {
        self.hyperparameters.scales()
    }

    fn mean_range(&self) -> Range<usize> {
        let start = self.hyperparameters.free.len();
        start..start + self.m
    }

    fn root_range(&self) -> Range<usize> {
        let start = self.mean_range().end;
        start..start + self.m * self.m
    }

    fn points_range(&self) -> Range<usize> {
        let start = self.root_range().end;
        start..start + self.m * self.d
    }

    fn network_parameters(&self) -> &[f64] {
        &self.parameters[self.points_range().end..]
    }

    /// Inducing points Z, m x d.
    pub fn points(&self) -> ArrayView2<'_, f64> {
        let points = &self.parameters[self.points_range()];
        ArrayView2::from_shape((self.m, self.d), points).expect("as many as the range has")
    }

    /// The variational distribution.
    pub fn variational(&self) -> WhitenedDistribution<'_> {
        let root = &self.parameters[self.root_range()];
        let root = ArrayView2::from_shape((self.m, self.m).f(), root).expect("as many as the range has");
        WhitenedDistribution { mean: ArrayView1::from(&self.parameters[self.mean_range()]), root }
    }

    fn kernel(&self) -> Kernel {
        self.hyperparameters.kernel(self.family)
    }

    /// The bound estimated from some of n rows, and its negative gradient by the free parameters into `workspace`.
    ///
    /// # Errors
    /// [`NotPositiveDefinite`](Error::NotPositiveDefinite) if no jitter suffices.
    pub fn evaluate(
        &self,
        x: &ArrayRef2<f64>,
        y: &ArrayRef1<f64>,
        n: usize,
        workspace: &mut GradientMemory,
        workers: Workers<'_>,
    ) -> Result<Evaluation> {
        let (rows, kernel) = (y.len(), self.kernel());
        let pass = self.network.as_ref().map(|network| {
            let stacked = concatenate![Axis(0), x.view(), self.points()];
            network.forward(self.network_parameters(), &stacked, workers)
        });
        let (x, z) = match &pass {
            Some(pass) => pass.features().split_at(Axis(0), rows),
            None => (x.view(), self.points()),
        };
        let GradientMemory { inducing, cross, by_kernel, .. } = &mut *workspace;
        if rows > cross.ncols() {
            *cross = Array2::zeros((self.m, rows).f());
        }
        let mut cross = cross.slice_mut(s![.., ..rows]);
        kernel.gram_into(&z, &z, inducing, workers);
        let jitter = factorise(inducing, self.jitter, workers)?;
        kernel.gram_into(&z, &x, &mut cross, workers);
        let prior = kernel.diagonal(&x);
        let centred = y - self.hyperparameters.mean();
        let minibatch = Minibatch {
            factor: inducing.view(),
            cross: cross.view(),
            prior: prior.view(),
            y: centred.view(),
            noise_scale: self.hyperparameters.noise_scale(),
            weight: n as f64 / rows as f64,
        };
        let bound = by_kernel.evaluate(&self.variational(), &minibatch, workers)?;
        let by_points = self.by_scales(&kernel, x, z, workspace, workers);
        self.by_points(by_points, pass.as_ref(), workspace, workers);
        let dead_features = pass.as_ref().map_or(0, Pass::dead_features);
        Ok(Evaluation { bound, jitter, dead_features })
    }

    /// Sets the distribution to its optimum for the rows given, and changes nothing else. Returns the bound there.
    ///
    /// # Errors
    /// As [`evaluate`](Self::evaluate).
    pub fn optimise_distribution(
        &mut self,
        x: &ArrayRef2<f64>,
        y: &ArrayRef1<f64>,
        workers: Workers<'_>,
    ) -> Result<Evaluation> {
        /// Rows whose K(Z, X) is in memory at once.
        const ROWS: usize = 1024;
        let (kernel, z) = (self.kernel(), self.features(&self.points(), workers));
        let mut factor = kernel.gram(&z, &z, workers);
        let jitter = factorise(&mut factor, self.jitter, workers)?;
        let mut sums = Sums::new(self.m, self.hyperparameters.noise_scale().powi(2));
        for (x, y) in x.axis_chunks_iter(Axis(0), ROWS).zip(y.axis_chunks_iter(Axis(0), ROWS)) {
            let x = self.features(&x, workers);
            let residual = &y - self.hyperparameters.mean();
            let mut cross = kernel.gram(&z, &x, workers);
            sums.add(&factor, &mut cross, &kernel.diagonal(&x), &residual, workers)?;
        }
        let Optimum { mean, root, bound } = sums.optimum(workers)?;
        let (of_mean, of_root) = (self.mean_range(), self.root_range());
        self.parameters[of_mean].copy_from_slice(mean.as_slice().expect("a vector in one piece"));
        let columns = root.as_slice_memory_order().expect("column-major as it was made");
        self.parameters[of_root].copy_from_slice(columns);
        Ok(Evaluation { bound, jitter, dead_features: 0 })
    }

    /// Stores the derivatives by the scales, m and R. Returns those by the kernel's inputs: by those of the minibatch, if
    /// there is a network, and by the inducing points.
    fn by_scales(
        &self,
        kernel: &Kernel,
        x: ArrayView2<'_, f64>,
        z: ArrayView2<'_, f64>,
        workspace: &mut GradientMemory,
        workers: Workers<'_>,
    ) -> (Array2<f64>, Array2<f64>) {
        let by = &workspace.by_kernel;
        let (is_deep, moves) = (self.network.is_some(), self.network.is_some() || self.moves_points);
        let points = match (is_deep, moves) {
            (true, _) => Points::Both,
            (false, true) => Points::Rows,
            (false, false) => Points::Neither,
        };
        let mut total = kernel.pull_back(&z, &x, &by.cross(), points, workers);
        // With a symmetric cotangent, the derivatives by the columns' points equal those by the rows'.
        let sides = if moves { Points::Rows } else { Points::Neither };
        let inducing = kernel.pull_back(&z, &z, &by.inducing, sides, workers);
        let prior = Array1::from_elem(x.nrows(), by.prior);
        let diagonal = kernel.pull_back_diagonal(&x, &prior, is_deep);
        total.add_scales(&inducing);
        total.add_scales(&diagonal);
        if self.family == Covariance::Linear {
            // The network's weights, or the data's, set its scale.
            total.signal_scale = 0.0;
            total.length_scale.fill(0.0);
        }
        let by_scales = Scales {
            signal_scale: -total.signal_scale,
            noise_scale: -by.noise_scale,
            length_scale: total.length_scale.iter().map(|by| -by).collect(),
            mean: -by.prior_mean,
        };
        workspace.gradient.clear();
        workspace.gradient.extend(self.hyperparameters.chain(&by_scales));
        workspace.gradient.extend(by.mean.iter().map(|by| -by));
        let by_root = by.root.as_slice_memory_order().expect("column-major as it was made");
        workspace.gradient.extend(by_root.iter().map(|by| -by));
        total.rows.scaled_add(2.0, &inducing.rows);
        total.columns += &diagonal.rows;
        (total.columns, total.rows)
    }

    /// Appends the derivatives by Z and by the network's parameters.
    fn by_points(
        &self,
        (by_x, by_z): (Array2<f64>, Array2<f64>),
        pass: Option<&Pass>,
        workspace: &mut GradientMemory,
        workers: Workers<'_>,
    ) {
        let flat = &mut workspace.gradient;
        let fixed = std::iter::repeat_n(0.0, self.m * self.d);
        let (Some(network), Some(pass)) = (&self.network, pass) else {
            match self.moves_points {
                true => flat.extend(by_z.iter().map(|by| -by)),
                false => flat.extend(fixed),
            }
            return;
        };
        let parameters = self.network_parameters();
        let cotangent = -concatenate![Axis(0), by_x, by_z];
        let mut by_network = vec![0.0; parameters.len()];
        if self.moves_points {
            let inputs = network.backward_with_inputs(parameters, pass, &cotangent, &mut by_network, workers);
            flat.extend(inputs.slice(s![by_x.nrows().., ..]).iter());
        } else {
            network.backward(parameters, pass, &cotangent, &mut by_network, workers);
            flat.extend(fixed);
        }
        flat.extend(by_network);
    }

    /// Means and variances of y, noise included, at the rows of `x`.
    ///
    /// # Errors
    /// As [`evaluate`](Self::evaluate).
    pub fn predict(&self, x: &ArrayRef2<f64>, workers: Workers<'_>) -> Result<(Array1<f64>, Array1<f64>)> {
        let z = self.features(&self.points(), workers);
        let (kernel, q) = (self.kernel(), self.variational());
        let mut factor = kernel.gram(&z, &z, workers);
        factorise(&mut factor, self.jitter, workers)?;
        let posterior = InducingPosterior {
            kernel: &kernel,
            z: z.view(),
            factor: factor.view(),
            mean: q.mean,
            root: q.root,
        };
        let (means, variances) = posterior.predict(&self.features(x, workers), workers)?;
        Ok((means + self.hyperparameters.mean(), variances + self.hyperparameters.noise_scale().powi(2)))
    }

    /// The kernel's inputs for some points: their features, or the points themselves.
    fn features(&self, points: &ArrayRef2<f64>, workers: Workers<'_>) -> Array2<f64> {
        match &self.network {
            Some(network) => network.features(self.network_parameters(), points, workers),
            None => points.to_owned(),
        }
    }

    /// The model for the harness.
    ///
    /// # Errors
    /// As [`evaluate`](Self::evaluate).
    pub fn model(&self, workers: Workers<'_>) -> Result<Model> {
        let z = self.features(&self.points(), workers);
        let jitter = factorise(&mut self.kernel().gram(&z, &z, workers), self.jitter, workers)?;
        let q = self.variational();
        let model = Model::inducing(&self.scales(), self.points(), q.mean, q.root, jitter);
        let Some(network) = &self.network else { return Ok(model) };
        let parameters = self.network_parameters();
        let layer = |layer| (network.weight(parameters, layer), network.bias(parameters, layer));
        Ok(model.on_network((0..network.layers()).map(layer)))
    }
}

/// The Cholesky factor of K + jitter I in place of K's lower triangle. Returns the jitter: the first of 1, 10, 100 ...
/// times `jitter` that suffices.
fn factorise(gram: &mut ArrayRef2<f64>, jitter: f64, workers: Workers<'_>) -> Result<f64> {
    let diagonal = gram.diag().to_owned();
    let mut tried = jitter;
    loop {
        gram.diag_mut().assign(&(&diagonal + tried));
        match panels::cholesky(gram, workers) {
            Ok(()) => return Ok(tried),
            Err(Error::NotPositiveDefinite { .. }) if tried < MOST_JITTER => {
                tried = (10.0 * tried).min(MOST_JITTER);
                // K is unchanged above the diagonal.
                panels::mirror_upper(gram.view_mut());
            }
            Err(error) => return Err(error),
        }
    }
}
