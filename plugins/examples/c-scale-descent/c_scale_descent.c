/* Signal and noise scale of a Gaussian process by gradient descent on minibatches: a whole learner in C99.
 *
 * Each step draws a minibatch S of b rows and goes down the gradient of its negative log marginal likelihood,
 *
 *     nlml = (y^T a + log|H| + b log 2 pi) / 2b,   H = signal^2 k(S, S) + noise^2 I,   a = H^-1 y,
 *
 * by the logarithms of the two scales. With t = tr H^-1 these derivatives are
 *
 *     (b - noise^2 t - y^T a + noise^2 a^T a) / b   and   noise^2 (t - a^T a) / b.
 *
 * Length scales and prior mean stay as they are given. Predictions are those of the exact process on all rows.
 *
 * Where to begin reading: `gpbench_plugin_v1` at the end, then `fit`. The rules of the interface stand at
 * the top of gpbench.h, and each function's own beside it. */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "gpbench.h"

/* A GpbStr of a literal. */
#define TEXT(literal) {literal, sizeof(literal) - 1}

static const double PI = 3.14159265358979323846;

/* What a saved state belongs to: sizes, parameters, and sums over the data. */
enum { IDENTITY = 7 };

/* The learner object, which the host holds as a `void *`. */
typedef struct Learner {
    const GpbHost *host;
    /* Parameters, in the order of `params` below. */
    int64_t batch;
    double learning_rate;
    /* Copied by `begin`, since the host's arrays end with the call. `x` is n x d, column after column. */
    int64_t n, d;
    double *x, *y, *length_scale;
    double mean;
    int32_t family;
    double identity[IDENTITY];
    /* What is learned: logarithms of the signal scale and of the noise scale. */
    double logs[2];
    int64_t steps;
} Learner;

/* Reports why a call fails. Every negative status needs such a text. */
static GpbStatus fail(const GpbHost *host, GpbStatus status, const char *text)
{
    const GpbStr line = {text, (int64_t)strlen(text)};
    host->set_error(host, status, &line);
    return status;
}

static double *array(int64_t count)
{
    return calloc((size_t)(count > 0 ? count : 1), sizeof(double));
}

/* ---- The mathematics ---- */

/* k at a distance r, divided by length scales. */
static double correlation(int32_t family, double r)
{
    const double a = sqrt(3.0) * r, b = sqrt(5.0) * r;
    switch (family) {
    case GPB_FAMILY_RBF:
        return exp(-r * r / 2.0);
    case GPB_FAMILY_MATERN12:
        return exp(-r);
    case GPB_FAMILY_MATERN32:
        return (1.0 + a) * exp(-a);
    default: /* Matern-5/2; `begin` refuses the others. */
        return (1.0 + b + b * b / 3.0) * exp(-b);
    }
}

/* k of the training row `row` and the point whose inputs are `point[k * stride]`. */
static double entry(const Learner *self, int64_t row, const double *point, int64_t stride)
{
    double squares = 0.0;
    for (int64_t k = 0; k < self->d; k++) {
        const double difference = (self->x[row + k * self->n] - point[k * stride]) / self->length_scale[k];
        squares += difference * difference;
    }
    return correlation(self->family, sqrt(squares));
}

/* Cholesky factor in place of the lower triangle of `h`, b x b, column after column. Whether there is one. */
static int cholesky(double *h, int64_t b)
{
    for (int64_t j = 0; j < b; j++) {
        if (!(h[j + j * b] > 0.0) || !isfinite(h[j + j * b]))
            return 0;
        const double root = sqrt(h[j + j * b]);
        for (int64_t i = j; i < b; i++)
            h[i + j * b] /= root;
        for (int64_t k = j + 1; k < b; k++)
            for (int64_t i = k; i < b; i++)
                h[i + k * b] -= h[i + j * b] * h[k + j * b];
    }
    return 1;
}

/* v = L^-1 v, where the entries before `first` are zero. */
static void forward(const double *factor, int64_t b, double *v, int64_t first)
{
    for (int64_t j = first; j < b; j++) {
        v[j] /= factor[j + j * b];
        for (int64_t i = j + 1; i < b; i++)
            v[i] -= factor[i + j * b] * v[j];
    }
}

/* v = L^-T v. */
static void backward(const double *factor, int64_t b, double *v)
{
    for (int64_t j = b - 1; j >= 0; j--) {
        for (int64_t i = j + 1; i < b; i++)
            v[j] -= factor[i + j * b] * v[i];
        v[j] /= factor[j + j * b];
    }
}

