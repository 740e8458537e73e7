//! A learner under test: begun or resumed, then fitted, asked and saved.

use std::collections::BTreeMap;
use std::ffi::c_void;

use gpbench_abi as abi;
use gpbench_abi::{Batches, Position};
use ndarray::{Array1, ArrayRef2};

use super::FitHost;
use super::session::{Session, Used, output};
use super::store::{Arrays, with_store};
use crate::matrix::{with_input, with_output};
use crate::testing::Failure;
use crate::testing::host::TestHost;
use crate::testing::run::{fill_in, list};
use crate::text::text;
use crate::{Model, ParamValue};

/// A learner whose fit has begun, on a [`FitHost`].
pub struct FitRun<'h> {
    host: TestHost,
    learner: abi::Learner,
    object: *mut c_void,
    session: Session<'h>,
}

/// Outcome of a call of `fit`.
#[derive(Debug, Clone, PartialEq)]
pub struct FitReport {
    /// One of [`crate::abi::reason`].
    pub reason: i32,
    /// Steps of all calls since `begin`, as reported.
    pub steps: i64,
    /// Further numbers, as reported.
    pub numbers: Vec<(String, f64)>,
}

/// A learner's saved state, with where the streams of batches are and what has been used.
#[derive(Debug, Clone, PartialEq)]
pub struct SavedFit {
    arrays: Arrays,
    positions: BTreeMap<u32, Position>,
    used: Used,
}

impl<'h> FitRun<'h> {
    pub(super) fn create(
        given: &'h FitHost,
        learner: abi::Learner,
        params: &[(&str, ParamValue)],
    ) -> Result<FitRun<'h>, Failure> {
        let host = TestHost::new();
        let values = fill_in((learner.params, learner.n_params), params)
            .map_err(|error| Failure { status: error.status(), text: error.to_string() })?;
        let mut object = std::ptr::null_mut();
        let create = learner.create.expect("a table has `create`");
        // SAFETY: a live host, one value a parameter, and a place for the object.
        host.outcome(unsafe { create(host.table(), values.as_ptr(), values.len() as i64, &mut object) })?;
        Ok(FitRun { host, learner, object, session: Session::new(given) })
    }

    /// Begins again, on the same object; batches and counts start anew.
    pub fn begin(&mut self) -> Result<(), Failure> {
        self.session = Session::new(self.session.given);
        let begin = self.learner.begin.expect("a table has `begin`");
        // SAFETY: a live object and fit.
        self.host.outcome(self.session.with_fit(|fit| unsafe { begin(self.object, fit) }))
    }

    pub(super) fn load(&mut self, saved: &SavedFit) -> Result<(), Failure> {
        let load = self.learner.load.expect("a table has `load`");
        let n = self.session.given.x.nrows();
        let (status, _) = with_store(saved.arrays.clone(), |store| {
            // SAFETY: a live object, fit and store.
            self.session.with_fit(|fit| unsafe { load(self.object, fit, store) })
        });
        self.host.outcome(status)?;
        let streams = saved.positions.iter().map(|(&stream, &position)| {
            let batches = Batches::at(n, stream, position, self.session.words());
            (stream, batches.expect("a state of another number of rows was refused by the learner"))
        });
        self.session.streams.replace(streams.collect());
        self.session.used.set(saved.used);
        Ok(())
    }

    /// Takes steps until the passes are spent, the time is up, or the learner ends by itself.
    pub fn fit(&mut self) -> Result<FitReport, Failure> {
        self.session.pause_in.set(None);
        self.call()
    }

    /// As [`fit`](Self::fit), with a pause after `count` steps at most.
    pub fn steps(&mut self, count: usize) -> Result<FitReport, Failure> {
        self.session.pause_in.set(Some(count));
        self.call()
    }

    fn call(&mut self) -> Result<FitReport, Failure> {
        // SAFETY: a report is numbers and pointers, for which zero is sound.
        let mut report: abi::Report = unsafe { std::mem::zeroed() };
        report.size = size_of::<abi::Report>() as u32;
        let fit = self.learner.fit.expect("a table has `fit`");
        // SAFETY: a live object, fit and report.
        let status = self.session.with_fit(|table| unsafe { fit(self.object, table, &mut report) });
        self.host.outcome(status)?;
        // SAFETY: what the report points to lives until the next call on the object.
        let (names, values) =
            unsafe { (list(report.names, report.n_values), list(report.values, report.n_values)) };
        // SAFETY: as above.
        let name = |name: &abi::Str| unsafe { text(name) }.expect("names are UTF-8").to_owned();
        let numbers = names.iter().map(name).zip(values).collect();
        Ok(FitReport { reason: report.reason, steps: report.iterations, numbers })
    }

    /// Grants so many passes in all, from now on.
    pub fn grant(&mut self, passes: f64) {
        self.session.passes.set(passes);
    }

    /// Means and variances of y at the rows of `x`.
    pub fn predict(&self, x: &ArrayRef2<f64>) -> Result<(Array1<f64>, Array1<f64>), Failure> {
        let predict = self.learner.predict.expect("a table has `predict`");
        let mut out = output(x.nrows());
        // SAFETY: a live object and matrices.
        let call = |x: &abi::Mat| with_output(&mut out, |out| unsafe { predict(self.object, x, out) });
        let status = with_input(x, call);
        self.host.outcome(status)?;
        Ok((out.column(0).to_owned(), out.column(1).to_owned()))
    }

    /// What the learner puts as its model.
    pub fn model(&self) -> Result<Model, Failure> {
        let model = self.learner.model.expect("a table of the SDK has `model`");
        // SAFETY: a live object and store.
        let (status, arrays) = with_store(Arrays::new(), |store| unsafe { model(self.object, store) });
        self.host.outcome(status)?;
        Ok(Model { arrays })
    }

    /// The learner's saved state, for [`FitHost::resume`].
    pub fn save(&self) -> Result<SavedFit, Failure> {
        let save = self.learner.save.expect("a table of the SDK has `save`");
        // SAFETY: a live object and store.
        let (status, arrays) = with_store(Arrays::new(), |store| unsafe { save(self.object, store) });
        self.host.outcome(status)?;
        let streams = self.session.streams.borrow();
        let positions = streams.iter().map(|(&stream, batches)| (stream, batches.position())).collect();
        Ok(SavedFit { arrays, positions, used: self.session.used.get() })
    }

    /// Steps and objectives, as observed since `begin` or `resume`.
    pub fn trace(&self) -> Vec<(i64, f64)> {
        self.session.trace.borrow().clone()
    }

    /// Steps, names and values of the learner's own numbers, as noted since `begin` or `resume`.
    pub fn notes(&self) -> Vec<(i64, String, f64)> {
        self.session.notes.borrow().clone()
    }

    /// Streams and rows of the batches, as drawn since `begin` or `resume`.
    pub fn batches(&self) -> Vec<(u32, Vec<usize>)> {
        self.session.batches.borrow().clone()
    }

    /// What the fit has used.
    pub fn used(&self) -> Used {
        self.session.used.get()
    }
}

impl Drop for FitRun<'_> {
    fn drop(&mut self) {
        if let Some(destroy) = self.learner.destroy {
            // SAFETY: made by `create` of the same table; its last use.
            unsafe { destroy(self.object) };
        }
    }
}
