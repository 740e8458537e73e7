//! Checkpoints of earlier attempts, and those of this one.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use gpbench_record::Attempt;
use gpbench_runs::Workspace;

/// The checkpoints of an attempt.
pub(crate) struct Checkpoints {
    attempt: Attempt,
    /// The checkpoints of its cases, by id.
    own: HashMap<String, Checkpoint>,
}

/// The checkpoint of a case.
struct Checkpoint {
    path: PathBuf,
    /// Its time of modification when the attempt began; none where there was no checkpoint.
    before: Option<SystemTime>,
}

impl Checkpoints {
    /// Copies for each case the checkpoint of the last attempt that has left one. It is a copy, since the runner of that attempt
    /// may still write its own. A worker checks what it reads, so a copy of half a file is found and left aside.
    pub(crate) fn adopt(workspace: &Workspace, attempt: Attempt, ids: &[String]) -> Self {
        let own = |id: &String| {
            let path = workspace.checkpoint(id);
            if let Some(newest) = newest(&path, id) {
                // Without it the case begins anew, which costs its time.
                let _ = fs::copy(newest, &path);
            }
            let before = written(&path);
            (id.clone(), Checkpoint { path, before })
        };
        Self { attempt, own: ids.iter().map(own).collect() }
    }

    /// Whether a case has written one since the attempt began. That of a case with a row is removed.
    pub(crate) fn have_advanced(&self) -> bool {
        self.own.values().any(Checkpoint::has_advanced)
    }

    /// Removes those of earlier attempts of cases that have written a newer one since this attempt began.
    pub(crate) fn remove_outdated(&self) {
        let advanced = self.own.iter().filter(|(_, own)| own.has_advanced());
        advanced.for_each(|(id, own)| self.remove_earlier(id, own));
    }

    /// Removes those of earlier attempts of a case that has its row.
    pub(crate) fn end(&self, id: &str) {
        self.own.get(id).into_iter().for_each(|own| self.remove_earlier(id, own));
    }

    /// Removes those of earlier attempts at the task. A runner of one that still lives writes its own anew; those of later
    /// attempts stay.
    fn remove_earlier(&self, id: &str, own: &Checkpoint) {
        let is_earlier =
            |attempt: &Attempt| attempt.task == self.attempt.task && attempt.attempt < self.attempt.attempt;
        for (path, attempt) in all(&own.path, id) {
            if attempt.as_ref().is_some_and(is_earlier) {
                // A file that cannot be removed only takes space.
                let _ = fs::remove_file(path);
            }
        }
    }
}

impl Checkpoint {
    /// Whether it was written since the attempt began. Workers replace checkpoints as a whole.
    fn has_advanced(&self) -> bool {
        written(&self.path).is_some_and(|now| Some(now) != self.before)
    }
}

/// The newest checkpoint of a case, of any attempt.
fn newest(own: &Path, id: &str) -> Option<PathBuf> {
    let others = all(own, id).into_iter().map(|(path, _)| path).filter(|path| path != own);
    others.max_by_key(|path| written(path))
}

/// The checkpoints of a case, each with its attempt. One of a run on a single computer has none.
fn all(own: &Path, id: &str) -> Vec<(PathBuf, Option<Attempt>)> {
    let of_case = |path: PathBuf| {
        let name = path.file_name()?.to_str()?.strip_prefix(id)?.strip_suffix(".safetensors")?;
        let attempt = name.strip_prefix('.').map(str::parse);
        match attempt {
            None if name.is_empty() => Some((path, None)),
            Some(Ok(attempt)) => Some((path, Some(attempt))),
            _ => None,
        }
    };
    let entries = own.parent().and_then(|folder| fs::read_dir(folder).ok()).into_iter().flatten().flatten();
    entries.filter_map(|entry| of_case(entry.path())).collect()
}

fn written(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|found| found.modified()).ok()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Writes the checkpoint of the case `a` in an attempt, as if so many seconds after the epoch.
    fn write(run: &Path, attempt: &str, seconds: u64) -> PathBuf {
        fs::create_dir_all(run.join("checkpoints")).unwrap();
        let path = Workspace::of_attempt(run, run, attempt).checkpoint("a");
        fs::write(&path, attempt).unwrap();
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        fs::File::options().append(true).open(&path).unwrap().set_modified(time).unwrap();
        path
    }

    fn adopt(run: &Path, attempt: &str, ids: &[&str]) -> (Workspace, Checkpoints) {
        let ids: Vec<String> = ids.iter().map(|&id| id.to_owned()).collect();
        let workspace = Workspace::of_attempt(run, run, attempt);
        let checkpoints = Checkpoints::adopt(&workspace, attempt.parse().unwrap(), &ids);
        (workspace, checkpoints)
    }

    #[test]
    fn an_attempt_goes_on_from_the_newest_checkpoint() {
        let run = tempfile::tempdir().unwrap();
        for (attempt, seconds) in [("0001.01", 10), ("0001.02", 30), ("0002.01", 20)] {
            write(run.path(), attempt, seconds);
        }
        let of_another = Workspace::of_attempt(run.path(), run.path(), "0001.01").checkpoint("ab");
        fs::write(of_another, "another case").unwrap();
        let (own, checkpoints) = adopt(run.path(), "0003.01", &["a", "b"]);
        assert_eq!(fs::read_to_string(own.checkpoint("a")).unwrap(), "0001.02");
        assert!(!own.checkpoint("b").exists() && !checkpoints.have_advanced());
        fs::write(own.checkpoint("b"), "a step").unwrap();
        assert!(checkpoints.have_advanced());
        fs::remove_file(own.checkpoint("b")).unwrap();
        assert!(!checkpoints.have_advanced());
    }

    #[test]
    fn checkpoints_of_earlier_attempts_are_removed_once_they_are_not_needed() {
        let run = tempfile::tempdir().unwrap();
        let earlier = [write(run.path(), "0001.01", 10), write(run.path(), "0001.02", 20)];
        let (own, checkpoints) = adopt(run.path(), "0001.03", &["a"]);
        let later = write(run.path(), "0001.04", 30);
        checkpoints.remove_outdated();
        assert!(earlier.iter().all(|path| path.exists()), "this attempt has added nothing");
        write(run.path(), "0001.03", 40);
        checkpoints.remove_outdated();
        assert!(!earlier.iter().any(|path| path.exists()));
        assert!(own.checkpoint("a").exists() && later.exists());
        // The runner of an earlier attempt still runs.
        let again = write(run.path(), "0001.02", 50);
        checkpoints.end("a");
        assert!(!again.exists() && later.exists());
    }
}