/* Factor of H and a = H^-1 (y - mean) of the rows; all of them if `rows` is null. Whether H is positive definite. */
static int posterior(const Learner *self, const int64_t *rows, int64_t b, double *factor, double *weights)
{
    const double signal = exp(2.0 * self->logs[0]), noise = exp(2.0 * self->logs[1]);
    for (int64_t j = 0; j < b; j++) {
        const int64_t row = rows != NULL ? rows[j] : j;
        for (int64_t i = j; i < b; i++)
            factor[i + j * b] =
                signal * entry(self, rows != NULL ? rows[i] : i, self->x + row, self->n) + (i == j ? noise : 0.0);
        weights[j] = self->y[row] - self->mean;
    }
    if (!cholesky(factor, b))
        return 0;
    forward(factor, b, weights, 0);
    backward(factor, b, weights);
    return 1;
}

/* One step on these rows; its objective, which is not a number if H is not positive definite. `memory` has room
 * for b (b + 2) numbers. */
static double step(Learner *self, const int64_t *rows, int64_t b, double *memory)
{
    double *factor = memory, *weights = memory + b * b, *column = weights + b;
    if (!posterior(self, rows, b, factor, weights))
        return NAN;
    double trace = 0.0, determinant = 0.0, fit = 0.0, norm = 0.0;
    for (int64_t j = 0; j < b; j++) {
        /* tr H^-1 is the sum of squares of L^-1, whose columns these are. */
        memset(column, 0, (size_t)b * sizeof(double));
        column[j] = 1.0;
        forward(factor, b, column, j);
        for (int64_t i = j; i < b; i++)
            trace += column[i] * column[i];
        determinant += 2.0 * log(factor[j + j * b]);
        fit += (self->y[rows[j]] - self->mean) * weights[j];
        norm += weights[j] * weights[j];
    }
    const double noise = exp(2.0 * self->logs[1]), count = (double)b;
    self->logs[0] -= self->learning_rate * (count - noise * trace - fit + noise * norm) / count;
    self->logs[1] -= self->learning_rate * noise * (trace - norm) / count;
    return (fit + determinant + count * log(2.0 * PI)) / (2.0 * count);
}

/* ---- Functions that the host calls ---- */

/* Values come checked against the schema: right kinds, within their ranges. */
static GpbStatus create(const GpbHost *host, const GpbValue *values, int64_t n_values, void **out)
{
    if (n_values != 2)
        return fail(host, GPB_STATUS_INVALID_ARGUMENT, "two parameters were expected");
    Learner *self = calloc(1, sizeof *self);
    if (self == NULL)
        return fail(host, GPB_STATUS_OUT_OF_MEMORY, "no memory for the learner");
    self->host = host;
    self->batch = values[0].i;
    self->learning_rate = values[1].f;
    *out = self;
    return GPB_STATUS_DONE;
}

static void forget(Learner *self)
{
    free(self->x);
    free(self->y);
    free(self->length_scale);
    self->x = self->y = self->length_scale = NULL;
}

/* Forgets an earlier fit, and copies data and starting values of this one. */
static GpbStatus begin(void *learner, const GpbFit *fit)
{
    Learner *self = learner;
    const GpbInputs *inputs = fit->inputs;
    forget(self);
    if (inputs->family < GPB_FAMILY_RBF || inputs->family > GPB_FAMILY_MATERN52 || fit->network != NULL)
        return fail(self->host, GPB_STATUS_UNSUPPORTED, "only the stationary families, on the inputs");
    self->n = inputs->x.rows;
    self->d = inputs->x.cols;
    self->x = array(self->n * self->d);
    self->y = array(self->n);
    self->length_scale = array(self->d);
    if (self->x == NULL || self->y == NULL || self->length_scale == NULL) {
        forget(self);
        return fail(self->host, GPB_STATUS_OUT_OF_MEMORY, "no memory for a copy of the data");
    }
    double sums[2] = {0.0, 0.0};
    for (int64_t k = 0; k < self->d; k++) {
        memcpy(self->x + k * self->n, inputs->x.data + k * inputs->x.ld, (size_t)self->n * sizeof(double));
        self->length_scale[k] = inputs->length_scale[k];
        for (int64_t i = 0; i < self->n; i++)
            sums[0] += self->x[i + k * self->n] * (double)(k + 1);
    }
    memcpy(self->y, fit->y->data, (size_t)self->n * sizeof(double));
    for (int64_t i = 0; i < self->n; i++)
        sums[1] += self->y[i] * (double)(i + 1);
    const double identity[IDENTITY] = {(double)self->n,     (double)self->d,     (double)self->batch,
                                       self->learning_rate, (double)fit->seed,   sums[0],
                                       sums[1]};
    memcpy(self->identity, identity, sizeof identity);
    self->family = inputs->family;
    self->mean = fit->mean;
    self->logs[0] = log(inputs->signal_scale);
    self->logs[1] = log(inputs->noise_scale);
    self->steps = 0;
    return GPB_STATUS_DONE;
}

