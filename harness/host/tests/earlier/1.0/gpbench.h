/* The C interface between gpbench and its solver plugins.
 *
 * Generated from harness/abi/src: `UPDATE_HEADER=1 cargo test --release -p gpbench-abi` rewrites it.
 *
 * A plugin is a shared library that exports the function gpbench_plugin_v1, declared at the end.
 * Rules:
 *
 * - Types. No Rust enum, `bool`, reference, slice or generic crosses.
 *   `GpbStatus` and the other codes are 32-bit integers whose unknown values are
 *   errors. Lengths are `int64_t` and are distrusted. Strings are UTF-8, pointer and
 *   length. Matrices are column-major with a leading dimension.
 * - Growth. `GpbStr`, `GpbMat`, `GpbValue` and `GpbParam` are frozen. Every other
 *   struct begins with its size in bytes; new fields go at the end and are read
 *   only if `size` covers them. Optional powers are asked for by id
 *   (`gpbench.rows/1`); a null answer means that the other side lacks them.
 * - Memory never changes owner. What the host passes lives until the call
 *   returns, unless stated; what a plugin describes lives until the process ends.
 *   Libraries are never unloaded.
 * - Threads. The host calls one solver object from one thread at a time, the
 *   worker's main thread. A plugin calls the host's functions from the thread that
 *   the host called it on, unless stated. Only the host sets OpenBLAS's thread
 *   count, which is 1 except as `GPB_CAPABILITY_BLAS_THREADS` says.
 * - Panics and exceptions never cross, in either direction.
 * - Cancelling has three layers: `observe` answers `GPB_STATUS_STOPPED`, operator
 *   calls answer `GPB_STATUS_STOPPED`, and in the end the process is killed. After
 *   `STOPPED`, a solver writes its best iterate into `x` and returns.
 * - Null is never passed or returned except where a comment allows it.
 */

#ifndef GPBENCH_H
#define GPBENCH_H

#include <stdint.h>

/**
 * Name of the entry function. The interface's major version stands in it.
 */
#define GPB_ENTRY "gpbench_plugin_v1"

/**
 * Major version of the interface, as in `GPB_ENTRY`.
 */
#define GPB_MAJOR 1

/**
 * Minor version: counts additions. Either side may be the newer one.
 */
#define GPB_MINOR 0

/* Values of GpbStatus. */

/**
 * Done; from `observe`: go on.
 */
#define GPB_STATUS_DONE (0)

/**
 * Stop now: the budget is spent or the user has cancelled.
 */
#define GPB_STATUS_STOPPED (1)

/**
 * From `observe` only: put the current iterate into `x` and call `observe`
 * again with the same arguments; the clock is paused meanwhile as far as the host can.
 */
#define GPB_STATUS_ITERATE (2)

/**
 * An error that no other code names.
 */
#define GPB_STATUS_ERROR (-1)

/**
 * An argument is out of range: a null pointer, a wrong shape, an unknown kind.
 */
#define GPB_STATUS_INVALID_ARGUMENT (-2)

/**
 * Memory could not be had.
 */
#define GPB_STATUS_OUT_OF_MEMORY (-3)

/**
 * A matrix that has to be positive definite is not, to working precision.
 */
#define GPB_STATUS_NOT_POSITIVE_DEFINITE (-4)

/**
 * The other side lacks what this call needs.
 */
#define GPB_STATUS_UNSUPPORTED (-5)

/**
 * A panic or exception was caught at the border.
 */
#define GPB_STATUS_PANIC (-6)

/* Levels of `GpbHost.log`. */

/**
 * Something is wrong but the solve goes on.
 */
#define GPB_LOG_LEVEL_WARNING 1

/**
 * Worth a line.
 */
#define GPB_LOG_LEVEL_INFO 2

/**
 * For the author of the plugin.
 */
#define GPB_LOG_LEVEL_DEBUG 3

/* Bits of `GpbSolver.capabilities`. */

/**
 * Solves to working precision whatever the tolerance.
 */
#define GPB_CAPABILITY_EXACT UINT64_C(1)

/**
 * Draws random numbers: the answer depends on the seed.
 */
