/* Richardson's iteration with Chebyshev acceleration: a whole gpbench plugin in C99.
 *
 * Each step moves the iterate along the residual and along the step before:
 *
 *     d = step (b - A x) + momentum d,    x = x + d
 *
 * For eigenvalues of A between `smallest` and `largest`, Chebyshev's polynomials give the best sequence of
 * steps and momenta (Golub and Varga 1961; in the form of Saad 2003, Algorithm 12.1). Constant ones, as in
 * Richardson's iteration of second order, converge about as fast in the end, but the residual grows a hundredfold at first.
 *
 * `smallest` is the noise variance. `largest` comes from power iterations, with the upper bound of Collatz and
 * Wielandt: no eigenvalue of a matrix without negative entries exceeds
 * max_i (A v)_i / v_i, for any v > 0. So the step is safe, however few power iterations there are.
 *
 * Where to begin reading: `gpbench_plugin_v1` at the end, then `solve`. The rules of the interface stand at
 * the top of gpbench.h, and each function's own beside it. */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "gpbench.h"

/* A GpbStr of a literal. */
#define TEXT(literal) {literal, sizeof(literal) - 1}

/* Relative residual that counts as divergence. */
static const double DIVERGENCE = 1e10;

/* Iterations without a new best residual that count as stagnation. */
static const int64_t PATIENCE = 1000;

/* The solver object, which the host holds as a `void *`. */
typedef struct Richardson {
    const GpbHost *host;
    /* Parameters, in the order of `params` below. */
    int64_t power_iterations;
    int accelerate;
    int64_t max_iterations;
    /* Made by `prepare`: A's eigenvalues lie between them. 0: no lower bound is known. */
    double smallest;
    double largest;
    /* Made by `solve`. The report points into it, so it is kept until the next call. */
    double *memory;
} Richardson;

/* ---- Calls of the host ---- */

/* Reports why a call fails. Every negative status needs such a text. */
static GpbStatus fail(const GpbHost *host, GpbStatus status, const char *text)
{
    const GpbStr line = {text, (int64_t)strlen(text)};
    host->set_error(host, status, &line);
    return status;
}

/* `x` holds the iterate at each observation, so a host that asks for it is called again at once. */
static GpbStatus observe(const GpbProblem *problem, int64_t iteration, const double *norms)
{
    GpbStatus status = problem->observe(problem, iteration, norms, problem->rhs->cols);
    if (status == GPB_STATUS_ITERATE)
        status = problem->observe(problem, iteration, norms, problem->rhs->cols);
    return status;
}

/* An extension of the operator: what A is made of. Null if the host lacks it. */
static const GpbInputs *inputs_of(const GpbOperator *op)
{
    const GpbStr id = TEXT(GPB_ID_INPUTS);
    const GpbInputs *inputs = op->extension(op, &id);
    return inputs != NULL && inputs->size >= sizeof(GpbInputs) ? inputs : NULL;
}

/* Allocates an array, in place of the earlier one. Null if there is no memory. */
static double *reserve(Richardson *self, int64_t count)
{
    free(self->memory);
    self->memory = calloc((size_t)count, sizeof(double));
    return self->memory;
}

/* ---- The mathematics ---- */

static double *column(const GpbMat *mat, int64_t j)
{
    return mat->data + j * mat->ld;
}

static double norm(const double *v, int64_t n)
{
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++)
        sum += v[i] * v[i];
    return sqrt(sum);
}

/* Turns A x, which stands in `r`, into b - A x. */
static void subtract_from(const GpbMat *b, GpbMat *r)
{
    for (int64_t j = 0; j < b->cols; j++)
        for (int64_t i = 0; i < b->rows; i++)
            column(r, j)[i] = column(b, j)[i] - column(r, j)[i];
}

/* Residual norms relative to the right-hand sides, one a column. Returns the number that is
 * compared with the tolerance: the largest of the targets or the mean of the probes, whichever is larger; NaN if
 * one of them is. */
static double measure(const GpbProblem *problem, const GpbMat *r, double *norms)
{
    const GpbMat *b = problem->rhs;
    double worst = 0.0, probes = 0.0;
    for (int64_t j = 0; j < b->cols; j++) {
        const double scale = norm(column(b, j), b->rows);
        norms[j] = norm(column(r, j), b->rows) / (scale > 0.0 ? scale : 1.0);
        if (j >= problem->n_targets)
            probes += norms[j] / (double)(b->cols - problem->n_targets);
        else if (norms[j] > worst || isnan(norms[j]))
            worst = norms[j];
    }
    /* NaN if either is. */
    return probes <= worst || isnan(worst) ? worst : probes;
}

