//! The manifest of a packed run.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::fault::PackFault;
use crate::layout::{FIGURES, JOURNAL, PLAN, SOLUTIONS, SPEC, is_environment, is_name};

/// The path of the manifest, which is the first entry.
pub(super) const MANIFEST: &str = "gpbench-pack.json";

/// Extensions of the files of a run: none of a library or a script.
const ENDS: [&str; 9] = ["json", "jsonl", "toml", "md", "html", "csv", "parquet", "svg", "safetensors"];

/// Most bytes of a manifest: it has about 150 for each entry.
pub(super) const MOST_MANIFEST_BYTES: u64 = 64 << 20;
/// Most bytes of an entry, of those that no reader holds in memory as a whole.
const MOST_ENTRY_BYTES: u64 = 1 << 30;
/// Most bytes of the environments together.
const MOST_ENVIRONMENT_BYTES: u64 = 16 << 20;
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
    /// Most bytes that it may have: fewer where readers hold in memory what it says.
    fn most_bytes(&self) -> u64 {
        match self.path.as_str() {
            JOURNAL => 512 << 20,
            PLAN => 128 << 20,
            SPEC => 4 << 20,
            _ => MOST_ENTRY_BYTES,
        }
    }

    /// Whether readers hold in memory what it says, as values of JSON.
    pub(super) fn is_parsed(&self) -> bool {
        [JOURNAL, PLAN].contains(&self.path.as_str()) || is_environment(&self.path)
    }

    /// Whether it is a file in a folder of the run.
    pub(super) fn is_in(&self, folder: &str) -> bool {
        self.path.split_once('/').is_some_and(|(of, _)| of == folder)
    }
}

impl PackManifest {
    /// Bytes of all entries together.
    pub fn bytes(&self) -> u64 {
        bytes_of(self.entries.iter())
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
        for entry in &self.entries {
            let PackedEntry { path, bytes, .. } = entry;
            if !is_path_of_run(path) {
                return Err(PackFault::Path { path: path.clone() });
            }
            if !paths.insert(path) {
                return Err(PackFault::Manifest { reason: format!("it lists `{path}` twice") });
            }
            at_most(&format!("its entry `{path}`"), *bytes, entry.most_bytes())?;
        }
        let environments = self.entries.iter().filter(|entry| is_environment(&entry.path));
        at_most("the sum of its environments", bytes_of(environments), MOST_ENVIRONMENT_BYTES)?;
        at_most("it", self.bytes(), MOST_BYTES)
    }
}

/// Bytes of some entries together.
fn bytes_of<'e>(entries: impl Iterator<Item = &'e PackedEntry>) -> u64 {
    entries.fold(0, |sum, entry| sum.saturating_add(entry.bytes))
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

    /// A manifest of entries with these paths and bytes.
    fn of(entries: impl IntoIterator<Item = (String, u64)>) -> PackManifest {
        let entry = |(path, bytes): (String, u64)| PackedEntry { path, bytes, sha256: String::new() };
        PackManifest {
            format: crate::PACK_FORMAT,
            gpbench: String::new(),
            name: "uci".into(),
            run: "20260101T000000Z-aaaaaa".into(),
            entries: entries.into_iter().map(entry).collect(),
        }
    }

    #[test]
    fn sizes_and_names_are_bounded() {
        let manifest = |name: &str, bytes: &[u64]| {
            let paths = (0..).map(|at| format!("journal-{at}.jsonl"));
            PackManifest { name: name.into(), ..of(paths.zip(bytes.iter().copied())) }
        };
        assert!(manifest("uci", &[1, 2]).check().is_ok());
        let told = |manifest: PackManifest| manifest.check().unwrap_err().to_string();
        assert_eq!(told(manifest("../x", &[])), "its manifest is damaged (`../x` cannot name a run)");
        let large = told(manifest("uci", &[u64::MAX]));
        assert!(large.starts_with("its entry `journal-0.jsonl` has 18446744073709551615 bytes"), "{large}");
        let together = told(manifest("uci", &[MOST_ENTRY_BYTES; 5]));
        assert!(together.starts_with("it has 5368709120 bytes, more than"), "{together}");
    }

    #[test]
    fn what_readers_hold_in_memory_has_fewer_bytes() {
        for (path, most) in [(JOURNAL, 512 << 20), (PLAN, 128 << 20), (SPEC, 4 << 20)] {
            let manifest = |bytes: u64| of([(path.to_owned(), bytes)]);
            assert!(manifest(most).check().is_ok(), "{path}");
            let told = manifest(most + 1).check().unwrap_err().to_string();
            let expected = format!("its entry `{path}` has {} bytes, more than the {most} that", most + 1);
            assert!(told.starts_with(&expected), "{told}");
        }
        let environments = (1..=17).map(|count| (crate::layout::environment(count), 1 << 20));
        let told = of(environments).check().unwrap_err().to_string();
        assert!(told.starts_with("the sum of its environments has 17825792 bytes"), "{told}");
    }
}
