//! Files that appear whole or not at all.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use tempfile::NamedTempFile;

/// Writes `path` through a temporary file in the same folder, which is made if
/// need be. A reader, or a crash at any moment, sees the old file or the new
/// one, never a part of it.
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

/// Renames a finished file to its final name and makes that durable.
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

/// A rename is durable only once the folder that holds the name is.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// Temporary files are private to their owner; a data set in a shared cache is not.
#[cfg(unix)]
fn allow_reading_by_others(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn allow_reading_by_others(_file: &File) -> io::Result<()> {
    Ok(())
}
