//! The programs of an attempt: what is executed and loaded is what was planned.
//!
//! A build during a run replaces plugins and the worker. Each is therefore linked into the run folder when an attempt
//! begins, or copied where it cannot be linked, and the content of the link is hashed. A file that is replaced later
//! does not change its link. One that is overwritten in place does: the stamps of worker and plugin are compared
//! before and after each work item, so that no row belongs to another program than the one planned.
//!
//! A program or library that looks for others beside itself (`$ORIGIN`) stays where it is, as do scripts and all parts of
//! libraries, and every file if nothing in the run folder may be executed or there is no room for a copy. Their stamps tell
//! of both kinds of change.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use gpbench_files::is_full;
use gpbench_record::{
    ComposedLibrary, Composition, Environment, Fault, FaultCause, Message, PluginParts, Program,
    ProgramError, finds_by_own_folder, names_own_folder,
};
use gpbench_runs::Workspace;
use rustix::fs::{StatVfsMountFlags, statvfs};

use crate::executor::is_terminal;
use crate::{End, Executor, Interrupt, Outcome, Planned, WorkItem};

/// The plugin libraries of an attempt with their parts, by the file and the identity that were planned.
#[derive(Debug)]
pub(crate) struct Plugins(HashMap<(PathBuf, String), (Program, PluginParts)>);

