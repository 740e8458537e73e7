//! Archived results beside those of a run: packed runs, run folders, and folders of packed runs.

use std::fs;
use std::path::Path;

use gpbench_record::NamedArchive;
use gpbench_report::{Frame, Run};
use gpbench_runs::{NeutralNames, is_packed, read_manifest, resolve_run};

use crate::args::Global;
use crate::exit::{Failure, OK, Outcome};
use crate::notice::warn;
use crate::runs;

/// Folders within folders that are searched for packed runs.
const DEEPEST: usize = 4;

/// The names of the runs that a name stands for: the packed runs in a folder of this path and in the folders within, or
/// itself.
pub(crate) fn names(named: &str) -> Vec<String> {
    let mut packed = Vec::new();
    search(Path::new(named), DEEPEST, &mut packed);
    packed.sort();
    if packed.is_empty() { vec![named.to_owned()] } else { packed }
}

/// Adds the packed runs in a folder and in those within; none where it is no folder. Hidden folders and links to folders
/// are left out.
fn search(folder: &Path, depth: usize, packed: &mut Vec<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        if is_packed(&path) {
            packed.extend(path.to_str().map(str::to_owned));
        } else if depth > 0 && !is_hidden && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            search(&path, depth - 1, packed);
        }
    }
}

/// Why archived results at a path cannot be read, as far as that is seen without unpacking them; nothing if they can.
pub(crate) fn fault(global: &Global, path: &Path) -> Option<String> {
    let look = |name: &String| match Path::new(name).is_file() {
        true => read_manifest(Path::new(name)).map(drop),
        false => resolve_run(&global.output_dir, name).map(drop),
    };
    match at(path) {
        Ok(names) => names.iter().find_map(|name| look(name).err()).map(|error| error.to_string()),
        Err(why) => Some(why),
    }
}

/// The names of the runs at a path, or why there are none.
fn at(path: &Path) -> Result<Vec<String>, String> {
    let text = path.to_str().ok_or_else(|| format!("the path {} is not UTF-8", path.display()))?;
    match fs::metadata(path) {
        Ok(_) => Ok(names(text)),
        Err(error) => Err(format!("{}: {error}", path.display())),
    }
}

/// The archived runs that a run's spec names.
pub(crate) struct Archive {
    /// Those that can be read.
    runs: Vec<Run>,
    /// Why others cannot be read, one a line.
    faults: Vec<String>,
}

impl Archive {
    /// Reads the archived runs that the spec of a run names in `[report] compare`. The others are shown where one
    /// cannot be read.
    pub(crate) fn of(global: &Global, run: &Run) -> Archive {
        let mut archive = Archive { runs: Vec::new(), faults: Vec::new() };
        for NamedArchive { path, at: place } in &run.record.report.compare {
            match at(path) {
                // The run was packed or published, which leaves its archive behind.
                Err(_) if NeutralNames::are_in(&path.to_string_lossy()) => {
                    let path = path.display();
                    warn(
                        global,
                        format!("{place}: the archived results of {path} are not here, and not shown"),
                    );
                }
                Ok(names) => names.iter().for_each(|name| archive.add(global, place, name)),
                Err(why) => archive.miss(place, &why),
            }
        }
        archive
    }

    fn add(&mut self, global: &Global, place: &str, name: &str) {
        // What has no tables would cost those of the run.
        let readable = |run: Run| runs::frame(&run).map(drop).map(|()| run);
        match runs::open(global, name).and_then(readable) {
            Ok(run) => self.runs.push(run),
            Err(failure) => self.miss(place, &failure.text),
        }
    }

    fn miss(&mut self, place: &str, why: &str) {
        self.faults.push(format!("{place}: error: archived results cannot be shown: {why}"));
    }

    /// The tables of a run, beside which the archived results stand.
    pub(crate) fn beside<'r>(&'r self, run: &'r Run) -> Result<Frame<'r>, Failure> {
        runs::frame(run)?.with_archive(&self.runs).map_err(Failure::internal)
    }

    /// The failure to read some of them, after all else is done.
    pub(crate) fn failure(&self) -> Option<Failure> {
        (!self.faults.is_empty()).then(|| Failure::usage(self.faults.join("\n")))
    }

    /// Ends a verb whose results are written and printed: with the failure to read some archived results, unless
    /// another exit code comes first.
    pub(crate) fn end(&self, global: &Global, code: u8) -> Outcome {
        match self.failure() {
            Some(failure) if code == OK => Err(failure),
            failure => {
                failure.iter().for_each(|failure| warn(global, &failure.text));
                Ok(code)
            }
        }
    }
}