/* Takes steps until the host says STOPPED. Called again, it goes on. */
static GpbStatus fit(void *learner, const GpbFit *table, GpbReport *report)
{
    Learner *self = learner;
    if (self->x == NULL)
        return fail(self->host, GPB_STATUS_INVALID_ARGUMENT, "no fit has begun");
    const int64_t want = self->batch < self->n ? self->batch : self->n;
    int64_t *rows = malloc((size_t)want * sizeof *rows);
    double *memory = array(want * (want + 2));
    if (rows == NULL || memory == NULL) {
        free(rows);
        free(memory);
        return fail(self->host, GPB_STATUS_OUT_OF_MEMORY, "no memory for a batch");
    }
    GpbStatus status = GPB_STATUS_DONE;
    report->reason = GPB_REASON_STOPPED;
    while (status == GPB_STATUS_DONE) {
        /* The batch comes first: when the passes are spent, nothing has changed yet. */
        int64_t got = 0;
        status = table->batch(table, 0, rows, want, &got);
        if (status != GPB_STATUS_DONE)
            break;
        const double objective = step(self, rows, got, memory);
        if (!isfinite(objective) || !isfinite(self->logs[0]) || !isfinite(self->logs[1])) {
            report->reason = GPB_REASON_DIVERGED;
            break;
        }
        self->steps++;
        /* Kernel entries are counted as the learner says. Whether time is up, `observe` says too. */
        status = table->charge(table, 0, got * got, 0);
        if (status >= 0)
            status = table->observe(table, self->steps, objective);
    }
    free(rows);
    free(memory);
    report->iterations = self->steps;
    if (status < 0)
        return fail(self->host, status, "a call of the host failed");
    return GPB_STATUS_DONE; /* Stopping is no error. */
}

/* Means and variances of y by the exact posterior of all training rows. */
static GpbStatus predict(void *learner, const GpbMat *x, GpbMat *out)
{
    Learner *self = learner;
    if (self->x == NULL)
        return fail(self->host, GPB_STATUS_INVALID_ARGUMENT, "no fit has begun");
    if (x->cols != self->d || out->rows != x->rows || out->cols != 2)
        return fail(self->host, GPB_STATUS_INVALID_ARGUMENT, "matrices of wrong shapes");
    const int64_t n = self->n;
    double *factor = array(n * (n + 2)), *weights = factor + n * n, *column = weights + n;
    if (factor == NULL)
        return fail(self->host, GPB_STATUS_OUT_OF_MEMORY, "no memory for the covariance of all rows");
    if (!posterior(self, NULL, n, factor, weights)) {
        free(factor);
        return fail(self->host, GPB_STATUS_NOT_POSITIVE_DEFINITE, "the covariance is not positive definite");
    }
    const double signal = exp(2.0 * self->logs[0]), noise = exp(2.0 * self->logs[1]);
    for (int64_t j = 0; j < x->rows; j++) {
        double mean = self->mean, explained = 0.0;
        for (int64_t i = 0; i < n; i++) {
            column[i] = signal * entry(self, i, x->data + j, x->ld);
            mean += column[i] * weights[i];
        }
        forward(factor, n, column, 0);
        for (int64_t i = 0; i < n; i++)
            explained += column[i] * column[i];
        out->data[j] = mean;
        out->data[j + out->ld] = signal - explained + noise;
    }
    free(factor);
    return GPB_STATUS_DONE;
}

static GpbStatus put(const GpbStore *store, const char *name, const double *values, int64_t count)
{
    const GpbStr text = {name, (int64_t)strlen(name)};
    const GpbMat column = {(double *)values, count, 1, count};
    return store->put(store, &text, &column);
}

/* What was learned: an exact process, whose predictions the host computes by itself. */
static GpbStatus model(void *learner, const GpbStore *store)
{
    const Learner *self = learner;
    const double kind = GPB_MODEL_KIND_GP, signal = exp(self->logs[0]), noise = exp(self->logs[1]);
    GpbStatus status = put(store, "kind", &kind, 1);
    if (status == GPB_STATUS_DONE)
        status = put(store, "signal_scale", &signal, 1);
    if (status == GPB_STATUS_DONE)
        status = put(store, "noise_scale", &noise, 1);
    if (status == GPB_STATUS_DONE)
        status = put(store, "length_scale", self->length_scale, self->d);
    if (status == GPB_STATUS_DONE)
        status = put(store, "mean", &self->mean, 1);
    return status == GPB_STATUS_DONE ? status : fail(self->host, status, "the model was not taken");
}

