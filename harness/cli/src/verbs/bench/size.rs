//! Check that what is to be timed fits into the memory of this machine.

use gpbench_record::{Acquire, BenchRequest, LearnerStep, Product};

use crate::exit::Failure;
use crate::units;

/// Matrices of the multiplication whose speed is the machine's limit.
const OF_DGEMM: f64 = 3.0;

/// Fails if a request on `n` rows of `d` inputs takes more memory than this machine has.
pub(super) fn require_memory(request: &BenchRequest, [n, d]: [usize; 2]) -> Result<(), Failure> {
    let (needed, installed) =
        (8.0 * numbers(request, [n as f64, d as f64]), gpbench_engine::installed_memory());
    let Some(installed) = installed.map(|bytes| bytes as f64).filter(|installed| needed > *installed) else {
        return Ok(());
    };
    Err(Failure::usage(format!(
        "this takes at least {} of memory, and this machine has {}; choose fewer rows, inputs or right-hand sides, or a \
         smaller block",
        units::bytes(needed),
        units::bytes(installed)
    )))
}

/// Numbers that are in memory at once, at least: inputs, right-hand sides, their product, and what the product itself holds.
fn numbers(request: &BenchRequest, [n, d]: [f64; 2]) -> f64 {
    let rhs = request.rhs as f64;
    let of_product = match &request.product {
        Product::Operator | Product::Gradient | Product::Rows { .. } | Product::Tile => 0.0,
        Product::Factor => n * n,
        Product::Precondition { rank } => n * *rank as f64,
        Product::Acquire(Acquire { candidates, starts, features }) => {
            let [candidates, starts, features] = [*candidates, *starts, *features].map(|size| size as f64);
            (candidates + starts + features) * d + features * rhs
        }
        Product::Learner(LearnerStep { batch, points, .. }) => {
            let [batch, points] = [*batch, *points].map(|size| size as f64);
            (batch + points) * (d + points)
        }
    };
    let dgemm = OF_DGEMM * (request.dgemm_order as f64).powi(2);
    (n * (d + 2.0 * rhs) + of_product).max(dgemm)
}
