/* The C interface between gpbench and its solver plugins.
 *
 * Generated from harness/abi/src: `UPDATE_HEADER=1 cargo test --release -p gpbench-abi` rewrites it.
 *
 * A plugin is a shared library that exports the function gpbench_plugin_v1, declared at the end.
 * Rules:
 *
 * - Types. No Rust enum, `bool`, reference, slice or generic is used.
 *   `GpbStatus` and the other codes are 32-bit integers whose unknown values are
 *   errors. Lengths are `int64_t` and are distrusted. Strings are UTF-8, pointer and
 *   length. Matrices are column-major with a leading dimension.
 * - Growth. `GpbStr`, `GpbMat`, `GpbValue`, `GpbParam`, `GpbPart` and `GpbFacts` are frozen. Every
 *   other struct begins with its size in bytes; new fields go at the end and are read
 *   only if `size` covers them. Extensions are asked for by id
 *   (`gpbench.rows/1`); a null answer means that the other side lacks them.
 * - Memory never changes owner, but for what a solver hands over to `GpbVolatile`.
 *   What the host passes lives until the call returns, unless stated; what a plugin
 *   describes lives until the process ends. Libraries are never unloaded.
 * - Threads. The host calls one solver object from one thread at a time, the
 *   worker's main thread. A plugin calls the host's functions from the thread that
 *   the host called it on, unless stated. Only the host sets OpenBLAS's thread
 *   count, which is 1 except as `GPB_CAPABILITY_BLAS_THREADS` says.
 * - Panics and exceptions never cross the interface, in either direction.
 * - Cancelling has three layers: `observe` answers `GPB_STATUS_STOPPED`, operator
 *   calls answer `GPB_STATUS_STOPPED`, and finally the process is killed. After
 *   `STOPPED`, a solver writes its best iterate into `x` and returns.
 * - Null is never passed or returned except where a comment allows it.
 */

#ifndef GPBENCH_H
#define GPBENCH_H

#include <stdint.h>

/**
 * Name of the entry function. It contains the interface's major version.
 */
#define GPB_ENTRY "gpbench_plugin_v1"

/**
 * Major version of the interface, as in `GPB_ENTRY`.
 */
#define GPB_MAJOR 1

/**
 * Minor version: counts additions. Either side may be the newer one.
 *
 * 1 adds `source` to `GpbSolver`. 2 adds the functions of a `GpbLearner`. 3 adds `parts` to `GpbPlugin`, `warm_up` to
 * `GpbSolver` and `GpbLearner`, and the host's extensions for scripts, processes and parts. 4 and 5 add kinds of models to
 * `GPB_MODEL_KIND_*`, and 5 adds `facts` to `GpbSolver` and `GpbLearner`.
 */
#define GPB_MINOR 5

/* Values of GpbStatus. */

/**
 * Done; from `observe`: continue.
 */
#define GPB_STATUS_DONE (0)

/**
 * Stop now: the budget is spent or the user has cancelled.
 */
#define GPB_STATUS_STOPPED (1)

/**
 * From `observe` only: put the current iterate into `x` and call `observe`
 * again with the same arguments; until then the clock is paused as far as the host can.
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
 * Memory could not be allocated.
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
 * A panic or exception was caught at the interface.
 */
#define GPB_STATUS_PANIC (-6)

/* Levels of `GpbHost.log`. */

/**
 * Something is wrong, but the solve continues.
 */
#define GPB_LOG_LEVEL_WARNING 1

/**
 * For the user.
 */
#define GPB_LOG_LEVEL_INFO 2

/**
 * For the author of the plugin.
 */
#define GPB_LOG_LEVEL_DEBUG 3

/* Kinds of `GpbPart`. */

/**
 * A file that is read or executed.
 */
#define GPB_PART_KIND_FILE 1

/**
 * An installed package.
 */
#define GPB_PART_KIND_PACKAGE 2

/**
 * The program that runs a script.
 */
#define GPB_PART_KIND_RUNTIME 3

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
 * Uses a warm start in `x`.
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
 * Takes problems with inducing points: m basis points, m <= n unknowns. Of a learner: needs them.
 */
#define GPB_CAPABILITY_INDUCING UINT64_C(32)

/**
 * Of a learner: takes a network between inputs and kernel.
 */
#define GPB_CAPABILITY_NETWORK UINT64_C(64)

