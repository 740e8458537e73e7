//! The manifest of a packed run.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::fault::PackFault;
use crate::layout::{FIGURES, SOLUTIONS, is_name};

/// The path of the manifest, which is the first entry.
pub(super) const MANIFEST: &str = "gpbench-pack.json";

/// Extensions of the files of a run: none of a library or a script.
const ENDS: [&str; 9] = ["json", "jsonl", "toml", "md", "html", "csv", "parquet", "svg", "safetensors"];

/// Most bytes of a manifest: it has about 150 for each entry.
pub(super) const MOST_MANIFEST_BYTES: u64 = 64 << 20;
/// Most bytes of an entry.
const MOST_ENTRY_BYTES: u64 = 1 << 30;
/// Most bytes of all entries together.
const MOST_BYTES: u64 = 4 << 30;
/// Most letters of a path.
pub(super) const MOST_PATH: u64 = 512;

/// The content of a packed run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackManifest {
    /// [`crate::PACK_FORMAT`].
    pub format: u32,
    /// Version of gpbench that packed the run.
    pub gpbench: String,
    /// Name of the run's spec.
    pub name: String,
    /// Id of the run: the name of its folder.
    pub run: String,
    /// All other entries, by path.
    pub entries: Vec<PackedEntry>,
}

/// An entry of a packed run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackedEntry {
    /// Path in the run folder.
    pub path: String,
    /// Bytes.
    pub bytes: u64,
    /// SHA-256 of its content.
    pub sha256: String,
}

impl PackedEntry {
    /// Whether it is a file in a folder of the run.
    pub(super) fn is_in(&self, folder: &str) -> bool {
        self.path.split_once('/').is_some_and(|(of, _)| of == folder)
    }
}

impl PackManifest {
    /// Bytes of all entries together.
    pub fn bytes(&self) -> u64 {
        self.entries.iter().fold(0, |sum, entry| sum.saturating_add(entry.bytes))
    }

    /// Entries that are solutions of cases.
    pub fn solutions(&self) -> usize {
        self.entries.iter().filter(|entry| entry.is_in(SOLUTIONS)).count()
    }

    /// Checks names, paths and sizes.
    ///
    /// # Errors
    /// The first fault.
    pub(super) fn check(&self) -> Result<(), PackFault> {
        if let Some(name) = [&self.name, &self.run].into_iter().find(|name| !is_name(name)) {
            return Err(PackFault::Manifest { reason: format!("`{name}` cannot name a run") });
        }
        let mut paths = HashSet::new();
        for PackedEntry { path, bytes, .. } in &self.entries {
            if !is_path_of_run(path) {
                return Err(PackFault::Path { path: path.clone() });
            }
            if !paths.insert(path) {
                return Err(PackFault::Manifest { reason: format!("it lists `{path}` twice") });
            }
            at_most(&format!("its entry `{path}`"), *bytes, MOST_ENTRY_BYTES)?;
        }
        at_most("it", self.bytes(), MOST_BYTES)
    }
}

/// Fails if something has more bytes than are allowed.
pub(super) fn at_most(what: &str, bytes: u64, most: u64) -> Result<(), PackFault> {
    if bytes <= most { Ok(()) } else { Err(PackFault::TooLarge { what: what.to_owned(), bytes, most }) }
}

/// Whether a path is one of a file in a run folder, or in its folders of charts and solutions.
pub(super) fn is_path_of_run(path: &str) -> bool {
    let (folder, file) = path.split_once('/').map_or((None, path), |(folder, file)| (Some(folder), file));
    let is_known = folder.is_none_or(|folder| [FIGURES, SOLUTIONS].contains(&folder));
    let has_known_end = file.rsplit_once('.').is_some_and(|(_, end)| ENDS.contains(&end));
    let is_plain = |letter: char| !letter.is_control() && !matches!(letter, '/' | '\\');
    is_known
        && has_known_end
        && !file.starts_with('.')
        && path.len() as u64 <= MOST_PATH
        && file.chars().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_to_files_of_a_run_alone() {
        for path in ["journal.jsonl", "figures/a b.svg", "solutions/00ff.safetensors"] {
            assert!(is_path_of_run(path), "{path}");
        }
        let long = format!("{}.json", "x".repeat(600));
        for path in [
            "",
            "/etc/x.json",
            "..",
            "../x.json",
            "figures/../x.json",
            "figures/..",
            "figures/",
            "logs/x.json",
            ".x.json",
            "figures/.x.svg",
            "a\\b.json",
            "a\0b.json",
            "figures/a/b.svg",
            "x",
            "x.so",
            "solver.py",
            "json",
            &long,
        ] {
            assert!(!is_path_of_run(path), "{path:?}");
        }
    }

    #[test]
    fn sizes_and_names_are_bounded() {
        let entry = |(at, bytes): (usize, &u64)| PackedEntry {
            path: format!("journal-{at}.jsonl"),
            bytes: *bytes,
            sha256: String::new(),
        };
        let manifest = |name: &str, bytes: &[u64]| PackManifest {
            format: crate::PACK_FORMAT,
            gpbench: String::new(),
            name: name.into(),
            run: "20260101T000000Z-aaaaaa".into(),
            entries: bytes.iter().enumerate().map(entry).collect(),
        };
        assert!(manifest("uci", &[1, 2]).check().is_ok());
        let told = |manifest: PackManifest| manifest.check().unwrap_err().to_string();
        assert_eq!(told(manifest("../x", &[])), "its manifest is damaged (`../x` cannot name a run)");
        let large = told(manifest("uci", &[u64::MAX]));
        assert!(large.starts_with("its entry `journal-0.jsonl` has 18446744073709551615 bytes"), "{large}");
        let together = told(manifest("uci", &[MOST_ENTRY_BYTES; 5]));
        assert!(together.starts_with("it has 5368709120 bytes, more than"), "{together}");
    }
}
