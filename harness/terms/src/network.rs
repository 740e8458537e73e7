//! Networks between inputs and kernel.

crate::words! {
    /// The function applied to each output of a layer.
    pub enum Activation {
        /// max(0, t).
        Relu = "relu",
    }
}

/// A fully connected network between inputs and kernel, whose weights are learned. Every layer is W x + b, followed
/// by the activation.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct NetworkShape {
    /// Widths of the layers, from the first layer to the one whose outputs are the kernel's inputs; at least one.
    pub widths: Vec<usize>,
    /// The activation after every layer, including the last one.
    pub activation: Activation,
    /// Number of random Fourier features, sines and cosines together, by which learners for kernels of finite
    /// dimension approximate a stationary kernel on the outputs; `None` with a linear kernel.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub random: Option<usize>,
}

impl NetworkShape {
    /// Outputs of the last layer, which are the kernel's inputs.
    pub fn outputs(&self) -> usize {
        self.widths.last().copied().unwrap_or_default()
    }

    /// Number of weights and biases with `d` inputs.
    pub fn parameters(&self, d: usize) -> usize {
        let inputs = std::iter::once(&d).chain(&self.widths);
        inputs.zip(&self.widths).map(|(inputs, outputs)| (inputs + 1) * outputs).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_weights_and_biases_of_every_layer() {
        let network = NetworkShape { widths: vec![128, 64], activation: Activation::Relu, random: None };
        assert_eq!(network.parameters(18), 128 * 18 + 128 + 64 * 128 + 64);
        assert_eq!(network.outputs(), 64);
    }
}