/**
 * Of a learner: takes kernels of finite dimension, which are linear on a network's outputs or approximated by random
 * features. Without a network that is the RBF kernel, and how many features is a parameter of the learner.
 */
#define GPB_CAPABILITY_FINITE UINT64_C(128)

/**
 * Of a learner: takes the stationary families as they are.
 */
#define GPB_CAPABILITY_KERNEL UINT64_C(256)

/**
 * Learners: trains a constant prior mean where `GPB_FIT_FLAG_TRAINED_MEAN` asks for it.
 */
#define GPB_CAPABILITY_MEAN UINT64_C(512)

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
 * A `GpbOperator`, of the operator: the same matrix, with products of a relative error of
 * about 1e-6 in about half the time. Entries and sums inside a tile are in single precision, sums over
 * tiles in double. This holds for products, rows and columns; blocks are in double precision. It counts
 * entries like the other operator, and lives as long.
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
 * `GpbVolatile`, of the problem.
 */
#define GPB_ID_VOLATILE "gpbench.volatile/1"

/**
 * `GpbTrace`, of the problem.
 */
#define GPB_ID_TRACE "gpbench.trace/1"

/**
 * `GpbFitTrace`, of the fit.
 */
#define GPB_ID_FIT_TRACE "gpbench.fit-trace/1"

/**
 * `GpbParallelFor`, of the host.
 */
#define GPB_ID_PARALLEL_FOR "gpbench.parallel_for/1"

/**
 * `GpbScript`, of the host. Null unless the host opens a script.
 */
#define GPB_ID_SCRIPT "gpbench.script/1"

/**
 * `GpbProcess`, of the host.
 */
#define GPB_ID_PROCESS "gpbench.process/1"

/**
 * `GpbParts`, of the host.
 */
#define GPB_ID_PARTS "gpbench.parts/1"

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
 * The inner product x^T x', for learners alone.
 */
#define GPB_FAMILY_LINEAR 5

/**
 * Added to the family where `GpbInputs` has scales, so that a plugin that evaluates entries by
 * itself and does not know of scales finds an unknown family.
 */
#define GPB_FAMILY_SCALED 256

/* Bits of `GpbFit.flags`. */

/**
 * All inputs have one length scale, which is trained as one number; `length_scale` repeats it.
 */
#define GPB_FIT_FLAG_SHARED_LENGTH_SCALE UINT64_C(1)

/**
 * A constant prior mean is trained too. Only for learners with `GPB_CAPABILITY_MEAN`.
 */
#define GPB_FIT_FLAG_TRAINED_MEAN UINT64_C(2)

/* Bits of the stream's number in `GpbFit.batch`. */

/**
 * Bit 29: every pass has the same permutation, for subsets that stay.
 */
#define GPB_STREAM_SAME_EACH_PASS 536870912

/**
 * Bit 30: every batch is drawn afresh from all rows, without repeats inside it; a pass is n rows.
 */
#define GPB_STREAM_INDEPENDENT 1073741824

/* Activations of a `GpbNetwork`. */

/**
 * max(0, t).
 */
#define GPB_ACTIVATION_RELU 1

/* Kinds of models: what a learner puts under the name `kind`, as a 1 x 1 matrix, and which other matrices
 * it then puts. Scales are standard deviations: `signal_scale` and `noise_scale` are 1 x 1, `length_scale` is
 * d x 1; `mean` is the constant prior mean, 1 x 1, and may be left out where it is 0. In every kind, likelihoods are those
 * of y less the mean, and predictions have it added: with features, y - mean = features x weights + noise.
 *
 * Where there is a network, layer l (from 1) is `weight_l`, outputs x inputs, and `bias_l`, outputs x 1; the kernel and
 * its length scales are then on its outputs. */

/**
 * An exact Gaussian process on all training rows: `signal_scale`, `noise_scale`, `length_scale`, `mean`.
 */
#define GPB_MODEL_KIND_GP 1

/**
 * Inducing points with a variational distribution: those of `GP`, and `z`, m x d; `q_mean`, m x 1; `q_root`,
 * m x m, lower triangular; `jitter`, 1 x 1. With L L^T = K(z, z) + jitter I, f(z) = L v and v has mean
 * `q_mean` and covariance `q_root` `q_root`^T.
 */
#define GPB_MODEL_KIND_INDUCING 2