/* Step and momentum of an iteration. `rho` is Chebyshev's ratio, passed from one iteration to the next. */
static void pace(const Richardson *self, int64_t iteration, double *rho, double *step, double *momentum)
{
    const double center = (self->largest + self->smallest) / 2.0;
    /* Not zero, since it is a divisor. */
    const double halfwidth = fmax((self->largest - self->smallest) / 2.0, 1e-16 * center);
    *momentum = 0.0;
    if (!self->accelerate || self->smallest <= 0.0) {
        *step = 1.0 / self->largest;
    } else if (iteration == 0) {
        *rho = halfwidth / center;
        *step = 1.0 / center;
    } else {
        const double next = 1.0 / (2.0 * center / halfwidth - *rho);
        *momentum = next * *rho;
        *step = 2.0 * next / halfwidth;
        *rho = next;
    }
}

/* d = step r + momentum d, then y = x + d. */
static void advance(double step, double momentum, const GpbMat *r, GpbMat *d, const GpbMat *x, GpbMat *y)
{
    for (int64_t j = 0; j < x->cols; j++)
        for (int64_t i = 0; i < x->rows; i++) {
            column(d, j)[i] = step * column(r, j)[i] + momentum * column(d, j)[i];
            column(y, j)[i] = column(x, j)[i] + column(d, j)[i];
        }
}

static void copy(const GpbMat *from, GpbMat *to)
{
    for (int64_t j = 0; j < from->cols; j++)
        memcpy(column(to, j), column(from, j), (size_t)from->rows * sizeof(double));
}

static int is_zero(const GpbMat *x)
{
    for (int64_t j = 0; j < x->cols; j++)
        for (int64_t i = 0; i < x->rows; i++)
            if (column(x, j)[i] != 0.0)
                return 0;
    return 1;
}

/* ---- Functions that the host calls ---- */

/* Values come checked against the schema: right kinds, within their ranges. */
static GpbStatus create(const GpbHost *host, const GpbValue *values, int64_t n_values, void **out)
{
    if (n_values != 3)
        return fail(host, GPB_STATUS_INVALID_ARGUMENT, "three parameters were expected");
    Richardson *self = calloc(1, sizeof *self);
    if (self == NULL)
        return fail(host, GPB_STATUS_OUT_OF_MEMORY, "no memory for the solver");
    self->host = host;
    self->power_iterations = values[0].i;
    self->accelerate = values[1].i != 0;
    self->max_iterations = values[2].i;
    *out = self;
    return GPB_STATUS_DONE;
}

/* Bounds the spectrum. Timed apart from `solve`, but each product counts against the same budget. */
static GpbStatus prepare(void *solver, const GpbProblem *problem)
{
    Richardson *self = solver;
    const GpbOperator *op = problem->op;
    const int64_t n = op->n;
    if (op->m != n)
        return fail(self->host, GPB_STATUS_UNSUPPORTED, "A is not square");
    if (reserve(self, 2 * n) == NULL)
        return fail(self->host, GPB_STATUS_OUT_OF_MEMORY, "no memory for two vectors");
    GpbMat v = {self->memory, n, 1, n}, product = {self->memory + n, n, 1, n};
    for (int64_t i = 0; i < n; i++)
        v.data[i] = 1.0;
    for (int64_t k = 0; k < self->power_iterations; k++) {
        const GpbStatus status = op->apply(op, &v, &product);
        if (status == GPB_STATUS_STOPPED)
            return status; /* The budget does not suffice: not an error. */
        if (status != GPB_STATUS_DONE)
            return fail(self->host, status, "a product with A failed");
        double most = 0.0;
        self->largest = 0.0;
        for (int64_t i = 0; i < n; i++) {
            if (!(product.data[i] > 0.0))
                return fail(self->host, GPB_STATUS_UNSUPPORTED,
                            "the bound on A's eigenvalues needs a matrix without negative entries");
            self->largest = fmax(self->largest, product.data[i] / v.data[i]);
            most = fmax(most, product.data[i]);
        }
        for (int64_t i = 0; i < n; i++)
            v.data[i] = product.data[i] / most;
    }
    const GpbInputs *inputs = inputs_of(op);
    self->smallest = inputs != NULL ? inputs->noise_scale * inputs->noise_scale : 0.0;
    return GPB_STATUS_DONE;
}