#define GPB_CAPABILITY_RANDOMIZED UINT64_C(2)

/**
 * Makes use of a warm start in `x`.
 */
#define GPB_CAPABILITY_WARM_START UINT64_C(4)

/**
 * Makes BLAS or LAPACK calls worth threading: the host raises OpenBLAS's thread count
 * around `prepare` and `solve`, and lowers it inside its own callbacks.
 */
#define GPB_CAPABILITY_BLAS_THREADS UINT64_C(8)

/**
 * Keeps an n x n matrix.
 */
#define GPB_CAPABILITY_DENSE UINT64_C(16)

/**
 * Takes problems with inducing points: m basis points, m <= n unknowns.
 */
#define GPB_CAPABILITY_INDUCING UINT64_C(32)

/* Kinds of `GpbValue`. */

/**
 * No value: no bound.
 */
#define GPB_VALUE_KIND_NONE 0

/**
 * A truth value.
 */
#define GPB_VALUE_KIND_BOOL 1

/**
 * A whole number.
 */
#define GPB_VALUE_KIND_INT 2

/**
 * A real number.
 */
#define GPB_VALUE_KIND_FLOAT 3

/**
 * A text.
 */
#define GPB_VALUE_KIND_TEXT 4

/* Why a solve ended. */

/**
 * The tolerance is reached, or the solver is exact.
 */
#define GPB_REASON_CONVERGED 0

/**
 * The host said `STOPPED`.
 */
#define GPB_REASON_STOPPED 1

/**
 * The solver's own iteration limit.
 */
#define GPB_REASON_ITERATIONS 2

/**
 * The residual no longer falls.
 */
#define GPB_REASON_STAGNATED 3

/**
 * The residual grows without bound, or is not a number.
 */
#define GPB_REASON_DIVERGED 4

/* Ids of the extensions: `gpbench.<name>/<revision>`. */

/**
 * `GpbRows`, of the operator.
 */
#define GPB_ID_ROWS "gpbench.rows/1"

/**
 * `GpbColumns`, of the operator.
 */
#define GPB_ID_COLUMNS "gpbench.columns/1"

/**
 * `GpbBlock`, of the operator.
 */
#define GPB_ID_BLOCK "gpbench.block/1"

/**
 * `GpbInputs`, of the operator.
 */
#define GPB_ID_INPUTS "gpbench.inputs/1"

/**
 * `GpbFeatures`, of the operator.
 */
#define GPB_ID_FEATURES "gpbench.features/1"

/**
 * A `GpbOperator`, of the operator: over the same matrix whose products take about half
 * the time and are right to a relative 1e-6 or so: entries and sums inside a tile in single precision,
 * sums over tiles in double. Products, rows and columns do; blocks stay in double precision. Counts
 * entries like the other, and lives as long.
 */
#define GPB_ID_MIXED "gpbench.mixed/1"

/**
 * `GpbTargets`, of the problem.
 */
#define GPB_ID_TARGETS "gpbench.targets/1"

/**
 * `GpbState`, of the problem.
 */
#define GPB_ID_STATE "gpbench.state/1"

/**
 * `GpbTrace`, of the problem.
 */
#define GPB_ID_TRACE "gpbench.trace/1"

/**
 * `GpbParallelFor`, of the host.
 */
#define GPB_ID_PARALLEL_FOR "gpbench.parallel_for/1"

/* Kernel families of `GpbInputs`. */

/**
 * exp(-r^2 / 2).
 */
#define GPB_FAMILY_RBF 1

/**
 * exp(-r).
 */
#define GPB_FAMILY_MATERN12 2

/**
 * (1 + a) exp(-a), a = sqrt(3) r.
 */
#define GPB_FAMILY_MATERN32 3

/**
 * (1 + a + a^2 / 3) exp(-a), a = sqrt(5) r.
 */
#define GPB_FAMILY_MATERN52 4

/**
 * Added to the family where `GpbInputs` has scales: a plugin that evaluates entries by itself
 * and does not know of them meets a family that it does not know either.
 */
#define GPB_FAMILY_SCALED 256

