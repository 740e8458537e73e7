//! Learned models, as named arrays, and saved states.

use std::collections::BTreeMap;

use gpbench_terms::ModelKind;
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis};

use crate::error::{Error, Result};

/// A learned model: named arrays of one of the kinds from which the harness can compute predictions.
///
/// Scales are standard deviations, never variances.
///
/// ```
/// use gpbench_sdk::{Model, Scales};
///
/// let scales = Scales { signal_scale: 1.2, noise_scale: 0.1, length_scale: vec![0.5, 2.0], mean: 0.0 };
/// let model = Model::gp(&scales);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    pub(crate) arrays: BTreeMap<String, Array2<f64>>,
}

/// Hyperparameters of a Gaussian process.
#[derive(Debug, Clone, PartialEq)]
pub struct Scales {
    /// Standard deviation of the latent function.
    pub signal_scale: f64,
    /// Standard deviation of the noise.
    pub noise_scale: f64,
    /// One length scale for each input of the kernel.
    pub length_scale: Vec<f64>,
    /// Constant prior mean: the process is that of y less it, and predictions have it added.
    pub mean: f64,
}

/// Random Fourier features of a kernel of infinite dimension, for [`Model::features`]:
/// signal_scale / sqrt(R/2) \[sin(a), cos(a)\], a = z frequencies / length_scale.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RandomFeatures<'a> {
    /// Standard deviation of the latent function.
    pub signal_scale: f64,
    /// The length scale of all outputs of the network.
    pub length_scale: f64,
    /// Standard normal numbers, outputs of the network x R/2.
    pub frequencies: ArrayView2<'a, f64>,
}

/// Combinations of [`Model::experts`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Combine {
    /// Combines their variances of y.
    Observed,
    /// Combines their variances of the latent function; then the mean of the noise variances is added.
    Latent,
}

/// One expert of [`Model::experts`].
#[derive(Debug, Clone, PartialEq)]
pub struct Expert<'a> {
    /// Its hyperparameters.
    pub scales: Scales,
    /// Its training rows; as many for each expert.
    pub rows: &'a [usize],
    /// Its weight.
    pub weight: f64,
}

/// A model of these arrays, as a host receives it: for tests.
impl From<BTreeMap<String, Array2<f64>>> for Model {
    fn from(arrays: BTreeMap<String, Array2<f64>>) -> Model {
        Model { arrays }
    }
}

impl Model {
    fn new(kind: ModelKind) -> Model {
        Model { arrays: BTreeMap::new() }.number("kind", kind.number().into())
    }

    /// An exact Gaussian process on all training rows.
    pub fn gp(scales: &Scales) -> Model {
        Model::new(ModelKind::Gp).scales(scales)
    }

    /// Inducing points `z` (m x d) with a variational distribution: with L L^T = K(z, z) + jitter I,
    /// f(z) = L v, and v has mean `q_mean` (m) and covariance `q_root` `q_root`^T, `q_root` m x m and lower
    /// triangular.
    pub fn inducing(
        scales: &Scales,
        z: ArrayView2<'_, f64>,
        q_mean: ArrayView1<'_, f64>,
        q_root: ArrayView2<'_, f64>,
        jitter: f64,
    ) -> Model {
        Model::new(ModelKind::Inducing).scales(scales).on_inducing(z, q_mean, q_root, jitter)
    }

    /// Adds inducing points and their distribution, as of [`inducing`](Self::inducing), to a model of
    /// [`neighbours`](Self::neighbours).
    #[must_use]
    pub fn on_inducing(
        self,
        z: ArrayView2<'_, f64>,
        q_mean: ArrayView1<'_, f64>,
        q_root: ArrayView2<'_, f64>,
        jitter: f64,
    ) -> Model {
        self.with("z", z)
            .with("q_mean", q_mean.insert_axis(Axis(1)))
            .with("q_root", q_root)
            .number("jitter", jitter)
    }

    /// An exact Gaussian process that predicts each row from its `neighbours` nearest training rows only, which the
    /// harness finds. With inducing points, added by [`on_inducing`](Self::on_inducing), they explain what these leave.
    pub fn neighbours(scales: &Scales, neighbours: usize) -> Model {
        Model::new(ModelKind::Neighbours).scales(scales).number("neighbours", neighbours as f64)
    }

