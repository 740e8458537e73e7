//! The state of a search between two steps.

use std::collections::BTreeMap;

use gpbench_data::synthetic::{Design, DrawError, DrawnObjective};
use gpbench_host::SolveCost;
use gpbench_record::{Entries, Illustration, Step};
use ndarray::{Array1, Array2, ArrayView2, Axis};
use serde::{Deserialize, Serialize};

/// The objective, with the points at which it has been evaluated.
#[derive(Debug, Clone)]
pub(super) struct Known {
    objective: DrawnObjective,
    /// Points, row-major: the initial design and the points that were acquired.
    pub(super) x: Array2<f64>,
    /// Values at these points without noise.
    pub(super) values: Array1<f64>,
    /// Observed values.
    pub(super) observed: Array1<f64>,
}

impl Known {
    /// The initial design of an objective.
    pub(super) fn begin(mut objective: DrawnObjective) -> Result<Known, DrawError> {
        let Design { x, values, observed } = objective.design()?;
        Ok(Known { objective, x, values, observed })
    }

    /// The objective.
    pub(super) fn objective(&self) -> &DrawnObjective {
        &self.objective
    }

    /// Evaluates the objective at the rows of `x` and adds them; returns the values without noise.
    pub(super) fn acquire(&mut self, x: ArrayView2<f64>) -> Result<Array1<f64>, DrawError> {
        let (values, observed) = self.objective.ask(x)?;
        self.x.append(Axis(0), x).expect("points have as many inputs");
        self.values.append(Axis(0), values.view()).expect("one axis");
        self.observed.append(Axis(0), observed.view()).expect("one axis");
        Ok(values)
    }

    /// The values of the objective, without noise, at the rows of `x`, which are not added.
    pub(super) fn judge(&self, x: ArrayView2<f64>) -> Result<Array1<f64>, DrawError> {
        Ok(self.objective.clone().ask(x)?.0)
    }
}

/// The state after some steps.
#[derive(Debug, Clone)]
pub(super) struct State {
    pub(super) known: Known,
    /// The acquired points alone, row-major.
    pub(super) points: Array2<f64>,
    /// Solutions of the last step, m x (1 + s); none before the first.
    pub(super) solution: Option<Array2<f64>>,
    /// The points that the samples of the last step chose, s x d.
    pub(super) chosen: Array2<f64>,
    pub(super) saved: Saved,
}

/// The part of a state that a checkpoint keeps as text.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Saved {
    /// The steps so far.
    pub(super) steps: Vec<Step>,
    /// Cost of their solves.
    pub(super) cost: SolveCost,
    /// Kernel entries of each step over n^2 of that step, summed.
    pub(super) epochs: Entries,
    /// Relative residual norms that the solver claims for the last step.
    pub(super) claimed: Vec<f64>,
    /// Named numbers of its last report.
    pub(super) values: BTreeMap<String, f64>,
    /// Bytes of kernel entries that were cached in the last step.
    pub(super) cached_bytes: usize,
    /// How the first step chose its points, where there is one input only.
    pub(super) illustration: Option<Box<Illustration>>,
}

impl State {
    /// The number of steps taken.
    pub(super) fn taken(&self) -> u64 {
        self.saved.steps.len() as u64
    }
}
