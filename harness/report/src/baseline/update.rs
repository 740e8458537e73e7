//! Text of a baseline file that a run gives.

use std::fmt::Write as _;

use gpbench_record::metric::METRICS;
use gpbench_record::{CaseStatus, names};

use super::cases::{Merged, merged};
use super::file::{Baseline, BaselineContents, is_recorded};
use super::load::Load;
use super::notation::{axes, key, number, quoted};
use super::session::BaselineSession;
use super::timed::Timed;
use crate::error::Result;
use crate::frame::{Cases, Frame};
use crate::run::Run;

/// The text of a baseline file that the run passes. It keeps the tolerances of `old` and records every metric that
/// has one. Skipped cases are left out. The file holds no seconds.
///
/// # Errors
/// If the table of results cannot be built.
pub fn update(run: &Run, old: Option<&Baseline>) -> Result<String> {
    Ok(text(&Cases::of(&Frame::new(run)?), old, None))
}

/// As [`update`], with the seconds of the run: every repeat of each case, and the machine.
///
/// # Errors
/// If the table of results cannot be built.
pub fn update_with_seconds(run: &Run, old: Option<&Baseline>) -> Result<String> {
    let frame = Frame::new(run)?;
    let cases = Cases::of(&frame);
    let session = Timed::of(&cases).session(run.label());
    Ok(text(&cases, old, session.as_ref()))
}

/// Why seconds of the run are no good baseline: they were not measured, or other programs used the processors.
///
/// # Errors
/// If the table of results cannot be built.
pub fn doubtful_seconds(run: &Run) -> Result<Option<String>> {
    let frame = Frame::new(run)?;
    let session = Timed::of(&Cases::of(&frame)).session(run.label());
    Ok(match &session {
        None => Some("no case has seconds of every repeat on a known machine: the baseline holds none".to_owned()),
        Some(session) => session.load().map(|load| {
            let why = match load {
                Load::Disturbing => "other programs used the processors during this run",
                Load::Unknown => "what other programs used of the processors is not known, as of a run of less than a second",
            };
            format!("{why}: seconds compared with this baseline are undecided")
        }),
    })
}

fn text(cases: &Cases<'_>, old: Option<&Baseline>, session: Option<&BaselineSession>) -> String {
    let mut out = String::from(
        "# Written by `gpbench check --update`. Edit only the tolerance table by hand:\n\
         # a metric may get worse by the larger of `absolute` and `relative * |baseline|`.\n\
         schema = 1\n\n[tolerance]\n",
    );
    let tolerances = old.map(|b| &b.tolerance).into_iter().flatten();
    let mut metrics: Vec<&str> =
        METRICS.iter().map(|metric| metric.name).filter(|name| is_recorded(name)).collect();
    for (name, tolerance) in tolerances {
        let (absolute, relative) = (number(tolerance.absolute), number(tolerance.relative));
        let _ = writeln!(out, "{} = {{ absolute = {absolute}, relative = {relative} }}", key(name));
        // Seconds with repeats are compared by their own rule.
        let is_timed = session.is_some() && name == names::SECONDS;
        if !metrics.contains(&name.as_str()) && !is_timed {
            metrics.push(name);
        }
    }
    let BaselineContents { datasets, solvers } = BaselineContents::of(cases);
    for (table, contents) in [("datasets", datasets), ("solvers", solvers)] {
        if !contents.is_empty() {
            let _ = writeln!(out, "\n[contents.{table}]");
        }
        for (name, contents) in contents {
            let contents: Vec<String> = contents.iter().map(|content| quoted(content)).collect();
            let _ = writeln!(out, "{} = [{}]", key(&name), contents.join(", "));
        }
    }
    if let Some(session) = session {
        out += &session.text();
    }
    for (case, found) in merged(cases) {
        if found.worst.status != CaseStatus::Skipped {
            let _ = write!(out, "\n[[case]]\n{}\n{}", axes(&case).join("\n"), results(&found, &metrics));
        }
    }
    out
}

/// The lines of a case that state its status and metrics.
fn results(found: &Merged<'_>, metrics: &[&str]) -> String {
    let values = metrics.iter().filter_map(|name| Some((name, found.metrics.get(name)?)));
    let pairs: Vec<String> = values.map(|(name, v)| format!(" {} = {}", key(name), number(v))).collect();
    format!("status = \"{}\"\nmetrics = {{{} }}\n", found.worst.status, pairs.join(","))
}
