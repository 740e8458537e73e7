//! The bytes of a text file: decompressed, and never without an end.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::rc::Rc;

use flate2::read::MultiGzDecoder;

use crate::error::{ImportError, InputPosition};
use crate::fault::FileFault;
use crate::format::other_format;

pub(crate) const BUFFER: usize = 1 << 18;
/// First bytes of a gzip file.
pub(crate) const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// A reader that fails after a given number of bytes.
pub(crate) struct Allowed<R> {
    pub(crate) reader: R,
    pub(crate) left: Rc<std::cell::Cell<usize>>,
}

impl<R: Read> Read for Allowed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        // Bytes read ahead with the previous line count for this one: one buffer at most.
        match self.left.get().checked_sub(read) {
            Some(left) => self.left.set(left),
            None => return Err(io::ErrorKind::FileTooLarge.into()),
        }
        Ok(read)
    }
}

/// Opens a table of text. Its first bytes decide whether it is compressed, not its name.
///
/// # Errors
/// If the file cannot be read, or begins as a file of another format does.
pub(crate) fn decompress(file: &Path) -> Result<Box<dyn BufRead>, ImportError> {
    let error = |error: io::Error| InputPosition::file(file).io(&error);
    let mut reader = BufReader::with_capacity(BUFFER, File::open(file).map_err(error)?);
    let compressed = reader.fill_buf().map_err(error)?.starts_with(&GZIP_MAGIC);
    let mut text: Box<dyn BufRead> = if compressed {
        Box::new(BufReader::with_capacity(BUFFER, MultiGzDecoder::new(reader)))
    } else {
        Box::new(reader)
    };
    let head = text.fill_buf().map_err(error)?;
    if let Some(format) = other_format(head) {
        return Err(InputPosition::file(file).fault(FileFault::Format(format)));
    }
    if !compressed && file.extension().is_some_and(|extension| extension == "gz") {
        let reason = "it does not begin as a gzip file does".to_owned();
        return Err(InputPosition::file(file).fault(FileFault::Gzip { reason }));
    }
    if head.contains(&b'\r') && !head.contains(&b'\n') {
        return Err(InputPosition::file(file).fault(FileFault::CarriageReturns));
    }
    Ok(text)
}

/// The first lines of a table of text that are neither blank nor comments, without their ends.
pub(crate) fn first_lines(
    file: &Path,
    most: usize,
    comment: Option<char>,
) -> Result<Vec<String>, ImportError> {
    let mut bytes = Vec::new();
    let head = decompress(file)?.take(BUFFER as u64).read_to_end(&mut bytes);
    head.map_err(|error| InputPosition::file(file).io(&error))?;
    let text = String::from_utf8_lossy(&bytes);
    // The last line may be cut.
    let whole = match text.rsplit_once('\n') {
        Some((whole, _)) if bytes.len() == BUFFER => whole,
        _ => &text,
    };
    let is_comment = |line: &str| comment.is_some_and(|mark| line.starts_with(mark));
    let lines = whole.lines().filter(|line| !line.trim().is_empty() && !is_comment(line));
    Ok(lines.take(most).map(str::to_owned).collect())
}
