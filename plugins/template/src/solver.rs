//! The solver `steepest-descent`.
//!
//! It begins as a placeholder that works: steps along the residual r = b - A x, of length r^T r / r^T A r times
//! `relaxation`. Replace the lines between `observe` and the end of the loop by your iteration, and this text by its
//! description.

use gpbench_sdk::ndarray::{Array2, ArrayView1, Axis, ShapeBuilder};
use gpbench_sdk::{Capabilities, Problem, Report, Result, Solver, Watch};

use crate::SteepestDescentParams;

/// Iterations without a new best residual that count as stagnation.
const PATIENCE: usize = 1000;

/// The solver `steepest-descent`.
#[derive(Debug)]
pub struct SteepestDescent {
    params: SteepestDescentParams,
}

impl Solver for SteepestDescent {
    type Params = SteepestDescentParams;
    const ID: &'static str = "steepest-descent";
    // Fill in: what `gpbench list solvers` shows.
    const DOC: &'static str = "steepest-descent: one line about the method";
    // Fill in: the work that reports cite; leave it out where there is none.
    // const SOURCE: &'static str = "A. Author. Title. Venue, year.";
    // Fill in: what readers who choose a method want to know of it; leave it out, or a part of it.
    // const FACTS: Facts = Facts { step: "n^2 entries", advice: "moderate noise", ..Facts::NONE };
    const CAPABILITIES: Capabilities = Capabilities::WARM_START;
    // What `prepare` sets up for a problem and `solve` uses, such as a preconditioner; here nothing.
    type Prepared = ();

    fn new(params: SteepestDescentParams) -> Result<Self> {
        Ok(SteepestDescent { params })
    }

    fn prepare(&self, _: &Problem<'_>) -> Result<()> {
        Ok(())
    }

    fn solve(&self, (): &mut (), problem: &mut Problem<'_>) -> Result<Report> {
        let SteepestDescentParams { relaxation, max_iterations } = self.params;
        let (a, b) = (problem.operator(), problem.rhs());
        a.require_square()?;
        let scales: Vec<f64> = b.axis_iter(Axis(1)).map(norm).collect();
        for (j, _) in scales.iter().enumerate().filter(|(_, scale)| **scale == 0.0) {
            // The exact solution.
            problem.x_mut().column_mut(j).fill(0.0);
        }
        // The residual of the start: zero, which needs no product, or a warm start.
        let mut r = Array2::zeros(b.dim().f());
        if problem.x().iter().any(|&x| x != 0.0) {
            a.apply(&problem.x(), &mut r)?;
        }
        r.zip_mut_with(&b, |r, b| *r = b - *r);

        let mut product = Array2::zeros(b.dim().f());
        let mut watch = Watch::new(PATIENCE, max_iterations);
        let mut iteration = 0;
        loop {
            // Norms relative to the right-hand sides; absolute for zero ones.
            let relative = |(r, scale): (_, &f64)| norm(r) / if *scale > 0.0 { *scale } else { 1.0 };
            let norms: Vec<f64> = r.axis_iter(Axis(1)).zip(&scales).map(relative).collect();
            // The host may answer that this was the last iteration. Then `?` ends the solve, and `x` is the
            // solution.
            problem.observe(iteration, &norms)?;
            // Converged, diverged, stagnated, or at the iteration limit.
            if let Some(reason) = watch.judge(problem, iteration, &norms) {
                return Ok(Report::new(reason, iteration).residuals(norms));
            }
            // The iteration: to be replaced. One product for all right-hand sides is an epoch. If it is refused, `x` and
            // `r` do not change.
            a.apply(&r, &mut product)?;
            let mut x = problem.x_mut();
            for (j, product) in product.axis_iter(Axis(1)).enumerate() {
                let curvature = r.column(j).dot(&product);
                if curvature > 0.0 {
                    let step = relaxation * r.column(j).dot(&r.column(j)) / curvature;
                    x.column_mut(j).scaled_add(step, &r.column(j));
                    r.column_mut(j).scaled_add(-step, &product);
                }
            }
            iteration += 1;
        }
    }

    fn estimate(&self, n: usize, _d: usize, s: usize) -> f64 {
        // Bytes, for `gpbench plan`: residual and product.
        8.0 * 2.0 * n as f64 * s as f64
    }
}

fn norm(v: ArrayView1<'_, f64>) -> f64 {
    v.dot(&v).sqrt()
}