    /// A Gaussian process that is conditioned on the projections S^T y of the targets alone. Row j is in the action
    /// `action[j]`, counted from 0, with the entry `entry[j]`; the others of S, n x actions, are 0. An action has an entry
    /// that is not 0.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn sparse_actions(scales: &Scales, action: &[usize], entry: ArrayView1<'_, f64>) -> Model {
        assert_eq!(action.len(), entry.len(), "an entry for each row");
        let action: Array1<f64> = action.iter().map(|&action| action as f64).collect();
        Model::new(ModelKind::Actions)
            .scales(scales)
            .with("action", action.view().insert_axis(Axis(1)))
            .with("entry", entry.insert_axis(Axis(1)))
    }

    /// As [`sparse_actions`](Self::sparse_actions), for linearly independent `actions`, n x i, of any entries.
    pub fn dense_actions(scales: &Scales, actions: ArrayView2<'_, f64>) -> Model {
        Model::new(ModelKind::Actions).scales(scales).with("actions", actions)
    }

    /// Finitely many features: the network's outputs (a linear kernel), or random features of them. The network's
    /// layers are added by [`on_network`](Self::on_network), and a prior mean by [`with`](Self::with) as `mean`, 1 x 1:
    /// y - mean = features x weights + noise. Without it the mean is 0.
    pub fn features(noise_scale: f64, random: Option<RandomFeatures<'_>>) -> Model {
        let model = Model::new(ModelKind::Features).number("noise_scale", noise_scale);
        match random {
            None => model,
            Some(random) => model
                .number("signal_scale", random.signal_scale)
                .number("length_scale", random.length_scale)
                .with("frequencies", random.frequencies),
        }
    }

    /// Exact processes on subsets, combined.
    ///
    /// # Errors
    /// If the experts differ in their number of rows or of length scales, or there are none.
    pub fn experts(experts: &[Expert<'_>], combine: Combine) -> Result<Model> {
        let sizes = |expert: &Expert<'_>| (expert.rows.len(), expert.scales.length_scale.len());
        let first = experts.first().map(sizes);
        let (rows, d) = first.ok_or_else(|| Error::InvalidArgument("a model without experts".into()))?;
        if experts.iter().any(|expert| sizes(expert) != (rows, d)) {
            return Err(Error::InvalidArgument("experts of different sizes".into()));
        }
        let row = |value: &dyn Fn(&Expert<'_>) -> f64| {
            Array2::from_shape_fn((1, experts.len()), |(_, e)| value(&experts[e]))
        };
        let length_scale =
            Array2::from_shape_fn((d, experts.len()), |(k, e)| experts[e].scales.length_scale[k]);
        let chosen = Array2::from_shape_fn((rows, experts.len()), |(i, e)| experts[e].rows[i] as f64);
        Ok(Model::new(ModelKind::Experts)
            .with("signal_scale", row(&|expert| expert.scales.signal_scale).view())
            .with("noise_scale", row(&|expert| expert.scales.noise_scale).view())
            .with("mean", row(&|expert| expert.scales.mean).view())
            .with("weight", row(&|expert| expert.weight).view())
            .with("length_scale", length_scale.view())
            .with("rows", chosen.view())
            .number("combine", if combine == Combine::Latent { 1.0 } else { 0.0 }))
    }

    /// Puts a network in front: its layers, each of weights (outputs x inputs) and biases (outputs), from the one
    /// that sees the inputs. An exact process and inducing points become those of a network's outputs.
    #[must_use]
    pub fn on_network<'l>(
        mut self,
        layers: impl IntoIterator<Item = (ArrayView2<'l, f64>, ArrayView1<'l, f64>)>,
    ) -> Model {
        let on_network = match self.kind() {
            Some(ModelKind::Gp) => Some(ModelKind::NetworkGp),
            Some(ModelKind::Inducing) => Some(ModelKind::NetworkInducing),
            _ => None,
        };
        if let Some(kind) = on_network {
            self = self.number("kind", kind.number().into());
        }
        for (index, (weight, bias)) in layers.into_iter().enumerate() {
            self = self
                .with(&format!("weight_{}", index + 1), weight)
                .with(&format!("bias_{}", index + 1), bias.insert_axis(Axis(1)));
        }
        self
    }

    /// Adds a further array, which the harness keeps and does not use. `name` is up to 64 lower-case letters, digits
    /// and underscores.
    #[must_use]
    pub fn with(mut self, name: &str, array: ArrayView2<'_, f64>) -> Model {
        self.arrays.insert(name.to_owned(), array.to_owned());
        self
    }

    /// The kind; none for a number that is none.
    pub fn kind(&self) -> Option<ModelKind> {
        ModelKind::from_number(self.arrays["kind"][[0, 0]] as i32)
    }

    /// An array of this model, for tests.
    pub fn array(&self, name: &str) -> Option<ArrayView2<'_, f64>> {
        self.arrays.get(name).map(|array| array.view())
    }

    fn number(self, name: &str, value: f64) -> Model {
        self.with(name, Array2::from_elem((1, 1), value).view())
    }

    fn scales(self, scales: &Scales) -> Model {
        let length_scale = Array1::from(scales.length_scale.clone());
        self.number("signal_scale", scales.signal_scale)
            .number("noise_scale", scales.noise_scale)
            .number("mean", scales.mean)
            .with("length_scale", length_scale.view().insert_axis(Axis(1)))
    }
}

