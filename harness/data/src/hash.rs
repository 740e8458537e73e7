//! SHA-256 digests of files, as lower-case hexadecimal text.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use thiserror::Error;

/// A SHA-256 digest: 64 lower-case hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Sha256Hex(String);

/// A text that is not a SHA-256 digest.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{text}` is not a SHA-256 digest (64 hexadecimal digits)")]
pub struct ParseSha256Error {
    /// The text.
    pub text: String,
}

impl Sha256Hex {
    /// Digest of `bytes`.
    pub fn of_bytes(bytes: &[u8]) -> Self {
        Self::from_digest(&Sha256::digest(bytes).into())
    }

    /// Digest of a file, read in pieces.
    pub fn of_file(path: &Path) -> io::Result<Self> {
        Self::of_reader(File::open(path)?)
    }

    /// Digest of all that a reader gives, read in pieces.
    pub(crate) fn of_reader(reader: impl Read) -> io::Result<Self> {
        Ok(Self::from_digest(&gpbench_record::sha256(reader)?))
    }

    /// Digest from its 32 bytes.
    pub fn from_digest(digest: &[u8; 32]) -> Self {
        Self(digest.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// The 64 digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Sha256Hex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Sha256Hex {
    type Err = ParseSha256Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            Ok(Self(text.to_ascii_lowercase()))
        } else {
            Err(ParseSha256Error { text: text.to_owned() })
        }
    }
}

impl TryFrom<String> for Sha256Hex {
    type Error = ParseSha256Error;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Sha256Hex> for String {
    fn from(hex: Sha256Hex) -> Self {
        hex.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digest_of_a_known_text() {
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(Sha256Hex::of_bytes(b"abc").as_str(), expected);
        assert_eq!(expected.to_uppercase().parse::<Sha256Hex>().unwrap().as_str(), expected);
    }

    #[test]
    fn other_texts_are_refused() {
        assert!("abc".parse::<Sha256Hex>().is_err());
        assert!("g".repeat(64).parse::<Sha256Hex>().is_err());
    }
}
