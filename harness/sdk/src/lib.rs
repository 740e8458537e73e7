//! For authors of solvers: implement one trait, call one macro, and gpbench finds, checks, times and evaluates the
//! solver like any other.
//!
//! A solver gets a [`Problem`] A X = B, with A known through an [`Operator`] (products with all of it,
//! with some rows, updates with some columns, blocks of entries), and leaves X in place. All arrays
//! are ndarray's; those made column-major (`.f()`) pass without a copy.
//!
//! # A complete solver
//!
//! Richardson's iteration, x += step (b - A x) / max(diag A):
//!
//! ```
//! use gpbench_sdk::ndarray::{Array2, ShapeBuilder};
//! use gpbench_sdk::{Capabilities, Problem, Reason, Report, Result, Solver, params};
//!
//! params! {
//!     /// Parameters of Richardson's iteration.
//!     pub struct RichardsonParams {
//!         /// Length of a step, in units of the inverse of A's largest diagonal entry.
//!         pub step: f64 = 1.0, in 0.0..=2.0;
//!     }
//! }
//!
//! /// Richardson's iteration.
//! pub struct Richardson {
//!     step: f64,
//! }
//!
//! impl Solver for Richardson {
//!     type Params = RichardsonParams;
//!     const ID: &'static str = "richardson";
//!     const DOC: &'static str = "Richardson's iteration with a fixed step";
//!     const CAPABILITIES: Capabilities = Capabilities::WARM_START;
//!
//!     fn new(params: RichardsonParams) -> Result<Self> {
//!         Ok(Richardson { step: params.step })
//!     }
//!
//!     fn solve(&mut self, problem: &mut Problem<'_>) -> Result<Report> {
//!         let (a, b) = (problem.operator(), problem.rhs());
//!         let step = self.step / a.diagonal()?.fold(0.0, |max: f64, &entry| max.max(entry));
//!         let mut residual = Array2::zeros(b.dim().f());
//!         for iteration in 0.. {
//!             a.apply(&problem.x(), &mut residual)?;   // `?` also ends a solve whose budget is spent
//!             residual.zip_mut_with(&b, |ax, b| *ax = b - *ax);
//!             let norm = |column: gpbench_sdk::ndarray::ArrayView1<f64>| column.dot(&column).sqrt();
//!             let norms: Vec<f64> = (0..b.ncols())
//!                 .map(|j| norm(residual.column(j)) / norm(b.column(j)))
//!                 .collect();
//!             problem.observe(iteration, &norms)?;
//!             if problem.converged(&norms) {
//!                 return Ok(Report::new(Reason::Converged, iteration).residuals(norms));
//!             }
//!             problem.x_mut().scaled_add(step, &residual);
//!         }
//!         unreachable!("the loop has no end of its own")
//!     }
//! }
//!
//! gpbench_sdk::export_plugin! { name: "richardson", solvers: [Richardson] }
//!
//! # fn main() {
//! // A test, through the tables that the host uses too:
//! use gpbench_sdk::ndarray::array;
//! use gpbench_sdk::testing::DenseProblem;
//!
//! let a = array![[2.0, 0.5], [0.5, 1.0]];
//! let outcome = DenseProblem::new(a, array![[1.0], [2.0]])
//!     .tolerance(1e-8)
//!     .solve::<Richardson>(&[("step", 0.9.into())])
//!     .unwrap();
//! assert_eq!(outcome.reason, gpbench_sdk::abi::reason::CONVERGED);
//! assert!((outcome.x[[1, 0]] - 2.0).abs() < 1e-6);
//! # }
//! ```
//!
//! # Rules and tools
//!
//! - A panic in a solver becomes an error of its case. Stopping is [`Error::Stopped`], which `?` passes out of
//!   every loop.
//! - Every call of the operator counts the kernel entries it uses; entries that a solver evaluates itself
//!   from [`Operator::inputs`] are reported with [`Operator::charge`].
//! - [`Problem::observe`] after every iteration lets the host record the trace and stop the solve.
//! - Threads come from [`Problem::workers`]. Results do not depend on their number as long as each
//!   item's work depends on that item alone.
//! - [`Watch`] decides when to end, from relative residual norms.
//! - [`minibatch::Batches`] draws random minibatches of rows; [`minibatch::ResidualEstimate`] estimates the
//!   residual from them.
//! - [`projection`] has exact solves on blocks of rows, which update the residual.
//! - [`Precision`] lets any solver use mixed precision, with the residual in double precision.
//! - [`Problem::save_columns`] and [`Problem::save_state`] save state from one outer step of training to the
//!   next.
//! - Dense linear algebra: ndarray's products go to OpenBLAS; [`tall`] shares products of tall matrices out
//!   between threads, [`lapack`] has factorisations, [`precondition`] preconditioners.
//! - For learners: [`kernel`] has Gram matrices and their derivatives, [`network`] and [`random_features`] features,
//!   [`likelihood`] batch likelihoods, [`optimise`] optimisers and transforms.
//! - [`testing`] is a host in memory, with tests that every solver inherits by [`solver_suite!`].

pub mod exact;
pub mod export;
pub mod kernel;
pub mod lapack;
pub mod likelihood;
pub mod minibatch;
pub mod network;
pub mod optimise;
pub mod precondition;
pub mod projection;
pub mod random_features;
pub mod tall;
pub mod testing;

mod error;
mod extension;
mod fit;
mod learner;
mod matrix;
mod model;
mod operator;
mod params;
mod pieces;
mod problem;
mod refine;
mod select;
mod simd;
mod solver;
mod store;
mod text;
mod watch;
mod workers;

#[cfg(test)]
mod differences;

pub use gpbench_abi as abi;
pub use ndarray;

pub use error::{Error, Result};
pub use extension::{Family, Inputs, Targets};
pub use fit::{Activation, Fit, Network, Stream, Work};
pub use learner::Learner;
pub use model::{Combine, Expert, Model, RandomFeatures, Saved, Scales};
pub use operator::Operator;
#[doc(hidden)]
pub use params::Field;
pub use params::{Bounds, NoParams, Parameter, Params, Value};
pub use problem::{Level, Problem};
pub use refine::Precision;
pub use select::Select;
pub use solver::{Capabilities, Reason, Report, Solver};
pub use watch::Watch;
pub use workers::Workers;
