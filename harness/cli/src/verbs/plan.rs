//! `gpbench plan`: the cases of a spec, with estimated memory and time.

use clap::Args;
use gpbench_spec::{Plan as Planned, PlannedCase};
use serde_json::{Value, json};

use crate::args::{FormatArg, Global, SpecArgs};
use crate::dataset;
use crate::estimate::RunEstimate;
use crate::exit::{Failure, OK, Outcome};
use crate::notice::say;
use crate::output::Listing;
use crate::prepare::{self, Checked};
use crate::units;

/// `gpbench plan`.
#[derive(Debug, Args)]
pub(crate) struct Plan {
    #[command(flatten)]
    spec: SpecArgs,
    #[command(flatten)]
    output: FormatArg,
}

pub(crate) fn plan(global: &Global, args: &Plan) -> Outcome {
    let Checked { mut plan, threads, .. } = prepare::check(global, &args.spec)?;
    add_sizes(global, &mut plan)?;
    let rows: Vec<Value> = plan.cases.iter().map(|planned| as_json(planned, threads)).collect();
    // Holds cases in the form of the journal, so it has the journal's schema.
    let json = json!({ "schema": gpbench_record::SCHEMA, "name": plan.name, "cases": rows });
    let header = ["data set", "kernel", "estimator", plan.noun(), "seed", "n", "memory about", "time about"];
    let mut listing = Listing::new(&header, json);
    for planned in &plan.cases {
        listing.row(cells(planned, threads));
    }
    listing.print(args.output.format)?;
    if !global.quiet {
        say(RunEstimate::of(&plan, threads).text);
    }
    Ok(OK)
}

fn cells(planned: &PlannedCase, threads: usize) -> Vec<String> {
    let labels = planned.case.labels();
    let cost = planned.cost(threads);
    let unknown = || "unknown".to_owned();
    let collapsed = if planned.case.dataset.collapse_duplicates { " (duplicates collapsed)" } else { "" };
    vec![
        labels.dataset + collapsed,
        labels.kernel,
        labels.estimator.unwrap_or_default(),
        labels.solver,
        labels.seed.to_string(),
        planned.n.map_or_else(unknown, |n| n.to_string()),
        cost.map_or_else(unknown, |cost| units::bytes(cost.memory_bytes)),
        cost.map_or_else(unknown, |cost| units::duration(cost.seconds)),
    ]
}

fn as_json(planned: &PlannedCase, threads: usize) -> Value {
    let cost = planned.cost(threads);
    json!({
        "labels": planned.case.labels(),
        "case": planned.case,
        "n": planned.n,
        "d": planned.d,
        "memory_bytes": cost.map(|cost| cost.memory_bytes),
        "seconds": cost.map(|cost| cost.seconds),
    })
}

/// Adds the sizes of the user's own files. The size of a file that cannot be read stays unknown: `run` refuses it.
fn add_sizes(global: &Global, plan: &mut Planned) -> Result<(), Failure> {
    let places = dataset::places(global)?;
    for planned in plan.cases.iter_mut().filter(|planned| planned.dataset_path.is_some()) {
        let path = planned.dataset_path.as_deref();
        if let Ok(copy) = dataset::obtain(global, &places, &planned.case.dataset.source, path, true) {
            prepare::take_sizes(planned, &copy);
        }
    }
    prepare::check_sizes(plan)
}
