//! Solvers and learners of a library: their schemas, and their tables, in which all required functions are present.

use std::mem::offset_of;

use gpbench_abi::{self as abi, Learner, Solver, Str};
use gpbench_terms::{Capabilities, Facts, SolverInfo, SolverKind};

use super::room::Room;
use super::schema::read_info;

/// Bytes of a [`Learner`] up to the last function that minor version 2 added.
pub(super) const LEARNER_BYTES: usize = offset_of!(Learner, destroy) + size_of::<*const ()>();

/// A solver of a loaded library: its functions, which are known to be present, and its schema.
#[derive(Debug)]
pub struct SolverEntry {
    pub(crate) table: Solver,
    /// Id, documentation and parameters.
    pub info: SolverInfo,
    /// Differences between the table and this version of the interface, each as a sentence. The solver can still be
    /// used. Empty for a library that was built for another version, in which the differences may be valid.
    pub oddities: Vec<String>,
}

impl SolverEntry {
    /// The solver of a table.
    ///
    /// # Errors
    /// What is wrong with the table, as a sentence.
    ///
    /// # Safety
    /// Texts and parameters of the table are null or as long as it says, and static; its functions are what the
    /// interface says of them.
    pub unsafe fn of(table: Solver) -> Result<SolverEntry, String> {
        // SAFETY: by this function's contract.
        unsafe { read_solver(table, "the solver", &Room::full()) }
    }
}

/// A learner of a loaded library: its table, and its schema.
#[derive(Debug)]
pub struct LearnerEntry {
    /// The table. Its functions are null if the schema says [`listed_only`](SolverInfo::listed_only); otherwise all
    /// required functions are present.
    pub(crate) table: Learner,
    /// Id, documentation and parameters.
    pub info: SolverInfo,
    /// As for [`SolverEntry`].
    pub oddities: Vec<String>,
}

impl LearnerEntry {
    /// The learner of a table.
    ///
    /// # Errors
    /// What is wrong with the table, as a sentence.
    ///
    /// # Safety
    /// As for [`SolverEntry::of`].
    pub unsafe fn of(table: Learner) -> Result<LearnerEntry, String> {
        // SAFETY: by this function's contract.
        unsafe { read_learner(table, "the learner", &Room::full()) }
    }
}

/// Differences between a table and that of this version.
fn oddities(expected: usize, size: u32, reserved: u32, capabilities: u64) -> Vec<String> {
    let unknown = Capabilities::from_number(capabilities).unknown();
    let mut oddities = Vec::new();
    if size as usize != expected {
        oddities.push(format!("the table gives its size as {size} bytes, not {expected}"));
    }
    if reserved != 0 {
        oddities.push(format!("the reserved field holds {reserved}, not 0"));
    }
    if unknown != 0 {
        oddities.push(format!("capabilities has the unknown bits {unknown:#x}"));
    }
    oddities
}

/// # Safety
/// The table's pointers are null or point to as many entries as it says.
pub(super) unsafe fn read_solver(table: Solver, place: &str, room: &Room) -> Result<SolverEntry, String> {
    // SAFETY: by this function's contract.
    let mut info = unsafe {
        let texts = (table.id, table.doc);
        read_info(SolverKind::Solver, texts, table.capabilities, (table.params, table.n_params), place, room)?
    };
    // SAFETY: by this function's contract.
    (info.source, info.facts) =
        unsafe { (read_source(table.source, &info.id, room)?, read_facts(&table.facts, &info.id, room)?) };
    let functions = [
        ("create", table.create.is_some()),
        ("solve", table.solve.is_some()),
        ("destroy", table.destroy.is_some()),
    ];
    all_there("solver", &info.id, &functions)?;
    let oddities = oddities(size_of::<Solver>(), table.size, table.reserved, table.capabilities);
    Ok(SolverEntry { table, info, oddities })
}

/// # Safety
/// The table's pointers are null or point to as many entries as it says.
pub(super) unsafe fn read_learner(table: Learner, place: &str, room: &Room) -> Result<LearnerEntry, String> {
    let texts = (table.id, table.doc);
    let params = (table.params, table.n_params);
    // SAFETY: by this function's contract.
    let mut info = unsafe { read_info(SolverKind::Learner, texts, table.capabilities, params, place, room) }?;
    // SAFETY: by this function's contract.
    (info.source, info.facts) =
        unsafe { (read_source(table.source, &info.id, room)?, read_facts(&table.facts, &info.id, room)?) };
    let functions = [
        ("create", table.create.is_some()),
        ("begin", table.begin.is_some()),
        ("fit", table.fit.is_some()),
        ("predict", table.predict.is_some()),
        ("destroy", table.destroy.is_some()),
    ];
    info.listed_only = lacks_functions(&table);
    if !info.listed_only {
        all_there("learner", &info.id, &functions)?;
        if table.save.is_some() != table.load.is_some() {
            return Err(format!("learner `{}` has one of the functions `save` and `load`", info.id));
        }
    }
    let oddities = oddities(size_of::<Learner>(), table.size, table.reserved, table.capabilities);
    Ok(LearnerEntry { table, info, oddities })
}

/// Whether a learner's table ends before the functions, which minor version 2 added.
fn lacks_functions(table: &Learner) -> bool {
    (table.size as usize) < LEARNER_BYTES
}

/// # Safety
/// The text is null or as long as it says.
unsafe fn read_source(source: Str, id: &str, room: &Room) -> Result<Option<String>, String> {
    // SAFETY: by this function's contract.
    let source = unsafe { room.text(source, &format!("the source of `{id}`")) }?;
    Ok(Some(source).filter(|source| !source.is_empty()))
}

/// # Safety
/// The texts are null or as long as they say.
unsafe fn read_facts(facts: &abi::Facts, id: &str, room: &Room) -> Result<Facts, String> {
    // SAFETY: by this function's contract.
    let text = |text: Str, what: &str| unsafe { room.text(text, &format!("the {what} of `{id}`")) };
    Ok(Facts {
        step: text(facts.step, "cost of a step")?,
        memory: text(facts.memory, "memory")?,
        guarantees: text(facts.guarantees, "guarantees")?,
        advice: text(facts.advice, "advice")?,
    })
}

fn all_there(kind: &str, id: &str, functions: &[(&str, bool)]) -> Result<(), String> {
    match functions.iter().find(|(_, there)| !there) {
        Some((missing, _)) => Err(format!("{kind} `{id}` has no function `{missing}`")),
        None => Ok(()),
    }
}
