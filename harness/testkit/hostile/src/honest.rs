//! The correct solver: plain conjugate gradients.

use gpbench_sdk::ndarray::{Array1, Array2, ArrayRef2, Axis, ShapeBuilder};
use gpbench_sdk::{Problem, Reason, Report, Result};

/// Sums of the products of equal columns.
fn dots(a: &ArrayRef2<f64>, b: &ArrayRef2<f64>) -> Array1<f64> {
    a.axis_iter(Axis(1)).zip(b.axis_iter(Axis(1))).map(|(a, b)| a.dot(&b)).collect()
}

/// A quotient, or 0 where the divisor is 0.
fn ratio(a: &Array1<f64>, b: &Array1<f64>) -> Array1<f64> {
    a.iter().zip(b).map(|(a, b)| if *b == 0.0 { 0.0 } else { a / b }).collect()
}

/// Solves from zero to the tolerance, or for a thousand iterations.
pub(crate) fn solve(problem: &mut Problem<'_>) -> Result<Report> {
    let (a, b) = (problem.operator(), problem.rhs());
    let scale = dots(&b, &b).sqrt();
    problem.x_mut().fill(0.0);
    let mut residual = Array2::zeros(b.dim().f());
    residual.assign(&b);
    let (mut direction, mut product) = (residual.clone(), Array2::zeros(b.dim().f()));
    let mut gamma = dots(&residual, &residual);
    for iteration in 0.. {
        let norms = ratio(&gamma.sqrt(), &scale).to_vec();
        problem.observe(iteration, &norms)?;
        let end = if problem.converged(&norms) {
            Some(Reason::Converged)
        } else if norms.iter().any(|norm| !norm.is_finite()) {
            Some(Reason::Diverged)
        } else {
            (iteration == 1000).then_some(Reason::Iterations)
        };
        if let Some(reason) = end {
            return Ok(Report::new(reason, iteration).residuals(norms));
        }
        a.apply(&direction, &mut product)?;
        let alpha = ratio(&gamma, &dots(&direction, &product));
        problem.x_mut().zip_mut_with(&(&direction * &alpha), |x, step| *x += step);
        residual -= &(&product * &alpha);
        let before = std::mem::replace(&mut gamma, dots(&residual, &residual));
        direction = &residual + &(&direction * &ratio(&gamma, &before));
    }
    unreachable!("the loop ends by itself")
}
