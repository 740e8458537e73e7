//! The `gpbench` command.
//!
//! This crate parses the command line, prints, and chooses the exit code; the libraries do the work. Each verb is
//! one file of `verbs`, with its own arguments. Code that several verbs share is beside that folder.

#![deny(unsafe_code)]
// `output` and `notice` print, and nothing else: they make text of others safe for the terminal, never panic, and
// pass errors of standard output on.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod archive;
mod args;
mod catalog;
mod check_result;
mod cluster;
mod dataset;
mod dataset_list;
mod debug;
mod environment;
mod estimate;
mod execute;
mod exit;
mod neutral;
mod notice;
mod options;
mod output;
mod params;
mod pdf;
mod pilot;
mod prepare;
mod progress;
mod python;
mod renewal;
mod revision;
mod runs;
mod shipped;
mod spec_files;
mod split_words;
mod splits;
mod streams;
mod terminal;
mod units;
mod verbs;
mod verify;
mod worker;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use args::Global;
use exit::{Failure, OK, Outcome, USAGE};

/// Benchmarks linear solvers and learners for Gaussian processes: one spec compares them all, and no result is lost.
#[derive(Debug, Parser)]
#[command(name = "gpbench", version, propagate_version = true, max_term_width = 100)]
#[command(
    after_help = "Exit codes: 0 success; 1 a case failed or has no row, or a limit ended the run early; 2 wrong usage or \
                        spec; 3 a regression, undecided seconds, a difference under `compare --exact`, or a run that is not \
                        what it states; 4 nothing to compare or to recompute; \
                        70 internal error; 128 + n ended by signal n, such as 130 for Ctrl-C."
)]
struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Run a spec, or continue its run where it stopped.
    Run(verbs::run::Run),
    /// Show the cases of a spec, with estimated memory and time.
    Plan(verbs::plan::Plan),
    /// List solvers and learners, data sets, kernels, metrics or runs.
    List(verbs::list::List),
    /// Rebuild and print the report of a run.
    Report(verbs::report::Report),
    /// Unite the rows of several runs, such as the shards of a plan, and report on them as on one.
    Merge(verbs::merge::Merge),
    /// Write a run as one file, for others to read and to verify.
    Pack(verbs::pack::Pack),
    /// Make a run folder of a packed run.
    Unpack(verbs::pack::Unpack),
    /// Check that a run, packed or not, is what it states: its files, its plan, and results that can be recomputed here.
    ///
    /// The table says what agrees, what differs and what could not be checked. Times and memory are never verified. Exit codes: 0
    /// all that was recomputed agrees; 3 something differs; 4 no result could be recomputed.
    Verify(verbs::verify::Verify),
    /// Show runs side by side, learners beside solvers too, and check the last against the first.
    Compare(verbs::compare::Compare),
    /// Write the pages that set the papers' tables, cell by cell, beside published runs.
    Coverage(verbs::coverage::Coverage),
    /// Write the page of the papers' claims, with verdicts that follow from published runs.
    ///
    /// Exit code 3 where a verdict contradicts its numbers, or a name in the list is one that no run has; with `--check` also where
    /// the page is out of date.
    Claims(verbs::claims::Claims),
    /// Show a metric over the runs of a spec and their git revisions.
    History(verbs::history::History),
    /// Write a static web site of many runs: rankings, a page for each data set, solver and run, and charts to look into.
    ///
    /// Reads run folders, published ones too, and packed runs. The pages need neither a server nor a network.
    Site(verbs::site::Site),
    /// Show how far a run on a cluster is.
    ///
    /// Takes over the rows that have come and asks Slurm once. Nothing is sent. The first line counts rows and tasks; others
    /// name tasks that need attention.
    Status(verbs::cluster::Status),
    /// Go on with a run on a cluster until it is finished, and report on it.
    ///
    /// Sends what is left to run, also tasks that were given up. Ctrl-C cancels what is queued or running; other signals leave
    /// it there, and the next `watch` goes on.
    Watch(verbs::cluster::Watch),
    /// Cancel what a run on a cluster has queued or running; what has come stays.
    ///
    /// Waits until Slurm shows all tasks as ended; exit code 0 says that they have. Ctrl-C ends the wait, and what may still live
    /// is named. `gpbench watch` sends what is left again.
    Cancel(verbs::cluster::Cancel),
    /// Run a spec and compare its metrics with a baseline.
    Check(verbs::check::Check),
    /// List, download, verify and import data sets.
    #[command(subcommand)]
    Data(verbs::data::Data),
    /// Write a new solver or learner; inspect and test plugin libraries.
    #[command(subcommand)]
    Plugin(verbs::plugin::Plugin),
    /// Time products with the kernel matrix or a learner's steps, and dgemm beside them.
    #[command(subcommand)]
    Bench(verbs::bench::Bench),
    /// Print every key of a spec, as a JSON Schema for editors or as a page; or every column of the results.
    Schema(verbs::schema::Schema),
    /// Show this machine, the plugins and the data sets found.
    Doctor(verbs::doctor::Doctor),
    /// Remove what can be made again: exact references, binary copies, the store of finished cases, and unpacked
    /// runs.
    Clean(verbs::clean::Clean),
    /// Print a completion script for a shell.
    Completions(verbs::completions::Completions),
    /// Write manual pages, one for each verb.
    Manual(verbs::manual::Manual),
}

