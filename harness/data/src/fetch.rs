//! Downloads the files of a set into the cache.
//!
//! A file gets its final name only when it is complete and its digest is right, so files in the cache are valid. Two
//! processes that download the same set wait for each other.

mod download;

use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use gpbench_files::{Durability, FileLock, Locking, replace};
use thiserror::Error;

pub use download::DownloadError;

use crate::hash::Sha256Hex;
use crate::locate::{self, CACHE_VARIABLE, Found, NotFound, SearchPlace, SearchPlaces};
use crate::registry::{RegistryEntry, RemoteFile, is_file_name};
use crate::verify::{record_path, recorded};

/// Progress of a download.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress<'a> {
    /// Name of the file.
    pub file: &'a str,
    /// Bytes received.
    pub done: u64,
    /// Length of the file, if known.
    pub total: Option<u64>,
}

/// Why a set could not be downloaded.
#[derive(Debug, Error)]
pub enum FetchError {
    /// A download failed.
    #[error("could not download {url}: {source}")]
    Download {
        /// The address.
        url: String,
        /// Why.
        source: DownloadError,
    },
    /// The cache cannot be written.
    #[error(
        "the cache cannot be written: {}: {source}; set {CACHE_VARIABLE} to a folder that can be written",
        path.display()
    )]
    Cache {
        /// File or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A name that is not a plain file name and could leave the cache.
    #[error("`{name}` is not a valid name of a data set or of its files")]
    Name {
        /// The name.
        name: String,
    },
}

/// A set that is neither on this machine nor available for download.
#[derive(Debug, Error)]
#[error("{fetch}\n{not_found}")]
pub struct Unavailable {
    /// The places that were searched.
    pub not_found: NotFound,
    /// Why the download failed.
    #[source]
    pub fetch: FetchError,
}

/// Finds a set, or downloads it if it is not on this machine.
///
/// # Errors
/// If neither succeeds.
pub fn obtain(
    entry: &RegistryEntry,
    places: &SearchPlaces,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Found, Unavailable> {
    match locate::locate(entry, places) {
        Ok(found) => Ok(found),
        Err(not_found) => fetch(entry, places, progress).map_err(|fetch| Unavailable { not_found, fetch }),
    }
}

/// Downloads the files of a set that the cache lacks, and replaces those with a wrong digest.
///
/// # Errors
/// If a download fails or the cache cannot be written.
pub fn fetch(
    entry: &RegistryEntry,
    places: &SearchPlaces,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Found, FetchError> {
    let names = std::iter::once(&entry.name).chain(entry.files.iter().map(|file| &file.name));
    if let Some(name) = names.into_iter().find(|name| !is_file_name(name)) {
        return Err(FetchError::Name { name: name.clone() });
    }
    let folder = places.downloads().join(&entry.name);
    let _lock = lock(&folder).map_err(|source| FetchError::Cache { path: folder.clone(), source })?;
    let agent = download::agent();
    let url = places.url(entry);
    let mut files = Vec::new();
    for file in &entry.files {
        let path = folder.join(&file.name);
        if !is_good(file, &path).map_err(|source| FetchError::Cache { path: path.clone(), source })? {
            let url = format!("{url}/{}", file.name);
            let digest = download::download(&agent, &url, &path, file, progress)
                .map_err(|source| FetchError::Download { url, source })?;
            if file.sha256.is_none() {
                record(&path, &digest).map_err(|source| FetchError::Cache { path: path.clone(), source })?;
            }
        }
        files.push(path);
    }
    Ok(Found { place: SearchPlace::Cache, folder, files })
}

/// Locks a set for a download, on all hosts that share the cache. The lock ends with its holder, also in a crash.
fn lock(folder: &Path) -> io::Result<FileLock> {
    fs::create_dir_all(folder)?;
    let mut options = OpenOptions::new();
    let path = folder.join(".lock");
    let file = regular(options.create(true).append(true)).open(&path)?;
    FileLock::lock(&file, &path, Locking::default())
}

/// Refuses to write through a symbolic link: in a cache that others can write to, it may point to any file of this
/// user.
#[cfg(unix)]
fn regular(options: &mut OpenOptions) -> &mut OpenOptions {
    use std::os::unix::fs::OpenOptionsExt;
    options.custom_flags(libc::O_NOFOLLOW)
}

#[cfg(not(unix))]
fn regular(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

/// Whether a file exists and has its registered or recorded digest.
fn is_good(file: &RemoteFile, path: &Path) -> io::Result<bool> {
    if !path.is_file() {
        return Ok(false);
    }
    match file.sha256.clone().or_else(|| recorded(path)) {
        Some(expected) => Ok(Sha256Hex::of_file(path)? == expected),
        None => Ok(false),
    }
}

/// Writes the digest of a first download in the format of `sha256sum -c`.
fn record(path: &Path, digest: &Sha256Hex) -> io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let line = format!("{digest}  {name}\n");
    replace(&record_path(path), Durability::Durable, |file| file.write_all(line.as_bytes()))
}
