//! `gpbench plugin test`: the conformance suite, one line for each rule.

use std::path::PathBuf;

use clap::Args;
use gpbench_record::{LibraryInfo, RuleResult, RuleStatus};
use serde_json::{Value, json};

use crate::args::{Format, FormatArg, Global, positive};
use crate::catalog;
use crate::exit::{CASE_FAILED, Failure, OK, Outcome};
use crate::output::{self, Listing, versioned};
use crate::worker::{Described, Worker};

/// `gpbench plugin test`.
#[derive(Debug, Args)]
pub(crate) struct Test {
    /// The library.
    file: PathBuf,
    /// Only this solver or learner.
    #[arg(short = 's', long, value_name = "ID")]
    solver: Option<String>,
    /// Time limit of each rule.
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0, value_parser = positive)]
    limit: f64,
    #[command(flatten)]
    output: FormatArg,
}

pub(crate) fn test(global: &Global, args: &Test) -> Outcome {
    catalog::require_file(&args.file)?;
    let worker = Worker::locate()?;
    let solver = args.solver.as_deref();
    // A library that cannot be described fails the suite's first rule.
    if let Some(Described::Library(library)) = worker.describe(std::slice::from_ref(&args.file))?.pop() {
        require_solver(&library, solver)?;
    }
    let mut results = Vec::new();
    worker.conform(&args.file, solver, args.limit, global.verbose, &mut |result| results.push(result))?;
    show(&results, args.output)?;
    Ok(if results.is_empty() || count(&results, RuleStatus::Failed) > 0 { CASE_FAILED } else { OK })
}

/// Fails if the library has neither solver nor learner to test, or not the one that is asked for.
fn require_solver(library: &LibraryInfo, solver: Option<&str>) -> Result<(), Failure> {
    let ids: Vec<&str> = library.solvers.iter().map(|solver| solver.id.as_str()).collect();
    let file = library.file.display();
    match solver {
        Some(solver) if !ids.contains(&solver) => {
            let offers = if ids.is_empty() { "none".to_owned() } else { ids.join(", ") };
            Err(Failure::usage(format!("{file} offers no solver or learner `{solver}`; it offers {offers}")))
        }
        None if ids.is_empty() => Err(Failure::usage(format!("{file} offers no solver or learner"))),
        _ => Ok(()),
    }
}

fn show(results: &[RuleResult], wanted: FormatArg) -> Result<(), Failure> {
    let json = |result: &RuleResult| {
        let RuleResult { solver, name, status, reason, log, .. } = result;
        json!({ "solver": solver, "name": name, "status": status, "reason": reason, "log": log })
    };
    let json: Vec<Value> = results.iter().map(json).collect();
    let header = ["name", "rule", "status", "the rule, and the reason"];
    let mut listing = Listing::new(&header, versioned("checks", json)).major(&header[1..]);
    for RuleResult { solver, name, status, reason, doc, .. } in results {
        let why = if reason.is_empty() { doc.clone() } else { format!("{doc}: {reason}") };
        listing.row(vec![solver.clone(), name.clone(), status.as_str().to_owned(), why]);
    }
    listing.print(wanted)?;
    if wanted.format == Format::Table {
        let of = |status: RuleStatus| format!("{} {}", count(results, status), status.as_str());
        let counts = [RuleStatus::Passed, RuleStatus::Failed, RuleStatus::Skipped].map(of);
        let logs: String = results.iter().filter_map(log).collect();
        output::print(&format!("{logs}{}\n", counts.join(", ")))?;
    }
    Ok(())
}

/// The last lines that were logged while a rule was broken, under its name.
fn log(result: &RuleResult) -> Option<String> {
    let RuleResult { solver, name, log, .. } = result;
    let lines: String = log.lines().map(|line| format!("    {line}\n")).collect();
    (!log.is_empty()).then(|| format!("the end of the log of {solver}, {name}:\n{lines}\n"))
}

fn count(results: &[RuleResult], status: RuleStatus) -> usize {
    results.iter().filter(|result| result.status == status).count()
}
