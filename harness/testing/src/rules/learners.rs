//! The rules of learners. Names are stable: the output of `plugin test` has them.
//!
//! A rule asks a learner to fit small draws and judges what came of it.

mod cost;
mod fit_run;
mod judge;
mod leftovers;
mod pauses;
mod quality;
mod repetition;
mod request;
mod shapes;
mod trial;

pub use judge::{Judge, Judged};
pub use request::FitRequest;

use super::description;
use super::rule::{Rule, rule};

/// All rules of learners, in the order in which `plugin test` prints them.
pub const LEARNERS: &[Rule] = &[
    rule("interface", "the table agrees with this version of the interface", description::interface),
    rule("description", "learner and parameters have a line of documentation each", description::texts),
    rule(
        "parameters",
        "defaults, ends of ranges and choices are accepted; values outside are refused",
        description::parameters,
    ),
    rule("two-rows", "two rows are fitted", shapes::two_rows),
    rule("one-input", "rows of one input are fitted", shapes::one_input),
    rule("constant-input", "an input that is the same in all rows does no harm", shapes::constant_input),
    rule("repeated-rows", "rows that occur twice do no harm", shapes::repeated_rows),
    rule("large-batch", "a batch larger than the data is all of it", shapes::large_batch),
    rule("short-batch", "the short batch at the end of a pass leads to a step too", shapes::short_batch),
    rule("not-a-number", "targets with NaN give an error or divergence, never a fit", quality::not_a_number),
    rule("budget", "nothing is drawn after the learner was told to stop", pauses::budget),
    rule("observe", "every step is observed, and no other is reported", pauses::observe),
    rule("pause", "a fit that pauses after every step is the fit in one call", pauses::pause),
    rule("resume", "a fit that goes on from a saved state is the fit in one go", pauses::resume),
    rule("load-elsewhere", "a state of other data is refused", pauses::load_elsewhere),
    rule("reuse", "an object that begins again forgets its earlier fit", pauses::reuse),
    rule("inputs", "inputs, targets and inducing points are not written to", pauses::inputs),
    rule("pieces", "predictions do not depend on the other rows or on their order", quality::pieces),
    rule("positive", "variances are positive, near the data and far from it", quality::positive),
    rule("model", "the learner predicts as follows from its model", quality::model),
    rule(
        "objective",
        "on all rows, the objective is the likelihood of the model, or its bound",
        quality::objective,
    ),
    rule("descends", "on all rows, small steps improve the model", quality::descends),
    rule("learns", "predictions are better than the mean of the targets", quality::learns),
    rule("charges", "kernel entries and rows through the network are reported", cost::charges),
    rule("same-seed", "the same seed gives the same bits", repetition::same_seed),
    rule("other-seed", "without random numbers the seed changes nothing", repetition::other_seed),
    rule("threads", "any number of threads gives the same bits", repetition::threads),
    rule("two-objects", "two objects do not disturb each other", repetition::two_objects),
    rule("unused", "an object can be destroyed without a fit", repetition::unused),
    rule("leaks", "a hundred fits leave no memory behind", leftovers::leaks),
    rule("left-threads", "no more threads are left than the learner was allowed", leftovers::left_threads),
    rule(
        "float-mode",
        "rounding mode and treatment of subnormal numbers are left as they were",
        leftovers::float_mode,
    ),
    rule("blas-threads", "the number of BLAS threads is left as it was", leftovers::blas_threads),
    rule("silence", "nothing is written to standard output", leftovers::silence),
];
