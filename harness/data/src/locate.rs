//! Finds the files of a set on this machine.
//!
//! Places are searched in the order `--data-dir`, `$GPBENCH_DATA`, the user's cache. Each has one folder a set,
//! with `data.csv.gz` and `test_mask.csv.gz`. A folder with a missing file is skipped, so that an incomplete copy
//! never hides a complete one.

use std::env;
use std::fmt;
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::registry::RegistryEntry;

/// Environment variable: a folder with data sets.
pub const DATA_VARIABLE: &str = "GPBENCH_DATA";
/// Environment variable: a folder to use instead of the user's cache.
pub const CACHE_VARIABLE: &str = "GPBENCH_CACHE";

/// Environment variable: a mirror to download from, with one folder a set.
pub const MIRROR_VARIABLE: &str = "GPBENCH_DATA_URL";

/// The places to search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchPlaces {
    /// The folder of `--data-dir`.
    pub data_dir: Option<PathBuf>,
    /// The folder of `$GPBENCH_DATA`.
    pub env: Option<PathBuf>,
    /// gpbench's own cache: downloads and binary copies.
    pub cache: PathBuf,
    /// The address of `$GPBENCH_DATA_URL`: downloads come from there instead of
    /// the registered source.
    pub mirror: Option<String>,
}

/// This user has no home folder, and so no cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("this user has no home folder for a cache; set {CACHE_VARIABLE} to a folder")]
pub struct NoCache;

/// A place where a set is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum SearchPlace {
    /// `--data-dir`.
    DataDir,
    /// `$GPBENCH_DATA`.
    Env,
    /// The cache.
    Cache,
}

impl fmt::Display for SearchPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::DataDir => "--data-dir",
            Self::Env => DATA_VARIABLE,
            Self::Cache => "cache",
        })
    }
}

/// A set on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The place.
    pub place: SearchPlace,
    /// Its folder.
    pub folder: PathBuf,
    /// Full paths of the registered files that exist.
    pub files: Vec<PathBuf>,
}

/// A set that is not on this machine.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub struct NotFound {
    /// Canonical name of the set.
    pub name: String,
    /// Each place that was searched, with the reason why the set is not there.
    pub searched: Vec<(SearchPlace, String)>,
    /// The address for downloads.
    pub url: String,
}

impl fmt::Display for NotFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, searched, url } = self;
        writeln!(f, "data set `{name}` was not found; searched")?;
        for (place, what) in searched {
            writeln!(f, "  {place}: {what}")?;
        }
        write!(
            f,
            "`gpbench data fetch {name}` downloads it from {url}; \
             or set {DATA_VARIABLE} to a folder with {name}/data.csv.gz and {name}/test_mask.csv.gz"
        )
    }
}

impl SearchPlaces {
    /// The places from the environment variables of this process.
    ///
    /// # Errors
    /// If there is no folder for the cache.
    pub fn from_env(data_dir: Option<PathBuf>) -> Result<Self, NoCache> {
        let variable = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let cache = match variable(CACHE_VARIABLE) {
            Some(cache) => cache,
            None => {
                let folder = etcetera::choose_base_strategy().map_err(|_| NoCache)?.cache_dir();
                // An empty HOME gives a path relative to the current folder.
                Some(folder.join("gpbench")).filter(|cache| cache.is_absolute()).ok_or(NoCache)?
            }
        };
        let mirror = env::var(MIRROR_VARIABLE).ok().filter(|value| !value.is_empty());
        Ok(Self { data_dir, env: variable(DATA_VARIABLE), cache, mirror })
    }

    /// Folder of downloaded sets.
    pub fn downloads(&self) -> PathBuf {
        self.cache.join("data")
    }

    /// The address of a set's folder: on the mirror, or as registered.
    pub fn url(&self, entry: &RegistryEntry) -> String {
        match &self.mirror {
            Some(mirror) => format!("{}/{}", mirror.trim_end_matches('/'), entry.name),
            None => entry.url.clone(),
        }
    }

    /// Folder of binary copies.
    pub fn copies(&self) -> PathBuf {
        self.cache.join("copies")
    }
}

