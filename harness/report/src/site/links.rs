//! Addresses of the pages of a site, relative to the page that links them.

use super::archive::Archive;
use super::paths::Paths;

/// The paths of the pages of data sets and methods, by their places in the archive.
pub(super) struct Pages {
    pub(super) datasets: Vec<String>,
    pub(super) methods: Vec<String>,
    pub(super) runs: Vec<String>,
}

impl Pages {
    pub(super) fn new(archive: &Archive) -> Pages {
        let mut paths = Paths::default();
        let mut all = |folder: &str, names: Vec<&str>| -> Vec<String> {
            names.into_iter().map(|name| paths.unique(folder, name)).collect()
        };
        Pages {
            datasets: all("datasets", archive.datasets.names().collect()),
            methods: all("solvers", archive.methods.names().collect()),
            runs: archive.runs.iter().map(|run| run.page.clone()).collect(),
        }
    }
}

/// The addresses that a page links.
#[derive(Clone, Copy)]
pub(super) struct Links<'p> {
    pages: &'p Pages,
    /// From the page to the folder of the site: empty, or `../`.
    root: &'static str,
}

impl<'p> Links<'p> {
    /// Those of the front page.
    pub(super) fn of_front(pages: &'p Pages) -> Links<'p> {
        Links { pages, root: "" }
    }

    /// Those of a page in a folder.
    pub(super) fn of_folder(pages: &'p Pages) -> Links<'p> {
        Links { pages, root: "../" }
    }

    /// A file in the folder of the site.
    pub(super) fn file(self, name: &str) -> String {
        format!("{}{name}", self.root)
    }

    /// The page of a run.
    pub(super) fn run(self, place: usize) -> String {
        self.file(&self.pages.runs[place])
    }

    /// The page of a data set.
    pub(super) fn dataset(self, place: usize) -> String {
        self.file(&self.pages.datasets[place])
    }

    /// The page of a method.
    pub(super) fn method(self, place: usize) -> String {
        self.file(&self.pages.methods[place])
    }
}
