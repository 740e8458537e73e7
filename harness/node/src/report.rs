//! Messages of the runner, which go to the log of its job.

#![allow(clippy::print_stderr)]

use std::fmt::Display;

use gpbench_engine::Event;
use gpbench_record::text;
use jiff::Timestamp;

/// Prints a line with the time.
pub(crate) fn line(what: impl Display) {
    eprintln!("{:.0} gpbench-node: {}", Timestamp::now(), text::line(&what.to_string()));
}

/// Prints an event, if it is worth a line.
pub(crate) fn event(event: &Event) {
    match event {
        Event::Begun { progress, .. } => line(format_args!("{} cases", progress.total)),
        Event::ReferenceStarted { labels, kind, n, .. } => {
            line(format_args!("{} for {} (n = {n})", kind.as_str(), labels.dataset));
        }
        Event::CaseStarted { labels, .. } => line(format_args!("starting {labels}")),
        Event::CaseAdvanced { .. } => {}
        Event::CaseFinished { row, .. } => {
            line(format_args!("{}: {} {}", row.labels, row.status, row.reason))
        }
        Event::Warning(warning) => line(format_args!("warning: {warning}")),
    }
}
