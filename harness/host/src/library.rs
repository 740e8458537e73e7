//! A plugin library: its solvers and learners, and the errors of libraries that cannot be used.

use std::path::{Path, PathBuf};

use gpbench_abi::{ENTRY, MAJOR, Plugin};
use gpbench_terms::{Clock, Part, SolverInfo, SolverKind};
use thiserror::Error;

use crate::description::{self, Description, LearnerEntry, SolverEntry};
use crate::host_table::HostTable;

/// Reason why a library cannot be used.
#[derive(Debug, Error)]
pub enum LibraryError {
    /// The system's loader refused it.
    #[error("{file} cannot be loaded: {reason}", file = file.display())]
    Open {
        /// The file.
        file: PathBuf,
        /// The loader's message.
        reason: String,
    },
    /// It is a script whose bridge is not installed.
    #[error(
        "{file} is a script, and its bridge `{bridge}` is in none of the folders {places}; build or install it, or name its folder in GPBENCH_PLUGIN_PATH",
        file = file.display(),
        places = listed(places)
    )]
    NoBridge {
        /// The file.
        file: PathBuf,
        /// File name of the bridge.
        bridge: String,
        /// The folders in which it was looked for.
        places: Vec<PathBuf>,
    },
    /// Something that it needs is not installed.
    #[error("{file} cannot run here: {reason}", file = file.display())]
    Absent {
        /// The file.
        file: PathBuf,
        /// What it needs, in the library's words.
        reason: String,
    },
    /// It has no entry function.
    #[error(
        "{file} exports no function `{symbol}`: it is not a gpbench plugin, or one for another major version of the interface",
        file = file.display(),
        symbol = ENTRY.to_string_lossy()
    )]
    NoEntry {
        /// The file.
        file: PathBuf,
    },
    /// Its entry function returned null.
    #[error("{file} gave no description of itself: {reason}", file = file.display())]
    NoDescription {
        /// The file.
        file: PathBuf,
        /// Its message.
        reason: String,
    },
    /// Its description is malformed.
    #[error("{file} describes itself wrongly: {what}", file = file.display())]
    Malformed {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// It has no such solver or learner.
    #[error("{file} offers no {kind} `{id}`; it offers {offered}", file = file.display())]
    NoEntryOf {
        /// The file.
        file: PathBuf,
        /// Either kind, as a noun.
        kind: &'static str,
        /// The requested id.
        id: String,
        /// What it offers.
        offered: String,
    },
    /// It lists the learner without functions, as the interface's first versions had it.
    #[error(
        "{file} was built for interface {abi}, which has no functions of learners: `{id}` cannot run; build it again",
        file = file.display()
    )]
    ListedOnly {
        /// The file.
        file: PathBuf,
        /// Version of the interface that it was built with.
        abi: String,
        /// The requested id.
        id: String,
    },
}

fn listed(places: &[PathBuf]) -> String {
    places.iter().map(|place| place.display().to_string()).collect::<Vec<_>>().join(", ")
}

/// A loaded library, which stays loaded until the process ends.
#[derive(Debug)]
pub struct Library {
    file: PathBuf,
    host: &'static HostTable,
    description: Description,
    /// Time of the constructors and of the entry function.
    pub(crate) described: Clock,
    /// The shared object that serves a script.
    pub(crate) bridge: Option<PathBuf>,
}

impl Library {
    /// Checks the description of a plugin that is part of this program.
    ///
    /// # Safety
    /// `plugin` is null or points to a static table that begins with its true size,
    /// and whose pointers are null or point to as many entries as it says.
    pub unsafe fn from_description(
        file: &Path,
        plugin: *const Plugin,
        host: &'static HostTable,
    ) -> Result<Library, LibraryError> {
        // SAFETY: by this function's contract.
        let description = unsafe { description::read(plugin) };
        let description =
            description.map_err(|what| LibraryError::Malformed { file: file.to_owned(), what })?;
        let described = Clock::default();
        Ok(Library { file: file.to_owned(), host, description, described, bridge: None })
    }

    /// Time of loading the library, which runs its constructors, and of its entry function, which describes it; zero for a plugin that
    /// is part of this program.
    pub fn described(&self) -> Clock {
        self.described
    }

    /// The shared object that serves this library, which is a script; `None` for a shared object.
    pub fn bridge(&self) -> Option<&Path> {
        self.bridge.as_deref()
    }

    /// What the library consists of beside its file, as it describes itself.
    pub fn parts(&self) -> &[Part] {
        &self.description.parts
    }

    /// The parts that the library has reported while it ran and that are not among [`parts`](Self::parts).
    pub fn undescribed_parts(&self) -> Vec<Part> {
        let found = self.host.found_parts();
        found.into_iter().filter(|part| !self.parts().iter().any(|known| is_same(known, part))).collect()
    }

    /// The library's own name.
    pub fn name(&self) -> &str {
        &self.description.name
    }

    /// The library's own version.
    pub fn version(&self) -> &str {
        &self.description.version
    }

    /// Version of the interface that it was built with, `major.minor`.
    pub fn abi(&self) -> String {
        format!("{MAJOR}.{}", self.description.minor)
    }

    /// The entries of the solver axis: solvers, then learners.
    pub fn offers(&self) -> impl Iterator<Item = &SolverInfo> {
        description::infos(&self.description.solvers, &self.description.learners)
    }

    /// The solver of this id.
    pub fn solver(&self, id: &str) -> Result<&SolverEntry, LibraryError> {
        let solver = self.description.solvers.iter().find(|solver| solver.info.id == id);
        solver.ok_or_else(|| self.has_no("solver", id))
    }

    /// The learner of this id, which has all functions that the interface requires.
    pub fn learner(&self, id: &str) -> Result<&LearnerEntry, LibraryError> {
        let learner = self.description.learners.iter().find(|learner| learner.info.id == id);
        let learner = learner.ok_or_else(|| self.has_no("learner", id))?;
        if learner.info.listed_only {
            let (file, abi) = (self.file.clone(), self.abi());
            return Err(LibraryError::ListedOnly { file, abi, id: id.to_owned() });
        }
        Ok(learner)
    }

    fn has_no(&self, kind: &'static str, id: &str) -> LibraryError {
        let offered: Vec<_> = self.offers().map(offer).collect();
        let offered = if offered.is_empty() { "none".to_owned() } else { offered.join("; ") };
        LibraryError::NoEntryOf { file: self.file.clone(), kind, id: id.to_owned(), offered }
    }

    /// The host that this library was given.
    pub fn host(&self) -> &'static HostTable {
        self.host
    }
}

/// Whether two parts are the same file with the same content.
fn is_same(one: &Part, other: &Part) -> bool {
    (&one.path, &one.sha256) == (&other.path, &other.sha256)
}

fn offer(info: &SolverInfo) -> String {
    match info.kind {
        SolverKind::Solver => format!("`{}`", info.id),
        SolverKind::Learner => format!("`{}`, a learner", info.id),
    }
}
