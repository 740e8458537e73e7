//! Covariance functions and their hyperparameters.

use std::collections::BTreeMap;
use std::fmt;

use gpbench_terms::words;
use serde::{Deserialize, Serialize};

use crate::{Covariance, NetworkShape};

/// A covariance function with its hyperparameters: scales, never variances.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Kernel {
    /// Name in the spec.
    pub name: String,
    /// Covariance function, of the inputs or of the outputs of `network`.
    pub family: Covariance,
    /// Standard deviation of the latent function.
    pub signal_scale: f64,
    /// Standard deviation of the observation noise.
    pub noise_scale: f64,
    /// One length scale per input of the scaled data, or a single one that all share. The outputs of a network always
    /// share one.
    pub length_scale: Vec<f64>,
    /// Constant prior mean, in units of the scaled targets, if it is a hyperparameter; absent: the mean is 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean: Option<f64>,
    /// Origin of the hyperparameters.
    pub origin: Origin,
    /// The network between inputs and kernel, if there is one. Only learners support it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<NetworkShape>,
    /// How the numbers are found in the data, before the case begins; absent where they are known. The scales above
    /// then stand for nothing, but for those of [`DataStart::keep`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<DataStart>,
}

/// Hyperparameters from the data: the best of some starts by the exact likelihood of a sample of the rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DataStart {
    /// Number of starts.
    pub restarts: usize,
    /// Scales whose numbers the spec gives.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keep: Vec<Scale>,
}

impl DataStart {
    /// Number of starts where the spec gives none.
    pub const RESTARTS: usize = 24;
}

/// Origin of hyperparameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Origin {
    /// Origin of the numbers that the spec does not give.
    pub base: OriginBase,
    /// Numbers that the spec gives in place of the base's, as texts such as `noise_scale = 0.001`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<String>,
}

/// Origin of the hyperparameters that a spec does not give.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "from", rename_all = "snake_case")]
pub enum OriginBase {
    /// All scales are 1.
    Ones,
    /// The spec gives all numbers.
    Given,
    /// The Gaussian process that the data were drawn from, in the units of the rows.
    Generating,
    /// The Gaussian process that the data were drawn from. All numbers of the kernel are in the units of the draw; the
    /// worker converts them by the scale of its rows, which depends on the seed.
    Drawn,
    /// A paper.
    Published {
        /// Authors and year.
        paper: String,
    },
    /// Training.
    Trained,
    /// The data: see [`DataStart`].
    Data,
}

impl From<OriginBase> for Origin {
    fn from(base: OriginBase) -> Origin {
        Origin { base, changes: Vec::new() }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.base {
            OriginBase::Ones => f.write_str("ones")?,
            OriginBase::Given => f.write_str("given")?,
            OriginBase::Generating => f.write_str("generating")?,
            OriginBase::Drawn => f.write_str("generating, in units of the draw")?,
            OriginBase::Published { paper } => write!(f, "published ({paper})")?,
            OriginBase::Trained => f.write_str("trained")?,
            OriginBase::Data => f.write_str("from the data")?,
        }
        self.changes.iter().try_for_each(|change| write!(f, ", {change}"))
    }
}

/// Hyperparameters by name: `noise_scale`, `signal_scale`, and `length_scale_0` and so on, or
/// `length_scale` where all inputs share one; and `mean`, where it is trained.
pub type Hyperparameters = BTreeMap<String, f64>;

const NOISE_SCALE: &str = Scale::NoiseScale.as_str();
const SIGNAL_SCALE: &str = Scale::SignalScale.as_str();
const LENGTH_SCALE: &str = Scale::LengthScale.as_str();
const MEAN: &str = "mean";

impl Kernel {
    /// The hyperparameters by name, without those that are yet to be found in the data.
    pub fn hyperparameters(&self) -> Hyperparameters {
        let single = [(NOISE_SCALE, self.noise_scale), (SIGNAL_SCALE, self.signal_scale)];
        let mut named: Hyperparameters = single.map(|(name, scale)| (name.to_owned(), scale)).into();
        match self.length_scale.as_slice() {
            [shared] => drop(named.insert(LENGTH_SCALE.to_owned(), *shared)),
            each => named.extend(each.iter().enumerate().map(|(k, l)| (format!("{LENGTH_SCALE}_{k}"), *l))),
        }
        if let Some(DataStart { keep, .. }) = &self.start {
            named.retain(|name, _| keep.iter().any(|scale| name.starts_with(scale.as_str())));
        }
        named.extend(self.mean.map(|mean| (MEAN.to_owned(), mean)));
        named
    }

    /// This kernel with other hyperparameters, which then are known; `None` if a scale is missing.
    pub fn with_hyperparameters(&self, named: &Hyperparameters) -> Option<Kernel> {
        let each = (0..).map_while(|k| named.get(&format!("{LENGTH_SCALE}_{k}"))).copied();
        let length_scale: Vec<f64> = match named.get(LENGTH_SCALE) {
            Some(shared) => vec![*shared],
            None => each.collect(),
        };
        (!length_scale.is_empty()).then_some(())?;
        Some(Kernel {
            signal_scale: *named.get(SIGNAL_SCALE)?,
            noise_scale: *named.get(NOISE_SCALE)?,
            length_scale,
            mean: named.get(MEAN).copied().or(self.mean),
            start: None,
            ..self.clone()
        })
    }
}

words! {
    /// A kind of hyperparameter, by its name in [`Hyperparameters`]. The names of several length scales begin with
    /// it.
    pub enum Scale {
        /// Standard deviation of the noise.
        NoiseScale = "noise_scale",
        /// Standard deviation of the prior.
        SignalScale = "signal_scale",
        /// All length scales.
        LengthScale = "length_scale",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Family;

    #[test]
    fn hyperparameters_that_are_yet_to_be_found_have_no_names() {
        let mut kernel = crate::testing::case("cg").kernel;
        kernel.start = Some(DataStart { restarts: 3, keep: vec![Scale::NoiseScale] });
        assert_eq!(kernel.hyperparameters(), Hyperparameters::from([("noise_scale".to_owned(), 0.1)]));
        let found = crate::testing::case("cg").kernel.hyperparameters();
        assert_eq!(kernel.with_hyperparameters(&found).unwrap().hyperparameters(), found);
    }

    #[test]
    fn hyperparameters_survive_their_names() {
        let kernel = |length_scale: Vec<f64>| Kernel {
            name: "k".into(),
            family: Family::Rbf.into(),
            signal_scale: 1.5,
            noise_scale: 0.1,
            length_scale,
            mean: None,
            origin: OriginBase::Ones.into(),
            network: None,
            start: None,
        };
        let ones = kernel(vec![1.0]);
        for lengths in [vec![0.7], (1..=12).map(f64::from).collect()] {
            let named = kernel(lengths.clone()).hyperparameters();
            assert_eq!(named.len(), 2 + lengths.len());
            assert_eq!(ones.with_hyperparameters(&named), Some(kernel(lengths)));
        }
        let mut lacking = ones.hyperparameters();
        lacking.remove("length_scale");
        assert_eq!(ones.with_hyperparameters(&lacking), None);
    }
}
