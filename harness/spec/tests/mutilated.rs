//! Reading any text as a spec ends in a plan or in errors, never in a panic.

use crate::common;
use proptest::prelude::*;

const SPEC: &str = include_str!("../../../benchmarks/quickstart.toml");
const TABLE: &str = include_str!("../../../benchmarks/lin2023/low-noise.toml");

/// Checks a text and plans it if it is right; shows the errors otherwise.
fn survive(text: &str, set: Option<&str>) {
    let sets: Vec<&str> = set.into_iter().collect();
    match common::check_text(text, &sets) {
        Ok(checked) => assert!(!checked.plan().cases.is_empty()),
        Err(errors) => assert!(!errors.to_string().is_empty()),
    }
}

proptest! {
    #![proptest_config(gpbench_testkit::proptest_config!(400))]

    #[test]
    fn cut_and_spliced(start in 0..2000_usize, length in 0..60_usize, put in "\\PC{0,12}", table in any::<bool>()) {
        let text: Vec<char> = if table { TABLE } else { SPEC }.chars().collect();
        let start = start % text.len();
        let end = (start + length).min(text.len());
        let spliced: String = text[..start].iter().copied().chain(put.chars()).chain(text[end..].iter().copied()).collect();
        survive(&spliced, None);
    }

    #[test]
    fn values_replaced(line in 0..60_usize, value in prop::sample::select(vec![
        "-1", "0", "4294967295", "nan", "-inf", "9223372036854775807", "9223372036854775808", "\"\"", "\"ü\"", "[]", "{}", "[[]]",
        "true", "1979-05-27", "1e400", "{ pol = 1 }", "\"published\"", "0x1F", "\"\\u0000\"",
    ])) {
        let replaced = SPEC.lines().enumerate().map(|(k, text)| match text.split_once(" = ") {
            Some((key, _)) if k == line => format!("{key} = {value}\n"),
            _ => format!("{text}\n"),
        });
        survive(&replaced.collect::<String>(), None);
    }

    #[test]
    fn overridden_at_random(key in "[a-z.\"= ]{0,16}", value in "\\PC{0,12}") {
        survive(SPEC, Some(&format!("{key}={value}")));
    }

    #[test]
    fn any_text_at_all(text in "\\PC{0,80}") {
        survive(&text, None);
    }
}
