//! The machine and the binaries that a result depends on.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::InstructionSet;
use crate::hash::hash_json;
use crate::{Part, PartKind};

/// Everything except the case itself that can change its result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint {
    /// SHA-256 of the plugin's library; of one with parts, its identity, see [`crate::Composition::identity`].
    pub plugin_sha256: String,
    /// SHA-256 of the data set's binary copy; absent for generated sets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dataset_sha256: Option<String>,
    /// SHA-256 of the worker program.
    pub worker_sha256: String,
    /// Threads a case may use.
    pub threads: usize,
    /// Instruction set chosen at run time, such as `avx512`.
    pub cpu_dispatch: String,
    /// OpenBLAS core type, such as `SkylakeX`.
    pub blas_core: String,
    /// Whether metrics of the exact process are computed too.
    #[serde(default)]
    pub exact: bool,
}

/// The environment of a run. It is written once per run folder, and again for each attempt that continues in another
/// environment.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Environment {
    /// Version of gpbench.
    pub gpbench: String,
    /// Compiler that gpbench was built with.
    pub rustc: String,
    /// Operating system and kernel release.
    pub os: String,
    /// Processor model.
    pub cpu: String,
    /// Logical processors available to the process.
    pub cores: usize,
    /// Frequency governor of the first processor, where the system reports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub governor: Option<String>,
    /// Load averages over 1, 5 and 15 minutes at the start of the run.
    pub load: Vec<f64>,
    /// Fraction of the processors that other programs used during the run; with several attempts, the largest one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_load: Option<f64>,
    /// Bytes of physical memory.
    pub memory_bytes: u64,
    /// Instruction set chosen at run time.
    pub cpu_dispatch: String,
    /// Version and build options of OpenBLAS.
    pub blas: String,
    /// OpenBLAS core type.
    pub blas_core: String,
    /// Threads a case may use.
    pub threads: usize,
    /// Number of cases that run at the same time; 0 where it is unknown, as in files of earlier versions.
    pub jobs: usize,
    /// Environment variables that choose the threads or the code of numerical libraries, as far as they were set.
    pub variables: BTreeMap<String, String>,
    /// Mechanism that enforces limits on time and memory.
    pub limits: String,
    /// Revision of the git work tree that contains the spec, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub git_revision: Option<String>,
    /// Whether that work tree has uncommitted changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub git_dirty: Option<bool>,
    /// Other revisions in an equal environment with which the run continued, or whose rows it has re-used; written as
    /// by [`Environment::revision`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub other_revisions: Vec<String>,
    /// SHA-256 of the spec, with the changes of the command line.
    pub spec_sha256: String,
    /// SHA-256 of the worker program.
    pub worker_sha256: String,
    /// SHA-256 of the plugins' libraries, by file name; of a plugin with parts, its identity, see
    /// [`crate::Composition::identity`].
    pub plugins: BTreeMap<String, String>,
    /// Parts of the plugins that have any, by the plugins' file names.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub plugin_parts: BTreeMap<String, Vec<PartRecord>>,
    /// SHA-256 of the data sets' binary copies, by name; generated sets have none.
    pub datasets: BTreeMap<String, String>,
}

/// A part of a plugin, as the environment of a run records it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartRecord {
    /// File, package or runtime.
    pub kind: PartKind,
    /// Its name.
    pub name: String,
    /// Its version; empty for files.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub version: String,
    /// SHA-256 of its file.
    pub sha256: String,
}

impl From<&Part> for PartRecord {
    fn from(part: &Part) -> PartRecord {
        let Part { kind, name, version, path: _, sha256 } = part.clone();
        PartRecord { kind, name, version, sha256 }
    }
}

/// All revisions of several environments as one text, without repeats; `None` where none is known.
pub fn revisions<'e>(environments: impl IntoIterator<Item = &'e Environment>) -> Option<String> {
    let mut each: Vec<String> = Vec::new();
    for revision in environments.into_iter().flat_map(Environment::revisions) {
        if !each.contains(&revision) {
            each.push(revision);
        }
    }
    (!each.is_empty()).then(|| each.join("; "))
}

/// Fraction of the processors used by other programs from which on the times of a run count as disturbed.
const DISTURBING: f64 = 0.1;

/// The warning for a run during which other programs used this fraction of the processors; `None` where the fraction
/// is small.
pub fn disturbance(other_load: Option<f64>) -> Option<String> {
    let share = other_load.filter(|share| *share >= DISTURBING)?;
    let percent = 100.0 * share;
    Some(format!(
        "other programs used {percent:.0} % of the processors during this run; its times may be too long"
    ))
}

impl Environment {
    /// The digest of this environment in rows: 16 hexadecimal digits of a hash of the fields that
    /// [`Environment::differences`] compares.
    pub fn kind(&self) -> String {
        hash_json(&(
            (&self.gpbench, &self.rustc, &self.os, &self.cpu, self.cores, &self.governor, self.gibibytes()),
            (
                &self.cpu_dispatch,
                &self.blas,
                &self.blas_core,
                self.threads,
                self.jobs,
                self.other_variables(),
            ),
        ))
    }

