//! tmp

#![deny(unsafe_code)]

mod likelihood;

pub use likelihood::BatchLikelihood;
