//! Loads the library of a case.

use gpbench_host::{HostTable, Library};
use gpbench_record::Program;

use crate::failure::CaseError;

/// Loads a library that must have the content that was planned.
pub(crate) fn load_planned(program: &Program, host: &'static HostTable) -> Result<Library, CaseError> {
    program.check()?;
    let library = Library::load(&program.file, host);
    // The loader reads the file by its name: it may be another one by now, which may be why loading failed.
    program.check()?;
    Ok(library?)
}
