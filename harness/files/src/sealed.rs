//! Binary files that end with the SHA-256 of all preceding bytes.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use sha2::{Digest as _, Sha256};

use crate::replace::{BUFFER, Durability, replace_with};

/// Bytes that [`replace_sealed`] adds after the content.
pub const SEAL_BYTES: usize = 32;

/// Writes `path` like [`crate::replace()`], and appends the SHA-256 of the bytes that `fill` writes. The digest is
/// computed while the file is written.
///
/// # Errors
/// Errors of the file system and of `fill`. The old file is then unchanged, and the temporary one is removed.
pub fn replace_sealed(
    path: &Path,
    durability: Durability,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    replace_with(path, durability, |file| {
        let mut writer = BufWriter::with_capacity(BUFFER, Hashing { file, hasher: Sha256::new() });
        fill(&mut writer)?;
        let Hashing { file, hasher } = writer.into_inner().map_err(|failed| failed.into_error())?;
        file.write_all(&hasher.finalize())
    })
}

/// The content of a file that [`replace_sealed`] wrote; `None` if the file is truncated or changed.
pub fn unseal(file: &[u8]) -> Option<&[u8]> {
    let (content, digest) = file.split_at_checked(file.len().checked_sub(SEAL_BYTES)?)?;
    (Sha256::digest(content).as_slice() == digest).then_some(content)
}

/// A file that is hashed as it is written.
struct Hashing<'f> {
    file: &'f mut File,
    hasher: Sha256,
}

impl Write for Hashing<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.hasher.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proptest::prelude::*;

    use super::*;

    fn sealed(content: &[u8]) -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.bin");
        replace_sealed(&path, Durability::ThisRun, |file| file.write_all(content)).unwrap();
        fs::read(&path).unwrap()
    }

    #[test]
    fn a_failure_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.bin");
        let failed = replace_sealed(&path, Durability::Durable, |_| Err(io::Error::other("no more")));
        assert_eq!(failed.unwrap_err().to_string(), "no more");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_file_larger_than_the_buffer_is_read_back() {
        let content: Vec<u8> = (0..2 * BUFFER + 17).map(|byte| (byte % 251) as u8).collect();
        let file = sealed(&content);
        assert_eq!(file.len(), content.len() + SEAL_BYTES);
        assert!(unseal(&file) == Some(&content));
    }

    proptest! {
        #![proptest_config(gpbench_testkit::proptest_config!(32))]

        #[test]
        fn every_flipped_bit_and_every_cut_is_found(content in prop::collection::vec(any::<u8>(), 0..60)) {
            let file = sealed(&content);
            prop_assert_eq!(unseal(&file), Some(&content[..]));
            for bit in 0..8 * file.len() {
                let mut bad = file.clone();
                bad[bit / 8] ^= 1 << (bit % 8);
                prop_assert_eq!(unseal(&bad), None);
            }
            for length in 0..file.len() {
                prop_assert_eq!(unseal(&file[..length]), None);
            }
        }
    }
}
