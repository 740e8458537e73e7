//! `gpbench plan`: the cases of a spec, and what they are likely to take.

use gpbench_spec::PlannedCase;
use serde_json::{Value, json};

use crate::args::{Global, Plan};
use crate::exit::{OK, Outcome};
use crate::output::{self, Listing};
use crate::prepare::{self, Checked};

pub(crate) fn plan(global: &Global, args: &Plan) -> Outcome {
    let Checked { plan, threads, .. } = prepare::check(global, &args.spec)?;
    let rows: Vec<Value> = plan.cases.iter().map(|planned| as_json(planned, threads)).collect();
    let json = json!({ "schema": gpbench_record::SCHEMA, "name": plan.name, "cases": rows });
    let header = ["data set", "kernel", "estimator", "solver", "seed", "n", "memory about", "time about"];
    let mut listing = Listing::new(&header, json);
    for planned in &plan.cases {
        let labels = planned.case.labels();
        let estimate = planned.estimate(threads);
        let unknown = || "unknown".to_owned();
        listing.row(vec![
            labels.dataset,
            labels.kernel,
            labels.estimator,
            labels.solver,
            labels.seed.to_string(),
            planned.n.map_or_else(unknown, |n| n.to_string()),
            estimate.map_or_else(unknown, |e| output::bytes(e.memory_bytes)),
            estimate.map_or_else(unknown, |e| output::duration(e.seconds)),
        ]);
    }
    listing.print(args.format);
    if !global.quiet {
        let seconds: f64 = plan.cases.iter().filter_map(|p| p.estimate(threads)).map(|e| e.seconds).sum();
        eprintln!("{} cases, about {} on {threads} threads", plan.cases.len(), output::duration(seconds));
    }
    Ok(OK)
}

fn as_json(planned: &PlannedCase, threads: usize) -> Value {
    let estimate = planned.estimate(threads);
    json!({
        "labels": planned.case.labels(),
        "case": planned.case,
        "n": planned.n,
        "d": planned.d,
        "memory_bytes": estimate.map(|e| e.memory_bytes),
        "seconds": estimate.map(|e| e.seconds),
    })
}
