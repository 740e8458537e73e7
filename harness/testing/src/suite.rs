//! Tests that every solver inherits by one line of [`solver_suite!`](crate::solver_suite).

use std::marker::PhantomData;

use gpbench_abi::Status;
use gpbench_sdk::{Capabilities, Solver};
use gpbench_terms::{Family, Reason};
use ndarray::{Array2, s};

use crate::settings::{Settings, assert_refused};
use crate::{
    CallError, DenseProblem, Outcome, matern32, relative_residuals, scattered_inputs,
    scattered_right_hand_sides, solver_entry,
};

/// Number of observations after which a solver is stopped.
const STOP_AT: usize = 3;

/// Accuracy of a solver's residual norms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Claims {
    /// All observed and reported norms are true up to this absolute error.
    Observed(f64),
    /// Reported norms are true up to this absolute error; observed ones are estimates.
    Reported(f64),
    /// All norms are estimates, with at most this factor of error.
    Estimated(f64),
}

impl Claims {
    /// The factor by which the true residual may exceed the tolerance.
    fn slack(self) -> f64 {
        match self {
            Claims::Observed(_) | Claims::Reported(_) => 1.01,
            Claims::Estimated(factor) => factor,
        }
    }
}

/// A solver, its parameters, and a system on which it converges with them.
pub struct Suite<S> {
    a: Array2<f64>,
    b: Array2<f64>,
    build: Box<dyn Fn(Array2<f64>, Array2<f64>) -> DenseProblem>,
    settings: Settings,
    limit: fn(i64) -> Settings,
    tolerance: f64,
    claims: Claims,
    end: Reason,
    randomized: bool,
    solver: PhantomData<S>,
}

/// The tests of a [`Suite`](crate::Suite), each a `#[test]` of its own.
///
/// ```ignore
/// gpbench_testing::solver_suite! { Suite::<MySolver>::matern32(0.3, 0.5, 20).tolerance(1e-6) }
/// ```
///
/// `without convergence:` before the suite leaves out the tests that need a solver with a tolerance.
#[macro_export]
macro_rules! solver_suite {
    (without convergence: $suite:expr) => {
        $crate::solver_suite! { tests: $suite;
            the_number_of_threads_changes_no_bit
            the_seed_decides
            stopping_leaves_the_iterate
            a_spent_budget_leaves_the_iterate
            without_budget_nothing_is_done
            a_zero_right_hand_side_has_a_zero_solution
            a_right_hand_side_that_is_not_a_number_is_not_solved
            a_product_that_is_not_a_number_never_reaches_the_solution
            parameters_out_of_range_are_refused
        }
    };
    (tests: $suite:expr; $($test:ident)+) => {
        $(
            #[test]
            fn $test() {
                $suite.$test();
            }
        )+
    };
    ($suite:expr) => {
        $crate::solver_suite! { without convergence: $suite }
        $crate::solver_suite! { tests: $suite;
            claims_are_true
            the_tolerance_holds_for_targets_and_for_probes
            one_right_hand_side_is_solved
            a_warm_start_at_the_solution_costs_one_product
            a_warm_start_from_anywhere_converges
        }
    };
}

impl<S: Solver> Suite<S> {
    /// A suite with a Matern-3/2 kernel matrix of 120 irregular inputs in two dimensions, unit signal, and `s`
    /// irregular right-hand sides, of which the first is the target. Tolerance 1e-6, true claims, default parameters.
    #[must_use]
    pub fn matern32(noise_scale: f64, length_scale: f64, s: usize) -> Suite<S> {
        let (x, lengths) = (scattered_inputs(120), vec![length_scale; 2]);
        let a = matern32(&x, 1.0, noise_scale, &lengths);
        let b = scattered_right_hand_sides(120, s);
        Suite::new(a, b, move |a, b| {
            let kernel = (x.clone(), lengths.clone());
            DenseProblem::new(a, b).kernel(Family::Matern32, kernel.0, 1.0, noise_scale, kernel.1)
        })
    }

    /// A suite with any system A X = B of at least three right-hand sides. `build` makes a problem of it, or of a
    /// variation of A or B.
    #[must_use]
    pub fn new(
        a: Array2<f64>,
        b: Array2<f64>,
        build: impl Fn(Array2<f64>, Array2<f64>) -> DenseProblem + 'static,
    ) -> Suite<S> {
        Suite {
            a,
            b,
            build: Box::new(build),
            settings: Vec::new(),
            limit: |count| vec![("max_iterations", count.into())],
            tolerance: 1e-6,
            claims: Claims::Observed(1e-10),
            end: Reason::Converged,
            randomized: S::CAPABILITIES.and(Capabilities::RANDOMIZED) == S::CAPABILITIES,
            solver: PhantomData,
        }
    }

