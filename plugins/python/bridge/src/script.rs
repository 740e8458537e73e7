//! The script that this process serves, and its child process.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use gpbench_abi as abi;
use serde_json::json;

use crate::arena::Arena;
use crate::child::Start;
use crate::description::{Description, describe};
use crate::failure::{Failure, Result};
use crate::host::Host;
use crate::interpreter::Interpreter;
use crate::process::Process;
use crate::region::FIRST;
use crate::{package, tables};

/// What the processes of a script may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScriptLimits {
    /// Threads.
    pub threads: u32,
    /// Bytes of memory; 0 without a limit.
    pub memory: i64,
}

/// A described script.
#[derive(Debug)]
pub struct Script {
    /// What it offers.
    pub description: Description,
    /// Its tables.
    pub plugin: &'static abi::Plugin,
    file: PathBuf,
    package: PathBuf,
    /// The classes, and the files that the child may import with their hashes, as the text of a JSON object.
    known: String,
    limits: ScriptLimits,
}

/// What the thread that the host calls on serves.
#[derive(Default)]
struct Served {
    script: Option<&'static Script>,
    /// Ended when the thread ends, if the process does not end before.
    process: Option<Rc<Process>>,
}

thread_local! {
    static SERVED: RefCell<Served> = RefCell::default();
}

/// Describes a script, which is then the one that objects are made of. An empty `runtime` leaves the choice of the
/// interpreter to the environment.
///
/// # Errors
/// What is wrong, in one text.
pub fn open(file: &Path, runtime: &str, limits: ScriptLimits) -> Result<&'static Script> {
    let library = package::library();
    let package = package::folder(library.as_deref()).map_err(Failure::new)?;
    let description = describe(&Interpreter::find(runtime), &package, file)?;
    let mut parts = description.parts.clone();
    parts.extend(library.as_deref().map(package::part).transpose().map_err(Failure::new)?);
    let files = description.parts.iter().filter(|part| part.kind == "FILE");
    let files: BTreeMap<&str, &str> = files.map(|part| (&*part.path, &*part.sha256)).collect();
    let plugin = tables::plugin(&description, &parts, file).map_err(Failure::new)?;
    let known = json!({ "classes": description.said, "files": files }).to_string();
    let file = file.to_owned();
    let script: &'static Script =
        Box::leak(Box::new(Script { description, plugin, file, package, known, limits }));
    SERVED.replace(Served { script: Some(script), process: None });
    Ok(script)
}

/// The script that this thread serves.
pub fn current() -> Result<&'static Script> {
    let script = SERVED.with_borrow(|served| served.script);
    script.ok_or_else(|| Failure::invalid("create: no script was described on this thread"))
}

/// The child process, which is started by the first call, and again after one that was ended by this side. It sees GPUs
/// if the object that it is started for asks for one.
pub fn process(script: &'static Script, host: Host, sees_gpus: bool) -> Result<Rc<Process>> {
    let running = SERVED.with_borrow(|served| served.process.clone());
    if let Some(process) = running.filter(|process| !process.is_over()) {
        return Ok(process);
    }
    let what = "the memory that Python shares cannot be made";
    let arena = Arena::new(script.limits.memory).map_err(|error| Failure::System { what, error })?;
    if !arena.write(FIRST, script.known.as_bytes()) {
        return Err(Failure::new(
            "the memory that Python shares has no room for the description of the script",
        ));
    }
    let Script { description, file, package, known, limits, .. } = script;
    let (python, listed) = (&description.python, known.len());
    let start = Start { python, package, script: file, threads: limits.threads, sees_gpus, listed };
    let process = Rc::new(Process::start(&start, arena, host)?);
    SERVED.with_borrow_mut(|served| served.process.replace(Rc::clone(&process)));
    Ok(process)
}
