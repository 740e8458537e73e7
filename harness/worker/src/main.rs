//! `gpbench-worker VERB`: started by gpbench, one process for each piece of work.
//!
//! The job is read as JSON from standard input; the answer is written as JSON lines to
//! standard output, and everything else to standard error. Exit codes: 0 if an answer
//! was given, a failure included; 2 for a verb or an instruction set that does not exist; 70 if no
//! answer could be given.

#![deny(clippy::print_stdout, clippy::print_stderr)]

use std::error::Error;
use std::ffi::OsString;
use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

use gpbench_record::{InstructionSet, Job, Json, SCHEMA};
use gpbench_worker::channel::{Capture, Channel, read_job};
use gpbench_worker::{bench, conform, describe, environment, exact, log, optimum, process, tasks};
use serde::Deserialize;
use serde_json::Value;

const USAGE: &str = "usage: gpbench-worker case | verify | exact | optimum | bench | environment | describe [[--runtime PROGRAM] FILE]...
       gpbench-worker debug JOB MESSAGES
       gpbench-worker conform FILE [--solver ID] [--limit SECONDS]
       gpbench-worker load [--runtime PROGRAM] FILE
       gpbench-worker check FILE SOLVER NAME
Started by gpbench; `case`, `verify`, `exact`, `optimum` and `bench` read a job as JSON from standard input. `debug` is `case` with files
in the place of the standard streams.";

/// Wrong usage.
const EX_USAGE: i32 = 2;

/// An internal error.
const EX_SOFTWARE: i32 = 70;

/// Verbs that load libraries in processes of their own, and run no code of a library themselves.
const SUPERVISORS: [&str; 2] = ["describe", "conform"];

fn main() {
    let supervises =
        std::env::args_os().nth(1).is_some_and(|verb| SUPERVISORS.iter().any(|name| verb == *name));
    if supervises {
        process::end_in_order();
    } else {
        process::die_with_parent();
        process::adopt_orphans();
    }
    process::survive_full_disk();
    // Plugins choose by the same variable, so nothing is loaded before it is checked.
    if let Err(unknown) = InstructionSet::asked() {
        log::line(format_args!("gpbench-worker: {unknown}"));
        process::leave(EX_USAGE);
    }
    process::restart_with(&gpbench_gp::blas::missing_environment());
    process::mark_start();
    let code = match catch_unwind(run) {
        Ok(Ok(code)) => code,
        Ok(Err(error)) => {
            log::line(format_args!("gpbench-worker: {error}"));
            EX_SOFTWARE
        }
        // The panic has been printed already.
        Err(_) => EX_SOFTWARE,
    };
    if supervises {
        process::leave_in_order(code);
    }
    process::leave(code);
}

fn run() -> Result<i32, Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let verb = arguments.next().unwrap_or_default();
    if verb == "debug" {
        let (Some(job), Some(messages)) = (arguments.next(), arguments.next()) else {
            return Ok(wrong_usage());
        };
        let job = parsed(&fs::read_to_string(job)?)?;
        return solve(&job, Channel::into_file(Path::new(&messages))?);
    }
    let mut channel = Channel::open()?;
    match verb.to_str().unwrap_or_default() {
        "case" => return solve(&job()?, channel),
        "verify" => channel.send(&tasks::verify(&job()?))?,
        "exact" => channel.send(&exact::run(&job()?))?,
        "optimum" => channel.send(&optimum::run(&job()?))?,
        "bench" => channel.send(&bench::run(&job()?)?)?,
        "environment" => channel.send(&serde_json::to_value(environment::facts())?)?,
        "describe" => {
            let worker = std::env::current_exe()?;
            let Some(mut requests) = describe::Request::read(arguments) else { return Ok(wrong_usage()) };
            if requests.is_empty() {
                requests = describe::installed(&worker).into_iter().map(describe::Request::of).collect();
            }
            channel.send(&Value::Array(describe::in_subprocesses(&worker, &requests)))?;
        }
        "load" => {
            let requests = describe::Request::read(arguments).unwrap_or_default();
            let [request] = &requests[..] else { return Ok(wrong_usage()) };
            channel.send(&serde_json::to_value(describe::load(request))?)?;
        }
        "conform" => {
            let arguments: Vec<OsString> = arguments.collect();
            let Some(request) = conform::Request::read(&arguments) else {
                return Ok(wrong_usage());
            };
            let worker = std::env::current_exe()?;
            conform::run(&worker, &request, &mut |result| channel.send(&result))?;
        }
        "check" => {
            let (file, solver, name) = (arguments.next(), arguments.next(), arguments.next());
            let (Some(file), Some(solver), Some(name)) = (file, solver, name) else {
                return Ok(wrong_usage());
            };
            let capture = Capture::start()?;
            let (solver, name) = (solver.to_string_lossy(), name.to_string_lossy());
            channel.send(&conform::check(&PathBuf::from(file), &solver, &name, capture)?)?;
        }
        _ => return Ok(wrong_usage()),
    }
    Ok(0)
}

/// Solves a case, and sends its messages.
fn solve(job: &Job, mut channel: Channel) -> Result<i32, Box<dyn Error>> {
    // A reader that has ended is detected when the last message is sent.
    let answer = tasks::run(job, &mut |message| drop(channel.send(&message)));
    channel.send(&answer)?;
    Ok(0)
}

fn wrong_usage() -> i32 {
    log::line(format_args!("{USAGE}"));
    EX_USAGE
}

/// The job on standard input.
fn job<T: Json>() -> Result<T, Box<dyn Error>> {
    parsed(&read_job()?)
}

/// Reads a job of this version.
fn parsed<T: Json>(text: &str) -> Result<T, Box<dyn Error>> {
    /// The part of a job that is the same in every version.
    #[derive(Deserialize)]
    struct Version {
        schema: u32,
    }
    let unreadable = |error: serde_json::Error| format!("the job cannot be read: {error}");
    let Version { schema } = serde_json::from_str(text).map_err(unreadable)?;
    if schema != SCHEMA {
        return Err(format!("the job is of schema {schema}; this worker reads {SCHEMA}").into());
    }
    Ok(T::from_json(text).map_err(unreadable)?)
}