    /// Sets parameters; the others have their defaults.
    #[must_use]
    pub fn settings(mut self, settings: impl Into<Settings>) -> Self {
        self.settings = settings.into();
        self
    }

    /// Sets the parameters with which the solver ends after a given number of iterations; the default is
    /// `max_iterations`.
    #[must_use]
    pub fn limit(mut self, limit: fn(i64) -> Settings) -> Self {
        self.limit = limit;
        self
    }

    /// Relative residual norm to reach.
    #[must_use]
    pub fn tolerance(mut self, tolerance: f64) -> Self {
        self.tolerance = tolerance;
        self
    }

    /// Sets the accuracy of residual norms.
    #[must_use]
    pub fn claims(mut self, claims: Claims) -> Self {
        self.claims = claims;
        self
    }

    /// Sets the reason with which an undisturbed solve ends; the default is converged.
    #[must_use]
    pub fn ends_with(mut self, reason: Reason) -> Self {
        self.end = reason;
        self
    }

    /// Sets whether results depend on the seed with these parameters; by default, as the solver's capabilities state.
    #[must_use]
    pub fn randomized(mut self, randomized: bool) -> Self {
        self.randomized = randomized;
        self
    }

    fn problem(&self) -> DenseProblem {
        self.problem_with(self.b.clone())
    }

    fn problem_with(&self, b: Array2<f64>) -> DenseProblem {
        (self.build)(self.a.clone(), b).tolerance(self.tolerance)
    }

    fn try_solve(&self, problem: &DenseProblem, others: Settings) -> Result<Outcome, CallError> {
        let own = self.settings.iter().filter(|(name, _)| others.iter().all(|(other, _)| name != other));
        problem.solve::<S>(&own.cloned().chain(others.clone()).collect::<Vec<_>>())
    }

    fn solve(&self, problem: &DenseProblem) -> Outcome {
        self.try_solve(problem, Vec::new()).expect("the solver returns no error")
    }

    fn solve_limited(&self, problem: &DenseProblem, count: i64) -> Outcome {
        self.try_solve(problem, (self.limit)(count)).expect("the solver returns no error")
    }

    /// Number of kernel entries in an epoch.
    fn epoch(&self) -> f64 {
        self.a.len() as f64
    }

    /// Asserts that a solve of A X = `b` claims convergence, and that all of its claims are true.
    fn assert_solved(&self, outcome: &Outcome, b: &Array2<f64>, n_targets: usize) {
        assert_eq!(outcome.reason, Reason::Converged);
        let truths = relative_residuals(&self.a, &outcome.x, b);
        let (targets, probes) = truths.split_at(n_targets);
        let largest = self.tolerance * self.claims.slack();
        assert!(targets.iter().all(|norm| *norm <= largest), "targets: {targets:?}");
        assert!(probes.iter().sum::<f64>() <= largest * probes.len() as f64, "probes: {probes:?}");
        assert_eq!(outcome.claimed.len(), truths.len());
        for (claimed, truth) in outcome.claimed.iter().zip(truths) {
            match self.claims {
                Claims::Observed(error) | Claims::Reported(error) => {
                    assert!((claimed - truth).abs() <= error, "{claimed} is claimed, {truth} is true");
                }
                Claims::Estimated(factor) => {
                    let ratio = claimed / truth;
                    assert!((factor.recip()..factor).contains(&ratio), "{claimed} against {truth}");
                }
            }
        }
    }

    /// Claimed residuals are true, and the iterates match the observed residuals. The last observation equals the
    /// report.
    pub fn claims_are_true(&self) {
        let outcome = self.solve(&self.problem().iterates());
        self.assert_solved(&outcome, &self.b, 1);
        assert_eq!(outcome.trace.len(), outcome.iterates.len());
        if let Claims::Observed(error) = self.claims {
            for ((iteration, norms), x) in outcome.trace.iter().zip(&outcome.iterates) {
                for (norm, truth) in norms.iter().zip(relative_residuals(&self.a, x, &self.b)) {
                    assert!((norm - truth).abs() <= error, "iteration {iteration}: {norm} against {truth}");
                }
            }
        }
        assert_eq!(outcome.iterates.last(), Some(&outcome.x));
        assert_eq!(outcome.trace.last(), Some(&(outcome.iterations, outcome.claimed)));
        assert_eq!(outcome.x, self.solve(&self.problem()).x, "asking for iterates changes nothing");
    }

