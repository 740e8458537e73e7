//! For authors of solvers and learners: implement one trait, call one macro, and gpbench finds, checks, times and
//! evaluates the method like any other.
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
//!     /// The length of a step, which `prepare` computes and `solve` uses.
//!     type Prepared = f64;
//!
//!     fn new(params: RichardsonParams) -> Result<Self> {
//!         Ok(Richardson { step: params.step })
//!     }
//!
//!     fn prepare(&self, problem: &Problem<'_>) -> Result<f64> {
//!         let diagonal = problem.operator().diagonal()?;
//!         Ok(self.step / diagonal.fold(0.0, |max: f64, &entry| max.max(entry)))
//!     }
//!
//!     fn solve(&self, step: &mut f64, problem: &mut Problem<'_>) -> Result<Report> {
//!         let (a, b) = (problem.operator(), problem.rhs());
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
//!             problem.x_mut().scaled_add(*step, &residual);
//!         }
//!         unreachable!("the loop has no end of its own")
//!     }
//! }
//!
//! gpbench_sdk::export_plugin! { name: "richardson", solvers: [Richardson] }
//!
//! # fn main() {
//! // A test, in the host that runs cases too:
//! use gpbench_sdk::ndarray::array;
//! use gpbench_testing::DenseProblem;
//!
//! let a = array![[2.0, 0.5], [0.5, 1.0]];
//! let outcome = DenseProblem::new(a, array![[1.0], [2.0]])
//!     .tolerance(1e-8)
//!     .solve::<Richardson>(&[("step", 0.9.into())])
//!     .unwrap();
//! assert_eq!(outcome.reason, Reason::Converged);
//! assert!((outcome.x[[1, 0]] - 2.0).abs() < 1e-6);
//! # }
//! ```
//!
//! # A complete learner
//!
//! Linear regression by stochastic gradient descent. A [`Learner`] makes a state in `begin` and changes it in each step;
//! the SDK keeps the state, calls the steps, reports them, and stops where the host says so.
//!
//! ```
//! use gpbench_sdk::ndarray::{Array1, ArrayView2, Axis};
//! use gpbench_sdk::{Fit, Learner, Result, Saved, Stream, Workers, params};
//!
//! params! {
//!     /// Parameters of linear regression.
//!     pub struct LinearParams {
//!         /// Rows in a batch.
//!         pub batch: usize = 32, in 1..;
//!         /// Length of a step.
//!         pub learning_rate: f64 = 0.1, in 0.0..;
//!     }
//! }
//!
//! /// Linear regression: y = w^T x + noise.
//! pub struct Linear {
//!     params: LinearParams,
//! }
//!
//! /// State of a fit.
//! pub struct Line {
//!     weights: Array1<f64>,
//!     noise_variance: f64,
//! }
//!
//! impl Learner for Linear {
//!     type Params = LinearParams;
//!     const ID: &'static str = "linear";
//!     const DOC: &'static str = "Linear regression by stochastic gradient descent";
//!
//!     type State = Line;
//!
//!     fn new(params: LinearParams) -> Result<Self> {
//!         Ok(Linear { params })
//!     }
//!
//!     fn begin(&self, fit: &Fit<'_>) -> Result<Line> {
//!         Ok(Line { weights: Array1::zeros(fit.d()), noise_variance: fit.inputs().noise_scale.powi(2) })
//!     }
//!
//!     fn step(&self, line: &mut Line, fit: &Fit<'_>) -> Result<f64> {
//!         let rows = fit.batch(Stream::MAIN, self.params.batch)?;   // `?` also ends a fit whose passes are spent
//!         let (x, y) = (fit.x().select(Axis(0), &rows), fit.y().select(Axis(0), &rows));
//!         let residual = y - x.dot(&line.weights);
//!         let objective = residual.dot(&residual) / rows.len() as f64;
//!         line.weights.scaled_add(self.params.learning_rate / rows.len() as f64, &x.t().dot(&residual));
//!         line.noise_variance += 0.1 * (objective - line.noise_variance);
//!         Ok(objective)
//!     }
//!
//!     fn predict(
//!         &self,
//!         line: &Line,
//!         x: ArrayView2<'_, f64>,
//!         _: Workers<'_>,
//!     ) -> Result<(Array1<f64>, Array1<f64>)> {
//!         Ok((x.dot(&line.weights), Array1::from_elem(x.nrows(), line.noise_variance)))
//!     }
//!
//!     // With these two an interrupted fit goes on where it was.
//!     fn save(&self, line: &Line, saved: &mut Saved) -> Result<()> {
//!         saved.put_list("weights", &line.weights.to_vec());
//!         saved.put_number("noise_variance", line.noise_variance);
//!         Ok(())
//!     }
//!
//!     fn load(&self, _: &Fit<'_>, saved: &Saved) -> Result<Line> {
//!         let weights = saved.get_list("weights")?.into();
//!         Ok(Line { weights, noise_variance: saved.get_number("noise_variance")? })
//!     }
//! }
//!
//! gpbench_sdk::export_plugin! { name: "linear", learners: [Linear] }
//!
//! # fn main() {
//! // A test, in the host that runs cases too:
//! use gpbench_testing::FitHost;
//!
//! let host = FitHost::wave(100).passes(20.0);
//! let mut run = host.begin::<Linear>(&[("batch", 10.into())]).unwrap();
//! assert_eq!(run.fit().unwrap().steps, 200);
//! let saved = run.save().unwrap();
//! let resumed = host.resume::<Linear>(&[("batch", 10.into())], &saved).unwrap();
//! assert_eq!(run.predict(host.x()).unwrap(), resumed.predict(host.x()).unwrap());
//! # }
//! ```
//!
//! # Rules and tools
//!
//! - A solver or learner object holds its parameters. What belongs to one problem or fit is what `prepare` or `begin`
//!   returns; the SDK keeps it, passes it to the other functions, and drops it before the next one is made.
//! - A panic in a solver or learner becomes an error of its case, with its file and line. Stopping is
//!   [`Error::Stopped`], which `?` passes out of every loop.
//! - Every call of the operator counts the kernel entries it uses; entries that a solver evaluates itself
//!   from [`Operator::inputs`] are reported with [`Operator::charge`].
//! - [`Problem::observe`] after every iteration lets the host record the trace and stop the solve.
//! - Threads come from [`Problem::workers`]. Results do not depend on their number as long as each
//!   item's work depends on that item alone.
//! - [`Watch`] decides when to end, from relative residual norms.
//! - [`minibatch::Batches`] draws random minibatches of rows; [`minibatch::ResidualEstimate`] estimates the
//!   residual from them.
//! - [`Purpose`] gives each use of random numbers a stream of its own.
//! - [`projection`] has exact solves on blocks of rows, which update the residual.
//! - [`Precision`] lets any solver use mixed precision, with the residual in double precision.
//! - [`Problem::save_columns`] and [`Problem::save_state`] save state from one outer step of training to the
//!   next; [`Problem::keep`] keeps in memory what is too large for that.
//! - Dense linear algebra, with the feature `blas`: ndarray's products go to OpenBLAS; [`tall`] and [`panels`] share products and
//!   solves with large matrices out between threads, [`lapack`] has factorisations, [`precondition`] preconditioners.
//! - A learner may be paused after any step, and its steps do not differ because of it. [`Fit::batch`] comes
//!   first in a step; kernel entries and rows through a network are counted by [`Fit::charge`].
//! - A [`Model`] lets the harness compute predictions and likelihoods by itself; [`Saved`] is a learner's whole state.
//! - For learners: [`kernel`] has Gram matrices and their derivatives, [`network`] and [`random_features`] features,
//!   [`likelihood`] batch likelihoods, [`neighbours`] nearest rows, [`optimise`] optimisers and transforms.
//! - The crate `gpbench-testing`, a dev-dependency of plugins, runs them in the host, with tests that every solver inherits
//!   by `solver_rules!`, and every learner by `learner_rules!`.
//!
//! # Features
//!
//! `blas`, on by default, links the OpenBLAS of the system (`libopenblas-dev` on Debian). The modules [`exact`], [`finite`],
//! [`inducing`], [`krylov`], [`lapack`], [`likelihood`], [`panels`], [`precondition`], [`projection`], [`symmetric`] and [`tall`] need it. A plugin with
//! `default-features = false` links no BLAS, and ndarray multiplies matrices by itself.