impl Plugins {
    /// Keeps the libraries of these cases.
    ///
    /// # Errors
    /// When a library cannot be read, or is not the one that was planned.
    pub(crate) fn keep(
        keeper: &Keeper,
        libraries: &[ComposedLibrary],
        cases: &[Planned<'_>],
    ) -> Result<Self, ProgramError> {
        Self::each(libraries, cases, |file, identity| keeper.keep(file, identity))
    }

    /// No library, for solutions alone.
    pub(crate) fn none() -> Self {
        Self(HashMap::new())
    }

    /// The libraries of these cases at their own places, where a debugger finds their symbols.
    ///
    /// # Errors
    /// When a library cannot be read, or is not the one that was planned.
    pub(crate) fn in_place(
        libraries: &[ComposedLibrary],
        cases: &[Planned<'_>],
    ) -> Result<Self, ProgramError> {
        Self::each(libraries, cases, |file, identity| Program::of(file)?.matching(identity))
    }

    /// The libraries of these cases; `single` finds one that consists of its file alone.
    fn each(
        libraries: &[ComposedLibrary],
        cases: &[Planned<'_>],
        single: impl Fn(&Path, &str) -> Result<Program, ProgramError>,
    ) -> Result<Self, ProgramError> {
        let mut kept = HashMap::new();
        for &planned in cases {
            if let Entry::Vacant(place) = kept.entry(key(planned)) {
                let (file, identity) = place.key();
                let is_it = |library: &&ComposedLibrary| library.file == *file && library.sha256 == *identity;
                let library = match libraries.iter().find(is_it) {
                    Some(library) => composed(file, &library.composition)?,
                    None => (single(file, identity)?, PluginParts::default()),
                };
                place.insert(library);
            }
        }
        Ok(Self(kept))
    }

    /// The library of a case, and its parts.
    pub(crate) fn of(&self, planned: Planned<'_>) -> (Program, PluginParts) {
        self.0.get(&key(planned)).expect("the libraries of all cases that run are kept").clone()
    }
}

fn key(planned: Planned<'_>) -> (PathBuf, String) {
    (planned.files.plugin_file.clone(), planned.fingerprint.plugin_sha256.clone())
}

/// A library with parts, which stays where it is: it finds them by its path.
///
/// # Errors
/// When a part cannot be read, or its content is not what was planned.
fn composed(file: &Path, composition: &Composition) -> Result<(Program, PluginParts), ProgramError> {
    let Composition { bridge, runtime, parts } = composition.clone();
    let parts = parts.iter().map(|part| Program::of(&part.path)?.matching(&part.sha256));
    let parts = parts.collect::<Result<_, _>>()?;
    Ok((Program::of(file)?, PluginParts { bridge, runtime, parts }))
}

/// Keeps programs in the workspace of an attempt that has begun.
#[derive(Debug)]
pub(crate) struct Keeper {
    folder: PathBuf,
}

impl Keeper {
    pub(crate) fn new(workspace: &Workspace) -> Self {
        Self { folder: workspace.programs().to_owned() }
    }

    /// Keeps a program: the file to use from now on.
    ///
    /// # Errors
    /// When it cannot be read, or its content is not what was planned.
    fn keep(&self, file: &Path, sha256: &str) -> Result<Program, ProgramError> {
        let unreadable = |source| ProgramError::Unreadable { file: file.to_owned(), source };
        let original = fs::canonicalize(file).map_err(unreadable)?;
        if self.forbids_execution() || names_own_folder(&original).map_err(unreadable)? {
            return Program::of(&original)?.matching(sha256);
        }
        let Some(kept) = self.link(&original, sha256)? else {
            return Program::of(&original)?.matching(sha256);
        };
        let program = Program::of(&kept)?.matching(sha256);
        program.map_err(|error| match error {
            // The user knows the original.
            ProgramError::Changed { expected, found, .. } => {
                ProgramError::Changed { file: original, expected, found }
            }
            unreadable => unreadable,
        })
    }

    /// Keeps a program that has been hashed already.
    ///
    /// # Errors
    /// When it has changed since, or is not what was planned.
    fn keep_hashed(&self, program: &Program, sha256: &str) -> Result<Program, ProgramError> {
        let unreadable = |source| ProgramError::Unreadable { file: program.file.clone(), source };
        let original = fs::canonicalize(&program.file).map_err(unreadable)?;
        let program = program.clone().matching(sha256)?.at(&original)?;
        let unreadable = |source| ProgramError::Unreadable { file: original.clone(), source };
        if self.forbids_execution() || finds_by_own_folder(&original).map_err(unreadable)? {
            return Ok(program);
        }
        match self.link(&original, sha256)? {
            Some(kept) => program.at_new_link(&kept),
            None => Ok(program),
        }
    }

    /// Links a program into the workspace, or copies it. `None` where there is no room for a copy.
    fn link(&self, original: &Path, sha256: &str) -> Result<Option<PathBuf>, ProgramError> {
        link(original, &self.folder.join(sha256)).map_err(|source| ProgramError::NotCopied {
            file: original.to_owned(),
            folder: self.folder.clone(),
            source,
        })
    }

    /// Whether nothing in the run folder may be executed, as on a file system mounted with `noexec`.
    fn forbids_execution(&self) -> bool {
        statvfs(&self.folder).is_ok_and(|system| system.f_flag.contains(StatVfsMountFlags::NOEXEC))
    }
}

/// Links a file into a folder, or copies it: another file system, or a file of another user, cannot be linked. `None` where there
/// is no room for a copy.
fn link(file: &Path, folder: &Path) -> io::Result<Option<PathBuf>> {
    let name = file.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
    let link = folder.join(name);
    let kept = fs::create_dir_all(folder).and_then(|()| match fs::hard_link(file, &link) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            // A later attempt would take an incomplete copy for the program.
            fs::copy(file, &link).map(drop).inspect_err(|_| drop(fs::remove_file(&link)))
        }
        _ => Ok(()),
    });
    match kept {
        Ok(()) => Ok(Some(link)),
        Err(error) if is_full(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// An executor that runs a work item only by the programs that were hashed. An outcome of others is a fault.
pub(crate) struct CheckedExecutor<'a> {
    executor: &'a dyn Executor,
    /// The worker that was kept, and the executor that runs it, where it is a file of this machine.
    kept: Option<(Program, Box<dyn Executor + 'a>)>,
    /// The programs as they were last hashed, by their files: a later hard link to one, as another run makes, changes its
    /// stamp for good.
    hashed: Mutex<HashMap<PathBuf, Program>>,
}

impl<'a> CheckedExecutor<'a> {
    /// Keeps the worker of an executor, whose SHA-256 the plan has.
    ///
    /// # Errors
    /// When the worker cannot be read, or is not the one that was planned.
    pub(crate) fn new(
        keeper: &Keeper,
        executor: &'a dyn Executor,
        sha256: Option<&str>,
    ) -> Result<Self, ProgramError> {
        let (Some(worker), Some(sha256)) = (executor.worker(), sha256) else {
            return Ok(Self { executor, kept: None, hashed: Mutex::default() });
        };
        let worker = keeper.keep_hashed(worker, sha256)?;
        let with_kept = executor.with_worker(&worker.file);
        let kept = with_kept.map(|executor| (worker, executor));
        Ok(Self { executor, kept, hashed: Mutex::default() })
    }

    fn executor(&self) -> &dyn Executor {
        self.kept.as_ref().map_or(self.executor, |(_, executor)| &**executor)
    }

    /// The fault of a program that has changed since it was hashed.
    fn check(&self, item: &WorkItem) -> Result<(), Fault> {
        if let Some((worker, _)) = &self.kept {
            self.check_program(worker).map_err(|error| fault(FaultCause::Worker, &error))?;
        }
        match item {
            WorkItem::Case(job) => {
                let programs = [&job.plugin].into_iter().chain(&job.plugin_parts.parts);
                let checked = programs.into_iter().try_for_each(|program| self.check_program(program));
                checked.map_err(|error| fault(FaultCause::Plugin, &error))
            }
            WorkItem::Verify(_) | WorkItem::Exact(_) | WorkItem::Optimum(_) => Ok(()),
        }
    }

    /// Checks that a program has the content that was planned.
    fn check_program(&self, planned: &Program) -> Result<(), ProgramError> {
        let known = self.hashed.lock().unwrap_or_else(PoisonError::into_inner).get(&planned.file).cloned();
        let known = known.filter(|known| known.sha256 == planned.sha256);
        let now = known.as_ref().unwrap_or(planned).at(&planned.file)?;
        if known.as_ref() != Some(&now) {
            self.hashed.lock().unwrap_or_else(PoisonError::into_inner).insert(now.file.clone(), now);
        }
        Ok(())
    }
}

fn fault(cause: FaultCause, error: &ProgramError) -> Fault {
    Fault { cause, reason: error.to_string(), plugin_ran: false }
}

impl Executor for CheckedExecutor<'_> {
    fn machine(&self) -> Environment {
        self.executor().machine()
    }

    fn free_memory(&self) -> Option<u64> {
        self.executor().free_memory()
    }

    fn run(&self, item: &WorkItem, log: &Path, interrupt: &Interrupt, seen: &dyn Fn(&Message)) -> Outcome {
        if let Err(fault) = self.check(item) {
            let end = End::NotStarted { reason: fault.reason.clone() };
            return Outcome { messages: vec![Message::Fault(fault)], ..Outcome::of(end) };
        }
        let mut outcome = self.executor().run(item, log, interrupt, seen);
        // Whatever was computed, or crashed, may be another program's.
        if let Err(fault) = self.check(item) {
            let fault = Fault { plugin_ran: matches!(item, WorkItem::Case(_)), ..fault };
            outcome.messages.retain(|message| !is_terminal(message));
            outcome.messages.push(Message::Fault(fault));
        }
        outcome
    }
}
