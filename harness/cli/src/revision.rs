//! The git revision of a work tree.

use std::path::Path;
use std::process::Command;

use gpbench_processes::exchange;

/// The state of a work tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Revision {
    /// The commit.
    pub(crate) commit: String,
    /// Whether there are uncommitted changes.
    pub(crate) dirty: bool,
}

impl Revision {
    /// The revision of the work tree that holds a file; `None` outside of any, or without `git`.
    pub(crate) fn around(file: &Path) -> Option<Revision> {
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let commit = git(folder, &["rev-parse", "HEAD"])?;
        let dirty = !git(folder, &["status", "--porcelain"])?.is_empty();
        Some(Revision { commit, dirty })
    }
}

fn git(folder: &Path, args: &[&str]) -> Option<String> {
    let mut command = Command::new("git");
    // Takes no locks, starts no daemon and never prompts.
    command.args(["-c", "core.fsmonitor=false", "-C"]).arg(folder).args(args).env("GIT_OPTIONAL_LOCKS", "0");
    let output = exchange(&mut command, b"").ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_outside_of_any_work_tree_has_no_revision() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Revision::around(&folder.path().join("spec.toml")), None);
    }

    #[test]
    fn a_change_makes_a_work_tree_dirty() {
        let folder = tempfile::tempdir().unwrap();
        let spec = folder.path().join("spec.toml");
        let run = |args: &[&str]| git(folder.path(), args).expect("`git` is installed by ci/bootstrap");
        run(&["init", "--quiet"]);
        std::fs::write(&spec, "schema = 1").unwrap();
        run(&["add", "."]);
        run(&["-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "-m", "first"]);
        let clean = Revision::around(&spec).unwrap();
        assert!(!clean.dirty && clean.commit.len() == 40, "{clean:?}");
        std::fs::write(&spec, "schema = 2").unwrap();
        assert_eq!(Revision::around(&spec).unwrap(), Revision { dirty: true, ..clean });
    }
}
