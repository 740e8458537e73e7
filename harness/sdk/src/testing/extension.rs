//! Extensions that the test host offers: a file each, with its table, its lookup and what a test sets for it.
//!
//! `gpbench.mixed/1` is not among them: a solver that asks for it gets the operator itself.

mod block;
mod columns;
pub(super) mod features;
pub(super) mod inputs;
pub(super) mod parallel_for;
mod rows;
pub(super) mod state;
pub(super) mod targets;
mod trace;
pub(super) mod volatile;

use std::ffi::c_void;

use gpbench_abi as abi;
use ndarray::{Array2, ShapeBuilder};

use super::mock_problem::MockProblem;
use crate::text::text;
use crate::{Error, Result};

/// Answers with an extension's table, or null where this problem has none.
type Find = fn(&MockProblem<'_>) -> *const c_void;

const OF_OPERATOR: [(&str, Find); 5] = [
    (abi::id::ROWS, rows::find),
    (abi::id::COLUMNS, columns::find),
    (abi::id::BLOCK, block::find),
    (abi::id::INPUTS, inputs::find),
    (abi::id::FEATURES, features::find),
];

const OF_PROBLEM: [(&str, Find); 4] = [
    (abi::id::TARGETS, targets::find),
    (abi::id::STATE, state::find),
    (abi::id::VOLATILE, volatile::find),
    (abi::id::TRACE, trace::find),
];

pub(super) unsafe extern "C" fn of_operator(op: *const abi::Operator, id: *const abi::Str) -> *const c_void {
    // SAFETY: the operator of a living problem, a live text.
    unsafe { find(MockProblem::of_operator(op), id, &OF_OPERATOR) }
}

pub(super) unsafe extern "C" fn of_problem(
    problem: *const abi::Problem,
    id: *const abi::Str,
) -> *const c_void {
    // SAFETY: a living problem, a live text.
    unsafe { find(MockProblem::of_problem(problem), id, &OF_PROBLEM) }
}

/// # Safety
/// The id is a live text.
unsafe fn find(problem: &MockProblem<'_>, id: *const abi::Str, offered: &[(&str, Find)]) -> *const c_void {
    // SAFETY: promised by the caller.
    let id = unsafe { text(&*id) };
    let found = offered.iter().find(|(offered, _)| id == Ok(offered));
    found.map_or(std::ptr::null(), |(_, find)| find(problem))
}

/// A pointer to a table, as the answer to a lookup; null for none.
fn answer<'t, T: 't>(table: impl Into<Option<&'t T>>) -> *const c_void {
    table.into().map_or(std::ptr::null(), |table| (&raw const *table).cast())
}

/// The rows or columns chosen by indices of the interface.
///
/// # Safety
/// The indices are null or readable.
unsafe fn choose(index: *const i64, count: i64, all: usize) -> Result<Vec<usize>> {
    if index.is_null() {
        return Ok((0..all).collect());
    }
    // SAFETY: promised by the caller.
    let chosen = unsafe { std::slice::from_raw_parts(index, count as usize) };
    chosen
        .iter()
        .map(|&i| usize::try_from(i).ok().filter(|&i| i < all))
        .collect::<Option<_>>()
        .ok_or_else(|| Error::InvalidArgument("an index is out of range".into()))
}

/// A column-major copy, which crosses the interface as it is.
pub(super) fn by_columns(matrix: &Array2<f64>) -> Array2<f64> {
    let mut columns = Array2::zeros(matrix.dim().f());
    columns.assign(matrix);
    columns
}

/// A column-major matrix as it crosses the interface, to be read only.
pub(super) fn mat(matrix: &Array2<f64>) -> abi::Mat {
    let (rows, cols) = matrix.dim();
    abi::Mat { data: matrix.as_ptr().cast_mut(), rows: rows as i64, cols: cols as i64, ld: rows as i64 }
}