/// Finds the files of a set without a download.
///
/// # Errors
/// If it is in none of the places.
pub fn locate(entry: &RegistryEntry, places: &SearchPlaces) -> Result<Found, NotFound> {
    let downloads = places.downloads();
    let roots = [
        (SearchPlace::DataDir, places.data_dir.as_deref()),
        (SearchPlace::Env, places.env.as_deref()),
        (SearchPlace::Cache, Some(downloads.as_path())),
    ];
    let mut searched = Vec::new();
    for (place, root) in roots {
        match root.map(|root| search(entry, root)) {
            None => searched.push((place, "not given".to_owned())),
            Some(Err(what)) => searched.push((place, what)),
            Some(Ok((folder, files))) => return Ok(Found { place, folder, files }),
        }
    }
    Err(NotFound { name: entry.name.clone(), searched, url: places.url(entry) })
}

/// The folder and files of a set in one place, or the reason why it is not there.
fn search(entry: &RegistryEntry, root: &Path) -> Result<(PathBuf, Vec<PathBuf>), String> {
    let folder = root.join(&entry.name);
    if !folder.is_dir() {
        return Err(format!("no folder {}", folder.display()));
    }
    let path = |name: &str| folder.join(name);
    let missing: Vec<&str> = entry
        .files
        .iter()
        .map(|file| file.name.as_str())
        // Older collections have song in one file; the importer checks the number of rows.
        .filter(|name| *name != "data1.csv.gz")
        .filter(|name| !path(name).is_file())
        .collect();
    if !missing.is_empty() {
        return Err(format!("{} lacks {}", folder.display(), missing.join(" and ")));
    }
    let files = entry.files.iter().map(|file| path(&file.name)).filter(|path| path.is_file()).collect();
    Ok((folder, files))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry;
    use std::fs;

    fn put(root: &Path, files: &[&str]) {
        for file in files {
            let path = root.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
    }

    #[test]
    fn places_are_searched_in_order_and_incomplete_sets_are_skipped() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        let places = SearchPlaces {
            data_dir: Some(at("given")),
            env: Some(at("env")),
            cache: at("cache"),
            mirror: None,
        };
        let pol = registry::find("pol").unwrap();

        put(root.path(), &["cache/data/pol/data.csv.gz", "cache/data/pol/test_mask.csv.gz"]);
        assert_eq!(locate(pol, &places).unwrap().place, SearchPlace::Cache);
        put(root.path(), &["env/pol/data.csv.gz", "env/pol/test_mask.csv.gz", "given/pol/data.csv.gz"]);
        assert_eq!(locate(pol, &places).unwrap().place, SearchPlace::Env);
        put(root.path(), &["given/pol/test_mask.csv.gz"]);
        let found = locate(pol, &places).unwrap();
        assert_eq!(found.place, SearchPlace::DataDir);
        assert_eq!(found.files.len(), 2);
    }

    #[test]
    fn the_error_names_the_places_and_what_to_do() {
        let root = tempfile::tempdir().unwrap();
        put(root.path(), &["env/pol/data.csv.gz"]);
        let places = SearchPlaces {
            data_dir: None,
            env: Some(root.path().join("env")),
            cache: root.path().join("c"),
            mirror: None,
        };
        let text = locate(registry::find("pol").unwrap(), &places).unwrap_err().to_string();
        let text = text.replace(&root.path().display().to_string(), "ROOT");
        assert_eq!(
            text,
            "data set `pol` was not found; searched\n\
             \x20 --data-dir: not given\n\
             \x20 GPBENCH_DATA: ROOT/env/pol lacks test_mask.csv.gz\n\
             \x20 cache: no folder ROOT/c/data/pol\n\
             `gpbench data fetch pol` downloads it from https://raw.githubusercontent.com/treforevans/\
             uci_datasets/f0737523712fe66a1640e4b980b927e8490b58eb/uci_datasets/pol; or set GPBENCH_DATA to \
             a folder with pol/data.csv.gz and pol/test_mask.csv.gz"
        );
    }
}
