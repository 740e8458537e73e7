//! Tables 2 to 10 of Lin et al. 2024: training of hyperparameters on nine UCI sets.

use std::sync::LazyLock;

use gpbench_record::{Case, EstimatorMethod, Source};
use serde::Deserialize;

use super::{Figure, OfTraining};

/// What a reader must know before comparing.
pub(super) const CONDITIONS: &str = "\
Published: tables 2 to 10 of the paper, mean ± standard error over 10 splits, on all training rows, after 100 steps of \
solves to the tolerance or, on the sets of tables 7 to 10, 30 steps (houseelectric 15) of at most 10 epochs; the time is \
that of all of training on one A100 GPU, so compare times within a column only. `block-cg` stands beside their plain \
conjugate gradients.";

/// The tables of the embedded file that this report shows; the others are of other experiments.
#[derive(Debug, Deserialize)]
struct Tables {
    table2: Vec<Published>,
    table3: Vec<Published>,
    table4: Vec<Published>,
    table5: Vec<Published>,
    table6: Vec<Published>,
    table7: Vec<Published>,
    table8: Vec<Published>,
    table9: Vec<Published>,
    table10: Vec<Published>,
}

impl Tables {
    fn rows(&self) -> impl Iterator<Item = &Published> {
        let Tables { table2, table3, table4, table5, table6, table7, table8, table9, table10 } = self;
        [table2, table3, table4, table5, table6, table7, table8, table9, table10].into_iter().flatten()
    }
}

/// One published row: a solver with an estimator on a data set.
#[derive(Debug, Clone, PartialEq, Deserialize)]
struct Published {
    dataset: String,
    solver: String,
    pathwise: bool,
    warm_start: bool,
    /// Test RMSE; absent where the run did not end.
    rmse: Option<Figure>,
    /// Mean test log-likelihood: larger is better.
    llh: Option<Figure>,
    /// Minutes of all steps; absent where only a bound is printed.
    #[serde(default, deserialize_with = "known")]
    time_min: Option<Figure>,
    /// Hours of all steps, on the large sets.
    time_h: Option<Figure>,
    /// Against standard probes and cold starts.
    speed_up: Option<f64>,
}

/// A figure that may be a bound only.
fn known<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Figure>, D::Error> {
    #[derive(Deserialize)]
    struct Bound {
        mean: Option<f64>,
        stderr: Option<f64>,
    }
    let Bound { mean, stderr } = Bound::deserialize(deserializer)?;
    Ok(mean.map(|mean| Figure { mean, stderr }))
}

static TABLES: LazyLock<Tables> = LazyLock::new(|| {
    let text = include_str!("../../../../benchmarks/reference/lin2024.toml");
    toml::from_str(text).expect("the embedded file is checked by a test")
});

/// What is published of the method that a case stands for, if anything.
pub(super) fn find(case: &Case) -> Option<OfTraining> {
    let minutes = |hours: Figure| Figure { mean: 60.0 * hours.mean, stderr: hours.stderr.map(|e| 60.0 * e) };
    row(case).map(|&Published { rmse, llh, time_min, time_h, speed_up, .. }| OfTraining {
        rmse,
        nll: llh.map(|llh| Figure { mean: -llh.mean, ..llh }),
        minutes: time_min.or(time_h.map(minutes)),
        speed_up,
    })
}

fn row(case: &Case) -> Option<&'static Published> {
    let Source::Registry { name } = &case.dataset.source else { return None };
    let solver = match case.solver.plugin.as_str() {
        "cg" | "block-cg" => "CG",
        "ap" => "AP",
        "sgd" => "SGD",
        _ => return None,
    };
    let pathwise = match case.estimator.method {
        EstimatorMethod::Pathwise => true,
        EstimatorMethod::Standard => false,
        EstimatorMethod::Exact | EstimatorMethod::Rff | EstimatorMethod::SsRff => return None,
    };
    let theirs = !case.estimator.extrapolate && !case.estimator.second_solve;
    let all_rows = case.dataset.subsample.is_none() && case.kernel.family == "matern32";
    TABLES.rows().find(|row| {
        let method = (row.solver.as_str(), row.pathwise, row.warm_start);
        all_rows && theirs && row.dataset == *name && method == (solver, pathwise, case.estimator.warm_start)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(dataset: &str, plugin: &str, method: &str, warm_start: bool) -> Case {
        let case = serde_json::json!({
            "task": "train",
            "dataset": { "name": "here", "source": { "from": "registry", "name": dataset }, "split": 0 },
            "kernel": { "name": "k", "family": "matern32", "signal_scale": 1.0, "noise_scale": 1.0,
                        "length_scale": [1.0], "origin": "ones" },
            "estimator": { "name": "e", "method": method, "probes": 1, "features": 2,
                           "frequencies": "multivariate_t", "warm_start": warm_start },
            "solver": { "name": "s", "plugin": plugin, "params": {} },
            "budget": {}, "precision": "f64", "seed": 0, "repeat": 0,
        });
        serde_json::from_value(case).unwrap()
    }

    #[test]
    fn a_case_finds_its_row() {
        let row = find(&case("pol", "cg", "standard", true)).unwrap();
        assert_eq!((row.rmse.unwrap().mean, row.nll.unwrap().mean), (0.0750, -1.2681));
        assert_eq!((row.minutes.unwrap().mean, row.speed_up), (2.2844, Some(2.1)));
        // Longer than a day, and nothing else known.
        let row = find(&case("keggdirected", "ap", "standard", false)).unwrap();
        assert_eq!((row.rmse, row.minutes, row.speed_up), (None, None, None));
        assert_eq!(find(&case("pol", "cholesky", "standard", true)), None);
        assert_eq!(find(&case("pol", "cg", "exact", true)), None);
        let mut subset = case("pol", "cg", "standard", true);
        subset.dataset.subsample = Some(gpbench_record::Subsample::Rows(2000));
        assert_eq!(find(&subset), None);
    }

    #[test]
    fn five_data_sets_by_three_solvers_by_four_and_four_by_three_by_two() {
        assert_eq!(TABLES.rows().count(), 5 * 3 * 4 + 4 * 3 * 2);
        let row = find(&case("3droad", "ap", "pathwise", true)).unwrap();
        assert_eq!((row.minutes.unwrap().mean * 100.0).round(), 13083.0);
    }
}
