//! Programs and libraries that find the libraries they need from the folder that they lie in, by `$ORIGIN`: a link in
//! another folder does not find them.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use memchr::memmem;

/// How a search path names the folder.
const NAMES: [&[u8]; 2] = [b"$ORIGIN", b"${ORIGIN}"];

/// Type of the program header of the dynamic section.
const PT_DYNAMIC: u64 = 2;
/// Type of a program header of a part that is loaded.
const PT_LOAD: u64 = 1;
/// Entries of the dynamic section: the table of its texts, and the two kinds of search paths.
const DT_STRTAB: u64 = 5;
const DT_RPATH: u64 = 15;
const DT_RUNPATH: u64 = 29;

/// Bytes of a search path that are read.
const LONGEST_PATH: usize = 1 << 16;

/// Bytes that are read at a time.
const BUFFER: usize = 1 << 16;

/// Whether a file contains the name of its folder anywhere. Of a library that may open others by such a name.
///
/// # Errors
/// If it cannot be read.
pub fn names_own_folder(file: &Path) -> io::Result<bool> {
    contains_name(File::open(file)?)
}

/// Whether the search path of a program names its folder. Of a file in another format than ELF for 64 bits, it is asked
/// whether the file contains the name anywhere.
///
/// # Errors
/// If it cannot be read.
pub fn finds_by_own_folder(file: &Path) -> io::Result<bool> {
    let file = File::open(file)?;
    let is_elf = bytes_at(&file, 0, 6).is_some_and(|bytes| bytes == b"\x7fELF\x02\x01");
    match if is_elf { search_paths(&file) } else { None } {
        Some(paths) => Ok(paths.iter().any(|path| is_name_in(path))),
        None => contains_name(file),
    }
}

fn is_name_in(bytes: &[u8]) -> bool {
    NAMES.iter().any(|name| memmem::find(bytes, name).is_some())
}

/// Whether the name is anywhere in the rest of a file.
fn contains_name(mut file: impl Read) -> io::Result<bool> {
    let mut buffer = vec![0; BUFFER];
    let mut kept = 0;
    loop {
        let filled = match file.read(&mut buffer[kept..])? {
            0 => return Ok(false),
            count => kept + count,
        };
        if is_name_in(&buffer[..filled]) {
            return Ok(true);
        }
        // The name may begin at the end of these bytes.
        kept = filled.min(NAMES[1].len() - 1);
        buffer.copy_within(filled - kept..filled, 0);
    }
}

/// The bytes of a file at a place; `None` if it does not have them.
fn bytes_at(file: &File, place: u64, count: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; count];
    file.read_exact_at(&mut bytes, place).ok()?;
    Some(bytes)
}

/// The text at a place of a file, which ends before a byte of zero.
fn text_at(file: &File, place: u64) -> Option<Vec<u8>> {
    let mut text = vec![0; LONGEST_PATH];
    let count = file.read_at(&mut text, place).ok()?;
    text.truncate(text[..count].iter().position(|&byte| byte == 0)?);
    Some(text)
}

