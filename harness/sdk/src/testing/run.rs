//! Runs a solver on a [`DenseProblem`] through the tables that the real host uses.

use std::ffi::c_void;

use gpbench_abi as abi;
use ndarray::{Array2, ShapeBuilder};

use super::host::TestHost;
use super::mock_problem::MockProblem;
use super::{DenseProblem, Failure, Outcome};
use crate::matrix::{with_input, with_output};
use crate::text::text;
use crate::{Error, ParamValue, Result, Solver, export};

impl DenseProblem {
    /// Makes a solver, prepares and solves. Parameters not given have their defaults.
    pub fn solve<S: Solver>(&self, params: &[(&str, ParamValue)]) -> Result<Outcome, Failure> {
        self.solve_with(&export::solver::<S>(), params)
    }

    /// As [`solve`](Self::solve), for a solver known by its table.
    pub fn solve_with(
        &self,
        solver: &abi::Solver,
        params: &[(&str, ParamValue)],
    ) -> Result<Outcome, Failure> {
        let host = TestHost::new();
        let values = fill_in((solver.params, solver.n_params), params)
            .map_err(|error| Failure { status: error.status(), text: error.to_string() })?;
        let mut object = std::ptr::null_mut();
        let create = solver.create.expect("a table has `create`");
        // SAFETY: a live host, one value a parameter, and a place for the object.
        host.outcome(unsafe { create(host.table(), values.as_ptr(), values.len() as i64, &mut object) })?;
        let object = Object { solver, object };
        self.run(&host, &object)
    }

    fn run(&self, host: &TestHost, object: &Object<'_>) -> Result<Outcome, Failure> {
        let mock = MockProblem::new(self);
        let operator = mock.operator();
        let mut x = Array2::zeros(self.start.dim().f());
        x.assign(&self.start);
        // Reason, iterations, claimed norms, further numbers, and the entries used by `prepare`.
        let (reason, iterations, claimed, numbers, entries_prepare) = with_output(&mut x, |x| {
            with_input(&self.rhs, |rhs| {
                // The only pointer to `x` from here on, shared with `observe`.
                let x: *mut abi::Mat = x;
                mock.x.set(x);
                let problem = mock.problem(&operator, rhs, x);
                if let Some(prepare) = object.solver.prepare {
                    // SAFETY: a live object and problem.
                    host.outcome(unsafe { prepare(object.object, &problem) })?;
                }
                let entries_prepare = mock.entries.get();
                // SAFETY: a report is numbers and pointers, for which zero is sound.
                let mut report: abi::Report = unsafe { std::mem::zeroed() };
                report.size = size_of::<abi::Report>() as u32;
                let solve = object.solver.solve.expect("a table has `solve`");
                // SAFETY: a live object, problem and report.
                host.outcome(unsafe { solve(object.object, &problem, &mut report) })?;
                // SAFETY: what the report points to lives until the next call on the object.
                let (claimed, names, values) = unsafe {
                    (
                        list(report.claimed, report.n_claimed),
                        list(report.names, report.n_values),
                        list(report.values, report.n_values),
                    )
                };
                // SAFETY: as above.
                let names =
                    names.iter().map(|name| unsafe { text(name) }.expect("names are UTF-8").to_owned());
                let numbers = names.zip(values).collect();
                Ok((report.reason, report.iterations, claimed, numbers, entries_prepare))
            })
        })?;
        Ok(Outcome {
            x,
            reason,
            iterations,
            claimed,
            numbers,
            trace: mock.trace.into_inner(),
            notes: mock.notes.into_inner(),
            iterates: mock.iterates.into_inner(),
            entries_prepare,
            entries: mock.entries.get(),
            state: mock.state.into_inner(),
        })
    }
}

/// A live solver object, ended when dropped.
struct Object<'s> {
    solver: &'s abi::Solver,
    object: *mut c_void,
}

impl Drop for Object<'_> {
    fn drop(&mut self) {
        if let Some(destroy) = self.solver.destroy {
            // SAFETY: made by `create` of the same table; its last use.
            unsafe { destroy(self.object) };
        }
    }
}

/// One value a parameter: the given ones, and defaults for the others.
pub(super) fn fill_in(
    (params, n_params): (*const abi::Param, i64),
    given: &[(&str, ParamValue)],
) -> Result<Vec<abi::Value>> {
    let schema = match n_params {
        0 => &[],
        // SAFETY: a table's schema lives as long as the process.
        count => unsafe { std::slice::from_raw_parts(params, count as usize) },
    };
    // SAFETY: as above.
    let names = schema.iter().map(|param| unsafe { text(&param.name) }).collect::<Result<Vec<_>>>()?;
    if let Some((name, _)) = given.iter().find(|(name, _)| !names.contains(name)) {
        return Err(Error::InvalidArgument(format!("no parameter is called `{name}`")));
    }
    let values = names.iter().zip(schema).map(|(name, param)| {
        given.iter().find(|(given, _)| given == name).map_or(param.default, |(_, value)| value.to_abi())
    });
    Ok(values.collect())
}

/// Copies an array of the interface.
///
/// # Safety
/// `first` points to `count` readable items, or `count` is 0.
pub(super) unsafe fn list<T: Copy>(first: *const T, count: i64) -> Vec<T> {
    if count == 0 {
        return Vec::new();
    }
    // SAFETY: promised by the caller.
    unsafe { std::slice::from_raw_parts(first, count as usize) }.to_vec()
}
