//! The tasks: one module each, with the estimators and keys that the task has, and its part of a case. Nothing else in this
//! crate lists all tasks.

pub(crate) mod learn;
pub(crate) mod likelihood;
pub(crate) mod posterior;
pub(crate) mod rules;
pub(crate) mod solve;
pub(crate) mod thompson;
pub(crate) mod train;

mod optimum;
mod replay;

use gpbench_record::{Task, TaskKind};

use crate::catalog::Catalog;
use crate::checked::{Checked, check, check_without_task};
use crate::cost::{CaseCost, Rounds};
use crate::error::SpecErrors;
use crate::spec_case::SpecCase;
use crate::typed::Typed;

impl Typed {
    /// Looks up every name and takes the product of the axes.
    ///
    /// # Errors
    /// All mistakes of the spec, wrong keys and types among them. If the task is missing or unknown, those that do not
    /// depend on the task.
    pub fn check(&self, catalog: &Catalog) -> Result<Checked, SpecErrors> {
        let known = self.root.task.as_ref().filter(|task| !self.mistakes.is_reported(&task.at));
        let Some(task) = known else {
            return Err(check_without_task(self, catalog));
        };
        match task.value {
            TaskKind::Solve => check::<solve::Solve>(self, catalog),
            TaskKind::Posterior => check::<posterior::Posterior>(self, catalog),
            TaskKind::Train => check::<train::Train<'_>>(self, catalog),
            TaskKind::Likelihood => check::<likelihood::Likelihood>(self, catalog),
            TaskKind::Learn => check::<learn::Learn<'_>>(self, catalog),
            TaskKind::Thompson => check::<thompson::Thompson<'_>>(self, catalog),
        }
    }
}

impl SpecCase {
    /// What this case is likely to cost with so many threads; `None` while the number of rows is unknown.
    ///
    /// A dense factorisation holds n^2 numbers and takes n^3/3 multiply-adds; exact training inverts as well, which
    /// takes as many numbers again, and n^3/2 multiply-adds in all; an exact draw of the prior factorises training
    /// and test rows together, on one thread. An iterative solver holds about four blocks of right-hand sides beside
    /// the inputs and visits every kernel entry once an epoch. The number of epochs to a tolerance is unknown
    /// beforehand: a hundred are assumed, or what budget and parameters allow if less; without a tolerance all of
    /// that is spent. Training on data like that of a published run takes the epochs that this run measured. With inducing
    /// points an iteration reads their columns alone. A solver that stores a matrix and is not exact is assumed to have a
    /// factor in single precision as its preconditioner, which serves several steps. Training on D random features takes
    /// 2 n D^2 multiply-adds a step, and the solver for the prediction alone. A learner's costs depend on its kind of
    /// model. A script adds its interpreter and the packages that it imports.
    pub fn cost(&self, threads: usize) -> Option<CaseCost> {
        let n = self.n?;
        let cost = match &self.case.task {
            Task::Solve(_) | Task::Posterior(_) => self.systems_cost(&Rounds::of(1), n, threads),
            Task::Train(training) => self.systems_cost(&Rounds::of_training(training), n, threads),
            Task::Likelihood(study) => self.systems_cost(&Rounds::of(study.repetitions), n, threads),
            Task::Learn(task) => self.learning_cost(task, n, threads),
            Task::Thompson(task) => self.thompson_cost(task, n, threads),
        };
        Some(CaseCost { memory_bytes: cost.memory_bytes + self.import_bytes, ..cost })
    }
}
