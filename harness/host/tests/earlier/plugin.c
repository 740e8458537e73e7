/* Richardson's iteration, and a learner: without functions as long as the interface had none. */

#include <stdlib.h>

#include "gpbench.h"

#define TEXT(literal) {literal, sizeof(literal) - 1}

static GpbStatus create(const GpbHost *host, const GpbValue *values, int64_t n_values, void **out)
{
    (void)host;
    double *step = malloc(sizeof *step);
    if (step == NULL || n_values != 1)
        return GPB_STATUS_ERROR;
    *step = values[0].f;
    *out = step;
    return GPB_STATUS_DONE;
}

/* Takes a hundred steps x += step (b - A x), from zero. */
static GpbStatus solve(void *solver, const GpbProblem *problem, GpbReport *report)
{
    const GpbMat *b = problem->rhs;
    GpbMat *x = problem->x;
    GpbMat r = {malloc((size_t)(b->rows * b->cols) * sizeof(double)), b->rows, b->cols, b->rows};
    if (r.data == NULL)
        return GPB_STATUS_OUT_OF_MEMORY;
    for (report->iterations = 0; report->iterations < 100; report->iterations++) {
        if (problem->op->apply(problem->op, x, &r) != GPB_STATUS_DONE)
            break;
        for (int64_t j = 0; j < b->cols; j++)
            for (int64_t i = 0; i < b->rows; i++)
                x->data[i + j * x->ld] += *(double *)solver * (b->data[i + j * b->ld] - r.data[i + j * r.ld]);
        if (problem->observe(problem, report->iterations + 1, NULL, 0) == GPB_STATUS_STOPPED)
            break;
    }
    free(r.data);
    report->reason = GPB_REASON_ITERATIONS;
    return GPB_STATUS_DONE;
}

static const GpbParam params[] = {
    {.name = TEXT("step"), .doc = TEXT("Length of a step"), .default_ = {.kind = GPB_VALUE_KIND_FLOAT, .f = 0.1}},
};

static const GpbSolver solvers[] = {{
    .size = sizeof(GpbSolver),
    .id = TEXT("richardson"),
    .doc = TEXT("A hundred steps"),
    .params = params,
    .n_params = 1,
    .create = create,
    .solve = solve,
    .destroy = free,
}};

#if GPB_MINOR < 2

static const GpbLearner learners[] = {
    {.size = sizeof(GpbLearner), .id = TEXT("early"), .doc = TEXT("Listed, and no more")},
    {.size = sizeof(GpbLearner), .id = TEXT("early-2"), .doc = TEXT("Listed, and no more")},
};

#else

struct mean {
    double mean, variance;
    int64_t steps;
};

static GpbStatus create_mean(const GpbHost *host, const GpbValue *values, int64_t n_values, void **out)
{
    (void)host;
    (void)values;
    *out = n_values == 0 ? calloc(1, sizeof(struct mean)) : NULL;
    return *out == NULL ? GPB_STATUS_ERROR : GPB_STATUS_DONE;
}

static GpbStatus begin(void *learner, const GpbFit *fit)
{
    struct mean *state = learner;
    state->variance = fit->inputs->noise_scale * fit->inputs->noise_scale;
    for (int64_t i = 0; i < fit->y->rows; i++)
        state->mean += fit->y->data[i] / (double)fit->y->rows;
    return GPB_STATUS_DONE;
}

/* Takes three steps, each of which changes nothing. */
static GpbStatus fit_mean(void *learner, const GpbFit *fit, GpbReport *report)
{
    struct mean *state = learner;
    GpbStatus status = GPB_STATUS_DONE;
    while (status == GPB_STATUS_DONE && state->steps < 3)
        status = fit->observe(fit, ++state->steps, 1.0);
    report->iterations = state->steps;
    report->reason = status == GPB_STATUS_STOPPED ? GPB_REASON_STOPPED : GPB_REASON_ITERATIONS;
    return status;
}

static GpbStatus predict(void *learner, const GpbMat *x, GpbMat *out)
{
    const struct mean *state = learner;
    for (int64_t i = 0; i < x->rows; i++) {
        out->data[i] = state->mean;
        out->data[i + out->ld] = state->variance;
    }
    return GPB_STATUS_DONE;
}

static const GpbLearner learners[] = {{
    .size = sizeof(GpbLearner),
    .id = TEXT("mean"),
    .doc = TEXT("Predicts the mean of the targets"),
    .source = TEXT("Folklore"),
    .create = create_mean,
    .begin = begin,
    .fit = fit_mean,
    .predict = predict,
    .destroy = free,
}};

#endif

static const GpbPlugin plugin = {
    .size = sizeof(GpbPlugin),
    .minor = GPB_MINOR,
    .name = TEXT("earlier"),
    .version = TEXT("1"),
    .solvers = solvers,
    .n_solvers = 1,
    .solver_stride = sizeof(GpbSolver),
    .learners = learners,
    .n_learners = sizeof learners / sizeof *learners,
    .learner_stride = sizeof(GpbLearner),
};

const GpbPlugin *gpbench_plugin_v1(const GpbHost *host)
{
    return host != NULL && host->size >= sizeof(GpbHost) ? &plugin : NULL;
}
