//! Reading a file in a process of its own.
//!
//! A damaged or hostile file can do more than give an error: 10 000 nested groups of a Parquet file overflow the
//! stack, a size in its header can ask for any amount of memory, and neither can be caught in the process where it
//! happens. There the process ends, and here that is an error about the file.
//!
//! The job is one JSON document on standard input, the answer one on standard output. Paths are [`OsString`]s, which
//! have a JSON form whatever their bytes.

use std::ffi::OsString;
use std::io::{self, Read as _, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use gpbench_data::locate::{Found, SearchPlace};
use gpbench_data::registry;
use gpbench_processes::exchange;
use gpbench_record::ReadOptions;
use rustix::process::{Resource, Rlimit, Signal, getppid, setrlimit};
use serde::{Deserialize, Serialize};

use crate::error::{ImportError, InputPosition};
use crate::fault::FileFault;
use crate::materialise::{self, Materialised, materialise};
use crate::{ImportSource, memory};

/// What to read, and where to write.
#[derive(Debug, Serialize, Deserialize)]
struct Job {
    origin: Source,
    copies: OsString,
    /// The process that waits for the answer.
    asker: u32,
}

/// An [`ImportSource`] that can be sent.
#[derive(Debug, Serialize, Deserialize)]
enum Source {
    Collection { name: String, place: SearchPlace, folder: OsString, files: Vec<OsString> },
    File { path: OsString, options: ReadOptions },
    HeldOut { path: OsString, test: OsString, options: ReadOptions },
}

/// The path of the copy, or the fault of the file.
type Answer = Result<OsString, Told>;

/// An [`ImportError`] that can be sent.
#[derive(Debug, Serialize, Deserialize)]
struct Told {
    file: OsString,
    line: Option<u64>,
    column: Option<usize>,
    fault: String,
}

/// Finds the binary copy of a data set in the folder `copies`, or has it written by `reader`: a program that calls
/// [`serve`]. It is started only where there is no copy.
///
/// # Errors
/// Those of [`materialise`], and where the reader cannot be started or ends without an answer.
pub fn materialise_in_subprocess(
    reader: &mut Command,
    origin: &ImportSource<'_>,
    copies: &Path,
) -> Result<Materialised, ImportError> {
    // Before the reader, whose standard input is another one.
    origin.require_regular()?;
    if let Some(found) = materialise::find(origin, copies)? {
        return Ok(found);
    }
    let file = origin.path();
    let failed = |what: String| InputPosition::file(file).fault(FileFault::Subprocess { what });
    let job = Job { origin: Source::of(origin), copies: copies.into(), asker: std::process::id() };
    let job = serde_json::to_vec(&job).expect("numbers, texts and bytes always serialise");
    materialise::again_where_vanished(|| {
        let output = exchange(reader, &job).map_err(|error| failed(format!("cannot be started: {error}")))?;
        match serde_json::from_slice::<Answer>(&output.stdout) {
            Ok(Ok(path)) => materialise::open_new(path.into()),
            Ok(Err(told)) => Err(told.into()),
            Err(_) => Err(InputPosition::file(file).fault(ended(&output))),
        }
    })
}

/// Why a process ended without an answer, by its last words.
fn ended(output: &Output) -> FileFault {
    let log = String::from_utf8_lossy(&output.stderr);
    let aborted = output.status.signal().is_some();
    if aborted && log.contains("has overflowed its stack") {
        return FileFault::TooDeep;
    }
    if aborted && log.contains("memory allocation of") {
        return FileFault::OutOfMemory;
    }
    let words: String = log.lines().next().unwrap_or_default().chars().take(200).collect();
    let words = if words.is_empty() { words } else { format!(": {words}") };
    FileFault::Subprocess { what: format!("ended without an answer ({}{words})", output.status) }
}

/// Does the job on standard input, and writes the answer to standard output. Ends with the process that asked, and
/// uses no more memory than the machine has.
///
/// # Errors
/// Where the job cannot be read or the answer cannot be written.
pub fn serve() -> io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    let mut text = String::new();
    io::stdin().read_to_string(&mut text)?;
    let Job { origin, copies, asker } = serde_json::from_str(&text)?;
    let is_waited_for = getppid().is_some_and(|parent| parent.as_raw_nonzero().get() as u32 == asker);
    if !is_waited_for {
        return Err(io::Error::other("the process that asked has ended"));
    }
    if let Some(bytes) = memory::physical() {
        let limit = Some(bytes as u64);
        // Where it is refused, a lower limit holds already.
        let _ = setrlimit(Resource::As, Rlimit { current: limit, maximum: limit });
    }
    let answer: Answer =
        origin.materialise(Path::new(&copies)).map(|copy| copy.path.into()).map_err(Told::from);
    let mut out = io::stdout().lock();
    serde_json::to_writer(&mut out, &answer)?;
    out.flush()
}

