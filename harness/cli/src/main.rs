//! The `gpbench` command.
//!
//! This crate parses the command line, prints, and decides the exit code; what
//! a verb does lives in the libraries. Each verb is one file of `verbs`.

#![forbid(unsafe_code)]

mod args;
mod catalog;
mod exit;
mod output;
mod prepare;
mod progress;
mod revision;
mod verbs;
mod verdict;
mod worker;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Global, Verb};
use exit::{Failure, Outcome};
use output::Styles;

fn main() -> ExitCode {
    let Cli { global, verb } = Cli::parse();
    // The panic itself has been printed by then.
    let outcome = catch_unwind(AssertUnwindSafe(|| perform(&global, verb))).unwrap_or_else(|_| {
        Err(Failure::internal("this is a fault of gpbench; cases that had ended are kept"))
    });
    match outcome {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            let styles = Styles::new(global.color);
            eprintln!("{} {}", styles.bad("gpbench:"), failure.text);
            ExitCode::from(failure.code)
        }
    }
}

fn perform(global: &Global, verb: Verb) -> Outcome {
    match verb {
        Verb::Run(args) => verbs::run::run(global, &args),
        Verb::Plan(args) => verbs::plan::plan(global, &args),
        Verb::List(args) => verbs::list::list(global, &args),
        Verb::Report(args) => verbs::report::report(global, &args),
        Verb::Compare(args) => verbs::compare::compare(global, &args),
        Verb::Check(args) => verbs::check::check(global, &args),
        Verb::Data(verb) => verbs::data::data(global, &verb),
        Verb::Plugin(verb) => verbs::plugin::plugin(global, &verb),
        Verb::Bench(verb) => verbs::bench::bench(global, &verb),
        Verb::Doctor(args) => verbs::doctor::doctor(global, &args),
        Verb::Clean(args) => verbs::clean::clean(global, &args),
        Verb::Completions(args) => verbs::completions::completions(&args),
    }
}
