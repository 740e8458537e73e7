//! The faults, and a type of solver for each.

use gpbench_sdk::Capabilities;

/// The fault of a mutant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    UnknownCapability,
    ReservedField,
    NoDoc,
    ParameterWithoutDoc,
    RefusesEndOfRange,
    ForgetsOnlyRow,
    ProbesAlone,
    FirstTargetAlone,
    SixtyFourColumns,
    ZeroOverZero,
    IgnoresDistance,
    Lax,
    Flatters,
    ClaimsExact,
    LeavesOutNan,
    HangsOnNan,
    NanPasses,
    ClaimsAtLimit,
    TinyIsZero,
    NeedsSortedRows,
    ScaleOfFirst,
    PretendsWarmStart,
    AddsToStart,
    IgnoresCharge,
    AsksOn,
    StepsUnpaid,
    StepsOn,
    IgnoresStop,
    StaleIterate,
    RestartsWhenWatched,
    WritesRightHandSide,
    WritesInPrepare,
    CountsCalls,
    DependsOnProcess,
    HidesSeed,
    SumsByThreads,
    Accumulates,
    KeepsPreparation,
    FirstSizes,
    SharesState,
    AbortsUnused,
    Leaks,
    LeavesThreads,
    FlushesToZero,
    RaisesBlas,
    Prints,
}

/// A mutant: the constants that distinguish one type of solver from the others.
pub(crate) trait Mutant: 'static {
    /// Id of the solver.
    const ID: &'static str;
    /// One line of documentation.
    const DOC: &'static str;
    /// Its fault.
    const FAULT: Fault;
    /// The capabilities that it claims.
    const CAPABILITIES: Capabilities = Capabilities::WARM_START;
}

/// Declares mutants and the list of their tables.
macro_rules! mutants {
    ($($fault:ident = $id:literal, $doc:literal $(, $capabilities:expr)?;)+) => {
        $(
            #[doc = $doc]
            pub(crate) struct $fault;

            impl Mutant for $fault {
                const ID: &'static str = $id;
                const DOC: &'static str = $doc;
                const FAULT: Fault = Fault::$fault;
                $(const CAPABILITIES: Capabilities = $capabilities;)?
            }
        )+

        /// The tables as the SDK makes them, each with its fault.
        pub(crate) fn tables() -> Vec<(Fault, gpbench_sdk::abi::Solver)> {
            vec![$((Fault::$fault, gpbench_sdk::export::solver::<crate::solver::Cg<$fault>>())),+]
        }
    };
}

mutants! {
    None = "correct", "Keeps every rule";
    UnknownCapability = "unknown-capability", "Sets a capability that does not exist";
    ReservedField = "reserved-field", "Uses a reserved field";
    NoDoc = "no-doc", "(removed)";
    ParameterWithoutDoc = "parameter-without-doc", "Has a parameter without documentation";
    RefusesEndOfRange = "refuses-end-of-range", "Refuses the largest value of a parameter";
    ForgetsOnlyRow = "forgets-only-row", "Does nothing where there is only one row";
    ProbesAlone = "probes-alone", "Watches the probes alone, even where there are none";
    FirstTargetAlone = "first-target-alone", "Does not watch the targets after the first";
    SixtyFourColumns = "sixty-four-columns", "Solves for 64 columns at most";
    ZeroOverZero = "zero-over-zero", "Divides by the norm of a right-hand side of zeros";
    IgnoresDistance = "ignores-distance", "Takes the columns of the iterate to be adjacent";
    Lax = "lax", "Stops at ten times the tolerance";
    Flatters = "flatters", "Claims a tenth of its residual norms";
    ClaimsExact = "claims-exact", "Claims to be exact", Capabilities::EXACT;
    LeavesOutNan = "leaves-out-nan", "Leaves out right-hand sides that are not finite";
    HangsOnNan = "hangs-on-nan", "Waits for NaN to become small";
    NanPasses = "nan-passes", "Takes a residual norm that is not a number for small, unless a right-hand side is not one";
    ClaimsAtLimit = "claims-at-limit", "Claims convergence when it gives up";
    TinyIsZero = "tiny-is-zero", "Takes small right-hand sides for zero";
    NeedsSortedRows = "needs-sorted-rows", "Relies on rows in the order of their first input";
    ScaleOfFirst = "scale-of-first", "Measures every column by the norm of the first";
    PretendsWarmStart = "pretends-warm-start", "Starts from zero whatever it is given";
    AddsToStart = "adds-to-start", "Adds the solution to what it starts from", Capabilities::NONE;
    IgnoresCharge = "ignores-charge", "Evaluates entries by itself, whatever the budget";
    AsksOn = "asks-on", "Asks a thousand times more for what was refused";
    StepsUnpaid = "steps-unpaid", "Takes a first step without a budget";
    StepsOn = "steps-on", "Takes a further step when its budget is spent";
    IgnoresStop = "ignores-stop", "Does not listen to the answer of an observation";
    StaleIterate = "stale-iterate", "Does not hand its iterate over when asked";
    RestartsWhenWatched = "restarts-when-watched", "Restarts when asked for its iterate";
    WritesRightHandSide = "writes-right-hand-side", "Uses the right-hand sides as a work array";
    WritesInPrepare = "writes-in-prepare", "Clears the iterate during prepare", Capabilities::NONE;
    CountsCalls = "counts-calls", "Depends on the number of solves before";
    DependsOnProcess = "depends-on-process", "Depends on the identifier of its process";
    HidesSeed = "hides-seed", "Depends on the seed without saying so";
    SumsByThreads = "sums-by-threads", "Splits sums by the number of threads";
    Accumulates = "accumulates", "Adds to the solution of its last solve";
    KeepsPreparation = "keeps-preparation", "Keeps what it prepared first";
    FirstSizes = "first-sizes", "Has room for the columns that it got ready for first";
    SharesState = "shares-state", "Keeps its preparation in a global variable";
    AbortsUnused = "aborts-unused", "Aborts when destroyed between prepare and solve";
    Leaks = "leaks", "Never frees its work arrays";
    LeavesThreads = "leaves-threads", "Leaves a helping thread behind after each solve";
    FlushesToZero = "flushes-to-zero", "Leaves small numbers being flushed to zero";
    RaisesBlas = "raises-blas", "Leaves BLAS with more threads";
    Prints = "prints", "Prints a line";
}