/**
 * Outcome of a call: zero and positive values are outcomes, negative ones errors.
 *
 * With an error goes a text, passed to `GpbHost.set_error` before returning.
 */
typedef int32_t GpbStatus;

/**
 * UTF-8 text: pointer and length in bytes, not terminated. Frozen.
 */
typedef struct GpbStr {
    /**
     * First byte; may be null if `len` is 0.
     */
    const char *ptr;
    /**
     * Number of bytes.
     */
    int64_t len;
} GpbStr;

/**
 * Column-major matrix: entry (i, j) is `data[i + j * ld]`. Frozen.
 *
 * A vector is a matrix of one column.
 */
typedef struct GpbMat {
    /**
     * First entry; may be null if the matrix is empty. Read-only where the matrix
     * is passed by pointer to const.
     */
    double *data;
    /**
     * Number of rows.
     */
    int64_t rows;
    /**
     * Number of columns.
     */
    int64_t cols;
    /**
     * Distance between columns in entries, at least `rows`.
     */
    int64_t ld;
} GpbMat;

/**
 * A parameter's value. Frozen.
 */
typedef struct GpbValue {
    /**
     * One of `GPB_VALUE_KIND_*`; says which of the other fields counts.
     */
    int32_t kind;
    /**
     * Zero.
     */
    int32_t reserved;
    /**
     * Value of kinds `BOOL` (0 or 1) and `INT`.
     */
    int64_t i;
    /**
     * Value of kind `FLOAT`.
     */
    double f;
    /**
     * Value of kind `TEXT`.
     */
    struct GpbStr s;
} GpbValue;

/**
 * One parameter of a solver; static. Frozen.
 */
typedef struct GpbParam {
    /**
     * Name: lower-case letters, digits and underscores.
     */
    struct GpbStr name;
    /**
     * One line of documentation, with unit.
     */
    struct GpbStr doc;
    /**
     * Default; its kind is the parameter's kind.
     */
    struct GpbValue default_;
    /**
     * Smallest permitted value; kind `NONE` if there is no bound.
     */
    struct GpbValue min;
    /**
     * Largest permitted value; kind `NONE` if there is no bound.
     */
    struct GpbValue max;
    /**
     * Permitted texts; null if any will do.
     */
    const struct GpbStr *choices;
    /**
     * Number of permitted texts.
     */
    int64_t n_choices;
} GpbParam;

/**
 * The host's services. Lives until the process ends.
 */
typedef struct GpbHost {
    /**
     * Size of this struct in bytes.
     */
    uint32_t size;
    /**
     * Minor version of the interface that the host was built with.
     */
    uint32_t minor;
    /**
     * The host's own.
     */
    void *ctx;
    /**
     * Records why a call is about to return an error. Any thread. The text is copied.
     */
    void (*set_error)(const struct GpbHost *host, GpbStatus status, const struct GpbStr *text);
    /**
     * Writes a line to the case's log; `level` is one of `GPB_LOG_LEVEL_*`. Any thread. The text is copied.
     */
    void (*log)(const struct GpbHost *host, int32_t level, const struct GpbStr *text);
    /**
     * `gpbench.parallel_for/1`. Any thread.
     */
    const void *(*extension)(const struct GpbHost *object, const struct GpbStr *id);
} GpbHost;

/**
 * A matrix A with n rows and m columns, known through its products.
 *
 * For Gaussian processes A = K(X, X) + noise_scale^2 I and m = n, except with
 * inducing points: then A = K(X, Z) for m basis points Z, without noise. Only
 * solvers with `GPB_CAPABILITY_INDUCING` are given such; they know it by
 * the basis points of `GpbInputs`. Where a data set's repeated inputs are collapsed, rows are
 * those of the unique inputs, and A = S K S + noise_scale^2 I with the square roots of their counts on
 * the diagonal of S: again a symmetric matrix with the noise variance on its diagonal, for right-hand
 * sides to match, of which a solver need not know. Every call counts the kernel
 * entries it uses; n^2 of them are one epoch. Once the budget is spent, calls do
 * nothing and answer `GPB_STATUS_STOPPED`. Lives as long as the problem.
 */