/**
 * Finitely many features of a network: `noise_scale`, the network's layers, and where the kernel is
 * approximated by random features, `signal_scale`, `length_scale` (1 x 1) and `frequencies` (outputs x R/2, standard
 * normal): the features are signal_scale / sqrt(R/2) [sin(a), cos(a)], a = z frequencies / length_scale.
 */
#define GPB_MODEL_KIND_FEATURES 3

/**
 * `GP` on a network's outputs.
 */
#define GPB_MODEL_KIND_NETWORK_GP 4

/**
 * `INDUCING` on a network's outputs; `z` are inputs of the network.
 */
#define GPB_MODEL_KIND_NETWORK_INDUCING 5

/**
 * Exact processes on subsets, combined: `signal_scale`, `noise_scale` and `mean`, 1 x k; `length_scale`, d x k;
 * `rows`, r x k, whole numbers from 0; `weight`, 1 x k; `combine`, 1 x 1: 0 if the variances of y are
 * combined, 1 if those of the latent function are and the mean of the noise variances is added.
 */
#define GPB_MODEL_KIND_EXPERTS 6

/**
 * An exact process that predicts each row from its nearest training rows only: those of `GP`, and `neighbours`,
 * 1 x 1, their number (all rows if there are fewer). Nearest by the distance of x / length_scale; of equally near
 * rows the first. With `z`, `q_mean`, `q_root` and `jitter` as of `INDUCING`, f is A^T v + r: v has that
 * distribution, A is L^-1 K(z, x), and r has the covariance R = K - A^T A. The neighbours N of a row are then those
 * of the largest |R_*j| / sqrt(R_** R_jj), rounded to 1e-9, where a variance is at least 1e-12 signal_scale^2. With
 * b = (R_NN + noise_scale^2 I)^-1 R_N* and phi = a_* - A_N b the mean is b^T y_N + phi^T `q_mean`, and the latent
 * variance R_** - b^T R_N* + |`q_root`^T phi|^2. Since minor version 4.
 */
#define GPB_MODEL_KIND_NEIGHBOURS 7

/**
 * A process that is conditioned on projections S^T y of the targets alone: those of `GP`, and S, n x i, a column for
 * each action. Either `actions` is S, or each row is in one action at most: `action`, n x 1, whole numbers from 0, is
 * the action of each row, and `entry`, n x 1, the row's entry in it. Actions are linearly independent. With
 * G = S^T (K + noise_scale^2 I) S and q = S^T K_X* the mean is q^T G^-1 S^T y, and the latent variance
 * signal_scale^2 - q^T G^-1 q, which what the actions leave out makes larger. Since minor version 5.
 */
#define GPB_MODEL_KIND_ACTIONS 8

/**
 * Outcome of a call: zero and positive values are outcomes, negative ones errors.
 *
 * Before returning an error, the callee passes its text to `GpbHost.set_error`.
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
     * Permitted texts; null if any will do. Of a parameter of kind `INT`: words that it takes beside
     * numbers.
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
     * `gpbench.parallel_for/1`, `script/1`, `process/1`, `parts/1`. Any thread.
     */
    const void *(*extension)(const struct GpbHost *object, const struct GpbStr *id);
} GpbHost;

/**
 * One of the things that a library consists of; static. Frozen.
 */
typedef struct GpbPart {
    /**
     * One of `GPB_PART_KIND_*`.
     */
    int32_t kind;
    /**
     * Zero.
     */
    int32_t reserved;
    /**
     * Name: of a file, one that does not depend on the folder that the script lies in.
     */
    struct GpbStr name;
    /**
     * Version; empty for files.
     */
    struct GpbStr version;
    /**
     * Absolute path of a file with the hash `sha256`: the file itself, a package's list of files, the interpreter.
     */
    struct GpbStr path;
    /**
     * SHA-256 of that file's content: 64 lower-case hexadecimal digits. The host computes it again.
     */
    struct GpbStr sha256;
} GpbPart;

/**
 * What readers who choose a method want to know of it; static. Each is one line, or empty where it is not stated.
 * In these texts n is the number of rows, d of inputs and s of right-hand sides. Frozen.
 */
typedef struct GpbFacts {
    /**
     * Work of a step: kernel entries, and operations where they matter more.
     */
    struct GpbStr step;
    /**
     * Numbers that are held beyond the data.
     */
    struct GpbStr memory;
    /**
     * What is true of every result.
     */
    struct GpbStr guarantees;
    /**
     * When to use it, and when not.
     */
    struct GpbStr advice;
} GpbFacts;