impl Source {
    fn of(origin: &ImportSource<'_>) -> Source {
        match *origin {
            ImportSource::Collection(found, entry) => Source::Collection {
                name: entry.name.clone(),
                place: found.place,
                folder: found.folder.clone().into(),
                files: found.files.iter().map(OsString::from).collect(),
            },
            ImportSource::File { path, options } => {
                Source::File { path: path.into(), options: options.clone() }
            }
            ImportSource::HeldOut { path, test, options } => {
                Source::HeldOut { path: path.into(), test: test.into(), options: options.clone() }
            }
        }
    }

    fn materialise(self, copies: &Path) -> Result<Materialised, ImportError> {
        match self {
            Source::Collection { name, place, folder, files } => {
                let found = Found {
                    place,
                    folder: folder.into(),
                    files: files.into_iter().map(PathBuf::from).collect(),
                };
                let entry = registry::find(&name).expect("the process that asked has the same registry");
                materialise(&ImportSource::Collection(&found, entry), copies)
            }
            Source::File { path, options } => {
                materialise(&ImportSource::File { path: Path::new(&path), options: &options }, copies)
            }
            Source::HeldOut { path, test, options } => {
                let (path, test, options) = (Path::new(&path), Path::new(&test), &options);
                materialise(&ImportSource::HeldOut { path, test, options }, copies)
            }
        }
    }
}

impl From<ImportError> for Told {
    fn from(ImportError { place, fault }: ImportError) -> Told {
        let InputPosition { file, line, column } = place;
        Told { file: file.into(), line, column, fault: fault.to_string() }
    }
}

impl From<Told> for ImportError {
    fn from(Told { file, line, column, fault }: Told) -> ImportError {
        InputPosition { file: file.into(), line, column }.fault(FileFault::Told(fault))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Asks a program that is no reader for the copy of a file.
    fn error_of(shell: &str) -> String {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.csv");
        fs::write(&file, "1,2\n3,4\n").unwrap();
        let options = ReadOptions::default();
        let origin = ImportSource::File { path: &file, options: &options };
        let mut reader = Command::new("sh");
        let error =
            materialise_in_subprocess(reader.args(["-c", shell]), &origin, folder.path()).unwrap_err();
        error.to_string().replace(&format!("{}/", folder.path().display()), "")
    }

    #[test]
    fn the_end_of_the_reader_is_an_error_about_the_file() {
        let deep = error_of("echo \"thread 'main' has overflowed its stack\" >&2; kill -ABRT $$");
        assert!(deep.starts_with("a.csv: the structure of the file is nested too deeply"), "{deep}");
        let large = error_of("echo 'memory allocation of 99 bytes failed' >&2; kill -ABRT $$");
        assert!(large.starts_with("a.csv: reading takes more memory than there is"), "{large}");
        let killed = error_of("kill -KILL $$");
        assert!(killed.contains("ended without an answer (signal: 9 (SIGKILL))"), "{killed}");
        let silent = error_of("echo 'a bug' >&2; exit 70");
        assert!(silent.contains("ended without an answer (exit status: 70: a bug)"), "{silent}");
    }

    #[test]
    fn a_reader_that_cannot_start_is_an_error() {
        let options = ReadOptions::default();
        let origin = ImportSource::File { path: Path::new("Cargo.toml"), options: &options };
        let mut reader = Command::new("/nowhere/gpbench");
        let copies = tempfile::tempdir().unwrap();
        let error = materialise_in_subprocess(&mut reader, &origin, copies.path()).unwrap_err();
        assert!(error.to_string().contains("cannot be started"), "{error}");
    }

    #[test]
    fn a_copy_that_exists_needs_no_reader() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.csv");
        fs::write(&file, "1,2\n3,4\n").unwrap();
        let options = ReadOptions::default();
        let origin = ImportSource::File { path: &file, options: &options };
        let made = materialise(&origin, folder.path()).unwrap();
        let mut reader = Command::new("/nowhere/gpbench");
        let found = materialise_in_subprocess(&mut reader, &origin, folder.path()).unwrap();
        assert_eq!(found, Materialised { is_new: false, ..made });
    }

    #[test]
    fn faults_and_paths_of_any_bytes_survive_the_way() {
        use std::os::unix::ffi::OsStringExt as _;
        let file = PathBuf::from(OsString::from_vec(vec![b'a', 0xff, b'b']));
        let answer: Answer = Err(InputPosition::cell(&file, 3, 1).fault(FileFault::OneRow).into());
        let line = serde_json::to_string(&answer).unwrap();
        let told: ImportError = serde_json::from_str::<Answer>(&line).unwrap().unwrap_err().into();
        assert_eq!(told.place, InputPosition { file, line: Some(3), column: Some(2) });
        assert_eq!(told.fault.to_string(), FileFault::OneRow.to_string());
    }
}
