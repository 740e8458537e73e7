//! Text of a baseline file that a run gives.

use std::fmt::Write as _;

use gpbench_record::metric::METRICS;
use gpbench_record::{CaseStatus, text};

use super::cases::merged;
use super::file::{Baseline, BaselineContents, is_recorded};
use crate::error::Result;
use crate::frame::{Cases, Frame};
use crate::run::Run;

/// The text of a baseline file that the run passes. It keeps the tolerances of `old` and records every metric that has
/// one. Skipped cases are left out.
///
/// # Errors
/// If the table of results cannot be built.
pub fn update(run: &Run, old: Option<&Baseline>) -> Result<String> {
    let frame = Frame::new(run)?;
    let mut out = String::from(
        "# Written by `gpbench check --update`. Edit only the tolerance table by hand:\n\
         # a metric may get worse by the larger of `absolute` and `relative * |baseline|`.\n\
         schema = 1\n\n[tolerance]\n",
    );
    let tolerances = old.map(|b| &b.tolerance).into_iter().flatten();
    let mut metrics: Vec<&str> =
        METRICS.iter().map(|metric| metric.name).filter(|name| is_recorded(name)).collect();
    for (name, tolerance) in tolerances {
        let _ = writeln!(
            out,
            "{} = {{ absolute = {}, relative = {} }}",
            key(name),
            toml_number(tolerance.absolute),
            toml_number(tolerance.relative)
        );
        if !metrics.contains(&name.as_str()) {
            metrics.push(name);
        }
    }
    let cases = Cases::of(&frame);
    let BaselineContents { datasets, solvers } = BaselineContents::of(&cases);
    for (table, contents) in [("datasets", datasets), ("solvers", solvers)] {
        if !contents.is_empty() {
            let _ = writeln!(out, "\n[contents.{table}]");
        }
        for (name, contents) in contents {
            let contents: Vec<String> = contents.iter().map(|content| quoted(content)).collect();
            let _ = writeln!(out, "{} = [{}]", key(&name), contents.join(", "));
        }
    }
    for (case, found) in merged(&cases) {
        if found.worst.status == CaseStatus::Skipped {
            continue;
        }
        out.push_str("\n[[case]]\n");
        let axes = [
            ("dataset", Some(&case.dataset)),
            ("kernel", Some(&case.kernel)),
            ("estimator", case.estimator.as_ref()),
            ("solver", Some(&case.solver)),
        ];
        for (axis, name) in axes.into_iter().filter_map(|(axis, name)| Some((axis, name?))) {
            let _ = writeln!(out, "{axis} = {}", quoted(name));
        }
        let _ = writeln!(out, "seed = {}\nstatus = \"{}\"", case.seed, found.worst.status);
        out.push_str("metrics = {");
        let values = metrics.iter().filter_map(|name| Some((name, found.metrics.get(name)?)));
        let pairs: Vec<String> =
            values.map(|(name, v)| format!(" {} = {}", key(name), toml_number(v))).collect();
        let _ = writeln!(out, "{} }}", pairs.join(","));
    }
    Ok(out)
}

/// Six significant digits: more than any tolerance needs, and stable in a diff.
fn toml_number(value: f64) -> String {
    let rounded: f64 = format!("{value:.5e}").parse().expect("a formatted number parses");
    match rounded {
        0.0 => "0.0".to_owned(),
        _ if (1e-4..1e9).contains(&rounded.abs()) => format!("{rounded:?}"),
        _ => format!("{rounded:e}"),
    }
}

/// A basic string of TOML, with quotes, backslashes and invisible characters escaped.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        let _ = match c {
            '"' | '\\' => write!(out, "\\{c}"),
            c if text::is_hidden(c) => write!(out, "\\U{:08X}", c as u32),
            c => write!(out, "{c}"),
        };
    }
    out.push('"');
    out
}

fn key(name: &str) -> String {
    let bare =
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
    if bare { name.to_owned() } else { quoted(name) }
}
