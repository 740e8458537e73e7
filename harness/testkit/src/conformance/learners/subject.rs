//! The learner under test, as the rules see it.

use std::any::Any;

use ndarray::{Array1, Array2};

use crate::conformance::{Fault, Offer, Reason, Setting};

/// A learner under test.
pub trait LearnerSubject: Offer {
    /// Makes an object and begins a fit.
    fn begin<'s>(
        &'s self,
        request: &FitRequest,
        settings: &[(&str, Setting)],
    ) -> Result<Box<dyn FitObject + 's>, Fault>;

    /// Makes an object that goes on from a saved state.
    fn load<'s>(
        &'s self,
        request: &FitRequest,
        settings: &[(&str, Setting)],
        saved: &SavedFit,
    ) -> Result<Box<dyn FitObject + 's>, Fault>;
}

/// A learner's object with its fit. The caller ends it with [`FitObject::end`].
pub trait FitObject {
    /// Begins anew, on another request.
    fn begin_again(&mut self, request: &FitRequest) -> Result<(), Fault>;

    /// Goes on with the fit.
    fn fit(&mut self) -> Result<End, Fault>;

    /// Predicts at `x` (m x d): means and variances of y, m x 2.
    fn predict(&mut self, x: &Array2<f64>) -> Result<Array2<f64>, Fault>;

    /// What follows from the learner's model, by other code than the learner's; none if it puts no model. Predictions are
    /// those at `x`.
    fn judge(&mut self, x: &Array2<f64>) -> Result<Option<Judged>, Fault>;

    /// The saved state; none if the learner saves none.
    fn save(&mut self) -> Result<Option<SavedFit>, Fault>;

    /// What the fit has used so far.
    fn used(&self) -> Used;

    /// Destroys the object; an error if the learner reports one.
    fn end(self: Box<Self>) -> Result<(), Fault>;
}

/// A saved state, and what belongs to it on the host's side.
pub struct SavedFit(pub Box<dyn Any>);

/// What a rule asks a learner to fit.
#[derive(Debug, Clone, PartialEq)]
pub struct FitRequest {
    /// Training inputs, n x d.
    pub x: Array2<f64>,
    /// Training targets.
    pub y: Array1<f64>,
    /// Inducing points, m x d.
    pub basis: Option<Array2<f64>>,
    /// Widths of the network whose outputs have a linear kernel; none for a stationary kernel on the inputs.
    pub network: Option<Vec<usize>>,
    /// Whether the kernel on the inputs is the RBF kernel, of which learners have random features.
    pub rbf: bool,
    /// Passes over the rows that are granted.
    pub passes: f64,
    /// Whether the fit pauses after every step.
    pub pause: bool,
    /// Threads that the learner may use.
    pub threads: usize,
    /// Seed of the learner's own random numbers.
    pub seed: u64,
}

/// How a call of `fit` ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// It can be called again.
    Paused,
    /// The fit is over.
    Ended(Reason),
}

/// What a fit has used.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Used {
    /// Objectives of the steps, as the learner reports them.
    pub objectives: Vec<f64>,
    /// Steps that the learner's last report counts.
    pub reported: u64,
    /// Passes over the rows of the first stream.
    pub passes: f64,
    /// Batches of the first stream.
    pub batches: u64,
    /// Rows of all streams and charges.
    pub rows: f64,
    /// Kernel entries.
    pub entries: f64,
    /// Rows taken through the network or the random features.
    pub features: f64,
    /// Draws after the learner had been told to stop.
    pub late_draws: u64,
}

/// What follows from a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// What the model is.
    pub kind: ModelKind,
    /// Means and variances of y, m x 2.
    pub predictions: Array2<f64>,
    /// What the model minimises, for each row: the likelihood, negative, or its bound. None where it has none.
    pub objective: Option<f64>,
}

/// What a model is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelKind {
    /// An exact process on all rows, or inducing points.
    Process,
    /// Finitely many features.
    Features,
    /// Exact processes on subsets.
    Experts,
}