    /// The largest residual of the targets and the mean residual of the probes reach the tolerance, both if targets
    /// converge faster than probes and if they converge more slowly.
    pub fn the_tolerance_holds_for_targets_and_for_probes(&self) {
        let s = self.b.ncols();
        for (n_targets, quick) in [(1, 0), (s - 1, s - 1)] {
            let mut b = self.b.clone();
            b.column_mut(quick).assign(&self.a.column(0));
            let outcome = self.solve(&self.problem_with(b.clone()).targets(n_targets));
            self.assert_solved(&outcome, &b, n_targets);
        }
    }

    /// A system with a single right-hand side is solved.
    pub fn one_right_hand_side_is_solved(&self) {
        let b = self.b.slice(s![.., ..1]).to_owned();
        self.assert_solved(&self.solve(&self.problem_with(b.clone())), &b, 1);
    }

    /// Solutions have the same bits on one thread and on several.
    pub fn the_number_of_threads_changes_no_bit(&self) {
        let x = |threads| self.solve(&self.problem().threads(threads)).x;
        let one = x(1);
        assert_eq!(one, x(2));
        assert_eq!(one, x(7));
    }

    /// The same seed gives the same bits. Another seed gives other bits if and only if the solver draws random
    /// numbers.
    pub fn the_seed_decides(&self) {
        let x = |seed| self.solve(&self.problem().seed(seed)).x;
        let first = x(1);
        assert_eq!(first, x(1));
        assert_eq!(first != x(2), self.randomized, "another seed, and whether numbers are drawn");
    }

    /// A solve that starts at the solution ends at once and does not change it.
    pub fn a_warm_start_at_the_solution_costs_one_product(&self) {
        let solution = self.solve(&self.problem().tolerance(self.tolerance / 100.0)).x;
        let outcome = self.solve(&self.problem().start(solution.clone()));
        assert_eq!((outcome.reason, outcome.iterations), (Reason::Converged, 0));
        assert_eq!(outcome.entries - outcome.entries_prepare, self.epoch());
        assert_eq!(outcome.x, solution);
        for (claimed, truth) in outcome.claimed.iter().zip(relative_residuals(&self.a, &solution, &self.b)) {
            assert!((claimed - truth).abs() < 1e-12, "{claimed} against {truth}");
        }
    }

    /// A solve with a start far from the solution converges.
    pub fn a_warm_start_from_anywhere_converges(&self) {
        let outcome = self.solve(&self.problem().start(Array2::from_elem(self.b.dim(), 3.0)));
        self.assert_solved(&outcome, &self.b, 1);
    }

    /// A solver that an observation stops leaves the iterate of that number of iterations.
    pub fn stopping_leaves_the_iterate(&self) {
        let stopped = self.solve(&self.problem().stop_at(STOP_AT));
        assert_eq!(stopped.reason, Reason::Stopped);
        assert_eq!(stopped.trace.last().map(|(iteration, _)| *iteration), Some(stopped.iterations));
        let limited = self.solve_limited(&self.problem(), stopped.iterations);
        assert_eq!(limited.reason, Reason::Iterations);
        assert_eq!((stopped.x, stopped.claimed), (limited.x, limited.claimed));
    }

    /// A solver that its budget stops leaves the iterate of that number of iterations.
    pub fn a_spent_budget_leaves_the_iterate(&self) {
        for count in [STOP_AT as i64, STOP_AT as i64 + 1] {
            let limited = self.solve_limited(&self.problem(), count);
            assert_eq!((limited.reason, limited.iterations), (Reason::Iterations, count));
            let spent = self.solve(&self.problem().max_epochs(limited.entries / self.epoch()));
            assert_eq!((spent.reason, spent.iterations), (Reason::Stopped, count));
            assert_eq!((spent.entries, &spent.x), (limited.entries, &limited.x));
            if let Claims::Observed(error) = self.claims {
                for (claimed, truth) in
                    spent.claimed.iter().zip(relative_residuals(&self.a, &spent.x, &self.b))
                {
                    assert!((claimed - truth).abs() <= error, "{claimed} against {truth}");
                }
            }
        }
    }

