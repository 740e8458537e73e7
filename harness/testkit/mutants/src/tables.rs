//! The tables of solvers and learners, with the faults of some mutants.

use std::ffi::c_void;

use gpbench_sdk::abi::{Fit, Learner, Param, Report, Solver, Status, Store, Str};
use gpbench_sdk::export;

use crate::fault::{self, Fault};
use crate::fit_fault::{self, DrawsOn, FitFault, LoadsAnything, ReportsMore};
use crate::learner::Descent;

/// A bit that belongs to no capability.
const UNKNOWN: u64 = 1 << 40;

/// All tables of learners; they live until the process ends.
pub(crate) fn learners() -> Vec<Learner> {
    let with_fault = |(fault, mut table): (FitFault, Learner)| {
        match fault {
            FitFault::UnknownCapability => table.capabilities |= UNKNOWN,
            FitFault::NoDoc => table.doc = Str::new(""),
            FitFault::DrawsOn => table.fit = Some(draw_on),
            FitFault::ReportsMore => table.fit = Some(report_more),
            FitFault::LoadsAnything => table.load = Some(load_anything),
            _ => {}
        }
        table
    };
    fit_fault::tables().into_iter().map(with_fault).collect()
}

/// Fits, and draws further batches after the end.
unsafe extern "C" fn draw_on(learner: *mut c_void, fit: *const Fit, report: *mut Report) -> Status {
    let table = export::learner::<Descent<DrawsOn>>();
    let whole = table.fit.expect("the SDK's tables are complete");
    // SAFETY: the host's own arguments, passed on; its table is complete, and there is room for a row.
    unsafe {
        let status = whole(learner, fit, report);
        for _ in 0..100 {
            let (mut row, mut got) = (0, 0);
            (*fit).batch.expect("a complete table")(fit, 0, &mut row, 1, &mut got);
        }
        status
    }
}

/// Fits, and reports one step too many.
unsafe extern "C" fn report_more(learner: *mut c_void, fit: *const Fit, report: *mut Report) -> Status {
    let table = export::learner::<Descent<ReportsMore>>();
    let whole = table.fit.expect("the SDK's tables are complete");
    // SAFETY: the host's own arguments, passed on; a report that was filled is not null.
    unsafe {
        let status = whole(learner, fit, report);
        if status == Status::DONE {
            (*report).iterations += 1;
        }
        status
    }
}

/// Loads a state, or begins if the state belongs to other data.
unsafe extern "C" fn load_anything(learner: *mut c_void, fit: *const Fit, store: *const Store) -> Status {
    let table = export::learner::<Descent<LoadsAnything>>();
    let (load, begin) = (table.load, table.begin);
    let (load, begin) = (load.expect("the SDK's tables are complete"), begin.expect("as above"));
    // SAFETY: the host's own arguments, passed on.
    unsafe { if load(learner, fit, store) == Status::DONE { Status::DONE } else { begin(learner, fit) } }
}

/// All tables of solvers; they live until the process ends.
pub(crate) fn all() -> Vec<Solver> {
    fault::tables().into_iter().map(|(fault, table)| with_fault(fault, table)).collect()
}

fn with_fault(fault: Fault, mut table: Solver) -> Solver {
    match fault {
        Fault::UnknownCapability => table.capabilities |= UNKNOWN,
        Fault::ReservedField => table.reserved = 7,
        Fault::NoDoc => table.doc = Str::new(""),
        Fault::ParameterWithoutDoc => {
            // SAFETY: the SDK's table lists as many parameters as it says.
            let params = unsafe { std::slice::from_raw_parts(table.params, table.n_params as usize) };
            let undocumented: Vec<Param> = params.iter().map(without_doc).collect();
            table.params = undocumented.leak().as_ptr();
        }
        _ => {}
    }
    table
}

fn without_doc(param: &Param) -> Param {
    let Param { name, default, min, max, choices, n_choices, .. } = *param;
    Param { name, doc: Str::new(""), default, min, max, choices, n_choices }
}
