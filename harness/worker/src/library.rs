//! Loads the library of a case.

use gpbench_host::{HostTable, Library};
use gpbench_record::Program;

use crate::failure::CaseError;

/// Loads a library, whose content must be the planned one.
pub(crate) fn load_planned(program: &Program, host: &'static HostTable) -> Result<Library, CaseError> {
    program.check()?;
    let library = Library::load(&program.file, host);
    // The loader opens the file by its name. The file may have been replaced, which may be why loading failed.
    program.check()?;
    Ok(library?)
}
