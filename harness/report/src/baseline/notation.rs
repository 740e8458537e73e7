//! TOML notation of numbers, texts and keys in files that people read.

use std::fmt::Write as _;

use gpbench_record::text;

use super::cases::CaseKey;

/// Six significant digits: more than any tolerance needs, and stable in a diff.
pub(super) fn number(value: f64) -> String {
    let rounded: f64 = format!("{value:.5e}").parse().expect("a formatted number parses");
    match rounded {
        0.0 => "0.0".to_owned(),
        _ if (1e-4..1e9).contains(&rounded.abs()) => format!("{rounded:?}"),
        _ => format!("{rounded:e}"),
    }
}

/// A basic string of TOML, with quotes, backslashes and invisible characters escaped.
pub(super) fn quoted(text: &str) -> String {
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

/// A key, quoted where it must be.
pub(super) fn key(name: &str) -> String {
    let bare =
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
    if bare { name.to_owned() } else { quoted(name) }
}

/// The names of a case as entries `axis = "name"`, and its seed.
pub(super) fn axes(case: &CaseKey) -> Vec<String> {
    let names = [
        ("dataset", Some(&case.dataset)),
        ("kernel", Some(&case.kernel)),
        ("estimator", case.estimator.as_ref()),
        ("solver", Some(&case.solver)),
    ];
    let named = names.into_iter().filter_map(|(axis, name)| Some(format!("{axis} = {}", quoted(name?))));
    named.chain([format!("seed = {}", case.seed)]).collect()
}