typedef struct GpbOperator {
    /**
     * Size of this struct in bytes.
     */
    uint32_t size;
    /**
     * 1 where products are in mixed precision, else zero.
     */
    uint32_t flags;
    /**
     * The host's own.
     */
    void *ctx;
    /**
     * Rows.
     */
    int64_t n;
    /**
     * Columns.
     */
    int64_t m;
    /**
     * y = A x, with x m x s and y n x s, not overlapping. Counts n m entries, whatever s.
     */
    GpbStatus (*apply)(const struct GpbOperator *op, const struct GpbMat *x, struct GpbMat *y);
    /**
     * The diagonal of A into `out`, n x 1. Counts nothing. `UNSUPPORTED` with inducing points:
     * K(X, Z) has none.
     */
    GpbStatus (*diag)(const struct GpbOperator *op, struct GpbMat *out);
    /**
     * Reports kernel entries that the plugin evaluated by itself. Answers `STOPPED` once the
     * budget is spent.
     */
    GpbStatus (*charge)(const struct GpbOperator *op, int64_t entries);
    /**
     * `gpbench.rows/1`, `columns/1`, `block/1`, `inputs/1`, `features/1`, `mixed/1`.
     */
    const void *(*extension)(const struct GpbOperator *object, const struct GpbStr *id);
} GpbOperator;

/**
 * A linear system with several right-hand sides. Lives until the call that it is passed to returns.
 *
 * With inducing points Z it is a least-squares problem: each column x of the solution minimises
 * |b - K(X, Z) x|^2 + noise_scale^2 x^T K(Z, Z) x for its right-hand side b (Lin et al. 2023,
 * equations 12 and 13). In place of the residual stands half of the negative gradient,
 * K(Z, X) (b - K(X, Z) x) - noise_scale^2 K(Z, Z) x; its norm is relative to that at x = 0.
 */
typedef struct GpbProblem {
    /**
     * Size of this struct in bytes.
     */
    uint32_t size;
    /**
     * Threads that the solver may use, itself included.
     */
    uint32_t threads;
    /**
     * Seed of the solver's own random numbers.
     */
    uint64_t seed;
    /**
     * Relative residual norm to reach, see `n_targets`; 0 if the budget alone decides.
     */
    double tolerance;
    /**
     * Epochs that may be spent, prepare included; infinite if unbounded.
     */
    double max_epochs;
    /**
     * The matrix.
     */
    const struct GpbOperator *op;
    /**
     * Right-hand sides, n x s. Not to be written to.
     */
    const struct GpbMat *rhs;
    /**
     * In: where to start from (zero, or a warm start). Out: the solution. m x s. During `prepare`
     * not to be written to.
     */
    struct GpbMat *x;
    /**
     * The first `n_targets` columns are targets (y), the rest probes. The tolerance is reached
     * when the largest relative residual norm of the targets AND the mean relative residual norm
     * of the probes are at most `tolerance`; norms are relative to the right-hand side's.
     */
    int64_t n_targets;
    /**
     * The host's own.
     */
    void *ctx;
    /**
     * To be called after every iteration, or, where iterations are cheap, a few times an epoch,
     * with one relative residual norm a column (`n_norms` = s), or `n_norms` = 0 if none is known.
     * Answers `DONE` (go on), `STOPPED`, or `ITERATE`: put the current iterate (the averaged one,
     * if it is what would be returned) into `x` and call again with the same arguments. From
     * the thread that `solve` was called on.
     */
    GpbStatus (*observe)(const struct GpbProblem *problem,
                         int64_t iteration,
                         const double *norms,
                         int64_t n_norms);
    /**
     * `gpbench.targets/1`, `state/1`, `trace/1`.
     */
    const void *(*extension)(const struct GpbProblem *object, const struct GpbStr *id);
} GpbProblem;

/**
 * What a solver says of a finished solve. The host passes it zeroed but for `size`; what it
 * points to is the plugin's and lives until the next call on the solver object.
 */
