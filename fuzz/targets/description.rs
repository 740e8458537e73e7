//! A plugin's description of itself, made of arbitrary bytes.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../harness/host/tests/arbitrary_description.rs"]
mod description;

fuzz_target!(|bytes: &[u8]| {
    if let Err(what) = description::read(bytes) {
        assert!(what.starts_with("raw.so describes itself wrongly: "));
    }
});
