//! Whether a run regressed: comparison with a baseline file, case by case.
//!
//! A baseline is a TOML file that is kept under version control:
//!
//! ```toml
//! schema = 1
//!
//! [tolerance]
//! test_rmse = { absolute = 0.001, relative = 0.01 }
//!
//! [[case]]
//! dataset = "toy"
//! kernel = "matern32"
//! estimator = "pathwise"
//! solver = "cg"
//! seed = 0
//! status = "ok"
//! metrics = { residual_y = 0.0087, test_rmse = 0.312 }
//! ```
//!
//! Cases are matched by their labels, not by their ids: an id holds the checksum
//! of the binaries, and a new binary is just what is to be checked. Timing
//! repeats count as one case. Lower is better for every metric, so a metric
//! regresses only upwards: when it exceeds the baseline by more than the larger
//! of `absolute` and `relative * |baseline|`. `residual_y` and `residual_probes`
//! may grow up to the tolerance that the solver was asked for where that is the
//! larger, but by no more than a factor of 1.75; where the baseline lies far (100
//! times) below it, as an exact solver's does, that is not granted.
//!
//! | metric | absolute | relative |
//! |---|---|---|
//! | `test_rmse` | 0.0001 | 0.005 |
//! | `test_nll` | 0.01 | 0.01 |
//! | `rmse_to_exact`, `w2_to_exact` | 0.0001 | 0.1 |
//! | `residual_y`, `residual_probes`, `residual_max` | 1e-9 | 0.1 |
//! | `epochs`, `iterations` | 1 | 0.1 |
//! | `seconds` | 0.001 | 0.1 |
//! | any other metric that the baseline lists | 0 | 0.1 |
//!
//! A run is compared with an earlier run ([`against`]) as with the baseline that
//! this would give, and by its times: a new median that exceeds the old one by
//! more than the tolerance is a regression where a rank test over the repeats
//! says that it is no chance.

mod check;
mod rank;
mod seconds;
mod update;

use std::collections::BTreeMap;
use std::path::Path;

use gpbench_record::{Labels, Metrics, Row, Status, names};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result, at};
use crate::metric::SECONDS;
use crate::run::Run;

pub use check::{Check, Verdict, VerdictKind, against, check};
pub use seconds::FALSE_ALARMS;
pub use update::update;

/// Metrics that a new baseline records: those that a machine's speed does not touch.
const RECORDED: [&str; 8] = [
    names::RESIDUAL_Y,
    names::RESIDUAL_PROBES,
    names::RESIDUAL_MAX,
    names::TEST_RMSE,
    names::TEST_NLL,
    names::RMSE_TO_EXACT,
    names::EPOCHS,
    names::ITERATIONS,
];

/// A baseline file.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    /// Version of the format.
    pub schema: u32,
    /// Tolerances that differ from the defaults, by metric.
    #[serde(default)]
    pub tolerance: BTreeMap<String, Tolerance>,
    /// The cases.
    #[serde(default, rename = "case")]
    pub cases: Vec<BaselineCase>,
}

/// By how much a metric may exceed its baseline: the larger of the two.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tolerance {
    /// In the units of the metric.
    #[serde(default)]
    pub absolute: f64,
    /// As a fraction of the baseline's absolute value.
    #[serde(default)]
    pub relative: f64,
}

/// One case of a baseline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BaselineCase {
    /// Where it stands on the spec's axes.
    #[serde(flatten)]
    pub key: Key,
    /// How it ended.
    #[serde(default = "ok")]
    pub status: Status,
    /// What it measured.
    #[serde(default)]
    pub metrics: Metrics,
}

fn ok() -> Status {
    Status::Ok
}

/// Where a case stands on the spec's axes; timing repeats count as one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Key {
    /// Data set.
    pub dataset: String,
    /// Kernel.
    pub kernel: String,
    /// Estimator.
    pub estimator: String,
    /// Solver.
    pub solver: String,
    /// Seed.
    pub seed: u64,
}

impl Key {
    fn of(labels: &Labels) -> Key {
        let Labels { dataset, kernel, estimator, solver, seed, .. } = labels.clone();
        Key { dataset, kernel, estimator, solver, seed }
    }
}

impl std::fmt::Display for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Key { dataset, kernel, estimator, solver, seed } = self;
        write!(f, "{dataset}/{kernel}/{estimator}/{solver}/seed {seed}")
    }
}

