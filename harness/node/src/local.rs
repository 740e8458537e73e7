//! The folder of an attempt on the node's own disk.

use std::path::Path;
use std::{fs, io};

use gpbench_files::{process_tag, was_left};
use tempfile::TempDir;

/// Beginning of the names of these folders: `gpbench-node.<tag of the process>.<anything>`.
const NAME: &str = "gpbench-node.";

/// A new folder below `temporary`, which is removed when it is dropped. Folders that killed attempts on this node have left
/// are removed first: each holds copies of programs.
pub(crate) fn folder(temporary: &Path) -> io::Result<TempDir> {
    for entry in fs::read_dir(temporary).into_iter().flatten().flatten() {
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let is_attempts = entry.file_name().to_str().is_some_and(|name| name.starts_with(NAME));
        if is_folder && is_attempts && was_left(&entry.path()) {
            // One of another user stays.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
    tempfile::Builder::new().prefix(&format!("{NAME}{}.", process_tag())).tempdir_in(temporary)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_killed_attempts_are_removed() {
        let temporary = tempfile::tempdir().unwrap();
        let own = folder(temporary.path()).unwrap();
        let tag = process_tag();
        // Linux gives no process so high a number.
        let dead = tag.replace(&format!("-{}", std::process::id()), "-4194305");
        let left = |name: &str| {
            let path = temporary.path().join(name);
            fs::create_dir_all(path.join("programs")).unwrap();
            path
        };
        let killed = left(&format!("gpbench-node.{dead}.abc"));
        let others =
            [left("gpbench-node.abc"), left("gpbench-node.conf.d"), left(&format!("other.{dead}.abc"))];
        let second = folder(temporary.path()).unwrap();
        assert!(!killed.exists(), "{}", killed.display());
        assert!(others.iter().all(|other| other.exists()));
        assert!(own.path().exists() && second.path().exists() && own.path() != second.path());
    }
}
