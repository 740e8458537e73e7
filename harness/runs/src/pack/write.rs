//! Packs a run.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use gpbench_files::checksum::seal;
use gpbench_files::{Durability, open_regular, replace};
use gpbench_record::sha256_hex;
use tar::{Builder, EntryType, Header};
use zstd::stream::write::Encoder;

use super::manifest::{MANIFEST, PackManifest, PackedEntry, is_path_of_run};
use crate::RunError;
use crate::error::Context as _;
use crate::layout::{FIGURES, SOLUTIONS};

/// Level of compression, from 1 (fast) to 22 (small).
const LEVEL: i32 = 9;

/// Packs the files of a folder, in which the run `about` lies, into a file. Returns the manifest: `about` with its
/// entries.
///
/// Equal files give equal bytes.
///
/// # Errors
/// If a file cannot be read, the packed run cannot be written, or it would be one that [`super::unpack`] refuses.
pub fn pack(folder: &Path, about: PackManifest, file: &Path) -> Result<PackManifest, RunError> {
    let manifest = PackManifest { entries: packed_entries(folder)?, ..about };
    manifest.check().map_err(|fault| RunError::Packed { file: file.to_owned(), fault })?;
    replace(file, Durability::Durable, |out| write(out, folder, &manifest)).context("write", file)?;
    Ok(manifest)
}

/// The files of a run in a folder that are packed, by path.
///
/// # Errors
/// If one cannot be read.
pub fn packed_entries(folder: &Path) -> Result<Vec<PackedEntry>, RunError> {
    let mut paths = Vec::new();
    for (prefix, folder) in [
        (String::new(), folder.to_owned()),
        (format!("{FIGURES}/"), folder.join(FIGURES)),
        (format!("{SOLUTIONS}/"), folder.join(SOLUTIONS)),
    ] {
        let found = match fs::read_dir(&folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            found => found.context("read", &folder)?,
        };
        for entry in found {
            let entry = entry.context("read", &folder)?;
            let path = entry.file_name().to_str().map(|name| format!("{prefix}{name}"));
            let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
            paths.extend(path.filter(|path| is_file && is_path_of_run(path)));
        }
    }
    paths.sort();
    paths.into_iter().map(|path| entry(folder, path)).collect()
}

fn entry(folder: &Path, path: String) -> Result<PackedEntry, RunError> {
    let file = folder.join(&path);
    let opened = open_regular(&file).context("read", &file)?;
    let bytes = opened.metadata().context("read", &file)?.len();
    Ok(PackedEntry { bytes, sha256: sha256_hex(opened).context("read", &file)?, path })
}

/// Writes the archive.
fn write(out: &mut dyn Write, folder: &Path, manifest: &PackManifest) -> io::Result<()> {
    let mut encoder = Encoder::new(out, LEVEL)?;
    encoder.include_checksum(true)?;
    let mut archive = Builder::new(encoder);
    let text =
        seal(&serde_json::to_vec_pretty(manifest).expect("plain data with text keys always serialises"));
    archive.append_data(&mut header(text.len() as u64), MANIFEST, &*text)?;
    for PackedEntry { path, bytes, .. } in &manifest.entries {
        archive.append_data(&mut header(*bytes), path, File::open(folder.join(path))?)?;
    }
    archive.into_inner()?.finish()?;
    Ok(())
}

/// The header of a regular file without owner and time.
fn header(bytes: u64) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(EntryType::Regular);
    header.set_size(bytes);
    header.set_mode(0o644);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(0);
    header
}
