//! The input of a worker: one JSON document on its standard input.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::hash::hash_json;
use crate::{Case, Dataset, Kernel, OriginBase, Program, SCHEMA};

/// Input of `gpbench-worker case` and `gpbench-worker verify`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// [`crate::SCHEMA`].
    pub schema: u32,
    /// The case's id.
    pub id: String,
    /// The case to compute.
    pub case: Case,
    /// Binary copy of the data set; absent for generated sets.
    #[serde(default, with = "crate::path::optional")]
    pub dataset_file: Option<PathBuf>,
    /// SHA-256 of that copy's content, as planned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dataset_sha256: Option<String>,
    /// Library that offers the solver; `verify` never opens it.
    pub plugin: Program,
    /// What the library consists of beside its file.
    #[serde(default, skip_serializing_if = "PluginParts::is_empty")]
    pub plugin_parts: PluginParts,
    /// Exact reference of this data set, split and kernel, where one exists.
    #[serde(default, with = "crate::path::optional")]
    pub exact_file: Option<PathBuf>,
    /// The file of the solution, which `case` writes and `verify` reads.
    #[serde(with = "crate::path")]
    pub solution_file: PathBuf,
    /// The file to which a training case writes its checkpoint; if absent, it writes none.
    #[serde(default, with = "crate::path::optional", skip_serializing_if = "Option::is_none")]
    pub checkpoint_file: Option<PathBuf>,
    /// Threads to use.
    pub threads: usize,
    /// Limits enforced by the executor.
    pub limits: Limits,
}

/// What the library of a job consists of beside its file: see [`crate::Composition`].
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct PluginParts {
    /// The shared object that serves a script.
    #[serde(default, with = "crate::path::optional", skip_serializing_if = "Option::is_none")]
    pub bridge: Option<PathBuf>,
    /// The program that runs a script, as the user named it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<String>,
    /// The planned parts, the file itself included.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Program>,
}

impl PluginParts {
    /// Whether there is nothing beside the file.
    pub fn is_empty(&self) -> bool {
        *self == PluginParts::default()
    }

    /// Checks that each part still has the content that was planned.
    ///
    /// # Errors
    /// If one has other content, or cannot be read.
    pub fn check(&self) -> Result<(), crate::ProgramError> {
        self.parts.iter().try_for_each(Program::check)
    }
}

/// Limits at which the executor kills a worker process, and the memory that the process may plan with.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Limits {
    /// Wall-clock seconds before the process is killed; a day where absent.
    pub kill_after_seconds: Option<f64>,
    /// Processor seconds of all threads and children before the process is killed.
    #[serde(default)]
    pub cpu_seconds: Option<f64>,
    /// Bytes of memory before the process is killed.
    pub memory_bytes: Option<u64>,
    /// Bytes of memory that the process may plan with, for instance for cached kernel entries. This limit is not
    /// enforced.
    #[serde(default)]
    pub memory_share: Option<u64>,
}

/// Input of `gpbench-worker exact`: a reference by dense Cholesky factorisation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExactRequest {
    /// [`crate::SCHEMA`].
    pub schema: u32,
    /// The rows.
    pub dataset: Dataset,
    /// The covariance.
    pub kernel: Kernel,
    /// Seed that generated data sets and subsamples are drawn with.
    pub seed: u64,
    /// Binary copy of the data set; absent for generated sets.
    #[serde(default, with = "crate::path::optional")]
    pub dataset_file: Option<PathBuf>,
    /// SHA-256 of that copy's content, as planned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dataset_sha256: Option<String>,
    /// The file to which the reference is written.
    #[serde(with = "crate::path")]
    pub output: PathBuf,
    /// Threads to use.
    pub threads: usize,
}

impl ExactRequest {
    /// The request for the exact process of a case, without its files.
    pub fn of(case: &Case, threads: usize) -> ExactRequest {
        let dataset = case.dataset.clone();
        // Otherwise all seeds share one reference.
        let is_drawn_by_seed = dataset.source.is_drawn() || dataset.subsample.is_some();
        ExactRequest {
            schema: SCHEMA,
            seed: if is_drawn_by_seed { case.seed } else { 0 },
            dataset,
            kernel: case.kernel.clone(),
            dataset_file: None,
            dataset_sha256: None,
            output: PathBuf::new(),
            threads,
        }
    }

    /// Cache key: a hash of everything that the reference depends on, so without paths and threads.
    pub fn key(&self, dataset_sha256: Option<&str>, worker_sha256: &str) -> String {
        let Kernel {
            family,
            signal_scale,
            noise_scale,
            length_scale,
            mean,
            start,
            name: _,
            origin,
            network: _,
        } = &self.kernel;
        let is_in_units_of_draw = origin.base == OriginBase::Drawn;
        let Dataset {
            source,
            split,
            fractions,
            subsample,
            targets,
            inputs,
            validation,
            rule,
            keep_replicates,
            name: _,
            collapse_duplicates: _,
            predictions: _,
        } = &self.dataset;
        hash_json(&(
            (source, split, fractions, subsample, self.seed, dataset_sha256, worker_sha256),
            (targets, inputs, validation, rule, keep_replicates),
            (family, signal_scale, noise_scale, length_scale, mean, start, is_in_units_of_draw),
        ))
    }
}
