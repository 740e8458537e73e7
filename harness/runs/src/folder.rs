//! The run folder, open for writing.

use std::ffi::OsStr;
use std::fs::{self, DirEntry};
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use gpbench_files::{may_be_in_use, process_tag, refuse_linked_folder, remove_stale, sync_folder};
use gpbench_record::{Environment, Row};
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use sha2::{Digest as _, Sha256};

use crate::environments::{self, ComparedEnvironment};
use crate::error::Context as _;
use crate::journal::read_journal;
use crate::layout::{CHECKPOINTS, JOURNAL, LATEST, LOGS, PLAN, PROGRAMS, SCRATCH, SOLUTIONS, SPEC, is_name};
use crate::lookup::runs_of;
use crate::{PlanFile, RunError, Workspace, object};

/// The folder of one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFolder {
    path: PathBuf,
}

impl RunFolder {
    /// The folder at a path.
    pub fn at(path: &Path) -> Self {
        Self { path: path.to_owned() }
    }

    /// The newest folder of a name whose plan has the same cases, in whatever order. Where the plan is damaged,
    /// the folder's name and the rows in it tell the cases; [`RunFolder::write_plan`] repairs it.
    ///
    /// # Errors
    /// If there is none: why plans of the name cannot be read, which may have been the wanted ones.
    pub fn find(output_dir: &Path, name: &str, ids: &[&str]) -> Result<Self, Vec<RunError>> {
        let mut runs = runs_of(&output_dir.join(name));
        runs.sort();
        let mut unreadable = Vec::new();
        for path in runs.into_iter().rev() {
            match PlanFile::read(&path) {
                Ok(plan) if plan.has_cases(ids) => return Ok(Self { path }),
                Ok(_) => {}
                Err(RunError::Damaged { .. }) if had_cases(&path, ids) => return Ok(Self { path }),
                Err(error) => unreadable.push(error),
            }
        }
        Err(unreadable)
    }

    /// Creates a folder with the plan in it: `<output_dir>/<name>/<UTC time>-<short id>`.
    ///
    /// # Errors
    /// When the plan's name cannot be that of a folder; those of the file system.
    pub fn create(
        output_dir: &Path,
        plan: &PlanFile,
        spec: &str,
        environment: &Environment,
        now: Timestamp,
    ) -> Result<Self, RunError> {
        if !is_name(&plan.name) {
            return Err(RunError::BadName { name: plan.name.clone() });
        }
        let parent = output_dir.join(&plan.name);
        fs::create_dir_all(&parent).context("create", &parent)?;
        let folder = Self { path: create_unique(&parent, &folder_name(plan, now))? };
        let written = environments::add(&folder.path, environment).and_then(|_| {
            // The plan comes last: it makes the folder one that can be found and continued.
            folder.write_plan(plan, spec)
        });
        // A folder without a plan would never be continued.
        written.inspect_err(|_| drop(fs::remove_dir_all(&folder.path)))?;
        for path in [&parent, output_dir] {
            sync_folder(path).context("write", path)?;
        }
        Ok(folder)
    }

