//! Published runs: reports that are kept under version control, with the files that they are made of.
//!
//! When statistics or charts change, `gpbench report FOLDER` makes the report of such a folder anew. A journal has every
//! trace and curve of its run, so its size is limited.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use gpbench_runs::{NeutralNames, ReplacedName, ReportFolder};

use crate::error::{Error, Result, at};
use crate::frame::Frame;
use crate::overview::NOT_RUN;
use crate::run::Run;
use crate::write::WriteOptions;

/// Most bytes of the files that the report of a published run is made of, together: 8 MiB, a fifth of which remains in the compressed files of version control.
pub const MOST_PUBLISHED_BYTES: u64 = 8 << 20;

/// File in the folder of published runs with the names of those that were published before journals were kept.
const WITHOUT_JOURNAL: &str = "without-journal.txt";

impl Frame<'_> {
    /// Writes the report of the run and the files that it is made of (journal, plan, spec, environments) into a folder,
    /// with neutral names in place of the machine's. Returns which were replaced. The report does not depend on the
    /// runs beside either folder.
    ///
    /// # Errors
    /// If these files are larger than [`MOST_PUBLISHED_BYTES`] together, or one cannot be read; those of [`Frame::write`].
    pub fn publish(&self, folder: &Path, names: &NeutralNames) -> Result<Vec<ReplacedName>> {
        let bytes = size(&self.run.record.sources())?;
        if bytes > MOST_PUBLISHED_BYTES {
            return Err(Error::TooLarge {
                run: self.run.record.folder.clone(),
                bytes,
                most: MOST_PUBLISHED_BYTES,
            });
        }
        self.publish_whole(folder, names)
    }

    /// [`Frame::publish`], however large the files are.
    ///
    /// # Errors
    /// If a file cannot be read; those of [`Frame::write`].
    pub fn publish_whole(&self, folder: &Path, names: &NeutralNames) -> Result<Vec<ReplacedName>> {
        let target = ReportFolder::open(folder)?;
        let mut replaced = Vec::new();
        for file in &self.run.record.sources() {
            let content = names.neutral(file, &fs::read(file).map_err(at(file))?, &mut replaced);
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            target.write(&name, |out| out.write_all(&content))?;
        }
        let mut published = Run::open(folder)?;
        published.record.before = None;
        Frame::new(&published)?.write(&WriteOptions::default())?;
        Ok(replaced)
    }
}

/// What is wrong with the folders of published runs, a sentence each: those whose report cannot be made anew, since journal or
/// plan are absent, damaged or incomplete, and those that are too large.
///
/// # Errors
/// If a folder cannot be read.
pub fn published_faults(published: &Path) -> Result<Vec<String>> {
    let list = published.join(WITHOUT_JOURNAL);
    let listed = if list.is_file() { fs::read_to_string(&list).map_err(at(&list))? } else { String::new() };
    let earlier: BTreeSet<&str> = listed.lines().filter(|line| !line.starts_with('#')).collect();
    let mut faults = Vec::new();
    for folder in reports(published)? {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let is_kept = ["journal.jsonl", "plan.json"].iter().all(|file| folder.join(file).is_file());
        faults.extend(match (is_kept, earlier.contains(&*name)) {
            (true, true) => Some(format!("{name} has a journal: take it off {WITHOUT_JOURNAL}")),
            (true, false) => fault(&folder)?.map(|fault| format!("{name}: {fault}")),
            (false, true) => None,
            (false, false) => Some(format!(
                "{name} has no journal or no plan: write it with `gpbench report RUN --publish {}`",
                folder.display()
            )),
        });
    }
    Ok(faults)
}

/// The folders that hold reports, by name.
fn reports(published: &Path) -> Result<Vec<PathBuf>> {
    let mut folders = Vec::new();
    for entry in fs::read_dir(published).map_err(at(published))? {
        folders.push(entry.map_err(at(published))?.path());
    }
    folders.retain(|folder| folder.join("report.md").is_file());
    folders.sort();
    Ok(folders)
}

/// Planned cases without a row by the summary beside the journal: those of a run that was ended before its time. 0 without
/// a summary.
fn told_missing(folder: &Path) -> usize {
    let bytes = fs::read(folder.join("summary.json")).unwrap_or_default();
    let Ok(summary) = serde_json::from_slice::<serde_json::Value>(&bytes) else { return 0 };
    summary["statuses"][NOT_RUN].as_u64().unwrap_or(0) as usize
}

/// What is wrong with the journal and the plan of a published run.
fn fault(folder: &Path) -> Result<Option<String>> {
    let run = match Run::open(folder) {
        Ok(run) => run,
        Err(error) => return Ok(Some(error.to_string())),
    };
    let bytes = size(&run.record.sources())?;
    Ok(match run.warnings.first() {
        Some(warning) => Some(warning.clone()),
        None if run.record.truncated => Some("the journal's last line is cut short".to_owned()),
        None if run.missing() > told_missing(folder) => {
            Some(format!("{} planned cases have no row", run.missing()))
        }
        None if bytes > MOST_PUBLISHED_BYTES => {
            Some(format!("its files have {bytes} bytes, more than {MOST_PUBLISHED_BYTES}"))
        }
        None => None,
    })
}

/// Bytes of some files together.
fn size(files: &[PathBuf]) -> Result<u64> {
    files.iter().map(|file| Ok(fs::metadata(file).map_err(at(file))?.len())).sum()
}