typedef struct GpbReport {
    /**
     * Size of this struct in bytes, as the host was built.
     */
    uint32_t size;
    /**
     * One of `GPB_REASON_*`.
     */
    int32_t reason;
    /**
     * Iterations, as the solver counts them.
     */
    int64_t iterations;
    /**
     * Relative residual norms the solver believes in, one a column; null if none.
     */
    const double *claimed;
    /**
     * Number of claimed norms: 0 or s.
     */
    int64_t n_claimed;
    /**
     * Names of further numbers; null if none.
     */
    const struct GpbStr *names;
    /**
     * Further numbers.
     */
    const double *values;
    /**
     * Number of further numbers.
     */
    int64_t n_values;
} GpbReport;

/**
 * A linear-system solver; static.
 */
typedef struct GpbSolver {
    /**
     * Size of this struct in bytes.
     */
    uint32_t size;
    /**
     * Zero.
     */
    uint32_t reserved;
    /**
     * Bits of `GPB_CAPABILITY_*`.
     */
    uint64_t capabilities;
    /**
     * Id that a spec names: lower-case letters, digits and hyphens.
     */
    struct GpbStr id;
    /**
     * One line of documentation.
     */
    struct GpbStr doc;
    /**
     * Parameter schema; null if there are none.
     */
    const struct GpbParam *params;
    /**
     * Number of parameters.
     */
    int64_t n_params;
    /**
     * Makes a solver object. `values` holds one value a parameter, in the order and of
     * the kinds of the schema, already checked against its ranges, so that no plugin
     * parses text; its texts live until the call returns. On `DONE`, `*out` is the
     * object, owned by the plugin until `destroy`.
     */
    GpbStatus (*create)(const struct GpbHost *host,
                        const struct GpbValue *values,
                        int64_t n_values,
                        void **out);
    /**
     * Sets up for a problem: preconditioners, factors. Timed apart from `solve` and charged
     * to the same budget; `STOPPED` if that did not suffice. Null if there is nothing to set up.
     * Called before each `solve` whose operator differs from the last one's.
     */
    GpbStatus (*prepare)(void *solver, const struct GpbProblem *problem);
    /**
     * Solves: starts from `problem.x`, leaves the solution there, and fills `report`, whose
     * arrays live until the next call on this object. Stopping short is `DONE` with a reason.
     */
    GpbStatus (*solve)(void *solver, const struct GpbProblem *problem, struct GpbReport *report);
    /**
     * Bytes that a solve with n rows, d inputs and s right-hand sides will need beyond the
     * problem itself. Null: a small multiple of n s.
     */
    GpbStatus (*estimate)(void *solver, int64_t n, int64_t d, int64_t s, double *bytes);
    /**
     * Ends an object's life.
     */
    void (*destroy)(void *solver);
} GpbSolver;

/**
 * A method that fits and predicts by itself instead of solving linear systems.
 *
 * The place is kept: the functions (fit, predict, hyperparameters) will follow
 * `params` in a later minor version.
 */
typedef struct GpbLearner {
    /**
     * Size of this struct in bytes.
     */
    uint32_t size;
    /**
     * Zero.
     */
    uint32_t reserved;
    /**
     * Bits of `GPB_CAPABILITY_*`.
     */
    uint64_t capabilities;
    /**
     * Id that a spec names.
     */
    struct GpbStr id;
    /**
     * One line of documentation.
     */
    struct GpbStr doc;
    /**
     * Parameter schema; null if there are none.
     */
    const struct GpbParam *params;
    /**
     * Number of parameters.
     */
    int64_t n_params;
} GpbLearner;

/**
 * A plugin's description of itself; static.
 */
typedef struct GpbPlugin {
    /**
     * Size of this struct in bytes.
     */
    uint32_t size;
    /**
     * Minor version of the interface that the plugin was built with.
     */
    uint32_t minor;
    /**
     * Name of the library.
     */
    struct GpbStr name;
    /**
     * Version of the library.
     */
    struct GpbStr version;
    /**
     * First of `n_solvers` solvers, each `solver_stride` bytes after the one before.
     */
    const struct GpbSolver *solvers;
    /**
     * Number of solvers.
     */
    int64_t n_solvers;
    /**
     * Size of a solver's description as the plugin was built.
     */
    int64_t solver_stride;
    /**
     * First of `n_learners` learners; null if there are none.
     */
    const struct GpbLearner *learners;
    /**
     * Number of learners.
     */
    int64_t n_learners;
    /**
     * Size of a learner's description as the plugin was built.
     */
    int64_t learner_stride;
} GpbPlugin;

