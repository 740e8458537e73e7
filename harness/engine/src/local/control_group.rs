//! Control groups of Linux, version 2: one for each worker, where this user may make them.
//!
//! What a worker forks stays in its group whatever it does, so that one write ends all of it, and processor time is
//! counted over all of it. The kernel bounds memory where its controller is available, which needs a group without
//! processes of its own or the machine's root; elsewhere memory is watched. Nothing here fails a run.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

/// Microseconds in a second, the unit of `cpu.stat`.
const MICROSECONDS: f64 = 1e6;

/// The group of this process, under which workers get theirs.
#[derive(Debug)]
pub(super) struct ControlGroups {
    folder: PathBuf,
    /// Whether the kernel bounds the memory of groups made here.
    memory: bool,
    made: AtomicU64,
}

impl ControlGroups {
    /// The folder for groups on this machine, if there is one and this user may write to it.
    pub(super) fn find() -> Option<Self> {
        let own = fs::read_to_string("/proc/self/cgroup").ok()?;
        let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
        Self::under(&own_folder(&own, &mounts)?)
    }

    /// The same, under a group whose folder is known. Groups that a killed gpbench left there are ended first.
    fn under(folder: &Path) -> Option<Self> {
        end_stale_groups(folder);
        let memory = fs::read_to_string(folder.join("cgroup.controllers"))
            .is_ok_and(|all| all.split_whitespace().any(|controller| controller == "memory"))
            && fs::write(folder.join("cgroup.subtree_control"), "+memory").is_ok();
        let groups = Self { folder: folder.to_owned(), memory, made: AtomicU64::new(0) };
        // A group made as a trial shows whether all that a worker's group needs is available.
        groups.make().filter(|group| group.path.join("cgroup.kill").exists()).is_some().then_some(groups)
    }

    /// A group for one worker.
    pub(super) fn make(&self) -> Option<ControlGroup> {
        let count = self.made.fetch_add(1, Ordering::Relaxed);
        let path = self.folder.join(format!("{}{}-{count}", prefix()?, std::process::id()));
        fs::create_dir(&path).ok()?;
        Some(ControlGroup { path })
    }

    /// Whether the kernel bounds memory.
    pub(super) fn bounds_memory(&self) -> bool {
        self.memory
    }
}

/// The beginning of our groups' names. The number of this process follows, which is unique only within a namespace
/// of process numbers.
fn prefix() -> Option<String> {
    let namespace = fs::read_link("/proc/self/ns/pid").ok()?;
    let digits = |c: &char| c.is_ascii_digit();
    Some(format!("gpbench-{}-", namespace.to_str()?.chars().filter(digits).collect::<String>()))
}

/// Ends groups whose makers have ended.
fn end_stale_groups(folder: &Path) {
    let Some(prefix) = prefix() else { return };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries {
        let name = entry.file_name();
        let maker = name.to_str().and_then(|name| name.strip_prefix(&prefix)?.split('-').next());
        if maker.is_some_and(|maker| !Path::new("/proc").join(maker).exists()) {
            ControlGroup { path: entry.path() }.kill();
        }
    }
}

/// The folder of this process's own group: `own` is `/proc/self/cgroup`, `mounts` `/proc/self/mountinfo`.
fn own_folder(own: &str, mounts: &str) -> Option<PathBuf> {
    let path = own.lines().find_map(|line| line.strip_prefix("0::/"))?;
    // Fields: number, parent, device, root, mount point, options, ..., `-`, type, source, options.
    let mount = mounts.lines().find_map(|line| {
        let (before, after) = line.split_once(" - ")?;
        let mut fields = before.split(' ').skip(3);
        let (root, point) = (fields.next()?, fields.next()?);
        (after.starts_with("cgroup2 ") && root == "/").then_some(point)
    })?;
    Some(Path::new(mount).join(path))
}

/// The group of one worker. When dropped, it ends what is left in it and is removed.
#[derive(Debug)]
pub(super) struct ControlGroup {
    path: PathBuf,
}

impl ControlGroup {
    /// Moves a process into the group. What it forks from now on belongs to the group too.
    pub(super) fn admit(&self, process: u32) -> io::Result<()> {
        fs::write(self.path.join("cgroup.procs"), process.to_string())
    }

