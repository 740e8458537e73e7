//! Families of covariance functions: the names that specs, journals and kernels share.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A stationary covariance family, as a function of the scaled distance
/// `r^2 = sum_k ((x_k - z_k) / l_k)^2`. The formulae are in `gpbench-gp`, one module a family.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    /// Squared exponential: `exp(-r^2 / 2)`.
    Rbf,
    /// Matérn with smoothness 1/2: `exp(-r)`.
    Matern12,
    /// Matérn with smoothness 3/2: `(1 + a) exp(-a)`, `a = sqrt(3) r`.
    Matern32,
    /// Matérn with smoothness 5/2: `(1 + a + a^2 / 3) exp(-a)`, `a = sqrt(5) r`.
    Matern52,
}

impl Family {
    /// Every family.
    pub const ALL: [Family; 4] = [Family::Rbf, Family::Matern12, Family::Matern32, Family::Matern52];

    /// The name in specs and journals.
    pub fn as_str(self) -> &'static str {
        match self {
            Family::Rbf => "rbf",
            Family::Matern12 => "matern12",
            Family::Matern32 => "matern32",
            Family::Matern52 => "matern52",
        }
    }

    /// The correlation as a function of r, for people to read.
    pub fn formula(self) -> &'static str {
        match self {
            Family::Rbf => "exp(-r^2 / 2)",
            Family::Matern12 => "exp(-r)",
            Family::Matern32 => "(1 + a) exp(-a), a = sqrt(3) r",
            Family::Matern52 => "(1 + a + a^2 / 3) exp(-a), a = sqrt(5) r",
        }
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The name of a kernel family that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown kernel family `{name}`; known are {}", Family::ALL.map(Family::as_str).join(", "))]
pub struct UnknownFamily {
    /// The name as given.
    pub name: String,
}

impl FromStr for Family {
    type Err = UnknownFamily;

    fn from_str(name: &str) -> Result<Self, UnknownFamily> {
        let found = Family::ALL.into_iter().find(|family| family.as_str() == name);
        found.ok_or_else(|| UnknownFamily { name: name.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_agree_with_the_serde_form() {
        // Another variant does not compile here, so that it is not missing in the list.
        let place = |family| match family {
            Family::Rbf => 0,
            Family::Matern12 => 1,
            Family::Matern32 => 2,
            Family::Matern52 => 3,
        };
        assert_eq!(Family::ALL.map(place), [0, 1, 2, 3]);
        for family in Family::ALL {
            assert_eq!(serde_json::to_string(&family).unwrap(), format!("\"{family}\""));
            assert_eq!(family.as_str().parse(), Ok(family));
        }
        assert_eq!(
            "matern".parse::<Family>().unwrap_err().to_string(),
            "unknown kernel family `matern`; known are rbf, matern12, matern32, matern52"
        );
    }
}