/**
 * Products with some rows of A.
 */
typedef struct GpbRows {
    /**
     * Size of this struct in bytes.
     */
    uint32_t size;
    /**
     * Zero.
     */
    uint32_t reserved;
    /**
     * y = A[rows, :] x, with x m x s and y n_rows x s. Counts n_rows m entries.
     */
    GpbStatus (*apply)(const struct GpbOperator *op,
                       const int64_t *rows,
                       int64_t n_rows,
                       const struct GpbMat *x,
                       struct GpbMat *y);
    /**
     * u = A[rows, :] x, then `transform(ctx, u)` in place, then z += A[rows, :]^T u: a
     * minibatch of a least-squares gradient. Counts n_rows m entries once. `transform` is called
     * once, on the calling thread; null leaves u as it is.
     */
    GpbStatus (*fused)(const struct GpbOperator *op,
                       const int64_t *rows,
                       int64_t n_rows,
                       const struct GpbMat *x,
                       struct GpbMat *u,
                       void (*transform)(void *ctx, struct GpbMat *u),
                       void *ctx,
                       struct GpbMat *z);
} GpbRows;

/**
 * Updates with some columns of A.
 */
typedef struct GpbColumns {
    /**
     * Size of this struct in bytes.
     */
    uint32_t size;
    /**
     * Zero.
     */
    uint32_t reserved;
    /**
     * y += A[:, cols] x, with x n_cols x s and y n x s. Counts n n_cols entries.
     */
    GpbStatus (*update)(const struct GpbOperator *op,
                        const int64_t *cols,
                        int64_t n_cols,
                        const struct GpbMat *x,
                        struct GpbMat *y);
} GpbColumns;

/**
 * Entries of A.
 */
typedef struct GpbBlock {
    /**
     * Size of this struct in bytes.
     */
    uint32_t size;
    /**
     * Zero.
     */
    uint32_t reserved;
    /**
     * out = A[rows, cols], n_rows x n_cols. The noise variance stands where a row's index equals
     * a column's, and nowhere if the columns have basis points of their own. Counts n_rows n_cols
     * entries.
     */
    GpbStatus (*get)(const struct GpbOperator *op,
                     const int64_t *rows,
                     int64_t n_rows,
                     const int64_t *cols,
                     int64_t n_cols,
                     struct GpbMat *out);
} GpbBlock;

/**
 * What A is made of. Lives as long as the operator.
 */
typedef struct GpbInputs {
    /**
     * Size of this struct in bytes.
     */
    uint32_t size;
    /**
     * One of `GPB_FAMILY_*`, plus `SCALED` where there are scales.
     */
    int32_t family;
    /**
     * Standardised inputs, n x d.
     */
    struct GpbMat x;
    /**
     * Basis points of the columns, m x d; null data if they are the inputs themselves.
     */
    struct GpbMat basis;
    /**
     * Standard deviation of the latent function: K = signal_scale^2 k.
     */
    double signal_scale;
    /**
     * Standard deviation of the noise: A = K + noise_scale^2 I, or A = K(x, basis) without it.
     */
    double noise_scale;
    /**
     * One length scale an input, d of them.
     */
    const double *length_scale;
    /**
     * The diagonal of S where A = S K S + noise_scale^2 I, n of them; null elsewhere.
     */
    const double *scales;
} GpbInputs;

/**
 * Products with random Fourier features Phi of the columns' points, m x count, such that
 * E[Phi Phi^T] = K there: at the inputs, or at the basis points where the columns have such. With
 * scales each row of Phi is multiplied by its own: E[Phi Phi^T] = S K S.
 *
 * Shown apart from kernel entries; counts none.
 */
