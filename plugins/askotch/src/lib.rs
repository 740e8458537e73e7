//! Accelerated sketch-and-project: approximate solves on random blocks of rows, with Nesterov's momentum.
//!
//! Skotch, ASkotch and ADASAP by parameters. See the README beside this crate for parameters, source, cost and limits.

#![forbid(unsafe_code)]

mod block;
mod draws;
mod iterates;
mod leverage;
mod nesterov;
mod params;
mod solver;

pub use block::BlockInverse;
pub use draws::BlockDraws;
pub use iterates::Iterates;
pub use leverage::leverage_scores;
pub use nesterov::Nesterov;
pub use params::{Acceleration, AskotchParams, BlockSampling, BlockSolver, Damping};
pub use solver::{Askotch, SketchSetup};

gpbench_sdk::export_plugin! { name: "askotch", solvers: [Askotch] }
