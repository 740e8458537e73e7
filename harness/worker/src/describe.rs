//! `gpbench-worker describe`: lists the solvers and learners of plugin libraries.
//!
//! Loading a library runs its code, so each library is loaded in its own process, `gpbench-worker load`, which has a
//! time limit. A library that crashes, prints, hangs or forks affects only its own entry, and all its processes are
//! ended.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use gpbench_data::Sha256Hex;
use gpbench_host::Library;
use gpbench_processes::Started;
use gpbench_record::LibraryInfo;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::services;
use crate::subprocess::{self, Answer};

/// Environment variable that names further folders of plugins.
const PLUGIN_PATH: &str = "GPBENCH_PLUGIN_PATH";

/// Environment variable with the seconds that libraries may take to describe themselves.
const PATIENCE: &str = "GPBENCH_DESCRIBE_LIMIT";

/// Time limit where the variable is not set.
const LIMIT: Duration = Duration::from_secs(20);

/// A library's entry in the answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Entry {
    /// A library that can be used.
    Library(LibraryInfo),
    /// A library that cannot be used.
    Failed {
        /// The file.
        #[serde(with = "gpbench_record::path")]
        file: PathBuf,
        /// The reason.
        error: String,
    },
}

/// Loads one library into this process and reads its description.
pub fn load(file: &Path) -> Entry {
    match describe(file) {
        Ok(info) => Entry::Library(info),
        Err(error) => Entry::Failed { file: file.to_owned(), error },
    }
}

fn describe(file: &Path) -> Result<LibraryInfo, String> {
    let sha256 = Sha256Hex::of_file(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let library = Library::load(file, services::host(None)).map_err(|error| error.to_string())?;
    Ok(LibraryInfo {
        name: library.name().to_owned(),
        version: library.version().to_owned(),
        file: file.to_owned(),
        sha256: sha256.as_str().to_owned(),
        abi: library.abi(),
        solvers: library.offers().cloned().collect(),
    })
}

/// Describes libraries in subprocesses, all at the same time; `worker` is this program.
pub fn in_subprocesses(worker: &Path, files: &[PathBuf]) -> Vec<Value> {
    let failed = |file: &PathBuf, error: String| {
        let entry = Entry::Failed { file: file.clone(), error };
        serde_json::to_value(entry).expect("plain data serialises")
    };
    let limit = limit();
    let deadline = subprocess::deadline(limit);
    let children: Vec<_> = files.iter().map(|file| (file, start(worker, file))).collect();
    let answers = children.into_iter().map(|(file, child)| {
        child
            .map_err(|error| error.to_string())
            .and_then(|child| answer(child, deadline, limit))
            .unwrap_or_else(|error| failed(file, error))
    });
    answers.collect()
}

fn limit() -> Duration {
    let set = env::var(PATIENCE).ok().and_then(|text| text.parse().ok());
    set.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()).unwrap_or(LIMIT)
}

fn start(worker: &Path, file: &Path) -> io::Result<Started> {
    // Output that a library prints while it is loaded is not needed, and may be unlimited.
    subprocess::start(Command::new(worker).arg("load").arg(file).stderr(Stdio::null()))
}

/// Waits for a subprocess and takes its entry.
fn answer(child: Started, deadline: Instant, limit: Duration) -> Result<Value, String> {
    let Answer { line, status } = subprocess::answer(child, deadline).map_err(|error| error.to_string())?;
    let line = line.ok_or_else(|| format!("did not describe itself within {} s", limit.as_secs_f64()))?;
    let entry = serde_json::from_str::<Entry>(&line).ok();
    let entry = entry.and_then(|entry| serde_json::to_value(entry).ok());
    entry.ok_or_else(|| format!("ended the process that loaded it ({status})"))
}

/// The plugin libraries of this machine: next to the program, in `../lib/gpbench`,
/// then in the folders of `$GPBENCH_PLUGIN_PATH`. A file hides files of the same
/// name in later places.
pub fn installed(worker: &Path) -> Vec<PathBuf> {
    let beside = worker.parent().unwrap_or(Path::new("."));
    let mut places = vec![beside.to_owned(), beside.join("../lib/gpbench")];
    places.extend(env::var_os(PLUGIN_PATH).iter().flat_map(env::split_paths));
    libraries_in(&places)
}

fn libraries_in(places: &[PathBuf]) -> Vec<PathBuf> {
    let mut found: Vec<(OsString, PathBuf)> = Vec::new();
    for place in places {
        // A folder that does not exist has no plugins.
        let Ok(entries) = std::fs::read_dir(place) else { continue };
        let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        files.sort();
        for file in files {
            let Some(name) = file.file_name().filter(|name| is_plugin(name)) else { continue };
            if !found.iter().any(|(other, _)| other == name) {
                let path = file.canonicalize().unwrap_or_else(|_| file.clone());
                found.push((name.to_owned(), path));
            }
        }
    }
    found.into_iter().map(|(_, path)| path).collect()
}

fn is_plugin(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    name.starts_with("libgpbench_plugin_") && (name.ends_with(".so") || name.ends_with(".dylib"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn earlier_places_hide_later_ones_and_other_files_are_no_plugins() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let (first, second) = (root.join("first"), root.join("second"));
        for (place, name) in [
            (&first, "libgpbench_plugin_b.so"),
            (&first, "libgpbench_plugin_a.so"),
            (&first, "libgpbench_plugin_a.d"),
            (&first, "libother.so"),
            (&second, "libgpbench_plugin_a.so"),
            (&second, "libgpbench_plugin_c.so"),
        ] {
            std::fs::create_dir_all(place).unwrap();
            std::fs::write(place.join(name), "").unwrap();
        }
        let expected = [
            first.join("libgpbench_plugin_a.so"),
            first.join("libgpbench_plugin_b.so"),
            second.join("libgpbench_plugin_c.so"),
        ];
        assert_eq!(libraries_in(&[first, root.join("nowhere"), second]), expected);
    }
}