/**
 * A matrix A with n rows and m columns, known through its products.
 *
 * For Gaussian processes A = K(X, X) + noise_scale^2 I and m = n, except with
 * inducing points: then A = K(X, Z) for m basis points Z, without noise. Only
 * solvers with `GPB_CAPABILITY_INDUCING` get such problems; the basis
 * points of `GpbInputs` show it. Where repeated inputs of a data set are collapsed, the rows
 * are the unique inputs, and A = S K S + noise_scale^2 I with the square roots of their counts on
 * the diagonal of S: again a symmetric matrix plus the noise variance, with matching right-hand
 * sides, so that most solvers need not know. Every call counts the kernel
 * entries it uses; n^2 of them are one epoch. A call whose entries do not fit into
 * the budget does nothing and answers `GPB_STATUS_STOPPED`. Lives as long as the problem.
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
 * equations 12 and 13). The residual is then half of the negative gradient,
 * K(Z, X) (b - K(X, Z) x) - noise_scale^2 K(Z, Z) x, and its norm is relative to that at x = 0.
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
     * Right-hand sides, n x s. Read-only.
     */
    const struct GpbMat *rhs;
    /**
     * In: where to start from (zero, or a warm start). Out: the solution. m x s. Read-only
     * during `prepare`.
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
     * A solver calls it after every iteration, or, where iterations are cheap, a few times an epoch,
     * with one relative residual norm a column (`n_norms` = s), or `n_norms` = 0 if none is known.
     * Answers `DONE` (continue), `STOPPED`, or `ITERATE`: put the current iterate (the averaged one,
     * if it is what would be returned) into `x` and call again with the same arguments. From
     * the thread that `solve` was called on.
     */
    GpbStatus (*observe)(const struct GpbProblem *problem,
                         int64_t iteration,
                         const double *norms,
                         int64_t n_norms);
    /**
     * `gpbench.targets/1`, `state/1`, `volatile/1`, `trace/1`.
     */
    const void *(*extension)(const struct GpbProblem *object, const struct GpbStr *id);
} GpbProblem;

/**
 * A solver's report of a finished solve. The host passes it with zeros but for `size`. What it
 * points to belongs to the plugin and lives until the next call on the solver object.
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
     * Relative residual norms that the solver claims, one a column; null if none.
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
 * Sizes of problems to come. Lives until the call that it is passed to returns.
 */
typedef struct GpbShape {
    /**
     * Size of this struct in bytes.
     */
    uint32_t size;
    /**
     * One of `GPB_FAMILY_*`, without `SCALED`; 0 if it is unknown.
     */
    int32_t family;
    /**
     * Rows.
     */
    int64_t n;
    /**
     * Unknowns: n, or the number of inducing points.
     */
    int64_t m;
    /**
     * Inputs.
     */
    int64_t d;
    /**
     * Right-hand sides of a linear system; outputs of a learner's targets.
     */
    int64_t s;
    /**
     * Threads that may be used.
     */
    uint32_t threads;
    /**
     * Zero.
     */
    uint32_t reserved;
    /**
     * Rows of a minibatch; 0 if that is unknown.
     */
    int64_t batch;
} GpbShape;

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
     * the kinds of the schema, already checked against its ranges; their texts live
     * until the call returns. On `DONE`, `*out` is the
     * object, owned by the plugin until `destroy`.
     */
    GpbStatus (*create)(const struct GpbHost *host,
                        const struct GpbValue *values,
                        int64_t n_values,
                        void **out);
    /**
     * Sets up for a problem: preconditioners, factors. Timed separately from `solve` and charged
     * to the same budget; `STOPPED` if the budget does not suffice. Null if there is nothing to set up.
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
     * Destroys an object.
     */
    void (*destroy)(void *solver);
    /**
     * The work to cite for the method: one bibliographic entry with authors, title, venue and year, which
     * reports list. Empty if there is none. Since minor version 1.
     */
    struct GpbStr source;
    /**
     * Gets ready for problems of these sizes, without data: compiles, allocates, starts threads. Called before the
     * first `prepare`, and again before a `prepare` with other sizes. Its seconds are no part of the solver's,
     * but count towards the time limit of the case. There is no problem yet, so it has nothing of the host's to call but the
     * functions of `GpbHost`. Null if there is nothing to get ready. Since minor version 3.
     */
    GpbStatus (*warm_up)(void *solver, const struct GpbShape *shape);
    /**
     * What readers who choose a method want to know of it. Since minor version 5.
     */
    struct GpbFacts facts;
} GpbSolver;

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
 * Fully connected layers between inputs and kernel, each W x + b followed by the activation. Lives as long as the
 * fit.
 */
