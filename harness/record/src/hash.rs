//! Digests of values and files.

use std::io::{self, Read};

use serde::Serialize;
use sha2::{Digest, Sha256};

/// Bytes that are read at a time: a larger buffer does not stay in a core's own cache, which makes reading slower.
const BUFFER: usize = 1 << 16;

/// SHA-256 of all that a reader gives, as 32 bytes.
///
/// # Errors
/// If it cannot be read.
pub fn sha256(mut reader: impl Read) -> io::Result<[u8; 32]> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; BUFFER];
    loop {
        match reader.read(&mut buffer)? {
            0 => return Ok(hasher.finalize().into()),
            count => hasher.update(&buffer[..count]),
        }
    }
}

/// SHA-256 of all that a reader gives, as 64 lower-case hexadecimal digits.
///
/// # Errors
/// If it cannot be read.
pub fn sha256_hex(reader: impl Read) -> io::Result<String> {
    Ok(sha256(reader)?.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// First 16 hexadecimal digits of the SHA-256 of a value's JSON form.
pub(crate) fn hash_json<T: Serialize>(value: &T) -> String {
    let bytes = serde_json::to_vec(value).expect("plain data with text keys always serialises");
    Sha256::digest(&bytes).iter().take(8).map(|b| format!("{b:02x}")).collect()
}
