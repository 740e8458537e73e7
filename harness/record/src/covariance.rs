//! Families of covariance functions that learners take: the stationary ones, and the linear one.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Family;

/// A family of covariance functions of a learner. Solvers know the stationary ones only, so the linear one is
/// not a [`Family`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "&'static str")]
pub enum CovarianceFamily {
    /// A function of the scaled distance.
    Stationary(Family),
    /// The product `x^T z`, without length scales.
    Linear,
}

/// The name of the linear family.
const LINEAR: &str = "linear";

impl CovarianceFamily {
    /// The name in specs and journals.
    pub fn as_str(self) -> &'static str {
        match self {
            CovarianceFamily::Stationary(family) => family.as_str(),
            CovarianceFamily::Linear => LINEAR,
        }
    }

    /// The stationary family, if it is one.
    pub fn stationary(self) -> Option<Family> {
        match self {
            CovarianceFamily::Stationary(family) => Some(family),
            CovarianceFamily::Linear => None,
        }
    }
}

impl From<Family> for CovarianceFamily {
    fn from(family: Family) -> Self {
        CovarianceFamily::Stationary(family)
    }
}

impl From<CovarianceFamily> for &'static str {
    fn from(family: CovarianceFamily) -> Self {
        family.as_str()
    }
}

impl TryFrom<String> for CovarianceFamily {
    type Error = UnknownCovarianceFamily;

    fn try_from(name: String) -> Result<Self, UnknownCovarianceFamily> {
        name.parse()
    }
}

impl fmt::Display for CovarianceFamily {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The name of a covariance family that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown kernel family `{name}`; known are {}, {LINEAR}", Family::ALL.map(Family::as_str).join(", "))]
pub struct UnknownCovarianceFamily {
    /// The name as given.
    pub name: String,
}

impl FromStr for CovarianceFamily {
    type Err = UnknownCovarianceFamily;

    fn from_str(name: &str) -> Result<Self, UnknownCovarianceFamily> {
        if name == LINEAR {
            return Ok(CovarianceFamily::Linear);
        }
        let family: Result<Family, _> = name.parse();
        family
            .map(CovarianceFamily::Stationary)
            .map_err(|_| UnknownCovarianceFamily { name: name.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_agree_with_the_serde_form() {
        let families = Family::ALL.into_iter().map(CovarianceFamily::from).chain([CovarianceFamily::Linear]);
        for family in families {
            let json = format!("\"{family}\"");
            assert_eq!(serde_json::to_string(&family).unwrap(), json);
            assert_eq!(serde_json::from_str::<CovarianceFamily>(&json).unwrap(), family);
            assert_eq!(family.as_str().parse(), Ok(family));
        }
        assert_eq!(
            "line".parse::<CovarianceFamily>().unwrap_err().to_string(),
            "unknown kernel family `line`; known are rbf, matern12, matern32, matern52, linear"
        );
    }
}
