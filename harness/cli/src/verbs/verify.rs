//! `gpbench verify`: checks that a run is what it states.

use std::collections::HashMap;
use std::fs::File;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use clap::Args;
use gpbench_record::{PlannedCase, Row, sha256_hex};
use gpbench_runs::{PlanFile, RunError, RunRecord, kept_solutions, resolve_run, unpack};
use tempfile::TempDir;

use crate::args::{FormatArg, Global, count};
use crate::exit::{Outcome, of_signal};
use crate::notice::say;
use crate::verify::{
    Check, Here, Sampling, Verification, Wanted, again, content_of_pack, damaged_plan, data_sets, of_pack,
    of_run, of_spec, plugins, solutions,
};
use crate::{environment, runs};

/// Seconds beyond those of a cheap case after which a case that runs again is ended.
const GRACE: f64 = 60.0;

/// Largest seed that is drawn where none is given: short enough to be typed.
const SEEDS: u128 = 1_000_000;

/// `gpbench verify`.
#[derive(Debug, Args)]
pub(crate) struct Verify {
    /// A packed run, a run folder, the name of a spec (its latest run), `NAME~1` (the run before that), the id of a
    /// run or its beginning, or `latest`.
    run: String,
    /// Most cases that are run again.
    #[arg(long, value_name = "N", default_value_t = 3)]
    rerun: usize,
    /// Run only such cases again as took at most this much time, by their rows.
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = gpbench_spec::parse_time)]
    cheap: f64,
    /// The seed that chooses the cases that are run again; by default one that nobody knows beforehand.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// A plugin library beside those that gpbench finds by itself; may be repeated.
    #[arg(long = "library", value_name = "FILE")]
    libraries: Vec<PathBuf>,
    /// Threads of each case; all processors by default.
    #[arg(short = 't', long, value_name = "N", value_parser = count)]
    threads: Option<NonZeroUsize>,
    /// Compute exact references for at most this many training rows.
    #[arg(long, value_name = "ROWS", default_value_t = 20_000)]
    exact_limit: usize,
    #[command(flatten)]
    output: FormatArg,
}

/// A run that is verified.
struct Opened {
    folder: PathBuf,
    /// That a packed run is what its manifest states.
    check: Option<Check>,
    /// Where a packed run was unpacked, which is removed at the end.
    _unpacked: Option<TempDir>,
}

pub(crate) fn verify(global: &Global, args: &Verify) -> Outcome {
    let opened = match open(global, &args.run) {
        Ok(opened) => opened,
        Err(RunError::Packed { fault, .. }) if fault.is_of_content() => {
            let checks = vec![content_of_pack(&fault)];
            return end(Verification { checks, ..Verification::default() }, args);
        }
        Err(error) => return Err(runs::failure(error)),
    };
    let record = RunRecord::open(&opened.folder).map_err(runs::failure)?;
    let journal_sha256 =
        File::open(opened.folder.join("journal.jsonl")).and_then(sha256_hex).unwrap_or_default();
    let is_packed = opened.check.is_some();
    let mut checks: Vec<Check> = opened.check.into_iter().collect();
    let plan = match PlanFile::read(&opened.folder) {
        Ok(plan) => plan,
        Err(error @ RunError::Newer { .. }) => return Err(runs::failure(error)),
        Err(error) => {
            checks.push(damaged_plan(&error));
            return end(Verification { checks, journal_sha256 }, args);
        }
    };
    checks.extend(of_run(&record, &plan));
    let wanted = Wanted {
        libraries: &args.libraries,
        threads: args.threads.map_or_else(environment::processors, NonZeroUsize::get),
        exact_limit: args.exact_limit,
        kill_after: 10.0 * args.cheap + GRACE,
        is_packed,
    };
    checks.push(of_spec(global, &opened.folder, &wanted, &record, &plan));
    let here = Here::find(global, &wanted, &plan.cases)?;
    checks.extend([data_sets(&here, &plan.cases), plugins(&here, &plan.cases)]);
    let cases = cases(&plan, &record.rows);
    checks.push(solutions(&here, &kept_solutions(&opened.folder), &cases)?);
    let sampling =
        Sampling { count: args.rerun, cheap: args.cheap, seed: args.seed.unwrap_or_else(any_seed) };
    checks.push(again(&here, sampling, &cases)?);
    checks.extend([paths(&cases), times(cases.len())]);
    if let Some(signal) = here.signal() {
        say("the verification was interrupted; nothing of it is stored");
        return Ok(of_signal(signal));
    }
    end(Verification { checks, journal_sha256 }, args)
}

/// Prints the table; the exit code.
fn end(verification: Verification, args: &Verify) -> Outcome {
    verification.print(args.output).map(|()| verification.exit_code())
}

/// Finds a run, and unpacks it if it is packed.
fn open(global: &Global, run: &str) -> Result<Opened, RunError> {
    if !Path::new(run).is_file() {
        let folder = resolve_run(&global.output_dir, run)?;
        return Ok(Opened { folder, check: None, _unpacked: None });
    }
    // Of its own, since others may have changed what was unpacked to be read.
    let place = tempfile::Builder::new().prefix("gpbench-verify-").tempdir();
    let place = place.map_err(|source| RunError::Io {
        action: "make a folder in",
        path: std::env::temp_dir(),
        source,
    })?;
    let folder = place.path().join("run");
    let manifest = unpack(Path::new(run), &folder)?;
    Ok(Opened { folder, check: Some(of_pack(&manifest)), _unpacked: Some(place) })
}

/// The planned cases with their rows.
fn cases<'r>(plan: &'r PlanFile, rows: &'r [Row]) -> Vec<(&'r PlannedCase, &'r Row)> {
    let rows: HashMap<&str, &Row> = rows.iter().map(|row| (row.id.as_str(), row)).collect();
    plan.cases.iter().filter_map(|entry| Some((entry, *rows.get(entry.id.as_str())?))).collect()
}

/// What no solution holds.
fn paths(cases: &[(&PlannedCase, &Row)]) -> Check {
    let has_path = |row: &Row| !row.trace.is_empty() || !row.output.steps().is_empty();
    let detail = "no solution holds points along a solve, steps of training or evaluations of a learner; they are \
                  compared where a case runs again";
    let of = cases.iter().filter(|(_, row)| has_path(row)).count();
    Check { what: "traces and steps", of, detail: detail.to_owned(), ..Check::default() }
}

/// What is never verified.
fn times(cases: usize) -> Check {
    let detail =
        "times and memory are never verified: they belong to a machine that nobody else has".to_owned();
    Check { what: "times", of: cases, detail, ..Check::default() }
}

/// A seed that nobody knows beforehand.
fn any_seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    (now.as_nanos() % SEEDS) as u64
}
