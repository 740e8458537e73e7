//! Atomic replacement of a file.

use std::fs::{self, File, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::process_tag;

/// Bytes that are collected before they are written.
pub(crate) const BUFFER: usize = 1 << 18;

/// Data that a power cut may destroy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Everything, since only the processes of this run use the file. The call does not wait for the disk.
    ThisRun,
    /// The replacement, but no part of the content: the path refers to the old file or to the complete new one.
    Whole,
    /// Nothing: the new file and its name are on the disk when the call returns.
    Durable,
}

/// Writes `path` through a temporary file in the same folder, which must exist.
///
/// # Errors
/// Errors of the file system and of `fill`. The old file is then unchanged, and the temporary one is removed.
pub fn replace(
    path: &Path,
    durability: Durability,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    replace_with(path, durability, |file| {
        let mut writer = BufWriter::with_capacity(BUFFER, file);
        fill(&mut writer)?;
        writer.flush()
    })
}

/// [`replace`] for callers that buffer by themselves.
pub(crate) fn replace_with(
    path: &Path,
    durability: Durability,
    fill: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<()> {
    let mut prefix = path.file_name().ok_or(io::ErrorKind::InvalidFilename)?.to_owned();
    prefix.push(format!(".{}.", process_tag()));
    let mut temporary = tempfile::Builder::new()
        .prefix(&prefix)
        .suffix(".part")
        // The user's mask is subtracted. By default, a temporary file would be private.
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(folder_of(path))?;
    fill(temporary.as_file_mut())?;
    if durability != Durability::ThisRun {
        temporary.as_file().sync_all()?;
    }
    temporary.persist(path).map_err(|failed| failed.error)?;
    if durability == Durability::Durable { sync_folder(folder_of(path)) } else { Ok(()) }
}

/// Gives a finished file its final name in the same folder. Both are on the disk when the call returns.
///
/// # Errors
/// Errors of the file system.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    File::open(from)?.sync_all()?;
    fs::rename(from, to)?;
    sync_folder(folder_of(to))
}

/// Waits until the names in a folder are on the disk: synchronising a file says nothing about its name.
///
/// # Errors
/// Errors of the file system. File systems that cannot synchronise folders, such as some network file systems, give
/// none.
pub fn sync_folder(path: &Path) -> io::Result<()> {
    match File::open(path)?.sync_all() {
        Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => {
            Ok(())
        }
        synced => synced,
    }
}

/// The folder of a file.
pub(crate) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use crate::remove_stale;

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_file_is_replaced_whatever_the_durability() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.bin");
        for (text, durability) in
            [("old", Durability::ThisRun), ("new", Durability::Whole), ("newest", Durability::Durable)]
        {
            replace(&path, durability, |file| file.write_all(text.as_bytes())).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o700, 0o600, "{mode:o}");
        assert_eq!(names(folder.path()), ["a.bin"]);
    }

    #[test]
    fn a_failure_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.bin");
        fs::write(&path, "old").unwrap();
        let failed = replace(&path, Durability::Durable, |file| {
            file.write_all(b"new")?;
            Err(io::Error::other("no more"))
        });
        assert_eq!(failed.unwrap_err().to_string(), "no more");
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(names(folder.path()), ["a.bin"]);
        assert!(replace(&folder.path().join("gone/a.bin"), Durability::ThisRun, |_| Ok(())).is_err());
    }

    #[test]
    fn the_file_being_written_names_its_process() {
        let folder = tempfile::tempdir().unwrap();
        let begins = format!("a.bin.{}.", process_tag());
        replace(&folder.path().join("a.bin"), Durability::ThisRun, |_| {
            let names = names(folder.path());
            assert!(names[0].starts_with(&begins) && names[0].ends_with(".part"), "{names:?}");
            remove_stale(folder.path());
            Ok(())
        })
        .unwrap();
        assert_eq!(names(folder.path()), ["a.bin"]);
    }

    #[test]
    fn a_finished_file_is_renamed() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("a.part"), folder.path().join("a"));
        fs::write(&from, "whole").unwrap();
        rename(&from, &to).unwrap();
        assert_eq!(names(folder.path()), ["a"]);
    }
}
