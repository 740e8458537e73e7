//! Reads a plugin's description of itself, and checks it before anything is used.

mod entry;
mod parts;
mod room;
mod schema;
mod table;

use std::collections::HashSet;
use std::mem::offset_of;

use gpbench_abi::{self as abi, Learner, MINOR, Plugin, Solver};
use gpbench_terms::{Part, SolverInfo};

pub use entry::{LearnerEntry, SolverEntry};
pub(crate) use schema::admits;

use entry::{read_learner, read_solver};
use parts::read_parts;
use room::Room;
use table::{entries, table};

/// Bytes of the smallest [`Plugin`], that of version 1.0.
const PLUGIN_BYTES: usize = offset_of!(Plugin, learner_stride) + size_of::<i64>();

/// A library's description, checked.
#[derive(Debug)]
pub(crate) struct Description {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) minor: u32,
    pub(crate) solvers: Vec<SolverEntry>,
    pub(crate) learners: Vec<LearnerEntry>,
    pub(crate) parts: Vec<Part>,
}

/// Reads and checks a plugin's description.
///
/// # Safety
/// `plugin` is null or points to a table that begins with its true size and
/// whose pointers are null or point to as many entries as it says.
pub(crate) unsafe fn read(plugin: *const Plugin) -> Result<Description, String> {
    let room = &Room::full();
    // SAFETY: every call below passes on pointers of the description, which are valid by this
    // function's contract.
    unsafe {
        let plugin = table(plugin, PLUGIN_BYTES, "the description of the library")?;
        let name = room.text(plugin.name, "the name of the library")?;
        if name.is_empty() {
            return Err("the library has no name".into());
        }
        let version = room.text(plugin.version, "the version of the library")?;
        let solvers = (plugin.solvers, plugin.n_solvers, plugin.solver_stride);
        let mut solvers = entries(solvers, offset_of!(Solver, source), "solver", |table, place| {
            read_solver(table, place, room)
        })?;
        let learners = (plugin.learners, plugin.n_learners, plugin.learner_stride);
        let mut learners = entries(learners, offset_of!(Learner, source), "learner", |table, place| {
            read_learner(table, place, room)
        })?;
        let parts = read_parts((plugin.parts, plugin.n_parts, plugin.part_stride), room)?;
        // In another version, values that are unknown here may be valid.
        if plugin.minor != MINOR {
            solvers.iter_mut().for_each(|solver| solver.oddities.clear());
            learners.iter_mut().for_each(|learner| learner.oddities.clear());
        }
        let mut seen = HashSet::new();
        for info in infos(&solvers, &learners) {
            if !seen.insert(&info.id) {
                return Err(format!("the library offers `{}` twice", info.id));
            }
        }
        Ok(Description { name, version, minor: plugin.minor, solvers, learners, parts })
    }
}

/// Reads and checks a part that a library reports while it runs.
///
/// # Safety
/// `part` is null or points to a part whose texts are null or as long as they say.
pub(crate) unsafe fn read_part(part: *const abi::Part) -> Result<Part, String> {
    if part.is_null() || !part.is_aligned() {
        return Err("it is a null or misaligned pointer".to_owned());
    }
    // SAFETY: not null and aligned; the rest by this function's contract.
    unsafe { parts::read_part(&*part, &Room::full()) }
}

/// Schemas of the entries, solvers first.
pub(crate) fn infos<'e>(
    solvers: &'e [SolverEntry],
    learners: &'e [LearnerEntry],
) -> impl Iterator<Item = &'e SolverInfo> {
    solvers.iter().map(|solver| &solver.info).chain(learners.iter().map(|learner| &learner.info))
}
