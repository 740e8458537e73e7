//! Options of a run. None of them changes a result.

use std::path::PathBuf;

use crate::EngineError;

/// Which finished cases of earlier runs are re-used. A fresh run re-uses none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reuse {
    /// Those that ran in the same environment: their seconds can be compared.
    Same,
    /// All: seconds may be of another machine.
    Any,
}

/// Options of a run.
#[derive(Debug, Clone)]
pub struct RunOptions {
    /// Where run folders are: `<output_dir>/<name>/<UTC time>-<short id>`.
    pub output_dir: PathBuf,
    /// Where exact references are stored between runs, in its folder `exact`.
    pub cache_dir: PathBuf,
    /// Cases, chosen by their ids, whose solutions the run folder keeps for others to verify.
    pub keep_solutions: usize,
    /// Cases that run at a time.
    pub jobs: usize,
    /// Start a new folder even where one could be continued.
    pub fresh: bool,
    /// Run cases again whose row is a failure; the newer row counts.
    pub retry_failed: bool,
    /// Which rows of earlier runs are taken instead of running their cases again.
    pub reuse: Reuse,
    /// Wall-clock seconds after which a case without a time budget is killed; by default a day.
    pub kill_after_seconds: Option<f64>,
    /// Processor seconds, of all its threads and children, after which a case is killed.
    pub cpu_seconds: Option<f64>,
    /// Bytes of memory at which a case without a memory budget is killed.
    pub memory_bytes: Option<u64>,
    /// Failures of this attempt after which no further case starts.
    pub max_failures: Option<usize>,
    /// Wall-clock seconds after which this attempt ends; a case that is running then has no row.
    pub time_limit_seconds: Option<f64>,
}

impl RunOptions {
    /// These options with absolute paths: workers get these, since a plugin may change its working folder.
    ///
    /// # Errors
    /// When the present folder is not known.
    pub fn absolute(&self) -> Result<RunOptions, EngineError> {
        let absolute = |path: &PathBuf| {
            std::path::absolute(path).map_err(|source| EngineError::Path { path: path.clone(), source })
        };
        Ok(RunOptions {
            output_dir: absolute(&self.output_dir)?,
            cache_dir: absolute(&self.cache_dir)?,
            ..self.clone()
        })
    }
}

impl Default for RunOptions {
    /// One case at a time, into `reports`, continued where possible, without limits from outside.
    fn default() -> Self {
        Self {
            output_dir: PathBuf::from("reports"),
            cache_dir: std::env::temp_dir().join("gpbench"),
            keep_solutions: 0,
            jobs: 1,
            fresh: false,
            retry_failed: false,
            reuse: Reuse::Same,
            kill_after_seconds: None,
            cpu_seconds: None,
            memory_bytes: None,
            max_failures: None,
            time_limit_seconds: None,
        }
    }
}
