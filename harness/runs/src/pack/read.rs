//! Unpacks a run, which a stranger may have packed.

use std::fs::{self, File};
use std::io::{self, BufReader, Read as _, Seek as _, Write as _};
use std::path::Path;

use gpbench_files::checksum::{Checksum, verify};
use gpbench_files::{open_regular, process_tag};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use tar::{Archive, Entries, Entry, EntryType};
use zstd::stream::read::Decoder;

use super::fault::PackFault;
use super::manifest::{
    MANIFEST, MOST_MANIFEST_BYTES, MOST_PATH, PackManifest, PackedEntry, at_most, is_path_of_run,
};
use crate::RunError;
use crate::error::Context as _;
use crate::layout::{FIGURES, PACK_FORMAT, SOLUTIONS};
use crate::limits::{PACKED_VALUES, values};

/// The first bytes of a file that zstd has compressed.
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Bytes that are copied at a time.
const BUFFER: usize = 1 << 16;

/// The decompressed content of a packed run.
type Content = Decoder<'static, BufReader<File>>;

/// Unpacks a packed run as the folder `into`, which must not exist. The folder has its name once it is complete.
///
/// # Errors
/// [`RunError::Packed`] where the file is no packed run, or is not what its manifest states; those of the file
/// system. Nothing is left then.
pub fn unpack(file: &Path, into: &Path) -> Result<PackManifest, RunError> {
    let mut partial = into.file_name().unwrap_or_default().to_owned();
    partial.push(format!(".{}.part", process_tag()));
    let partial = into.with_file_name(partial);
    let _ = fs::remove_dir_all(&partial);
    let opened = open_regular(file).context("read", file)?;
    fs::create_dir_all(&partial).context("create", &partial)?;
    let read = unpack_into(opened, &partial)
        .map_err(|fault| RunError::Packed { file: file.to_owned(), fault })
        .and_then(|manifest| fs::rename(&partial, into).context("create", into).map(|()| manifest));
    read.inspect_err(|_| drop(fs::remove_dir_all(&partial)))
}

/// The manifest of a packed run, without reading further.
///
/// # Errors
/// As [`unpack`].
pub fn read_manifest(file: &Path) -> Result<PackManifest, RunError> {
    let opened = open_regular(file).context("read", file)?;
    let read = || {
        let mut archive = Archive::new(content(opened)?);
        first(&mut archive.entries()?.raw(true))
    };
    read().map_err(|fault| RunError::Packed { file: file.to_owned(), fault })
}

/// Decompresses a file, which must be a compressed one.
fn content(mut file: File) -> Result<Content, PackFault> {
    let mut magic = [0; MAGIC.len()];
    let is_compressed = match file.read_exact(&mut magic) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => false,
        read => read.map(|()| magic == MAGIC)?,
    };
    if !is_compressed {
        return Err(PackFault::NotPacked);
    }
    file.rewind()?;
    Ok(Decoder::new(file)?)
}

/// Writes all files below a folder.
fn unpack_into(file: File, folder: &Path) -> Result<PackManifest, PackFault> {
    let mut archive = Archive::new(content(file)?);
    // Otherwise the reader would keep names of any length in memory.
    let mut entries = archive.entries()?.raw(true);
    let manifest = first(&mut entries)?;
    for name in [FIGURES, SOLUTIONS] {
        if manifest.entries.iter().any(|entry| entry.is_in(name)) {
            let path = folder.join(name);
            fs::create_dir(&path).map_err(|source| PackFault::Unwritable { path, source })?;
        }
    }
    let mut expected = manifest.entries.iter();
    while let Some((path, entry)) = next(&mut entries)? {
        let Some(expected) = expected.next().filter(|expected| expected.path == path) else {
            return Err(PackFault::Unlisted { path });
        };
        write(entry, expected, folder)?;
    }
    match expected.next() {
        Some(missing) => Err(PackFault::Missing { path: missing.path.clone() }),
        None => Ok(manifest),
    }
}

/// The manifest, which is the first entry.
fn first(entries: &mut Entries<'_, Content>) -> Result<PackManifest, PackFault> {
    let (path, mut entry) = next(entries)?.ok_or(PackFault::NotPacked)?;
    if path != MANIFEST {
        return Err(PackFault::NotPacked);
    }
    at_most("its manifest", entry.size(), MOST_MANIFEST_BYTES)?;
    let mut text = Vec::new();
    entry.read_to_end(&mut text)?;
    parse(&text)
}

/// What decides whether the rest of a manifest is read.
#[derive(Deserialize)]
struct Form {
    format: Option<u64>,
}

/// Reads the text of a manifest.
fn parse(text: &[u8]) -> Result<PackManifest, PackFault> {
    let damaged = |reason: String| PackFault::Manifest { reason };
    let Form { format } = serde_json::from_slice(text).map_err(|error| damaged(error.to_string()))?;
    match format {
        Some(format) if format > u64::from(PACK_FORMAT) => return Err(PackFault::Newer { format }),
        Some(_) => {}
        None => return Err(damaged("it has no `format`".to_owned())),
    }
    if verify(text) != Checksum::Right {
        return Err(damaged("its checksum is wrong".to_owned()));
    }
    let manifest: PackManifest = serde_json::from_slice(text).map_err(|error| damaged(error.to_string()))?;
    manifest.check()?;
    Ok(manifest)
}

/// The next regular file and its path; `None` at the end.
fn next<'a>(entries: &mut Entries<'a, Content>) -> Result<Option<(String, Entry<'a, Content>)>, PackFault> {
    // A path of more than a hundred bytes is the content of an entry before its file.
    let mut long: Option<Vec<u8>> = None;
    for entry in entries.by_ref() {
        let mut entry = entry?;
        let kind = entry.header().entry_type();
        if kind == EntryType::GNULongName && long.is_none() {
            at_most("a path", entry.size(), MOST_PATH + 1)?;
            let mut path = Vec::new();
            entry.read_to_end(&mut path)?;
            long = Some(path);
            continue;
        }
        let path = long.take().unwrap_or_else(|| entry.path_bytes().into_owned());
        let path = String::from_utf8_lossy(&path).trim_end_matches('\0').to_owned();
        if kind != EntryType::Regular {
            return Err(PackFault::NotAFile { path });
        }
        if path != MANIFEST && !is_path_of_run(&path) {
            return Err(PackFault::Path { path });
        }
        return Ok(Some((path, entry)));
    }
    Ok(None)
}

/// Writes an entry as a file, and checks its content.
fn write(mut entry: Entry<'_, Content>, expected: &PackedEntry, folder: &Path) -> Result<(), PackFault> {
    let PackedEntry { path: name, bytes, sha256 } = expected;
    let changed = || PackFault::Changed { path: name.clone() };
    if entry.size() != *bytes {
        return Err(changed());
    }
    let path = folder.join(name);
    let unwritable = |source| PackFault::Unwritable { path: path.clone(), source };
    let mut file = File::create_new(&path).map_err(unwritable)?;
    let (mut hasher, mut buffer, mut count) = (Sha256::new(), vec![0; BUFFER], 0);
    loop {
        let part = match entry.read(&mut buffer)? {
            0 => break,
            read => &buffer[..read],
        };
        count += values(part);
        if expected.is_parsed() && count > PACKED_VALUES {
            return Err(PackFault::TooManyValues { path: name.clone(), most: PACKED_VALUES });
        }
        hasher.update(part);
        file.write_all(part).map_err(unwritable)?;
    }
    let found: String = hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    if found == *sha256 { Ok(()) } else { Err(changed()) }
}
