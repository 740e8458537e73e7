//! `gpbench compare`: runs side by side, and the last judged against the first.

use gpbench_report::Run;
use gpbench_report::baseline::{self, Baseline};

use super::report;
use crate::args::{Compare, Format, Global};
use crate::exit::{Failure, Outcome};
use crate::{output, verdict};

pub(crate) fn compare(global: &Global, args: &Compare) -> Outcome {
    verdict::has_place(&args.page)?;
    let mut runs = Vec::new();
    for name in &args.runs {
        let folder = gpbench_engine::resolve_run(&global.output_dir, name).map_err(Failure::usage)?;
        runs.push(report::open(&folder)?);
    }
    let asked = |names: &[String], name: &String| names.is_empty() || names.contains(name);
    for run in &mut runs {
        run.rows.retain(|row| {
            asked(&args.solvers, &row.labels.solver) && asked(&args.datasets, &row.labels.dataset)
        });
    }
    let title = format!("gpbench compare {}", args.runs.join(" "));
    match (&args.baseline, &args.between[..], &mut runs[..]) {
        (Some(file), _, [run]) => {
            let mut old = Baseline::read(file).map_err(Failure::usage)?;
            // What was not asked for is not missing.
            old.cases.retain(|case| {
                asked(&args.solvers, &case.key.solver) && asked(&args.datasets, &case.key.dataset)
            });
            verdict::tell(&title, &baseline::check(run, &old), args.format, &args.page)
        }
        (None, [old, new], [run]) => {
            for solver in [old, new] {
                if !run.rows.iter().any(|row| row.labels.solver == *solver) {
                    return Err(Failure::nothing(format!("the run has no case of the solver `{solver}`")));
                }
            }
            side_by_side(&gpbench_report::between(run, old, new), &title, args)
        }
        (None, [], [_]) => Err(Failure::nothing(
            "one run has nothing to be compared with; name two or more, or a baseline with `--baseline`",
        )),
        (None, [], runs) => side_by_side(runs, &title, args),
        (None, ..) => Err(Failure::usage("`--between OLD,NEW` takes two solvers and one run")),
        (Some(_), ..) => Err(Failure::usage("`--baseline` takes one run")),
    }
}

fn side_by_side(runs: &[Run], title: &str, args: &Compare) -> Outcome {
    let comparison = gpbench_report::compare(runs).map_err(Failure::internal)?;
    if comparison.rows.is_empty() {
        return Err(Failure::nothing("these runs have no case in common"));
    }
    match args.format {
        Format::Table => output::print(&format!(
            "{}\n{}",
            comparison.table().text(),
            verdict::words(&comparison.check, args.format)
        )),
        Format::Md => output::print(&format!(
            "{}\n{}",
            comparison.table().markdown(),
            verdict::words(&comparison.check, args.format)
        )),
        _ => output::show(&comparison.table(), &comparison.json(), args.format),
    }
    verdict::ends(title, &comparison.check, &args.page)
}
