//! File systems whose locks do not reach other hosts.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt as _;

use rustix::fs::{major, minor};

/// Types of shared file systems where `flock` is local to a host by default. Their mount entries do not show another
/// configuration.
const LOCAL_TYPES: [&str; 1] = ["beegfs"];
/// Mount options that make `flock` local to a host, of Lustre and of NFS (also with `nolock`).
const LOCAL_OPTIONS: [&str; 3] = ["localflock", "local_lock=all", "local_lock=flock"];

/// Whether `flock` on a file may be invisible to other hosts that share its file system.
pub(super) fn flock_is_local(file: &File) -> bool {
    let Ok(metadata) = file.metadata() else { return false };
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let device = format!("{}:{}", major(metadata.dev()), minor(metadata.dev()));
    mounts.lines().any(|line| is_local(line, &device))
}

/// Whether a line of `mountinfo` describes this device, `<major>:<minor>`, with locks that are local to a host.
///
/// Fields: number, parent, device, root, mount point, options, ..., `-`, type, source, options.
fn is_local(line: &str, device: &str) -> bool {
    let Some((before, after)) = line.split_once(" - ") else { return false };
    let mut after = after.split(' ');
    let (kind, options) = (after.next().unwrap_or_default(), after.nth(1).unwrap_or_default());
    before.split(' ').nth(2) == Some(device)
        && (LOCAL_TYPES.contains(&kind) || options.split(',').any(|option| LOCAL_OPTIONS.contains(&option)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_with_locks_of_one_host_are_found() {
        let nfs =
            "40 22 0:50 / /home rw shared:9 - nfs4 server:/home rw,vers=4.2,local_lock=none,addr=1.2.3.4";
        assert!(!is_local(nfs, "0:50"));
        for local in ["flock", "all"] {
            let mount = nfs.replace("local_lock=none", &format!("local_lock={local}"));
            assert!(is_local(&mount, "0:50") && !is_local(&mount, "0:5"), "{mount}");
        }
        let lustre = "41 22 0:51 / /work rw - lustre 1@tcp:/work rw,localflock,lazystatfs";
        assert!(is_local(lustre, "0:51"));
        assert!(!is_local(&lustre.replace("localflock", "flock"), "0:51"));
        assert!(is_local("42 22 0:52 / /fast rw - beegfs beegfs_nodev rw,cfgFile=/etc/beegfs", "0:52"));
        assert!(!is_local("garbage", "0:52"));
        assert!(!flock_is_local(&tempfile::tempfile().unwrap()));
    }
}
