//! The list of metrics.
//!
//! An entry has the metric's documentation, its constant in [`names`] and its name; then its title, the label of its
//! axis, its unit, style and direction, the tasks that have it, the tasks whose results table has it as a column
//! (both from `task_sets.rs`), the absolute and the relative tolerance, and the places where it is shown.

use super::declare::metrics;

metrics! {
    /// Largest value of the objective, without noise, at all points of the design and of the steps.
    BEST = "best", "best", "largest value of the objective",
        One, Fixed, Higher, THOMPSON, THOMPSON, 1e-6, 0.01, [Best, Steps, Compare, Progress, Baseline];
    /// `best` less the best value of a random search with as many points.
    GAIN = "gain", "gain", "gain over random search",
        One, Fixed, Higher, THOMPSON, THOMPSON, 1e-6, 0.02, [Best, Own, Compare, Baseline];
    /// Mean of `best` over the steps: it rewards finding large values early.
    AREA = "area", "area", "mean of the largest value over the steps",
        One, Fixed, Higher, THOMPSON, THOMPSON, 1e-6, 0.01, [Best];
    /// True relative residual norm of y.
    RESIDUAL_Y = "residual_y", "residual y", "relative residual of y",
        One, Scientific, Lower, SOLVING, SOLVING, 1e-9, 0.1, [Best, Trace, Steps, Compare, Progress, Baseline];
    /// Mean of the true relative residual norms of the probes.
    RESIDUAL_PROBES = "residual_probes", "residual probes", "mean relative residual of the probes",
        One, Scientific, Lower, SOLVING, SOLVING, 1e-9, 0.1, [Wide, Best, Steps, Progress, Baseline];
    /// Largest true relative residual norm of all right-hand sides.
    RESIDUAL_MAX = "residual_max", "largest residual", "largest relative residual",
        One, Scientific, Lower, SOLVING, NOWHERE, 1e-9, 0.1, [Baseline];
    /// Exact negative log marginal likelihood over n, of the hyperparameters and features that were learned.
    NLML = "nlml", "NLML", "NLML per row",
        Nats, Fixed, Lower, LEARN, LEARN, 0.01, 0.01, [Best, Steps, Compare, Baseline];
    /// The bound on the log marginal likelihood of a learner or of estimator `cglb`, negative and over n, over all
    /// training rows.
    BOUND = "bound", "bound", "negative bound per row",
        Nats, Fixed, Lower, FITTED, NOWHERE, 0.01, 0.01, [Steps, Baseline];
    /// What that bound of `cglb` loses at most because the system for y is not solved exactly.
    BOUND_GAP = "bound_gap", "gap of the bound", "largest loss of the bound by the residual",
        Nats, Scientific, Lower, TRAIN, NOWHERE, 0.0, 0.1, [Steps];
    /// Prior variance that the inducing points of `cglb` leave unexplained, mean over the training rows.
    UNEXPLAINED_VARIANCE = "unexplained_variance", "unexplained variance", "unexplained variance per row",
        One, Scientific, Lower, TRAIN, NOWHERE, 0.0, 0.1, [Steps];
    /// Root mean square error of the predictive mean on the test rows, in units of the scaled target.
    TEST_RMSE = "test_rmse", "test RMSE", "test RMSE",
        One, Fixed, Lower, PREDICTING, PREDICTING, 1e-4, 0.005, [Best, Trace, Steps, Trained, Compare, Progress, Baseline];
    /// `test_rmse` in the units of the target's column; of a user's own file.
    TEST_RMSE_UNITS = "test_rmse_units", "RMSE in units", "test RMSE in the units of the target",
        One, Short, Lower, PREDICTING, PREDICTING, 0.0, 0.005, [Wide];
    /// Mean negative log-likelihood of the test targets under the predicted means and variances, noise included.
    TEST_NLL = "test_nll", "test NLL", "test NLL",
        Nats, Fixed, Lower, PREDICTING, PREDICTING, 0.01, 0.01, [Best, Trace, Steps, Trained, Compare, Baseline];
    /// Root mean square error on the validation rows.
    VALIDATION_RMSE = "validation_rmse", "validation RMSE", "validation RMSE",
        One, Fixed, Lower, LEARN, NOWHERE, 1e-4, 0.005, [Steps];
    /// Mean negative log-likelihood of the validation rows.
    VALIDATION_NLL = "validation_nll", "validation NLL", "validation NLL",
        Nats, Fixed, Lower, LEARN, NOWHERE, 0.01, 0.01, [Steps];
    /// Mean test negative log-likelihood of the exact Gaussian process.
    TEST_NLL_EXACT = "test_nll_exact", "exact NLL", "test NLL of the exact GP",
        Nats, Fixed, Neither, OF_ROWS, OF_ROWS, 0.0, 0.1, [Wide];
    /// Share of the test rows within the central 50 % intervals of their predictive distributions, noise included.
    COVERAGE_50 = "coverage_50", "coverage 50 %", "coverage of 50 % intervals",
        One, Fixed, Neither, PREDICTING, NOWHERE, 0.01, 0.0, [Calibration];
    /// Share of the test rows within the central 90 % intervals.
    COVERAGE_90 = "coverage_90", "coverage 90 %", "coverage of 90 % intervals",
        One, Fixed, Neither, PREDICTING, NOWHERE, 0.01, 0.0, [Calibration];
    /// Share of the test rows within the central 95 % intervals of their predictive distributions, noise included.
    COVERAGE_95 = "coverage_95", "coverage 95 %", "coverage of 95 % intervals",
        One, Fixed, Neither, PREDICTING, PREDICTING, 0.01, 0.0, [Wide, Calibration];
    /// `coverage_95` of the exact Gaussian process.
    COVERAGE_95_EXACT = "coverage_95_exact", "exact coverage 95 %", "coverage of the exact GP's 95 % intervals",
        One, Fixed, Neither, TO_EXACT, TO_EXACT, 0.0, 0.1, [Wide, Own];
    /// Mean width of the central 50 % intervals, in units of the scaled target.
    WIDTH_50 = "width_50", "width 50 %", "width of 50 % intervals",
        One, Fixed, Neither, PREDICTING, NOWHERE, 1e-4, 0.01, [Calibration];
    /// Mean width of the central 90 % intervals, in units of the scaled target.
    WIDTH_90 = "width_90", "width 90 %", "width of 90 % intervals",
        One, Fixed, Neither, PREDICTING, NOWHERE, 1e-4, 0.01, [Calibration];
    /// Mean width of the central 95 % intervals, in units of the scaled target.
    WIDTH_95 = "width_95", "width 95 %", "width of 95 % intervals",
        One, Fixed, Neither, PREDICTING, NOWHERE, 1e-4, 0.01, [Calibration];
    /// Mean continuous ranked probability score of the test targets under their predictive distributions, noise included,
    /// in units of the scaled target (Gneiting and Raftery 2007).
    CRPS = "crps", "CRPS", "continuous ranked probability score",
        One, Fixed, Lower, PREDICTING, NOWHERE, 1e-4, 0.005, [Best, Calibration];
    /// Mean square error of the predictive mean on the test rows over the variance of their targets.
    SMSE = "smse", "SMSE", "standardised mean square error",
        One, Short, Lower, PREDICTING, NOWHERE, 1e-6, 0.01, [Best, Calibration];
    /// `test_nll` less that of a normal distribution with the mean and variance of the training targets: negative values
    /// are better than that.
    MSLL = "msll", "MSLL", "mean standardised log loss",
        Nats, Fixed, Lower, PREDICTING, NOWHERE, 0.01, 0.01, [Best, Calibration];
    /// Mean square error of the test rows in predictive standard deviations, noise included: above 1 where variances are
    /// too small.
    Z_SQUARED = "z_squared", "mean z²", "mean square error in standard deviations",
        One, Short, Neither, PREDICTING, NOWHERE, 0.01, 0.02, [Calibration];
    /// Mean of |coverage - q| over the central intervals of probability q = 0.05, 0.10, ... 0.95.
    CALIBRATION_ERROR = "calibration_error", "calibration error", "mean distance of coverage to probability",
        One, Fixed, Lower, PREDICTING, NOWHERE, 0.002, 0.05, [Best, Calibration];
    /// `coverage_50` of the exact Gaussian process.
    COVERAGE_50_EXACT = "coverage_50_exact", "exact coverage 50 %", "coverage of the exact GP's 50 % intervals",
        One, Fixed, Neither, TO_EXACT, NOWHERE, 0.0, 0.1, [Own];
    /// `coverage_90` of the exact Gaussian process.
    COVERAGE_90_EXACT = "coverage_90_exact", "exact coverage 90 %", "coverage of the exact GP's 90 % intervals",
        One, Fixed, Neither, TO_EXACT, NOWHERE, 0.0, 0.1, [Own];
    /// `width_50` of the exact Gaussian process.
    WIDTH_50_EXACT = "width_50_exact", "exact width 50 %", "width of the exact GP's 50 % intervals",
        One, Fixed, Neither, TO_EXACT, NOWHERE, 0.0, 0.1, [Own];
    /// `width_90` of the exact Gaussian process.
    WIDTH_90_EXACT = "width_90_exact", "exact width 90 %", "width of the exact GP's 90 % intervals",
        One, Fixed, Neither, TO_EXACT, NOWHERE, 0.0, 0.1, [Own];
    /// `width_95` of the exact Gaussian process.
    WIDTH_95_EXACT = "width_95_exact", "exact width 95 %", "width of the exact GP's 95 % intervals",
        One, Fixed, Neither, TO_EXACT, NOWHERE, 0.0, 0.1, [Own];
    /// `crps` of the exact Gaussian process.
    CRPS_EXACT = "crps_exact", "exact CRPS", "CRPS of the exact GP",
        One, Fixed, Neither, TO_EXACT, NOWHERE, 0.0, 0.1, [Own];
    /// `smse` of the exact Gaussian process.
    SMSE_EXACT = "smse_exact", "exact SMSE", "SMSE of the exact GP",
        One, Short, Neither, TO_EXACT, NOWHERE, 0.0, 0.1, [Own];
    /// `msll` of the exact Gaussian process.
    MSLL_EXACT = "msll_exact", "exact MSLL", "MSLL of the exact GP",
        Nats, Fixed, Neither, TO_EXACT, NOWHERE, 0.0, 0.1, [Own];
    /// `z_squared` of the exact Gaussian process.
    Z_SQUARED_EXACT = "z_squared_exact", "exact mean z²", "mean z² of the exact GP",
        One, Short, Neither, TO_EXACT, NOWHERE, 0.0, 0.1, [Own];
    /// `calibration_error` of the exact Gaussian process.
    CALIBRATION_ERROR_EXACT = "calibration_error_exact", "exact calibration error", "calibration error of the exact GP",
        One, Fixed, Neither, TO_EXACT, NOWHERE, 0.0, 0.1, [Own];
    /// Root mean square distance of the predictive mean to the exact one.
    RMSE_TO_EXACT = "rmse_to_exact", "RMSE to exact", "RMSE to the exact mean",
        One, Scientific, Lower, TO_EXACT, POSTERIOR, 1e-4, 0.1, [Best, Trace, Baseline];
    /// Log marginal likelihood of the exact Gaussian process.
    LOG_MARGINAL_LIKELIHOOD = "log_marginal_likelihood", "log likelihood", "exact log likelihood",
        Nats, Short, Neither, HAS_LIKELIHOOD, TRAIN, 0.0, 0.1, [Steps];
    /// How far the exact log marginal likelihood of the learned hyperparameters is below the optimum, the greatest one that
    /// a search from several starts finds, over n. In tables and charts it is never negative: where a case does better than
    /// the search, distances are those to that case.
    OPTIMUM_DISTANCE = "optimum_distance", "distance to optimum", "distance to the optimum",
        Nats, Short, Lower, FITTED, FITTED, 1e-4, 0.1, [Best, Steps, Own, Baseline];
    /// By how much the best case exceeds that optimum, in log likelihood per row; absent where none does: derived by
    /// reports, not recorded.
    OPTIMUM_EXCEEDED = "optimum_exceeded", "above optimum", "log likelihood per row above the optimum",
        Nats, Short, Neither, FITTED, NOWHERE, 0.0, 0.1, [Own];
    /// The log marginal likelihood of that optimum.
    OPTIMUM_LIKELIHOOD = "optimum_log_likelihood", "likelihood of optimum", "log likelihood of the optimum",
        Nats, Short, Neither, FITTED, NOWHERE, 0.0, 0.1, [];
    /// Estimate of the rounding error in the log marginal likelihood of the exact reference, over its magnitude: what
    /// is called exact is not known better than this. Absent below 1e-6.
    EXACT_ERROR = "exact_error", "rounding of exact", "relative rounding error of the exact likelihood",
        One, Scientific, Lower, HAS_LIKELIHOOD, NOWHERE, 0.0, 0.1, [];
    /// Outer steps taken.
    STEPS = "steps", "steps", "outer steps",
        Count, Short, Neither, STEPPING, STEPPING, 0.0, 0.1, [];
    /// Fits of parts of the data, with whose average training began, that ended without converging.
    UNCONVERGED_FITS = "unconverged_fits", "unconverged fits", "fits without convergence",
        Count, Short, Lower, TRAIN, NOWHERE, 0.0, 0.1, [];
    /// Gain of the log marginal likelihood, or of the bound that is maximised, around a step: half of its gradient times
    /// the change from the step before to the step after.
    LIKELIHOOD_GAIN = "likelihood_gain", "likelihood gain", "gain of the log likelihood by the gradient",
        Nats, Short, Neither, TRAIN, NOWHERE, 0.0, 0.1, [Own];
    /// Tolerance of a step's solve, where the estimator sets it in place of the budget.
    STEP_TOLERANCE = "step_tolerance", "tolerance of the step", "tolerance of the step's solve",
        One, Scientific, Neither, TRAIN, NOWHERE, 0.0, 0.1, [Own];
    /// Exact log marginal likelihood per row, on at most 512 training rows, of the best of some starts that are made
    /// from the data, less that of the given, trained or learned hyperparameters: above 0 where they are worse than
    /// that start.
    BELOW_START = "below_start", "below a start", "nats per row below a start from the data",
        Nats, Fixed, Lower, HAS_HYPERPARAMETERS, NOWHERE, 0.01, 0.1, [];
    /// Passes over the training rows: rows of the first stream of minibatches over n.
    PASSES = "passes", "passes", "passes over the training rows",
        Count, Short, Lower, LEARN, LEARN, 0.0, 0.1, [Steps, Compare, Baseline];
    /// Rows used, of all streams and charges.
    ROWS = "rows", "rows", "rows used",
        Count, Short, Lower, LEARN, NOWHERE, 0.0, 0.1, [];
    /// Rows taken through the network or the features.
    FEATURE_ROWS = "feature_rows", "feature rows", "feature rows",
        Count, Short, Lower, LEARN, NOWHERE, 0.0, 0.1, [];
    /// Kernel entries used over n^2.
    EPOCHS = "epochs", "epochs", "epochs (n² kernel entries)",
        Epochs, Short, Lower, ALL, SOLVING, 1.0, 0.1, [Best, Steps, Compare, Baseline];
    /// Iterations, as the solver counts them; of a learner, its steps.
    ITERATIONS = "iterations", "iterations", "iterations",
        Count, Short, Lower, ALL, SOLVING, 1.0, 0.1, [Wide, Steps, Baseline];
    /// Wall-clock seconds of a step of the learner, on average.
    SECONDS_PER_STEP = "seconds_per_step", "step [s]", "seconds a step",
        Seconds, Short, Lower, LEARN, LEARN, 0.0, 0.1, [Best];
    /// Wall-clock seconds of all outer steps: prepare, solve, right-hand sides and gradients.
    SECONDS_TRAIN = "seconds_train", "train [s]", "seconds of training",
        Seconds, Short, Lower, TRAIN, TRAIN, 0.0, 0.1, [Best, Trained];
    /// Wall-clock seconds of prepare; of a learner, of begin.
    SECONDS_PREPARE = "seconds_prepare", "prepare [s]", "seconds of prepare",
        Seconds, Short, Lower, ALL, SOLVE_POSTERIOR, 0.0, 0.1, [Wide];
    /// Wall-clock seconds of solve; of a learner, of its steps.
    SECONDS_SOLVE = "seconds_solve", "solve [s]", "seconds of solve",
        Seconds, Short, Lower, ALL, SOLVE_POSTERIOR, 0.0, 0.1, [Wide];
    /// Wall-clock seconds of prepare and solve together, or of a learner's begin and steps: derived by reports, not
    /// recorded.
    SECONDS = "seconds", "total [s]", "seconds (prepare + solve)",
        Seconds, Short, Lower, ALL, TIMED, 1e-3, 0.1, [Best, Compare, Progress];
    /// Wall-clock seconds of all values of the grid that a case was chosen from: derived by reports, not recorded.
    SECONDS_GRID = "seconds_grid", "whole grid [s]", "seconds of the whole grid",
        Seconds, Short, Lower, LEARN, LEARN, 0.0, 0.1, [];
    /// Wall-clock seconds until the run's target is reached for good, at the first evaluation that says so: derived
    /// by reports, not recorded.
    SECONDS_TO_TARGET = "seconds_to_target", "to target [s]", "seconds to the target",
        Seconds, Short, Lower, TARGETED, NOWHERE, 1e-3, 0.1, [Own, Compare];
    /// Epochs until the run's target is reached for good, at the first evaluation that says so: derived by reports,
    /// not recorded.
    EPOCHS_TO_TARGET = "epochs_to_target", "epochs to target", "epochs to the target",
        Epochs, Short, Lower, TARGETED, NOWHERE, 1.0, 0.3, [Own, Compare, Baseline];
    /// Peak resident memory of the worker process and its children: the sum of their peaks, less what they share.
    PEAK_MEMORY_BYTES = "peak_memory_bytes", "memory [MiB]", "peak memory",
        Bytes, Memory, Lower, ALL, SOLVE_POSTERIOR, 0.0, 0.1, [Best];
    /// Test RMSE of the exact Gaussian process.
    TEST_RMSE_EXACT = "test_rmse_exact", "exact RMSE", "test RMSE of the exact GP",
        One, Fixed, Neither, OF_ROWS, NOWHERE, 0.0, 0.1, [];
    /// Root mean square 2-Wasserstein distance between predicted and exact latent marginals.
    W2_TO_EXACT = "w2_to_exact", "W2 to exact", "2-Wasserstein distance to the exact marginals",
        One, Scientific, Lower, TO_EXACT, NOWHERE, 1e-4, 0.1, [];
    /// ||v - v*||_2 of the representer weights of y.
    WEIGHT_ERROR = "weight_error", "weight error", "weight error ||v − v*||₂",
        One, Scientific, Lower, SOLVE_POSTERIOR, NOWHERE, 0.0, 0.1, [Trace];
    /// ||v - v*||_K of the representer weights of y.
    RKHS_ERROR = "rkhs_error", "RKHS error", "RKHS error ||v − v*||_K",
        One, Scientific, Lower, SOLVE_POSTERIOR, NOWHERE, 0.0, 0.1, [Trace];
    /// The solver's own relative residual norm of y.
    CLAIMED_Y = "claimed_residual_y", "claimed residual y", "claimed relative residual of y",
        One, Scientific, Neither, SOLVING, NOWHERE, 0.0, 0.1, [Trace];
    /// The solver's own mean relative residual norm of the probes.
    CLAIMED_PROBES = "claimed_residual_probes", "claimed residual probes", "claimed mean residual of the probes",
        One, Scientific, Neither, SOLVING, NOWHERE, 0.0, 0.1, [];
    /// The learner's own objective at its last step.
    CLAIMED_OBJECTIVE = "claimed_objective", "claimed objective", "objective of the learner",
        One, Short, Neither, LEARN, NOWHERE, 0.0, 0.1, [Steps];
    /// Test RMSE of the learner's own predictions.
    CLAIMED_TEST_RMSE = "claimed_test_rmse", "claimed RMSE", "test RMSE, as the learner predicts",
        One, Fixed, Neither, LEARN, NOWHERE, 0.0, 0.1, [];
    /// Test negative log-likelihood of the learner's own predictions.
    CLAIMED_TEST_NLL = "claimed_test_nll", "claimed NLL", "test NLL, as the learner predicts",
        Nats, Fixed, Neither, LEARN, NOWHERE, 0.0, 0.1, [];
    /// Outputs of the learned network that are 0 in all training rows, so that the kernel does not see them.
    DEAD_FEATURES = "dead_features", "dead features", "outputs of the network that are always 0",
        Count, Short, Lower, LEARN, NOWHERE, 0.0, 0.1, [];
    /// Largest distance of the learner's predictions to those of its model: of means over the targets' standard
    /// deviation, or of variances over the variance.
    PREDICTION_GAP = "prediction_gap", "prediction gap", "distance to the model's predictions",
        One, Scientific, Lower, LEARN, NOWHERE, 1e-9, 0.1, [];
    /// The part of `epochs` spent in prepare, or in a learner's begin.
    EPOCHS_SETUP = "epochs_setup", "setup epochs", "epochs of prepare",
        Epochs, Short, Lower, ALL, NOWHERE, 0.0, 0.1, [];
    /// Kernel entries evaluated over n^2.
    EPOCHS_EVALUATED = "epochs_evaluated", "evaluated epochs", "epochs evaluated",
        Epochs, Short, Lower, ALL, NOWHERE, 0.0, 0.1, [];
    /// Kernel entries that products found in memory, and would have evaluated otherwise, over n^2.
    EPOCHS_FOUND = "epochs_found", "epochs found in memory", "epochs found in memory",
        Epochs, Short, Neither, GIVEN_KERNEL, NOWHERE, 0.0, 0.1, [Own];
    /// The part of `epochs` that the plugin reported by itself.
    EPOCHS_SELF_REPORTED = "epochs_self_reported", "self-reported epochs", "epochs reported by the plugin",
        Epochs, Short, Neither, ALL, NOWHERE, 0.0, 0.1, [];
    /// Wall-clock seconds of a worker before its work: program, data set, plugin.
    SECONDS_STARTUP = "seconds_startup", "start-up [s]", "seconds of start-up",
        Seconds, Short, Lower, ALL, NOWHERE, 0.0, 0.1, [];
    /// Wall-clock seconds until the plugin has its first object, before it gets any data: of a script, those of starting its
    /// interpreter and of its imports. They are no part of `seconds`.
    SECONDS_IMPORT = "seconds_import", "import [s]", "seconds of import",
        Seconds, Short, Lower, ALL, NOWHERE, 0.0, 0.1, [];
    /// Wall-clock seconds in which the plugin got ready for problems of these sizes, without data: those of compiling, for
    /// instance. They are no part of `seconds`.
    SECONDS_WARM_UP = "seconds_warm_up", "warm-up [s]", "seconds of warm-up",
        Seconds, Short, Lower, ALL, NOWHERE, 0.0, 0.1, [];
    /// Memory that loading the plugin and making its first object took, before it got any data.
    MEMORY_IMPORT = "memory_import_bytes", "memory of import [MiB]", "memory of import",
        Bytes, Memory, Lower, ALL, NOWHERE, 0.0, 0.1, [];
    /// Wall-clock seconds of building what is solved: kernel, right-hand sides, exact reference.
    SECONDS_POSE = "seconds_pose", "building systems [s]", "seconds of building systems",
        Seconds, Short, Lower, ALL, NOWHERE, 0.0, 0.1, [];
    /// Processor seconds of prepare and solve, or of a learner's begin and steps; those of child processes included.
    CPU_SECONDS = "cpu_seconds", "processor time [s]", "processor seconds",
        Seconds, Short, Lower, ALL, NOWHERE, 0.0, 0.1, [];
    /// Wall-clock seconds of an outer step outside of the solver: right-hand sides and gradient.
    SECONDS_OUTER = "seconds_outer", "outer [s]", "seconds of right-hand sides and gradient",
        Seconds, Short, Lower, TRAIN, NOWHERE, 0.0, 0.1, [Steps];
    /// Wall-clock seconds of the systems solved for the prediction after training, or of a learner's predictions.
    SECONDS_PREDICT = "seconds_predict", "predict [s]", "seconds of the final prediction",
        Seconds, Short, Lower, FITTED, NOWHERE, 0.0, 0.1, [];
    /// Epochs of the systems solved for the prediction after training.
    EPOCHS_PREDICT = "epochs_predict", "epochs of prediction", "epochs of the final prediction",
        Epochs, Short, Lower, TRAIN, NOWHERE, 0.0, 0.1, [];
    /// Root mean square over the probes (over y where there are none) of |x_0 - x|_H, from where a step's solve
    /// started to where it ended.
    INITIAL_DISTANCE = "initial_distance", "initial distance", "initial distance |x₀ − x|_H",
        One, Short, Lower, TRAIN, NOWHERE, 0.0, 0.1, [Steps];
    /// Largest curvature of the quadratic that a step's solve minimises: the largest eigenvalue of H.
    CURVATURE_1 = "curvature_1", "curvature 1", "largest eigenvalue of H",
        One, Short, Neither, TRAIN, NOWHERE, 0.0, 0.1, [Own];
    /// Second largest curvature of that quadratic: the second largest eigenvalue of H.
    CURVATURE_2 = "curvature_2", "curvature 2", "second eigenvalue of H",
        One, Short, Neither, TRAIN, NOWHERE, 0.0, 0.1, [Own];
    /// Distance along the steepest direction from the solution to the start of the solve for the first probe.
    START_1 = "start_1", "start 1", "start along the first eigenvector",
        One, Short, Neither, TRAIN, NOWHERE, 0.0, 0.1, [Own];
    /// Distance along the second steepest direction from the solution to the start of the solve for the first probe.
    START_2 = "start_2", "start 2", "start along the second eigenvector",
        One, Short, Neither, TRAIN, NOWHERE, 0.0, 0.1, [Own];
    /// Independent estimates of the likelihood.
    REPETITIONS = "repetitions", "estimates", "estimates",
        Count, Short, Neither, LIKELIHOOD, NOWHERE, 0.0, 0.1, [Own];
    /// Mean of the estimates of y^T H^-1 y.
    QUADRATIC = "quadratic", "yᵀH⁻¹y", "yᵀH⁻¹y",
        One, Short, Neither, LIKELIHOOD, NOWHERE, 0.0, 0.1, [Own];
    /// Standard error of that mean.
    QUADRATIC_ERROR = "quadratic_standard_error", "standard error of yᵀH⁻¹y", "standard error of yᵀH⁻¹y",
        One, Short, Lower, LIKELIHOOD, NOWHERE, 0.0, 0.1, [Own];
    /// y^T H^-1 y.
    QUADRATIC_EXACT = "quadratic_exact", "exact yᵀH⁻¹y", "exact yᵀH⁻¹y",
        One, Short, Neither, LIKELIHOOD, NOWHERE, 0.0, 0.1, [Own];
    /// Mean of the estimates of log |H|.
    LOG_DET = "log_det", "log|H|", "log|H|",
        One, Short, Neither, LIKELIHOOD, NOWHERE, 0.0, 0.1, [Own];
    /// Standard error of that mean.
    LOG_DET_ERROR = "log_det_standard_error", "standard error of log|H|", "standard error of log|H|",
        One, Short, Lower, LIKELIHOOD, NOWHERE, 0.0, 0.1, [Own];
    /// log |H|.
    LOG_DET_EXACT = "log_det_exact", "exact log|H|", "exact log|H|",
        One, Short, Neither, LIKELIHOOD, NOWHERE, 0.0, 0.1, [Own];
    /// Norm of the mean gradient's distance to the exact one, over the exact one's norm.
    GRADIENT_BIAS = "gradient_bias", "gradient's bias", "relative bias of the gradient",
        One, Short, Lower, LIKELIHOOD, NOWHERE, 0.0, 0.1, [Own];
    /// Norm of the mean gradient's standard errors over the exact gradient's norm.
    GRADIENT_ERROR = "gradient_standard_error", "gradient's standard error", "relative standard error of the gradient",
        One, Short, Lower, LIKELIHOOD, NOWHERE, 0.0, 0.1, [Own];
    /// The largest distance, over the hyperparameters, of the mean gradient to the exact one in standard errors.
    GRADIENT_Z = "gradient_z", "largest z", "largest bias of a derivative in standard errors",
        One, Short, Lower, LIKELIHOOD, NOWHERE, 0.0, 0.1, [Own];
    /// Mean number of random features that an estimate took.
    FEATURES = "features", "features", "random features",
        Count, Short, Neither, BY_FEATURES, NOWHERE, 0.0, 0.1, [Own, Steps];
    /// Wall-clock seconds of the plugin that do not count as prepare or solve, or as a learner's begin and steps: of
    /// iterates that the trace asked for, and of calls beside the work, such as a learner's model or saved state. What
    /// exceeds 0.05 s and a twentieth of the counted time counts.
    SECONDS_ITERATES = "seconds_iterates", "uncounted [s]", "uncounted seconds of iterates and further calls",
        Seconds, Short, Lower, ALL, NOWHERE, 0.0, 0.1, [];
    /// Seconds from when a limit was reached to when all processes of a killed case had ended.
    SECONDS_OVER_LIMIT = "seconds_over_limit", "seconds over limit", "seconds over the limit",
        Seconds, Short, Lower, ALL, NOWHERE, 0.0, 0.1, [];
    /// Bytes of kernel entries cached between products, where memory allowed.
    KEPT_BYTES = "kept_bytes", "cached entries [MiB]", "cached kernel entries",
        Bytes, Memory, Neither, GIVEN_KERNEL, NOWHERE, 0.0, 0.1, [];
    /// Inducing points, where the solver's unknowns are fewer than the training rows.
    INDUCING_POINTS = "inducing_points", "inducing points", "inducing points",
        Count, Short, Neither, WITH_INDUCING, NOWHERE, 0.0, 0.1, [];
    /// Distinct training inputs, where rows that share one are collapsed.
    UNIQUE_INPUTS = "unique_inputs", "unique inputs", "unique inputs",
        Count, Short, Neither, OF_ROWS, NOWHERE, 0.0, 0.1, [Own];
    /// Largest value of the objective in the initial design.
    BEST_START = "best_start", "start", "largest value of the design",
        One, Fixed, Neither, THOMPSON, NOWHERE, 0.0, 0.1, [Own];
    /// Largest value of the objective that a random search with as many points finds.
    BEST_RANDOM = "best_random", "random search", "largest value of random search",
        One, Fixed, Neither, THOMPSON, NOWHERE, 0.0, 0.1, [Own];
    /// Largest observed value, noise included.
    BEST_OBSERVED = "best_observed", "best observed", "largest observed value",
        One, Fixed, Higher, THOMPSON, NOWHERE, 1e-6, 0.01, [];
    /// Largest value of the objective at the points that the step chose.
    BATCH_BEST = "batch_best", "best of the batch", "largest value at the chosen points",
        One, Fixed, Higher, THOMPSON, NOWHERE, 1e-6, 0.01, [Steps];
    /// Mean value of the objective at the points that the step chose.
    BATCH_MEAN = "batch_mean", "mean of the batch", "mean value at the chosen points",
        One, Fixed, Higher, THOMPSON, NOWHERE, 1e-6, 0.01, [Steps];
    /// Mean over the samples of the sample's own value less that of the objective at the point that the sample chose.
    OPTIMISM = "optimism", "optimism", "mean of sample less objective",
        One, Short, Neither, THOMPSON, NOWHERE, 0.0, 0.1, [Steps];
    /// Share of the chosen points that are farther than a tenth of a length scale from the points chosen before them
    /// in the step.
    DISTINCT = "distinct", "distinct", "share of distinct points",
        One, Short, Neither, THOMPSON, NOWHERE, 0.0, 0.1, [Steps];
    /// Share of the chosen points on the boundary of the cube.
    ON_BOUNDARY = "on_boundary", "on the boundary", "share of points on the boundary",
        One, Short, Neither, THOMPSON, NOWHERE, 0.0, 0.1, [Steps];
    /// Training rows of a step's systems, in `steps.parquet`.
    ROWS_OF_STEP = "rows_of_step", "rows of the step", "training rows",
        Count, Short, Neither, THOMPSON, NOWHERE, 0.0, 0.1, [Own];
    /// Kernel entries used by the solves.
    ENTRIES = "entries", "entries", "kernel entries of the solves",
        Count, Short, Lower, THOMPSON, NOWHERE, 0.0, 0.1, [Own];
    /// Kernel entries used to choose points: the same for every solver with as many unknowns.
    ENTRIES_ACQUIRE = "entries_acquire", "entries of choosing", "kernel entries of candidates and ascents",
        Count, Short, Lower, THOMPSON, NOWHERE, 0.0, 0.1, [Own];
    /// Wall-clock seconds of evaluating candidates.
    SECONDS_CANDIDATES = "seconds_candidates", "candidates [s]", "seconds of candidates",
        Seconds, Short, Lower, THOMPSON, NOWHERE, 0.0, 0.1, [Own];
    /// Wall-clock seconds of the ascents.
    SECONDS_ASCENT = "seconds_ascent", "ascent [s]", "seconds of ascents",
        Seconds, Short, Lower, THOMPSON, NOWHERE, 0.0, 0.1, [Own];
    /// Wall-clock seconds of all steps: building systems, prepare and solve, candidates and ascents.
    SECONDS_TOTAL = "seconds_total", "all parts [s]", "seconds of all parts",
        Seconds, Short, Lower, THOMPSON, THOMPSON, 1e-3, 0.1, [Own, Compare];
    /// Relative Frobenius error of Phi Phi^T against K on a subset of training rows.
    FEATURE_ERROR = "feature_error", "feature error", "relative error of the random features",
        One, Scientific, Lower, OF_ROWS, NOWHERE, 0.0, 0.1, [];
}
