//! Checkpoints of earlier attempts, and those of this one.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use gpbench_runs::Workspace;

/// The checkpoints of an attempt.
pub(crate) struct Checkpoints {
    /// When each was last written as the attempt began; none where there was none.
    before: HashMap<PathBuf, Option<SystemTime>>,
}

impl Checkpoints {
    /// Gives each case the checkpoint of the last attempt that has left one. It is a copy, since the runner of that attempt
    /// may still write its own. A worker checks what it reads, so a copy of half a file is found and left aside.
    pub(crate) fn adopt(workspace: &Workspace, ids: &[String]) -> Self {
        let own: Vec<PathBuf> = ids.iter().map(|id| workspace.checkpoint(id)).collect();
        for (id, path) in ids.iter().zip(&own) {
            if let Some(newest) = newest(path, id) {
                // Without it the case begins anew, which costs its time.
                let _ = fs::copy(newest, path);
            }
        }
        Self { before: own.into_iter().map(|path| (path.clone(), written(&path))).collect() }
    }

    /// Whether a case has written one since the attempt began. That of a case with a row is removed.
    pub(crate) fn have_advanced(&self) -> bool {
        self.before.iter().any(|(path, before)| written(path).is_some_and(|now| Some(now) != *before))
    }
}

/// The checkpoint of a case that was written last, by whichever attempt.
fn newest(own: &Path, id: &str) -> Option<PathBuf> {
    let is_of = |name: &str| {
        name.strip_prefix(id).is_some_and(|rest| rest.starts_with('.') && rest.ends_with(".bin"))
    };
    let entries = fs::read_dir(own.parent()?).ok()?.flatten();
    let paths =
        entries.filter(|entry| entry.file_name().to_str().is_some_and(is_of)).map(|entry| entry.path());
    paths.filter(|path| path != own).max_by_key(|path| written(path))
}

fn written(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|found| found.modified()).ok()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn an_attempt_goes_on_from_the_newest_checkpoint() {
        let run = tempfile::tempdir().unwrap();
        let of = |attempt: &str| Workspace::of_attempt(run.path(), run.path(), attempt);
        fs::create_dir_all(run.path().join("checkpoints")).unwrap();
        for (attempt, seconds) in [("0001.01", 10), ("0001.02", 30), ("0002.01", 20)] {
            let path = of(attempt).checkpoint("a");
            fs::write(&path, attempt).unwrap();
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
            fs::File::options().append(true).open(&path).unwrap().set_modified(time).unwrap();
        }
        fs::write(of("0001.01").checkpoint("ab"), "another case").unwrap();
        let own = of("0003.01");
        let checkpoints = Checkpoints::adopt(&own, &["a".to_owned(), "b".to_owned()]);
        assert_eq!(fs::read_to_string(own.checkpoint("a")).unwrap(), "0001.02");
        assert!(!own.checkpoint("b").exists() && !checkpoints.have_advanced());
        fs::write(own.checkpoint("b"), "a step").unwrap();
        assert!(checkpoints.have_advanced());
        fs::remove_file(own.checkpoint("b")).unwrap();
        assert!(!checkpoints.have_advanced());
    }
}
