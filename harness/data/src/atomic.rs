//! Atomic replacement of files.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use tempfile::NamedTempFile;

/// Writes `path` through a temporary file in the same folder, which is created if missing. At any moment, also in a
/// crash, `path` is the old file or the new one, never a part of it.
pub(crate) fn write(
    path: &Path,
    fill: impl FnOnce(&mut BufWriter<&mut NamedTempFile>) -> io::Result<()>,
) -> io::Result<()> {
    let folder = folder_of(path);
    fs::create_dir_all(folder)?;
    let mut temporary = NamedTempFile::new_in(folder)?;
    {
        let mut writer = BufWriter::with_capacity(1 << 18, &mut temporary);
        fill(&mut writer)?;
        writer.flush()?;
    }
    allow_reading_by_others(temporary.as_file())?;
    temporary.as_file().sync_all()?;
    temporary.persist(path).map_err(|failed| failed.error)?;
    sync_folder(folder)
}

/// Renames a finished file to its final name, durably.
pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    File::open(from)?.sync_all()?;
    fs::rename(from, to)?;
    sync_folder(folder_of(to))
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Makes a rename in the folder durable.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// Makes a temporary file, which only its owner can read, readable for other users of a shared cache.
#[cfg(unix)]
fn allow_reading_by_others(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn allow_reading_by_others(_file: &File) -> io::Result<()> {
    Ok(())
}
