//! Integration tests, in one program so that they are linked once.

mod actions;
mod cglb;
mod collapse;
mod common;
mod dense_matrices;
mod exact_gp;
mod inducing;
mod kernels;
mod learners;
mod likelihood;
mod neighbours;
mod operator;
mod pathwise;
mod samples;
mod suite;
mod thompson;
mod train;
