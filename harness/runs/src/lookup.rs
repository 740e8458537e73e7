//! Finds run folders: by path, by name, by id, or the latest and those before it.

use std::cmp::Reverse;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::layout::{LATEST, PLAN, PUBLISHED, is_name, is_run};
use crate::pack::open_packed;
use crate::{PlanFile, RunError};

/// Finds the run folder that `run` names. The first of these that exists counts:
///
/// - `latest`, the newest run under `output_dir`
/// - a path of a run folder, or of a folder of run folders (its latest run)
/// - the file of a packed run, which is unpacked below `output_dir`, in a folder that is no run of a name
/// - the name of a spec: its latest run
/// - `NAME~1`, the run before the latest of a name, `NAME~2` and so on; `latest~1` counts the runs of all names
/// - the id of a run, which is the name of its folder, or the beginning of an id or of its last part, if one run alone has it;
///   `NAME/ID` looks among the runs of a name
///
/// # Errors
/// [`RunError::NoSuchRun`] and [`RunError::SeveralRuns`], which list what there is; [`RunError::Packed`].
pub fn resolve_run(output_dir: &Path, run: &str) -> Result<PathBuf, RunError> {
    let found = match named(output_dir, run) {
        Some(folder) => Ok(folder),
        None if Path::new(run).is_file() => open_packed(output_dir, Path::new(run)),
        None => earlier(output_dir, run).unwrap_or_else(|| by_id(output_dir, run)),
    };
    // Reports are written into the folder itself rather than through a link that may move.
    found.map(|path| fs::canonicalize(&path).unwrap_or(path))
}

/// The run of a path or a name, or the latest of all.
fn named(output_dir: &Path, run: &str) -> Option<PathBuf> {
    if run == LATEST {
        let newest = names(output_dir).into_iter().filter_map(|name| latest_of(&output_dir.join(name)));
        newest.max_by_key(|run| begun(run))
    } else if is_run(Path::new(run)) {
        Some(PathBuf::from(run))
    } else if run.contains('/') {
        latest_of(Path::new(run))
    } else {
        latest_of(&output_dir.join(run)).or_else(|| latest_of(Path::new(run)))
    }
}

/// The run of a text such as `NAME~1`; none for a text of another form or an unknown name.
fn earlier(output_dir: &Path, run: &str) -> Option<Result<PathBuf, RunError>> {
    let (name, count) = run.rsplit_once('~')?;
    let count: usize = count.parse().ok()?;
    let runs = newest_first(output_dir, name, named(output_dir, name)?);
    let listed = |(count, run): (usize, &PathBuf)| format!("{name}~{count} ({})", id(run));
    let missing = || no_such_run(output_dir, run, runs.iter().enumerate().map(listed).collect());
    Some(runs.get(count).cloned().ok_or_else(missing))
}

/// The runs of a name, or of all for `latest`: first the latest, then the others from the newest to the oldest.
fn newest_first(output_dir: &Path, name: &str, latest: PathBuf) -> Vec<PathBuf> {
    let mut runs = match (name, latest.parent()) {
        (LATEST, _) | (_, None) => list_runs(output_dir),
        (_, Some(parent)) => runs_of(parent),
    };
    runs.sort_by_cached_key(|run| Reverse(begun(run)));
    let latest_id = id(&latest);
    runs.retain(|run| id(run) != latest_id);
    runs.insert(0, latest);
    runs
}

/// The run whose id begins with a text, or whose id's last part does.
fn by_id(output_dir: &Path, run: &str) -> Result<PathBuf, RunError> {
    let (name, start) = run.rsplit_once('/').map_or((None, run), |(name, start)| (Some(name), start));
    let begins = |id: &str| {
        let has_last = || id.split_once('-').is_some_and(|(_, last)| last.starts_with(start));
        !start.is_empty() && (id.starts_with(start) || has_last())
    };
    let all = match name {
        Some(name) if is_name(name) => runs_of(&output_dir.join(name)),
        Some(_) => Vec::new(),
        None => list_runs(output_dir),
    };
    let named = all.into_iter().map(|run| (id(&run), run));
    let mut found: Vec<(String, PathBuf)> = named.filter(|(id, _)| begins(id)).collect();
    // A second run of the same second has the id of the first and a number.
    if found.iter().any(|(id, _)| id == start) {
        found.retain(|(id, _)| id == start);
    }
    match found.len() {
        0 => Err(no_such_run(output_dir, run, names(output_dir))),
        1 => Ok(found.remove(0).1),
        _ => Err(RunError::SeveralRuns {
            run: run.to_owned(),
            runs: found.iter().map(|(_, run)| label(run)).collect(),
        }),
    }
}

fn no_such_run(output_dir: &Path, run: &str, known: Vec<String>) -> RunError {
    RunError::NoSuchRun { run: run.to_owned(), output_dir: output_dir.to_owned(), known }
}

