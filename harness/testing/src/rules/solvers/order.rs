//! Rules about scale and order, on which the solution must not depend.

use ndarray::Axis;

use super::request::SolveRequest;
use super::trial::{converge, demand_agreement};
use crate::rules::{Finding, KernelSystem, Subject};

pub(super) fn linearity(subject: &Subject<'_>) -> Result<(), Finding> {
    let system = KernelSystem::new(70, 8);
    let request = SolveRequest::new(system.clone(), 3);
    let mut other = SolveRequest::new(system, 3);
    other.rhs.invert_axis(Axis(0));
    let (x, x_other) = (converge(subject, &request)?.x, converge(subject, &other)?.x);
    for (a, b) in [(1e-6, 0.0), (2.0, -3.0), (0.0, 1e6)] {
        let sum = SolveRequest { rhs: &request.rhs * a + &other.rhs * b, ..request.clone() };
        let x_sum = converge(subject, &sum)
            .map_err(|finding| finding.context(|why| format!("for {a:e} B + {b:e} C it {why}")))?
            .x;
        demand_agreement(&sum, &x_sum, &(&x * a + &x_other * b))?;
    }
    Ok(())
}

pub(super) fn rows(subject: &Subject<'_>) -> Result<(), Finding> {
    let request = SolveRequest::new(KernelSystem::new(60, 9), 3);
    // 37 and 60 have no common divisor, so this is a permutation.
    let order: Vec<usize> = (0..60).map(|i| (37 * i + 11) % 60).collect();
    let reordered = SolveRequest {
        system: request.system.reordered(&order),
        rhs: request.rhs.select(Axis(0), &order),
        ..request.clone()
    };
    let (x, x_reordered) = (converge(subject, &request)?.x, converge(subject, &reordered)?.x);
    demand_agreement(&reordered, &x_reordered, &x.select(Axis(0), &order))
}

pub(super) fn columns(subject: &Subject<'_>) -> Result<(), Finding> {
    let mut request = SolveRequest::new(KernelSystem::new(60, 10), 5);
    for (mut column, scale) in request.rhs.columns_mut().into_iter().zip([1e3, 1.0, 1e-3, 10.0, 0.1]) {
        column *= scale;
    }
    let order = [3, 0, 4, 2, 1];
    let reordered = request.with_columns(&order);
    let (x, x_reordered) = (converge(subject, &request)?.x, converge(subject, &reordered)?.x);
    demand_agreement(&reordered, &x_reordered, &x.select(Axis(1), &order))
}
