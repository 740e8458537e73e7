//! Published figures, read from `benchmarks/reference`.
//!
//! A file names its paper, the conditions of its figures, and which of its methods a case stands for; nothing of that
//! is known here. Adding a reference is adding its file to [`FILES`] (and its name to those that a spec accepts).

use std::collections::BTreeMap;
use std::fmt;

use gpbench_record::{
    Case, Covariance, Family, GradientEstimator, Kernel, Probes, Source, Start, Subsample, Task,
};
use serde::Deserialize;

use crate::cost::Size;
use crate::estimator;

/// The files, by the name that a spec gives as `[report] reference`.
const FILES: [(&str, &str); 4] = [
    ("lin2023", include_str!("../../../benchmarks/reference/lin2023.toml")),
    ("lin2024", include_str!("../../../benchmarks/reference/lin2024.toml")),
    ("rtgps2021", include_str!("../../../benchmarks/reference/rtgps2021.toml")),
    ("shoham2025", include_str!("../../../benchmarks/reference/shoham2025.toml")),
];

/// Share of a data set's rows that the papers train on, where they take a subset of them.
const TRAINING_SHARE: f64 = 0.9;

/// Published figures of one paper.
#[derive(Debug)]
pub(crate) struct Reference {
    pub(crate) paper: Paper,
    pub(crate) comparison: Comparison,
    rows: Vec<Published>,
}

/// A paper.
#[derive(Debug, Deserialize)]
pub(crate) struct Paper {
    /// Authors and year.
    pub(crate) short: String,
    /// The full bibliographic entry.
    pub(crate) entry: String,
}

/// How the figures compare with ours.
#[derive(Debug, Deserialize)]
pub(crate) struct Comparison {
    /// What a reader must know before comparing.
    pub(crate) conditions: String,
    /// Decimals of the printed figures.
    decimals: usize,
    /// Kernel family of all figures; rows say it where it is absent.
    kernel: Option<Family>,
    /// Splits that figures are means over.
    pub(crate) splits: Option<usize>,
    /// The paper's own methods, where it compares them with others.
    #[serde(default)]
    pub(crate) proposed: Vec<String>,
    /// Noise scale of the paper's low-noise experiments.
    low_noise_scale: Option<f64>,
    /// Whether methods without a case of ours are listed too.
    #[serde(default)]
    lists_other_methods: bool,
    /// Names of the tables whose rows are compared.
    tables: Vec<String>,
    /// Which method a case stands for: the first match.
    methods: Vec<Method>,
}

/// Cases that a published method stands for: those that have all that is named here.
#[derive(Debug, Deserialize)]
struct Method {
    /// Name of the method in the paper.
    method: String,
    /// Id of the solver in its plugin.
    solver: Option<String>,
    /// `exact`, `standard`, `pathwise`, `rff` or `ss-rff`.
    estimator: Option<String>,
    /// Whether the cases train on a part of the rows.
    #[serde(default)]
    subset: bool,
    /// Whether the cases have inducing points.
    #[serde(default)]
    inducing: bool,
    /// Whether the paper computes the method's NLL in another way, so that it is not compared.
    #[serde(default)]
    own_nll: bool,
}

/// One row of a published table: a method on a data set.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
struct Published {
    dataset: String,
    #[serde(alias = "solver")]
    method: String,
    /// Rows of the whole data set, test rows included.
    n: Option<usize>,
    /// Inducing points.
    m: Option<usize>,
    /// Rows of a minibatch.
    batch_size: Option<usize>,
    /// Kernel on a network's outputs.
    kernel: Option<OnNetwork>,
    subset_fraction: Option<f64>,
    subset_size: Option<usize>,
    pathwise: Option<bool>,
    warm_start: Option<bool>,
    rmse: Printed,
    rmse_low_noise: Printed,
    nll: Printed,
    /// Negative log marginal likelihood over n.
    nlml: Printed,
    /// Mean test log-likelihood: larger is better.
    llh: Printed,
    time_min: Printed,
    time_h: Printed,
    speed_up: Option<f64>,
}

/// A kernel on the outputs of a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum OnNetwork {
    Linear,
    Gaussian,
}

