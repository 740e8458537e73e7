//! Tables S1 and S2 of Potapczynski et al. 2021: training under truncated and randomised likelihoods.

use std::sync::LazyLock;

use gpbench_record::{Case, EstimatorMethod, Source};
use serde::Deserialize;

use super::{Figure, OfTraining};

/// What a reader must know before comparing.
pub(super) const CONDITIONS: &str = "\
Published: tables S1 and S2 of the paper, mean over 3 splits with the figure after the ± sign, whose kind is not stated; \
splits there are of 64/16/20 %, with a constant prior mean; 1500 steps of Adam of learning rate 0.01 on the three \
smallest sets. The time is that of all of training on a GPU, so compare times within a column only.";

/// The tables of the embedded file that this report shows.
#[derive(Debug, Deserialize)]
struct Tables {
    table_s1: Vec<Errors>,
    table_s2: Vec<Times>,
}

#[derive(Debug, Deserialize)]
struct Errors {
    dataset: String,
    method: String,
    rmse: Figure,
    nll: Figure,
}

#[derive(Debug, Deserialize)]
struct Times {
    dataset: String,
    method: String,
    time_min: Figure,
}

static TABLES: LazyLock<Tables> = LazyLock::new(|| {
    let text = include_str!("../../../../benchmarks/reference/rtgps2021.toml");
    toml::from_str(text).expect("the embedded file is checked by a test")
});

/// What is published of the method that a case stands for, if anything.
pub(super) fn find(case: &Case) -> Option<OfTraining> {
    let Source::Registry { name } = &case.dataset.source else { return None };
    if case.dataset.subsample.is_some() || case.kernel.family != "rbf" {
        return None;
    }
    let method = match (case.estimator.method, case.solver.plugin.as_str()) {
        (EstimatorMethod::Exact, _) => "Cholesky",
        (EstimatorMethod::Rff, _) => "RFF",
        (EstimatorMethod::Standard, "cg") => "CG",
        (EstimatorMethod::Standard, "rr-cg") => "RR-CG",
        _ => return None,
    };
    let errors =
        TABLES.table_s1.iter().find(|row| (row.dataset.as_str(), row.method.as_str()) == (name, method))?;
    let times =
        TABLES.table_s2.iter().find(|row| (row.dataset.as_str(), row.method.as_str()) == (name, method));
    Some(OfTraining {
        rmse: Some(errors.rmse),
        nll: Some(errors.nll),
        minutes: times.map(|times| times.time_min),
        speed_up: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_finds_its_row() {
        let case = |dataset: &str, plugin: &str, method: &str| -> Case {
            let case = serde_json::json!({
                "task": "train",
                "dataset": { "name": "here", "source": { "from": "registry", "name": dataset }, "split": 0 },
                "kernel": { "name": "k", "family": "rbf", "signal_scale": 1.0, "noise_scale": 1.0,
                            "length_scale": [1.0], "origin": "ones" },
                "estimator": { "name": "e", "method": method, "probes": 1, "features": 2,
                               "frequencies": "multivariate_t" },
                "solver": { "name": "s", "plugin": plugin, "params": {} },
                "budget": {}, "precision": "f64", "seed": 0, "repeat": 0,
            });
            serde_json::from_value(case).unwrap()
        };
        let means =
            |of: OfTraining| [of.rmse, of.nll, of.minutes].map(|figure| figure.map(|figure| figure.mean));
        let found = |dataset, plugin, method| find(&case(dataset, plugin, method)).map(means);
        assert_eq!(found("pol", "rr-cg", "standard"), Some([Some(0.112), Some(-0.458), Some(14.968)]));
        assert_eq!(found("bike", "cholesky", "exact"), Some([Some(0.035), Some(-0.984), Some(34.991)]));
        assert_eq!(found("elevators", "cg", "rff"), Some([Some(0.365), Some(0.780), Some(0.503)]));
        assert_eq!(found("pol", "ap", "standard"), None);
        assert_eq!(found("protein", "cholesky", "exact"), None);
    }
}
