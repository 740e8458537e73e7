//! The run folder: where it lies, what stands in it from the beginning, and
//! which one a plan continues.

use std::collections::HashSet;
use std::fs;
use std::io::{self, Read as _, Write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use gpbench_record::{Case, Environment, Fingerprint, Labels, SCHEMA};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::error::Context as _;
use crate::resolve::{LATEST, runs_of};
use crate::{EngineError, Options, Plan};

const PLAN: &str = "plan.json";
const SPEC: &str = "spec.toml";
const ENVIRONMENT: &str = "environment.json";
const LOGS: &str = "logs";
const SCRATCH: &str = "scratch";
const CHECKPOINTS: &str = "checkpoints";

/// `plan.json`: what a run set out to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanFile {
    /// [`gpbench_record::SCHEMA`].
    pub schema: u32,
    /// The spec's name.
    pub name: String,
    /// UTC time at which the run began.
    pub created: String,
    /// The cases, in the order in which they run.
    pub cases: Vec<PlanEntry>,
}

/// A case of `plan.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanEntry {
    /// The case's id.
    pub id: String,
    /// Names on the spec's axes.
    pub labels: Labels,
    /// The resolved case.
    pub case: Case,
    /// What else the result depends on.
    pub fingerprint: Fingerprint,
    /// Training rows, where known.
    #[serde(default)]
    pub n: Option<usize>,
    /// Why the case is not to be run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skip: Option<String>,
}

impl PlanFile {
    /// Reads the plan of a run folder.
    ///
    /// # Errors
    /// When the file is missing or is not a plan.
    pub fn read(folder: &Path) -> Result<Self, EngineError> {
        let path = folder.join(PLAN);
        let bytes = fs::read(&path).context("read", &path)?;
        serde_json::from_slice(&bytes).map_err(io::Error::from).context("read", &path)
    }

    fn new(plan: &Plan, ids: &[String], created: Timestamp) -> Self {
        let cases = ids.iter().zip(&plan.cases).map(|(id, planned)| PlanEntry {
            id: id.clone(),
            labels: planned.case.labels(),
            case: planned.case.clone(),
            fingerprint: planned.fingerprint.clone(),
            n: planned.n,
            skip: planned.skip.clone(),
        });
        Self { schema: SCHEMA, name: plan.name.clone(), created: created.to_string(), cases: cases.collect() }
    }

    fn is_of(&self, ids: &[String]) -> bool {
        let own: HashSet<&str> = self.cases.iter().map(|case| case.id.as_str()).collect();
        own.len() == ids.len() && ids.iter().all(|id| own.contains(id.as_str()))
    }
}

/// The folder of one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFolder {
    path: PathBuf,
}

impl RunFolder {
    /// The newest folder of the plan's name that holds the same plan.
    pub(crate) fn find(plan: &Plan, ids: &[String], options: &Options) -> Option<Self> {
        let mut runs = runs_of(&options.output_dir.join(&plan.name));
        runs.sort();
        let same = |path: &PathBuf| PlanFile::read(path).is_ok_and(|file| file.is_of(ids));
        runs.into_iter().rev().find(same).map(|path| Self { path })
    }

    /// A new folder with the plan in it.
    pub(crate) fn create(
        plan: &Plan,
        ids: &[String],
        options: &Options,
        now: Timestamp,
    ) -> Result<Self, EngineError> {
        let parent = options.output_dir.join(&plan.name);
        fs::create_dir_all(&parent).context("create", &parent)?;
        let folder = Self { path: create_unique(&parent, &folder_name(ids, now))? };
        folder.write_environment(&plan.environment)?;
        folder.write_spec(&plan.spec_toml)?;
        // The plan makes it a run folder that can be found and continued, so it comes last.
        let file = PlanFile::new(plan, ids, now);
        let text = serde_json::to_vec_pretty(&file).expect("plain data with text keys always serialises");
        folder.write(PLAN, &text)?;
        for path in [&folder.path, &parent, &options.output_dir] {
            sync_folder(path).context("write", path)?;
        }
        Ok(folder)
    }

    /// Makes the folders that a sitting needs and points `latest` here.
    pub(crate) fn prepare(&self) -> Result<(), EngineError> {
        self.remove_scratch()?;
        for name in [LOGS, SCRATCH, CHECKPOINTS] {
            let path = self.path.join(name);
            fs::create_dir_all(&path).context("create", &path)?;
        }
        let link = self.path.with_file_name(LATEST);
        self.link_latest(&link).context("create the link", &link)
    }

    fn link_latest(&self, link: &Path) -> io::Result<()> {
        let target = self.path.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
        let temporary = link.with_file_name(format!(".{LATEST}.{}", std::process::id()));
        let _ = fs::remove_file(&temporary);
        symlink(target, &temporary)?;
        fs::rename(&temporary, link)
    }