impl OnNetwork {
    fn is_of(self, kernel: &Kernel) -> bool {
        let covariance = match self {
            OnNetwork::Linear => Covariance::Linear,
            OnNetwork::Gaussian => Family::Rbf.into(),
        };
        kernel.network.is_some() && kernel.family == covariance
    }
}

/// A cell of a published table: a mean, or a bound, which is not compared.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize)]
struct Printed {
    mean: Option<f64>,
    stderr: Option<f64>,
}

/// A mean with the figure printed after the plus-minus sign.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Figure {
    pub(crate) mean: f64,
    /// What is printed after the plus-minus sign.
    pub(crate) stderr: Option<f64>,
    decimals: usize,
}

/// What a paper says of a method on the data of a case.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Figures {
    /// The method, with its number of inducing points or share of the rows.
    pub(crate) method: String,
    /// Test RMSE.
    pub(crate) rmse: Option<Figure>,
    /// Mean negative test log-likelihood.
    pub(crate) nll: Option<Figure>,
    /// Whether that is computed as ours.
    pub(crate) compares_nll: bool,
    /// Negative log marginal likelihood over n.
    pub(crate) nlml: Option<Figure>,
    /// Minutes.
    pub(crate) minutes: Option<Figure>,
    /// Against the same solver with standard probes and cold starts.
    pub(crate) speed_up: Option<f64>,
}

impl Reference {
    /// The reference that a spec gives as `[report] reference`.
    pub(crate) fn named(name: &str) -> Option<Reference> {
        FILES.iter().find(|(known, _)| *known == name).map(|(_, text)| Reference::parse(text))
    }

    /// The paper with these authors and this year.
    pub(crate) fn paper(short: &str) -> Option<Paper> {
        let papers = FILES.iter().map(|(_, text)| Reference::parse(text).paper);
        papers.into_iter().find(|paper| paper.short == short)
    }

    fn parse(text: &str) -> Reference {
        #[derive(Deserialize)]
        struct File {
            meta: Paper,
            comparison: Comparison,
            #[serde(flatten)]
            tables: BTreeMap<String, toml::Value>,
        }
        let read = "a test reads the built-in files";
        let File { meta: paper, comparison, mut tables } = toml::from_str(text).expect(read);
        let rows = comparison
            .tables
            .iter()
            .flat_map(|name| tables.remove(name).expect(read).try_into::<Vec<Published>>().expect(read));
        Reference { rows: rows.collect(), paper, comparison }
    }

    /// What is published of the method that a case stands for; `inducing_points` is how many it used.
    pub(crate) fn find(&self, case: &Case, inducing_points: Option<f64>) -> Option<Figures> {
        let method =
            self.comparison.methods.iter().find(|method| method.is_of(case, inducing_points.is_some()))?;
        let rows = self.rows.iter().filter(|row| self.is_of(row, case) && row.method == method.method);
        let mut rows: Vec<&Published> = rows.filter(|row| row.is_trained_like(&case.task)).collect();
        match (inducing_points, case.dataset.subsample) {
            (Some(_), _) if self.is_low_noise(case) => return None,
            (Some(points), _) => {
                let distance = |row: &&Published| row.m.map_or(f64::MAX, |m| (m as f64 / points).ln().abs());
                rows.sort_by(|a, b| distance(a).total_cmp(&distance(b)));
                rows.truncate(1);
            }
            (None, Some(_)) if self.is_low_noise(case) => return None,
            (None, Some(subsample)) => rows.retain(|row| row.is_subset_of(subsample)),
            (None, None) => rows.retain(|row| row.m.is_none()),
        }
        // Errors and times of a method may be in different tables.
        let compares_nll = !method.own_nll;
        let figures = rows.into_iter().map(|row| Figures { compares_nll, ..self.figures(row, case) });
        figures.reduce(|first, other| Figures {
            rmse: first.rmse.or(other.rmse),
            nll: first.nll.or(other.nll),
            nlml: first.nlml.or(other.nlml),
            minutes: first.minutes.or(other.minutes),
            ..first
        })
    }

    /// The paper's figures on a case's data by methods that are none of `methods`.
    pub(crate) fn others(&self, case: &Case, methods: &[String]) -> Vec<Figures> {
        let whole = self.comparison.lists_other_methods && case.dataset.subsample.is_none();
        let is_plain = |row: &&Published| row.m.is_none() && row.subset().is_none();
        let rows = self.rows.iter().filter(|row| whole && self.is_of(row, case)).filter(is_plain);
        let figures = rows.map(|row| self.figures(row, case));
        figures.filter(|figures| !methods.contains(&figures.method) && figures.rmse.is_some()).collect()
    }