    /// Without a budget, `prepare` or the first product of a warm start is refused, and nothing changes.
    pub fn without_budget_nothing_is_done(&self) {
        let start = Array2::from_elem(self.b.dim(), 1.0);
        let has_setup = self.solve(&self.problem()).entries_prepare > 0.0;
        let outcome = self.solve(&self.problem().start(start.clone()).max_epochs(0.0));
        assert_eq!((outcome.reason, outcome.x), (Reason::Stopped, start));
        // The setup may report entries of its own.
        assert_eq!(outcome.entries, outcome.entries_prepare);
        assert!(has_setup || outcome.entries == 0.0);
    }

    /// Columns of zeros have the solution zero, alone and among other columns, from any start.
    pub fn a_zero_right_hand_side_has_a_zero_solution(&self) {
        let ones = Array2::from_elem(self.b.dim(), 1.0);
        let nothing = self.solve(&self.problem_with(Array2::zeros(self.b.dim())).start(ones.clone()));
        assert_eq!((nothing.reason, nothing.iterations), (Reason::Converged, 0));
        assert!(nothing.x.iter().all(|&x| x == 0.0));

        for zero in [0, 1] {
            let mut b = self.b.clone();
            b.column_mut(zero).fill(0.0);
            let outcome = self.solve(&self.problem_with(b).start(ones.clone()));
            assert_eq!(outcome.reason, self.end);
            assert!(outcome.x.column(zero).iter().all(|&x| x == 0.0));
            assert!(outcome.x.column(2).iter().all(|&x| x != 0.0 && x.is_finite()));
            assert!(outcome.claimed.is_empty() || outcome.claimed[zero] == 0.0);
        }
    }

    /// A right-hand side that contains NaN is not treated as zero.
    pub fn a_right_hand_side_that_is_not_a_number_is_not_solved(&self) {
        let mut b = self.b.clone();
        b[[4, 1]] = f64::NAN;
        let outcome = self.solve(&self.problem_with(b));
        assert!([Reason::Stagnated, Reason::Diverged].contains(&outcome.reason), "{}", outcome.reason);
    }

    /// An entry of A that is NaN ends the solve with finite numbers in the iterate, unless a factorisation detects it
    /// first.
    pub fn a_product_that_is_not_a_number_never_reaches_the_solution(&self) {
        for j in [4, 40] {
            let mut a = self.a.clone();
            a[[3, j]] = f64::NAN;
            a[[j, 3]] = f64::NAN;
            let problem = (self.build)(a, self.b.clone()).tolerance(self.tolerance);
            match self.try_solve(&problem, Vec::new()) {
                Err(error) => assert_eq!(error.status(), Some(Status::NOT_POSITIVE_DEFINITE)),
                Ok(outcome) => {
                    let reasons = [Reason::Stagnated, Reason::Diverged];
                    assert!(reasons.contains(&outcome.reason), "{}", outcome.reason);
                    assert!(outcome.x.iter().all(|x| x.is_finite()));
                }
            }
        }
    }

    /// Values that are outside a parameter's range, of another kind, or not among its choices are refused with its
    /// name.
    pub fn parameters_out_of_range_are_refused(&self) {
        assert_refused(&solver_entry::<S>().info.params, |value| {
            self.problem().solve::<S>(&[value]).expect_err("a value out of range is refused")
        });
    }

    /// A system of zeros costs no kernel entries, for any start. This is not part of the suite, because some methods
    /// compute the residual first.
    pub fn zeros_cost_nothing(&self) {
        let ones = Array2::from_elem(self.b.dim(), 1.0);
        assert_eq!(self.solve(&self.problem_with(Array2::zeros(self.b.dim())).start(ones)).entries, 0.0);
    }

    /// A solution depends neither on the other right-hand sides nor, except for rounding, on scale. This is not part
    /// of the suite, because some methods make choices by all right-hand sides together.
    pub fn columns_are_independent(&self, iterations: i64, error: f64) {
        let solve = |b: Array2<f64>| self.solve_limited(&self.problem_with(b).tolerance(0.0), iterations).x;
        let close = |x: &Array2<f64>, expected: &Array2<f64>| {
            let largest = expected.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
            assert!((x - expected).iter().all(|difference| difference.abs() <= error * largest));
        };
        let all = solve(self.b.clone());
        close(&solve(self.b.slice(s![.., ..1]).to_owned()), &all.slice(s![.., ..1]).to_owned());
        close(&solve(&self.b * 1e6), &(&all * 1e6));
    }
}
