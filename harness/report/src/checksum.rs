//! Checksums of the plugins of a run, and whether they are those of the run before.

use std::collections::BTreeSet;

use gpbench_runs::RunRecord;

/// Digits of a checksum in tables.
const DIGITS: usize = 10;

/// The first digits of SHA-256 checksums.
pub(crate) fn short(checksums: &BTreeSet<String>) -> String {
    let digits: Vec<&str> =
        checksums.iter().map(|checksum| checksum.get(..DIGITS).unwrap_or(checksum)).collect();
    digits.join(" ")
}

/// The checksum of a solver's plugin, and that of the run before where it was another; empty where it is not known.
pub(crate) fn cell(record: &RunRecord, solver: &str) -> String {
    let Some(own) = record.libraries.get(solver) else { return String::new() };
    match record.before.as_ref().and_then(|before| before.libraries.get(solver)) {
        Some(earlier) if earlier != own => format!("{} (was {})", short(own), short(earlier)),
        _ => short(own),
    }
}

/// What the checksums are, and which run came before where there is one; empty where no checksum is known.
pub(crate) fn caption(record: &RunRecord) -> String {
    if record.libraries.is_empty() {
        return String::new();
    }
    let before = record
        .before
        .as_ref()
        .map(|before| format!("; the run before, {}, had another where the table says so", before.run));
    let before = before.unwrap_or_default();
    format!("Checksums are the first {DIGITS} digits of the SHA-256 of the plugins' libraries{before}.")
}

#[cfg(test)]
mod tests {
    use gpbench_runs::EarlierPlugins;

    use super::*;

    #[test]
    fn a_plugin_that_was_another_in_the_run_before_shows_both() {
        let one = |digit: &str| BTreeSet::from([digit.repeat(64)]);
        let of = |cg, ap| [("cg".to_owned(), one(cg)), ("ap".to_owned(), one(ap))].into();
        let mut record = RunRecord { libraries: of("a", "b"), ..RunRecord::default() };
        assert_eq!(cell(&record, "cg"), "aaaaaaaaaa");
        record.before = Some(EarlierPlugins { run: "20260101T000000Z-abc".into(), libraries: of("c", "b") });
        assert_eq!(cell(&record, "cg"), "aaaaaaaaaa (was cccccccccc)");
        assert_eq!((cell(&record, "ap"), cell(&record, "sgd")), ("bbbbbbbbbb".into(), String::new()));
        assert!(caption(&record).contains("the run before, 20260101T000000Z-abc, had another"));
        assert_eq!(caption(&RunRecord::default()), "");
    }
}
