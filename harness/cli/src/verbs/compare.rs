//! `gpbench compare`: runs side by side.

use super::report::open;
use crate::args::{Compare, Global};
use crate::exit::{Failure, OK, Outcome};
use crate::output;

pub(crate) fn compare(global: &Global, args: &Compare) -> Outcome {
    if args.runs.len() < 2 {
        return Err(Failure::nothing("one run has nothing to be compared with; name two or more"));
    }
    let mut runs = Vec::new();
    for name in &args.runs {
        let folder = gpbench_engine::resolve_run(&global.output_dir, name).map_err(Failure::usage)?;
        runs.push(open(&folder)?);
    }
    let comparison = gpbench_report::compare(&runs).map_err(Failure::internal)?;
    if comparison.rows.is_empty() {
        return Err(Failure::nothing("these runs have no case in common"));
    }
    output::show(&comparison.table(), &comparison.json(), args.format);
    Ok(OK)
}
