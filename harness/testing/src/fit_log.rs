//! Record of a fit's callbacks.

use std::cell::RefCell;

use gpbench_host::{FitObserver, FitPoint};

/// Record of a fit's callbacks.
#[derive(Debug, Default)]
pub(crate) struct FitLog {
    /// Steps and objectives.
    pub(crate) trace: RefCell<Vec<(i64, f64)>>,
    /// Steps, names and values of the learner's own numbers.
    pub(crate) notes: RefCell<Vec<(i64, String, f64)>>,
    /// Streams and rows of the batches.
    pub(crate) batches: RefCell<Vec<(u32, Vec<usize>)>>,
}

impl FitObserver for FitLog {
    fn step(&self, at: FitPoint, objective: f64) {
        self.trace.borrow_mut().push((at.step as i64, objective));
    }

    fn note(&self, at: FitPoint, name: &str, value: f64) {
        self.notes.borrow_mut().push((at.step as i64, name.to_owned(), value));
    }

    fn batch(&self, stream: u32, rows: &[i64]) {
        self.batches.borrow_mut().push((stream, rows.iter().map(|&row| row as usize).collect()));
    }
}
