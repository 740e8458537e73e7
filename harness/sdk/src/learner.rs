//! The trait that a learner implements.

use ndarray::{Array1, ArrayView2};

use crate::{Capabilities, Error, Facts, Fit, Model, Params, Reason, Result, Saved, Shape, Workers};

/// A method that finds hyperparameters by steps of its own and predicts by itself.
///
/// The host makes an object once a case, from checked parameters, and calls `begin`. The SDK then calls `step` and
/// reports each step, until the host pauses or ends the fit, the learner is [`finished`](Self::finished), or a step's
/// objective is not finite. A pause may follow any step, and no step may differ because of it. All calls come from
/// one thread.
///
/// The object holds the parameters. What a fit changes is its [`State`](Self::State), which the SDK keeps and passes to
/// each call. A learner keeps no global state.
pub trait Learner: Sized + 'static {
    /// Typed parameters, made by [`params!`](crate::params); [`NoParams`](crate::NoParams) if there are none.
    type Params: Params;

    /// Id that a spec names: lower-case letters, digits and hyphens.
    const ID: &'static str;

    /// One line of documentation.
    const DOC: &'static str;

    /// The work to cite for the method, as [`Solver::SOURCE`](crate::Solver::SOURCE).
    const SOURCE: &'static str = "";

    /// What readers who choose a method want to know of it, as [`Solver::FACTS`](crate::Solver::FACTS).
    const FACTS: Facts = Facts::NONE;

    /// The kernels that it takes, and further properties.
    const CAPABILITIES: Capabilities = Capabilities::KERNEL;

    /// State of a fit: learned parameters, the optimiser, counts.
    ///
    /// It borrows nothing from [`Fit`], whose memory is valid until the call returns, so it copies what it needs later.
    type State: 'static;

    /// Makes a learner. The parameters' ranges have been checked; conditions between parameters are checked here.
    fn new(params: Self::Params) -> Result<Self>;

    /// Gets ready for a fit of these sizes, without data, as [`Solver::warm_up`](crate::Solver::warm_up). Called before
    /// [`begin`](Self::begin) and [`load`](Self::load).
    fn warm_up(&mut self, _shape: &Shape) -> Result<()> {
        Ok(())
    }

    /// Begins a fit: starting values, subsets, first averages. Timed as setup. The SDK drops the state of an earlier fit
    /// before it calls this.
    ///
    /// Batches drawn here count like those of steps; a pass over all rows is best taken from
    /// [`Fit::x`] and reported with [`Fit::charge`].
    fn begin(&self, fit: &Fit<'_>) -> Result<Self::State>;

    /// Takes one step and returns its objective, as the method has it.
    ///
    /// The step begins with the batches, of stream 0 first, and changes the state only after it has them:
    /// [`Error::Stopped`], which `?` passes out, means that the passes are spent and the step was not taken.
    /// An objective that is not finite, or [`Error::NotPositiveDefinite`], ends the fit as diverged; any other error
    /// ends the case.
    fn step(&self, state: &mut Self::State, fit: &Fit<'_>) -> Result<f64>;

    /// Why the method ends by itself; none while it goes on. Asked before each step.
    fn finished(&self, _state: &Self::State) -> Option<Reason> {
        None
    }

    /// Predicts at the rows of `x` (m x d): means of y, and variances of y with the noise included.
    ///
    /// A row's prediction depends on no other row.
    fn predict(
        &self,
        state: &Self::State,
        x: ArrayView2<'_, f64>,
        workers: Workers<'_>,
    ) -> Result<(Array1<f64>, Array1<f64>)>;

    /// The model that was learned, from which the harness computes predictions and likelihoods by itself.
    ///
    /// Without it results are marked as the learner's own.
    fn model(&self, _state: &Self::State) -> Result<Model> {
        Err(Error::Unsupported("this learner puts no model".into()))
    }

    /// Saves all that the steps to come depend on, the learner's random numbers included.
    ///
    /// Without it a case that was interrupted begins again.
    fn save(&self, _state: &Self::State, _saved: &mut Saved) -> Result<()> {
        Err(Error::Unsupported("this learner does not save its state".into()))
    }

    /// Loads a saved state, in place of [`begin`](Self::begin) on a new object with the same parameters and the same
    /// data: the steps that follow are bit by bit the ones that would have followed [`save`](Self::save). The SDK has
    /// checked that data and parameters are the same.
    fn load(&self, _fit: &Fit<'_>, _saved: &Saved) -> Result<Self::State> {
        Err(Error::Unsupported("this learner does not load a state".into()))
    }

    /// Further numbers for the results, under names of lower-case letters, digits and underscores. Asked at
    /// each pause.
    fn numbers(&self, _state: &Self::State) -> Vec<(&'static str, f64)> {
        Vec::new()
    }

    /// Bytes needed beyond the data, for n rows and d inputs.
    fn estimate(&self, n: usize, d: usize) -> f64 {
        // A copy of the data and as much again.
        8.0 * 2.0 * n as f64 * (d + 1) as f64
    }
}
