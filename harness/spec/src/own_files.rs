//! The files of a user's own data set.

use std::path::{Component, Path, PathBuf};

use crate::tables::dataset::Dataset;

/// The files of a user's own data set, relative to the current folder or absolute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnFiles {
    /// The rows: a CSV or Parquet file, or a folder with the layout of a registered set.
    pub data: PathBuf,
    /// The test rows, where they have a file of their own.
    pub test: Option<PathBuf>,
}

impl OwnFiles {
    /// Those that a table names, whose paths are relative to the spec's `folder`; none where it has no `path`.
    pub(crate) fn of(table: &Dataset, folder: &Path) -> Option<OwnFiles> {
        let data = folder.join(&table.path.as_ref()?.value);
        Some(OwnFiles { data, test: table.test.as_ref().map(|test| folder.join(&test.value)) })
    }

    /// The first of the files that leads out of the current folder: its path is absolute, or has `..`.
    pub fn outside(&self) -> Option<&Path> {
        let leads_out = |path: &&PathBuf| {
            path.components().any(|part| !matches!(part, Component::Normal(_) | Component::CurDir))
        };
        [Some(&self.data), self.test.as_ref()].into_iter().flatten().find(leads_out).map(PathBuf::as_path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_lead_out_of_the_folder_are_found() {
        let outside = |data: &str, test: Option<&str>| {
            let own = OwnFiles { data: data.into(), test: test.map(PathBuf::from) };
            own.outside().map(Path::to_owned)
        };
        for inside in ["a.csv", "./a.csv", "data/a.csv", "..a/b..c.csv"] {
            assert_eq!(outside(inside, Some(inside)), None, "{inside}");
        }
        for out in ["/etc/passwd", "../a.csv", "data/../../a.csv"] {
            assert_eq!(outside(out, None), Some(PathBuf::from(out)));
            assert_eq!(outside("a.csv", Some(out)), Some(PathBuf::from(out)));
        }
    }
}
