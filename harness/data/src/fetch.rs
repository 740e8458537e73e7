//! Brings the files of a set into the cache.
//!
//! A file gets its final name only when it is whole and its digest is right, so
//! whatever stands in the cache is good. Two processes that want the same set
//! wait for each other.

mod download;

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use gpbench_files::{Durability, replace};
use thiserror::Error;

pub use download::DownloadError;

use crate::hash::Sha256Hex;
use crate::locate::{self, CACHE_VARIABLE, Found, NotFound, Place, Places};
use crate::registry::{Entry, RemoteFile, is_file_name};
use crate::verify::{record_path, recorded};

/// How far a download is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress<'a> {
    /// Name of the file under way.
    pub file: &'a str,
    /// Bytes of it at hand.
    pub done: u64,
    /// Bytes it has, where known.
    pub total: Option<u64>,
}

/// A set that could not be fetched.
#[derive(Debug, Error)]
pub enum FetchError {
    /// A download went wrong.
    #[error("could not download {url}: {source}")]
    Download {
        /// The address.
        url: String,
        /// Why.
        source: DownloadError,
    },
    /// The cache cannot be written.
    #[error(
        "the cache cannot be written: {}: {source}; set {CACHE_VARIABLE} to a folder that can",
        path.display()
    )]
    Cache {
        /// File or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A name that would leave the cache's folder.
    #[error("`{name}` is not a name that a data set or its files may have")]
    Name {
        /// The name.
        name: String,
    },
}

/// A set that is neither at hand nor to be had.
#[derive(Debug, Error)]
#[error("{fetch}\n{not_found}")]
pub struct Unavailable {
    /// Where it was looked for.
    pub not_found: NotFound,
    /// Why it could not be fetched.
    #[source]
    pub fetch: FetchError,
}

/// Finds a set, and downloads it if it is nowhere to be found.
pub fn obtain(
    entry: &Entry,
    places: &Places,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Found, Unavailable> {
    match locate::locate(entry, places) {
        Ok(found) => Ok(found),
        Err(not_found) => fetch(entry, places, progress).map_err(|fetch| Unavailable { not_found, fetch }),
    }
}

/// Downloads into the cache whatever of a set is not there yet.
///
/// Files that are there are checked and, if they fail, replaced.
pub fn fetch(
    entry: &Entry,
    places: &Places,
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
    Ok(Found { place: Place::Cache, folder, files })
}

/// Held while a set is being fetched; the lock falls with the file handle, also in a crash.
fn lock(folder: &Path) -> io::Result<File> {
    fs::create_dir_all(folder)?;
    let mut options = OpenOptions::new();
    let lock = regular(options.create(true).append(true)).open(folder.join(".lock"))?;
    lock.lock()?;
    Ok(lock)
}

/// Refuses to write through a symbolic link: in a cache that others can write to, it may lead to any file of
/// this user's.
#[cfg(unix)]
fn regular(options: &mut OpenOptions) -> &mut OpenOptions {
    use std::os::unix::fs::OpenOptionsExt;
    options.custom_flags(libc::O_NOFOLLOW)
}

#[cfg(not(unix))]
fn regular(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

/// Whether a file is there with the digest that is registered or recorded for it.
fn is_good(file: &RemoteFile, path: &Path) -> io::Result<bool> {
    if !path.is_file() {
        return Ok(false);
    }
    match file.sha256.clone().or_else(|| recorded(path)) {
        Some(expected) => Ok(Sha256Hex::of_file(path)? == expected),
        None => Ok(false),
    }
}

/// Keeps the digest of a first download in the form that `sha256sum -c` reads.
fn record(path: &Path, digest: &Sha256Hex) -> io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let line = format!("{digest}  {name}\n");
    replace(&record_path(path), Durability::Durable, |file| file.write_all(line.as_bytes()))
}
