//! Fully connected networks for authors of learners: h = max(0, W x + b) in every layer, the last one too.
//!
//! Parameters are one flat vector, for an optimiser: the weights of the first layer, row after row (outputs x
//! inputs), its biases, then those of the second layer. A row's features depend on that row alone; sums over
//! rows are taken over pieces of fixed size, so results do not depend on the number of threads.

use std::ops::Range;

use ndarray::linalg::general_mat_mul;
use ndarray::{Array2, ArrayRef2, ArrayView1, ArrayView2, ArrayViewMut2, Axis, Zip, s};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::{Error, Result, Workers};
use gpbench_numerics::pieces::in_order;

/// Rows of a piece of a batch, one thread's unit of work.
const ROWS: usize = 512;

/// The shape of a network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mlp {
    /// Inputs, then the width of each layer.
    widths: Vec<usize>,
}

/// The forward pass of a batch, which [`Mlp::backward`] needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Pass {
    /// The inputs, then the outputs of each layer, b rows each.
    layers: Vec<Array2<f64>>,
}

impl Pass {
    /// Outputs of the last layer, b x outputs, row-major; no entry is negative.
    pub fn features(&self) -> ArrayView2<'_, f64> {
        self.layers.last().expect("a network has layers").view()
    }

    /// Number of features that are 0 in every row of the batch, and so get no gradient.
    pub fn dead_features(&self) -> usize {
        dead_features(&self.features())
    }
}

/// Number of columns of `features` that are 0 in every row.
pub fn dead_features(features: &ArrayRef2<f64>) -> usize {
    let mut alive = vec![false; features.ncols()];
    for row in features.rows() {
        alive.iter_mut().zip(row).for_each(|(alive, &feature)| *alive |= feature != 0.0);
    }
    alive.iter().filter(|&&alive| !alive).count()
}

impl Mlp {
    /// A network of `inputs` inputs with layers of these widths, from the first to the last.
    ///
    /// # Errors
    /// [`InvalidArgument`](Error::InvalidArgument) without inputs or layers, or if a width is 0.
    pub fn new(inputs: usize, widths: &[usize]) -> Result<Mlp> {
        if widths.is_empty() || inputs == 0 || widths.contains(&0) {
            let text = format!("a network of {inputs} inputs and widths {widths:?}: each must be at least 1");
            return Err(Error::InvalidArgument(text));
        }
        Ok(Mlp { widths: [&[inputs], widths].concat() })
    }

    /// Number of inputs.
    pub fn inputs(&self) -> usize {
        self.widths[0]
    }

    /// Number of features.
    pub fn outputs(&self) -> usize {
        self.widths[self.layers()]
    }

    /// Number of layers.
    pub fn layers(&self) -> usize {
        self.widths.len() - 1
    }

    /// Length of the parameter vector.
    pub fn n_parameters(&self) -> usize {
        self.ranges(self.layers() - 1).1.end
    }

