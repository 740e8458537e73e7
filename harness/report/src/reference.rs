//! Published figures, to stand beside ours.

mod lin2024;
mod rtgps2021;

use gpbench_record::{Case, Source, Subsample};
use serde::Deserialize;

use crate::bibliography::Paper;

/// Figures of one paper.
#[derive(Debug)]
pub(crate) struct Reference {
    /// The paper.
    pub(crate) paper: Paper,
    /// What a reader must know before comparing.
    pub(crate) conditions: &'static str,
    tables: Lin2023,
}

/// The tables of the embedded file.
#[derive(Debug, Deserialize)]
struct Lin2023 {
    /// Nine UCI sets.
    table1: Vec<Published>,
    /// Inducing points on houseelectric.
    table2: Vec<Published>,
    /// Shares of the training rows of the smaller sets.
    table3: Vec<Published>,
    /// Numbers of training rows of the larger sets.
    table4: Vec<Published>,
}

/// One published row: a method on a data set.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Published {
    dataset: String,
    /// Rows of the whole data set, test rows included.
    n: Option<usize>,
    /// The method, as the paper calls it.
    method: String,
    /// Inducing points, or training rows.
    m: Option<usize>,
    subset_fraction: Option<f64>,
    subset_size: Option<usize>,
    /// Test RMSE.
    pub(crate) rmse: Option<Figure>,
    /// Test RMSE with the noise variance fixed to 1e-6.
    pub(crate) rmse_low_noise: Option<Figure>,
    /// Test negative log-likelihood.
    pub(crate) nll: Option<Figure>,
    /// Minutes to the predictive mean.
    pub(crate) time_min: Option<Figure>,
}

/// Figures of a paper on training.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TrainingReference {
    /// The paper.
    pub(crate) paper: Paper,
    /// What a reader must know before comparing.
    pub(crate) conditions: &'static str,
    /// What is published of the method that a case stands for.
    pub(crate) find: fn(&Case) -> Option<OfTraining>,
}

/// What a paper says of training by one method.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct OfTraining {
    /// Test RMSE.
    pub(crate) rmse: Option<Figure>,
    /// Mean negative test log-likelihood.
    pub(crate) nll: Option<Figure>,
    /// Minutes of all steps.
    pub(crate) minutes: Option<Figure>,
    /// Against the same solver with standard probes and cold starts.
    pub(crate) speed_up: Option<f64>,
}

impl TrainingReference {
    /// The figures that a spec calls by this name.
    pub(crate) fn named(name: &str) -> Option<TrainingReference> {
        let (paper, conditions, find): (_, _, fn(&Case) -> Option<OfTraining>) = match name {
            "lin2024" => (Paper::Lin2024, lin2024::CONDITIONS, lin2024::find),
            "rtgps2021" => (Paper::Potapczynski2021, rtgps2021::CONDITIONS, rtgps2021::find),
            _ => return None,
        };
        Some(TrainingReference { paper, conditions, find })
    }
}

/// A mean with the figure printed after the plus-minus sign.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub(crate) struct Figure {
    pub(crate) mean: f64,
    pub(crate) stderr: Option<f64>,
}

/// Share of a data set's rows that the paper trains on.
const TRAINING: f64 = 0.9;

/// Name of the method of tables 3 and 4, and of the one with inducing points in table 2.
const SUBSET: &str = "subset of data";
const INDUCING: &str = "inducing SGD";

/// Noise scale of the low-noise experiments: a variance of 1e-6.
const LOW_NOISE_SCALE: f64 = 1e-3;

impl Reference {
    /// The reference of that name, as `[report] reference` gives it.
    pub(crate) fn named(name: &str) -> Option<Reference> {
        let text = include_str!("../../../benchmarks/reference/lin2023.toml");
        (name == "lin2023").then(|| Reference {
            paper: Paper::Lin2023,
            conditions: "Published: tables 1 to 4 of the paper, mean ± standard error over 5 splits (3 on houseelectric); \
                         the time is minutes to the predictive mean on one TPUv2 core, whereas ours is the time \
                         of all right-hand sides on the machine named below, so compare times within a column only. \
                         With inducing points, beside the published number of points that is closest.",
            tables: toml::from_str(text).expect("the embedded file is checked by a test"),
        })
    }

    /// The published row that a case stands for, if there is one; `inducing_points` is how many it used.
    pub(crate) fn find(&self, case: &Case, inducing_points: Option<f64>) -> Option<&Published> {
        let of_dataset = |row: &&Published| row.is_of(case);
        if let Some(subsample) = case.dataset.subsample {
            let mut subsets = self.tables.table3.iter().chain(&self.tables.table4).filter(of_dataset);
            return subsets.find(|row| row.is_subset_of(subsample) && !is_low_noise(case));
        }
        let method = method(&case.solver.plugin)?;
        match inducing_points {
            None => self.tables.table1.iter().filter(of_dataset).find(|row| row.method == method),
            Some(points) => {
                let distance = |row: &&Published| (row.m.unwrap_or(1) as f64 / points).ln().abs();
                let inducing = self.tables.table2.iter().filter(of_dataset);
                let inducing =
                    inducing.filter(|row| row.method == INDUCING && method == "SGD" && !is_low_noise(case));
                inducing.min_by(|a, b| distance(a).total_cmp(&distance(b)))
            }
        }
    }

