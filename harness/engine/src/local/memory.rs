//! The memory of processes, by `/proc`.
//!
//! The sum of resident sizes takes microseconds and is never too small, but counts a page once for each process that has
//! it. Where that exceeds a limit, proportional sizes decide, which divide a page among those that have it. Neither sees
//! files that live in memory, have no name and are open but not mapped: those count by the blocks that they take.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

use rustix::fs::{FsWord, major, minor, statfs};
use rustix::param::page_size;

/// Bytes of the blocks that file systems count.
const BLOCK: u64 = 512;

/// Types of file systems whose files are memory: tmpfs, which memfd files belong to as well, and hugetlbfs.
const IN_MEMORY: [FsWord; 2] = [0x0102_1994, 0x9584_58f6];

/// Files without a name that live in memory, by device and inode, and the bytes that they take.
pub(super) type HeldFiles = BTreeMap<(u64, u64), u64>;

/// Resident bytes of a process; 0 if it has ended.
pub(super) fn resident(process: u32) -> u64 {
    let pages = |folder: PathBuf| {
        let text = fs::read_to_string(folder.join("statm")).ok()?;
        resident_pages(&text).filter(|pages| *pages > 0)
    };
    let own = pages(PathBuf::from(format!("/proc/{process}")));
    // The first thread may have left while others live: then only those have the memory.
    let pages = own.or_else(|| threads(process).find_map(pages));
    pages.unwrap_or_default() * page_size() as u64
}

fn resident_pages(statm: &str) -> Option<u64> {
    statm.split(' ').nth(1)?.parse().ok()
}

/// Folders of the threads of a process.
fn threads(process: u32) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    entries.map(|entry| entry.path())
}

/// The folder of a thread of a process that has not left.
fn living_thread(process: u32) -> Option<PathBuf> {
    let lives =
        |thread: &PathBuf| fs::read_to_string(thread.join("statm")).is_ok_and(|text| !text.starts_with("0 "));
    threads(process).find(lives)
}

/// The files that processes hold open, live in memory and have no name, each once.
pub(super) fn held_files(processes: impl IntoIterator<Item = u32>) -> HeldFiles {
    let folders = processes.into_iter().filter_map(living_thread);
    let open = folders.filter_map(|thread| fs::read_dir(thread.join("fd")).ok()).flatten().flatten();
    let held = open.filter_map(|entry| {
        let data = fs::metadata(entry.path()).ok().filter(|data| data.nlink() == 0 && data.blocks() > 0)?;
        let kind = statfs(entry.path()).ok()?.f_type;
        IN_MEMORY.contains(&kind).then(|| ((data.dev(), data.ino()), data.blocks() * BLOCK))
    });
    held.collect()
}

/// Bytes of memory that processes and these files take, each page counted once. The processes are known to share pages
/// with each other; of a page that they share with others, they take a part.
pub(super) fn proportional(processes: impl IntoIterator<Item = u32>, files: &HeldFiles) -> u64 {
    let of_process = |process: u32| {
        let Some(thread) = living_thread(process) else { return 0 };
        let read = |name: &str| fs::read_to_string(thread.join(name)).ok();
        let size = match files.is_empty() {
            true => read("smaps_rollup").map(|text| sum_of_mappings(&text, files)),
            false => read("smaps").map(|text| sum_of_mappings(&text, files)),
        };
        // Of a process whose mappings cannot be read, all resident pages count.
        size.unwrap_or_else(|| resident(process))
    };
    processes.into_iter().map(of_process).sum::<u64>() + files.values().sum::<u64>()
}

/// Proportional bytes of the mappings in the text of `smaps` or `smaps_rollup`, those of `files` left out.
fn sum_of_mappings(text: &str, files: &HeldFiles) -> u64 {
    let mut counts = true;
    let mut kibibytes = 0;
    for line in text.lines() {
        let mut fields = line.split_ascii_whitespace();
        match (fields.next(), fields.next()) {
            (Some("Pss:" | "Private_Hugetlb:" | "Shared_Hugetlb:"), Some(size)) if counts => {
                kibibytes += size.parse::<u64>().unwrap_or_default();
            }
            // A mapping: addresses, permissions, offset, device, inode, and a path or none.
            (Some(first), Some(_)) if !first.ends_with(':') => {
                let file = (|| Some((fields.nth(1)?, fields.next()?.parse::<u64>().ok()?)))();
                counts = !file.is_some_and(|(device, inode)| is_held(device, inode, files));
            }
            _ => {}
        }
    }
    kibibytes * 1024
}

/// Whether a file is held; `device` is `major:minor` in hexadecimal digits.
fn is_held(device: &str, inode: u64, files: &HeldFiles) -> bool {
    let of_path = |dev: u64| format!("{:02x}:{:02x}", major(dev), minor(dev));
    files.keys().any(|(dev, file)| *file == inode && of_path(*dev) == device)
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write as _;

    use rustix::fs::{MemfdFlags, memfd_create};

    use super::*;

    #[test]
    fn this_process_uses_memory_and_an_ended_one_none() {
        let here = std::process::id();
        let (resident_here, none) = (resident(here), HeldFiles::new());
        assert!(resident_here > 0);
        // Both change while they are read.
        assert!((1..=2 * resident_here).contains(&proportional([here], &none)));
        assert_eq!((resident(u32::MAX), proportional([u32::MAX], &none)), (0, 0));
        assert_eq!(resident_pages("500 30 20 4 0 50 0\n"), Some(30));
        assert_eq!(resident_pages("0 0 0 0 0 0 0\n"), Some(0));
    }

    #[test]
    fn shared_pages_are_divided_and_mappings_of_held_files_left_out() {
        let text = "\
7f0000000000-7f0000001000 rw-s 00000000 00:01 77                         /memfd:a (deleted)
Size:               2048 kB
Rss:                2048 kB
Pss:                1024 kB
Shared_Hugetlb:        0 kB
7f0000002000-7f0000003000 rw-p 00000000 00:00 0 
Pss:                   4 kB
Pss_Dirty:             4 kB
Private_Hugetlb:       8 kB
VmFlags: rd wr
";
        assert_eq!(sum_of_mappings(text, &HeldFiles::new()), 1036 * 1024);
        let device = rustix::fs::makedev(0, 1);
        assert_eq!(sum_of_mappings(text, &HeldFiles::from([((device, 77), 1)])), 12 * 1024);
        assert_eq!(sum_of_mappings(text, &HeldFiles::from([((device, 78), 1)])), 1036 * 1024);
    }

    #[test]
    fn a_file_in_memory_counts_once_while_it_is_open() {
        let here = std::process::id();
        let mut file = File::from(memfd_create("a", MemfdFlags::CLOEXEC).unwrap());
        file.write_all(&vec![1; 1 << 20]).unwrap();
        let other = file.try_clone().unwrap();
        let key = { (file.metadata().unwrap().dev(), file.metadata().unwrap().ino()) };
        let held = held_files([here, here]);
        assert_eq!(held.get(&key), Some(&(1 << 20)), "{held:?}");
        assert!(proportional([here], &held) > 1 << 20);
        drop((file, other));
        assert_eq!(held_files([here]).get(&key), None);
        // A file on a disk is none, whether it has a name or not.
        let mut on_disk = tempfile::tempfile_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        on_disk.write_all(&vec![1; 1 << 20]).unwrap();
        let inode = on_disk.metadata().unwrap().ino();
        assert!(!held_files([here]).keys().any(|(_, file)| *file == inode));
    }
}
