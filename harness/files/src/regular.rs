//! Opening of files that may have been replaced by something else, such as a FIFO or a device.
//!
//! Opening a FIFO waits for its other end, and a device may have no end. Both are refused.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
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

fn irregular() -> io::Error {
    io::Error::new(ErrorKind::InvalidInput, "it is not a regular file")
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
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
