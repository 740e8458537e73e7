//! Fully connected networks for authors of learners: h = max(0, W x + b) in every layer, the last one too.
//!
//! Parameters are one flat vector, for an optimiser: the weights of the first layer, row after row (outputs x inputs), its
//! biases, then those of the second layer. A row's features depend on that row alone; sums over rows are taken over
//! pieces of fixed size, so results do not depend on the number of threads.

use ndarray::{Array2, ArrayRef2, ArrayView1, ArrayView2};

use crate::{Result, Workers};

/// The shape of a network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mlp {
    /// Inputs, then the width of each layer.
    widths: Vec<usize>,
}

/// A batch on its way through a network: what [`Mlp::backward`] needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Pass {
    /// The inputs, then the outputs of each layer, b rows each.
    layers: Vec<Array2<f64>>,
}

impl Pass {
    /// What the last layer gives, b x outputs, row-major, all at least 0.
    pub fn features(&self) -> ArrayView2<'_, f64> {
        todo!()
    }

    /// Number of features that are 0 in every row of the batch, and so get no gradient.
    pub fn dead_features(&self) -> usize {
        todo!()
    }
}

impl Mlp {
    /// A network of `inputs` inputs with layers of these widths, from the first to the last.
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::Error::InvalidArgument) without inputs or layers, or if a width is 0.
    pub fn new(inputs: usize, widths: &[usize]) -> Result<Mlp> {
        todo!()
    }

    /// Number of inputs.
    pub fn inputs(&self) -> usize {
        todo!()
    }

    /// Number of features.
    pub fn outputs(&self) -> usize {
        todo!()
    }

    /// Number of layers.
    pub fn layers(&self) -> usize {
        todo!()
    }

    /// Length of the parameter vector.
    pub fn n_parameters(&self) -> usize {
        todo!()
    }

    /// Parameters to start from, uniform on ±1 / sqrt(fan-in), weights and biases, as PyTorch's `Linear` has them. The random
    /// stream is ChaCha8's of the seed.
    pub fn start(&self, seed: u64) -> Vec<f64> {
        todo!()
    }

    /// The weights of a layer, counted from 0, outputs x inputs.
    pub fn weight<'p>(&self, parameters: &'p [f64], layer: usize) -> ArrayView2<'p, f64> {
        todo!()
    }

    /// The biases of a layer, counted from 0.
    pub fn bias<'p>(&self, parameters: &'p [f64], layer: usize) -> ArrayView1<'p, f64> {
        todo!()
    }

    /// The features of the rows of `x`, b x inputs, and what the way back needs.
    pub fn forward(&self, parameters: &[f64], x: &ArrayRef2<f64>, workers: Workers<'_>) -> Pass {
        todo!()
    }

    /// The features alone, b x outputs, row-major, for batches of any size: nothing else is kept.
    pub fn features(&self, parameters: &[f64], x: &ArrayRef2<f64>, workers: Workers<'_>) -> Array2<f64> {
        todo!()
    }

    /// Adds the derivatives by the parameters to `gradient`, where those by the features are `cotangent`, b x outputs.
    pub fn backward(
        &self,
        parameters: &[f64],
        pass: &Pass,
        cotangent: &ArrayRef2<f64>,
        gradient: &mut [f64],
        workers: Workers<'_>,
    ) {
        todo!()
    }

    /// The same, and the derivatives by the inputs, b x inputs: for inducing points that move.
    pub fn backward_with_inputs(
        &self,
        parameters: &[f64],
        pass: &Pass,
        cotangent: &ArrayRef2<f64>,
        gradient: &mut [f64],
        workers: Workers<'_>,
    ) -> Array2<f64> {
        todo!()
    }
}
