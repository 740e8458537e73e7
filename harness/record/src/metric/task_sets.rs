//! Sets of tasks that entries of the registry name.

use crate::TaskKind::{self, Learn, Likelihood, Posterior, Solve, Thompson, Train};

pub(super) const ALL: &[TaskKind] = &TaskKind::ALL;
/// Tasks that verify a solution of linear systems.
pub(super) const SOLVING: &[TaskKind] = &[Solve, Posterior, Train, Thompson];
/// Tasks whose solution has one weight for each training row.
pub(super) const OF_ROWS: &[TaskKind] = &[Solve, Posterior, Train];
pub(super) const PREDICTING: &[TaskKind] = &[Posterior, Train, Learn];
/// Tasks whose predictions are compared with those of an exact process of the same hyperparameters.
pub(super) const TO_EXACT: &[TaskKind] = &[Posterior, Train];
/// Tasks whose hyperparameters have an exact likelihood in the results.
pub(super) const HAS_LIKELIHOOD: &[TaskKind] = &[Solve, Posterior, Train, Likelihood];
/// Tasks with kernels whose hyperparameters are given or trained by gpbench.
pub(super) const GIVEN_KERNEL: &[TaskKind] = &[Solve, Posterior, Train, Likelihood, Thompson];
/// Tasks whose hyperparameters are compared with a start from the data.
pub(super) const HAS_HYPERPARAMETERS: &[TaskKind] = &[Solve, Posterior, Train, Learn];
pub(super) const LEARN: &[TaskKind] = &[Learn];
/// Tasks whose results table has a column of total time.
pub(super) const TIMED: &[TaskKind] = &[Solve, Posterior, Train, Learn, Thompson];
/// Tasks that may have a `[target]`.
pub(super) const TARGETED: &[TaskKind] = &[Solve, Posterior, Train, Learn];
pub(super) const SOLVE_POSTERIOR: &[TaskKind] = &[Solve, Posterior];
pub(super) const POSTERIOR: &[TaskKind] = &[Posterior];
/// Tasks whose solver may have inducing points as its unknowns.
pub(super) const WITH_INDUCING: &[TaskKind] = &[Posterior, Thompson];
pub(super) const TRAIN: &[TaskKind] = &[Train];
/// Tasks that find hyperparameters.
pub(super) const FITTED: &[TaskKind] = &[Train, Learn];
pub(super) const THOMPSON: &[TaskKind] = &[Thompson];
/// Tasks of outer steps.
pub(super) const STEPPING: &[TaskKind] = &[Train, Thompson];
pub(super) const LIKELIHOOD: &[TaskKind] = &[Likelihood];
/// Tasks that may use random features in place of the kernel.
pub(super) const BY_FEATURES: &[TaskKind] = &[Train, Likelihood];
pub(super) const NOWHERE: &[TaskKind] = &[];
