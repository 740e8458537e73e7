//! The tasks: one module each, with the estimators and keys that the task has, and its part of a case.

pub(crate) mod learn;
pub(crate) mod likelihood;
pub(crate) mod posterior;
pub(crate) mod rules;
pub(crate) mod solve;
pub(crate) mod thompson;
pub(crate) mod train;

mod replay;
