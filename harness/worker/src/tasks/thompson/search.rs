//! Data shared by all steps of a search.

use std::sync::Arc;

use gpbench_data::Split;
use gpbench_data::synthetic::DrawnObjective;
use gpbench_gp::Kernel;
use gpbench_record::{FaultCause, Objective, Source, Thompson, WarmStart};
use ndarray::{Array1, Array2, ArrayView2, Axis};

use crate::failure::{CaseError, file_fault, invalid};
use crate::kernel::kernel;
use crate::rows::{Rows, RowsError};
use crate::setup::Setup;

use super::checkpoint::{self, Checkpoint, Shape};
use super::state::{Known, Saved, State};

/// Data shared by all steps of a search.
pub(super) struct Search<'s> {
    pub(super) setup: &'s Setup<'s>,
    pub(super) task: &'s Thompson,
    pub(super) objective: &'s Objective,
    pub(super) kernel: Kernel,
}

impl<'s> Search<'s> {
    /// The search of a case.
    ///
    /// # Errors
    /// If its data set is not an objective, or its kernel is invalid.
    pub(super) fn new(setup: &'s Setup<'s>, task: &'s Thompson) -> Result<Search<'s>, CaseError> {
        let Source::Objective(objective) = &setup.rows.dataset.source else {
            return Err(invalid("Thompson sampling needs an objective that can be asked again"));
        };
        let kernel = kernel(&setup.kernel, objective.d)?;
        Ok(Search { setup, task, objective, kernel })
    }

    /// The properties with which a checkpoint must agree.
    pub(super) fn shape(&self) -> Shape {
        let is_warm = self.task.warm_start != WarmStart::None;
        Shape { d: self.objective.d, batch: self.batch(), steps: self.task.steps, is_warm }
    }

    /// Number of new points of a step.
    pub(super) fn batch(&self) -> usize {
        self.task.targets.probes
    }

    /// The initial design.
    pub(super) fn design(&self) -> Result<Known, CaseError> {
        let objective = DrawnObjective::new(self.objective, self.setup.job.case.seed);
        let known = self.setup.pool.install(|| Known::begin(objective?));
        Ok(known.map_err(RowsError::from)?)
    }

    /// Adds points to the known ones; returns the values without noise.
    pub(super) fn acquire(&self, known: &mut Known, x: ArrayView2<f64>) -> Result<Array1<f64>, CaseError> {
        Ok(self.setup.pool.install(|| known.acquire(x)).map_err(RowsError::from)?)
    }

    /// Values of the objective without noise at points that are not added.
    pub(super) fn judge(&self, known: &Known, x: ArrayView2<f64>) -> Result<Array1<f64>, CaseError> {
        Ok(self.setup.pool.install(|| known.judge(x)).map_err(RowsError::from)?)
    }

    /// The state that an earlier process has reached, or else the initial state.
    pub(super) fn begin(&self) -> Result<State, CaseError> {
        let mut known = self.design()?;
        let d = self.objective.d;
        let found = match &self.setup.job.checkpoint_file {
            Some(file) => checkpoint::read(file, self.shape()).map_err(file_fault(FaultCause::Checkpoint))?,
            None => None,
        };
        let Checkpoint { saved, points, solution, chosen } = found.unwrap_or_else(|| Checkpoint {
            saved: Saved::default(),
            points: Array2::zeros((0, d)),
            solution: None,
            chosen: Array2::zeros((0, d)),
        });
        // The objective returns the same values if it is evaluated in the same batches.
        for batch in points.axis_chunks_iter(Axis(0), self.batch()) {
            self.acquire(&mut known, batch)?;
        }
        Ok(State { known, points, solution, chosen, saved })
    }

    /// The rows of a step's systems.
    pub(super) fn rows(&self, known: &Known) -> Rows {
        let split = Arc::new(Split::raw(known.x.clone(), known.observed.clone()));
        Rows { split, ..self.setup.rows.clone() }
    }

    /// The points that are acquired after step `step` in place of the points that the samples choose, where another
    /// case is replayed.
    pub(super) fn replayed(&self, step: u64) -> Option<Array2<f64>> {
        let numbers = self.batch() * self.objective.d;
        let mut batches = self.task.replay.chunks_exact(numbers);
        let batch = batches.nth(usize::try_from(step).ok()?)?;
        let shape = (self.batch(), self.objective.d);
        Some(Array2::from_shape_vec(shape, batch.to_vec()).expect("as many numbers as the batch has"))
    }

    /// The remaining time budget, which all steps share.
    pub(super) fn seconds_left(&self, state: &State) -> Option<f64> {
        self.setup.job.case.budget.seconds.map(|seconds| seconds - state.saved.cost.seconds())
    }
}
