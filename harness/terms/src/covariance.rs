//! Covariance functions by name: the stationary families, and the linear one.

use std::fmt;
use std::str::FromStr;

use crate::{Family, UnknownWord};

/// A covariance function, by its name. Only learners support the linear one, whose features are those of a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(into = "&'static str", try_from = "String"))]
pub enum Covariance {
    /// A function of the scaled distance.
    Stationary(Family),
    /// The inner product `x^T z`.
    Linear,
}

impl Covariance {
    /// Every covariance function.
    pub fn all() -> impl Iterator<Item = Covariance> {
        Family::ALL.into_iter().map(Covariance::Stationary).chain([Covariance::Linear])
    }

    /// The name in specs and journals.
    pub fn as_str(self) -> &'static str {
        match self {
            Covariance::Stationary(family) => family.as_str(),
            Covariance::Linear => "linear",
        }
    }

    /// The formula, as text for users.
    pub fn formula(self) -> &'static str {
        match self {
            Covariance::Stationary(family) => family.formula(),
            Covariance::Linear => "x^T z",
        }
    }

    /// The family, for a function of the scaled distance.
    pub fn stationary(self) -> Option<Family> {
        match self {
            Covariance::Stationary(family) => Some(family),
            Covariance::Linear => None,
        }
    }
}

impl From<Family> for Covariance {
    fn from(family: Family) -> Covariance {
        Covariance::Stationary(family)
    }
}

impl From<Covariance> for &'static str {
    fn from(covariance: Covariance) -> &'static str {
        covariance.as_str()
    }
}

impl PartialEq<Family> for Covariance {
    fn eq(&self, family: &Family) -> bool {
        self.stationary() == Some(*family)
    }
}

impl fmt::Display for Covariance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Covariance {
    type Err = UnknownWord;

    fn from_str(name: &str) -> Result<Self, UnknownWord> {
        match name {
            "linear" => Ok(Covariance::Linear),
            _ => name.parse().map(Covariance::Stationary),
        }
    }
}

impl TryFrom<String> for Covariance {
    type Error = UnknownWord;

    fn try_from(name: String) -> Result<Self, UnknownWord> {
        name.parse()
    }
}