#[cfg(feature = "blas")]
pub mod exact;
pub mod export;
#[cfg(feature = "blas")]
pub mod finite;
#[cfg(feature = "blas")]
pub mod inducing;
pub mod kernel;
#[cfg(feature = "blas")]
pub mod krylov;
#[cfg(feature = "blas")]
pub mod likelihood;
pub mod minibatch;
pub mod network;
pub mod optimise;
#[cfg(feature = "blas")]
pub mod panels;
#[cfg(feature = "blas")]
pub mod precondition;
#[cfg(feature = "blas")]
pub mod projection;
pub mod random_features;
#[cfg(feature = "blas")]
pub mod symmetric;
#[cfg(feature = "blas")]
pub mod tall;

mod error;
mod extension;
mod facts;
mod fit;
mod learner;
mod matrix;
mod model;
mod operator;
mod panic_location;
mod params;
mod problem;
mod refine;
mod sampling;
mod select;
mod simd;
mod solver;
mod store;
mod streams;
mod text;
mod watch;
mod workers;

#[cfg(test)]
mod differences;

pub use gpbench_abi as abi;
#[cfg(feature = "blas")]
pub use gpbench_numerics::lapack;
pub use gpbench_numerics::{dot, neighbours, pieces};
pub use ndarray;

pub use error::{Error, Result};
pub use extension::{Inputs, Targets};
pub use facts::Facts;
pub use fit::{Fit, Stream, Work};
pub use gpbench_terms::{
    Activation, Capabilities, Covariance, Family, LogLevel, ModelKind, NetworkShape, ParamValue, Reason,
    Shape,
};
pub use learner::Learner;
pub use model::{Combine, Expert, Model, RandomFeatures, Saved, Scales};
pub use operator::Operator;
#[doc(hidden)]
pub use params::Field;
pub use params::{Bounds, NoParams, Parameter, Params};
pub use problem::Problem;
pub use refine::Precision;
pub use sampling::Sampling;
pub use select::Select;
pub use solver::{Report, Solver};
pub use streams::Purpose;
pub use watch::Watch;
pub use workers::Workers;
