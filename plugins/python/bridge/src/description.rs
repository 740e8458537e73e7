//! What `describe.py` says about a script, and how it is run.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use gpbench_abi::Status;
use serde::Deserialize;
use serde_json::Value;

use crate::failure::{Failure, Result};
use crate::interpreter::Interpreter;

/// A script, as `describe.py` reads it.
#[derive(Debug, Deserialize)]
pub struct Description {
    /// Solvers and learners, in the order in which they are written.
    pub classes: Vec<Class>,
    /// The classes in the words of the description, with which the child compares the classes themselves.
    #[serde(skip)]
    pub said: Value,
    /// What the script consists of, interpreter and packages included.
    pub parts: Vec<Part>,
    /// The interpreter's own path of itself.
    pub python: PathBuf,
    /// What is not installed, if something is missing.
    pub absent: Option<String>,
    /// What is wrong with the script.
    pub errors: Vec<Mistake>,
}

/// A mistake in a script.
#[derive(Debug, Deserialize)]
pub struct Mistake {
    /// File.
    pub file: String,
    /// Line, from 1.
    pub line: u64,
    /// Column, from 1.
    pub column: u64,
    /// What is wrong.
    pub text: String,
}

/// A solver or learner.
#[derive(Debug, Deserialize)]
pub struct Class {
    /// Name of the class.
    pub class: String,
    /// `solver` or `learner`.
    pub kind: String,
    /// Id.
    pub id: String,
    /// First line of its docstring.
    pub doc: String,
    /// Work to cite; empty if there is none.
    #[serde(default)]
    pub source: String,
    /// What it states for readers who choose a method, by the names of the interface.
    #[serde(default)]
    pub facts: BTreeMap<String, String>,
    /// Words of the interface.
    #[serde(default)]
    pub capabilities: Vec<String>,
    /// Parameters.
    #[serde(default)]
    pub params: Vec<Param>,
}

impl Class {
    /// Whether it is a learner.
    pub fn is_learner(&self) -> bool {
        self.kind == "learner"
    }
}

/// A parameter.
#[derive(Debug, Deserialize)]
pub struct Param {
    /// Name.
    pub name: String,
    /// One line of documentation.
    pub doc: String,
    /// `bool`, `int`, `float` or `text`.
    pub kind: String,
    /// Default.
    pub default: Value,
    /// Smallest permitted value.
    #[serde(default)]
    pub min: Option<f64>,
    /// Largest permitted value.
    #[serde(default)]
    pub max: Option<f64>,
    /// Permitted texts.
    #[serde(default)]
    pub choices: Option<Vec<String>>,
}

/// One of the things that a script consists of.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Part {
    /// `FILE`, `PACKAGE` or `RUNTIME`.
    pub kind: String,
    /// Name.
    pub name: String,
    /// Version; empty for files.
    #[serde(default)]
    pub version: String,
    /// Path of the file that is hashed.
    pub path: String,
    /// SHA-256 of that file.
    pub sha256: String,
}

/// Most mistakes that an error lists.
const MOST: usize = 10;

/// Describes a script by the interpreter that will run it.
///
/// # Errors
/// What is wrong, in one text: with file, line and column if it is in the script. `UNSUPPORTED` if the script needs what is
/// not installed.
pub fn describe(python: &Interpreter, package: &Path, script: &Path) -> Result<Description> {
    let program = package.join("gpbench_harness/describe.py");
    let mut command = Command::new(&python.program);
    command.args(["-I", "-B"]).arg(program).arg(script);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let output = match command.output() {
        Ok(output) => output,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(Failure::new(python.not_found()));
        }
        Err(error) => return Err(python.wrong(&format!("cannot be started: {error}"))),
    };
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let last = said.trim().lines().last().unwrap_or("it said nothing");
        let what = format!(
            "failed to read {} ({}): {last}. gpbench needs Python 3.10 or a newer one",
            script.display(),
            output.status
        );
        return Err(python.wrong(&what));
    }
    let read = serde_json::from_slice::<Value>(&output.stdout).and_then(|read| {
        let said = read.get("classes").cloned().unwrap_or_default();
        Ok(Description { said, ..serde_json::from_value(read)? })
    });
    let description = read
        .map_err(|error| python.wrong(&format!("described {} in other words: {error}", script.display())))?;
    if !description.errors.is_empty() {
        let lines = description.errors.iter().take(MOST).map(|mistake| {
            let Mistake { file, line, column, text } = mistake;
            format!("{file}:{line}:{column}: {text}")
        });
        return Err(Failure::new(lines.collect::<Vec<_>>().join("\n")));
    }
    match description.absent {
        Some(absent) => Err(Failure::Error(Status::UNSUPPORTED, absent)),
        None => Ok(description),
    }
}
