//! A user's text file, plain or compressed.
#![no_main]

use libfuzzer_sys::fuzz_target;

mod file;

fuzz_target!(|bytes: &[u8]| file::import_file("fuzzed.csv", bytes));
