//! Opening of files that may have been replaced by something else, such as a FIFO, a device or a link.
//!
//! Opening a FIFO waits for its other end, and a device may have no end. Both are refused. Links are followed for reading; what
//! is written through a link may be lost elsewhere, so that files of one owner are opened without links.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;

/// Opens a regular file for reading. Does not wait.
///
/// # Errors
/// Errors of the file system, and [`ErrorKind::InvalidInput`] if it is not a regular file.
pub fn open_regular(path: &Path) -> io::Result<File> {
    open(path, OpenOptions::new().read(true))
}

/// Reads a regular file of at most so many bytes. Does not wait.
///
/// # Errors
/// As [`open_regular`], and [`ErrorKind::InvalidInput`] if it has more bytes too.
pub fn read_regular(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = open_regular(path)?;
    let length = file.metadata()?.len();
    if length > most {
        return Err(too_large(most));
    }
    let mut bytes = Vec::with_capacity(length as usize);
    // The file may grow, and some file systems do not tell its length.
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most { Err(too_large(most)) } else { Ok(bytes) }
}

/// Opens a regular file for reading and appending, and creates it if it does not exist. Does not wait, and refuses a link.
///
/// # Errors
/// Errors of the file system, and [`ErrorKind::InvalidInput`] if it is not a regular file.
pub fn append_own(path: &Path) -> io::Result<File> {
    if fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink()) {
        return Err(link());
    }
    open(path, OpenOptions::new().read(true).append(true).create(true))
}

/// Fails if something other than a regular file has a path, such as a link, through which a file elsewhere would be written.
///
/// # Errors
/// [`ErrorKind::InvalidInput`].
pub fn refuse_irregular(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => Err(link()),
        Ok(found) if !found.is_file() => Err(irregular()),
        _ => Ok(()),
    }
}

/// Fails if something other than a folder has a path, such as a link, through which files elsewhere would be written.
///
/// # Errors
/// [`ErrorKind::InvalidInput`].
pub fn refuse_linked_folder(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => Err(link()),
        Ok(found) if !found.is_dir() => Err(io::Error::new(ErrorKind::InvalidInput, "it is not a folder")),
        _ => Ok(()),
    }
}

/// Opens a regular file for appending, and creates it if it does not exist. Does not wait.
///
/// # Errors
/// Errors of the file system, and [`ErrorKind::InvalidInput`] if it is not a regular file.
pub fn append_regular(path: &Path) -> io::Result<File> {
    open(path, OpenOptions::new().append(true).create(true))
}

fn open(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    // Without this flag, opening a FIFO waits for its other end. It has no effect on a regular file.
    let file = match options.custom_flags(OFlags::NONBLOCK.bits() as i32).open(path) {
        Ok(file) => file,
        // The system refuses sockets, folders and FIFOs without a reader with different errors.
        Err(_) if fs::metadata(path).is_ok_and(|found| !found.is_file()) => return Err(irregular()),
        Err(error) => return Err(error),
    };
    if file.metadata()?.is_file() { Ok(file) } else { Err(irregular()) }
}

fn too_large(most: u64) -> io::Error {
    io::Error::new(ErrorKind::InvalidInput, format!("it has more than {most} bytes, the most that are read"))
}

fn link() -> io::Error {
    io::Error::new(
        ErrorKind::InvalidInput,
        "it is a link, and gpbench writes to its own files alone; remove the link",
    )
}

fn irregular() -> io::Error {
    io::Error::new(ErrorKind::InvalidInput, "it is not a regular file")
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    #[test]
    fn what_is_not_a_regular_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (fifo, socket) = (folder.path().join("fifo"), folder.path().join("socket"));
        mknodat(CWD, &fifo, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        let _listener = UnixListener::bind(&socket).unwrap();
        for path in [&fifo, &socket, folder.path(), Path::new("/dev/zero")] {
            for opened in [open_regular(path), append_regular(path)] {
                let error = opened.unwrap_err();
                assert_eq!(error.kind(), ErrorKind::InvalidInput, "{}: {error}", path.display());
                assert_eq!(error.to_string(), "it is not a regular file");
            }
        }
    }

    #[test]
    fn what_has_no_end_or_is_too_large_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let (path, zeros) = (folder.path().join("rows"), folder.path().join("zeros"));
        fs::write(&path, "four").unwrap();
        assert_eq!(read_regular(&path, 4).unwrap(), b"four");
        assert_eq!(read_regular(&path, 3).unwrap_err().kind(), ErrorKind::InvalidInput);
        symlink("/dev/zero", &zeros).unwrap();
        assert_eq!(read_regular(&zeros, 4).unwrap_err().kind(), ErrorKind::InvalidInput);
        // A file without blocks takes no memory either.
        File::create(&path).unwrap().set_len(1 << 40).unwrap();
        assert_eq!(read_regular(&path, 4).unwrap_err().kind(), ErrorKind::InvalidInput);
    }

    #[test]
    fn links_are_refused_where_files_are_written() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("file"), "old").unwrap();
        for (link, target) in [("to-file", "file"), ("to-folder", "."), ("to-nothing", "gone")] {
            symlink(target, at(link)).unwrap();
            for error in [
                append_own(&at(link)).unwrap_err(),
                refuse_irregular(&at(link)).unwrap_err(),
                refuse_linked_folder(&at(link)).unwrap_err(),
            ] {
                assert!(error.to_string().starts_with("it is a link"), "{link}: {error}");
            }
        }
        assert!(!at("gone").exists());
        assert_eq!(append_own(folder.path()).unwrap_err().to_string(), "it is not a regular file");
        append_own(&at("file")).unwrap().write_all(b", new").unwrap();
        assert_eq!(fs::read_to_string(at("file")).unwrap(), "old, new");
        refuse_irregular(&at("file")).unwrap();
        refuse_irregular(&at("new")).unwrap();
        refuse_linked_folder(folder.path()).unwrap();
        assert!(refuse_irregular(folder.path()).is_err() && refuse_linked_folder(&at("file")).is_err());
    }

    #[test]
    fn a_fifo_with_a_reader_is_refused_too() {
        let folder = tempfile::tempdir().unwrap();
        let fifo = folder.path().join("fifo");
        mknodat(CWD, &fifo, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        let _both_ends = OpenOptions::new().read(true).write(true).open(&fifo).unwrap();
        assert_eq!(append_regular(&fifo).unwrap_err().kind(), ErrorKind::InvalidInput);
        assert_eq!(open_regular(&fifo).unwrap_err().kind(), ErrorKind::InvalidInput);
    }

    #[test]
    fn regular_files_are_made_appended_to_and_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        assert_eq!(open_regular(&path).unwrap_err().kind(), ErrorKind::NotFound);
        for word in ["one ", "two"] {
            append_regular(&path).unwrap().write_all(word.as_bytes()).unwrap();
        }
        let mut text = String::new();
        open_regular(&path).unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "one two");
        let nowhere = append_regular(&path.join("below")).unwrap_err();
        assert_eq!(nowhere.kind(), ErrorKind::NotADirectory);
    }
}
