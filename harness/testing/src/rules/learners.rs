//! The rules of learners. Names are stable: the output of `plugin test` has them.
//!
//! A rule asks a learner to fit small generated data sets and judges the result.

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
use super::rule::{alone, here, rules};

rules! {
    $
    /// All rules of learners, in the order in which `plugin test` prints them.
    LEARNERS
    /// A `#[test]` for each rule of learners, given a [`Tested`](crate::rules::Tested).
    ///
    /// ```ignore
    /// gpbench_testing::learner_rules! { Tested::learner::<MyLearner>() }
    /// ```
    learner_rules

    interface ("interface", here) = description::interface,
        "the table agrees with this version of the interface";
    description ("description", here) = description::texts,
        "learner and parameters have a line of documentation each";
    parameters ("parameters", here) = description::parameters,
        "defaults, ends of ranges and choices are accepted; values outside are refused";
    two_rows ("two-rows", here) = shapes::two_rows,
        "two rows are fitted";
    one_input ("one-input", here) = shapes::one_input,
        "rows of one input are fitted";
    constant_input ("constant-input", here) = shapes::constant_input,
        "an input that is the same in all rows does no harm";
    repeated_rows ("repeated-rows", here) = shapes::repeated_rows,
        "rows that occur twice do no harm";
    large_batch ("large-batch", here) = shapes::large_batch,
        "a batch larger than the data is all of it";
    short_batch ("short-batch", here) = shapes::short_batch,
        "the short batch at the end of a pass leads to a step too";
    not_a_number ("not-a-number", alone) = quality::not_a_number,
        "targets with NaN give an error or divergence, never a fit";
    budget ("budget", here) = pauses::budget,
        "nothing is drawn after the learner was told to stop";
    observe ("observe", here) = pauses::observe,
        "every step is observed, and no other is reported";
    pause ("pause", here) = pauses::pause,
        "a fit with a pause and an evaluation after every step is the fit in one call";
    grant ("grant", here) = pauses::grant,
        "passes that are granted one by one have the batches of passes granted together";
    resume ("resume", here) = pauses::resume,
        "a fit that goes on from a saved state is the fit in one go";
    load_elsewhere ("load-elsewhere", here) = pauses::load_elsewhere,
        "a state of other data is refused";
    reuse ("reuse", here) = pauses::reuse,
        "an object that begins again forgets its earlier fit";
    inputs ("inputs", here) = pauses::inputs,
        "inputs, targets and inducing points are not written to";
    pieces ("pieces", here) = quality::pieces,
        "predictions do not depend on the other rows or on their order";
    positive ("positive", here) = quality::positive,
        "variances are positive, near the data and far from it";
    model ("model", here) = quality::model,
        "the learner predicts as follows from its model";
    objective ("objective", here) = quality::objective,
        "on all rows, the objective is the likelihood of the model, or its bound";
    descends ("descends", here) = quality::descends,
        "on all rows, small steps improve the model";
    learns ("learns", here) = quality::learns,
        "predictions are better than the mean of the targets";
    charges ("charges", here) = cost::charges,
        "kernel entries and rows through the network are reported";
    same_seed ("same-seed", here) = repetition::same_seed,
        "the same seed gives the same bits, in every process";
    other_seed ("other-seed", here) = repetition::other_seed,
        "without random numbers the seed changes nothing";
    threads ("threads", here) = repetition::threads,
        "any number of threads gives the same bits";
    two_objects ("two-objects", here) = repetition::two_objects,
        "two objects do not disturb each other";
    unused ("unused", alone) = repetition::unused,
        "an object can be destroyed without a fit";
    leaks ("leaks", alone) = leftovers::leaks,
        "a hundred fits leave no memory behind";
    left_threads ("left-threads", alone) = leftovers::left_threads,
        "no more threads are left than the learner was allowed";
    float_mode ("float-mode", alone) = leftovers::float_mode,
        "rounding mode and treatment of subnormal numbers are left as they were";
    blas_threads ("blas-threads", here) = leftovers::blas_threads,
        "the number of BLAS threads is left as it was";
    silence ("silence", here) = leftovers::silence,
        "nothing is written to standard output";
}