/// The search paths of a little-endian ELF file for 64 bits; `None` if it is damaged.
fn search_paths(file: &File) -> Option<Vec<Vec<u8>>> {
    let number = |place: u64, width: usize| {
        let bytes = bytes_at(file, place, width)?;
        Some(bytes.iter().rev().fold(0, |number, byte| (number << 8) | u64::from(*byte)))
    };
    let (first, size, count) = (number(32, 8)?, number(54, 2)?, number(56, 2)?);
    let headers: Vec<u64> = (0..count).map(|index| first.checked_add(index * size)).collect::<Option<_>>()?;
    // The place in the file of an address in memory.
    let place = |address: u64| {
        headers.iter().find_map(|&header| {
            let (kind, offset) = (number(header, 4)?, number(header + 8, 8)?);
            let inside = address.checked_sub(number(header + 16, 8)?)?;
            (kind == PT_LOAD && inside < number(header + 32, 8)?).then(|| offset.checked_add(inside))?
        })
    };
    let Some(&dynamic) = headers.iter().find(|&&header| number(header, 4) == Some(PT_DYNAMIC)) else {
        // It is linked statically.
        return Some(Vec::new());
    };
    let (begin, length) = (number(dynamic + 8, 8)?, number(dynamic + 32, 8)?);
    let entries: Vec<(u64, u64)> = (0..length / 16)
        .map(|index| begin.checked_add(16 * index))
        .map(|entry| Some((number(entry?, 8)?, number(entry?.checked_add(8)?, 8)?)))
        .collect::<Option<_>>()?;
    let texts = entries.iter().find(|(kind, _)| *kind == DT_STRTAB).and_then(|(_, address)| place(*address));
    let wanted = entries.iter().filter(|(kind, _)| matches!(*kind, DT_RPATH | DT_RUNPATH));
    wanted.map(|(_, offset)| text_at(file, texts?.checked_add(*offset)?)).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn written(content: &[u8]) -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, content).unwrap();
        (folder, file)
    }

    #[test]
    fn other_formats_are_searched_as_a_whole() {
        for (content, expected) in [("code", false), ("path $ORIGIN/lib", true), ("${ORIGIN}", true)] {
            let (_folder, file) = written(content.as_bytes());
            assert_eq!(finds_by_own_folder(&file).unwrap(), expected, "{content}");
            assert_eq!(names_own_folder(&file).unwrap(), expected, "{content}");
        }
        assert!(finds_by_own_folder(Path::new("/nowhere/at all")).is_err());
    }

    #[test]
    fn a_name_across_two_reads_is_found() {
        for before in BUFFER - 9..=BUFFER {
            for name in NAMES {
                let content = [&vec![b'x'; before], name, &vec![b'y'; BUFFER]].concat();
                assert!(contains_name(content.as_slice()).unwrap(), "{before}");
                assert!(!contains_name(&content[..before + name.len() - 1]).unwrap(), "{before}");
            }
        }
    }

    /// This test contains the name as a constant, which is no search path.
    #[cfg(all(target_os = "linux", target_endian = "little", target_pointer_width = "64"))]
    #[test]
    fn the_search_path_of_a_program_counts_and_not_its_constants() {
        let program = std::env::current_exe().unwrap();
        assert!(names_own_folder(&program).unwrap());
        assert!(!finds_by_own_folder(&program).unwrap());
    }

    #[cfg(all(target_os = "linux", target_endian = "little", target_pointer_width = "64"))]
    #[test]
    fn a_search_path_in_the_dynamic_section_is_found() {
        // A header, two program headers, the dynamic section, and the texts, at the addresses of their places.
        let mut file = vec![0; 64];
        file[..6].copy_from_slice(b"\x7fELF\x02\x01");
        file[32..40].copy_from_slice(&64u64.to_le_bytes());
        file[54..56].copy_from_slice(&56u16.to_le_bytes());
        file[56..58].copy_from_slice(&2u16.to_le_bytes());
        let header = |kind: u32, offset: u64, address: u64, length: u64| {
            let mut bytes = [kind.to_le_bytes(), [0; 4]].concat();
            for field in [offset, address, address, length, length, 8] {
                bytes.extend(field.to_le_bytes());
            }
            bytes
        };
        file.extend(header(1, 0, 0x1000, 400));
        file.extend(header(2, 176, 0x1000 + 176, 48));
        for (kind, value) in [(DT_STRTAB, 0x1000 + 224u64), (DT_RUNPATH, 5), (0, 0)] {
            file.extend(kind.to_le_bytes());
            file.extend(value.to_le_bytes());
        }
        file.extend(b"libm\0$ORIGIN/../lib\0");
        let (_folder, path) = written(&file);
        assert_eq!(search_paths(&File::open(&path).unwrap()), Some(vec![b"$ORIGIN/../lib".to_vec()]));
        assert!(finds_by_own_folder(&path).unwrap());
        fs::write(&path, &file[..200]).unwrap();
        assert_eq!(search_paths(&File::open(&path).unwrap()), None, "a file that ends too early is damaged");
    }
}