typedef struct GpbNetwork {
    /**
     * Size of this struct in bytes.
     */
    uint32_t size;
    /**
     * One of `GPB_ACTIVATION_*`.
     */
    int32_t activation;
    /**
     * Widths of the layers, from the one that sees the inputs to the one that the kernel sees.
     */
    const int64_t *widths;
    /**
     * Number of layers, at least 1.
     */
    int64_t n_widths;
    /**
     * Number of random Fourier features, sines and cosines together, by which learners with
     * `GPB_CAPABILITY_FINITE` approximate a kernel of infinite dimension; 0 with a linear kernel.
     */
    int64_t random;
} GpbNetwork;

/**
 * What to fit. It and what it points to live until the call that it is passed to returns: a learner copies what it
 * needs to predict. Calls of one fit get the same data, wherever they lie; `passes` may grow from call to call.
 */
typedef struct GpbFit {
    /**
     * Size of this struct in bytes.
     */
    uint32_t size;
    /**
     * Threads that the learner may use, itself included.
     */
    uint32_t threads;
    /**
     * Seed of the learner's own random numbers.
     */
    uint64_t seed;
    /**
     * Training inputs, n x d; the kernel's family; the scales to start from. `basis` has inducing points chosen
     * by the host, m x d, or null data. With a network, the family is that of the kernel on the network's
     * outputs, and `length_scale` has one entry for each of them.
     */
    const struct GpbInputs *inputs;
    /**
     * Training targets, n x 1, centred.
     */
    const struct GpbMat *y;
    /**
     * Prior mean to start from; with `GPB_FIT_FLAG_TRAINED_MEAN` it is trained, else it stays.
     */
    double mean;
    /**
     * Bits of `GPB_FIT_FLAG_*`.
     */
    uint64_t flags;
    /**
     * The network between inputs and kernel; null: the kernel is on the inputs. Only for learners with
     * `GPB_CAPABILITY_NETWORK`.
     */
    const struct GpbNetwork *network;
    /**
     * Passes over the training rows of stream 0 that the host will grant at most, for schedules.
     */
    double passes;
    /**
     * The host's own.
     */
    void *ctx;
    /**
     * The next rows of a stream's shuffle into `rows`, their number into `*got`: `want` of them, or fewer at
     * the end of a pass, or all n where `want` is larger. A pass is a permutation of all rows, drawn anew for
     * each pass; learners with the same seed and batch size get the same rows. The stream is a number below 2^16,
     * plus bits of `GPB_STREAM_*`. Stream 0, with whatever bits, counts passes: it answers `STOPPED`, and gives no rows,
     * when they are spent. A step draws from it first, so that a step which is not granted has drawn nothing.
     * Only in `begin` and `fit`.
     */
    GpbStatus (*batch)(const struct GpbFit *fit, uint32_t stream, int64_t *rows, int64_t want, int64_t *got);
    /**
     * Reports work beside that of `batch`'s rows: rows used again, kernel entries evaluated, rows taken through
     * the network or the random features. Answers `STOPPED` once the time is up, else `DONE`; a step may then be completed. Only in
     * `begin` and `fit`.
     */
    GpbStatus (*charge)(const struct GpbFit *fit, int64_t rows, int64_t entries, int64_t features);
    /**
     * A learner calls it after every step, with the number of steps since `begin` and the step's objective as the
     * method has it, a finite number: a learner whose objective is not one returns with the reason `DIVERGED`.
     * Answers `DONE` (go on) or `STOPPED` (keep the state and return). Only in `fit`.
     */
    GpbStatus (*observe)(const struct GpbFit *fit, int64_t step, double objective);
    /**
     * `gpbench.fit-trace/1`.
     */
    const void *(*extension)(const struct GpbFit *object, const struct GpbStr *id);
} GpbFit;

/**
 * Named matrices that a learner puts and the host keeps. Lives until the call that it is passed to returns.
 */
