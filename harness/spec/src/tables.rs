//! The tables of a spec as typed, one module each, with the declaration of every key.

pub(crate) mod budget;
pub(crate) mod dataset;
pub(crate) mod estimator;
pub(crate) mod exclude;
pub(crate) mod kernel;
pub(crate) mod learn;
pub(crate) mod likelihood;
pub(crate) mod matrix;
pub(crate) mod optimum;
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod root;
pub(crate) mod solver;
pub(crate) mod split;
pub(crate) mod target;
pub(crate) mod thompson;
pub(crate) mod train;
