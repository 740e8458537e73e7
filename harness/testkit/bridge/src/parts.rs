//! The parts of a script. The script and the bridge themselves are left to the host.

use std::path::Path;

use gpbench_sdk::abi::{self, part_kind};
use gpbench_sdk::{Error, Result};
use sha2::{Digest as _, Sha256};

use crate::script::Script;

/// The parts that the script names, and the program that runs it.
pub(crate) fn describe(script: &Script) -> Result<Vec<abi::Part>> {
    let mut parts = Vec::new();
    for name in &script.uses {
        parts.push(part(part_kind::FILE, name, "", &script.beside(name))?);
    }
    for [name, version, list] in &script.packages {
        parts.push(part(part_kind::PACKAGE, name, version, &script.beside(list))?);
    }
    if !script.runtime.is_empty() {
        parts.push(part(part_kind::RUNTIME, "runtime", "1", Path::new(&script.runtime))?);
    }
    Ok(parts)
}

/// A part, which lives as long as the process.
pub(crate) fn part(kind: i32, name: &str, version: &str, path: &Path) -> Result<abi::Part> {
    let content = std::fs::read(path).map_err(|error| Error::new(format!("{}: {error}", path.display())))?;
    let hash: String = Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect();
    let text = |text: String| abi::Str::new(text.leak());
    Ok(abi::Part {
        kind,
        reserved: 0,
        name: text(name.to_owned()),
        version: text(version.to_owned()),
        path: text(path.to_string_lossy().into_owned()),
        sha256: text(hash),
    })
}
