//! Unfinished files of processes that were killed while they wrote.

use std::fs;
use std::path::Path;

/// Removes files of a folder whose names are `<name>.<process>[.<anything>].part` and whose processes have ended.
/// A file that cannot be removed stays and does no harm.
pub fn remove_stale(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_str().is_some_and(is_stale) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn is_stale(name: &str) -> bool {
    let Some((_, words)) = name.strip_suffix(".part").and_then(|name| name.split_once('.')) else {
        return false;
    };
    let is_number = |word: &&str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    let mut processes = words.split('.').filter(is_number).peekable();
    processes.peek().is_some() && !processes.any(|process| Path::new("/proc").join(process).exists())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_unfinished_files_of_ended_processes_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let own = std::process::id();
        let kept = [
            format!("a.{own}.part"),
            format!("b.4294967295.part.{own}.part"),
            "c.bin".into(),
            "d.csv.gz.part".into(),
        ];
        let stale =
            ["e.4294967295.part", "f.bin.4294967295.x7Yz12.part", "g.4294967295.part.4294967294.part"];
        for name in kept.iter().map(String::as_str).chain(stale) {
            fs::write(folder.path().join(name), "").unwrap();
        }
        remove_stale(folder.path());
        let entries = fs::read_dir(folder.path()).unwrap();
        let mut left: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        left.sort();
        assert_eq!(left, kept);
    }
}