/// The id of a run: the name of its folder.
pub(crate) fn id(run: &Path) -> String {
    run.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// `NAME/ID` of a run.
fn label(run: &Path) -> String {
    let name = run.parent().and_then(Path::file_name).unwrap_or_default();
    format!("{}/{}", name.to_string_lossy(), id(run))
}

/// The run that began last before this one, among those beside it.
pub(crate) fn run_before(folder: &Path) -> Option<PathBuf> {
    let own = begun(folder);
    let earlier =
        runs_of(folder.parent()?).into_iter().map(|run| (begun(&run), run)).filter(|(time, _)| *time < own);
    earlier.max().map(|(_, run)| run)
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

/// The run folders directly under `parent`, without links and entries with the name of the link, in no order. Published runs
/// are those of many specs, and have no order of time: they are found by their paths alone.
pub(crate) fn runs_of(parent: &Path) -> Vec<PathBuf> {
    if parent.file_name() == Some(OsStr::new(PUBLISHED)) {
        return Vec::new();
    }
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
    fn earlier_runs_are_counted_back_from_the_latest() {
        let output = tempfile::tempdir().unwrap();
        let output = output.path();
        let ids = ["20260101T000000Z-aaaaaa", "20260102T000000Z-bbbbbb", "20260104T000000Z-cccccc"];
        let runs = ids.map(|run| add(output, "uci", run));
        let other = add(output, "toy", "20260103T000000Z-dddddd");
        let found = |run: &str| resolve_run(output, run).unwrap();
        assert_eq!(
            ["uci~0", "uci~1", "uci~2"].map(found),
            [&runs[2], &runs[1], &runs[0]].map(PathBuf::clone)
        );
        assert_eq!(["latest~1", "latest~2"].map(found), [other, runs[1].clone()]);
        assert_eq!(run_before(&runs[2]), Some(runs[1].clone()));
        assert_eq!(run_before(&runs[0]), None);
        let missing = resolve_run(output, "uci~3").unwrap_err().to_string();
        let listed =
            "there are: uci~0 (20260104T000000Z-cccccc), uci~1 (20260102T000000Z-bbbbbb), uci~2 (20260101T";
        assert!(missing.contains(listed), "{missing}");
        // The latest may have begun before another one.
        std::os::unix::fs::symlink(ids[1], output.join("uci/latest")).unwrap();
        assert_eq!(
            ["uci~0", "uci~1", "uci~2"].map(found),
            [&runs[1], &runs[2], &runs[0]].map(PathBuf::clone)
        );
        // A name that ends so itself.
        let own = add(output, "uci~1", "20260105T000000Z-eeeeee");
        assert_eq!(found("uci~1"), own);
    }

    #[test]
    fn a_run_is_found_by_its_id_or_the_beginning_of_it() {
        let output = tempfile::tempdir().unwrap();
        let output = output.path();
        let first = add(output, "uci", "20260101T000000Z-aaaaaa");
        let second = add(output, "toy", "20260101T120000Z-ab0000");
        let found = |run: &str| resolve_run(output, run).unwrap();
        assert_eq!(
            ["20260101T000000Z-aaaaaa", "20260101T00", "aa", "uci/2026", "uci/a"].map(found),
            [(); 5].map(|()| first.clone())
        );
        assert_eq!(["ab0000", "toy/20260101"].map(found), [(); 2].map(|()| second.clone()));
        let same_second = add(output, "uci", "20260101T000000Z-aaaaaa-2");
        assert_eq!(found("20260101T000000Z-aaaaaa"), first);
        assert_eq!(found("20260101T000000Z-aaaaaa-2"), same_second);
        fs::remove_dir_all(same_second).unwrap();
        for several in ["2026", "a"] {
            let error = resolve_run(output, several).unwrap_err();
            let told =
                "begins the ids of several runs: toy/20260101T120000Z-ab0000, uci/20260101T000000Z-aaaaaa";
            assert!(error.is_users() && error.to_string().contains(told), "{error}");
        }
        for missing in ["b", "uci/b", "nothing/a", "", "uci~a"] {
            let error = resolve_run(output, missing).unwrap_err().to_string();
            assert!(error.ends_with("there are: toy, uci"), "{error}");
        }
    }

    #[test]
    fn published_runs_are_read_by_their_paths_alone() {
        let output = tempfile::tempdir().unwrap();
        let output = output.path();
        let own = add(output, "uci", "20260101T000000Z-aaaaaa");
        let published = add(output, "published", "uci");
        assert_eq!(resolve_run(output, "latest").unwrap(), own);
        assert_eq!(list_runs(output), [output.join("uci/20260101T000000Z-aaaaaa")]);
        assert_eq!(resolve_run(output, output.join("published/uci").to_str().unwrap()).unwrap(), published);
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
