//! Loads libraries: those of cases, and those that are described or tested.

use std::env;
use std::path::{Path, PathBuf};

use gpbench_host::{HostTable, Library, LibraryError, Opening};
use gpbench_record::{FaultCause, Job, Part, PluginParts, Program};

use crate::failure::{CaseError, fault};

/// Environment variable that names further folders of plugins.
const PLUGIN_PATH: &str = "GPBENCH_PLUGIN_PATH";

/// The folders of plugins and bridges, in the order in which they are searched: that of the program, `../lib/gpbench` from
/// there, and those of `$GPBENCH_PLUGIN_PATH`.
pub(crate) fn places(worker: &Path) -> Vec<PathBuf> {
    let beside = worker.parent().unwrap_or(Path::new("."));
    let mut places = vec![beside.to_owned(), beside.join("../lib/gpbench")];
    places.extend(env::var_os(PLUGIN_PATH).iter().flat_map(env::split_paths));
    places
}

/// Loads a library, or the bridge of a script, which is looked for in the [`places`] of this program.
pub(crate) fn open(
    file: &Path,
    runtime: Option<&str>,
    threads: usize,
    host: &'static HostTable,
) -> Result<Library, LibraryError> {
    let places = env::current_exe().map_or_else(|_| Vec::new(), |worker| places(&worker));
    Library::open(file, &Opening { places: &places, runtime, threads, ..Opening::default() }, host)
}

/// Loads the library of a job. Its content, and that of its parts, must be the planned one, and it must describe no other
/// parts.
pub(crate) fn load_planned(job: &Job, host: &'static HostTable) -> Result<Library, CaseError> {
    let Job { plugin, plugin_parts: PluginParts { bridge, runtime, parts }, threads, limits, .. } = job;
    let check = || plugin.check().and_then(|()| job.plugin_parts.check());
    check()?;
    let opening = Opening {
        bridge: bridge.as_deref(),
        places: &[],
        runtime: runtime.as_deref(),
        threads: *threads,
        memory: limits.memory_bytes,
    };
    let library = Library::open(&plugin.file, &opening, host);
    // The loader opens the file by its name. The file may have been replaced, which may be why loading failed.
    check()?;
    let library = library?;
    match library.parts().iter().find(|part| !is_planned(part, parts)) {
        None => Ok(library),
        Some(part) => Err(fault(
            FaultCause::Plugin,
            format!(
                "{} now has the {} ({}), which it did not have when the run was planned; run the same again",
                plugin.file.display(),
                part.called(),
                part.path.display()
            ),
        )),
    }
}

/// Whether a part is one of the planned ones.
fn is_planned(part: &Part, planned: &[Program]) -> bool {
    planned.iter().any(|program| program.file == part.path && program.sha256 == part.sha256)
}

/// The parts that the library of a job has used and that were not planned, as a row names them.
pub(crate) fn unplanned(library: &Library, job: &Job) -> Vec<String> {
    let planned = &job.plugin_parts.parts;
    let found = library.undescribed_parts().into_iter().filter(|part| !is_planned(part, planned));
    found.map(|part| part.path.display().to_string()).collect()
}