typedef struct GpbStore {
    /**
     * Size of this struct in bytes.
     */
    uint32_t size;
    /**
     * Zero.
     */
    uint32_t reserved;
    /**
     * The host's own.
     */
    void *ctx;
    /**
     * Keeps a copy of a matrix under a name of up to 64 lower-case letters, digits and underscores, in place of
     * an earlier one. `UNSUPPORTED` during `load`.
     */
    GpbStatus (*put)(const struct GpbStore *store, const struct GpbStr *name, const struct GpbMat *value);
    /**
     * The matrix of that name: its shape into `*rows` and `*cols` (-1 and -1 if there is none), and its first
     * `capacity` entries, column after column, into `out`, which may be null if `capacity` is 0.
     */
    GpbStatus (*get)(const struct GpbStore *store,
                     const struct GpbStr *name,
                     double *out,
                     int64_t capacity,
                     int64_t *rows,
                     int64_t *cols);
} GpbStore;

/**
 * A method that fits and predicts by itself; static.
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
     * The work to cite for the method, as of a solver. Empty if there is none. This and all that follows: since
     * minor version 2.
     */
    struct GpbStr source;
    /**
     * Makes an object, as of a solver.
     */
    GpbStatus (*create)(const struct GpbHost *host,
                        const struct GpbValue *values,
                        int64_t n_values,
                        void **out);
    /**
     * Begins a fit: starting values, subsets, first averages. Forgets an earlier fit of the object. Timed as
     * preparation.
     */
    GpbStatus (*begin)(void *learner, const struct GpbFit *fit);
    /**
     * Takes steps, each followed by `GpbFit.observe`, until the host says `STOPPED` or the method ends by
     * itself. It then keeps its state, fills `report` as a solver does (`iterations` counts the steps of all calls since
     * `begin`; nothing is claimed) and returns `DONE`. The host may call it again; the steps that follow are
     * the same as without the pause.
     */
    GpbStatus (*fit)(void *learner, const struct GpbFit *fit, struct GpbReport *report);
    /**
     * Predicts at `x`, m x d: the mean of y into the first column of `out`, m x 2, and the variance of y, noise
     * included, into the second. A row's prediction does not depend on the other rows. Only after `begin` or `load`.
     * `UNSUPPORTED`: the learner declines, for example where its predictions would take too much memory. The host then
     * predicts from the model, if the learner has put one.
     */
    GpbStatus (*predict)(void *learner, const struct GpbMat *x, struct GpbMat *out);
    /**
     * Puts what was learned into `store`, as arrays of one of `GPB_MODEL_KIND_*`. Null or `UNSUPPORTED`: the host has
     * nothing to compute predictions from, and results are marked as the learner's own.
     * `NOT_POSITIVE_DEFINITE`, as from `fit` and `predict`: the fit has diverged.
     */
    GpbStatus (*model)(void *learner, const struct GpbStore *store);
    /**
     * Puts the whole state into `store`: after `load` the next steps are bit by bit the ones that would
     * have followed. Null or `UNSUPPORTED`: an interrupted case begins again.
     */
    GpbStatus (*save)(void *learner, const struct GpbStore *store);
    /**
     * Takes the place of `begin` for an object that goes on from a saved state. A state of another data set or
     * other parameters is an error. Null where `save` is.
     */
    GpbStatus (*load)(void *learner, const struct GpbFit *fit, const struct GpbStore *store);
    /**
     * Bytes that a fit with n rows and d inputs will need beyond the data. Null: a small multiple of n d.
     */
    GpbStatus (*estimate)(void *learner, int64_t n, int64_t d, double *bytes);
    /**
     * Destroys an object.
     */
    void (*destroy)(void *learner);
    /**
     * As of a solver, before `begin` and `load`. Since minor version 3.
     */
    GpbStatus (*warm_up)(void *learner, const struct GpbShape *shape);
    /**
     * As of a solver. Since minor version 5.
     */
    struct GpbFacts facts;
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
    /**
     * First of `n_parts` parts: what the library consists of beside its own file; null if there is nothing else. The
     * identity of a script is that of its parts, which name the script too. This and all that follows: since
     * minor version 3.
     */
    const struct GpbPart *parts;
    /**
     * Number of parts.
     */
    int64_t n_parts;
    /**
     * Distance between two parts in bytes.
     */
    int64_t part_stride;
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
     * out = A[rows, cols], n_rows x n_cols. The noise variance is added where a row's index equals
     * a column's, unless the columns have basis points of their own. Counts n_rows n_cols
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
 * Products with random Fourier features Phi of the columns' points, m x count, such that
 * E[Phi Phi^T] = K there: at the inputs, or at the basis points if the columns have them. With
 * scales each row of Phi is multiplied by its own: E[Phi Phi^T] = S K S.
 *
 * Costs are shown separately from kernel entries; no entries are counted.
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
 * State that a solver saves from one outer step to the next, across processes.
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
     * Saves bytes under `key`, in place of earlier ones. They are copied.
     */
    GpbStatus (*save)(const struct GpbProblem *problem,
                      const struct GpbStr *key,
                      const uint8_t *bytes,
                      int64_t len);
} GpbState;

