//! Digests of values.

use serde::Serialize;
use sha2::{Digest, Sha256};

/// First 16 hexadecimal digits of the SHA-256 of a value's JSON form.
pub(crate) fn hash_json<T: Serialize>(value: &T) -> String {
    let bytes = serde_json::to_vec(value).expect("plain data with text keys always serialises");
    Sha256::digest(&bytes).iter().take(8).map(|b| format!("{b:02x}")).collect()
}