    /// Whether a case has the noise of the paper's low-noise experiments.
    pub(crate) fn is_low_noise(&self, case: &Case) -> bool {
        self.comparison
            .low_noise_scale
            .is_some_and(|scale| (case.kernel.noise_scale / scale - 1.0).abs() < 1e-6)
    }

    fn is_of(&self, row: &Published, case: &Case) -> bool {
        matches!(&case.dataset.source, Source::Registry { name } if *name == row.dataset)
            && self
                .comparison
                .kernel
                .is_none_or(|family| case.kernel.family == family && case.kernel.network.is_none())
            && row.kernel.is_none_or(|kernel| kernel.is_of(&case.kernel))
            && row.batch_size.is_none_or(|size| Size::Batch.of(case) == Some(size as f64))
    }

    fn figures(&self, row: &Published, case: &Case) -> Figures {
        let figure = |Printed { mean, stderr }: Printed, scale: f64| {
            let stderr = stderr.map(|stderr| stderr * scale.abs());
            mean.map(|mean| Figure { mean: mean * scale, stderr, decimals: self.comparison.decimals })
        };
        let low_noise = self.is_low_noise(case);
        Figures {
            method: row.name(),
            rmse: figure(if low_noise { row.rmse_low_noise } else { row.rmse }, 1.0),
            nll: figure(row.nll, 1.0).or(figure(row.llh, -1.0)).filter(|_| !low_noise),
            compares_nll: true,
            nlml: figure(row.nlml, 1.0),
            minutes: figure(row.time_min, 1.0).or(figure(row.time_h, 60.0)).filter(|_| !low_noise),
            speed_up: row.speed_up,
        }
    }
}

impl Method {
    fn is_of(&self, case: &Case, inducing: bool) -> bool {
        let is = |asked: &Option<String>, own: &str| asked.as_deref().is_none_or(|asked| asked == own);
        is(&self.solver, &case.solver.plugin)
            && (self.solver.is_some() || case.task.learning().is_none())
            && is(&self.estimator, estimator::method(&case.task))
            && self.subset == case.dataset.subsample.is_some()
            && self.inducing == inducing
    }
}

impl Published {
    /// Whether right-hand sides and starts are those of the row, where the paper distinguishes them.
    fn is_trained_like(&self, task: &Task) -> bool {
        let (Some(pathwise), Some(warm_start)) = (self.pathwise, self.warm_start) else { return true };
        let Task::Train(training) = task else { return false };
        let GradientEstimator::Solutions { probes, second_solve: false, start } = training.gradient else {
            return false;
        };
        let wanted = if warm_start { Start::Warm } else { Start::Cold };
        matches!(probes, Probes::Pathwise(_)) == pathwise && start == wanted
    }

    /// Number of training rows, of a row on a subset of them.
    fn subset(&self) -> Option<f64> {
        let share = self.subset_fraction.zip(self.n).map(|(share, n)| share * TRAINING_SHARE * n as f64);
        share.or(self.subset_size.map(|size| size as f64))
    }

    /// Whether this is a row on so many training rows, up to the rounding of a share.
    fn is_subset_of(&self, subsample: Subsample) -> bool {
        let ours = match subsample {
            Subsample::Rows(rows) => Some(rows as f64),
            Subsample::Fraction(share) => self.n.map(|n| share * TRAINING_SHARE * n as f64),
        };
        ours.zip(self.subset()).is_some_and(|(ours, theirs)| (ours / theirs - 1.0).abs() < 0.01)
    }

    /// The method, with its number of inducing points or share of the rows.
    fn name(&self) -> String {
        match (self.m, self.subset_fraction, self.subset_size) {
            (Some(m), _, _) => format!("{}, {m} points", self.method),
            (_, Some(share), _) => format!("{}, {:.0} %", self.method, 100.0 * share),
            (_, _, Some(size)) => format!("{}, {size} rows", self.method),
            _ => self.method.clone(),
        }
    }
}

