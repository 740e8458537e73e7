//! Methods that find hyperparameters and predict by themselves, in place of solving linear systems.
//!
//! A learner is resumable. `fit` takes steps until [`Fit::observe`] or [`Fit::batch`] answers `STOPPED`, returns
//! with its state kept, and goes on when it is called again. Between two calls the host looks at the model, saves the
//! state, or ends the case. The clock runs in `begin` and `fit`; of the other calls (`create`, `estimate`, `model`, `save`,
//! `load`), 0.05 s and a twentieth of that time are free in all, and the rest counts.
//!
//! What is learned crosses as named matrices of a known kind, see [`model_kind`]. The host computes predictions
//! and likelihoods from them by its own code, in another process, and compares.

use core::ffi::c_void;

use crate::{Facts, Host, Inputs, Mat, Param, Report, Shape, Status, Str, Value};

/// A method that fits and predicts by itself; static.
#[repr(C)]
#[derive(Debug)]
pub struct Learner {
    /// Size of this struct in bytes.
    pub size: u32,
    /// Zero.
    pub reserved: u32,
    /// Bits of [`crate::capability`].
    pub capabilities: u64,
    /// Id that a spec names: lower-case letters, digits and hyphens.
    pub id: Str,
    /// One line of documentation.
    pub doc: Str,
    /// Parameter schema; null if there are none.
    pub params: *const Param,
    /// Number of parameters.
    pub n_params: i64,
    /// The work to cite for the method, as of a solver. Empty if there is none. This and all that follows: since
    /// minor version 2.
    pub source: Str,
    /// Makes an object, as of a solver.
    pub create: Option<
        unsafe extern "C" fn(
            host: *const Host,
            values: *const Value,
            n_values: i64,
            out: *mut *mut c_void,
        ) -> Status,
    >,
    /// Begins a fit: starting values, subsets, first averages. Forgets an earlier fit of the object. Timed as
    /// preparation.
    pub begin: Option<unsafe extern "C" fn(learner: *mut c_void, fit: *const Fit) -> Status>,
    /// Takes steps, each followed by [`Fit::observe`], until the host says `STOPPED` or the method ends by
    /// itself. It then keeps its state, fills `report` as a solver does (`iterations` counts the steps of all calls since
    /// `begin`; nothing is claimed) and returns `DONE`. The host may call it again; the steps that follow are
    /// the same as without the pause.
    pub fit:
        Option<unsafe extern "C" fn(learner: *mut c_void, fit: *const Fit, report: *mut Report) -> Status>,
    /// Predicts at `x`, m x d: the mean of y into the first column of `out`, m x 2, and the variance of y, noise
    /// included, into the second. A row's prediction does not depend on the other rows. Only after `begin` or `load`.
    /// `UNSUPPORTED`: the learner declines, for example where its predictions would take too much memory. The host then
    /// predicts from the model, if the learner has put one.
    pub predict: Option<unsafe extern "C" fn(learner: *mut c_void, x: *const Mat, out: *mut Mat) -> Status>,
    /// Puts what was learned into `store`, as arrays of one of [`model_kind`]. Null or `UNSUPPORTED`: the host has
    /// nothing to compute predictions from, and results are marked as the learner's own.
    /// `NOT_POSITIVE_DEFINITE`, as from `fit` and `predict`: the fit has diverged.
    pub model: Option<unsafe extern "C" fn(learner: *mut c_void, store: *const Store) -> Status>,
    /// Puts the whole state into `store`: after `load` the next steps are bit by bit the ones that would
    /// have followed. Null or `UNSUPPORTED`: an interrupted case begins again.
    pub save: Option<unsafe extern "C" fn(learner: *mut c_void, store: *const Store) -> Status>,
    /// Takes the place of `begin` for an object that goes on from a saved state. A state of another data set or
    /// other parameters is an error. Null where `save` is.
    pub load:
        Option<unsafe extern "C" fn(learner: *mut c_void, fit: *const Fit, store: *const Store) -> Status>,
    /// Bytes that a fit with n rows and d inputs will need beyond the data. Null: a small multiple of n d.
    pub estimate:
        Option<unsafe extern "C" fn(learner: *mut c_void, n: i64, d: i64, bytes: *mut f64) -> Status>,
    /// Destroys an object.
    pub destroy: Option<unsafe extern "C" fn(learner: *mut c_void)>,
    /// As of a solver, before `begin` and `load`. Since minor version 3.
    pub warm_up: Option<unsafe extern "C" fn(learner: *mut c_void, shape: *const Shape) -> Status>,
    /// As of a solver. Since minor version 5.
    pub facts: Facts,
}

// SAFETY: a description is static and immutable.
unsafe impl Sync for Learner {}

