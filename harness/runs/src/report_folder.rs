//! The folder that a report is written into.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use gpbench_files::{
    Durability, read_regular, refuse_irregular, refuse_linked_folder, remove_stale, replace,
};

use crate::RunError;
use crate::error::Context as _;

/// Most bytes of a file of an earlier report that are read.
const MOST_BYTES: u64 = 1 << 30;

/// The folder that a report is written into: a run folder, or another.
///
/// Files are replaced as a whole. Nothing outside of the folder is written or removed: a link in the place of a file or of a
/// folder is refused, since what it points to is not of the report.
#[derive(Debug, Clone)]
pub struct ReportFolder {
    path: PathBuf,
}

impl ReportFolder {
    /// The folder at a path, which is created if it does not exist. The path itself may have links.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn open(path: &Path) -> Result<Self, RunError> {
        fs::create_dir_all(path).context("create", path)?;
        remove_stale(path);
        Ok(Self { path: path.to_owned() })
    }

    /// A folder within, which is created if it does not exist.
    ///
    /// # Errors
    /// If it is a link or no folder; those of the file system.
    pub fn folder(&self, name: &str) -> Result<Self, RunError> {
        let path = self.path.join(name);
        refuse_linked_folder(&path).context("write into", &path)?;
        Self::open(&path)
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Fails if one of the files cannot be written because something other than a regular file has its name.
    ///
    /// # Errors
    /// If it has.
    pub fn check<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> Result<(), RunError> {
        names.into_iter().try_for_each(|name| {
            let path = self.path.join(name);
            refuse_irregular(&path).context("write", &path)
        })
    }

    /// Replaces a file; its path.
    ///
    /// # Errors
    /// If something other than a regular file has its name; those of the file system and of `fill`.
    pub fn write(
        &self,
        name: &str,
        fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<PathBuf, RunError> {
        self.check([name])?;
        let path = self.path.join(name);
        replace(&path, Durability::ThisRun, fill).context("write", &path)?;
        Ok(path)
    }

    /// The text of a file of an earlier report; empty where there is none.
    pub fn earlier(&self, name: &str) -> String {
        let text = read_regular(&self.path.join(name), MOST_BYTES).unwrap_or_default();
        String::from_utf8_lossy(&text).into_owned()
    }

    /// Removes those of the files that are there, and those of the same names with another extension.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn remove<'n>(
        &self,
        names: impl IntoIterator<Item = &'n str>,
        other_extension: Option<&str>,
    ) -> Result<(), RunError> {
        for name in names {
            let path = self.path.join(name);
            // A name from an earlier report is text that anyone may have changed.
            if path.file_name() != Some(OsStr::new(name)) {
                continue;
            }
            for path in
                other_extension.map(|other| path.with_extension(other)).into_iter().chain([path.clone()])
            {
                match fs::remove_file(&path) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => {
                        Err(error).context("remove", &path)?
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn nothing_outside_is_written_or_removed() {
        let all = tempfile::tempdir().unwrap();
        let at = |name: &str| all.path().join(name);
        fs::create_dir_all(at("run")).unwrap();
        fs::create_dir_all(at("own")).unwrap();
        fs::write(at("own/chart.svg"), "own").unwrap();
        symlink("../own", at("run/figures")).unwrap();
        symlink("../own/chart.svg", at("run/index.html")).unwrap();
        fs::hard_link(at("own/chart.svg"), at("run/report.md")).unwrap();
        let folder = ReportFolder::open(&at("run")).unwrap();
        let refused = folder.folder("figures").unwrap_err();
        assert!(refused.to_string().contains("it is a link") && refused.is_users(), "{refused}");
        assert!(folder.check(["report.md", "index.html"]).is_err());
        assert!(folder.write("index.html", |file| file.write_all(b"new")).is_err());
        // A file of two names is replaced under one.
        folder.write("report.md", |file| file.write_all(b"new")).unwrap();
        folder.remove(["../own/chart.svg", "..", ""], Some("svg")).unwrap();
        assert_eq!(fs::read_to_string(at("own/chart.svg")).unwrap(), "own");
        assert_eq!(folder.earlier("report.md"), "new");
        // The folder itself may be a link.
        symlink("run", at("latest")).unwrap();
        ReportFolder::open(&at("latest")).unwrap().write("a.csv", |file| file.write_all(b"1")).unwrap();
        assert_eq!(fs::read_to_string(at("run/a.csv")).unwrap(), "1");
    }

    #[test]
    fn charts_are_removed_with_their_other_forms() {
        let all = tempfile::tempdir().unwrap();
        let folder = ReportFolder::open(all.path()).unwrap();
        for name in ["a.svg", "a.pdf", "b.svg"] {
            folder.write(name, |file| file.write_all(b"x")).unwrap();
        }
        folder.remove(["a.svg", "c.svg"], Some("pdf")).unwrap();
        let left: Vec<_> =
            fs::read_dir(all.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["b.svg"]);
    }
}