/// A learner's saved state: arrays and numbers by name.
///
/// Names are up to 64 lower-case letters, digits and underscores; those that begin with `sdk_` are the SDK's.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Saved {
    pub(crate) arrays: BTreeMap<String, Array2<f64>>,
}

impl Saved {
    /// A state without entries.
    pub fn new() -> Saved {
        Saved::default()
    }

    /// Puts a matrix.
    pub fn put(&mut self, name: &str, array: ArrayView2<'_, f64>) {
        self.arrays.insert(name.to_owned(), array.to_owned());
    }

    /// Puts a list of numbers.
    pub fn put_list(&mut self, name: &str, values: &[f64]) {
        self.put(name, ArrayView1::from(values).insert_axis(Axis(1)));
    }

    /// Puts a number.
    pub fn put_number(&mut self, name: &str, value: f64) {
        self.put_list(name, &[value]);
    }

    /// Puts whole numbers of any size, such as rows, counters and states of generators of random numbers.
    pub fn put_integers(&mut self, name: &str, values: impl IntoIterator<Item = u64>) {
        // Halves, which a f64 holds exactly.
        let halves = |value: u64| [f64::from((value >> 32) as u32), f64::from(value as u32)];
        let values: Vec<f64> = values.into_iter().flat_map(halves).collect();
        self.put_list(name, &values);
    }

    /// Puts matrices under their names, such as an optimiser's state.
    pub fn put_all(&mut self, named: impl IntoIterator<Item = (String, Array2<f64>)>) {
        self.arrays.extend(named);
    }

    /// The matrix of that name, if there is one.
    pub fn find(&self, name: &str) -> Option<Array2<f64>> {
        self.arrays.get(name).cloned()
    }

    /// The matrix of that name.
    pub fn get(&self, name: &str) -> Result<ArrayView2<'_, f64>> {
        let array = self.arrays.get(name).map(|array| array.view());
        array.ok_or_else(|| Error::InvalidArgument(format!("the saved state has no `{name}`")))
    }

    /// The matrix of that name, of this shape.
    pub fn get_shaped(&self, name: &str, shape: (usize, usize)) -> Result<Array2<f64>> {
        let array = self.get(name)?;
        if array.dim() == shape {
            return Ok(array.to_owned());
        }
        Err(Error::InvalidArgument(format!("the saved `{name}` is {:?}, expected {shape:?}", array.dim())))
    }

    /// The list of that name.
    pub fn get_list(&self, name: &str) -> Result<Vec<f64>> {
        Ok(self.get(name)?.iter().copied().collect())
    }

    /// The number of that name.
    pub fn get_number(&self, name: &str) -> Result<f64> {
        Ok(self.get_shaped(name, (1, 1))?[[0, 0]])
    }

    /// The whole numbers of that name.
    pub fn get_integers(&self, name: &str) -> Result<Vec<u64>> {
        let halves = self.get_list(name)?;
        let whole = |half: f64| half.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&half);
        if halves.len() % 2 != 0 || !halves.iter().all(|&half| whole(half)) {
            return Err(Error::InvalidArgument(format!("the saved `{name}` are not whole numbers")));
        }
        Ok(halves.chunks_exact(2).map(|pair| ((pair[0] as u64) << 32) | pair[1] as u64).collect())
    }
}
