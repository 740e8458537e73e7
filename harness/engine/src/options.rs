//! How to run a plan, as far as it cannot change a result.

use std::path::PathBuf;

/// Options of a run.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where run folders go: `<output_dir>/<name>/<UTC time>-<short id>`.
    pub output_dir: PathBuf,
    /// Where exact references are kept between runs, in its folder `exact`.
    pub cache_dir: PathBuf,
    /// Processor threads of the whole run, divided among the jobs.
    pub threads: usize,
    /// Cases that run at a time.
    pub jobs: usize,
    /// Begin a new folder even where one could be continued.
    pub fresh: bool,
    /// Run cases again whose row is a failure; the newer row counts.
    pub retry_failed: bool,
    /// Largest number of training rows for which an exact reference is made.
    pub exact_limit: usize,
    /// Wall-clock seconds after which a case without a time budget is killed.
    pub kill_after_seconds: Option<f64>,
    /// Processor seconds, of all its threads and children, after which a case is killed.
    pub cpu_seconds: Option<f64>,
    /// Bytes of memory at which a case without a memory budget is killed.
    pub memory_bytes: Option<u64>,
    /// Failures of a sitting after which no further case is begun.
    pub max_failures: Option<usize>,
    /// Wall-clock seconds after which a sitting ends; the case that runs then has no row.
    pub time_limit_seconds: Option<f64>,
}

impl Default for Options {
    /// One job on one thread, into `reports`, resuming, without bounds from outside.
    fn default() -> Self {
        Self {
            output_dir: PathBuf::from("reports"),
            cache_dir: std::env::temp_dir().join("gpbench"),
            threads: 1,
            jobs: 1,
            fresh: false,
            retry_failed: false,
            exact_limit: 20_000,
            kill_after_seconds: None,
            cpu_seconds: None,
            memory_bytes: None,
            max_failures: None,
            time_limit_seconds: None,
        }
    }
}

impl Options {
    /// Threads of one case: an equal share, at least one.
    pub fn threads_per_case(&self) -> usize {
        (self.threads / self.jobs.max(1)).max(1)
    }
}
