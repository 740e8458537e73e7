//! tmp

#![deny(unsafe_code)]

mod saddle;

pub use saddle::{Penalty, Saddle, norm};
