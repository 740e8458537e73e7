//! Validation of the keys of a baseline file: the tolerance or metric of an unknown key would not be checked.

use std::ops::Range;

use gpbench_record::metric::METRICS;
use gpbench_record::text;
use toml::de::{DeTable, DeValue};

use crate::error::line_and_column;

const FILE: [&str; 5] = ["schema", "tolerance", "contents", "session", "case"];
const CONTENTS: [&str; 2] = ["datasets", "solvers"];
const TOLERANCE: [&str; 2] = ["absolute", "relative"];
const SESSION: [&str; 4] = ["id", "machine", "other_load", "case"];
const MACHINE: [&str; 6] = ["cpu", "cores", "threads", "jobs", "cpu_dispatch", "blas_core"];
const TIMES: [&str; 7] = ["dataset", "kernel", "estimator", "solver", "seed", "median", "repeats"];
const CASE: [&str; 7] = ["dataset", "kernel", "estimator", "solver", "seed", "status", "metrics"];

/// An unknown key and its position.
pub(super) struct Mistake {
    /// 1-based.
    pub(super) line: usize,
    /// 1-based, in characters.
    pub(super) column: usize,
    pub(super) what: String,
}

/// The first unknown key. A text that is not TOML has none: its reader reports the error.
pub(super) fn unknown(document: &str) -> Option<Mistake> {
    let parsed = DeTable::parse(document).ok()?;
    let mut found: Vec<(Range<usize>, String)> = Vec::new();
    look(parsed.get_ref(), "key", &FILE, &mut found);
    let metrics: Vec<&str> = METRICS.iter().map(|metric| metric.name).collect();
    for (key, value) in parsed.get_ref() {
        for table in tables(value.get_ref()) {
            match key.get_ref().as_ref() {
                "tolerance" => {
                    look(table, "metric", &metrics, &mut found);
                    let bounds = table.values().flat_map(|value| tables(value.get_ref()));
                    bounds.for_each(|bound| look(bound, "bound", &TOLERANCE, &mut found));
                }
                "contents" => look(table, "key", &CONTENTS, &mut found),
                "session" => {
                    look(table, "key", &SESSION, &mut found);
                    for (of, known) in [("machine", &MACHINE[..]), ("case", &TIMES[..])] {
                        below(table, of).for_each(|table| look(table, "key", known, &mut found));
                    }
                }
                "case" => {
                    look(table, "key", &CASE, &mut found);
                    below(table, "metrics").for_each(|of_case| look(of_case, "metric", &metrics, &mut found));
                }
                _ => {}
            }
        }
    }
    let (span, what) = found.into_iter().min_by_key(|(span, _)| span.start)?;
    let (line, column) = line_and_column(document, span.start);
    Some(Mistake { line, column, what })
}

/// The tables that a table holds under a key.
fn below<'a, 'i>(table: &'a DeTable<'i>, name: &'static str) -> impl Iterator<Item = &'a DeTable<'i>> {
    let named = table.iter().filter(move |(key, _)| key.get_ref() == name);
    named.flat_map(|(_, value)| tables(value.get_ref()))
}

/// The value if it is a table, or its tables if it is an array.
fn tables<'a, 'i>(value: &'a DeValue<'i>) -> Vec<&'a DeTable<'i>> {
    match value {
        DeValue::Table(table) => vec![table],
        DeValue::Array(items) => items.iter().flat_map(|item| tables(item.get_ref())).collect(),
        _ => Vec::new(),
    }
}

/// Adds the unknown keys of a table.
fn look(table: &DeTable<'_>, kind: &str, known: &[&str], found: &mut Vec<(Range<usize>, String)>) {
    for key in table.keys().filter(|key| !known.contains(&key.get_ref().as_ref())) {
        let name = text::line(key.get_ref());
        let name = text::cut(&name, text::NAME);
        let hint = match nearest(&name, known) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("known are {}", known.join(", ")),
        };
        found.push((key.span(), format!("unknown {kind} `{name}`; {hint}")));
    }
}

/// The known name that is nearest to `name`, if it differs by few letters.
fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let distances = known.iter().map(|known| (strsim::damerau_levenshtein(name, known), *known));
    let near = distances.filter(|(distance, known)| *distance <= (known.len() / 3).max(1));
    near.min_by_key(|(distance, _)| *distance).map(|(_, known)| known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_file_has_no_mistakes() {
        let text = "schema = 1\n[tolerance]\ntest_rmse = { absolute = 0.1 }\n[[case]]\ndataset = 'a'\nkernel = 'k'\n\
                    estimator = 'e'\nsolver = 's'\nseed = 0\nstatus = 'ok'\nmetrics = { test_rmse = 1.0 }\n\
                    [contents.datasets]\na = ['12']\n[contents.solvers]\ns = ['34']\n\
                    [[session]]\nid = 'r/1'\nmachine = { cpu = 'c', jobs = 1 }\ncase = [{ solver = 's', repeats = [1.0] }]\n";
        assert!(unknown(text).is_none());
        assert!(unknown("not TOML").is_none());
    }

    #[test]
    fn an_unknown_key_is_named_with_its_place_and_the_nearest_one() {
        for (text, line, column, what) in [
            ("schema = 1\n[tolerances]\n", 2, 2, "unknown key `tolerances`; did you mean `tolerance`?"),
            ("[tolerance]\n  test_rmze = {}", 2, 3, "unknown metric `test_rmze`; did you mean `test_rmse`?"),
            (
                "[tolerance]\ntest_rmse = { \"σ\" = 1, abs = 1 }",
                2,
                15,
                "unknown bound `σ`; known are absolute, relative",
            ),
            ("[tolerance.test_rmse]\nrelativ = 1", 2, 1, "unknown bound `relativ`; did you mean `relative`?"),
            ("[[case]]\nsed = 1", 2, 1, "unknown key `sed`; did you mean `seed`?"),
            (
                "[[case]]\n[case.metrics]\ntest_nnl = 1",
                3,
                1,
                "unknown metric `test_nnl`; did you mean `test_nll`?",
            ),
            ("[contents]\nsolvrs = {}", 2, 1, "unknown key `solvrs`; did you mean `solvers`?"),
            ("[[session]]\nmachin = {}", 2, 1, "unknown key `machin`; did you mean `machine`?"),
            (
                "session = [{ case = [{ repeat = 1 }] }]",
                1,
                24,
                "unknown key `repeat`; did you mean `repeats`?",
            ),
            ("case = [{ solvr = 1 }]", 1, 11, "unknown key `solvr`; did you mean `solver`?"),
        ] {
            let found = unknown(text).expect(text);
            assert_eq!((found.line, found.column, found.what.as_str()), (line, column, what), "{text}");
        }
    }
}
