//! Opens a plugin library and asks it what it offers.

use std::path::{Path, PathBuf};

use gpbench_abi::{ENTRY, EntryFn, MAJOR, MINOR, Plugin};
use gpbench_record::{Program, ProgramError, SolverInfo, SolverKind};
use libloading::os::unix::{Library as Handle, RTLD_LOCAL, RTLD_NOW};
use thiserror::Error;

use super::description::{self, Description, LearnerEntry, SolverEntry};
use super::host_table::HostTable;

/// Why a library cannot be used.
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
    /// It is not the library that was planned.
    #[error(transparent)]
    Changed(#[from] ProgramError),
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
        /// Which of the two, as a noun.
        kind: &'static str,
        /// The id asked for.
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
        /// The id asked for.
        id: String,
    },
}

/// A loaded library, which stays loaded until the process ends.
#[derive(Debug)]
pub struct Library {
    file: PathBuf,
    host: &'static HostTable,
    description: Description,
}

impl Library {
    /// Loads a library that must have the content that was planned.
    pub fn load_planned(program: &Program, host: &'static HostTable) -> Result<Library, LibraryError> {
        program.check()?;
        let library = Library::load(&program.file, host);
        // The loader reads the file by its name: it may be another one by now, which may be why loading failed.
        program.check()?;
        library
    }

    /// Loads a library and checks its description.
    ///
    /// Its constructors and its entry function run in this process.
    pub fn load(file: &Path, host: &'static HostTable) -> Result<Library, LibraryError> {
        // A name without a slash would be looked for in the system's library folders.
        let path = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
        let unopened = |reason: String| LibraryError::Open { file: file.to_owned(), reason };
        // SAFETY: running a library's constructors is what loading means; the worker exists for it.
        let handle = unsafe { Handle::open(Some(path.as_path()), RTLD_NOW | RTLD_LOCAL) };
        let handle = handle.map_err(|error| unopened(reason_of(&error)))?;
        // Descriptions are promised for the life of the process, so the library is never closed.
        let handle: &'static Handle = Box::leak(Box::new(handle));
        // SAFETY: a function of this name has this type, as the interface says; the major version is
        // part of the name.
        let entry = unsafe { handle.get::<Option<EntryFn>>(ENTRY) };
        let entry = entry.ok().and_then(|symbol| *symbol);
        let entry = entry.ok_or_else(|| LibraryError::NoEntry { file: file.to_owned() })?;
        // SAFETY: called once, on the thread that loaded the library, with a host that is never freed.
        let plugin = unsafe { entry(host.as_ptr()) };
        if plugin.is_null() {
            let reason = host.take_error().unwrap_or_else(|| "it returned null and set no error".to_owned());
            return Err(LibraryError::NoDescription { file: file.to_owned(), reason });
        }
        // SAFETY: the plugin vouches for its description.
        unsafe { Library::from_description(file, plugin, host) }
    }

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
        Ok(Library { file: file.to_owned(), host, description })
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

    /// What of a solver's table differs from the version that the library was built with, each a
    /// sentence. The solver can be used nevertheless.
    pub fn oddities(&self, solver: &SolverEntry) -> Vec<String> {
        // In a later version, what is unknown here may have a meaning.
        if self.description.minor == MINOR { solver.oddities() } else { Vec::new() }
    }

    /// As [`oddities`](Self::oddities), of a learner.
    pub fn oddities_of_learner(&self, learner: &LearnerEntry) -> Vec<String> {
        if self.description.minor == MINOR { learner.oddities() } else { Vec::new() }
    }

    /// The host that this library was given.
    pub fn host(&self) -> &'static HostTable {
        self.host
    }
}

fn offer(info: &SolverInfo) -> String {
    match info.kind {
        SolverKind::Solver => format!("`{}`", info.id),
        SolverKind::Learner => format!("`{}`, a learner", info.id),
    }
}

/// The loader's own words; libloading puts them into the error's source.
fn reason_of(error: &libloading::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), |source| source.to_string())
}