    /// Keeps the spec as typed. A continued run takes the newer text: it resolves
    /// to the same plan, but its report section may differ.
    pub(crate) fn write_spec(&self, text: &str) -> Result<(), EngineError> {
        self.write(SPEC, text.as_bytes())
    }

    fn write_environment(&self, environment: &Environment) -> Result<(), EngineError> {
        self.write_environment_as(ENVIRONMENT, environment)
    }

    /// Keeps the environment of a sitting that is not the one in which the run was begun, once.
    pub(crate) fn add_environment(&self, environment: &Environment) -> Result<(), EngineError> {
        let name = (2..).map(|count| format!("environment-{count}.json"));
        for name in name {
            match self.read_environment(&name) {
                Some(earlier) if earlier.differences(environment).is_empty() => return Ok(()),
                Some(_) => {}
                None => return self.write_environment_as(&name, environment),
            }
        }
        unreachable!("there are more names than files")
    }

    /// The environment in which the run was begun, where that can still be read.
    pub(crate) fn environment(&self) -> Option<Environment> {
        self.read_environment(ENVIRONMENT)
    }

    fn write_environment_as(&self, name: &str, environment: &Environment) -> Result<(), EngineError> {
        let text =
            serde_json::to_vec_pretty(environment).expect("plain data with text keys always serialises");
        self.write(name, &text)
    }

    fn read_environment(&self, name: &str) -> Option<Environment> {
        serde_json::from_slice(&fs::read(self.path.join(name)).ok()?).ok()
    }

    /// Removes what only a running sitting needs. Checkpoints of cases that did not end are kept.
    pub(crate) fn remove_scratch(&self) -> Result<(), EngineError> {
        // Fails if it is not empty, which is meant.
        let _ = fs::remove_dir(self.path.join(CHECKPOINTS));
        let path = self.path.join(SCRATCH);
        match fs::remove_dir_all(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error).context("remove", &path),
            _ => Ok(()),
        }
    }

    /// Tries whether so many bytes can be written where solutions are.
    pub(crate) fn try_room(&self, bytes: u64) -> Result<(), EngineError> {
        try_room(&self.path.join(SCRATCH), bytes)
    }

    /// Where the logs of all cases lie.
    pub(crate) fn logs(&self) -> PathBuf {
        self.path.join(LOGS)
    }

    /// The folder itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The log of a case.
    pub fn log(&self, id: &str) -> PathBuf {
        self.logs().join(format!("{id}.log"))
    }

    /// The solution of a case, while it is being run and verified.
    pub(crate) fn solution(&self, id: &str) -> PathBuf {
        self.path.join(SCRATCH).join(format!("{id}.solution"))
    }

    /// Where a case keeps what it needs to go on after an interruption.
    pub(crate) fn checkpoint(&self, id: &str) -> PathBuf {
        self.path.join(CHECKPOINTS).join(format!("{id}.bin"))
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), EngineError> {
        let path = self.path.join(name);
        write_atomically(&path, bytes).context("write", &path)
    }
}

/// Whether a folder is a run's.
pub(crate) fn is_run(path: &Path) -> bool {
    path.join(PLAN).is_file()
}

/// `<UTC time>-<short id>`: sorts by time; the id is of the plan, whatever its order.
fn folder_name(ids: &[String], now: Timestamp) -> String {
    let mut sorted: Vec<&str> = ids.iter().map(String::as_str).collect();
    sorted.sort_unstable();
    let digest = Sha256::digest(sorted.join("\n"));
    let short: String = digest.iter().take(3).map(|byte| format!("{byte:02x}")).collect();
    format!("{}-{short}", now.strftime("%Y%m%dT%H%M%SZ"))
}

/// Creates `parent/name`, or `parent/name-2` and so on where that exists already.
fn create_unique(parent: &Path, name: &str) -> Result<PathBuf, EngineError> {
    let mut path = parent.join(name);
    for count in 2.. {
        match fs::create_dir(&path) {
            Ok(()) => break,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                path = parent.join(format!("{name}-{count}"));
            }
            Err(error) => Err(error).context("create", &path)?,
        }
    }
    Ok(path)
}

/// Waits until the names in a folder are on the disk: a file's own sync says nothing of them.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    match fs::File::open(path)?.sync_all() {
        // Some network file systems know no such thing.
        Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => {
            Ok(())
        }
        synced => synced,
    }
}

/// Tries whether so many bytes can be written into a folder.
pub(crate) fn try_room(folder: &Path, bytes: u64) -> Result<(), EngineError> {
    let path = folder.join(format!("room.{}.part", std::process::id()));
    let written = fs::File::create(&path).and_then(|mut file| {
        io::copy(&mut io::repeat(0).take(bytes), &mut file)?;
        file.sync_all()
    });
    let _ = fs::remove_file(&path);
    written.map_err(|source| EngineError::NoRoom { folder: folder.to_owned(), source })
}

/// Readers see the old content or the new, never half of it.
fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(".part");
    let mut file = fs::File::create(&temporary)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&temporary, path)
}
