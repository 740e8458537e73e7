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

use gpbench_host::LibraryError;
use gpbench_processes::Started;
use gpbench_record::{AbsentLibrary, Composition, LibraryInfo, Program};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::subprocess::{self, Answer};
use crate::{library, services};

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
    /// A library that cannot be used because something that it needs is not installed.
    Absent(AbsentLibrary),
    /// A library that cannot be used.
    Failed {
        /// The file.
        #[serde(with = "gpbench_record::path")]
        file: PathBuf,
        /// The reason.
        error: String,
    },
}

/// A library to describe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The file.
    pub file: PathBuf,
    /// The program that runs it, if it is a script and the user named one.
    pub runtime: Option<String>,
}

/// The option before a file that names the program that runs it.
const RUNTIME: &str = "--runtime";

impl Request {
    /// Reads `[[--runtime PROGRAM] FILE]...`; `None` for any other arguments.
    pub fn read(mut arguments: impl Iterator<Item = OsString>) -> Option<Vec<Request>> {
        let mut requests = Vec::new();
        while let Some(argument) = arguments.next() {
            let (runtime, file) = if argument == RUNTIME {
                (Some(arguments.next()?.into_string().ok()?), arguments.next()?)
            } else {
                (None, argument)
            };
            requests.push(Request { file: file.into(), runtime });
        }
        Some(requests)
    }

    /// A library without such a program.
    pub fn of(file: PathBuf) -> Request {
        Request { file, runtime: None }
    }

    /// The arguments that are read as this request.
    fn arguments(&self) -> impl Iterator<Item = &OsStr> {
        let runtime = self.runtime.iter().flat_map(|runtime| [OsStr::new(RUNTIME), OsStr::new(runtime)]);
        runtime.chain([self.file.as_os_str()])
    }
}

/// Loads one library into this process and reads its description.
pub fn load(request: &Request) -> Entry {
    let file = request.file.clone();
    match describe(request) {
        Ok(info) => Entry::Library(info),
        Err(Undescribed::Absent(absent)) => {
            Entry::Absent(AbsentLibrary { file, runtime: request.runtime.clone(), absent })
        }
        Err(Undescribed::Failed(error)) => Entry::Failed { file, error },
    }
}

/// Why a library has no description.
enum Undescribed {
    /// Something that it needs is not installed.
    Absent(String),
    /// Anything else.
    Failed(String),
}

fn failed(error: impl ToString) -> Undescribed {
    Undescribed::Failed(error.to_string())
}

fn describe(Request { file, runtime }: &Request) -> Result<LibraryInfo, Undescribed> {
    let program = Program::of(file).map_err(failed)?;
    let library = library::open(file, runtime.as_deref(), 1, services::host(None));
    let library = library.map_err(|error| match error {
        LibraryError::Absent { reason, .. } => Undescribed::Absent(reason),
        error => failed(error),
    })?;
    let composition = Composition::of(&program, library.bridge(), runtime.as_deref(), library.parts());
    let composition = composition.map_err(failed)?;
    // A library with parts is opened by its path, from whatever folder.
    let absolute = || std::path::absolute(file).unwrap_or_else(|_| file.clone());
    Ok(LibraryInfo {
        name: library.name().to_owned(),
        version: library.version().to_owned(),
        file: if composition.parts.is_empty() { file.clone() } else { absolute() },
        sha256: composition.identity(&program.sha256),
        abi: library.abi(),
        solvers: library.offers().cloned().collect(),
        composition,
    })
}

/// Describes libraries in subprocesses, all at the same time; `worker` is this program.
pub fn in_subprocesses(worker: &Path, requests: &[Request]) -> Vec<Value> {
    let failed = |request: &Request, error: String| {
        let entry = Entry::Failed { file: request.file.clone(), error };
        serde_json::to_value(entry).expect("plain data serialises")
    };
    let limit = limit();
    let deadline = subprocess::deadline(limit);
    let children: Vec<_> = requests.iter().map(|request| (request, start(worker, request))).collect();
    let answers = children.into_iter().map(|(request, child)| {
        child
            .map_err(|error| error.to_string())
            .and_then(|child| answer(child, deadline, limit))
            .unwrap_or_else(|error| failed(request, error))
    });
    answers.collect()
}

fn limit() -> Duration {
    let set = env::var(PATIENCE).ok().and_then(|text| text.parse().ok());
    set.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()).unwrap_or(LIMIT)
}

fn start(worker: &Path, request: &Request) -> io::Result<Started> {
    // Output that a library prints while it is loaded is not needed, and may be unlimited.
    subprocess::start(Command::new(worker).arg("load").args(request.arguments()).stderr(Stdio::null()))
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
    libraries_in(&library::places(worker))
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
    fn requests_are_read_as_they_are_passed_on() {
        let requests = [
            Request::of("a.so".into()),
            Request { file: "b.py".into(), runtime: Some("/usr/bin/python3".to_owned()) },
        ];
        let arguments = requests.iter().flat_map(Request::arguments).map(OsStr::to_owned);
        assert_eq!(Request::read(arguments), Some(requests.to_vec()));
        assert_eq!(Request::read(["--runtime", "x"].map(OsString::from).into_iter()), None);
    }

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
