//! The solver: prepares, iterates and observes.

use gpbench_sdk::{Capabilities, Facts, Problem, Reason, Report, Result, Solver, Watch};

use crate::iteration::Iteration;
use crate::{FalkonParams, FalkonPreconditioner};

/// Iterations without a new best residual that count as stagnation.
const PATIENCE: usize = 100;

/// FALKON.
#[derive(Debug)]
pub struct Falkon {
    params: FalkonParams,
}

impl Solver for Falkon {
    type Params = FalkonParams;
    const ID: &'static str = "falkon";
    const DOC: &'static str = "FALKON: weights of inducing points by preconditioned conjugate gradients";
    const SOURCE: &'static str =
        "A. Rudi, L. Carratino, L. Rosasco. FALKON: An Optimal Large Scale Kernel Method. NeurIPS 2017.";
    const FACTS: Facts = Facts {
        step: "m n entries, used forward and back, 4 m n s operations for m inducing points; setup m^2 \
            entries, 5 m^3 / 3 operations",
        memory: "n s + 3 m^2 + 6 m s",
        guarantees: "residuals, by a recurrence, are those of the inducing points' problem, not of all rows",
        advice: "many rows, few inducing points, moderate noise; its means are those of sgpr at the same \
            points and scales",
    };
    const CAPABILITIES: Capabilities = Capabilities::WARM_START.and(Capabilities::INDUCING);
    type Prepared = FalkonPreconditioner;

    fn new(params: FalkonParams) -> Result<Self> {
        Ok(Falkon { params })
    }

    fn prepare(&self, problem: &Problem<'_>) -> Result<FalkonPreconditioner> {
        FalkonPreconditioner::new(problem, &self.params)
    }

    fn solve(&self, preconditioner: &mut FalkonPreconditioner, problem: &mut Problem<'_>) -> Result<Report> {
        let mut iteration = Iteration::start(preconditioner, problem)?;
        let mut watch = Watch::new(PATIENCE, self.params.max_iterations);
        let (reason, norms) = loop {
            let norms = iteration.norms();
            problem.observe(iteration.count, &norms)?;
            if let Some(reason) = watch.judge(problem, iteration.count, &norms) {
                break (reason, norms);
            }
            if !iteration.step(problem)? {
                break (Reason::Stagnated, norms);
            }
        };
        let report = Report::new(reason, iteration.count).residuals(norms);
        Ok(report.number("jitter", preconditioner.jitter()))
    }

    fn estimate(&self, n: usize, _d: usize, s: usize) -> f64 {
        // The number of inducing points is not known here; the theory of the method asks for a multiple of sqrt(n).
        let (n, m, s) = (n as f64, (10.0 * (n as f64).sqrt()).min(n as f64), s as f64);
        // Products; the kernel matrix with two factors; residuals, directions and what is preconditioned.
        8.0 * (n * s + 4.0 * m * m + 6.0 * m * s)
    }
}
