//! `gpbench plan`: the cases of a spec, with estimated memory and time.

use std::collections::BTreeSet;

use clap::Args;
use gpbench_record::counted;
use gpbench_spec::{Assumption, Optima, SpecCase, SpecPlan, ThompsonSeconds};
use serde_json::{Value, json};

use crate::args::{FormatArg, Global, ShardArg, SpecArgs};
use crate::estimate::RunEstimate;
use crate::exit::{OK, Outcome};
use crate::notice::say;
use crate::output::Listing;
use crate::pilot::pilot;
use crate::prepare::{self, Checked, Placement};
use crate::spec_files::Reading;
use crate::units;

/// `gpbench plan`.
#[derive(Debug, Args)]
pub(crate) struct Plan {
    #[command(flatten)]
    spec: SpecArgs,
    #[command(flatten)]
    shard: ShardArg,
    /// Run each solver on growing parts of its data set for this time in all, `2m` unless another one is given, and show
    /// what a full case is expected to take, with intervals, beside what the plan assumes. Nothing of it is stored.
    #[arg(
        long,
        value_name = "TIME",
        num_args = 0..=1,
        default_missing_value = "2m",
        value_parser = gpbench_spec::parse_time
    )]
    pilot: Option<f64>,
    #[command(flatten)]
    output: FormatArg,
}

pub(crate) fn plan(global: &Global, args: &Plan) -> Outcome {
    let placement = Placement { shard: args.shard.shard, nodes: None };
    if let Some(seconds) = args.pilot {
        return pilot(global, &args.spec, &placement, seconds, args.output);
    }
    let Checked { plan, threads, .. } = prepare::check(global, &args.spec, &placement, Reading::Files)?;
    let rows: Vec<Value> = plan.cases.iter().map(|planned| as_json(planned, threads)).collect();
    // Holds cases in the form of the journal, so it has the journal's schema.
    let json = json!({ "schema": gpbench_record::SCHEMA, "name": plan.name, "cases": rows });
    let header = [
        "data set",
        "kernel",
        "estimator",
        plan.noun(),
        "seed",
        "n",
        "memory about",
        "time about",
        "time assumes",
    ];
    let mut listing = Listing::new(&header, json)
        .major(&[plan.noun(), "memory about", "time about"])
        .minor(&["kernel", "estimator"]);
    for planned in by_name(&plan) {
        listing.row(cells(planned, threads));
    }
    listing.print(args.output)?;
    if !global.quiet {
        say(RunEstimate::of(&plan, threads).text);
        remarks(&plan, threads).iter().for_each(say);
    }
    Ok(OK)
}

/// The cases in the order of the spec's axes and seeds; they run in a shuffled order.
fn by_name(plan: &SpecPlan) -> Vec<&SpecCase> {
    let place = |axis: &[String], name: &str| axis.iter().position(|other| other == name);
    let mut cases: Vec<&SpecCase> = plan.cases.iter().collect();
    cases.sort_by_cached_key(|planned| {
        let labels = planned.case.labels();
        let axes = &plan.axes;
        (
            place(&axes.dataset, &labels.dataset),
            place(&axes.kernel, &labels.kernel),
            labels.estimator.as_ref().and_then(|name| place(&axes.estimator, name)),
            place(&axes.solver, &labels.solver),
            labels.seed,
            labels.repeat,
        )
    });
    cases
}

/// Fewest seeds from which reports state intervals.
const FEW_SEEDS: usize = 3;

/// Remarks on a plan: times that rest on assumptions, few seeds, cases that exceed this machine's memory, and cases that take
/// long.
fn remarks(plan: &SpecPlan, threads: usize) -> Vec<String> {
    let memory = gpbench_engine::installed_memory();
    let costs = || by_name(plan).into_iter().filter_map(|planned| Some((planned, planned.cost(threads)?)));
    let named = |cases: Vec<&SpecCase>, what: String| {
        let first = cases.first()?.case.labels();
        Some(format!("{} of {} cases {what}, such as {first}", cases.len(), plan.cases.len()))
    };
    let large = costs().filter(|(_, cost)| memory.is_some_and(|bytes| cost.memory_bytes > bytes as f64));
    let large = large.map(|(planned, _)| planned).collect();
    let long = costs().filter(|(_, cost)| cost.seconds > 3600.0).map(|(planned, _)| planned).collect();
    let parts = costs().filter_map(|(_, cost)| cost.thompson).reduce(ThompsonSeconds::plus).map(of_parts);
    let assumptions = || costs().filter_map(|(_, cost)| cost.assumption);
    let assumed = assumptions().filter(|assumption| !assumption.is_measured()).count();
    let assumed = (assumed > 0).then(|| {
        format!(
            "the times of {assumed} of {} cases are no forecast: how many epochs an iterative solver takes is unknown \
             before it runs",
            plan.cases.len()
        )
    });
    let measured = assumptions().filter(Assumption::is_measured).count();
    let measured = (measured > 0).then(|| {
        format!(
            "the times of {measured} of {} cases take the epochs a step that a published run measured on such data",
            plan.cases.len()
        )
    });
    let seeds: BTreeSet<u64> = plan.cases.iter().map(|planned| planned.case.seed).collect();
    let solvers: BTreeSet<&str> =
        plan.cases.iter().map(|planned| planned.case.solver.name.as_str()).collect();
    let few = (solvers.len() > 1 && seeds.len() < FEW_SEEDS).then(|| {
        let number = counted(seeds.len(), "seed");
        format!("{number}: reports state intervals from 3 seeds on; 5 tell solvers apart, and 10 do better")
    });
    let installed = units::bytes(memory.unwrap_or_default() as f64);
    let large = named(large, format!("need more than this machine's {installed} of memory"));
    let optima = Optima::of(&plan.cases, threads).map(of_optima);
    assumed
        .into_iter()
        .chain(measured)
        .chain(parts)
        .chain(optima)
        .chain(few)
        .chain(large)
        .chain(named(long, "take more than an hour".to_owned()))
        .collect()
}

/// The estimated seconds of the searches for optima, which are no part of the cases' own.
fn of_optima(optima: Optima) -> String {
    let Optima { count, seconds } = optima;
    let (searches, them) = if count == 1 { ("search", "it") } else { ("searches", "them") };
    let time = units::duration(seconds);
    format!(
        "beside the cases: {count} {searches} for the optimum of the likelihood, about {time}, once: the cache keeps \
         {them}"
    )
}

/// The estimated seconds of the parts of Thompson sampling in all cases.
fn of_parts(parts: ThompsonSeconds) -> String {
    let ThompsonSeconds { pose, solve, candidates, ascent } = parts;
    let [pose, solve, candidates, ascent] = [pose, solve, candidates, ascent].map(units::duration);
    format!(
        "of that, building systems takes {pose}, solving {solve}, candidates {candidates}, ascents {ascent}"
    )
}

fn cells(planned: &SpecCase, threads: usize) -> Vec<String> {
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
        cost.and_then(|cost| cost.assumption).map_or_else(String::new, |assumption| assumption.to_string()),
    ]
}

fn as_json(planned: &SpecCase, threads: usize) -> Value {
    let cost = planned.cost(threads);
    json!({
        "labels": planned.case.labels(),
        "case": planned.case,
        "n": planned.n,
        "d": planned.d,
        "memory_bytes": cost.map(|cost| cost.memory_bytes),
        "seconds": cost.map(|cost| cost.seconds),
        "seconds_assume": cost.and_then(|cost| cost.assumption).map(|assumption| assumption.to_string()),
        "thompson_seconds": cost.and_then(|cost| cost.thompson),
    })
}