/// What to fit. It and what it points to live until the call that it is passed to returns: a learner copies what it
/// needs to predict. Calls of one fit get the same data, wherever they lie; `passes` may grow from call to call.
#[repr(C)]
#[derive(Debug)]
pub struct Fit {
    /// Size of this struct in bytes.
    pub size: u32,
    /// Threads that the learner may use, itself included.
    pub threads: u32,
    /// Seed of the learner's own random numbers.
    pub seed: u64,
    /// Training inputs, n x d; the kernel's family; the scales to start from. `basis` has inducing points chosen
    /// by the host, m x d, or null data. With a network, the family is that of the kernel on the network's
    /// outputs, and `length_scale` has one entry for each of them.
    pub inputs: *const Inputs,
    /// Training targets, n x 1, centred.
    pub y: *const Mat,
    /// Prior mean to start from; with [`fit_flag::TRAINED_MEAN`] it is trained, else it stays.
    pub mean: f64,
    /// Bits of [`fit_flag`].
    pub flags: u64,
    /// The network between inputs and kernel; null: the kernel is on the inputs. Only for learners with
    /// [`crate::capability::NETWORK`].
    pub network: *const Network,
    /// Passes over the training rows of stream 0 that the host will grant at most, for schedules.
    pub passes: f64,
    /// The host's own.
    pub ctx: *mut c_void,
    /// The next rows of a stream's shuffle into `rows`, their number into `*got`: `want` of them, or fewer at
    /// the end of a pass, or all n where `want` is larger. A pass is a permutation of all rows, drawn anew for
    /// each pass; learners with the same seed and batch size get the same rows. The stream is a number below 2^16,
    /// plus bits of [`stream`]. Stream 0, with whatever bits, counts passes: it answers `STOPPED`, and gives no rows,
    /// when they are spent. A step draws from it first, so that a step which is not granted has drawn nothing.
    /// Only in `begin` and `fit`.
    pub batch: Option<
        unsafe extern "C" fn(
            fit: *const Fit,
            stream: u32,
            rows: *mut i64,
            want: i64,
            got: *mut i64,
        ) -> Status,
    >,
    /// Reports work beside that of `batch`'s rows: rows used again, kernel entries evaluated, rows taken through
    /// the network or the random features. Answers `STOPPED` once the time is up, else `DONE`; a step may then be completed. Only in
    /// `begin` and `fit`.
    pub charge:
        Option<unsafe extern "C" fn(fit: *const Fit, rows: i64, entries: i64, features: i64) -> Status>,
    /// A learner calls it after every step, with the number of steps since `begin` and the step's objective as the
    /// method has it, a finite number: a learner whose objective is not one returns with the reason `DIVERGED`.
    /// Answers `DONE` (go on) or `STOPPED` (keep the state and return). Only in `fit`.
    pub observe: Option<unsafe extern "C" fn(fit: *const Fit, step: i64, objective: f64) -> Status>,
    /// `gpbench.fit-trace/1`.
    pub extension: Option<unsafe extern "C" fn(object: *const Fit, id: *const Str) -> *const c_void>,
}

/// Bits of [`Fit::flags`].
pub mod fit_flag {
    /// All inputs have one length scale, which is trained as one number; `length_scale` repeats it.
    pub const SHARED_LENGTH_SCALE: u64 = 1;
    /// A constant prior mean is trained too. Only for learners with [`crate::capability::MEAN`].
    pub const TRAINED_MEAN: u64 = 2;
}

/// Bits of the stream's number in [`Fit::batch`].
pub mod stream {
    /// Bit 29: every pass has the same permutation, for subsets that stay.
    pub const SAME_EACH_PASS: u32 = 536870912;
    /// Bit 30: every batch is drawn afresh from all rows, without repeats inside it; a pass is n rows.
    pub const INDEPENDENT: u32 = 1073741824;
}

/// Fully connected layers between inputs and kernel, each W x + b followed by the activation. Lives as long as the
/// fit.
#[repr(C)]
#[derive(Debug)]
pub struct Network {
    /// Size of this struct in bytes.
    pub size: u32,
    /// One of [`activation`].
    pub activation: i32,
    /// Widths of the layers, from the one that sees the inputs to the one that the kernel sees.
    pub widths: *const i64,
    /// Number of layers, at least 1.
    pub n_widths: i64,
    /// Number of random Fourier features, sines and cosines together, by which learners with
    /// [`crate::capability::FINITE`] approximate a kernel of infinite dimension; 0 with a linear kernel.
    pub random: i64,
}

/// Activations of a [`Network`].
pub mod activation {
    /// max(0, t).
    pub const RELU: i32 = 1;
}