static GpbStatus solve(void *solver, const GpbProblem *problem, GpbReport *report)
{
    Richardson *self = solver;
    const GpbOperator *op = problem->op;
    const GpbMat *b = problem->rhs;
    GpbMat *x = problem->x;
    const int64_t n = b->rows, s = b->cols;

    double *norms = reserve(self, s + 3 * n * s);
    if (norms == NULL)
        return fail(self->host, GPB_STATUS_OUT_OF_MEMORY, "no memory for residual, step and iterate");
    GpbMat r = {norms + s, n, s, n};             /* residual of x */
    GpbMat d = {norms + s + n * s, n, s, n};     /* the last step */
    GpbMat y = {norms + s + 2 * n * s, n, s, n}; /* the iterate to come */

    /* The solution to a zero right-hand side is zero. */
    for (int64_t j = 0; j < s; j++)
        if (norm(column(b, j), n) == 0.0)
            memset(column(x, j), 0, (size_t)n * sizeof(double));

    /* `x` holds the start. If it is zero, its residual needs no product. */
    GpbStatus status = is_zero(x) ? GPB_STATUS_DONE : op->apply(op, x, &r);
    if (status < 0)
        return fail(self->host, status, "a product with A failed");
    if (status == GPB_STATUS_STOPPED) {
        /* The budget does not suffice for the first residual. */
        report->reason = GPB_REASON_STOPPED;
        return GPB_STATUS_DONE;
    }
    subtract_from(b, &r);

    double best = INFINITY, rho = 0.0, step, momentum;
    int64_t iteration = 0, best_at = 0;
    for (;; iteration++) {
        const double worst = measure(problem, &r, norms);
        status = observe(problem, iteration, norms);
        if (status < 0)
            return fail(self->host, status, "`observe` failed");
        if (worst <= problem->tolerance) { /* without a tolerance, that is 0 */
            report->reason = GPB_REASON_CONVERGED;
            break;
        }
        if (status == GPB_STATUS_STOPPED) {
            report->reason = GPB_REASON_STOPPED;
            break;
        }
        if (!(worst <= DIVERGENCE)) {
            report->reason = GPB_REASON_DIVERGED;
            break;
        }
        if (worst < best) {
            best = worst;
            best_at = iteration;
        } else if (iteration - best_at >= PATIENCE) {
            report->reason = GPB_REASON_STAGNATED;
            break;
        }
        if (self->max_iterations > 0 && iteration >= self->max_iterations) {
            report->reason = GPB_REASON_ITERATIONS;
            break;
        }
        pace(self, iteration, &rho, &step, &momentum);
        advance(step, momentum, &r, &d, x, &y);
        status = op->apply(op, &y, &r);
        if (status < 0)
            return fail(self->host, status, "a product with A failed");
        if (status == GPB_STATUS_STOPPED) {
            /* Nothing has changed: `x` is still the iterate that `norms` belong to. */
            report->reason = GPB_REASON_STOPPED;
            break;
        }
        subtract_from(b, &r);
        copy(&y, x);
    }

    /* The claim is the residual computed from `x`. The harness computes the true one. */
    static const GpbStr names[] = {TEXT("largest_eigenvalue_bound")};
    report->iterations = iteration;
    report->claimed = norms;
    report->n_claimed = s;
    report->names = names;
    report->values = &self->largest;
    report->n_values = 1;
    return GPB_STATUS_DONE;
}

/* Bytes beyond the problem itself, for `gpbench plan`. */
static GpbStatus estimate(void *solver, int64_t n, int64_t d, int64_t s, double *bytes)
{
    (void)solver;
    (void)d;
    *bytes = 8.0 * 3.0 * (double)n * (double)s;
    return GPB_STATUS_DONE;
}

static void destroy(void *solver)
{
    Richardson *self = solver;
    if (self != NULL)
        free(self->memory);
    free(self);
}

/* ---- The description, which `gpbench plugin inspect` prints ---- */

static const GpbParam params[] = {
    {.name = TEXT("power_iterations"),
     .doc = TEXT("Power iterations for the bound on the largest eigenvalue; each costs an epoch"),
     .default_ = {.kind = GPB_VALUE_KIND_INT, .i = 10},
     .min = {.kind = GPB_VALUE_KIND_INT, .i = 1},
     .max = {.kind = GPB_VALUE_KIND_INT, .i = 1000}},
    {.name = TEXT("accelerate"),
     .doc = TEXT("Whether steps follow Chebyshev's polynomials; without, they are all alike"),
     .default_ = {.kind = GPB_VALUE_KIND_BOOL, .i = 1}},
    {.name = TEXT("max_iterations"),
     .doc = TEXT("Iterations after which to give up; 0 leaves it to the tolerance and the budget"),
     .default_ = {.kind = GPB_VALUE_KIND_INT, .i = 0},
     .min = {.kind = GPB_VALUE_KIND_INT, .i = 0}},
};

static const GpbSolver solvers[] = {{
    .size = sizeof(GpbSolver),
    .capabilities = GPB_CAPABILITY_WARM_START,
    .id = TEXT("c-richardson"),
    .doc = TEXT("Richardson's iteration with Chebyshev acceleration, written in C"),
    .params = params,
    .n_params = sizeof params / sizeof params[0],
    .create = create,
    .prepare = prepare,
    .solve = solve,
    .estimate = estimate,
    .destroy = destroy,
    .source = TEXT("G. H. Golub, R. S. Varga. Chebyshev semi-iterative methods, successive overrelaxation iterative "
                   "methods, and second order Richardson iterative methods. Numerische Mathematik 3, 1961."),
}};

static const GpbPlugin plugin = {
    .size = sizeof(GpbPlugin),
    .minor = GPB_MINOR,
    .name = TEXT("c-richardson"),
    .version = TEXT("0.1.0"),
    .solvers = solvers,
    .n_solvers = 1,
    .solver_stride = sizeof(GpbSolver),
};

/* The one symbol that the library exports; all else is static. */
const GpbPlugin *gpbench_plugin_v1(const GpbHost *host)
{
    return host != NULL && host->size >= sizeof(GpbHost) ? &plugin : NULL;
}
