//! Downloads one file over HTTP: resumes, checks, and renames it to its final name.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use thiserror::Error;
use ureq::http::{Response, StatusCode, header};
use ureq::{Agent, Body};

use super::{Progress, regular};
use crate::hash::Sha256Hex;
use crate::registry::RemoteFile;

/// Most resumed connections; each has to bring some bytes.
const ATTEMPTS: u32 = 5;
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
/// Most bytes of a file whose length is not registered.
const LONGEST: u64 = 64 << 30;

/// Why a download failed.
#[derive(Debug, Error)]
pub enum DownloadError {
    /// The server answered without the file.
    #[error("the server answered {status}")]
    Status {
        /// Status code and its meaning.
        status: StatusCode,
    },
    /// No answer.
    #[error("{0}")]
    Network(Box<ureq::Error>),
    /// The connection broke off; the bytes received are kept for the next attempt.
    #[error("the connection broke off after {received} bytes{}; run it again to resume there", of(*total))]
    Truncated {
        /// Bytes received.
        received: u64,
        /// Length of the file, if known.
        total: Option<u64>,
    },
    /// The content has another digest and was deleted.
    #[error(
        "the file has SHA-256 {actual}, expected {expected}, and was deleted. Either the download was damaged (try again) or the source has changed"
    )]
    Checksum {
        /// Registered digest.
        expected: Sha256Hex,
        /// Digest of the bytes received.
        actual: Sha256Hex,
    },
    /// The server sent more bytes than the file has; they were deleted.
    #[error("the server sent more than the {longest} bytes of the file; they were deleted")]
    TooLong {
        /// Most bytes expected.
        longest: u64,
    },
    /// The content is not a compressed file and was deleted.
    #[error("the server sent {what} instead of a gzip file; it was deleted")]
    NotGzip {
        /// What the content looks like.
        what: &'static str,
    },
    /// The partial file cannot be written.
    #[error("{}: {source}", path.display())]
    Disk {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

fn of(total: Option<u64>) -> String {
    total.map(|total| format!(" of {total}")).unwrap_or_default()
}

/// An HTTP client that fails when nothing arrives for a while, however slow the download is.
pub(super) fn agent() -> Agent {
    Agent::config_builder()
        .http_status_as_error(false)
        .user_agent(concat!("gpbench/", env!("CARGO_PKG_VERSION")))
        // The bytes as stored: another compression would change ranges and digests.
        .accept_encoding("identity")
        .timeout_connect(Some(Duration::from_secs(30)))
        .timeout_recv_response(Some(Duration::from_secs(60)))
        .timeout_per_read(Some(Duration::from_secs(60)))
        .build()
        .new_agent()
}

/// Downloads `url` to `path` and returns the digest.
///
/// Bytes go to `path` + `.part`, which remains after a failure and is resumed next time.
pub(super) fn download(
    agent: &Agent,
    url: &str,
    path: &Path,
    file: &RemoteFile,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Sha256Hex, DownloadError> {
    let part = Part::of(path);
    let resumed = part.length() > 0;
    match complete(agent, url, &part, file, progress) {
        // The first part may belong to another version: download it all again.
        Err(
            DownloadError::Checksum { .. } | DownloadError::NotGzip { .. } | DownloadError::TooLong { .. },
        ) if resumed => {
            complete(agent, url, &part, file, progress)?;
        }
        other => other?,
    }
    let digest = part.digest()?;
    gpbench_files::rename(&part.path, path).map_err(|source| part.error(source))?;
    Ok(digest)
}

/// Downloads until the partial file is complete, then checks it.
fn complete(
    agent: &Agent,
    url: &str,
    part: &Part,
    file: &RemoteFile,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<(), DownloadError> {
    let mut attempts = 0;
    loop {
        let before = part.length();
        if file.bytes == Some(before) {
            break;
        }
        match transfer(agent, url, part, file, progress) {
            Ok(()) => break,
            Err(DownloadError::Truncated { received, .. }) if received > before && attempts < ATTEMPTS => {
                attempts += 1;
            }
            Err(error) => return Err(error),
        }
    }
    let fault = match part.foreign_content(path_is_gzip(&file.name))? {
        Some(what) => Some(DownloadError::NotGzip { what }),
        None => match (&file.sha256, part.digest()?) {
            (Some(expected), actual) if *expected != actual => {
                Some(DownloadError::Checksum { expected: expected.clone(), actual })
            }
            _ => None,
        },
    };
    match fault {
        None => Ok(()),
        Some(fault) => {
            part.remove()?;
            Err(fault)
        }
    }
}

/// Makes one request and writes its body, appended if the server sends the rest of the file.
fn transfer(
    agent: &Agent,
    url: &str,
    part: &Part,
    file: &RemoteFile,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<(), DownloadError> {
    let (name, longest) = (&file.name, file.bytes.unwrap_or(LONGEST));
    let have = part.length();
    let mut response = request(agent, url, have)?;
    if have > 0 && !continues(&response, have) {
        // The part does not fit the server's file, unless it is already complete: request the whole file.
        let whole = response.status() == StatusCode::RANGE_NOT_SATISFIABLE && total(&response) == Some(have);
        if whole {
            return Ok(());
        }
        if response.status() != StatusCode::OK {
            part.remove()?;
            response = request(agent, url, 0)?;
        }
    }
    let start = match response.status() {
        StatusCode::OK => 0,
        StatusCode::PARTIAL_CONTENT => have,
        status => return Err(DownloadError::Status { status }),
    };
    let total = total(&response);
    let mut out = part.open_at(start)?;
    let mut body = response.into_body().into_reader();
    let mut received = start;
    let mut buffer = vec![0; 1 << 16];
    progress(Progress { file: name, done: received, total });
    loop {
        match body.read(&mut buffer) {
            Ok(0) => break,
            // A server that never stops sending must not fill the disk.
            Ok(read) if received + read as u64 > longest => {
                drop(out);
                part.remove()?;
                return Err(DownloadError::TooLong { longest });
            }
            Ok(read) => {
                out.write_all(&buffer[..read]).map_err(|source| part.error(source))?;
                received += read as u64;
                progress(Progress { file: name, done: received, total });
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return Err(DownloadError::Truncated { received, total }),
        }
    }
    match total {
        Some(total) if received != total => Err(DownloadError::Truncated { received, total: Some(total) }),
        _ => Ok(()),
    }
}

fn request(agent: &Agent, url: &str, from: u64) -> Result<Response<Body>, DownloadError> {
    let request = agent.get(url);
    let request = if from > 0 { request.header(header::RANGE, format!("bytes={from}-")) } else { request };
    request.call().map_err(|error| DownloadError::Network(Box::new(error)))
}

/// Whether a response is the rest of a file after `have` bytes.
fn continues(response: &Response<Body>, have: u64) -> bool {
    response.status() == StatusCode::PARTIAL_CONTENT
        && content_range(response).is_some_and(|range| range.starts_with(&format!("bytes {have}-")))
}

/// Length of the whole file.
fn total(response: &Response<Body>) -> Option<u64> {
    match content_range(response) {
        Some(range) => range.rsplit('/').next()?.parse().ok(),
        None => response.body().content_length(),
    }
}

fn content_range(response: &Response<Body>) -> Option<&str> {
    response.headers().get(header::CONTENT_RANGE)?.to_str().ok()
}

fn path_is_gzip(name: &str) -> bool {
    name.ends_with(".gz")
}

/// The partial file beside the final one.
struct Part {
    path: PathBuf,
}

impl Part {
    fn of(path: &Path) -> Self {
        let mut name = path.as_os_str().to_owned();
        name.push(".part");
        Self { path: PathBuf::from(name) }
    }

    fn error(&self, source: io::Error) -> DownloadError {
        DownloadError::Disk { path: self.path.clone(), source }
    }

    fn length(&self) -> u64 {
        fs::metadata(&self.path).map_or(0, |metadata| metadata.len())
    }

    fn open_at(&self, start: u64) -> Result<File, DownloadError> {
        let mut options = OpenOptions::new();
        if start == 0 {
            options.create(true).write(true).truncate(true);
        } else {
            options.append(true);
        }
        regular(&mut options).open(&self.path).map_err(|source| self.error(source))
    }

    fn remove(&self) -> Result<(), DownloadError> {
        fs::remove_file(&self.path).map_err(|source| self.error(source))
    }

    fn digest(&self) -> Result<Sha256Hex, DownloadError> {
        Sha256Hex::of_file(&self.path).map_err(|source| self.error(source))
    }

    /// A description of the content, if it should be gzip and is not.
    fn foreign_content(&self, should_be_gzip: bool) -> Result<Option<&'static str>, DownloadError> {
        let mut beginning = Vec::new();
        File::open(&self.path)
            .and_then(|file| file.take(64).read_to_end(&mut beginning))
            .map_err(|source| self.error(source))?;
        let text = String::from_utf8_lossy(&beginning).to_ascii_lowercase();
        Ok(if !should_be_gzip || beginning.starts_with(&GZIP_MAGIC) {
            None
        } else if text.starts_with("version https://git-lfs") {
            Some("a pointer to a large file kept elsewhere (Git LFS)")
        } else if text.trim_start().starts_with('<') {
            Some("a web page")
        } else {
            Some("something else")
        })
    }
}
