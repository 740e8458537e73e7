//! Published figures, read from `benchmarks/reference`.
//!
//! A file names its paper, the conditions of its figures, and which of its methods a case stands for; none of that
//! is hard-coded here. To add a reference, add its file to [`FILES`] and its name to those that a spec accepts.

mod row;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use gpbench_record::{Case, Family, Source};
use serde::Deserialize;

use crate::cost::Size;
use crate::estimator;
use row::Printed;
pub(crate) use row::{Figure, Published};

/// The files, by the name that a spec gives as `[report] reference`.
const FILES: [(&str, &str); 4] = [
    ("lin2023", include_str!("../../../benchmarks/reference/lin2023.toml")),
    ("lin2024", include_str!("../../../benchmarks/reference/lin2024.toml")),
    ("rtgps2021", include_str!("../../../benchmarks/reference/rtgps2021.toml")),
    ("shoham2025", include_str!("../../../benchmarks/reference/shoham2025.toml")),
];

/// The papers of all files, which pages of many runs ask for again and again.
static PAPERS: LazyLock<Vec<Paper>> =
    LazyLock::new(|| FILES.iter().map(|(_, text)| Reference::parse(text).paper).collect());

/// Published figures of one paper.
#[derive(Debug)]
pub(crate) struct Reference {
    pub(crate) paper: Paper,
    pub(crate) comparison: Comparison,
    /// The rows of all tables that are compared, with the table's name.
    rows: Vec<(String, Published)>,
}

/// A paper.
#[derive(Debug, Deserialize)]
pub(crate) struct Paper {
    /// Authors and year.
    pub(crate) short: String,
    /// The full bibliographic entry.
    pub(crate) entry: String,
}

/// Conditions under which the figures are compared with ours.
#[derive(Debug, Deserialize)]
pub(crate) struct Comparison {
    /// Differences in conditions that a reader must know.
    pub(crate) conditions: String,
    /// Decimals of the printed figures.
    decimals: usize,
    /// Kernel family of all figures; rows say it where it is absent.
    kernel: Option<Family>,
    /// Splits that figures are means over.
    pub(crate) splits: usize,
    /// Whether the figure after the plus-minus sign is read as a standard deviation over splits; else it is a standard error.
    #[serde(default)]
    pub(crate) spread_is_deviation: bool,
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

/// The cases that stand for a published method: those with all properties given here.
#[derive(Debug, Deserialize)]
pub(crate) struct Method {
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
    /// Rank of the paper's variances, if they have one: its NLL is compared with that of cases whose variances have the same.
    variance_rank: Option<usize>,
    /// Whether the cases solve to the tolerance, by other means, what the paper's method solves: they have its quality
    /// where it converges.
    #[serde(default)]
    pub(crate) converged: bool,
}

/// Published figures of a method on the data of a case.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Figures {
    /// The method, with its number of inducing points or share of the rows.
    pub(crate) method: String,
    /// Test RMSE.
    pub(crate) rmse: Option<Figure>,
    /// Mean negative test log-likelihood.
    pub(crate) nll: Option<Figure>,
    /// Whether our variances are of the same kind.
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
    pub(crate) fn paper(short: &str) -> Option<&'static Paper> {
        PAPERS.iter().find(|paper| paper.short == short)
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
        let rows = comparison.tables.iter().flat_map(|name| {
            let rows: Vec<Published> = tables.remove(name).expect(read).try_into().expect(read);
            rows.into_iter().map(|row| (name.clone(), row))
        });
        Reference { rows: rows.collect(), paper, comparison }
    }

    /// Published figures of the method that a case stands for; `inducing_points` is the number that it used.
    pub(crate) fn find(&self, case: &Case, inducing_points: Option<f64>) -> Option<Figures> {
        let (method, rows) = self.rows_of(case, inducing_points)?;
        // Errors and times of a method may be in different tables.
        let compares_nll = method.compares_nll(case);
        let figures = rows.into_iter().map(|(_, row)| Figures { compares_nll, ..self.figures(row, case) });
        figures.reduce(|first, other| Figures {
            rmse: first.rmse.or(other.rmse),
            nll: first.nll.or(other.nll),
            nlml: first.nlml.or(other.nlml),
            minutes: first.minutes.or(other.minutes),
            ..first
        })
    }

    /// The method that a case stands for, and the rows of it that are on the case's data, with their tables.
    pub(crate) fn rows_of(
        &self,
        case: &Case,
        inducing_points: Option<f64>,
    ) -> Option<(&Method, Vec<(&str, &Published)>)> {
        let is_own = |method: &&Method| method.is_of(case, inducing_points.is_some());
        let method = self.comparison.methods.iter().find(is_own)?;
        let rows = self.rows.iter().filter(|(_, row)| self.is_of(row, case) && row.method == method.method);
        let rows = rows.filter(|(_, row)| row.is_trained_like(&case.task));
        let mut rows: Vec<_> = rows.map(|(table, row)| (table.as_str(), row)).collect();
        let low_noise = self.is_low_noise(case);
        match (inducing_points, case.dataset.subsample) {
            (Some(_), _) | (_, Some(_)) if low_noise => return None,
            // With so little noise, the paper's solvers do not converge.
            _ if method.converged && low_noise => return None,
            (Some(points), _) => {
                let distance = |row: &Published| row.m.map_or(f64::MAX, |m| (m as f64 / points).ln().abs());
                rows.sort_by(|(_, a), (_, b)| distance(a).total_cmp(&distance(b)));
                rows.truncate(1);
            }
            (None, Some(subsample)) => rows.retain(|(_, row)| row.is_subset_of(subsample)),
            (None, None) => rows.retain(|(_, row)| row.m.is_none()),
        }
        Some((method, rows))
    }

    /// The paper's figures on a case's data by methods that are none of `methods`.
    pub(crate) fn others(&self, case: &Case, methods: &[String]) -> Vec<Figures> {
        let whole = self.comparison.lists_other_methods && case.dataset.subsample.is_none();
        let is_plain = |row: &&Published| row.m.is_none() && row.subset().is_none();
        let rows = self.rows.iter().map(|(_, row)| row);
        let rows = rows.filter(|row| whole && self.is_of(row, case)).filter(is_plain);
        let figures = rows.map(|row| self.figures(row, case));
        figures.filter(|figures| !methods.contains(&figures.method) && figures.rmse.is_some()).collect()
    }

    /// The rows of all tables that are compared, with the table's name.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (&str, &Published)> {
        self.rows.iter().map(|(table, row)| (table.as_str(), row))
    }

    /// Names of all references, as a spec gives them.
    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        FILES.iter().map(|(name, _)| *name)
    }

    /// A printed figure, in the paper's decimals, times a factor; none where a bound is printed, or nothing.
    pub(crate) fn figure(&self, Printed { mean, stderr }: Printed, factor: f64) -> Option<Figure> {
        let stderr = stderr.map(|stderr| stderr * factor.abs());
        mean.map(|mean| Figure { mean: mean * factor, stderr, decimals: self.comparison.decimals })
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
        let figure = |printed: Printed, factor: f64| self.figure(printed, factor);
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

    /// Whether a case has the variances of the paper's NLL.
    pub(crate) fn compares_nll(&self, case: &Case) -> bool {
        let own = case.task.learning().and_then(|learning| learning.variance_rank);
        self.variance_rank.is_none_or(|rank| own == Some(rank))
    }
}

#[cfg(test)]
mod tests;