typedef struct GpbFeatures {
    /**
     * Size of this struct in bytes.
     */
    uint32_t size;
    /**
     * Zero.
     */
    uint32_t reserved;
    /**
     * y = Phi w for the features drawn from `seed`, with w count x s and y m x s; `count` is even.
     */
    GpbStatus (*apply)(const struct GpbOperator *op,
                       uint64_t seed,
                       int64_t count,
                       const struct GpbMat *w,
                       struct GpbMat *y);
    /**
     * w = Phi^T y for the features drawn from `seed`, with y m x s and w count x s.
     */
    GpbStatus (*apply_transposed)(const struct GpbOperator *op,
                                  uint64_t seed,
                                  int64_t count,
                                  const struct GpbMat *y,
                                  struct GpbMat *w);
} GpbFeatures;

/**
 * The parts of pathwise right-hand sides: column j of the probes is f_j + noise_j. Lives as
 * long as the problem.
 */
typedef struct GpbTargets {
    /**
     * Size of this struct in bytes.
     */
    uint32_t size;
    /**
     * Zero.
     */
    uint32_t reserved;
    /**
     * Prior draws at the inputs, n x (s - n_targets); with scales, each row times its own.
     */
    struct GpbMat f;
    /**
     * Their noise, of standard deviation noise_scale, n x (s - n_targets).
     */
    struct GpbMat noise;
} GpbTargets;

/**
 * Bytes that a solver keeps from one outer step to the next, across processes.
 */
typedef struct GpbState {
    /**
     * Size of this struct in bytes.
     */
    uint32_t size;
    /**
     * Zero.
     */
    uint32_t reserved;
    /**
     * The bytes saved under `key`: their number into `*len` (0: none), and the first `capacity`
     * of them into `out`, which may be null if `capacity` is 0.
     */
    GpbStatus (*load)(const struct GpbProblem *problem,
                      const struct GpbStr *key,
                      uint8_t *out,
                      int64_t capacity,
                      int64_t *len);
    /**
     * Saves bytes under `key`, in place of what stood there. They are copied.
     */
    GpbStatus (*save)(const struct GpbProblem *problem,
                      const struct GpbStr *key,
                      const uint8_t *bytes,
                      int64_t len);
} GpbState;

/**
 * Numbers of the solver's own for the trace, such as the variance of a gradient.
 */
typedef struct GpbTrace {
    /**
     * Size of this struct in bytes.
     */
    uint32_t size;
    /**
     * Zero.
     */
    uint32_t reserved;
    /**
     * Puts `value` into the trace at this iteration, under a name of up to 64 lower-case letters,
     * digits and underscores, which is copied. Numbers are kept apart from the host's own; one that
     * is not finite is passed over. Answers `DONE`, budget or no budget, and decides nothing. The
     * clock is paused inside. From the thread that the host called the plugin on.
     */
    GpbStatus (*note)(const struct GpbProblem *problem,
                      int64_t iteration,
                      const struct GpbStr *name,
                      double value);
} GpbTrace;

/**
 * The host's threads.
 */
typedef struct GpbParallelFor {
    /**
     * Size of this struct in bytes.
     */
    uint32_t size;
    /**
     * Zero.
     */
    uint32_t reserved;
    /**
     * Calls `body(ctx, i)` for i in 0..n, on as many threads as the problem allows, and returns
     * when all are done. `body` makes no calls to the host. From the thread that the host called
     * the plugin on.
     */
    GpbStatus (*run)(const struct GpbHost *host, int64_t n, void (*body)(void *ctx, int64_t i), void *ctx);
} GpbParallelFor;

/**
 * Type of the entry function.
 *
 * Called once, on the main thread, right after loading; `host` lives until the
 * process ends. Returns a static description, or null after calling
 * `GpbHost.set_error`.
 */
typedef const struct GpbPlugin *(*GpbEntryFn)(const struct GpbHost *host);

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The one function that a plugin exports, see `GpbEntryFn`.
 */
const GpbPlugin *gpbench_plugin_v1(const GpbHost *host);

#ifdef __cplusplus
}
#endif

#endif /* GPBENCH_H */