#[cfg(test)]
impl Figure {
    /// A figure with two decimals.
    pub(crate) fn new(mean: f64, stderr: Option<f64>) -> Figure {
        Figure { mean, stderr, decimals: 2 }
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decimals = self.decimals;
        write!(f, "{:.decimals$}", self.mean)?;
        self.stderr.map_or(Ok(()), |stderr| write!(f, " ± {stderr:.decimals$}"))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use gpbench_record::{
        Activation, FeatureEstimator, Frequencies, Learning, Network, Param, PathwiseTargets, Prediction,
        Prior, ProbeDistribution, Schedule, Selection, StandardProbes, Training, testing,
    };

    use super::*;

    /// A case on a data set of the registry.
    fn case(dataset: &str, family: Family, solver: &str) -> Case {
        let mut case = testing::case("here");
        case.dataset.source = Source::Registry { name: dataset.to_owned() };
        case.kernel.family = family.into();
        case.solver.plugin = solver.to_owned();
        case
    }

    fn posterior(dataset: &str, solver: &str, subsample: Option<Subsample>) -> Case {
        let mut case = case(dataset, Family::Matern32, solver);
        case.dataset.subsample = subsample;
        case
    }

    fn train(dataset: &str, family: Family, solver: &str, gradient: GradientEstimator) -> Case {
        let mut case = case(dataset, family, solver);
        case.task = Task::Train(Box::new(Training {
            estimator: "e".to_owned(),
            gradient,
            steps: 1,
            learning_rate: 0.1,
            schedule: Schedule::Constant,
            shared_length_scale: false,
            fixed: Vec::new(),
            replay: Vec::new(),
            subset: None,
            landscape: None,
            prediction: Prediction {
                targets: PathwiseTargets { probes: 1, prior: Prior::Exact },
                params: BTreeMap::new(),
            },
        }));
        case
    }

    fn standard(start: Start, second_solve: bool) -> GradientEstimator {
        let probes = Probes::Standard(StandardProbes { probes: 1, distribution: ProbeDistribution::Normal });
        GradientEstimator::Solutions { probes, second_solve, start }
    }

    fn pathwise(start: Start) -> GradientEstimator {
        let probes = Probes::Pathwise(PathwiseTargets { probes: 1, prior: Prior::Exact });
        GradientEstimator::Solutions { probes, second_solve: false, start }
    }

    #[test]
    fn the_built_in_files_are_read() {
        let rows = |name| Reference::named(name).map(|reference| reference.rows.len());
        assert_eq!(FILES.map(|(name, _)| rows(name)), [Some(51), Some(84), Some(102), Some(432)]);
        assert!(Reference::named("nobody1999").is_none());
        assert!(
            Reference::paper("Lin et al. 2023").is_some_and(|paper| paper.entry.contains("NeurIPS 2023"))
        );
    }

    #[test]
    fn a_posterior_finds_its_row_in_each_table() {
        let reference = Reference::named("lin2023").unwrap();
        let found = |dataset, solver, subsample, points| {
            let figures = reference.find(&posterior(dataset, solver, subsample), points)?;
            Some(format!("{}: {}", figures.method, figures.rmse?))
        };
        let (rows, share) = (|rows| Some(Subsample::Rows(rows)), |share| Some(Subsample::Fraction(share)));
        let says = |text: &str| Some(text.to_owned());
        assert_eq!(found("pol", "cg", None, None), says("CG: 0.08 ± 0.00"));
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
            reference.others(case, &["CG".to_owned()]).into_iter().map(|figures| figures.method).collect()
        };
        let mut case = posterior("pol", "cg", None);
        assert_eq!(others(&case), ["SGD", "SVGP"]);
        case.kernel.noise_scale = 1e-3;
        assert_eq!(others(&case), ["SGD"]);
    }

