//! Information of the system about its own locks.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt as _;

use rustix::fs::{major, minor};
use rustix::io::Errno;

use super::holder::Holder;

/// Whether an error means that the file system has no locks.
pub(super) fn is_unsupported(error: &io::Error) -> bool {
    // Errors of a mount without locks: ENOSYS of Lustre, ENOLCK of NFS without its lock service, EOPNOTSUPP of
    // others.
    let codes = [Errno::NOSYS, Errno::OPNOTSUPP, Errno::NOLCK];
    codes.iter().any(|code| error.raw_os_error() == Some(code.raw_os_error()))
}

/// The process of this host that has locked a file, if known.
pub(super) fn holder_of(file: &File) -> Option<Holder> {
    let metadata = file.metadata().ok()?;
    let locks = fs::read_to_string("/proc/locks").ok()?;
    owner(&locks, (major(metadata.dev()), minor(metadata.dev()), metadata.ino())).map(Holder::here)
}

/// The owner of a file's lock in the text of `/proc/locks`: number, `FLOCK`, `ADVISORY`, `WRITE`, process and
/// `<major>:<minor>:<inode>`. Lines of waiting processes have an arrow after the number.
fn owner(locks: &str, (major, minor, inode): (u32, u32, u64)) -> Option<u32> {
    let file = format!("{major:02x}:{minor:02x}:{inode}");
    let lines = locks.lines().map(|line| line.split_ascii_whitespace().collect::<Vec<_>>());
    lines.filter(|words| words.get(1) == Some(&"FLOCK") && words.get(5) == Some(&file.as_str())).find_map(
        // Processes of other namespaces have the number 0 or -1.
        |words| words[4].parse().ok().filter(|process| *process > 0),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_owner_of_a_lock_is_listed() {
        let text = "\
1: POSIX  ADVISORY  READ  11 00:1a:5 128 128
2: FLOCK  ADVISORY  WRITE 0 00:1a:6 0 EOF
3: FLOCK  ADVISORY  WRITE 12 00:1a:5 0 EOF
3: -> FLOCK  ADVISORY  WRITE 13 00:1a:7 0 EOF
";
        assert_eq!(owner(text, (0, 0x1a, 5)), Some(12));
        assert_eq!(owner(text, (0, 0x1a, 6)), None);
        assert_eq!(owner(text, (0, 0x1a, 7)), None);
        assert_eq!(owner("garbage\n", (0, 0x1a, 5)), None);
    }

    #[test]
    fn only_lacking_locks_are_unsupported() {
        for (code, expected) in [(Errno::NOSYS, true), (Errno::NOLCK, true), (Errno::ACCESS, false)] {
            assert_eq!(is_unsupported(&code.into()), expected, "{code}");
        }
    }
}
