//! The binary copy of a file, written once.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use gpbench_data::{FileReading, Names, Sha256Hex, content, copy, verify};
use gpbench_record::ReadOptions;

use crate::error::{ImportError, InputPosition};
use crate::fault::FileFault;
use crate::{ImportSource, collection, import};

/// Version of the reader. A new one gives new names, as does a new format: programs of two versions never replace each
/// other's copies.
const READER: u32 = 7;
/// Folder of remembered digests of source files, beside the copies.
const CONTENTS: &str = "contents";

/// A binary copy in the cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Materialised {
    /// Name of the data set.
    pub name: String,
    /// The copy.
    pub path: PathBuf,
    /// Identity of its content.
    pub sha256: Sha256Hex,
    /// Rows.
    pub n: usize,
    /// Inputs.
    pub d: usize,
    /// Number of splits that come with the set; 0 where splits are drawn.
    pub splits: usize,
    /// Names of its columns.
    pub names: Names,
    /// Warnings from reading the file.
    pub warnings: Vec<String>,
    /// What was understood of a user's own file.
    pub reading: FileReading,
    /// Whether the copy was written just now, rather than found.
    pub is_new: bool,
}

impl Materialised {
    /// Training rows of one of its splits; approximate where the splits come with the set.
    pub fn training_rows(&self) -> usize {
        gpbench_data::drawn_training_rows(self.n)
    }
}

/// Finds the binary copy of a data set in the folder `copies`, or writes it.
///
/// A copy is identified by the path and the content of every file that it comes from, and by how they are read: a changed
/// file gets a new copy, and an unchanged one is not read again.
///
/// # Errors
/// Those of [`import`], and where the copy cannot be written or a file changes while it is read.
pub fn materialise(origin: &ImportSource<'_>, copies: &Path) -> Result<Materialised, ImportError> {
    let name = file_name(origin, copies)?;
    let path = copies.join(&name);
    if let Some(found) = find_named(&path) {
        return Ok(found);
    }
    let table = import(origin)?;
    if file_name(origin, copies)? != name {
        return Err(InputPosition::file(origin.path()).fault(FileFault::Changing));
    }
    again_where_vanished(|| {
        copy::write(&table, &path)
            .map_err(|error| InputPosition::file(&path).fault(FileFault::Copy(error)))?;
        open_new(path.clone())
    })
}

/// Makes a copy again where it has vanished since: another process may remove the folder of copies at any time.
pub(crate) fn again_where_vanished(
    mut make: impl FnMut() -> Result<Materialised, ImportError>,
) -> Result<Materialised, ImportError> {
    const TRIES: usize = 10;
    for _ in 1..TRIES {
        match make() {
            Err(ImportError { fault: FileFault::Copy(error), .. }) if error.is_missing() => {}
            ended => return ended,
        }
    }
    make()
}

/// Finds the binary copy of a data set; none where it is missing, is damaged or has an older format.
pub(crate) fn find(origin: &ImportSource<'_>, copies: &Path) -> Result<Option<Materialised>, ImportError> {
    Ok(find_named(&copies.join(file_name(origin, copies)?)))
}

fn find_named(path: &Path) -> Option<Materialised> {
    copy::header(path).ok().map(|header| ready(path.to_owned(), header, false))
}

/// Describes a binary copy that was written just now.
pub(crate) fn open_new(path: PathBuf) -> Result<Materialised, ImportError> {
    match copy::header(&path) {
        Ok(header) => Ok(ready(path, header, true)),
        Err(error) => Err(InputPosition::file(&path).fault(FileFault::Copy(error))),
    }
}

fn ready(path: PathBuf, header: copy::Header, is_new: bool) -> Materialised {
    let copy::Header { name, n, d, splits, sha256, names, warnings, reading, keys: _ } = header;
    Materialised { name, path, sha256, n, d, splits, names, warnings, reading, is_new }
}

/// The name of the copy: the name of the data set, then a hash of the key.
fn file_name(origin: &ImportSource<'_>, copies: &Path) -> Result<String, ImportError> {
    let mut key = format!("reader {READER}, format {}\n", copy::VERSION);
    let mut add = |line: String| writeln!(key, "{line}").expect("a string takes any text");
    let (stem, files, options) = match *origin {
        ImportSource::Collection(found, entry) => {
            (entry.name.clone(), found.files.clone(), &ReadOptions::default())
        }
        ImportSource::File { path, options } if path.is_dir() => {
            (crate::text::stem(path), collection::files(path)?, options)
        }
        ImportSource::File { path, options } => (crate::text::stem(path), vec![path.to_owned()], options),
        ImportSource::HeldOut { path, test, options } => {
            (crate::text::stem(path), vec![path.to_owned(), test.to_owned()], options)
        }
    };
    for file in &files {
        let error = |error| InputPosition::file(file).io(&error);
        let full = fs::canonicalize(file).map_err(error)?;
        if !full.is_file() {
            return Err(InputPosition::file(file).fault(FileFault::NotAFile));
        }
        let digest = content::digest(&full, &copies.join(CONTENTS)).map_err(error)?;
        add(format!("{digest} {full:?}"));
        if let ImportSource::Collection(_, entry) = origin {
            // Warnings of the copy depend on what was expected.
            add(format!("{:?}", verify::expected(entry, file)));
        }
    }
    add(format!("{options:?}"));
    let digest = Sha256Hex::of_bytes(key.as_bytes());
    let stem: String = stem.chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).take(40).collect();
    Ok(format!("{stem}-{}.gpb", &digest.as_str()[..16]))
}
