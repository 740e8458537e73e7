//! The folder `cluster` of a run.
//!
//! ```text
//! <run>/cluster/
//!     manifest.json         what runners need beside the plan
//!     job.sh                the script of every task
//!     ledger.jsonl          what was sent, and how it ended; the front alone writes it
//!     submissions/<n>.txt   one line a task of an array: its number, and the attempt
//!     parts/<attempt>.jsonl events of an attempt, written by its runner
//!     logs/                 output of tasks
//!     environments/         one file a kind of node
//!     bin/                  programs and plugins of the tasks
//! ```

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use gpbench_files::checksum::{self, Checksum};
use gpbench_files::{Durability, read_regular, replace};
use gpbench_record::{Attempt, Environment, Manifest, SCHEMA};
use serde::Serialize;

use crate::ClusterError;
use crate::error::Context as _;

/// Most bytes of a manifest that are read.
const MOST_MANIFEST_BYTES: u64 = 4 << 30;

/// The folder `cluster` of a run.
#[derive(Debug, Clone)]
pub struct ClusterFolder(PathBuf);

impl ClusterFolder {
    /// The folder `cluster` of the run in this folder.
    pub fn of(run: &Path) -> Self {
        Self(run.join("cluster"))
    }

    /// Makes the folder and those within.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn create(&self) -> Result<(), ClusterError> {
        for name in ["parts", "submissions", "logs", "bin", "environments"] {
            let folder = self.0.join(name);
            fs::create_dir_all(&folder).context("create", &folder)?;
        }
        Ok(())
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The ledger.
    pub fn ledger(&self) -> PathBuf {
        self.0.join("ledger.jsonl")
    }

    /// The script of every task.
    pub fn script(&self) -> PathBuf {
        self.0.join("job.sh")
    }

    /// The folder of the output of tasks.
    pub fn logs(&self) -> PathBuf {
        self.0.join("logs")
    }

    /// The folder of programs and plugins.
    pub fn programs(&self) -> PathBuf {
        self.0.join("bin")
    }

    /// The part file of an attempt.
    pub fn part(&self, attempt: Attempt) -> PathBuf {
        self.parts().join(format!("{attempt}.jsonl"))
    }

    /// The folder of part files.
    pub(crate) fn parts(&self) -> PathBuf {
        self.0.join("parts")
    }

    /// The folder of the lists of arrays.
    pub(crate) fn submissions(&self) -> PathBuf {
        self.0.join("submissions")
    }

    fn manifest(&self) -> PathBuf {
        self.0.join("manifest.json")
    }

    /// Stores the environment of a node, unless it is stored.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn write_environment(&self, environment: &Environment) -> Result<(), ClusterError> {
        let path = self.environment(&environment.kind());
        if path.exists() { Ok(()) } else { write(&path, environment) }
    }

    /// The file of the environment of a kind of node.
    pub fn environment(&self, kind: &str) -> PathBuf {
        self.0.join("environments").join(format!("{kind}.json"))
    }

    /// Writes the manifest, and waits until it is on the disk.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn write_manifest(&self, manifest: &Manifest) -> Result<(), ClusterError> {
        write(&self.manifest(), manifest)
    }

    /// Reads the manifest.
    ///
    /// # Errors
    /// [`ClusterError::Damaged`] when it is not as it was written, or of another version; those of the file system.
    pub fn read_manifest(&self) -> Result<Manifest, ClusterError> {
        let path = self.manifest();
        let text = read_regular(&path, MOST_MANIFEST_BYTES).context("read", &path)?;
        let damaged = |reason: String| ClusterError::Damaged { path: path.clone(), reason };
        if checksum::verify(&text) != Checksum::Right {
            return Err(damaged("its checksum is wrong".into()));
        }
        let manifest: Manifest = serde_json::from_slice(&text).map_err(|error| damaged(error.to_string()))?;
        if manifest.schema != SCHEMA {
            return Err(damaged(format!("it has schema {} instead of {SCHEMA}", manifest.schema)));
        }
        Ok(manifest)
    }

    /// Writes the list of an array's tasks.
    ///
    /// # Errors
    /// Those of the file system.
    pub(crate) fn write_submission(&self, number: u32, attempts: &[Attempt]) -> Result<(), ClusterError> {
        let path = self.submissions().join(format!("{number}.txt"));
        let mut text = String::new();
        for Attempt { task, attempt } in attempts {
            let _ = writeln!(text, "{task} {attempt}");
        }
        replace(&path, Durability::Whole, |file| file.write_all(text.as_bytes())).context("write", &path)
    }
}

/// Writes an object with its checksum, and waits until it is on the disk.
fn write(path: &Path, object: &impl Serialize) -> Result<(), ClusterError> {
    let text = serde_json::to_vec_pretty(object).expect("plain data with text keys always serialises");
    let text = checksum::seal(&text);
    replace(path, Durability::Durable, |file| file.write_all(&text)).context("write", path)
}

#[cfg(test)]
mod tests {
    use gpbench_record::{ClusterTask, NodeOptions, Site};

    use super::*;

    fn manifest() -> Manifest {
        let tasks = vec![ClusterTask { cases: vec!["a".into()], seconds: 60, memory_bytes: 1, threads: 2 }];
        let mut site = Site::default();
        site.nodes.setup = vec!["module load openblas".into()];
        Manifest {
            schema: SCHEMA,
            run: "now".into(),
            runner: "/shared/gpbench-node".into(),
            worker: "/shared/gpbench-worker".into(),
            started_in: Environment::default(),
            cases: [].into(),
            libraries: Vec::new(),
            options: NodeOptions::default(),
            tasks,
            site,
        }
    }

    #[test]
    fn the_manifest_is_read_as_it_was_written() {
        let run = tempfile::tempdir().unwrap();
        let folder = ClusterFolder::of(run.path());
        folder.create().unwrap();
        folder.write_manifest(&manifest()).unwrap();
        assert_eq!(folder.read_manifest().unwrap(), manifest());
        let path = folder.manifest();
        fs::write(&path, fs::read_to_string(&path).unwrap().replace("\"now\"", "\"new\"")).unwrap();
        let error = folder.read_manifest().unwrap_err().to_string();
        assert!(error.ends_with("manifest.json is damaged (its checksum is wrong)"), "{error}");
    }
}
