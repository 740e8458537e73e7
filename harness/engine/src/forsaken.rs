//! Unfinished files of processes that were killed while they wrote.

use std::fs;
use std::path::Path;

/// Removes the files of a folder that are named `<name>.<process>.part`, with perhaps more of the same
/// behind, and whose processes are no more. What cannot be removed stays, and does no harm.
pub(crate) fn remove_parts(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_str().is_some_and(is_forsaken) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn is_forsaken(name: &str) -> bool {
    let Some((_, ending)) = name.split_once('.') else { return false };
    let mut processes = ending.split('.').filter(|word| word.bytes().all(|byte| byte.is_ascii_digit()));
    let is_alive = |process: &str| Path::new("/proc").join(process).exists();
    ending.split('.').any(|word| word == "part") && !processes.any(is_alive)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_parts_of_the_dead_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let own = std::process::id();
        let (alive, both) = (format!("a.{own}.part"), format!("b.4294967295.part.{own}.part"));
        let dead = ["c.4294967295.part", "d.4294967295.part.4294967294.part"];
        let whole = "e.bin";
        for name in [&*alive, &*both, dead[0], dead[1], whole] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        remove_parts(folder.path());
        let mut left: Vec<_> = fs::read_dir(folder.path())
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        assert_eq!(left, [&*alive, &*both, whole]);
    }
}
