//! The bytes of a text file: decompressed, and never without an end.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::rc::Rc;

use flate2::read::MultiGzDecoder;

use crate::error::{FileFault, ImportError, InputPosition};

pub(crate) const BUFFER: usize = 1 << 18;
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

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

/// Opens a file. Its first bytes decide whether it is compressed, not its name.
pub(crate) fn decompress(file: &Path) -> Result<Box<dyn Read>, ImportError> {
    let error = |error: io::Error| InputPosition::file(file).io(&error);
    let mut reader = BufReader::with_capacity(BUFFER, File::open(file).map_err(error)?);
    let compressed = reader.fill_buf().map_err(error)?.starts_with(&GZIP_MAGIC);
    if compressed {
        return Ok(Box::new(MultiGzDecoder::new(reader)));
    }
    if file.extension().is_some_and(|extension| extension == "gz") {
        let reason = "it does not begin as a gzip file does".to_owned();
        return Err(InputPosition::file(file).fault(FileFault::Gzip { reason }));
    }
    Ok(Box::new(reader))
}
