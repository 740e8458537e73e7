//! Measures of a solve: precision, time and kernel entries.

crate::words! {
    /// Arithmetic of a product.
    pub enum Arithmetic {
        /// Double precision throughout.
        F64 = "f64",
        /// Entries and sums inside a tile in single precision, sums over tiles in double.
        Mixed = "mixed",
    }
}

/// Wall-clock and processor seconds.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Clock {
    /// Wall-clock seconds.
    pub wall: f64,
    /// Processor seconds of all threads.
    pub cpu: f64,
}

impl Clock {
    /// The sum of both.
    #[must_use]
    pub fn plus(self, other: Clock) -> Clock {
        Clock { wall: self.wall + other.wall, cpu: self.cpu + other.cpu }
    }
}

/// Kernel entries, counted by the operator.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Entries {
    /// Entries used, whether evaluated or cached; n^2 of them are one epoch.
    pub used: f64,
    /// Entries evaluated.
    pub evaluated: f64,
    /// Cached entries that products used instead of evaluating them.
    #[cfg_attr(feature = "serde", serde(default))]
    pub found: f64,
    /// The part of `used` that prepare used.
    pub setup: f64,
    /// The part of `used` that the plugin reported by itself.
    pub self_reported: f64,
}

impl Entries {
    /// The sum of both.
    #[must_use]
    pub fn plus(self, other: Entries) -> Entries {
        Entries {
            used: self.used + other.used,
            evaluated: self.evaluated + other.evaluated,
            found: self.found + other.found,
            setup: self.setup + other.setup,
            self_reported: self.self_reported + other.self_reported,
        }
    }
}
