//! Removal of files that ended processes have left.

use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::process::{Tagged, lives, parse_number};

/// Age from which on a file counts as abandoned if the state of its process is unknown: a process of another host, or
/// one of an earlier version, whose files lack the name of the host.
const ABANDONED: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Removes the unfinished files in a folder whose processes have ended. Their names are
/// `<name>.<tag>[.<anything>].part`, with the [tag](crate::process_tag) of a process.
///
/// A file of another host is removed if it has not been written for 30 days. The same holds for a file of an earlier
/// version, `<name>.<number>[.<anything>].part`, if no process of this host has the number. A file that cannot be
/// removed stays, which is harmless.
pub fn remove_stale(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(name) = name.to_str().and_then(|name| name.strip_suffix(".part")) else { continue };
        let writers = match tagged(name) {
            found if found.is_empty() => untagged(name),
            found => found,
        };
        if !writers.is_empty() && !any_may_live(&writers, &entry.path()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Whether a file or folder belongs to a process that may be alive. Its name then has the [tag](crate::process_tag)
/// of the process as one of the words between dots, and the process is alive on this host, or belongs to another host
/// and the file or folder was changed in the last 30 days.
pub fn may_be_in_use(path: &Path) -> bool {
    any_may_live(&writers(path), path)
}

/// Whether a file or folder was left by a process that has ended: its name has the [tag](crate::process_tag) of a
/// process, and no such process [may be alive](may_be_in_use).
pub fn was_left(path: &Path) -> bool {
    let writers = writers(path);
    !writers.is_empty() && !any_may_live(&writers, path)
}

/// The processes whose tags are in the name of a file or folder.
fn writers(path: &Path) -> Vec<Writer> {
    tagged(path.file_name().and_then(|name| name.to_str()).unwrap_or_default())
}

/// The process that may write a file.
enum Writer {
    Tagged(Tagged),
    /// A process of an unknown host, with this number there.
    Unknown(u32),
}

/// The processes whose tags are in a name.
fn tagged(name: &str) -> Vec<Writer> {
    name.split('.').filter_map(Tagged::parse).map(Writer::Tagged).collect()
}

/// The processes whose numbers are in a name, after its first word.
fn untagged(name: &str) -> Vec<Writer> {
    name.split('.').skip(1).filter_map(parse_number).map(Writer::Unknown).collect()
}

fn any_may_live(writers: &[Writer], path: &Path) -> bool {
    writers.iter().any(|writer| match writer {
        Writer::Tagged(Tagged::Here(number)) => lives(*number),
        Writer::Tagged(Tagged::Elsewhere(_)) => !is_old(path),
        Writer::Unknown(number) => !is_old(path) || lives(*number),
    })
}

/// Whether a file was last changed long ago. Times in the future count as recent, since clocks of hosts differ.
fn is_old(path: &Path) -> bool {
    let changed = fs::symlink_metadata(path).and_then(|metadata| metadata.modified());
    changed.is_ok_and(|time| time.elapsed().is_ok_and(|age| age > ABANDONED))
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::time::SystemTime;

    use super::*;
    use crate::process_tag;

    /// The tag of a process of this host that has ended.
    fn ended() -> String {
        format!("{}-4294967295", process_tag().split_once('-').unwrap().0)
    }

    fn write(path: &Path, is_old: bool) {
        let file = File::create(path).unwrap();
        if is_old {
            file.set_modified(SystemTime::now() - 2 * ABANDONED).unwrap();
        }
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn only_unfinished_files_of_ended_processes_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let (own, ended) = (process_tag(), ended());
        let kept = [
            format!("a.{own}.part"),
            format!("b.{ended}.part.{own}.x7Yz12.part"),
            format!("c.{ended}"),
            "d.csv.gz.part".into(),
        ];
        // A random word of digits does not denote a process.
        let left =
            [format!("e.{ended}.part"), format!("f.bin.{ended}.123456.part"), format!(".g.{ended}.part")];
        kept.iter().chain(&left).for_each(|name| write(&folder.path().join(name), true));
        remove_stale(folder.path());
        assert_eq!(names(folder.path()), kept);
    }

    #[test]
    fn files_of_other_hosts_and_earlier_versions_stay_for_a_time() {
        let folder = tempfile::tempdir().unwrap();
        // A process of this host has the number, which has no meaning for another host.
        let own = std::process::id();
        let elsewhere = format!("a.h0123456789ab-{own}.x.part");
        let (earlier, living) = ("b.4294967295.x.part".to_owned(), format!("c.{own}.part"));
        let all = [elsewhere, earlier, living];
        all.iter().for_each(|name| write(&folder.path().join(name), false));
        remove_stale(folder.path());
        assert_eq!(names(folder.path()), all);
        all.iter().for_each(|name| write(&folder.path().join(name), true));
        remove_stale(folder.path());
        assert_eq!(names(folder.path()), all[2..]);
    }

    #[test]
    fn folders_are_in_use_while_their_processes_may_live() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        write(&path("h0123456789ab-1"), false);
        write(&path("h0123456789ab-2"), true);
        let names = [process_tag(), ended(), "h0123456789ab-1".into(), "h0123456789ab-2".into(), "17".into()];
        assert_eq!(names.map(|name| may_be_in_use(&path(&name))), [true, false, true, false, false]);
    }

    #[test]
    fn links_are_judged_by_their_own_age() {
        let folder = tempfile::tempdir().unwrap();
        write(&folder.path().join("old"), true);
        std::os::unix::fs::symlink("old", folder.path().join(".latest.h0123456789ab-1.part")).unwrap();
        remove_stale(folder.path());
        assert_eq!(names(folder.path()).len(), 2);
    }
}