impl Baseline {
    /// Reads a baseline file.
    ///
    /// # Errors
    /// If it cannot be read, is not TOML of this form, is of a later schema, has
    /// a negative tolerance or a metric that is not finite, or names a case twice.
    pub fn read(path: impl AsRef<Path>) -> Result<Baseline> {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path).map_err(at(path))?;
        Baseline::parse(&text).map_err(|reason| Error::Format { path: path.to_owned(), reason })
    }

    fn parse(text: &str) -> std::result::Result<Baseline, String> {
        let baseline: Baseline = toml::from_str(text).map_err(|error| error.to_string())?;
        if baseline.schema != gpbench_record::SCHEMA {
            return Err(format!("schema = {} is not known; this version reads schema = 1", baseline.schema));
        }
        let valid = |v: f64| v.is_finite() && v >= 0.0;
        if let Some((name, _)) =
            baseline.tolerance.iter().find(|(_, t)| !valid(t.absolute) || !valid(t.relative))
        {
            return Err(format!("the tolerance of {name} must be finite and not negative"));
        }
        for case in &baseline.cases {
            // Nothing is more than what is not a number, so such a baseline would pass everything.
            if let Some((name, value)) = case.metrics.iter().find(|(_, value)| !value.is_finite()) {
                return Err(format!("the {name} of the case {} is {value}; it must be finite", case.key));
            }
        }
        let mut keys: Vec<&Key> = baseline.cases.iter().map(|c| &c.key).collect();
        keys.sort();
        match keys.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(format!("the case {} is listed twice", pair[0])),
            None => Ok(baseline),
        }
    }

    /// The baseline that a run gives: skipped cases are left out.
    pub fn of(run: &Run) -> Baseline {
        let cases = merged(run).into_iter().filter(|(_, found)| found.worst.status != Status::Skipped);
        let case = |(key, found): (Key, Merged<'_>)| BaselineCase {
            key,
            status: found.worst.status,
            metrics: found.metrics.iter().filter(|(name, _)| RECORDED.contains(name)).map(owned).collect(),
        };
        Baseline {
            schema: gpbench_record::SCHEMA,
            tolerance: BTreeMap::new(),
            cases: cases.map(case).collect(),
        }
    }

    /// The tolerance of a metric: the file's, else the default.
    pub fn tolerance_of(&self, metric: &str) -> Tolerance {
        self.tolerance.get(metric).copied().unwrap_or_else(|| default_tolerance(metric))
    }
}

fn owned((name, value): (&str, f64)) -> (String, f64) {
    (name.to_owned(), value)
}

fn default_tolerance(metric: &str) -> Tolerance {
    let (absolute, relative) = match metric {
        names::TEST_RMSE => (1e-4, 0.005),
        names::TEST_NLL => (0.01, 0.01),
        names::RMSE_TO_EXACT | names::W2_TO_EXACT => (1e-4, 0.1),
        names::EPOCHS | names::ITERATIONS => (1.0, 0.1),
        SECONDS => (1e-3, 0.1),
        _ if is_residual(metric) => (1e-9, 0.1),
        _ => (0.0, 0.1),
    };
    Tolerance { absolute, relative }
}

/// The residuals that a budget's tolerance bounds. The worst column is not among
/// them: a solver stops on y and on the mean of the probes.
fn is_bounded_residual(metric: &str) -> bool {
    matches!(metric, names::RESIDUAL_Y | names::RESIDUAL_PROBES)
}

fn is_residual(metric: &str) -> bool {
    is_bounded_residual(metric) || metric == names::RESIDUAL_MAX
}

/// A run's cases with their timing repeats merged.
fn merged(run: &Run) -> BTreeMap<Key, Merged<'_>> {
    let mut cases: BTreeMap<Key, Vec<&Row>> = BTreeMap::new();
    for row in &run.rows {
        cases.entry(Key::of(&row.labels)).or_default().push(row);
    }
    cases.into_iter().map(|(key, rows)| (key, Merged::new(&rows))).collect()
}

/// A case with its repeats: the worst status, and the mean of each metric.
struct Merged<'a> {
    worst: &'a Row,
    metrics: Metrics,
}

impl<'a> Merged<'a> {
    fn new(rows: &[&'a Row]) -> Merged<'a> {
        let worst =
            rows.iter().max_by_key(|row| severity(row.status)).expect("a key stands for at least one row");
        let mut sums: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
        for (name, value) in rows.iter().flat_map(|row| row.metrics.iter()) {
            let (sum, count) = sums.entry(name).or_default();
            *sum += value;
            *count += 1.0;
        }
        Merged {
            worst,
            metrics: sums.into_iter().map(|(name, (sum, n))| (name.to_owned(), sum / n)).collect(),
        }
    }
}

/// Order of statuses from good to bad; all failures are alike.
fn severity(status: Status) -> u8 {
    match status {
        Status::Ok => 0,
        Status::NotConverged => 1,
        Status::Skipped => 2,
        _ => 3,
    }
}
