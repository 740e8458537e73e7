//! Checksums of stored JSON objects: lines of a journal, and files of one object.
//!
//! An object begins with the member `"check"`, the first 16 hexadecimal digits of the SHA-256 of every byte after
//! it. The checksum covers bytes, not values, so nothing has to be parsed, and different spellings of a number have
//! different checksums. Readers of JSON ignore the member.
//!
//! Earlier versions wrote objects without it. So a file of one object may lack it, and so may the lines of a file
//! before the first line that has it. A later line without it counts as damaged: its first bytes have changed.

use sha2::{Digest as _, Sha256};

const BEGIN: &[u8] = b"{\"check\":\"";
const DIGITS: usize = 16;
/// Number of bytes before those that the checksum covers: the member's beginning, the digits and a quotation mark.
const HEAD: usize = BEGIN.len() + DIGITS + 1;

/// Result of comparing a JSON object with its checksum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checksum {
    /// The object has not changed since it was written.
    Right,
    /// The object has changed since it was written.
    Wrong,
    /// The object has no checksum, like those of earlier versions.
    Absent,
}

/// Why a line is damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DamagedLine {
    /// The line has changed since it was written.
    #[error("its checksum is wrong")]
    Wrong,
    /// The line has no checksum, although an earlier line has one.
    #[error("it has no checksum")]
    Absent,
}

/// Adds a checksum to the text of a JSON object, as its first member.
///
/// # Panics
/// If the text does not begin with `{`.
pub fn seal(object: &[u8]) -> Vec<u8> {
    let members = object.strip_prefix(b"{").expect("the text of a JSON object");
    let is_empty = members.trim_ascii_start().starts_with(b"}");
    let separator: &[u8] = if is_empty { b"" } else { b"," };
    let rest = [separator, members].concat();
    [BEGIN, &digits(&rest), b"\"", &rest].concat()
}

/// Compares the text of a JSON object with its checksum.
pub fn verify(object: &[u8]) -> Checksum {
    if !object.starts_with(BEGIN) {
        return Checksum::Absent;
    }
    let Some((head, rest)) = object.split_at_checked(HEAD) else { return Checksum::Wrong };
    match head[BEGIN.len()..].strip_suffix(b"\"") {
        Some(found) if *found == digits(rest) => Checksum::Right,
        _ => Checksum::Wrong,
    }
}

/// The text of an object without its checksum; `None` where it has none, or a wrong one.
pub fn without_checksum(object: &[u8]) -> Option<Vec<u8>> {
    let rest = object.get(HEAD..).filter(|_| verify(object) == Checksum::Right)?;
    Some([b"{".as_slice(), rest.strip_prefix(b",").unwrap_or(rest)].concat())
}

/// The first digits of the SHA-256 of `bytes`, lower-case.
fn digits(bytes: &[u8]) -> [u8; DIGITS] {
    let digest = Sha256::digest(bytes);
    std::array::from_fn(|place| {
        let nibble = digest[place / 2] >> (4 * ((place + 1) % 2)) & 0xf;
        b"0123456789abcdef"[usize::from(nibble)]
    })
}

/// Checker for the lines of a file, each a JSON object, in order.
#[derive(Debug, Clone, Default)]
pub struct LineChecker {
    /// Whether a line with a checksum has been seen.
    required: bool,
}

impl LineChecker {
    /// Checks the next line, given without its line feed.
    ///
    /// # Errors
    /// If the line has changed since it was written.
    pub fn check(&mut self, line: &[u8]) -> Result<(), DamagedLine> {
        let checksum = verify(line);
        self.required |= checksum != Checksum::Absent;
        match checksum {
            Checksum::Wrong => Err(DamagedLine::Wrong),
            Checksum::Absent if self.required => Err(DamagedLine::Absent),
            Checksum::Absent | Checksum::Right => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn flipped(text: &[u8], bit: usize) -> Vec<u8> {
        let mut text = text.to_vec();
        text[bit / 8] ^= 1 << (bit % 8);
        text
    }

    #[test]
    fn objects_of_any_layout_get_a_first_member() {
        for (object, sealed) in [
            ("{\"a\":1}", "{\"check\":\"f260823660f68f4d\",\"a\":1}"),
            ("{\n  \"a\": 1\n}", "{\"check\":\"2fa4d40912310ee1\",\n  \"a\": 1\n}"),
            ("{}", "{\"check\":\"d10b36aa74a59bcf\"}"),
        ] {
            let text = seal(object.as_bytes());
            assert_eq!(String::from_utf8_lossy(&text), sealed);
            assert_eq!(verify(&text), Checksum::Right);
            assert_eq!(verify(object.as_bytes()), Checksum::Absent);
            assert_eq!(without_checksum(&text).as_deref(), Some(object.as_bytes()));
            assert_eq!(without_checksum(object.as_bytes()), None);
        }
    }

    #[test]
    fn a_text_that_ends_in_its_checksum_is_wrong() {
        let text = seal(b"{\"a\":1}");
        for length in BEGIN.len()..text.len() {
            assert_eq!(verify(&text[..length]), Checksum::Wrong, "{length}");
        }
        assert_eq!(verify(&text.to_ascii_uppercase()), Checksum::Absent);
    }

    #[test]
    fn lines_without_a_checksum_may_come_first_only() {
        let (old, new) = (b"{\"a\":1}".as_slice(), seal(b"{\"a\":2}"));
        let mut lines = LineChecker::default();
        assert_eq!(
            [old, &new, old].map(|line| lines.check(line)),
            [Ok(()), Ok(()), Err(DamagedLine::Absent)]
        );
        // A damaged line also shows that this file has checksums.
        let mut lines = LineChecker::default();
        assert_eq!(lines.check(&flipped(&new, 8 * BEGIN.len())), Err(DamagedLine::Wrong));
        assert_eq!(lines.check(old), Err(DamagedLine::Absent));
    }

    proptest! {
        #![proptest_config(gpbench_testkit::proptest_config!(64))]

        /// A flipped bit in the member's name makes a line look like one of an earlier version. Its content is
        /// unchanged, and after another line it is detected.
        #[test]
        fn every_flipped_bit_is_found(name in "[a-z]{0,4}", text in "[^\"\\\\\\x00-\\x1f]{0,20}", number: u64) {
            let line = seal(format!("{{\"{name}\":\"{text}\",\"number\":{number}}}").as_bytes());
            for bit in 0..8 * line.len() {
                let bad = flipped(&line, bit);
                let in_name = bit < 8 * BEGIN.len();
                prop_assert_eq!(verify(&bad), if in_name { Checksum::Absent } else { Checksum::Wrong });
                prop_assert_eq!(bad[BEGIN.len()..] == line[BEGIN.len()..], in_name);
                let mut lines = LineChecker::default();
                lines.check(&line).unwrap();
                prop_assert!(lines.check(&bad).is_err());
            }
        }
    }
}
