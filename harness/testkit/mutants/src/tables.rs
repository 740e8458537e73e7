//! The solvers' tables, with the faults of some mutants.

use gpbench_sdk::abi::{Param, Solver, Str};

use crate::fault::{self, Fault};

/// Bit of no capability.
const UNKNOWN: u64 = 1 << 40;

/// All tables; they live until the process ends.
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
