//! The rules of solvers. Names are stable: the output of `plugin test` has them.
//!
//! A rule asks a solver to solve systems that it can solve itself, and judges the outcome.

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
mod trial;

pub use request::{Ask, MakeSystem, SolveRequest};

use super::description;
use super::rule::{Rule, rule};

/// All rules of solvers, in the order in which `plugin test` prints them.
pub const SOLVERS: &[Rule] = &[
    rule("interface", "the table agrees with this version of the interface", description::interface),
    rule("description", "solver and parameters have a line of documentation each", description::texts),
    rule(
        "parameters",
        "defaults, ends of ranges and choices are accepted; values outside are refused",
        description::parameters,
    ),
    rule("one-row", "a system of one row is solved", shapes::one_row),
    rule("one-column", "one right-hand side is solved", shapes::one_column),
    rule("many-columns", "more right-hand sides than rows, an odd number, are solved", shapes::many_columns),
    rule("zero-column", "a right-hand side of zeros has the solution zero", shapes::zero_column),
    rule("margin", "nothing is written outside of an iterate whose columns are not adjacent", shapes::margin),
    rule(
        "tolerance",
        "where convergence is claimed, the true residual is within twice the tolerance",
        accuracy::tolerance,
    ),
    rule("claims", "claimed residuals are within a factor of 2 of the true ones", accuracy::claims),
    rule("exact", "a solver that claims to be exact is, whatever the tolerance", accuracy::exact),
    rule(
        "not-a-number",
        "a right-hand side with NaN gives an error or no convergence, never a solution",
        accuracy::not_a_number,
    ),
    rule("singular", "no solution is claimed where there is none", accuracy::singular),
    rule(
        "linearity",
        "solutions of sums and multiples are sums and multiples of solutions",
        order::linearity,
    ),
    rule("row-order", "another order of the rows gives the same solution", order::rows),
    rule(
        "column-order",
        "right-hand sides of different sizes, in another order, have the same solutions",
        order::columns,
    ),
    rule(
        "warm-start",
        "starting at the solution costs one epoch at most, beyond the setup",
        stopping::warm_start,
    ),
    rule("any-start", "starting anywhere leads to the solution", stopping::any_start),
    rule(
        "budget",
        "the budget is respected, and a spent budget is not reported as convergence",
        stopping::budget,
    ),
    rule("cancel", "the solver stops when an observation tells it to", stopping::cancel),
    rule("iterate", "the iterate handed over is the one that stopping there leaves", observation::iterate),
    rule("watching", "asking for iterates changes nothing", observation::changes_nothing),
    rule(
        "inputs",
        "right-hand sides, inputs and, in prepare, the iterate are not written to",
        observation::inputs,
    ),
    rule("same-seed", "the same seed gives the same bits", repetition::same_seed),
    rule("other-seed", "without random numbers the seed changes nothing", repetition::other_seed),
    rule("threads", "any number of threads gives the same bits", repetition::threads),
    rule("reuse", "an object solves again", repetition::reuse),
    rule(
        "prepare-again",
        "an object prepared twice solves the problem that it was prepared for last",
        repetition::prepare_again,
    ),
    rule("two-objects", "two objects do not disturb each other", repetition::two_objects),
    rule("unused", "an object can be destroyed without a solve", repetition::unused),
    rule("leaks", "a hundred solves leave no memory behind", leftovers::leaks),
    rule("left-threads", "no more threads are left than the solver was allowed", leftovers::left_threads),
    rule(
        "float-mode",
        "rounding mode and treatment of subnormal numbers are left as they were",
        leftovers::float_mode,
    ),
    rule("blas-threads", "the number of BLAS threads is left as it was", leftovers::blas_threads),
    rule("silence", "nothing is written to standard output", leftovers::silence),
];