/// Named matrices that a learner puts and the host keeps. Lives until the call that it is passed to returns.
#[repr(C)]
#[derive(Debug)]
pub struct Store {
    /// Size of this struct in bytes.
    pub size: u32,
    /// Zero.
    pub reserved: u32,
    /// The host's own.
    pub ctx: *mut c_void,
    /// Keeps a copy of a matrix under a name of up to 64 lower-case letters, digits and underscores, in place of
    /// an earlier one. `UNSUPPORTED` during `load`.
    pub put: Option<unsafe extern "C" fn(store: *const Store, name: *const Str, value: *const Mat) -> Status>,
    /// The matrix of that name: its shape into `*rows` and `*cols` (-1 and -1 if there is none), and its first
    /// `capacity` entries, column after column, into `out`, which may be null if `capacity` is 0.
    pub get: Option<
        unsafe extern "C" fn(
            store: *const Store,
            name: *const Str,
            out: *mut f64,
            capacity: i64,
            rows: *mut i64,
            cols: *mut i64,
        ) -> Status,
    >,
}

/// Kinds of models: what a learner puts under the name `kind`, as a 1 x 1 matrix, and which other matrices
/// it then puts. Scales are standard deviations: `signal_scale` and `noise_scale` are 1 x 1, `length_scale` is
/// d x 1; `mean` is the constant prior mean, 1 x 1, and may be left out where it is 0. In every kind, likelihoods are those
/// of y less the mean, and predictions have it added: with features, y - mean = features x weights + noise.
///
/// Where there is a network, layer l (from 1) is `weight_l`, outputs x inputs, and `bias_l`, outputs x 1; the kernel and
/// its length scales are then on its outputs.
pub mod model_kind {
    /// An exact Gaussian process on all training rows: `signal_scale`, `noise_scale`, `length_scale`, `mean`.
    pub const GP: i32 = 1;
    /// Inducing points with a variational distribution: those of `GP`, and `z`, m x d; `q_mean`, m x 1; `q_root`,
    /// m x m, lower triangular; `jitter`, 1 x 1. With L L^T = K(z, z) + jitter I, f(z) = L v and v has mean
    /// `q_mean` and covariance `q_root` `q_root`^T.
    pub const INDUCING: i32 = 2;
    /// Finitely many features of a network: `noise_scale`, the network's layers, and where the kernel is
    /// approximated by random features, `signal_scale`, `length_scale` (1 x 1) and `frequencies` (outputs x R/2, standard
    /// normal): the features are signal_scale / sqrt(R/2) [sin(a), cos(a)], a = z frequencies / length_scale.
    pub const FEATURES: i32 = 3;
    /// `GP` on a network's outputs.
    pub const NETWORK_GP: i32 = 4;
    /// `INDUCING` on a network's outputs; `z` are inputs of the network.
    pub const NETWORK_INDUCING: i32 = 5;
    /// Exact processes on subsets, combined: `signal_scale`, `noise_scale` and `mean`, 1 x k; `length_scale`, d x k;
    /// `rows`, r x k, whole numbers from 0; `weight`, 1 x k; `combine`, 1 x 1: 0 if the variances of y are
    /// combined, 1 if those of the latent function are and the mean of the noise variances is added.
    pub const EXPERTS: i32 = 6;
    /// An exact process that predicts each row from its nearest training rows only: those of `GP`, and `neighbours`,
    /// 1 x 1, their number (all rows if there are fewer). Nearest by the distance of x / length_scale; of equally near
    /// rows the first. With `z`, `q_mean`, `q_root` and `jitter` as of `INDUCING`, f is A^T v + r: v has that
    /// distribution, A is L^-1 K(z, x), and r has the covariance R = K - A^T A. The neighbours N of a row are then those
    /// of the largest |R_*j| / sqrt(R_** R_jj), rounded to 1e-9, where a variance is at least 1e-12 signal_scale^2. With
    /// b = (R_NN + noise_scale^2 I)^-1 R_N* and phi = a_* - A_N b the mean is b^T y_N + phi^T `q_mean`, and the latent
    /// variance R_** - b^T R_N* + |`q_root`^T phi|^2. Since minor version 4.
    pub const NEIGHBOURS: i32 = 7;
    /// A process that is conditioned on projections S^T y of the targets alone: those of `GP`, and S, n x i, a column for
    /// each action. Either `actions` is S, or each row is in one action at most: `action`, n x 1, whole numbers from 0, is
    /// the action of each row, and `entry`, n x 1, the row's entry in it. Actions are linearly independent. With
    /// G = S^T (K + noise_scale^2 I) S and q = S^T K_X* the mean is q^T G^-1 S^T y, and the latent variance
    /// signal_scale^2 - q^T G^-1 q, which what the actions leave out makes larger. Since minor version 5.
    pub const ACTIONS: i32 = 8;
}

/// Numbers of the learner's own for the trace.
#[repr(C)]
#[derive(Debug)]
pub struct FitTrace {
    /// Size of this struct in bytes.
    pub size: u32,
    /// Zero.
    pub reserved: u32,
    /// Puts `value` into the trace at this step, under a name as of [`crate::Trace`]. The clock is paused inside.
    pub note:
        Option<unsafe extern "C" fn(fit: *const Fit, step: i64, name: *const Str, value: f64) -> Status>,
}