    /// Parameters to start from, uniform on ±1 / sqrt(fan-in), weights and biases, as PyTorch's `Linear` has
    /// them. The random stream is ChaCha8's of the seed.
    pub fn start(&self, seed: u64) -> Vec<f64> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut parameters = Vec::with_capacity(self.n_parameters());
        for pair in self.widths.windows(2) {
            let bound = 1.0 / (pair[0] as f64).sqrt();
            parameters.extend((0..(pair[0] + 1) * pair[1]).map(|_| rng.random_range(-bound..=bound)));
        }
        parameters
    }

    /// The weights of a layer, counted from 0, outputs x inputs.
    ///
    /// # Panics
    /// If there is no such layer, or `parameters` has another length.
    pub fn weight<'p>(&self, parameters: &'p [f64], layer: usize) -> ArrayView2<'p, f64> {
        self.check(parameters);
        let numbers = &parameters[self.ranges(layer).0];
        ArrayView2::from_shape(self.shape(layer), numbers).expect("as many as the shape has")
    }

    /// The biases of a layer, counted from 0.
    ///
    /// # Panics
    /// As [`weight`](Self::weight).
    pub fn bias<'p>(&self, parameters: &'p [f64], layer: usize) -> ArrayView1<'p, f64> {
        self.check(parameters);
        ArrayView1::from(&parameters[self.ranges(layer).1])
    }

    /// The features of the rows of `x`, b x inputs, and the data that the backward pass needs.
    ///
    /// # Panics
    /// If the shapes do not fit.
    pub fn forward(&self, parameters: &[f64], x: &ArrayRef2<f64>, workers: Workers<'_>) -> Pass {
        let mut layers = Vec::with_capacity(self.widths.len());
        layers.push(x.as_standard_layout().into_owned());
        for layer in 0..self.layers() {
            layers.push(self.outputs_of(layer, parameters, &layers[layer], workers));
        }
        Pass { layers }
    }

    /// The features alone, b x outputs, row-major, for batches of any size; nothing else is stored.
    ///
    /// # Panics
    /// If the shapes do not fit.
    pub fn features(&self, parameters: &[f64], x: &ArrayRef2<f64>, workers: Workers<'_>) -> Array2<f64> {
        let first = self.outputs_of(0, parameters, x, workers);
        (1..self.layers()).fold(first, |inputs, layer| self.outputs_of(layer, parameters, &inputs, workers))
    }

    /// Adds the derivatives by the parameters to `gradient`, where those by the features are `cotangent`, b x
    /// outputs.
    ///
    /// # Panics
    /// If the shapes do not fit.
    pub fn backward(
        &self,
        parameters: &[f64],
        pass: &Pass,
        cotangent: &ArrayRef2<f64>,
        gradient: &mut [f64],
        workers: Workers<'_>,
    ) {
        self.backward_into(parameters, pass, cotangent, gradient, None, workers);
    }

    /// As [`backward`](Self::backward), and returns the derivatives by the inputs, b x inputs, for inducing points that
    /// move.
    ///
    /// # Panics
    /// If the shapes do not fit.
    pub fn backward_with_inputs(
        &self,
        parameters: &[f64],
        pass: &Pass,
        cotangent: &ArrayRef2<f64>,
        gradient: &mut [f64],
        workers: Workers<'_>,
    ) -> Array2<f64> {
        let mut by_inputs = Array2::zeros(pass.layers[0].dim());
        self.backward_into(parameters, pass, cotangent, gradient, Some(by_inputs.view_mut()), workers);
        by_inputs
    }

    /// Shape of a layer's weights, outputs x inputs.
    fn shape(&self, layer: usize) -> (usize, usize) {
        (self.widths[layer + 1], self.widths[layer])
    }

    /// Ranges of the weights and the biases of a layer in the parameters.
    fn ranges(&self, layer: usize) -> (Range<usize>, Range<usize>) {
        let start: usize = self.widths.windows(2).take(layer).map(|pair| (pair[0] + 1) * pair[1]).sum();
        let (outputs, inputs) = self.shape(layer);
        let end = start + outputs * inputs;
        (start..end, end..end + outputs)
    }

    fn check(&self, parameters: &[f64]) {
        assert_eq!(parameters.len(), self.n_parameters(), "the parameters of another network");
    }

    /// Outputs of a layer.
    fn outputs_of(
        &self,
        layer: usize,
        parameters: &[f64],
        inputs: &ArrayRef2<f64>,
        workers: Workers<'_>,
    ) -> Array2<f64> {
        let (weight, bias) = (self.weight(parameters, layer), self.bias(parameters, layer));
        assert_eq!(inputs.ncols(), weight.ncols(), "the numbers of inputs differ");
        let mut outputs = Array2::zeros((inputs.nrows(), bias.len()));
        let pieces = outputs.axis_chunks_iter_mut(Axis(0), ROWS).zip(inputs.axis_chunks_iter(Axis(0), ROWS));
        workers.for_each(pieces, |(mut outputs, inputs)| {
            general_mat_mul(1.0, &inputs, &weight.t(), 0.0, &mut outputs);
            for mut row in outputs.rows_mut() {
                Zip::from(&mut row).and(&bias).for_each(|output, &bias| {
                    let sum = *output + bias;
                    // NaN stays NaN.
                    *output = if sum < 0.0 { 0.0 } else { sum };
                });
            }
        });
        outputs
    }

    /// The backward pass, by pieces of rows whose sums are added in order.
    fn backward_into(
        &self,
        parameters: &[f64],
        pass: &Pass,
        cotangent: &ArrayRef2<f64>,
        gradient: &mut [f64],
        mut by_inputs: Option<ArrayViewMut2<'_, f64>>,
        workers: Workers<'_>,
    ) {
        self.check(gradient);
        let rows = cotangent.nrows();
        assert_eq!(pass.features().dim(), cotangent.dim(), "one derivative a feature");
        let with_inputs = by_inputs.is_some();
        let piece = |piece: usize| ROWS * piece..rows.min(ROWS * (piece + 1));
        let make = |i: usize| self.backward_of(parameters, pass, cotangent, piece(i), with_inputs);
        in_order(rows.div_ceil(ROWS), workers, make, |i, (part, inputs)| {
            gradient.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
            if let (Some(all), Some(inputs)) = (&mut by_inputs, inputs) {
                all.slice_mut(s![piece(i), ..]).assign(&inputs);
            }
        });
    }

    /// The backward pass of some rows: the derivatives by the parameters and, if asked for, by the inputs.
    fn backward_of(
        &self,
        parameters: &[f64],
        pass: &Pass,
        cotangent: &ArrayRef2<f64>,
        rows: Range<usize>,
        with_inputs: bool,
    ) -> (Vec<f64>, Option<Array2<f64>>) {
        let mut gradient = vec![0.0; self.n_parameters()];
        let mut by_outputs = Array2::zeros((rows.len(), self.outputs()));
        by_outputs.assign(&cotangent.slice(s![rows.clone(), ..]));
        for layer in (0..self.layers()).rev() {
            // max(0, t) passes derivatives where t > 0.
            let outputs = pass.layers[layer + 1].slice(s![rows.clone(), ..]);
            Zip::from(&mut by_outputs).and(&outputs).for_each(|derivative, &output| {
                if output <= 0.0 {
                    *derivative = 0.0;
                }
            });
            let inputs = pass.layers[layer].slice(s![rows.clone(), ..]);
            let (weights, biases) = self.ranges(layer);
            let mut by_weight = ArrayViewMut2::from_shape(self.shape(layer), &mut gradient[weights])
                .expect("as many as the shape has");
            general_mat_mul(1.0, &by_outputs.t(), &inputs, 0.0, &mut by_weight);
            for row in by_outputs.rows() {
                gradient[biases.clone()].iter_mut().zip(row).for_each(|(sum, derivative)| *sum += derivative);
            }
            if layer > 0 || with_inputs {
                by_outputs = by_outputs.dot(&self.weight(parameters, layer));
            }
        }
        (gradient, with_inputs.then_some(by_outputs))
    }
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;
    use crate::differences::{assert_close, derivatives, uniform};

    #[test]
    fn parameters_are_weights_then_biases_layer_by_layer() {
        let network = Mlp::new(2, &[3, 1]).unwrap();
        assert_eq!(
            (network.inputs(), network.outputs(), network.layers(), network.n_parameters()),
            (2, 1, 2, 13)
        );
        let parameters: Vec<f64> = (0..13).map(f64::from).collect();
        assert_eq!(network.weight(&parameters, 0), array![[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]);
        assert_eq!(network.bias(&parameters, 0), array![6.0, 7.0, 8.0]);
        assert_eq!(network.weight(&parameters, 1), array![[9.0, 10.0, 11.0]]);
        assert_eq!(network.bias(&parameters, 1), array![12.0]);
    }

    #[test]
    fn features_are_those_of_the_formula() {
        let network = Mlp::new(2, &[2, 2]).unwrap();
        let parameters = [1.0, 2.0, -1.0, 1.0, 0.5, -0.5, 1.0, 1.0, -1.0, 0.0, 0.0, 1.0];
        // Hidden: (1 + 4 + 0.5, -1 + 2 - 0.5); features: (6, max(0, -5.5 + 1)).
        let pass = network.forward(&parameters, &array![[1.0, 2.0]], Workers::new(1));
        assert_eq!(pass.features(), array![[6.0, 0.0]]);
        assert_eq!(pass.dead_features(), 1);
        let not_finite = network.forward(&parameters, &array![[f64::NAN, 2.0]], Workers::new(1));
        assert!(not_finite.features().iter().all(|feature| feature.is_nan()));
    }

    #[test]
    fn a_start_is_uniform_by_fan_in_and_never_changes() {
        let network = Mlp::new(4, &[128, 64]).unwrap();
        let parameters = network.start(7);
        assert_eq!(parameters.len(), network.n_parameters());
        assert_eq!(parameters, network.start(7));
        assert_ne!(parameters, network.start(8));
        for (layer, bound) in [(0, 0.5), (1, 1.0 / 128_f64.sqrt())] {
            let weights = network.weight(&parameters, layer);
            let biases = network.bias(&parameters, layer);
            assert!(weights.iter().chain(&biases).all(|value| value.abs() <= bound));
            assert!(
                weights.iter().any(|&value| value > 0.95 * bound)
                    && weights.iter().any(|&value| value < -0.95 * bound)
            );
            let variance = weights.iter().map(|value| value * value).sum::<f64>() / weights.len() as f64;
            assert!((variance / (bound * bound / 3.0) - 1.0).abs() < 0.15, "{variance}");
        }
    }

    #[test]
    fn the_backward_pass_is_the_derivative() {
        for widths in [&[4][..], &[5, 3], &[6, 5, 4]] {
            let network = Mlp::new(3, widths).unwrap();
            let (x, workers) = (uniform(7, 3, 1), Workers::new(1));
            let parameters = network.start(2);
            let cotangent = uniform(7, network.outputs(), 3);
            let value = |parameters: &[f64], x: &Array2<f64>| {
                (&cotangent * &network.features(parameters, x, workers)).sum()
            };
            let pass = network.forward(&parameters, &x, workers);
            assert_eq!(pass.features(), network.features(&parameters, &x, workers));
            // The derivatives are added to the numbers that are there.
            let mut gradient = vec![1.0; network.n_parameters()];
            let by_inputs =
                network.backward_with_inputs(&parameters, &pass, &cotangent, &mut gradient, workers);
            gradient.iter_mut().for_each(|value| *value -= 1.0);
            assert_close(&gradient, &derivatives(&parameters, |p| value(p, &x)), 1e-8);
            let reshape = |x: &[f64]| Array2::from_shape_vec((7, 3), x.to_vec()).unwrap();
            let expected = derivatives(x.as_slice().unwrap(), |x| value(&parameters, &reshape(x)));
            assert_close(&by_inputs, &expected, 1e-8);
            let mut alone = vec![1.0; network.n_parameters()];
            network.backward(&parameters, &pass, &cotangent, &mut alone, workers);
            alone.iter_mut().for_each(|value| *value -= 1.0);
            assert_eq!(alone, gradient);
        }
    }

    #[test]
    fn the_bits_do_not_depend_on_the_threads() {
        let network = Mlp::new(3, &[16, 8]).unwrap();
        let (x, cotangent) = (uniform(2000, 3, 1), uniform(2000, 8, 2));
        let parameters = network.start(3);
        let of = |threads| {
            let workers = Workers::new(threads);
            let pass = network.forward(&parameters, &x, workers);
            let mut gradient = vec![0.0; network.n_parameters()];
            let inputs = network.backward_with_inputs(&parameters, &pass, &cotangent, &mut gradient, workers);
            (pass, gradient, inputs)
        };
        assert_eq!(of(1), of(3));
    }

    #[test]
    fn a_network_without_width_is_an_error() {
        for (inputs, widths) in [(0, &[2][..]), (2, &[]), (2, &[3, 0])] {
            assert!(Mlp::new(inputs, widths).unwrap_err().to_string().contains("at least 1"));
        }
    }

    #[test]
    fn a_batch_of_no_rows_has_no_gradient() {
        let network = Mlp::new(2, &[3]).unwrap();
        let (parameters, none) = (network.start(1), Array2::zeros((0, 2)));
        let pass = network.forward(&parameters, &none, Workers::new(1));
        let mut gradient = vec![0.0; network.n_parameters()];
        network.backward(&parameters, &pass, &Array2::zeros((0, 3)), &mut gradient, Workers::new(1));
        assert!(gradient.iter().all(|&value| value == 0.0));
    }
}
