//! `gpbench bench all`: what this machine reaches in all kinds of work, beside dgemm and beside others of its kind.
//!
//! Each part is a request of its own to the worker, as the other verbs of `bench` make it, so that each work
//! alternates with what limits it.

mod expected;
mod measured;
mod parts;
mod table;
mod works;

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, ValueEnum as _};
use gpbench_engine::{Executor as _, LocalExecutor};
use gpbench_record::{BenchInputs, BenchRequest, LibraryInfo, SolverKind};

use super::size;
use crate::args::{FormatArg, Global, count, positive};
use crate::exit::{Failure, OK, Outcome};
use crate::worker::Worker;
use crate::{catalog, environment, notice};

use self::measured::measured;
use self::parts::{Part, Settings};
use self::table::Answer;

/// `gpbench bench all`.
#[derive(Debug, Args)]
pub(crate) struct AllArgs {
    /// Rows of all works, drawn from a standard normal distribution; a Cholesky factor has 8192 at most. The defaults
    /// are pol's size.
    #[arg(long, value_name = "N", default_value = "13500", value_parser = count)]
    n: NonZeroUsize,
    /// Number of inputs.
    #[arg(long = "d", value_name = "D", default_value = "26", value_parser = count)]
    d: NonZeroUsize,
    /// Only these works; may be repeated.
    #[arg(long, value_enum, value_name = "WORK", value_delimiter = ',')]
    only: Vec<Part>,
    /// Threads of all works, and of dgemm; all processors by default.
    #[arg(short = 't', long, value_name = "N", value_parser = count)]
    threads: Option<NonZeroUsize>,
    /// Time each work for this long, and at least five times.
    #[arg(
        long,
        visible_alias = "time",
        value_name = "SECONDS",
        default_value_t = 1.0,
        allow_negative_numbers = true,
        value_parser = positive
    )]
    seconds: f64,
    /// Order of the square matrices that dgemm multiplies: large enough for its full speed.
    #[arg(long, value_name = "ORDER", default_value = "2048", value_parser = count)]
    dgemm_order: NonZeroUsize,
    #[command(flatten)]
    output: FormatArg,
}

pub(super) fn all(global: &Global, args: &AllArgs) -> Outcome {
    let worker = Worker::locate()?;
    let settings = Settings {
        n: args.n.get(),
        d: args.d.get(),
        threads: args.threads.map_or_else(environment::processors, NonZeroUsize::get),
        seconds: args.seconds,
        dgemm_order: args.dgemm_order.get(),
    };
    let executor =
        LocalExecutor::open(&worker.file, environment::processors(), 1).map_err(Failure::internal)?;
    let mut answer = Answer {
        machine: environment::with_program(executor.machine()),
        threads: settings.threads,
        works: Vec::new(),
        left_out: Vec::new(),
        remarks: executor.speed_remarks(),
    };
    let requests = requests(&worker, &chosen(&args.only), &settings, &mut answer)?;
    for (index, (part, request)) in requests.iter().enumerate() {
        if !global.quiet {
            notice::say(format_args!("{} of {}: {}", index + 1, requests.len(), part.name()));
        }
        answer.works.extend(measured(*part, &worker.bench(request)?));
    }
    answer.print(args.output)?;
    Ok(OK)
}

/// The parts that are asked for, each once, in their order; all if none is named.
fn chosen(only: &[Part]) -> Vec<Part> {
    let all = Part::value_variants().iter().copied();
    all.filter(|part| only.is_empty() || only.contains(part)).collect()
}

/// The request of each part. Parts whose plugin is not here are left out, and noted. Fails, before anything is timed,
/// where one does not fit into memory.
fn requests(
    worker: &Worker,
    parts: &[Part],
    settings: &Settings,
    answer: &mut Answer,
) -> Result<Vec<(Part, BenchRequest)>, Failure> {
    // Describing all plugins takes a while, and only learners need it.
    let has_learners = parts.iter().any(|part| part.learner().is_some());
    let plugins =
        if has_learners { catalog::libraries(worker, &[])?.usable } else { Vec::<LibraryInfo>::new() };
    let mut requests = Vec::new();
    for &part in parts {
        let library = part.learner().map(|learner| library_of(&plugins, learner));
        if library.as_ref().is_some_and(Option::is_none) {
            answer.left_out.push((part, format!("no plugin that is found here offers `{}`", part.name())));
            continue;
        }
        let request = part.request(settings, library.flatten());
        let BenchInputs::Normal { n, d } = request.inputs else {
            unreachable!("the inputs of all parts are drawn")
        };
        size::require_memory(&request, [n, d])?;
        requests.push((part, request));
    }
    Ok(requests)
}

/// The file of the plugin that offers a learner.
fn library_of(plugins: &[LibraryInfo], learner: &str) -> Option<PathBuf> {
    let offers = |plugin: &&LibraryInfo| {
        plugin.solvers.iter().any(|offer| offer.kind == SolverKind::Learner && offer.id == learner)
    };
    plugins.iter().find(offers).map(|plugin| plugin.file.clone())
}
