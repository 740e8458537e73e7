//! `gpbench manual`: manual pages.

use std::path::PathBuf;

use clap::{Args, Command};

use crate::exit::{Failure, OK, Outcome};

/// `gpbench manual`.
#[derive(Debug, Args)]
pub(crate) struct Manual {
    /// Folder that the pages are written into, such as `~/.local/share/man/man1`; it is created.
    dir: PathBuf,
}

pub(crate) fn manual(args: &Manual, program: Command) -> Outcome {
    let folder = &args.dir;
    std::fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(program, folder))
        .map_err(|error| Failure::usage(format!("{} cannot be written: {error}", folder.display())))?;
    Ok(OK)
}