/* All that the steps to come depend on. */
static GpbStatus save(void *learner, const GpbStore *store)
{
    const Learner *self = learner;
    const double steps = (double)self->steps;
    GpbStatus status = put(store, "identity", self->identity, IDENTITY);
    if (status == GPB_STATUS_DONE)
        status = put(store, "logs", self->logs, 2);
    if (status == GPB_STATUS_DONE)
        status = put(store, "steps", &steps, 1);
    return status == GPB_STATUS_DONE ? status : fail(self->host, status, "the state was not taken");
}

static int get(const GpbStore *store, const char *name, double *values, int64_t count)
{
    const GpbStr text = {name, (int64_t)strlen(name)};
    int64_t rows = -1, cols = -1;
    return store->get(store, &text, values, count, &rows, &cols) == GPB_STATUS_DONE && rows == count && cols == 1;
}

/* In place of `begin`: the steps that follow are the ones that would have followed `save`. */
static GpbStatus load(void *learner, const GpbFit *table, const GpbStore *store)
{
    Learner *self = learner;
    double identity[IDENTITY], logs[2], steps;
    const GpbStatus status = begin(learner, table);
    if (status != GPB_STATUS_DONE)
        return status;
    if (!get(store, "identity", identity, IDENTITY) || !get(store, "logs", logs, 2) || !get(store, "steps", &steps, 1)
        || memcmp(identity, self->identity, sizeof identity) != 0) {
        forget(self);
        return fail(self->host, GPB_STATUS_INVALID_ARGUMENT, "the state belongs to other data or parameters");
    }
    memcpy(self->logs, logs, sizeof logs);
    self->steps = (int64_t)steps;
    return GPB_STATUS_DONE;
}

/* Bytes beyond the data, for `gpbench plan`: a copy of it, and the covariance of all rows. */
static GpbStatus estimate(void *learner, int64_t n, int64_t d, double *bytes)
{
    (void)learner;
    *bytes = 8.0 * (double)n * (double)(n + d + 3);
    return GPB_STATUS_DONE;
}

static void destroy(void *learner)
{
    if (learner != NULL)
        forget(learner);
    free(learner);
}

/* ---- The description, which `gpbench plugin inspect` prints ---- */

static const GpbParam params[] = {
    {.name = TEXT("batch"),
     .doc = TEXT("Rows in a batch"),
     .default_ = {.kind = GPB_VALUE_KIND_INT, .i = 64},
     .min = {.kind = GPB_VALUE_KIND_INT, .i = 1},
     .max = {.kind = GPB_VALUE_KIND_INT, .i = 4096}},
    {.name = TEXT("learning_rate"),
     .doc = TEXT("Length of a step, on the logarithms of the scales"),
     .default_ = {.kind = GPB_VALUE_KIND_FLOAT, .f = 0.1},
     .min = {.kind = GPB_VALUE_KIND_FLOAT, .f = 0.0}},
};

static const GpbLearner learners[] = {{
    .size = sizeof(GpbLearner),
    .capabilities = GPB_CAPABILITY_KERNEL,
    .id = TEXT("c-scale-descent"),
    .doc = TEXT("Signal and noise scale by gradient descent on minibatches, written in C"),
    .params = params,
    .n_params = sizeof params / sizeof params[0],
    .source = TEXT("H. Chen, L. Zheng, R. Al Kontar, G. Raskutti. Stochastic gradient descent in correlated settings: a "
                   "study on Gaussian processes. NeurIPS, 2020."),
    .create = create,
    .begin = begin,
    .fit = fit,
    .predict = predict,
    .model = model,
    .save = save,
    .load = load,
    .estimate = estimate,
    .destroy = destroy,
}};

static const GpbPlugin plugin = {
    .size = sizeof(GpbPlugin),
    .minor = GPB_MINOR,
    .name = TEXT("c-scale-descent"),
    .version = TEXT("0.1.0"),
    .learners = learners,
    .n_learners = 1,
    .learner_stride = sizeof(GpbLearner),
};

/* The one symbol that the library exports; all else is static. */
const GpbPlugin *gpbench_plugin_v1(const GpbHost *host)
{
    return host != NULL && host->size >= sizeof(GpbHost) ? &plugin : NULL;
}
