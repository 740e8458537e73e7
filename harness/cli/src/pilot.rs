//! `gpbench plan --pilot`: each solver on growing parts of its data set, and what a full case is expected to cost.
//!
//! [`schedule`] decides which trial runs next, [`course`] how many rows it has, [`trials`] runs it by the engine, and
//! [`forecast`] extrapolates. Nothing is stored.

mod contestants;
mod course;
mod forecast;
mod listing;
mod measured;
mod schedule;
mod trials;

use std::num::NonZeroUsize;

use gpbench_engine::{Engine, Interrupt, Planned, SystemClock};
use gpbench_record::counted;

use self::contestants::{Contestant, contestants};
use self::course::Entrant;
use self::forecast::Forecast;
use self::listing::{Forecasted, listing};
use self::schedule::run_trials;
use self::trials::{EngineTrials, Halt};
use crate::args::{Continuation, FormatArg, Global, RunArgs, SpecArgs};
use crate::execute;
use crate::exit::{Failure, OK, Outcome, of_signal};
use crate::notice::say;
use crate::prepare::{Placement, Prepared, prepare};
use crate::units;

/// Options of the trials: those of a plain run.
const RUN: RunArgs = RunArgs {
    offline: false,
    jobs: NonZeroUsize::MIN,
    kill_after: None,
    cpu_limit: None,
    memory_limit: None,
    max_failures: None,
    fail_fast: false,
    time_limit: None,
    exact_limit: 20_000,
    keep_solutions: 0,
};

/// Runs a pilot of about `seconds` for a spec, and prints what it foretells. `placement` has the part of the plan.
pub(crate) fn pilot(
    global: &Global,
    spec: &SpecArgs,
    placement: &Placement,
    seconds: f64,
    output: FormatArg,
) -> Outcome {
    let prepared = prepared(global, spec, placement)?;
    let contestants = contestants(&prepared.plan);
    if contestants.is_empty() {
        return Err(Failure::nothing(
            "no case of this plan can run here; see `gpbench plan` without `--pilot`",
        ));
    }
    let noun = noun(&prepared);
    if !global.quiet {
        let (time, all) = (units::duration(seconds), counted(contestants.len(), noun));
        say(format_args!("the pilot takes up to {time}: {all} on growing parts of the data"));
    }
    let folder = tempfile::Builder::new().prefix("gpbench-pilot-").tempdir();
    let folder = folder.map_err(|error| Failure::internal(format!("no temporary folder: {error}")))?;
    let options = execute::options(global, &prepared, &RUN, &Continuation::NONE);
    let renew = |planned: Planned<'_>| prepared.renewal.renew(global, planned);
    let interrupt = Interrupt::on_signals().map_err(Failure::internal)?;
    let engine =
        Engine { executor: &prepared.executor, clock: &SystemClock, interrupt, renew_dataset: &renew };
    let mut trials = EngineTrials {
        global,
        engine: &engine,
        plan: &prepared.plan,
        contestants: &contestants,
        options: &options,
        folder: folder.path(),
    };
    let entrants: Vec<Entrant> = contestants.iter().map(|contestant| contestant.entrant).collect();
    let courses = match run_trials(&entrants, seconds, &mut trials) {
        Ok(courses) => courses,
        Err(Halt::Failure(failure)) => return Err(failure),
        Err(Halt::Signal(signal)) => {
            say("the pilot was interrupted; nothing of it is stored");
            return Ok(of_signal(signal));
        }
    };
    let forecasts: Vec<Forecasted<'_>> = contestants
        .iter()
        .zip(&courses)
        .map(|(contestant, course)| Forecasted {
            contestant,
            course,
            forecast: Forecast::of(&contestant.entrant, course),
            time_limit: prepared.plan.file.cases[contestant.cases[0]].case.budget.seconds,
        })
        .collect();
    listing(&prepared.plan, noun, seconds, &forecasts).print(output)?;
    if !global.quiet {
        say(total(&forecasts, prepared.threads));
        left_out(&prepared, &contestants).iter().for_each(say);
    }
    Ok(OK)
}

/// The plan, whose data sets are downloaded where they are missing. The sizes of those are known from then on.
fn prepared(global: &Global, spec: &SpecArgs, placement: &Placement) -> Result<Prepared, Failure> {
    let again = || Placement { shard: placement.shard, nodes: None };
    let prepared = prepare(global, spec, &RUN, &again())?;
    let lacks_size =
        prepared.plan.file.cases.iter().any(|planned| planned.n.is_none() && planned.skip.is_none());
    if !lacks_size {
        return Ok(prepared);
    }
    drop(prepared);
    prepare(global, spec, &RUN, &again())
}

/// `solver` or `learner`, by the plan's task.
fn noun(prepared: &Prepared) -> &'static str {
    let is_learner = |case: &gpbench_record::PlannedCase| case.case.task.learning().is_some();
    if prepared.plan.file.cases.iter().any(is_learner) { "learner" } else { "solver" }
}

/// The time of all cases of the contestants.
fn total(forecasts: &[Forecasted<'_>], threads: usize) -> String {
    let seconds_of = |of: &Forecasted<'_>| {
        let seconds = of.forecast.seconds?.mean;
        Some(of.contestant.cases.len() as f64 * of.time_limit.map_or(seconds, |limit| seconds.min(limit)))
    };
    let known: Vec<f64> = forecasts.iter().filter_map(seconds_of).collect();
    let cases = counted(forecasts.iter().map(|of| of.contestant.cases.len()).sum(), "case");
    let time = units::duration(known.iter().sum());
    let how = if known.len() < forecasts.len() { "more than" } else { "about" };
    format!(
        "{cases}, {how} {time} on {threads} threads, without loading, references and evaluation; the table has \
         the time of one case: of prepare and solve, or of all steps and the prediction at their end"
    )
}

/// The remark on cases that take no part.
fn left_out(prepared: &Prepared, contestants: &[Contestant]) -> Option<String> {
    let taking_part: usize = contestants.iter().map(|contestant| contestant.cases.len()).sum();
    let cases = prepared.plan.file.cases.len();
    (taking_part < cases).then(|| {
        let left_out = cases - taking_part;
        format!(
            "{left_out} of {cases} cases take no part: they are skipped, or their number of rows is unknown"
        )
    })
}
