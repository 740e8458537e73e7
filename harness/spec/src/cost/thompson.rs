//! Estimated cost of Thompson sampling, part by part.

use gpbench_record::{
    Ascent, Candidates, Inducing, ObjectiveDraw, PathwiseTargets, PriorSource, Source, Thompson,
};

use serde::Serialize;

use crate::spec_case::SpecCase;

/// Wall-clock seconds of the parts of all outer steps.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct ThompsonSeconds {
    /// Building the systems: prior draws at the training rows.
    pub pose: f64,
    /// Solving them.
    pub solve: f64,
    /// Evaluating candidates.
    pub candidates: f64,
    /// Ascents from the best of them.
    pub ascent: f64,
}

impl ThompsonSeconds {
    /// The sums of the parts of this case and of another one.
    #[must_use]
    pub fn plus(self, other: ThompsonSeconds) -> ThompsonSeconds {
        ThompsonSeconds {
            pose: self.pose + other.pose,
            solve: self.solve + other.solve,
            candidates: self.candidates + other.candidates,
            ascent: self.ascent + other.ascent,
        }
    }

    /// The sum of all parts.
    pub fn total(&self) -> f64 {
        self.pose + self.solve + self.candidates + self.ascent
    }
}

/// Flops and numbers in memory of a case.
pub(super) struct Work {
    /// Flops of each part.
    pub(super) flops: ThompsonSeconds,
    /// Numbers in memory beside the solver's own.
    pub(super) numbers: f64,
}

/// Blocks of right-hand sides: targets and their parts, what an iterative solver holds, weights of samples, and copies in the
/// order of tiles.
const BLOCKS: f64 = 20.0;
/// Candidates whose values are in memory at once: a tile for each of some threads.
const AT_ONCE: f64 = 2048.0;

/// Flops of a step's solve, from the number of rows and of right-hand sides.
pub(super) type SolveFlops<'a> = &'a dyn Fn(f64, f64) -> f64;

/// The work of a case with `n` rows at its beginning and `d` inputs. `per_entry` is the flops of an exponential.
pub(super) fn work(
    planned: &SpecCase,
    task: &Thompson,
    [n, d]: [f64; 2],
    per_entry: f64,
    solve: SolveFlops<'_>,
) -> Work {
    let PathwiseTargets { probes, prior } = task.targets;
    let batch = probes as f64;
    let own = match prior {
        PriorSource::Features { features, .. } => features,
        PriorSource::Exact => 0,
    };
    let (of_objective, rows_squared) = match &planned.case.dataset.source {
        Source::Objective(objective) => match objective.draw {
            ObjectiveDraw::Features { features, .. } => (features, 0.0),
            ObjectiveDraw::Exact => (0, 1.0),
        },
        _ => (0, 0.0),
    };
    let features = if task.share_features { of_objective } else { own } as f64;
    let Candidates { rounds, points, .. } = task.candidates;
    let Ascent { steps: ascents, .. } = task.ascent;
    let (candidates, starts) = ((rounds * points) as f64, rounds as f64 * batch);
    let unknowns = |rows: f64| match task.inducing {
        Some(Inducing::Subset { points } | Inducing::Kmeans { points }) => points as f64,
        Some(Inducing::Neighbours { .. }) | None => rows,
    };
    // An entry costs its distance, its exponential, and a multiply-add for each column.
    let entry = |columns: f64| 2.0 * d + per_entry + 2.0 * columns;
    let mut flops = ThompsonSeconds::default();
    for step in 0..task.steps {
        let rows = n + step as f64 * batch;
        flops.pose += rows * features * entry(batch);
        flops.solve += solve(rows, 1.0 + batch);
        let terms = unknowns(rows) + features;
        flops.candidates += candidates * terms * entry(batch);
        flops.ascent += (ascents + 1) as f64 * starts * terms * entry(2.0 + d);
    }
    let last = n + task.steps as f64 * batch;
    let numbers = last * (d + BLOCKS * (1.0 + batch))
        + features * (d + 2.0 * batch)
        + (points as f64).min(AT_ONCE) * batch
        + (points as f64).max(starts) * d
        // The factor of an exact draw is copied as it grows.
        + 2.0 * rows_squared * last * last;
    Work { flops, numbers }
}
