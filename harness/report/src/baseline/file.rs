//! The baseline file.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use gpbench_record::metric::{self, DEFAULT_TOLERANCE, Shown};
use gpbench_record::{CaseStatus, Metrics};
use serde::{Deserialize, Serialize};

use super::cases::{CaseKey, Merged, merged};
use super::keys::{self, Mistake};
use super::session::BaselineSession;
use crate::error::{Error, Result, at};
use crate::frame::{Cases, Frame};
use crate::run::Run;

/// Version of the format.
const SCHEMA: u32 = 1;

/// Bytes of the longest baseline that is read: enough for a hundred thousand cases.
const LONGEST: u64 = 256 << 20;

/// A baseline file.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    /// Version of the format.
    pub schema: u32,
    /// Tolerances that differ from the defaults, by metric.
    #[serde(default)]
    pub tolerance: BTreeMap<String, BaselineTolerance>,
    /// The contents of data and plugins that it was made with; nothing in files of earlier versions.
    #[serde(default)]
    pub contents: BaselineContents,
    /// The seconds of earlier sessions, oldest first; nothing in files without seconds, as those of earlier versions.
    #[serde(default, rename = "session")]
    pub sessions: Vec<BaselineSession>,
    /// The cases.
    #[serde(default, rename = "case")]
    pub cases: Vec<BaselineCase>,
}

/// The contents that the names of a baseline stood for, as SHA-256; several where cases have different ones.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BaselineContents {
    /// Binary copies, by data set. Generated sets have none.
    #[serde(default)]
    pub datasets: BTreeMap<String, BTreeSet<String>>,
    /// Libraries of plugins, by solver or learner.
    #[serde(default)]
    pub solvers: BTreeMap<String, BTreeSet<String>>,
}

/// Largest loss of a metric against its baseline: the larger of two bounds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BaselineTolerance {
    /// In the units of the metric.
    #[serde(default)]
    pub absolute: f64,
    /// As a fraction of the baseline's absolute value.
    #[serde(default)]
    pub relative: f64,
}

impl BaselineTolerance {
    /// Largest loss of a value.
    pub(super) fn margin(self, value: f64) -> f64 {
        self.absolute.max(self.relative * value.abs())
    }
}

/// One case of a baseline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BaselineCase {
    /// Its names on the spec's axes.
    #[serde(flatten)]
    pub key: CaseKey,
    /// Status.
    #[serde(default = "ok")]
    pub status: CaseStatus,
    /// Metrics.
    #[serde(default)]
    pub metrics: Metrics,
}

fn ok() -> CaseStatus {
    CaseStatus::Ok
}

impl Baseline {
    /// Reads a baseline file.
    ///
    /// # Errors
    /// If it cannot be read, is not TOML of this form, has a key that is not known, is of a later schema, has
    /// a negative tolerance, a metric that is not finite or seconds that are not positive, or names a case twice.
    pub fn read(path: impl AsRef<Path>) -> Result<Baseline> {
        let path = path.as_ref();
        let format = |at, reason| Error::Format { path: path.to_owned(), at, reason };
        let mut bytes = Vec::new();
        // A device such as `/dev/zero` has no end.
        let file = File::open(path).map_err(at(path))?;
        file.take(LONGEST + 1).read_to_end(&mut bytes).map_err(at(path))?;
        if bytes.len() as u64 > LONGEST {
            return Err(format(None, format!("it has more than {LONGEST} bytes, and cannot be a baseline")));
        }
        let text = String::from_utf8(bytes)
            .map_err(|_| format(None, "the text is not UTF-8; save the file as UTF-8".to_owned()))?;
        if let Some(Mistake { line, column, what }) = keys::unknown(&text) {
            return Err(format(Some((line, column)), what));
        }
        Baseline::parse(&text).map_err(|reason| format(None, reason))
    }

    fn parse(text: &str) -> std::result::Result<Baseline, String> {
        let baseline: Baseline = toml::from_str(text).map_err(|error| error.to_string())?;
        if baseline.schema != SCHEMA {
            return Err(format!(
                "schema = {} is not known; this version reads schema = {SCHEMA}",
                baseline.schema
            ));
        }
        let valid = |v: f64| v.is_finite() && v >= 0.0;
        if let Some((name, _)) =
            baseline.tolerance.iter().find(|(_, t)| !valid(t.absolute) || !valid(t.relative))
        {
            return Err(format!("the tolerance of {name} must be finite and not negative"));
        }
        for case in &baseline.cases {
            // No value exceeds what is not a number, so such a baseline would pass everything.
            if let Some((name, value)) = case.metrics.iter().find(|(_, value)| !value.is_finite()) {
                return Err(format!("the {name} of the case {} is {value}; it must be finite", case.key));
            }
        }
        if let Some(mistake) = baseline.sessions.iter().find_map(BaselineSession::mistake) {
            return Err(mistake);
        }
        let of_session = |session: &BaselineSession| listed_twice(session.cases.iter().map(|case| &case.key));
        let twice = baseline.sessions.iter().find_map(of_session);
        match twice.or_else(|| listed_twice(baseline.cases.iter().map(|case| &case.key))) {
            Some(key) => Err(format!("the case {key} is listed twice")),
            None => Ok(baseline),
        }
    }

    /// The baseline that a run gives: skipped cases are left out.
    ///
    /// # Errors
    /// If the table of results cannot be built.
    pub fn of(run: &Run) -> Result<Baseline> {
        Ok(Baseline::of_cases(&Cases::of(&Frame::new(run)?)))
    }

    pub(super) fn of_cases(cases: &Cases<'_>) -> Baseline {
        let contents = BaselineContents::of(cases);
        let cases = merged(cases).into_iter().filter(|(_, found)| found.worst.status != CaseStatus::Skipped);
        let case = |(key, found): (CaseKey, Merged<'_>)| {
            let recorded = found.metrics.iter().filter(|(name, _)| is_recorded(name));
            let metrics = recorded.map(|(name, value)| (name.to_owned(), value)).collect();
            BaselineCase { key, status: found.worst.status, metrics }
        };
        let cases = cases.map(case).collect();
        Baseline { schema: SCHEMA, contents, cases, ..Baseline::default() }
    }

    /// The tolerance of a metric: the file's, else that of the registry.
    pub fn tolerance_of(&self, metric: &str) -> BaselineTolerance {
        self.tolerance.get(metric).copied().unwrap_or_else(|| {
            let known = metric::find(metric).map_or(DEFAULT_TOLERANCE, |metric| metric.tolerance);
            BaselineTolerance { absolute: known.absolute, relative: known.relative }
        })
    }
}

/// A case that a list has more than once.
fn listed_twice<'k>(keys: impl Iterator<Item = &'k CaseKey>) -> Option<CaseKey> {
    let mut keys: Vec<&CaseKey> = keys.collect();
    keys.sort();
    keys.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0].clone())
}

/// Whether a new baseline records a metric.
pub(super) fn is_recorded(name: &str) -> bool {
    metric::find(name).is_some_and(|metric| metric.is_shown(Shown::Baseline))
}