    /// Revision of the git work tree that contains the spec: twelve digits of the commit, and whether there are
    /// changes.
    pub fn revision(&self) -> Option<String> {
        let commit = self.git_revision.as_deref()?;
        let changes = if self.git_dirty == Some(true) { ", with changes" } else { "" };
        Some(format!("{}{changes}", commit.get(..12).unwrap_or(commit)))
    }

    /// This environment's revision and the other ones, as [`Environment::revision`] writes them.
    pub fn revisions(&self) -> impl Iterator<Item = String> {
        self.revision().into_iter().chain(self.other_revisions.iter().cloned())
    }

    /// The variables whose effect no other field contains.
    fn other_variables(&self) -> BTreeMap<&String, &String> {
        let is_told = |name: &str| name == InstructionSet::VARIABLE || name == "OPENBLAS_CORETYPE";
        self.variables.iter().filter(|(name, _)| !is_told(name)).collect()
    }

    /// The memory to the nearest GiB, since equal machines differ slightly.
    fn gibibytes(&self) -> u64 {
        (self.memory_bytes + (1 << 29)) >> 30
    }

    /// Names of the differing fields of two environments that can change seconds or last bits. The current load and
    /// the options of a run are not among them.
    pub fn differences(&self, other: &Environment) -> Vec<&'static str> {
        let each = [
            ("gpbench", self.gpbench == other.gpbench),
            ("rustc", self.rustc == other.rustc),
            ("os", self.os == other.os),
            ("cpu", self.cpu == other.cpu),
            ("cores", self.cores == other.cores),
            ("governor", self.governor == other.governor),
            ("memory_bytes", self.gibibytes() == other.gibibytes()),
            ("cpu_dispatch", self.cpu_dispatch == other.cpu_dispatch),
            ("blas", self.blas == other.blas),
            ("blas_core", self.blas_core == other.blas_core),
            ("threads", self.threads == other.threads),
            ("jobs", self.jobs == other.jobs || self.jobs.min(other.jobs) == 0),
            ("variables", self.other_variables() == other.other_variables()),
        ];
        each.into_iter().filter(|(_, same)| !same).map(|(name, _)| name).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_machine_is_a_difference_and_another_hour_is_not() {
        let here = Environment { cpu: "Fast".into(), cores: 2, load: vec![0.1], ..Environment::default() };
        let later = Environment { load: vec![3.0], spec_sha256: "s".into(), ..here.clone() };
        assert!(here.differences(&later).is_empty());
        let there = Environment { cpu: "Slow".into(), cores: 4, ..here.clone() };
        assert_eq!(here.differences(&there), ["cpu", "cores"]);
        assert_eq!(here.kind(), later.kind());
        assert_ne!(here.kind(), there.kind());
    }

    #[test]
    fn a_variable_that_asks_for_what_is_chosen_anyway_is_no_difference() {
        let with = |name: &str| Environment {
            variables: [(name.to_owned(), "avx2".to_owned())].into(),
            ..Environment::default()
        };
        let (here, held) = (Environment::default(), with("GPBENCH_SIMD"));
        assert!(here.differences(&held).is_empty() && here.kind() == held.kind());
        let preloaded = with("LD_PRELOAD");
        assert_eq!(here.differences(&preloaded), ["variables"]);
        assert_ne!(here.kind(), preloaded.kind());
    }

    #[test]
    fn equal_machines_may_differ_by_some_memory() {
        let machine = |memory_bytes| Environment { memory_bytes, ..Environment::default() };
        assert_eq!(machine(16 << 30).kind(), machine((16 << 30) - (5 << 20)).kind());
        assert!(machine(16 << 30).differences(&machine((16 << 30) - (5 << 20))).is_empty());
        assert_ne!(machine(16 << 30).kind(), machine(8 << 30).kind());
    }

    #[test]
    fn a_tenth_of_the_processors_disturbs_a_run() {
        assert_eq!((disturbance(None), disturbance(Some(0.09))), (None, None));
        assert!(disturbance(Some(0.25)).unwrap().starts_with("other programs used 25 % of the processors"));
    }

    #[test]
    fn each_revision_is_named_once() {
        let at = |commit: &str, others: &[&str]| Environment {
            git_revision: Some(commit.to_owned()),
            other_revisions: others.iter().map(|&other| other.to_owned()).collect(),
            ..Environment::default()
        };
        let here = at("0123456789abcdef", &["b", "c"]);
        let there = Environment { git_dirty: Some(true), ..at("b", &["c", "d"]) };
        let text = revisions([&here, &Environment::default(), &there]);
        assert_eq!(text.as_deref(), Some("0123456789ab; b; c; b, with changes; d"));
        assert_eq!(revisions([&Environment::default()]), None);
    }

    #[test]
    fn environments_of_earlier_versions_are_read() {
        let text = r#"{"gpbench":"0.1.0","cpu":"Fast","cores":2}"#;
        let read: Environment = serde_json::from_str(text).unwrap();
        assert_eq!((read.cpu.as_str(), read.cores, read.load.len()), ("Fast", 2, 0));
    }
}
