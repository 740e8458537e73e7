//! Names of the files and folders in a run folder.

use std::path::Path;

use gpbench_files::{read_regular, refuse_irregular};

/// The name of the link to the newest run of a spec; on the command line, the name of the newest run.
pub(crate) const LATEST: &str = "latest";
/// The folder of published runs, in the output folder of gpbench's own source tree.
pub(crate) const PUBLISHED: &str = "published";
/// The store of finished cases, in the output folder.
pub(crate) const FINISHED: &str = ".finished";
/// Packed runs that were unpacked to be read, in the output folder.
pub(crate) const UNPACKED: &str = ".unpacked";
/// Version of the form of packed runs.
pub const PACK_FORMAT: u32 = 1;
/// The plan. A folder that has one is a run folder.
pub(crate) const PLAN: &str = "plan.json";
/// The spec as typed.
pub(crate) const SPEC: &str = "spec.toml";
/// The rows.
pub(crate) const JOURNAL: &str = "journal.jsonl";
/// Which cases were started.
pub(crate) const ATTEMPTS: &str = "attempts.jsonl";
/// Logs of all cases.
pub(crate) const LOGS: &str = "logs";
/// Files of running cases.
pub(crate) const SCRATCH: &str = "scratch";
/// The programs that running cases execute and load.
pub(crate) const PROGRAMS: &str = "programs";
/// Checkpoints of cases that have not ended.
pub(crate) const CHECKPOINTS: &str = "checkpoints";

/// Solutions of some cases, kept for others to verify.
pub(crate) const SOLUTIONS: &str = "solutions";
/// The extension of a solution that is kept.
const SOLUTION: &str = "safetensors";
/// Charts of the report.
pub(crate) const FIGURES: &str = "figures";

/// The name of the environment in which a run began (`count` 1), or continued for the `count`th time elsewhere.
pub(crate) fn environment(count: usize) -> String {
    match count {
        1 => "environment.json".to_owned(),
        _ => format!("environment-{count}.json"),
    }
}

/// Whether a name is that of an environment.
pub(crate) fn is_environment(name: &str) -> bool {
    name.starts_with("environment") && name.ends_with(".json")
}

/// The name of the solution of a case that is kept.
pub(crate) fn solution(id: &str) -> String {
    format!("{id}.{SOLUTION}")
}

/// The id of the case whose solution a file of a name is.
pub(crate) fn solved_id(name: &str) -> Option<&str> {
    name.strip_suffix(SOLUTION)?.strip_suffix('.')
}

/// Most bytes of a spec that are read.
const MOST_SPEC_BYTES: u64 = 64 << 20;

/// The spec of a run as typed; empty where it cannot be read. Pages show it, so that a link in its place, as a stranger
/// may have put there, is not followed.
pub(crate) fn read_spec(folder: &Path) -> String {
    let path = folder.join(SPEC);
    let text = refuse_irregular(&path).and_then(|()| read_regular(&path, MOST_SPEC_BYTES)).ok();
    text.and_then(|text| String::from_utf8(text).ok()).unwrap_or_default()
}

/// Whether a folder is a run's.
pub(crate) fn is_run(path: &Path) -> bool {
    path.join(PLAN).is_file()
}

/// Whether a spec's name can be that of a folder: the names `latest` and `published` are reserved.
pub(crate) fn is_name(name: &str) -> bool {
    let is_reserved = [LATEST, PUBLISHED].contains(&name);
    !name.is_empty() && !is_reserved && !name.starts_with('.') && !name.contains(['/', '\\', '\0'])
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_spec_that_is_a_link_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read_spec(folder.path()), "");
        fs::write(folder.path().join("secret"), "text").unwrap();
        symlink("secret", folder.path().join(SPEC)).unwrap();
        assert_eq!(read_spec(folder.path()), "");
        fs::remove_file(folder.path().join(SPEC)).unwrap();
        fs::write(folder.path().join(SPEC), "text").unwrap();
        assert_eq!(read_spec(folder.path()), "text");
    }

    #[test]
    fn environments_are_known_by_their_names() {
        assert!([1, 2, 30].iter().all(|count| is_environment(&environment(*count))));
        assert!([JOURNAL, PLAN, SPEC].iter().all(|name| !is_environment(name)));
    }
}
