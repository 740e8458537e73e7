//! The rules of solvers. Names are stable: the output of `plugin test` has them.
//!
//! A rule asks a solver to solve systems that the rule can solve by itself, and judges the outcome.

mod accuracy;
mod leftovers;
mod observation;
mod order;
mod recorder;
mod repetition;
mod request;
mod shapes;
mod solver_run;
mod stopping;
mod targets;
mod trial;

pub use request::{Ask, MakeSystem, SolveRequest};

use super::description;
use super::rule::{alone, here, rules};

rules! {
    $
    /// All rules of solvers, in the order in which `plugin test` prints them.
    SOLVERS
    /// A `#[test]` for each rule of solvers, given a [`Tested`](crate::rules::Tested).
    ///
    /// ```ignore
    /// gpbench_testing::solver_rules! { Tested::solver::<MySolver>() }
    /// ```
    solver_rules

    interface ("interface", here) = description::interface,
        "the table agrees with this version of the interface";
    description ("description", here) = description::texts,
        "solver and parameters have a line of documentation each";
    parameters ("parameters", here) = description::parameters,
        "defaults, ends of ranges and choices are accepted; values outside are refused";
    one_row ("one-row", here) = shapes::one_row,
        "a system of one row is solved";
    one_column ("one-column", here) = shapes::one_column,
        "one right-hand side is solved";
    several_targets ("several-targets", here) = targets::several,
        "every target is solved, however many there are";
    many_columns ("many-columns", here) = shapes::many_columns,
        "more right-hand sides than rows, an odd number, are solved";
    zero_column ("zero-column", here) = shapes::zero_column,
        "a right-hand side of zeros has the solution zero";
    margin ("margin", here) = shapes::margin,
        "nothing is written outside of an iterate whose columns are not adjacent";
    tolerance ("tolerance", here) = accuracy::tolerance,
        "where convergence is claimed, the true residual is within twice the tolerance";
    claims ("claims", here) = accuracy::claims,
        "claimed residuals are within a factor of 2 of the true ones";
    exact ("exact", here) = accuracy::exact,
        "a solver that claims to be exact is, whatever the tolerance";
    not_a_number ("not-a-number", alone) = accuracy::not_a_number,
        "a right-hand side with NaN gives an error or no convergence, never a solution";
    matrix_not_a_number ("matrix-not-a-number", alone) = accuracy::matrix_not_a_number,
        "a matrix with NaN gives an error or no convergence, never a solution";
    singular ("singular", here) = accuracy::singular,
        "no solution is claimed where there is none";
    linearity ("linearity", here) = order::linearity,
        "solutions of sums and multiples are sums and multiples of solutions";
    row_order ("row-order", here) = order::rows,
        "another order of the rows gives the same solution";
    column_order ("column-order", here) = order::columns,
        "right-hand sides of different sizes, in another order, have the same solutions";
    warm_start ("warm-start", here) = stopping::warm_start,
        "starting at the solution costs one epoch at most, beyond the setup";
    any_start ("any-start", here) = stopping::any_start,
        "starting anywhere leads to the solution";
    budget ("budget", here) = stopping::budget,
        "the budget is respected, and a spent budget is not reported as convergence";
    no_budget ("no-budget", here) = stopping::no_budget,
        "without a budget nothing is done";
    limit ("limit", here) = stopping::limit,
        "a spent budget leaves what as many iterations leave";
    cancel ("cancel", here) = stopping::cancel,
        "the solver stops when an observation tells it to";
    iterate ("iterate", here) = observation::iterate,
        "the iterate handed over is the one that stopping there leaves";
    watching ("watching", here) = observation::changes_nothing,
        "asking for iterates changes nothing";
    inputs ("inputs", here) = observation::inputs,
        "right-hand sides, inputs and, in prepare, the iterate are not written to";
    same_seed ("same-seed", here) = repetition::same_seed,
        "the same seed gives the same bits, in every process";
    other_seed ("other-seed", here) = repetition::other_seed,
        "without random numbers the seed changes nothing";
    threads ("threads", here) = repetition::threads,
        "any number of threads gives the same bits";
    reuse ("reuse", here) = repetition::reuse,
        "an object solves again";
    prepare_again ("prepare-again", here) = repetition::prepare_again,
        "an object prepared twice solves the problem that it was prepared for last";
    warm_up ("warm-up", here) = repetition::warm_up,
        "getting ready for sizes, without data, serves a problem of the sizes asked for last";
    two_objects ("two-objects", here) = repetition::two_objects,
        "two objects do not disturb each other";
    unused ("unused", alone) = repetition::unused,
        "an object can be destroyed without a solve";
    leaks ("leaks", alone) = leftovers::leaks,
        "a hundred solves leave no memory behind";
    left_threads ("left-threads", alone) = leftovers::left_threads,
        "no more threads are left than the solver was allowed";
    float_mode ("float-mode", alone) = leftovers::float_mode,
        "rounding mode and treatment of subnormal numbers are left as they were";
    blas_threads ("blas-threads", here) = leftovers::blas_threads,
        "the number of BLAS threads is left as it was";
    silence ("silence", here) = leftovers::silence,
        "nothing is written to standard output";
}
