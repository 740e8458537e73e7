//! Kernels on the outputs of a network.

use serde::{Deserialize, Serialize};

/// A fully connected network between inputs and kernel, whose weights are learned. Every layer is W x + b, followed by the
/// activation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Network {
    /// Widths of the layers, from the one that sees the inputs to the one that the kernel sees; at least one.
    pub widths: Vec<usize>,
    /// What follows every layer.
    pub activation: Activation,
    /// Random Fourier features, sines and cosines together, by which learners that need features of finite dimension
    /// approximate a stationary kernel on the outputs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub random: Option<usize>,
}

/// A function of each output of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Activation {
    /// max(0, t).
    Relu,
}

impl Activation {
    /// Every activation.
    pub const ALL: [Activation; 1] = [Activation::Relu];

    /// The name in specs and journals.
    pub fn as_str(self) -> &'static str {
        match self {
            Activation::Relu => "relu",
        }
    }
}

impl Network {
    /// Outputs of the last layer.
    pub fn outputs(&self) -> usize {
        self.widths.last().copied().unwrap_or_default()
    }

    /// Weights and biases over `d` inputs.
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
        let network = Network { widths: vec![128, 64], activation: Activation::Relu, random: None };
        assert_eq!(network.parameters(18), 128 * 18 + 128 + 64 * 128 + 64);
        assert_eq!(network.outputs(), 64);
        let json = r#"{"widths":[128,64],"activation":"relu"}"#;
        assert_eq!(serde_json::to_string(&network).unwrap(), json);
        for activation in Activation::ALL {
            assert_eq!(serde_json::to_string(&activation).unwrap(), format!("\"{}\"", activation.as_str()));
        }
    }
}