    /// The rows of table 1 on a case's data whose methods are none of `methods`.
    pub(crate) fn others(&self, case: &Case, methods: &[String]) -> Vec<&Published> {
        let whole = case.dataset.subsample.is_none();
        let rows = self.tables.table1.iter().filter(|row| whole && row.is_of(case));
        rows.filter(|row| !methods.contains(&row.method) && row.rmse_of(case).is_some()).collect()
    }
}

impl Published {
    fn is_of(&self, case: &Case) -> bool {
        let Source::Registry { name } = &case.dataset.source else { return false };
        self.dataset == *name && case.kernel.family == "matern32"
    }

    /// Whether this is a row on so many training rows, give or take the rounding of a share.
    fn is_subset_of(&self, subsample: Subsample) -> bool {
        let all = self.n.map(|n| TRAINING * n as f64);
        let share = self.subset_fraction.zip(all).map(|(share, all)| share * all);
        let theirs = share.or(self.subset_size.map(|size| size as f64));
        let ours = match subsample {
            Subsample::Rows(rows) => Some(rows as f64),
            Subsample::Fraction(share) => all.map(|all| share * all),
        };
        ours.zip(theirs).is_some_and(|(ours, theirs)| (ours / theirs - 1.0).abs() < 0.01)
    }

    /// The method, with the number of inducing points or the share of the data where it has one.
    pub(crate) fn method(&self) -> String {
        match (self.m, self.subset_fraction, self.subset_size) {
            (Some(m), _, _) => format!("{}, {m} points", self.method),
            (_, Some(share), _) => format!("{SUBSET}, {:.0} %", 100.0 * share),
            (_, _, Some(size)) => format!("{SUBSET}, {size} rows"),
            _ => self.method.clone(),
        }
    }

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
        "sgd-rff" => Some("SGD"),
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

    fn case(dataset: &str, plugin: &str, subsample: Option<Subsample>) -> Case {
        let case = serde_json::json!({
            "task": "posterior",
            "dataset": { "name": "here", "source": { "from": "registry", "name": dataset }, "split": 0 },
            "kernel": { "name": "k", "family": "matern32", "signal_scale": 1.0, "noise_scale": 0.1,
                        "length_scale": [1.0], "origin": "given" },
            "estimator": { "name": "e", "method": "pathwise", "probes": 1, "features": 2,
                           "frequencies": "multivariate_t" },
            "solver": { "name": "s", "plugin": plugin, "params": {} },
            "budget": {}, "precision": "f64", "seed": 0, "repeat": 0,
        });
        let mut case: Case = serde_json::from_value(case).unwrap();
        case.dataset.subsample = subsample;
        case
    }

    #[test]
    fn the_embedded_tables_parse() {
        let Lin2023 { table1, table2, table3, table4 } = Reference::named("lin2023").unwrap().tables;
        assert_eq!([table1.len(), table2.len(), table3.len(), table4.len()], [27, 6, 10, 8]);
        let pol = table1.iter().find(|r| r.dataset == "pol" && r.method == "CG").unwrap();
        assert_eq!(pol.rmse.unwrap().to_string(), "0.08 ± 0.00");
        assert!(Reference::named("nobody1999").is_none());
    }

    #[test]
    fn a_case_finds_its_row_in_each_table() {
        let reference = Reference::named("lin2023").unwrap();
        let found = |dataset, plugin, subsample, points| {
            let row = reference.find(&case(dataset, plugin, subsample), points)?;
            Some(format!("{}: {}", row.method(), row.rmse.unwrap()))
        };
        let (rows, share) = (|rows| Some(Subsample::Rows(rows)), |share| Some(Subsample::Fraction(share)));
        let says = |text: &str| Some(text.to_owned());
        assert_eq!(found("pol", "sgd-rff", None, None), says("SGD: 0.13 ± 0.00"));
        assert_eq!(found("pol", "cholesky", None, None), None);
        // 5 % and 10 % of the 13 500 training rows.
        assert_eq!(found("pol", "cholesky", rows(675), None), says("subset of data, 5 %: 0.20 ± 0.01"));
        assert_eq!(found("pol", "cholesky", share(0.05), None), says("subset of data, 5 %: 0.20 ± 0.01"));
        assert_eq!(found("pol", "cholesky", share(0.5), None), None);
        assert_eq!(found("pol", "cg", rows(1350), None), says("subset of data, 10 %: 0.16 ± 0.00"));
        assert_eq!(found("pol", "cg", rows(1000), None), None);
        assert_eq!(found("song", "cg", rows(25_000), None), says("subset of data, 25000 rows: 0.82 ± 0.00"));
        let inducing = says("inducing SGD, 218782 points: 0.08 ± 0.00");
        assert_eq!(found("houseelectric", "sgd-rff", None, Some(200_000.0)), inducing);
        assert_eq!(found("pol", "sgd-rff", None, Some(1000.0)), None);
        assert_eq!(found("houseelectric", "cg", None, Some(1000.0)), None);
    }

    #[test]
    fn methods_that_are_only_published_are_known() {
        let reference = Reference::named("lin2023").unwrap();
        let others = |case: &Case| -> Vec<String> {
            reference.others(case, &["CG".to_owned()]).into_iter().map(Published::method).collect()
        };
        let mut case = case("pol", "cg", None);
        assert_eq!(others(&case), ["SGD", "SVGP"]);
        case.kernel.noise_scale = 1e-3;
        assert_eq!(others(&case), ["SGD"]);
    }
}
