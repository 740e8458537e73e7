//! Packed runs made of arbitrary bytes, for the tests and the fuzz target.

use std::fs;
use std::path::Path;

use gpbench_files::checksum::seal;
use gpbench_runs::{PackManifest, RunError, RunRecord, packed_entries, read_manifest, unpack};
use tar::{Builder, EntryType, Header};

/// Unpacks in a folder what bytes stand for, and checks what is left there: all that the manifest states, or nothing.
///
/// The first byte chooses what the others are: `f` a file as it comes, `a` an archive, which is compressed here, and
/// `m` parts that zero bytes divide. Of these, the first is the text of a manifest, which is sealed here, and each
/// other one an entry: the letter of its kind, its path, a line feed, and its content.
pub(crate) fn read(bytes: &[u8], folder: &Path) -> Result<PackManifest, RunError> {
    let content = match bytes.split_first() {
        Some((b'a', archive)) => compressed(archive),
        Some((b'm', parts)) => compressed(&archive_of(parts)),
        Some((b'f', file)) => file.to_vec(),
        _ => bytes.to_vec(),
    };
    let (file, place) = (folder.join("fuzzed.gpbench"), folder.join("place"));
    let _ = fs::remove_dir_all(&place);
    fs::create_dir(&place).expect("a folder in it");
    fs::write(&file, content).expect("a file in it");
    let into = place.join("run");
    let unpacked = unpack(&file, &into);
    match &unpacked {
        Ok(manifest) => {
            let mut listed = manifest.entries.clone();
            listed.sort_by(|one, other| one.path.cmp(&other.path));
            assert_eq!(packed_entries(&into).expect("readable files"), listed);
            assert_eq!(read_manifest(&file).expect("a manifest"), *manifest);
            if let Err(error) = RunRecord::open(&into) {
                assert!(!error.to_string().is_empty());
            }
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            assert_eq!(fs::read_dir(&place).expect("a folder").count(), 0, "{error}");
        }
    }
    unpacked
}

fn compressed(archive: &[u8]) -> Vec<u8> {
    zstd::encode_all(archive, 1).expect("memory")
}

/// An archive of a manifest and entries.
fn archive_of(parts: &[u8]) -> Vec<u8> {
    let mut parts = parts.split(|&byte| byte == 0);
    let manifest = parts.next().unwrap_or_default();
    let text = if manifest.starts_with(b"{") { seal(manifest) } else { manifest.to_vec() };
    let mut archive = Builder::new(Vec::new());
    append(&mut archive, EntryType::Regular, b"gpbench-pack.json", &text);
    for part in parts {
        let Some((kind, entry)) = part.split_first() else { continue };
        let end = entry.iter().position(|&byte| byte == b'\n').unwrap_or(entry.len());
        let (path, content) = entry.split_at(end);
        let content = content.get(1..).unwrap_or_default();
        append(&mut archive, EntryType::new(*kind), path, content);
    }
    archive.into_inner().expect("memory")
}

/// Adds an entry, whatever its path is: the writer of archives refuses some.
fn append(archive: &mut Builder<Vec<u8>>, kind: EntryType, path: &[u8], content: &[u8]) {
    let mut header = Header::new_gnu();
    let name = &mut header.as_gnu_mut().expect("a header of this form").name;
    let length = path.len().min(name.len());
    name[..length].copy_from_slice(&path[..length]);
    header.set_entry_type(kind);
    header.set_size(content.len() as u64);
    header.set_mode(0o644);
    header.set_cksum();
    archive.append(&header, content).expect("memory");
}
