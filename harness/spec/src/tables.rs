//! The tables of a spec, one module each: what the user typed, with every key's declaration.

pub(crate) mod budget;
pub(crate) mod dataset;
pub(crate) mod estimator;
pub(crate) mod exclude;
pub(crate) mod kernel;
pub(crate) mod learn;
pub(crate) mod likelihood;
pub(crate) mod matrix;
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod root;
pub(crate) mod solver;
pub(crate) mod target;
pub(crate) mod thompson;
pub(crate) mod train;
