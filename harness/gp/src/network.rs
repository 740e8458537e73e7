//! Fully connected layers with the activation max(0, t), forward only.

use crate::threads::OnPool;
use gpbench_numerics::pieces;
use ndarray::linalg::general_mat_mul;
use ndarray::{Array1, Array2, ArrayView2, Axis, CowArray, Ix2, Zip};
use rayon::ThreadPool;

/// One layer: `max(0, W x + b)`.
#[derive(Debug, Clone, PartialEq)]
pub struct Layer {
    /// W, outputs x inputs.
    pub weight: Array2<f64>,
    /// b, one entry per output.
    pub bias: Array1<f64>,
}

/// Layers applied one after the other. Without layers, the outputs are the inputs.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Network {
    layers: Vec<Layer>,
}

impl Network {
    /// The network of these layers in order of application.
    ///
    /// # Panics
    /// If a bias does not have one entry per output, or a layer does not have as many inputs as the layer before it
    /// has outputs.
    pub fn new(layers: Vec<Layer>) -> Network {
        for layer in &layers {
            assert_eq!(layer.weight.nrows(), layer.bias.len(), "one bias for each output");
        }
        for (before, layer) in layers.iter().zip(layers.iter().skip(1)) {
            assert_eq!(before.weight.nrows(), layer.weight.ncols(), "a layer sees the outputs before it");
        }
        Network { layers }
    }

    /// Number of outputs, given the number of inputs.
    pub fn outputs(&self, inputs: usize) -> usize {
        self.layers.last().map_or(inputs, |layer| layer.weight.nrows())
    }

    /// Whether there is no layer.
    pub fn is_identity(&self) -> bool {
        self.layers.is_empty()
    }

    /// The outputs of the rows of `x` (n x d): n x outputs, row-major.
    pub fn forward<'x>(&self, x: ArrayView2<'x, f64>, pool: &ThreadPool) -> CowArray<'x, f64, Ix2> {
        if self.is_identity() {
            return x.into();
        }
        let mut z = Array2::zeros((x.nrows(), self.outputs(x.ncols())));
        pieces::fill(x, z.view_mut(), OnPool(pool), |x, mut z| z.assign(&self.rows(x)));
        z.into()
    }

    /// Outputs that are 0 for all rows of `x`.
    pub fn dead_outputs(&self, x: ArrayView2<f64>, pool: &ThreadPool) -> usize {
        let mut dead = vec![true; self.outputs(x.ncols())];
        let pieces = pieces::map(x, OnPool(pool), |_, x| -> Vec<bool> {
            let z = self.rows(x);
            z.columns().into_iter().map(|column| column.iter().all(|&z| z == 0.0)).collect()
        });
        for piece in pieces {
            dead.iter_mut().zip(piece).for_each(|(dead, here)| *dead &= here);
        }
        dead.into_iter().filter(|&dead| dead).count()
    }

    /// The outputs of a block of rows, computed on the calling thread.
    pub(crate) fn rows<'x>(&self, x: ArrayView2<'x, f64>) -> CowArray<'x, f64, Ix2> {
        self.layers.iter().fold(x.into(), |x, layer| layer.rows(x.view()).into())
    }
}

impl Layer {
    fn rows(&self, x: ArrayView2<f64>) -> Array2<f64> {
        let mut z = Array2::zeros((x.nrows(), self.weight.nrows()));
        general_mat_mul(1.0, &x, &self.weight.t(), 0.0, &mut z);
        for mut row in z.axis_iter_mut(Axis(0)) {
            // NaN is kept; `max` would turn it into 0.
            Zip::from(&mut row).and(&self.bias).for_each(|z, &b| {
                let sum = *z + b;
                *z = if sum < 0.0 { 0.0 } else { sum };
            });
        }
        z
    }
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;
    use crate::seed::Streams;
    use crate::threads::thread_pool;

    fn two_layers() -> Network {
        let streams = Streams::new(4, &[]);
        let layer = |name: &str, outputs: usize, inputs: usize| Layer {
            weight: streams.normals(&format!("{name}/weight"), outputs, inputs),
            bias: streams.normals(&format!("{name}/bias"), outputs, 1).column(0).to_owned(),
        };
        Network::new(vec![layer("first", 7, 3), layer("second", 5, 7)])
    }

    #[test]
    fn a_layer_by_hand() {
        let layer =
            Layer { weight: array![[1.0, -2.0], [3.0, 0.5], [-1.0, -1.0]], bias: array![0.5, -4.0, 0.0] };
        let z = Network::new(vec![layer]).rows(array![[2.0, 1.0], [0.0, f64::NAN]].view()).into_owned();
        assert_eq!(z.row(0), array![0.5, 2.5, 0.0]);
        assert!(z.row(1).iter().all(|z| z.is_nan()));
    }

    #[test]
    fn pieces_and_threads_change_no_bit() {
        let x = Streams::new(1, &[]).normals("x", 700, 3);
        let network = two_layers();
        let one = network.forward(x.view(), &thread_pool(1).unwrap());
        assert_eq!(one, network.forward(x.view(), &thread_pool(3).unwrap()));
        for (i, row) in x.rows().into_iter().enumerate() {
            let mut z = row.to_owned();
            for layer in &network.layers {
                z = (layer.weight.dot(&z) + &layer.bias).mapv(|z| z.max(0.0));
            }
            assert!((&z - &one.row(i)).iter().all(|e| e.abs() < 1e-13));
        }
    }

    #[test]
    fn dead_outputs_are_zero_in_every_row() {
        let x = Streams::new(1, &[]).normals("x", 700, 3);
        let mut network = two_layers();
        let pool = thread_pool(2).unwrap();
        let before = network.dead_outputs(x.view(), &pool);
        network.layers[1].bias[2] = -1e6;
        let after = network.dead_outputs(x.view(), &pool);
        let z = network.forward(x.view(), &pool);
        assert_eq!(after, z.columns().into_iter().filter(|z| z.iter().all(|&z| z == 0.0)).count());
        assert!(after > before || z.column(2).iter().all(|&z| z == 0.0));
        assert_eq!(Network::default().dead_outputs(x.view(), &pool), 0);
    }

    #[test]
    fn without_layers_the_inputs_pass_through() {
        let x = array![[-1.0, 2.0]];
        assert_eq!(Network::default().forward(x.view(), &thread_pool(1).unwrap()), x.view());
        assert_eq!((Network::default().outputs(2), two_layers().outputs(3)), (2, 5));
    }
}