fn main() -> ExitCode {
    // Not a verb of `Cli`: completions would offer it.
    if std::env::args_os().nth(1).is_some_and(|verb| verb == dataset::READ_TABLE) {
        return end(read_table(), None);
    }
    let Cli { global, verb } =
        match options::parse(Cli::command()).and_then(|matches| Cli::from_arg_matches(&matches)) {
            Ok(cli) => cli,
            Err(usage) => return end(explain(&usage), None),
        };
    // The panic's message is printed before it is caught.
    std::panic::set_hook(Box::new(notice::panicked));
    let outcome = catch_unwind(AssertUnwindSafe(|| perform(&global, verb)))
        .unwrap_or_else(|_| Err(Failure::internal("this is a bug in gpbench; finished cases are stored")));
    end(outcome, Some(&global))
}

/// Reads a file for another gpbench, which this process then reports to.
fn read_table() -> Outcome {
    gpbench_import::serve().map(|()| OK).map_err(Failure::internal)
}

/// Prints help or the version, or what is wrong with the command line.
fn explain(usage: &clap::Error) -> Outcome {
    if usage.use_stderr() {
        let _ = usage.print();
        return Ok(USAGE);
    }
    output::written(streams::require_output().and_then(|()| usage.print())).map(|()| OK)
}

/// Prints a failure, and gives the exit code.
fn end(outcome: Outcome, global: Option<&Global>) -> ExitCode {
    ExitCode::from(outcome.unwrap_or_else(|failure| {
        match global {
            Some(global) => notice::fail(global, &failure.text),
            None => notice::say(format_args!("gpbench: {}", failure.text)),
        }
        failure.code
    }))
}

fn perform(global: &Global, verb: Verb) -> Outcome {
    match verb {
        Verb::Run(args) => verbs::run::run(global, &args),
        Verb::Plan(args) => verbs::plan::plan(global, &args),
        Verb::List(args) => verbs::list::list(global, &args),
        Verb::Report(args) => verbs::report::report(global, &args),
        Verb::Merge(args) => verbs::merge::merge(global, &args),
        Verb::Pack(args) => verbs::pack::pack(global, &args),
        Verb::Unpack(args) => verbs::pack::unpack(global, &args),
        Verb::Verify(args) => verbs::verify::verify(global, &args),
        Verb::Compare(args) => verbs::compare::compare(global, &args),
        Verb::Coverage(args) => verbs::coverage::coverage(global, &args),
        Verb::Claims(args) => verbs::claims::claims(global, &args),
        Verb::History(args) => verbs::history::history(global, &args),
        Verb::Site(args) => verbs::site::site(global, &args),
        Verb::Status(args) => verbs::cluster::status(global, &args),
        Verb::Watch(args) => verbs::cluster::watch(global, &args),
        Verb::Cancel(args) => verbs::cluster::cancel(global, &args),
        Verb::Check(args) => verbs::check::check(global, &args),
        Verb::Data(verb) => verbs::data::data(global, &verb),
        Verb::Plugin(verb) => verbs::plugin::plugin(global, &verb),
        Verb::Bench(verb) => verbs::bench::bench(global, &verb),
        Verb::Schema(args) => verbs::schema::schema(&args),
        Verb::Doctor(args) => verbs::doctor::doctor(global, &args),
        Verb::Clean(args) => verbs::clean::clean(global, &args),
        Verb::Completions(args) => {
            verbs::completions::completions(&args, options::with_own_options(Cli::command()))
        }
        Verb::Manual(args) => verbs::manual::manual(&args, options::with_own_options(Cli::command())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The long options that the help of a verb shows.
    fn shown(path: &str) -> Vec<String> {
        let mut program = options::with_own_options(Cli::command());
        program.build();
        let verb = path.split(' ').fold(&program, |verb, name| verb.find_subcommand(name).expect("a verb"));
        let shown = verb.get_arguments().filter(|option| !option.is_hide_set());
        shown.filter_map(|option| option.get_long().map(str::to_owned)).collect()
    }

    #[test]
    fn the_declarations_are_consistent() {
        options::with_own_options(Cli::command()).debug_assert();
        for (option, verbs) in options::OPTIONS {
            for verb in verbs {
                assert!(shown(verb).contains(&option.replace('_', "-")), "{verb} --{option}");
            }
        }
    }

    #[test]
    fn a_verb_shows_its_own_options() {
        let of_all = ["color", "quiet", "help", "version"];
        let own = |path: &str| -> Vec<String> {
            shown(path).into_iter().filter(|option| !of_all.contains(&option.as_str())).collect()
        };
        assert_eq!(own("schema"), ["format"]);
        assert_eq!(own("completions"), [""; 0]);
        assert_eq!(own("data fetch"), ["data-dir"]);
        assert_eq!(own("clean"), ["downloads", "dry-run", "output-dir"]);
        let of_report =
            ["pdf", "figure-width", "no-titles", "bundle", "publish", "format", "wide", "output-dir"];
        assert_eq!(own("report"), of_report);
        assert!(!own("check").contains(&"fresh".to_owned()) && !own("plan").contains(&"offline".to_owned()));
    }
}
