//! Reads the parts of a library.

use std::path::PathBuf;

use gpbench_abi as abi;
use gpbench_terms::{Part, PartKind};

use super::room::Room;
use super::table::MAX_ENTRIES;

/// Digits of a SHA-256.
const DIGITS: usize = 64;

/// Reads `count` parts at a distance of `stride` bytes.
///
/// # Safety
/// `first` is null or points to `count` parts at this distance, whose texts are null or as long as they say.
pub(super) unsafe fn read_parts(
    (first, count, stride): (*const abi::Part, i64, i64),
    room: &Room,
) -> Result<Vec<Part>, String> {
    if count == 0 {
        return Ok(Vec::new());
    }
    let stride =
        usize::try_from(stride).ok().filter(|stride| (size_of::<abi::Part>()..1 << 20).contains(stride));
    let Some(stride) = stride.filter(|_| (1..=MAX_ENTRIES).contains(&count) && !first.is_null()) else {
        return Err(format!("the library lists {count} parts at {first:?}"));
    };
    let mut parts = Vec::new();
    for index in 0..count as usize {
        let part = first.wrapping_byte_add(index * stride);
        if !part.is_aligned() {
            return Err("the parts are at a misaligned distance".to_owned());
        }
        // SAFETY: one of the `count` parts, aligned.
        parts.push(
            unsafe { read_part(&*part, room) }.map_err(|wrong| format!("part {}: {wrong}", index + 1))?,
        );
    }
    Ok(parts)
}

/// Reads and checks a part.
///
/// # Safety
/// The part's texts are null or as long as they say.
pub(crate) unsafe fn read_part(part: &abi::Part, room: &Room) -> Result<Part, String> {
    // SAFETY: by this function's contract.
    let [name, version, path, sha256] = unsafe {
        [
            room.text(part.name, "its name")?,
            room.text(part.version, "its version")?,
            room.text(part.path, "its path")?,
            room.text(part.sha256, "its SHA-256")?,
        ]
    };
    let kind = PartKind::from_number(part.kind);
    let kind = kind.ok_or_else(|| format!("`{name}` is of the unknown kind {}", part.kind))?;
    // Tabs and line breaks separate the parts in the text that is hashed for the identity.
    let is_line = |text: &str| !text.contains(['\t', '\n', '\r']);
    if name.is_empty() || !is_line(&name) || !is_line(&version) {
        return Err(format!("{name:?} {version:?} is no name and version of one line without tabs"));
    }
    let is_digit = |letter: u8| letter.is_ascii_digit() || (b'a'..=b'f').contains(&letter);
    if sha256.len() != DIGITS || !sha256.bytes().all(is_digit) {
        return Err(format!("`{sha256}` of `{name}` is no SHA-256 in lower-case hexadecimal digits"));
    }
    let path = PathBuf::from(path);
    if !path.is_absolute() {
        return Err(format!("the path `{}` of `{name}` is not absolute", path.display()));
    }
    Ok(Part { kind, name, version, path, sha256 })
}
