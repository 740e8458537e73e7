//! `gpbench plan`: the cases of a spec, and what they are likely to take.

use gpbench_data::locate::Places;
use gpbench_spec::{Plan, PlannedCase};
use serde_json::{Value, json};

use crate::args::{self, Global};
use crate::exit::{Failure, OK, Outcome};
use crate::output::{self, Listing};
use crate::prepare::{self, Checked};
use crate::verbs::data::obtain;

pub(crate) fn plan(global: &Global, args: &args::Plan) -> Outcome {
    let Checked { mut plan, threads, .. } = prepare::check(global, &args.spec)?;
    size_up(global, &mut plan)?;
    let rows: Vec<Value> = plan.cases.iter().map(|planned| as_json(planned, threads)).collect();
    let json = json!({ "schema": gpbench_record::SCHEMA, "name": plan.name, "cases": rows });
    let header = ["data set", "kernel", "estimator", "solver", "seed", "n", "memory about", "time about"];
    let mut listing = Listing::new(&header, json);
    for planned in &plan.cases {
        let labels = planned.case.labels();
        let estimate = planned.estimate(threads);
        let unknown = || "unknown".to_owned();
        let collapsed = if planned.case.dataset.collapse_duplicates { " (duplicates collapsed)" } else { "" };
        listing.row(vec![
            labels.dataset + collapsed,
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
        eprintln!("{}", outlook(&plan, threads).text);
    }
    Ok(OK)
}

/// What all cases of a plan are likely to take.
pub(crate) struct Outlook {
    /// In words.
    pub(crate) text: String,
    /// Seconds of those cases whose size is known.
    pub(crate) seconds: f64,
}

pub(crate) fn outlook(plan: &Plan, threads: usize) -> Outlook {
    let known: Vec<f64> = plan.cases.iter().filter_map(|p| Some(p.estimate(threads)?.seconds)).collect();
    let seconds = known.iter().sum();
    let time = match known.len() {
        0 => "unknown time".to_owned(),
        n if n < plan.cases.len() => format!("more than {}", output::duration(seconds)),
        _ => format!("about {}", output::duration(seconds)),
    };
    let (cases, word) = (plan.cases.len(), if plan.cases.len() == 1 { "case" } else { "cases" });
    Outlook { text: format!("{cases} {word}, {time} on {threads} threads"), seconds }
}

/// Gives the user's own files their sizes. A file that cannot be read leaves them
/// unknown: to refuse it is for the run.
fn size_up(global: &Global, plan: &mut Plan) -> Result<(), Failure> {
    let places = Places::from_env(global.data_dir.clone()).map_err(Failure::usage)?;
    for planned in plan.cases.iter_mut().filter(|planned| planned.dataset_path.is_some()) {
        let path = planned.dataset_path.as_deref();
        if let Ok(copy) = obtain(global, &places, &planned.case.dataset.source, path, true) {
            planned.n = planned.n.or(Some(copy.training_rows()));
            planned.d = planned.d.or(Some(copy.d));
        }
    }
    Ok(())
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
