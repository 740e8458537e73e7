/* Richardson's iteration, and a learner of which the interface had no functions yet. */

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

static const GpbLearner learners[] = {
    {.size = sizeof(GpbLearner), .id = TEXT("early"), .doc = TEXT("Listed, and no more")},
    {.size = sizeof(GpbLearner), .id = TEXT("early-2"), .doc = TEXT("Listed, and no more")},
};

static const GpbPlugin plugin = {
    .size = sizeof(GpbPlugin),
    .minor = GPB_MINOR,
    .name = TEXT("earlier"),
    .version = TEXT("1"),
    .solvers = solvers,
    .n_solvers = 1,
    .solver_stride = sizeof(GpbSolver),
    .learners = learners,
    .n_learners = 2,
    .learner_stride = sizeof(GpbLearner),
};

const GpbPlugin *gpbench_plugin_v1(const GpbHost *host)
{
    return host != NULL && host->size >= sizeof(GpbHost) ? &plugin : NULL;
}
