//! What a library takes before it works on any data: loading, its first object, and getting ready.
//!
//! None of this is part of a solver's seconds: a library may start an interpreter, import modules and compile. Objects that
//! are made later count as all calls beside prepare and solve do.

use std::cell::Cell;

use gpbench_host::{Library, difference};
use gpbench_record::{Clock, Metrics, names};

use crate::process;

/// What a library has taken so far.
#[derive(Debug)]
pub(crate) struct Beginning {
    /// Resident memory before the library was loaded.
    resident_before: u64,
    /// Seconds of the library's entry function.
    described: f64,
    /// Seconds and bytes once there was a first object.
    import: Cell<Option<(f64, u64)>>,
    /// Seconds of getting ready for sizes; none before the first time.
    warm_up: Cell<Option<f64>>,
}

impl Beginning {
    /// That of a library that has been loaded, where `resident_before` bytes of memory were resident before.
    pub(crate) fn of(library: &Library, resident_before: u64) -> Beginning {
        let described = library.described().wall;
        Beginning { resident_before, described, import: Cell::new(None), warm_up: Cell::new(None) }
    }

    /// Makes an object. Returns the time that counts as a call beside the work: none for the first object.
    pub(crate) fn create<T>(&self, create: impl FnOnce() -> T) -> (T, Clock) {
        let began = process::now();
        let object = create();
        let spent = difference(process::now(), began);
        if self.import.get().is_some() {
            return (object, spent);
        }
        let bytes = process::resident_bytes().saturating_sub(self.resident_before);
        self.import.set(Some((self.described + spent.wall, bytes)));
        (object, Clock::default())
    }

    /// Lets an object get ready.
    pub(crate) fn warm_up<T>(&self, warm_up: impl FnOnce() -> T) -> T {
        let began = process::now();
        let outcome = warm_up();
        let seconds = difference(process::now(), began).wall;
        self.warm_up.set(Some(self.warm_up.get().unwrap_or(0.0) + seconds));
        outcome
    }

    /// The metrics of a case.
    pub(crate) fn metrics(&self) -> Metrics {
        let (seconds, bytes) = self.import.get().unzip();
        let found = [
            (names::SECONDS_IMPORT, seconds),
            (names::MEMORY_IMPORT, bytes.map(|bytes| bytes as f64)),
            (names::SECONDS_WARM_UP, self.warm_up.get()),
        ];
        found.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
    }
}
