//! Coverage of the papers' tables, cell by cell: values of published runs, their differences from the printed ones, and cells not
//! measured. A pure function of committed files: printed figures, published runs, estimated hours, remarks.

mod cell;
mod hours;
mod measured;
mod notes;
mod page;
mod paper;
mod published_run;
mod verdict;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::de::DeserializeOwned;

use crate::error::{Error, Result, at};
use crate::reference::Reference;
pub use hours::{Hours, SpecEstimate};
use measured::Measured;
use notes::Notes;
use paper::PaperCoverage;
use published_run::PublishedRun;
pub use published_run::run_without_journal;

/// Folder of the pages, beside the published runs.
pub const COVERAGE: &str = "coverage";

/// File of the estimated hours, in the folder of the pages.
pub const HOURS: &str = "hours.toml";

/// File of the remarks, in the folder of the pages.
const NOTES: &str = "notes.toml";

/// A page: its file name and its text.
pub type CoveragePage = (String, String);

/// The pages of all papers from a folder of published runs. Its `coverage/hours.toml` and `coverage/notes.toml` may be absent.
///
/// # Errors
/// If a file of a published run, the hours or the remarks cannot be read.
pub fn coverage(published: &Path) -> Result<Vec<CoveragePage>> {
    let folder = published.join(COVERAGE);
    let hours: Hours = read(&folder.join(HOURS))?;
    let notes: Notes = read(&folder.join(NOTES))?;
    let runs = PublishedRun::all(published)?;
    let references: Vec<(&str, Reference)> =
        Reference::names().filter_map(|name| Some((name, Reference::named(name)?))).collect();
    if let Some(note) = notes.stray(&references) {
        let reason =
            format!("a remark is about no cell of any paper; check its names: \"{}\"", note.text.trim());
        return Err(Error::Format { path: folder.join(NOTES), at: None, reason });
    }
    let of_paper = |(name, reference): &(&str, Reference)| measured::measured(name, reference, &runs);
    let of_papers: Vec<BTreeMap<String, Measured>> = references.iter().map(of_paper).collect();
    let papers: Vec<PaperCoverage<'_>> = references
        .iter()
        .zip(&of_papers)
        .map(|((name, reference), measured)| PaperCoverage::new(name, reference, measured, &hours, &notes))
        .collect();
    let mut pages = vec![("README.md".to_owned(), page::overview(&papers, &hours))];
    pages.extend(papers.iter().map(|paper| (format!("{}.md", paper.name), page::paper(paper, &runs))));
    Ok(pages)
}

/// A TOML file, or its default where there is none.
fn read<T: DeserializeOwned + Default>(path: &Path) -> Result<T> {
    if !path.is_file() {
        return Ok(T::default());
    }
    let text = fs::read_to_string(path).map_err(at(path))?;
    toml::from_str(&text).map_err(|error| Error::Format {
        path: path.to_owned(),
        at: None,
        reason: error.to_string(),
    })
}
