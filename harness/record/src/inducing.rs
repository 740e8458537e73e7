//! Selection of inducing points.

use serde::{Deserialize, Serialize};

/// The method that chooses inducing points among the training inputs, with the case's seed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "select", rename_all = "snake_case")]
pub enum Inducing {
    /// Rows drawn without repeats.
    Subset {
        /// Number of points.
        points: usize,
    },
    /// Centres of clusters.
    Kmeans {
        /// Number of points.
        points: usize,
    },
    /// Rows that remain when each row removes its near neighbours in turn (Lin et al. 2023, appendix A.2).
    Neighbours {
        /// Distance below which standardised inputs count as near.
        distance: f64,
        /// Largest number of neighbours of a row that are examined.
        neighbours: usize,
    },
}
