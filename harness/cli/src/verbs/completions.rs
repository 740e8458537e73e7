//! `gpbench completions`: a completion script for a shell.

use clap::{Args, Command};

use crate::exit::{OK, Outcome};
use crate::output;

/// `gpbench completions`.
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell.
    shell: clap_complete::Shell,
}

pub(crate) fn completions(args: &Completions, mut program: Command) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut program, "gpbench", &mut script);
    output::print(&String::from_utf8_lossy(&script))?;
    Ok(OK)
}
