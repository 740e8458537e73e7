//! Columns of the tables of a frame, with their documentation.

/// The column with the whole case as JSON, in the file alone.
pub(crate) const CASE: &str = "case";

/// The columns of `results.parquet` that are not metrics, with their documentation. A name that ends in `*` stands for several.
pub const COLUMNS: &[(&str, &str)] = &[
    ("id", "16 hexadecimal digits of a hash of everything that can change the result."),
    ("dataset", "Data set, as named in the spec."),
    ("kernel", "Kernel, as named in the spec."),
    ("estimator", "Estimator, as named in the spec; null for a task that has none."),
    ("solver", "Solver or learner, as named in the spec; of a list of values, `NAME@PARAMETER=VALUE`."),
    ("seed", "The spec's seed of the case."),
    ("repeat", "Count of timing repeats, from 0."),
    ("status", "ok, not_converged, diverged, timeout, out_of_memory, crashed, invalid or skipped."),
    ("reason", "One sentence; empty where `ok` needs none."),
    ("plugin", "Id of the solver or learner that a plugin offers."),
    ("n", "Training rows."),
    ("d", "Inputs."),
    ("tolerance", "Relative residual norm to reach; null without one."),
    ("max_epochs", "Most epochs, multiples of n^2 kernel entries; null without a bound."),
    (
        "kernel.*",
        "A hyperparameter that the case begins with, given or the start of training: noise_scale, signal_scale, length_scale or length_scale_K of input K.",
    ),
    (
        "learned.*",
        "The same hyperparameters as training or learning ended with; null for a task that learns none.",
    ),
    (
        "units.*",
        "The hyperparameters of the result, learned or else given, in the units of the user's own file: noise_scale, signal_scale and mean in those of the target, length_scale.COLUMN in those of each input.",
    ),
    (
        "target_scale",
        "What the target of the user's own file was divided by: `test_rmse_units` over `test_rmse`.",
    ),
    (
        "params.*",
        "A parameter of the solver or learner, defaults included; null where it has none of this name.",
    ),
    ("reproducible", "False if a clock decided where the solver stopped."),
    ("reused_from", "The run in which the case ran, where its row is re-used or merged; else null."),
    (
        "environment",
        "16 hexadecimal digits that stand for the machine and the build that the case ran on: seconds of different ones cannot be compared.",
    ),
    ("node", "The node of a cluster that the case ran on; else null."),
    ("shared", "Whether other jobs could run on that node at the same time; null where there is none."),
    ("suspended_seconds", "Seconds for which the case's job was suspended; null where there is none."),
    ("finished", "UTC time at which the case ended."),
    ("case", "The whole case as JSON: everything that the spec says of it. Not in `results.csv`."),
];

/// Columns of the tables of trace points and of steps that name the case; [`COLUMNS`] documents them.
const OF_CASE: (&str, &str) =
    ("id, dataset, kernel, estimator, solver, seed, repeat", "The case, as in `results.parquet`.");

/// The columns of `traces.parquet` that are not metrics, with their documentation.
pub(crate) const TRACE_COLUMNS: &[(&str, &str)] = &[
    OF_CASE,
    ("iteration", "The solver's count of iterations."),
    ("seconds", "Wall-clock seconds of prepare and solve so far, without evaluations."),
    ("epochs", "Multiples of n^2 kernel entries used so far."),
    ("solver:*", "A number that the solver reports of itself; the harness does not check it."),
];

/// The columns of `steps.parquet` that are not metrics, with their documentation.
pub(crate) const STEP_COLUMNS: &[(&str, &str)] = &[
    OF_CASE,
    ("step", "Count of steps, from 0."),
    (
        "noise_scale, signal_scale, length_scale, length_scale_*",
        "The hyperparameters of the step's systems; `length_scale_K` is that of input K, counted from 0.",
    ),
];

/// The columns of `predictions.parquet`, with their documentation.
pub(crate) const PREDICTION_COLUMNS: &[(&str, &str)] = &[
    OF_CASE,
    (
        "row",
        "Number of the test row in the file that holds it, counted from 0 without the header; of a set that is drawn, its place.",
    ),
    ("row_id", "Text of the row in the column that the spec names as `id`; null where it names none."),
    ("target", "Target, in the units of the file, as all columns that follow."),
    ("mean", "Predictive mean."),
    (
        "deviation",
        "Standard deviation of the predicted target, observation noise included; null without variances.",
    ),
    (
        "latent_deviation",
        "Standard deviation of the latent function, without noise; null where it is not known, as for predictions that are a learner's own.",
    ),
    ("lower_95", "Lower limit of the central 95 % interval of the predicted target: mean - 1.96 deviation."),
    ("upper_95", "Upper limit of that interval."),
];
