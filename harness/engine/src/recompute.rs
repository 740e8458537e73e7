//! Verifies a solution that was kept, whether or not its plugin is at hand.

use std::path::Path;

use gpbench_record::{Fault, FaultCause, TaskOutput, Verified};
use gpbench_runs::Workspace;

use crate::case::{GRACE, NoRow};
use crate::log::Log;
use crate::programs::Plugins;
use crate::status::unanswered;
use crate::{Engine, EngineError, Event, Outcome, Planned, RunOptions};

/// What became of the verification of a kept solution.
#[derive(Debug)]
pub enum Recomputed {
    /// What the verification computed.
    Verified(Box<Verified>),
    /// The solution cannot be that of the case, and why.
    Refused(String),
    /// The user ended it.
    Unfinished,
    /// The machine or a file was at fault.
    Fault(Fault),
}

impl Engine<'_> {
    /// Computes residuals, predictions and errors of a kept solution again, by the same steps as when its case ran.
    /// `output` is that of the case's row: training is verified with the hyperparameters that it ended with. All
    /// files are in `folder`, which the caller removes.
    ///
    /// # Errors
    /// When the verification cannot start.
    pub fn recompute(
        &self,
        planned: Planned<'_>,
        output: &TaskOutput,
        solution: &Path,
        folder: &Path,
        options: &RunOptions,
        report: &dyn Fn(Event),
    ) -> Result<Recomputed, EngineError> {
        let (workspace, options) = (Workspace::of_attempt(folder, folder, "single"), options.absolute()?);
        let solution = std::path::absolute(solution)
            .map_err(|source| EngineError::Path { path: solution.to_owned(), source })?;
        let cases = self.runner(&workspace, &options, Plugins::none(), GRACE)?;
        Ok(match cases.verify_kept(planned, output, &solution, report) {
            Ok(outcome) => recomputed(&outcome, &Log::read(&workspace.log(&planned.id))),
            Err(NoRow::Interrupted) => Recomputed::Unfinished,
            Err(NoRow::Fault(fault)) => Recomputed::Fault(fault),
        })
    }
}

/// What a verification found, by its messages.
fn recomputed(outcome: &Outcome, log: &Log) -> Recomputed {
    if let Some(verified) = outcome.verified() {
        return Recomputed::Verified(Box::new(verified.clone()));
    }
    if let Some(failure) = outcome.failure() {
        return Recomputed::Refused(failure.reason.clone());
    }
    match unanswered(outcome, log) {
        // Another shape, another kind of file, or a damaged one.
        fault if fault.cause == FaultCause::Solution => Recomputed::Refused(fault.reason),
        fault => Recomputed::Fault(fault),
    }
}
