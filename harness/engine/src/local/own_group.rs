//! The memory that control groups leave to this process: of its own group and of those around it, version 1 and 2.

use std::fs;
use std::path::{Path, PathBuf};

/// The memory of one group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct GroupMemory {
    /// Bytes that its processes may use together.
    pub(super) limit: u64,
    /// Bytes of the limit that are unused.
    pub(super) free: u64,
}

/// The files of a version.
struct Version {
    limit: &'static str,
    usage: &'static str,
    /// Cached files in `memory.stat`, which are dropped when memory is needed.
    reclaimable: &'static str,
}

const VERSION_1: Version = Version {
    limit: "memory.limit_in_bytes",
    usage: "memory.usage_in_bytes",
    reclaimable: "total_inactive_file ",
};
const VERSION_2: Version =
    Version { limit: "memory.max", usage: "memory.current", reclaimable: "inactive_file " };

/// The groups with a limit that this process belongs to. `root` is that of the file system.
pub(super) fn own_groups(root: &Path) -> Vec<GroupMemory> {
    let read = |name: &str| fs::read_to_string(root.join(name)).unwrap_or_default();
    let (own, mounts) = (read("proc/self/cgroup"), read("proc/self/mountinfo"));
    let own_groups = own.lines().filter_map(|line| {
        // `<number>:<controllers>:<path>`; version 2 has no controllers.
        let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
        let version = match controllers {
            "" => VERSION_2,
            some if some.split(',').any(|controller| controller == "memory") => VERSION_1,
            _ => return None,
        };
        let mounts = mounts.lines().filter_map(|line| Mount::of(line, controllers.is_empty()));
        // A part of the hierarchy may be mounted elsewhere as well. A group outside of all that is mounted is not
        // visible, but those around the first mount may be its own.
        let mounts: Vec<Mount> = mounts.collect();
        let mount = mounts.iter().find(|mount| mount.has(path)).or(mounts.first())?;
        Some((version, mount.folders(path)))
    });
    let found = own_groups.flat_map(|(version, folders)| {
        folders.into_iter().filter_map(move |folder| version.memory(&root.join(folder)))
    });
    found.collect()
}

/// A mounted hierarchy that bounds memory.
struct Mount<'a> {
    /// The group that is mounted.
    root: &'a str,
    point: &'a str,
}

impl<'a> Mount<'a> {
    /// Fields: number, parent, device, root, mount point, options, ..., `-`, type, source, options.
    fn of(line: &'a str, second_version: bool) -> Option<Self> {
        let (before, after) = line.split_once(" - ")?;
        let mut after = after.split(' ');
        let (kind, options) = (after.next()?, after.nth(1)?);
        let is_it = match second_version {
            true => kind == "cgroup2",
            false => kind == "cgroup" && options.split(',').any(|option| option == "memory"),
        };
        let mut before = before.split(' ').skip(3);
        is_it.then_some(Self { root: before.next()?, point: before.next()? })
    }

    /// Whether a group is within what is mounted.
    fn has(&self, group: &str) -> bool {
        Path::new(group).starts_with(self.root)
    }

    /// The folders of a group and of the groups around it, relative to the root of the file system.
    fn folders(&self, group: &str) -> Vec<PathBuf> {
        let top = Path::new(self.point.trim_start_matches('/'));
        let within = Path::new(group).strip_prefix(self.root).unwrap_or(Path::new(""));
        within.ancestors().map(|group| top.join(group)).collect()
    }
}

impl Version {
    /// The memory of a group; `None` if it has no limit.
    fn memory(&self, folder: &Path) -> Option<GroupMemory> {
        let read = |name: &str| fs::read_to_string(folder.join(name)).ok();
        let number = |name: &str| read(name)?.trim().parse::<u64>().ok();
        let limit = number(self.limit)?;
        let statistics = read("memory.stat").unwrap_or_default();
        let reclaimable =
            statistics.lines().find_map(|line| line.strip_prefix(self.reclaimable)?.parse().ok());
        let used = number(self.usage).unwrap_or_default().saturating_sub(reclaimable.unwrap_or(0));
        Some(GroupMemory { limit, free: limit.saturating_sub(used) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
22 1 0:20 / /proc rw - proc proc rw
36 22 0:31 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory
37 22 0:32 /slice /sys/fs/cgroup/unified rw,relatime shared:10 - cgroup2 cgroup2 rw,nsdelegate
";

    /// A file system with these files.
    fn root(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [("proc/self/mountinfo", MOUNTS)].iter().chain(files) {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }

    fn memory(limit: u64, free: u64) -> GroupMemory {
        GroupMemory { limit, free }
    }

    #[test]
    fn the_own_group_and_those_around_it_bound_memory() {
        let root = root(&[
            ("proc/self/cgroup", "4:cpu:/\n0::/slice/user/session\n"),
            ("sys/fs/cgroup/unified/user/session/memory.max", "max\n"),
            ("sys/fs/cgroup/unified/user/memory.max", "1000\n"),
            ("sys/fs/cgroup/unified/user/memory.current", "700\n"),
            ("sys/fs/cgroup/unified/user/memory.stat", "anon 1\nfile 600\ninactive_file 300\n"),
            ("sys/fs/cgroup/unified/memory.max", "5000\n"),
            ("sys/fs/cgroup/unified/memory.current", "6000\n"),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "10\n"),
        ]);
        assert_eq!(own_groups(root.path()), [memory(1000, 600), memory(5000, 0)]);
    }

    #[test]
    fn groups_of_version_1_bound_memory() {
        let root = root(&[
            ("proc/self/cgroup", "9:name=systemd:/\n4:cpu,memory:/a\n0::/elsewhere\n"),
            ("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "2000\n"),
            ("sys/fs/cgroup/memory/a/memory.usage_in_bytes", "500\n"),
            ("sys/fs/cgroup/memory/a/memory.stat", "inactive_file 1\ntotal_inactive_file 100\n"),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"),
        ]);
        let found = own_groups(root.path());
        assert_eq!(found, [memory(2000, 1600), memory(9223372036854771712, 9223372036854771712)]);
    }

    #[test]
    fn the_mount_that_has_the_own_group_counts() {
        let mounts = format!("30 22 0:32 /other /mnt rw - cgroup2 cgroup2 rw\n{MOUNTS}");
        let files = |own| {
            root(&[
                ("proc/self/mountinfo", mounts.as_str()),
                ("proc/self/cgroup", own),
                ("mnt/memory.max", "1\n"),
                ("sys/fs/cgroup/unified/memory.max", "2\n"),
                ("sys/fs/cgroup/unified/user/memory.max", "3\n"),
            ])
        };
        assert_eq!(own_groups(files("0::/slice/user\n").path()), [memory(3, 3), memory(2, 2)]);
        assert_eq!(own_groups(files("0::/elsewhere\n").path()), [memory(1, 1)]);
    }

    #[test]
    fn without_groups_nothing_is_bounded() {
        assert!(own_groups(root(&[]).path()).is_empty());
        assert!(own_groups(root(&[("proc/self/cgroup", "garbage\n0::\n4:memory:/a\n")]).path()).is_empty());
        assert!(own_groups(Path::new("/nowhere")).is_empty());
    }
}
