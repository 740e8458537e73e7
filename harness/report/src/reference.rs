//! Published figures, to stand beside ours.

use gpbench_record::{Case, Source};
use serde::Deserialize;

use crate::bibliography::Paper;

/// Figures of one paper.
#[derive(Debug)]
pub(crate) struct Reference {
    /// The paper.
    pub(crate) paper: Paper,
    /// What a reader must know before comparing.
    pub(crate) conditions: &'static str,
    rows: Vec<Published>,
}

/// One published row: a method on a data set.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Published {
    dataset: String,
    /// The method, as the paper calls it.
    pub(crate) method: String,
    /// Test RMSE.
    pub(crate) rmse: Option<Figure>,
    /// Test RMSE with the noise variance fixed to 1e-6.
    pub(crate) rmse_low_noise: Option<Figure>,
    /// Test negative log-likelihood.
    pub(crate) nll: Option<Figure>,
    /// Minutes to the predictive mean.
    pub(crate) time_min: Option<Figure>,
}

/// A mean with the figure printed after the plus-minus sign.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub(crate) struct Figure {
    pub(crate) mean: f64,
    pub(crate) stderr: Option<f64>,
}

#[derive(Deserialize)]
struct Lin2023 {
    table1: Vec<Published>,
}

/// Noise scale of the low-noise experiments: a variance of 1e-6.
const LOW_NOISE_SCALE: f64 = 1e-3;

impl Reference {
    /// The reference of that name, as `[report] reference` gives it.
    pub(crate) fn named(name: &str) -> Option<Reference> {
        let text = include_str!("../../../benchmarks/reference/lin2023.toml");
        (name == "lin2023").then(|| Reference {
            paper: Paper::Lin2023,
            conditions: "Published: table 1 of the paper, mean ± standard error over 5 splits (3 on houseelectric); \
                         the time is minutes to the predictive mean on one TPUv2 core, whereas ours is the time \
                         of all right-hand sides on the machine named below, so compare times within a column only.",
            rows: toml::from_str::<Lin2023>(text).expect("the embedded file is checked by a test").table1,
        })
    }

    /// The published row that a case stands for, if there is one.
    pub(crate) fn find(&self, case: &Case) -> Option<&Published> {
        let Source::Registry { name } = &case.dataset.source else { return None };
        let method = method(&case.solver.plugin)?;
        if case.kernel.family != "matern32" || case.dataset.subsample.is_some() {
            return None;
        }
        self.rows.iter().find(|row| row.dataset == *name && row.method == method)
    }
}

impl Published {
    /// The published RMSE under the case's noise.
    pub(crate) fn rmse_of(&self, case: &Case) -> Option<Figure> {
        if is_low_noise(case) { self.rmse_low_noise } else { self.rmse }
    }

    /// The published negative log-likelihood; the paper has none for low noise.
    pub(crate) fn nll_of(&self, case: &Case) -> Option<Figure> {
        self.nll.filter(|_| !is_low_noise(case))
    }

    /// The published minutes; the paper has none for low noise.
    pub(crate) fn minutes_of(&self, case: &Case) -> Option<Figure> {
        self.time_min.filter(|_| !is_low_noise(case))
    }
}

/// Whether a case has the noise of the paper's low-noise experiments.
pub(crate) fn is_low_noise(case: &Case) -> bool {
    (case.kernel.noise_scale / LOW_NOISE_SCALE - 1.0).abs() < 1e-6
}

/// The paper's name of a solver.
fn method(plugin: &str) -> Option<&'static str> {
    match plugin {
        "cg" => Some("CG"),
        "sgd" => Some("SGD"),
        "svgp" => Some("SVGP"),
        _ => None,
    }
}

impl std::fmt::Display for Figure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.stderr {
            Some(stderr) => write!(f, "{:.2} ± {:.2}", self.mean, stderr),
            None => write!(f, "{:.2}", self.mean),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_table_parses() {
        let reference = Reference::named("lin2023").unwrap();
        assert_eq!(reference.rows.len(), 27);
        let pol = reference.rows.iter().find(|r| r.dataset == "pol" && r.method == "CG").unwrap();
        assert_eq!(pol.rmse.unwrap().to_string(), "0.08 ± 0.00");
        assert!(Reference::named("nobody1999").is_none());
    }
}
