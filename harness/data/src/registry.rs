//! The registry of benchmark sets.

use std::sync::LazyLock;

use serde::Deserialize;
use thiserror::Error;

use crate::hash::Sha256Hex;

/// A set of the registry.
#[derive(Debug, Clone, PartialEq)]
pub struct RegistryEntry {
    /// Canonical name, also the name of its folder: letters and digits only.
    pub name: String,
    /// Other names that papers and collections use.
    pub aliases: Vec<String>,
    /// Full title.
    pub title: String,
    /// Rows, training and test together.
    pub n: usize,
    /// Inputs.
    pub d: usize,
    /// Address of the folder with its files, at a pinned revision.
    pub url: String,
    /// Its files.
    pub files: Vec<RemoteFile>,
    /// Licence of the collection.
    pub licence: String,
    /// Work to cite.
    pub citation: String,
}

/// One file of a set.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RemoteFile {
    /// File name.
    pub name: String,
    /// Length, if known.
    #[serde(default)]
    pub bytes: Option<u64>,
    /// SHA-256, if known; otherwise that of the first download is recorded and checked later.
    #[serde(default)]
    pub sha256: Option<Sha256Hex>,
}

impl RegistryEntry {
    /// Bytes to download, if known for every file.
    pub fn bytes(&self) -> Option<u64> {
        self.files.iter().map(|file| file.bytes).sum()
    }

    /// Whether the digest of every file is registered.
    pub fn is_pinned(&self) -> bool {
        self.files.iter().all(|file| file.sha256.is_some())
    }
}

/// The name of a set that is not registered.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub struct UnknownDataset {
    /// The name asked for.
    pub name: String,
    /// The most similar known name, if one is similar.
    pub nearest: Option<String>,
}

impl std::fmt::Display for UnknownDataset {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "unknown data set `{}`", self.name)?;
        match &self.nearest {
            Some(nearest) => write!(f, "; did you mean `{nearest}`?"),
            None => write!(f, "; `gpbench data list` shows the known ones"),
        }
    }
}

/// All sets, from small to large.
pub fn all() -> &'static [RegistryEntry] {
    static ENTRIES: LazyLock<Vec<RegistryEntry>> =
        LazyLock::new(|| parse(include_str!("registry.toml")).expect("the built-in registry is tested"));
    &ENTRIES
}

/// Finds a set by name or alias, ignoring capitals, spaces, `-` and `_`.
///
/// # Errors
/// If there is none, with the nearest name.
pub fn find(name: &str) -> Result<&'static RegistryEntry, UnknownDataset> {
    let wanted = plain(name);
    let names = |entry: &'static RegistryEntry| {
        std::iter::once(&entry.name).chain(&entry.aliases).map(move |name| (name.as_str(), entry))
    };
    let found = all().iter().flat_map(names).find(|(name, _)| *name == wanted);
    if let Some((_, entry)) = found {
        return Ok(entry);
    }
    let nearest = all()
        .iter()
        .flat_map(names)
        .map(|(name, _)| (strsim::jaro_winkler(&wanted, name), name))
        .filter(|(similarity, _)| *similarity > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    Err(UnknownDataset { name: name.to_owned(), nearest: nearest.map(|(_, name)| name.to_owned()) })
}

fn plain(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '-' | '_' | ' ')).flat_map(char::to_lowercase).collect()
}

/// Whether a text is safe as one component of a path: it cannot leave its folder.
pub(crate) fn is_file_name(text: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    !text.is_empty() && !text.starts_with('.') && text.chars().all(allowed)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    collection: Collection,
    dataset: Vec<Record>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Collection {
    base_url: String,
    revision: String,
    folder: String,
    licence: String,
    citation: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Record {
    name: String,
    aliases: Vec<String>,
    title: String,
    n: usize,
    d: usize,
    files: Vec<RemoteFile>,
}

fn parse(text: &str) -> Result<Vec<RegistryEntry>, toml::de::Error> {
    let Document { collection, dataset } = toml::from_str(text)?;
    let Collection { base_url, revision, folder, licence, citation } = collection;
    let entry = |record: Record| {
        let Record { name, aliases, title, n, d, files } = record;
        let url = format!("{base_url}/{revision}/{folder}/{name}");
        RegistryEntry {
            name,
            aliases,
            title,
            n,
            d,
            url,
            files,
            licence: licence.clone(),
            citation: citation.clone(),
        }
    };
    Ok(dataset.into_iter().map(entry).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_entry_is_whole_and_its_names_are_unique_and_safe() {
        let mut names = HashSet::new();
        for entry in all() {
            for name in std::iter::once(&entry.name).chain(&entry.aliases) {
                assert!(names.insert(name), "{name} occurs twice");
                assert_eq!(*name, plain(name), "find compares plain names");
                assert!(name.chars().all(|c| c.is_ascii_alphanumeric()), "{name}");
            }
            assert!(entry.n > 0 && entry.d > 0);
            assert!(entry.files.iter().all(|file| is_file_name(&file.name)));
            let has = |name: &str| entry.files.iter().any(|file| file.name == name);
            assert!(has("data.csv.gz") && has("test_mask.csv.gz"), "{}", entry.name);
        }
        assert!(all().is_sorted_by_key(|entry| entry.n));
    }

    #[test]
    fn the_names_that_papers_print_are_found() {
        for (printed, name) in [
            ("pol", "pol"),
            ("PolTele", "pol"),
            ("KEGGDIR", "keggdirected"),
            ("KEGG", "keggdirected"),
            ("KEGGU", "keggundirected"),
            ("KEGG_undirected", "keggundirected"),
            ("3DRoad", "3droad"),
            ("3droad", "3droad"),
            ("HOUSEELEC", "houseelectric"),
            ("HouseElectric", "houseelectric"),
            ("CTslice", "slice"),
            ("Kin40K", "kin40k"),
        ] {
            assert_eq!(find(printed).map(|entry| entry.name.as_str()), Ok(name), "{printed}");
        }
    }

    #[test]
    fn a_misspelt_name_gets_the_nearest_one_and_a_path_gets_none() {
        let nearest = |name| find(name).unwrap_err().nearest;
        assert_eq!(nearest("elevatrs").as_deref(), Some("elevators"));
        assert_eq!(nearest("kegundirected").as_deref(), Some("keggundirected"));
        assert_eq!(nearest("../../etc/passwd"), None);
        assert_eq!(find("bik").unwrap_err().to_string(), "unknown data set `bik`; did you mean `bike`?");
    }

    #[test]
    fn names_that_leave_their_folder_are_refused() {
        for bad in ["", ".", "..", "../pol", "a/b", "a\\b", ".hidden", "/etc", "C:"] {
            assert!(!is_file_name(bad), "{bad}");
        }
        assert!(is_file_name("test_mask.csv.gz"));
    }
}
