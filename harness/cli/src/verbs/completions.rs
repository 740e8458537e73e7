//! `gpbench completions`: a completion script for a shell.

use clap::CommandFactory;

use crate::args::{Cli, Completions};
use crate::exit::{OK, Outcome};
use crate::output;

pub(crate) fn completions(args: &Completions) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "gpbench", &mut script);
    output::print(&String::from_utf8_lossy(&script));
    Ok(OK)
}