/**
 * Objects of the plugin's own that stay in memory from one outer step to the next, such as a factor of the matrix
 * that is too large for `GpbState`.
 *
 * No object outlives the process: after a restart, and in a second solve that has to be independent, nothing is
 * found. Results must not depend on that, to the last bit. So a solver saves by `GpbState` what it needs to make the
 * object again.
 */
typedef struct GpbVolatile {
    /**
     * Size of this struct in bytes.
     */
    uint32_t size;
    /**
     * Zero.
     */
    uint32_t reserved;
    /**
     * Hands over `object`, which is not null and takes up `bytes` bytes, in place of an earlier one under `key`. The
     * host calls `free(object)` once, from the thread that it calls the plugin on, unless `take` gives the object
     * back. After an error the object is still the plugin's.
     */
    GpbStatus (*keep)(const struct GpbProblem *problem,
                      const struct GpbStr *key,
                      void *object,
                      int64_t bytes,
                      void (*free)(void *object));
    /**
     * Gives the object under `key` back, into `*object`: null if there is none. It is the plugin's from then on.
     */
    GpbStatus (*take)(const struct GpbProblem *problem, const struct GpbStr *key, void **object);
} GpbVolatile;

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
     * digits and underscores, which is copied. They are separate from the host's own numbers. One that
     * is not finite is ignored. Answers `DONE` whatever the budget. The
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
 * The script that a bridge is asked to serve.
 *
 * A script is a library that is no shared object, such as a source file of an interpreted language. For `x.END` the
 * host loads the shared object `libgpbench_bridge_END.so` in its place, the bridge, whose entry function reads
 * this table and describes the script's solvers and learners. Lives until the process ends.
 */
typedef struct GpbScript {
    /**
     * Size of this struct in bytes.
     */
    uint32_t size;
    /**
     * Threads that the solvers and learners of this process may use; 1 where the library is only described.
     */
    uint32_t threads;
    /**
     * The script: an absolute path.
     */
    struct GpbStr file;
    /**
     * The program that runs the script, as the user named it; empty if the bridge chooses one.
     */
    struct GpbStr runtime;
    /**
     * Bytes of memory at which this process and its children are ended; 0 where there is no limit.
     */
    int64_t memory;
} GpbScript;

/**
 * Processes that belong to a library.
 */
typedef struct GpbProcess {
    /**
     * Size of this struct in bytes.
     */
    uint32_t size;
    /**
     * Zero.
     */
    uint32_t reserved;
    /**
     * Adopts a child process of this one: from now on its processor time and its memory count as the library's own,
     * and so do those of its children that it has waited for. Time that it used before counts too. Any thread. The library
     * itself waits for its child. `INVALID_ARGUMENT` if `pid` is no process that this one has started.
     */
    GpbStatus (*adopt)(const struct GpbHost *host, int64_t pid);
} GpbProcess;

/**
 * Parts of a library that are found while it runs.
 */
typedef struct GpbParts {
    /**
     * Size of this struct in bytes.
     */
    uint32_t size;
    /**
     * Zero.
     */
    uint32_t reserved;
    /**
     * Reports a part that is in use; what it points to is copied. If it is not one of `GpbPlugin.parts`, the
     * result of the case is not used again by later runs, and its row names the part. Any thread.
     */
    GpbStatus (*add)(const struct GpbHost *host, const struct GpbPart *part);
} GpbParts;

/**
 * Numbers of the learner's own for the trace.
 */
typedef struct GpbFitTrace {
    /**
     * Size of this struct in bytes.
     */
    uint32_t size;
    /**
     * Zero.
     */
    uint32_t reserved;
    /**
     * Puts `value` into the trace at this step, under a name as of `GpbTrace`. The clock is paused inside.
     */
    GpbStatus (*note)(const struct GpbFit *fit, int64_t step, const struct GpbStr *name, double value);
} GpbFitTrace;

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
