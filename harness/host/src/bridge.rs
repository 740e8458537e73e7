//! Libraries that are no shared objects: scripts, which a bridge serves.
//!
//! For a script `x.END` the bridge is the shared object `libgpbench_bridge_END.so`, a plugin whose entry function reads
//! `gpbench.script/1` of the host.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use crate::library::LibraryError;

/// How a library is opened.
#[derive(Debug, Clone, Copy)]
pub struct Opening<'o> {
    /// The bridge of a script, where it is known already.
    pub bridge: Option<&'o Path>,
    /// Folders in which a bridge is looked for, in this order, where it is not known.
    pub places: &'o [PathBuf],
    /// The program that runs a script, as the user named it; the bridge chooses one if it is absent.
    pub runtime: Option<&'o str>,
    /// Threads that the library's solvers and learners may use.
    pub threads: usize,
    /// Bytes of memory at which this process and its children are ended, if there is a limit.
    pub memory: Option<u64>,
}

/// One thread, and no folders in which a bridge is looked for.
impl Default for Opening<'_> {
    fn default() -> Self {
        Opening { bridge: None, places: &[], runtime: None, threads: 1, memory: None }
    }
}

/// The bridge of a library; `None` for a shared object, which needs none.
///
/// # Errors
/// Where there is no such bridge.
pub fn bridge(file: &Path, opening: &Opening<'_>) -> Result<Option<PathBuf>, LibraryError> {
    if !is_script(file) {
        return Ok(None);
    }
    if let Some(bridge) = opening.bridge {
        return Ok(Some(bridge.to_owned()));
    }
    let end = file.extension().and_then(OsStr::to_str).unwrap_or_default();
    let names = [format!("libgpbench_bridge_{end}.so"), format!("libgpbench_bridge_{end}.dylib")];
    let candidates = opening.places.iter().flat_map(|place| names.iter().map(|name| place.join(name)));
    let found = candidates.into_iter().find(|candidate| candidate.is_file());
    let found = found.map(|bridge| bridge.canonicalize().unwrap_or(bridge));
    let missing = || LibraryError::NoBridge {
        file: file.to_owned(),
        bridge: names[0].clone(),
        places: opening.places.to_vec(),
    };
    found.map(Some).ok_or_else(missing)
}

/// Whether a library is a script: its name has an ending that no shared object has, and its content is that of no
/// shared object. A file that cannot be read is none, and the system's loader says why.
pub fn is_script(file: &Path) -> bool {
    let Some(end) = file.extension().and_then(OsStr::to_str) else { return false };
    let is_plain = end.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    is_plain && !matches!(end, "so" | "dylib") && matches!(is_object(file), Ok(false))
}

/// Whether a file begins as shared objects do.
fn is_object(file: &Path) -> io::Result<bool> {
    let mut begin = Vec::new();
    File::open(file)?.take(4).read_to_end(&mut begin)?;
    let of_elf = begin == *b"\x7fELF";
    let of_mach_o = matches!(begin[..], [0xcf, 0xfa, 0xed, 0xfe] | [0xca, 0xfe, 0xba, 0xbe]);
    Ok(of_elf || of_mach_o)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(folder: &Path, name: &str, content: &[u8]) -> PathBuf {
        let file = folder.join(name);
        std::fs::write(&file, content).unwrap();
        file
    }

    #[test]
    fn a_script_is_told_by_its_name_and_its_content() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, content: &[u8]| written(folder.path(), name, content);
        assert!(is_script(&write("solver.py", b"import numpy")));
        assert!(is_script(&write("empty.py", b"")));
        for other in [
            write("broken.so", b"no object"),
            write("versioned.so.1", b"\x7fELF"),
            write("noending", b"text"),
            write("dash.x-y", b"text"),
            folder.path().join("missing.py"),
        ] {
            assert!(!is_script(&other), "{other:?}");
        }
    }

    #[test]
    fn the_first_place_that_has_the_bridge_wins() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let places = ["empty", "first", "second"].map(|name| root.join(name));
        places.iter().for_each(|place| std::fs::create_dir(place).unwrap());
        let script = written(&root, "mine.py", b"");
        let opening = Opening { places: &places, ..Opening::default() };
        let error = bridge(&script, &opening).unwrap_err().to_string();
        let missing =
            "mine.py is a script, and its bridge `libgpbench_bridge_py.so` is in none of the folders";
        assert!(error.contains(missing) && error.contains("/first"), "{error}");
        let first = written(&places[1], "libgpbench_bridge_py.so", b"");
        written(&places[2], "libgpbench_bridge_py.so", b"");
        assert_eq!(bridge(&script, &opening).unwrap(), Some(first));
        let given = Opening { bridge: Some(Path::new("/b.so")), ..opening };
        assert_eq!(bridge(&script, &given).unwrap(), Some("/b.so".into()));
        assert_eq!(bridge(&written(&root, "mine.so", b""), &opening).unwrap(), None);
    }
}
