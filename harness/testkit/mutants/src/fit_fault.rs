//! The faults of learners, and a type of learner for each.

use gpbench_sdk::Capabilities;

/// The fault of a learner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FitFault {
    Correct,
    UnknownCapability,
    NoDoc,
    RefusesEndOfRange,
    NeedsThreeRows,
    NeedsTwoInputs,
    DividesByRange,
    RefusesRepeatedRows,
    RefusesLargeBatch,
    SkipsShortBatch,
    LeavesOutNan,
    DrawsOn,
    ReportsMore,
    DrawsFirst,
    ForgetsAtPause,
    ForgetsVelocity,
    LoadsAnything,
    KeepsVelocity,
    WritesTargets,
    CountsPredictions,
    NegativeFar,
    ShrinksVariance,
    WrongConstant,
    Drifts,
    LearnsNothing,
    ChargesNothing,
    CountsCalls,
    DependsOnProcess,
    HidesSeed,
    SumsByThreads,
    SharesVelocity,
    AbortsUnused,
    Leaks,
    LeavesThreads,
    FlushesToZero,
    RaisesBlas,
    Prints,
}

/// A mutant: the constants that distinguish one type of learner from the others.
pub(crate) trait FitMutant: 'static {
    /// Id of the learner.
    const ID: &'static str;
    /// One line of documentation.
    const DOC: &'static str;
    /// Its fault.
    const FAULT: FitFault;
    /// The capabilities that it claims.
    const CAPABILITIES: Capabilities = Capabilities::KERNEL;
}

/// Declares mutants and the list of their tables.
macro_rules! mutants {
    ($($fault:ident = $id:literal, $doc:literal;)+) => {
        $(
            #[doc = $doc]
            pub(crate) struct $fault;

            impl FitMutant for $fault {
                const ID: &'static str = $id;
                const DOC: &'static str = $doc;
                const FAULT: FitFault = FitFault::$fault;
            }
        )+

        /// The tables as the SDK makes them, each with its fault.
        pub(crate) fn tables() -> Vec<(FitFault, gpbench_sdk::abi::Learner)> {
            vec![$((
                FitFault::$fault,
                gpbench_sdk::export::learner::<crate::learner::Descent<$fault>>(),
            )),+]
        }
    };
}

mutants! {
    Correct = "fit-correct", "Keeps every rule";
    UnknownCapability = "fit-unknown-capability", "Sets a capability that does not exist";
    NoDoc = "fit-no-doc", "(removed)";
    RefusesEndOfRange = "fit-refuses-end-of-range", "Refuses the largest value of a parameter";
    NeedsThreeRows = "fit-needs-three-rows", "Refuses two rows";
    NeedsTwoInputs = "fit-needs-two-inputs", "Refuses one input";
    DividesByRange = "fit-divides-by-range", "Divides by the range of each input";
    RefusesRepeatedRows = "fit-refuses-repeated-rows", "Refuses rows that occur twice";
    RefusesLargeBatch = "fit-refuses-large-batch", "Refuses a batch larger than the data";
    SkipsShortBatch = "fit-skips-short-batch", "Draws again where a batch is short";
    LeavesOutNan = "fit-leaves-out-nan", "Takes targets that are not numbers for 0";
    DrawsOn = "fit-draws-on", "Draws a hundred times more after it was told to stop";
    ReportsMore = "fit-reports-more", "Reports a step more than it took";
    DrawsFirst = "fit-draws-first", "Draws other rows before it knows whether it may take a step";
    ForgetsAtPause = "fit-forgets-at-pause", "Forgets its velocity when it pauses";
    ForgetsVelocity = "fit-forgets-velocity", "Does not save its velocity";
    LoadsAnything = "fit-loads-anything", "Begins where it cannot load";
    KeepsVelocity = "fit-keeps-velocity", "Keeps its velocity when it begins again";
    WritesTargets = "fit-writes-targets", "Writes into the targets of 77 rows";
    CountsPredictions = "fit-counts-predictions", "Predicts by the place of a row among the others";
    NegativeFar = "fit-negative-far", "Predicts negative variances far from the data";
    ShrinksVariance = "fit-shrinks-variance", "Predicts smaller variances than its model";
    WrongConstant = "fit-wrong-constant", "Reports its objective without a constant";
    Drifts = "fit-drifts", "Adds to the noise in each step";
    LearnsNothing = "fit-learns-nothing", "Predicts the mean of the targets, and puts no model";
    ChargesNothing = "fit-charges-nothing", "Does not report kernel entries";
    CountsCalls = "fit-counts-calls", "Depends on the number of fits before";
    DependsOnProcess = "fit-depends-on-process", "Depends on the identifier of its process";
    HidesSeed = "fit-hides-seed", "Depends on the seed without saying so";
    SumsByThreads = "fit-sums-by-threads", "Depends on the number of threads";
    SharesVelocity = "fit-shares-velocity", "Keeps its velocity in a global variable";
    AbortsUnused = "fit-aborts-unused", "Aborts when destroyed before its first step";
    Leaks = "fit-leaks", "Never frees its work arrays";
    LeavesThreads = "fit-leaves-threads", "Leaves a helping thread behind after each fit";
    FlushesToZero = "fit-flushes-to-zero", "Leaves small numbers being flushed to zero";
    RaisesBlas = "fit-raises-blas", "Leaves BLAS with more threads";
    Prints = "fit-prints", "Prints a line";
}
