//! The text of a spec, checked against the catalogue that the tests of specs use.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../harness/spec/tests/common/mod.rs"]
// Other tests use the rest.
#[allow(dead_code)]
mod common;

fuzz_target!(|text: &str| {
    match common::check_text(text, &[]) {
        Ok(checked) => assert!(!checked.plan().cases.is_empty()),
        Err(errors) => assert!(!errors.to_string().is_empty()),
    }
});