    #[test]
    fn training_finds_the_row_with_its_probes_and_starts() {
        let reference = Reference::named("lin2024").unwrap();
        let found = |dataset, solver, gradient| {
            reference.find(&train(dataset, Family::Matern32, solver, gradient), None)
        };
        let mean = |figure: Option<Figure>| figure.map(|figure| figure.mean);
        let row = found("pol", "cg", standard(Start::Warm, false)).unwrap();
        assert_eq!((mean(row.rmse), mean(row.nll)), (Some(0.0750), Some(-1.2681)));
        assert_eq!((mean(row.minutes), row.speed_up), (Some(2.2844), Some(2.1)));
        assert_eq!(row.minutes.unwrap().to_string(), "2.2844 ± 0.0131");
        // Longer than a day, and nothing else known.
        let row = found("keggdirected", "ap", standard(Start::Cold, false)).unwrap();
        assert_eq!((row.rmse, row.minutes, row.speed_up), (None, None, None));
        let row = found("3droad", "ap", pathwise(Start::Warm)).unwrap();
        assert_eq!((row.minutes.unwrap().mean * 100.0).round(), 13083.0);
        assert_eq!(found("pol", "cholesky", standard(Start::Warm, false)), None);
        assert_eq!(found("pol", "cg", standard(Start::Warm, true)), None);
        assert_eq!(found("pol", "cg", pathwise(Start::Extrapolated)), None);
        assert_eq!(found("pol", "cg", GradientEstimator::Exact), None);
        let mut subset = train("pol", Family::Matern32, "cg", standard(Start::Warm, false));
        subset.dataset.subsample = Some(Subsample::Rows(2000));
        assert_eq!(reference.find(&subset, None), None);
    }

    #[test]
    fn errors_and_times_of_two_tables_are_merged() {
        let reference = Reference::named("rtgps2021").unwrap();
        let found = |dataset, solver, gradient| {
            let row = reference.find(&train(dataset, Family::Rbf, solver, gradient), None)?;
            Some([row.rmse, row.nll, row.minutes].map(|figure| figure.map(|figure| figure.mean)))
        };
        let frequencies = Frequencies::MultivariateT;
        let rff = GradientEstimator::Features(FeatureEstimator::Rff { features: 2, frequencies });
        let means = |means: [f64; 3]| Some(means.map(Some));
        assert_eq!(found("pol", "rr-cg", standard(Start::Cold, true)), means([0.112, -0.458, 14.968]));
        assert_eq!(found("bike", "cholesky", GradientEstimator::Exact), means([0.035, -0.984, 34.991]));
        assert_eq!(found("elevators", "cg", rff), means([0.365, 0.780, 0.503]));
        assert_eq!(found("pol", "ap", standard(Start::Cold, false)), None);
        assert_eq!(found("protein", "cholesky", GradientEstimator::Exact), None);
    }
    /// A learner's case, with a batch size and perhaps a network.
    fn learn(dataset: &str, plugin: &str, batch: i64, network: Option<Covariance>) -> Case {
        let mut case = case(dataset, Family::Rbf, plugin);
        case.task = Task::Learn(Box::new(Learning {
            passes: 1,
            looks: vec![1],
            select: Selection::Last,
            patience: 0,
            inducing: None,
            shared_length_scale: false,
            nlml_rows: 4096,
            grid: None,
        }));
        case.solver.params.insert("batch".to_owned(), Param::Int(batch));
        if let Some(family) = network {
            case.kernel.family = family;
            case.kernel.network =
                Some(Network { widths: vec![128, 128], activation: Activation::Relu, random: None });
        }
        case
    }

    #[test]
    fn learners_are_compared_by_method_batch_and_kernel() {
        let reference = Reference::named("shoham2025").unwrap();
        let found = |case: &Case| {
            let figures = reference.find(case, None)?;
            Some((figures.nlml.unwrap().mean, figures.rmse.unwrap().mean))
        };
        let (linear, gaussian) = (Some(Covariance::Linear), Some(Family::Rbf.into()));
        assert_eq!(found(&learn("bike", "minimax", 32, linear)), Some((-1.482, 0.099)));
        assert_eq!(found(&learn("pol", "scgd", 64, gaussian)).map(|(_, rmse)| rmse), Some(2.353));
        assert_eq!(found(&learn("bike", "minimax", 16, linear)), None);
        assert_eq!(found(&learn("bike", "minimax", 32, None)), None);
        assert_eq!(found(&learn("bike", "poe", 32, linear)), None);

        let reference = Reference::named("rtgps2021").unwrap();
        let found = |plugin| reference.find(&learn("bike", plugin, 1024, None), None);
        assert_eq!(found("poe").unwrap().rmse.unwrap().mean, 0.071);
        assert!(found("svgp").unwrap().compares_nll && !found("sggp").unwrap().compares_nll);
        // A learner is not Cholesky because it has no estimator.
        assert_eq!(found("bsgd"), None);
    }
}