    /// Has the kernel kill the whole group if it would use more memory than this.
    pub(super) fn bound_memory(&self, bytes: u64) -> io::Result<()> {
        fs::write(self.path.join("memory.max"), bytes.to_string())?;
        // Otherwise the kernel may kill one process of several, and its parent waits for it.
        fs::write(self.path.join("memory.oom.group"), "1")?;
        // A kernel without swap has no such file.
        let _ = fs::write(self.path.join("memory.swap.max"), "0");
        Ok(())
    }

    /// Whether the kernel has killed a process of the group because memory was exhausted.
    pub(super) fn ran_out_of_memory(&self) -> bool {
        self.number("memory.events", "oom_kill").is_some_and(|count| count > 0)
    }

    /// Processor seconds of all that belongs or has belonged to the group.
    pub(super) fn cpu_seconds(&self) -> Option<f64> {
        Some(self.number("cpu.stat", "usage_usec")? as f64 / MICROSECONDS)
    }

    /// Its processes.
    pub(super) fn processes(&self) -> Vec<u32> {
        let text = fs::read_to_string(self.path.join("cgroup.procs")).unwrap_or_default();
        text.lines().filter_map(|line| line.parse().ok()).collect()
    }

    /// Ends every process in it.
    pub(super) fn kill(&self) {
        let _ = fs::write(self.path.join("cgroup.kill"), "1");
    }

    /// The number beside `key` in a file of the group.
    fn number(&self, file: &str, key: &str) -> Option<u64> {
        let text = fs::read_to_string(self.path.join(file)).ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' '))?;
        line.trim().parse().ok()
    }
}

impl Drop for ControlGroup {
    fn drop(&mut self) {
        // Only an empty group can be removed, and killed processes take a moment to leave.
        for _ in 0..100 {
            match fs::remove_dir(&self.path) {
                Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                    self.kill();
                    thread::sleep(Duration::from_millis(1));
                }
                _ => return,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
22 1 0:20 / /proc rw - proc proc rw
35 22 0:30 /docker/1 /sys/fs/bound rw - cgroup2 cgroup2 rw
36 22 0:31 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory
37 22 0:32 / /sys/fs/cgroup/unified rw,relatime shared:10 - cgroup2 cgroup2 rw,nsdelegate
";

    #[test]
    fn the_own_group_is_found_among_the_mounts() {
        let own = "4:memory:/user\n0::/user.slice/session-1.scope\n";
        let expected = Path::new("/sys/fs/cgroup/unified/user.slice/session-1.scope");
        assert_eq!(own_folder(own, MOUNTS).as_deref(), Some(expected));
        assert_eq!(own_folder("0::/\n", MOUNTS).as_deref(), Some(Path::new("/sys/fs/cgroup/unified/")));
        assert_eq!(own_folder("4:memory:/user\n", MOUNTS), None);
        assert_eq!(own_folder(own, "36 22 0:31 / /sys/fs/cgroup rw - cgroup cgroup rw\n"), None);
    }

    #[test]
    fn files_of_a_group_are_read_and_written() {
        let folder = tempfile::tempdir().unwrap();
        let group = ControlGroup { path: folder.path().to_owned() };
        let write = |file: &str, text: &str| fs::write(folder.path().join(file), text).unwrap();
        let read = |file: &str| fs::read_to_string(folder.path().join(file)).unwrap();
        assert!(!group.ran_out_of_memory() && group.cpu_seconds().is_none());
        write("memory.events", "low 0\noom 3\noom_kill 0\noom_group_kill 0\n");
        assert!(!group.ran_out_of_memory());
        write("memory.events", "low 0\noom 3\noom_kill 1\noom_group_kill 1\n");
        assert!(group.ran_out_of_memory());
        write("cpu.stat", "usage_usec 2500000\nuser_usec 2000000\nsystem_usec 500000\n");
        assert_eq!(group.cpu_seconds(), Some(2.5));
        write("cgroup.procs", "17\n23\n");
        assert_eq!(group.processes(), [17, 23]);
        group.admit(42).unwrap();
        group.bound_memory(4096).unwrap();
        group.kill();
        assert_eq!(
            (read("cgroup.procs"), read("memory.max"), read("cgroup.kill")),
            ("42".into(), "4096".into(), "1".into())
        );
        assert_eq!(read("memory.oom.group"), "1");
    }

    #[test]
    fn groups_are_made_only_within_a_group() {
        let folder = tempfile::tempdir().unwrap();
        assert!(ControlGroups::under(folder.path()).is_none());
        assert!(ControlGroups::under(Path::new("/nowhere")).is_none());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "the trial group is removed");
    }
}
