//! Descriptions of many kinds: each is accepted, or refused with a reason, and none fills the memory.

use std::cell::Cell;
use std::path::Path;

use gpbench_abi::{Facts, Param, Plugin, Solver, Str, Value, value_kind};
use gpbench_host::Library;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use crate::arbitrary_description;
use crate::support::host;

fn is_accepted(bytes: &[u8]) -> bool {
    match arbitrary_description::read(bytes) {
        Ok(_) => true,
        Err(what) => {
            assert!(what.starts_with("raw.so describes itself wrongly: ") && what.len() < 2 << 20, "{what}");
            false
        }
    }
}

#[test]
fn every_description_is_accepted_or_refused() {
    let config = gpbench_testkit::proptest_config!(5_000);
    let (tried, taken) = (Cell::new(0), Cell::new(0));
    let bytes = prop::collection::vec(prop_oneof![9 => 0..160_u8, 1 => any::<u8>()], 0..200);
    let survived = TestRunner::new(config).run(&bytes, |bytes| {
        tried.set(tried.get() + 1);
        taken.set(taken.get() + usize::from(is_accepted(&bytes)));
        Ok(())
    });
    survived.unwrap();
    println!("{} descriptions: {} accepted, {} refused", tried.get(), taken.get(), tried.get() - taken.get());
    assert!(taken.get() > 500 && tried.get() - taken.get() > 2000, "{}", taken.get());
}

#[test]
fn seeds_of_the_fuzzer_are_read_too() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/description");
    let mut tried = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        is_accepted(&std::fs::read(file.unwrap().path()).unwrap());
        tried += 1;
    }
    println!("{tried} seeds");
    assert!(tried >= 4);
}

/// A few tables, listed again and again: 4096 solvers of 4096 parameters of 4096 choices of a mebibyte.
#[test]
fn a_description_that_repeats_itself_does_not_fill_the_memory() {
    let text: &'static [u8] = vec![b'a'; 1 << 20].leak();
    let long = Str { ptr: text.as_ptr().cast(), len: 1 << 20 };
    let choices: &'static [Str] = vec![long; 4096].leak();
    let none = || Value { kind: value_kind::NONE, reserved: 0, i: 0, f: 0.0, s: Str::new("") };
    let param = Param {
        name: Str::new("again"),
        doc: long,
        default: Value { kind: value_kind::TEXT, s: long, ..none() },
        min: none(),
        max: none(),
        choices: choices.as_ptr(),
        n_choices: 4096,
    };
    let pattern = Solver {
        size: size_of::<Solver>() as u32,
        reserved: 0,
        capabilities: 0,
        id: Str::new("again"),
        doc: long,
        params: &param,
        n_params: 1,
        create: None,
        prepare: None,
        solve: None,
        estimate: None,
        destroy: None,
        source: Str::new(""),
        warm_up: None,
        facts: Facts::none(),
    };
    let plugin = Plugin {
        size: size_of::<Plugin>() as u32,
        minor: 0,
        name: Str::new("again"),
        version: Str::new("1"),
        solvers: &pattern,
        n_solvers: 1,
        solver_stride: size_of::<Solver>() as i64,
        learners: std::ptr::null(),
        n_learners: 0,
        learner_stride: 0,
        parts: std::ptr::null(),
        n_parts: 0,
        part_stride: 0,
    };
    // SAFETY: a live description with as many entries as it says.
    let library = unsafe { Library::from_description(Path::new("raw.so"), &plugin, host()) };
    let error = library.unwrap_err().to_string();
    assert!(error.ends_with("parameter `again`: the description takes more than 16777216 bytes"), "{error}");
}
