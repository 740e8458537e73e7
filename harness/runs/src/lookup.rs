//! Finds run folders: by path, by name, or the latest.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::layout::{LATEST, PLAN, is_name, is_run};
use crate::{PlanFile, RunError};

/// Finds the run folder that `run` names: a path, the name of a spec (its latest run), or `latest` (the newest run
/// under `output_dir`).
///
/// # Errors
/// [`RunError::NoSuchRun`], which lists the names that have runs.
pub fn resolve_run(output_dir: &Path, run: &str) -> Result<PathBuf, RunError> {
    let found = if run == LATEST {
        let newest = names(output_dir).into_iter().filter_map(|name| latest_of(&output_dir.join(name)));
        newest.max_by_key(|run| begun(run))
    } else if is_run(Path::new(run)) {
        Some(PathBuf::from(run))
    } else if run.contains('/') {
        latest_of(Path::new(run))
    } else {
        latest_of(&output_dir.join(run)).or_else(|| latest_of(Path::new(run)))
    };
    // Reports are written into the folder itself rather than through a link that may move.
    found.map(|path| fs::canonicalize(&path).unwrap_or(path)).ok_or_else(|| RunError::NoSuchRun {
        run: run.to_owned(),
        output_dir: output_dir.to_owned(),
        known: names(output_dir),
    })
}

/// The runs of all shards of a spec's plan, the oldest first: of that plan of which a shard was begun last. None where the
/// name has no run of a shard.
pub fn shards_of(output_dir: &Path, name: &str) -> Vec<PathBuf> {
    let mut runs = if is_name(name) { runs_of(&output_dir.join(name)) } else { Vec::new() };
    runs.sort_by_cached_key(|run| begun(run));
    let shard =
        |run: PathBuf| Some((PlanFile::read(&run).ok()?.part.filter(|part| part.shard.is_some())?.plan, run));
    let shards: Vec<(String, PathBuf)> = runs.into_iter().filter_map(shard).collect();
    let Some((newest, _)) = shards.last().cloned() else { return Vec::new() };
    shards.into_iter().filter(|(plan, _)| *plan == newest).map(|(_, run)| run).collect()
}

/// The newest run folder of a spec's name.
pub fn newest_run(output_dir: &Path, name: &str) -> Option<PathBuf> {
    is_name(name).then(|| latest_of(&output_dir.join(name)))?
}

/// Lists all run folders under `output_dir`, by name and then by time.
pub fn list_runs(output_dir: &Path) -> Vec<PathBuf> {
    let mut runs: Vec<PathBuf> =
        names(output_dir).iter().flat_map(|name| runs_of(&output_dir.join(name))).collect();
    runs.sort();
    runs
}

/// The run that the link `latest` points to, or the newest where the link is broken. Where links were copied as
/// folders and no run is left beside it, `latest` is a run itself.
fn latest_of(parent: &Path) -> Option<PathBuf> {
    let latest = parent.join(LATEST);
    let linked = fs::read_link(&latest).ok().map(|target| parent.join(target));
    let newest = || runs_of(parent).into_iter().max_by_key(|run| begun(run));
    linked.filter(|path| is_run(path)).or_else(newest).or_else(|| Some(latest).filter(|path| is_run(path)))
}

/// When a run began, by its folder's name; of those of one second, by when the plan was written.
fn begun(run: &Path) -> (String, Option<SystemTime>) {
    let name = run.file_name().unwrap_or_default().to_string_lossy();
    let second = name.split('-').next().unwrap_or_default().to_owned();
    let written = fs::metadata(run.join(PLAN)).and_then(|plan| plan.modified()).ok();
    (second, written)
}

/// The run folders directly under `parent`, without links and entries with the name of the link, in no order.
pub(crate) fn runs_of(parent: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(parent) else { return Vec::new() };
    let folders =
        entries.filter_map(Result::ok).filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let folders = folders.filter(|entry| entry.file_name() != LATEST);
    folders.map(|entry| entry.path()).filter(|path| is_run(path)).collect()
}

/// The names that have runs, sorted.
fn names(output_dir: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(output_dir) else { return Vec::new() };
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| latest_of(&output_dir.join(name)).is_some())
        .collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn add(output: &Path, name: &str, run: &str) -> PathBuf {
        let path = output.join(name).join(run);
        fs::create_dir_all(&path).unwrap();
        fs::write(path.join("plan.json"), "{}").unwrap();
        fs::canonicalize(path).unwrap()
    }

    #[test]
    fn a_run_is_a_path_a_name_or_the_latest() {
        let output = tempfile::tempdir().unwrap();
        let output = output.path();
        let old = add(output, "uci", "20260101T000000Z-aaaaaa");
        let new = add(output, "uci", "20260102T000000Z-aaaaaa");
        let other = add(output, "toy", "20260103T000000Z-bbbbbb");
        assert_eq!(resolve_run(output, "uci").unwrap(), new);
        assert_eq!(resolve_run(output, "toy").unwrap(), other);
        assert_eq!(resolve_run(output, "latest").unwrap(), other);
        assert_eq!(resolve_run(output, old.to_str().unwrap()).unwrap(), old);
        assert_eq!(resolve_run(output, output.join("uci").to_str().unwrap()).unwrap(), new);
        // A continued run is the latest although another was begun after it.
        std::os::unix::fs::symlink(old.file_name().unwrap(), output.join("uci/latest")).unwrap();
        assert_eq!(resolve_run(output, "uci").unwrap(), old);
        assert_eq!(resolve_run(output, output.join("uci/latest").to_str().unwrap()).unwrap(), old);
    }

    #[test]
    fn of_two_runs_of_one_second_the_later_plan_is_the_latest() {
        let output = tempfile::tempdir().unwrap();
        let output = output.path();
        let runs = [("a", "20260101T000000Z-bbbbbb"), ("b", "20260101T000000Z-aaaaaa")];
        let [first, second] = runs.map(|(name, run)| add(output, name, run));
        for (older, newer) in [(&first, &second), (&second, &first)] {
            let written = |run: &Path, seconds| {
                let plan = fs::File::options().append(true).open(run.join("plan.json")).unwrap();
                plan.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
            };
            written(older, 1000);
            written(newer, 1001);
            assert_eq!(resolve_run(output, "latest").unwrap(), *newer);
        }
    }

    #[test]
    fn a_folder_in_the_place_of_the_link_is_read_where_there_is_nothing_else() {
        let output = tempfile::tempdir().unwrap();
        let output = output.path();
        let copied = add(output, "uci", "latest");
        assert_eq!(resolve_run(output, "uci").unwrap(), copied);
        let run = add(output, "uci", "20260101T000000Z-aaaaaa");
        assert_eq!(resolve_run(output, "uci").unwrap(), run);
        assert_eq!(resolve_run(output, "latest").unwrap(), run);
        assert_eq!(list_runs(output), [output.join("uci/20260101T000000Z-aaaaaa")]);
    }

    #[test]
    fn an_unknown_run_lists_the_known_ones() {
        let output = tempfile::tempdir().unwrap();
        let missing = resolve_run(output.path(), "latest").unwrap_err().to_string();
        assert!(missing.ends_with("it holds no runs"), "{missing}");
        add(output.path(), "uci", "20260101T000000Z-aaaaaa");
        let missing = resolve_run(output.path(), "ucj").unwrap_err().to_string();
        assert!(missing.ends_with("there are: uci"), "{missing}");
    }
}