    /// Replaces the plan and the spec as typed where they differ. The plan of a continued run has the same cases, but axes, report
    /// options and sources may have changed.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn write_plan(&self, plan: &PlanFile, spec: &str) -> Result<(), RunError> {
        object::write_changed_text(&self.path.join(SPEC), spec.as_bytes())?;
        object::write_changed(&self.path.join(PLAN), plan)
    }

    /// Stores an environment in which the run continues, or notes its revision in an equal one that is stored, and
    /// compares it with the one in which the run began.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn add_environment(&self, environment: &Environment) -> Result<ComparedEnvironment, RunError> {
        environments::add(&self.path, environment)
    }

    /// Notes which share of the processors other programs used during an attempt in this environment.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn note_load(&self, environment: &Environment, share: f64) -> Result<(), RunError> {
        environments::note_load(&self.path, environment, share)
    }

    /// Creates the folders that running cases need, and makes `latest` a link to this folder.
    ///
    /// # Errors
    /// Those of the file system; if one of the folders is a link, through which files elsewhere would be written and removed.
    pub fn begin(&self) -> Result<(), RunError> {
        self.end()?;
        for path in self.workspace().folders() {
            // Another process may remove an empty folder before there is one in it.
            let made = fs::create_dir_all(path).or_else(|_| fs::create_dir_all(path));
            made.context("create", path)?;
        }
        self.link_latest()
    }

    /// Fails if a folder that files of cases are written into, and removed from, is a link.
    fn refuse_links(&self) -> Result<(), RunError> {
        for name in [LOGS, SCRATCH, PROGRAMS, CHECKPOINTS, SOLUTIONS] {
            let path = self.path.join(name);
            refuse_linked_folder(&path).context("write into", &path)?;
        }
        Ok(())
    }

    /// Makes `latest` a link to this folder. A file of the user with that name is not replaced. Where the file system has no
    /// links, the newest run is found by its name.
    pub(crate) fn link_latest(&self) -> Result<(), RunError> {
        let link = self.path.with_file_name(LATEST);
        if fs::symlink_metadata(&link).is_ok_and(|found| !found.is_symlink()) {
            return Err(RunError::LatestTaken { path: link });
        }
        let temporary = link.with_file_name(format!(".{LATEST}.{}.part", process_tag()));
        let _ = fs::remove_file(&temporary);
        link.parent().into_iter().for_each(remove_stale);
        let target = self.path.file_name().ok_or(io::ErrorKind::InvalidFilename);
        match target.map_err(io::Error::from).and_then(|target| symlink(target, &temporary)) {
            Err(error)
                if matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::Unsupported) =>
            {
                Ok(())
            }
            made => made.and_then(|()| fs::rename(&temporary, &link)).context("create the link", &link),
        }
    }

    /// Removes what only running cases of this process need, and what processes have left that are known to have ended.
    /// Checkpoints of cases that have not ended stay, and so does what other processes use.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn end(&self) -> Result<(), RunError> {
        self.refuse_links()?;
        let checkpoints = self.path.join(CHECKPOINTS);
        remove_stale(&checkpoints);
        remove_unused(&self.path.join(PROGRAMS))?;
        if remove_unused(&self.path.join(SCRATCH))? {
            // Fails where checkpoints are left, as intended.
            let _ = fs::remove_dir(checkpoints);
        }
        Ok(())
    }

    /// The time at which the run began, by the folder's name.
    pub fn created(&self) -> Option<Timestamp> {
        let name = self.path.file_name()?.to_str()?;
        TimeZone::UTC.to_timestamp(DateTime::strptime(TIME, name.get(..16)?).ok()?).ok()
    }

    /// The folder itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folders of the files of cases that this process runs.
    pub fn workspace(&self) -> Workspace {
        Workspace::of(&self.path)
    }

    /// The log of a case.
    pub fn log(&self, id: &str) -> PathBuf {
        self.path.join(LOGS).join(format!("{id}.log"))
    }
}

/// Removes from a folder what belongs to this process, to none, or to those that have ended, and then the folder itself
/// if nothing is left in it. Whether the folder is gone.
fn remove_unused(folder: &Path) -> Result<bool, RunError> {
    let own = process_tag();
    let is_unused =
        |entry: &DirEntry| entry.file_name().to_str() == Some(own.as_str()) || !may_be_in_use(&entry.path());
    for entry in fs::read_dir(folder).into_iter().flatten().flatten().filter(is_unused) {
        let path = entry.path();
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let removed = if is_folder { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        match removed {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error).context("remove", &path)?,
            _ => {}
        }
    }
    match fs::remove_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(false),
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error).context("remove", folder),
        _ => Ok(true),
    }
}

/// Format of the time at the beginning of a folder's name.
const TIME: &str = "%Y%m%dT%H%M%SZ";

/// `<UTC time>-<short id>`: sorts by time.
fn folder_name(plan: &PlanFile, now: Timestamp) -> String {
    format!("{}-{}", now.strftime(TIME), short_id(plan.ids().collect()))
}

/// Six hexadecimal digits of a hash of the cases' ids, independent of their order.
fn short_id(mut ids: Vec<&str>) -> String {
    ids.sort_unstable();
    let digest = Sha256::digest(ids.join("\n"));
    digest.iter().take(3).map(|byte| format!("{byte:02x}")).collect()
}

/// Whether a folder without a readable plan was made for these cases: its name says so, and every row is of one.
fn had_cases(folder: &Path, ids: &[&str]) -> bool {
    let named = folder.file_name().and_then(OsStr::to_str).and_then(|name| name.split('-').nth(1));
    let is_one = |row: &Row| ids.contains(&row.id.as_str());
    named == Some(&short_id(ids.to_vec()))
        && (!folder.join(JOURNAL).exists()
            || read_journal(folder).is_ok_and(|journal| journal.rows.iter().all(is_one)))
}

/// Creates `parent/name`, or `parent/name-2` and so on where that exists.
fn create_unique(parent: &Path, name: &str) -> Result<PathBuf, RunError> {
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
