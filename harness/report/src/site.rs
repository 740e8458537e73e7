//! A static web site of any number of runs: an archive that readers filter, sort and look into.
//!
//! [`WebSite::add`] takes run after run and keeps what pages need of each; [`WebSite::write`] writes the front
//! page, and one page for each data set, method and run. Pages work without a server: they link one style sheet and
//! one script beside them, and the cases of a chart stand in the page itself. Long tables and the cases of charts are
//! compressed within their page (`block`). Equal runs give equal bytes.
//!
//! A name means one thing on the site (`same`), and results of different runs or machines are never averaged
//! (`measured`): qualities of all machines stand in one table, times in a table of each kind of machine
//! (`result_tables`), and so do rankings (`rankings`), which take one run of each method on a data set (`one_run`).

mod archive;
mod block;
mod chart_data;
mod data_words;
mod dataset_page;
mod facets;
mod front;
mod links;
mod machines;
mod measured;
mod method_page;
mod names;
mod one_run;
mod paths;
mod points;
mod rankings;
mod result_tables;
mod run_body;
mod run_page;
mod same;
mod shell;
mod verification;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use gpbench_runs::ReportFolder;

use crate::error::{Error, Result};
use archive::Archive;
use links::{Links, Pages};
use measured::measured;

pub use archive::ArchivedRun;
pub use verification::{VerdictCheck, VerdictFile, Verification};

/// File with the paths of all pages, by which the next site of the same folder removes those that it has no more.
const FILES: &str = "files.txt";

/// The front page.
const FRONT: &str = "index.html";

/// Folders of pages.
const FOLDERS: [&str; 3] = ["datasets", "runs", "solvers"];

/// Most points of all charts together, beside the end of each case.
const MOST_POINTS: usize = 120_000;

/// A site before it is written.
pub struct WebSite {
    archive: Archive,
}

/// A site that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenSite {
    /// The front page.
    pub front: PathBuf,
    /// Number of files.
    pub files: usize,
    /// Bytes of all files together.
    pub bytes: usize,
    /// Number of cases.
    pub cases: usize,
}

impl Default for WebSite {
    fn default() -> Self {
        WebSite { archive: Archive::new() }
    }
}

impl WebSite {
    /// Adds a run, of which it keeps what pages show.
    ///
    /// # Errors
    /// If a table of the run cannot be computed.
    pub fn add(&mut self, archived: ArchivedRun) -> Result<()> {
        let body = run_body::body(&archived)?;
        self.archive.add(archived, body);
        Ok(())
    }

    /// Names reports of which no rows are kept, which the front page lists as not verifiable.
    pub fn name_without_rows(&mut self, reports: impl IntoIterator<Item = String>) {
        self.archive.without_rows.extend(reports);
    }

    /// Number of runs.
    pub fn runs(&self) -> usize {
        self.archive.runs.len()
    }

    /// Writes the site into a folder, in place of an earlier site there. Other files stay.
    ///
    /// # Errors
    /// If a table cannot be computed or a file written, or if the folder has a front page that is not of such a
    /// site.
    pub fn write(&self, folder: &Path) -> Result<WrittenSite> {
        if folder.join(FRONT).exists() && !folder.join(FILES).exists() {
            let reason =
                format!("it has an {FRONT} that `gpbench site` did not write; give another folder with `-o`");
            return Err(Error::Format { path: folder.to_owned(), at: None, reason });
        }
        let files = self.files()?;
        let target = ReportFolder::open(folder)?;
        let new: BTreeSet<&str> = files.iter().map(|(path, _)| path.as_str()).collect();
        let earlier = target.earlier(FILES);
        for path in earlier.lines().filter(|path| !new.contains(path)) {
            let (folder, name) = place(&target, path)?;
            folder.remove([name], None)?;
        }
        let list: String = new.iter().map(|path| format!("{path}\n")).collect();
        // First: a site that is cut short can be written again.
        target.write(FILES, |file| file.write_all(list.as_bytes()))?;
        for (path, text) in &files {
            let (folder, name) = place(&target, path)?;
            folder.write(name, |file| file.write_all(text.as_bytes()))?;
        }
        Ok(WrittenSite {
            front: folder.join(FRONT),
            files: files.len(),
            bytes: files.iter().map(|(_, text)| text.len()).sum(),
            cases: self.archive.cases.len(),
        })
    }

    /// The paths and contents of all files.
    fn files(&self) -> Result<Vec<(String, String)>> {
        let archive = &self.archive;
        let pages = Pages::new(archive);
        let (front, links) = (Links::of_front(&pages), Links::of_folder(&pages));
        let groups = measured(archive)?;
        let rankings = rankings::rankings(archive, front)?;
        let drawn = archive.cases.iter().filter(|entry| !entry.points.is_empty()).count();
        let most = (MOST_POINTS / drawn.max(1)).clamp(4, points::MOST);
        let mut files = vec![
            (shell::STYLE_FILE.to_owned(), shell::STYLE.to_owned()),
            (shell::SCRIPT_FILE.to_owned(), shell::SCRIPT.to_owned()),
            (FRONT.to_owned(), front::page(archive, &rankings, front)),
        ];
        for (place, path) in pages.datasets.iter().enumerate() {
            files.push((path.clone(), dataset_page::page(archive, &groups, place, most, links)));
        }
        for (place, path) in pages.methods.iter().enumerate() {
            files.push((path.clone(), method_page::page(archive, &groups, place, links)));
        }
        for (place, path) in pages.runs.iter().enumerate() {
            files.push((path.clone(), run_page::page(archive, place, links)));
        }
        Ok(files)
    }
}

/// The folder of a file of the site, and its name there. A path of another form, as a list that was changed may
/// have, is a name that no file has.
fn place<'p>(site: &ReportFolder, path: &'p str) -> Result<(ReportFolder, &'p str)> {
    match path.split_once('/') {
        Some((folder, name)) if FOLDERS.contains(&folder) => Ok((site.folder(folder)?, name)),
        _ => Ok((site.clone(), path)),
    }
}
