//! A user's Parquet file.
#![no_main]

use libfuzzer_sys::fuzz_target;

mod file;

fuzz_target!(|bytes: &[u8]| file::import_file("fuzzed.parquet", bytes));
