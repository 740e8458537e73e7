/* The correct solver of these libraries: conjugate gradients on one column after the other. */

#ifndef SOLVER_H
#define SOLVER_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "gpbench.h"

/* A GpbStr of a literal. */
#define TEXT(literal) {literal, sizeof(literal) - 1}

static double dot(const double *a, const double *b, int64_t n)
{
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Solves A x = b for one column, from zero, until the residual is a hundredth of what is asked for. */
static GpbStatus solve_column(const GpbProblem *problem, const double *b, double *x)
{
    const int64_t n = problem->op->n;
    double *memory = malloc(3 * (size_t)n * sizeof(double));
    if (memory == NULL)
        return GPB_STATUS_OUT_OF_MEMORY;
    double *r = memory, *d = memory + n, *product = memory + 2 * n;
    memcpy(r, b, (size_t)n * sizeof(double));
    memcpy(d, b, (size_t)n * sizeof(double));
    memset(x, 0, (size_t)n * sizeof(double));
    const double target = 1e-2 * problem->tolerance * sqrt(dot(b, b, n));
    double gamma = dot(r, r, n);
    GpbStatus status = GPB_STATUS_DONE;
    for (int i = 0; i < 1000 && sqrt(gamma) > target && status == GPB_STATUS_DONE; i++) {
        const GpbMat from = {d, n, 1, n};
        GpbMat to = {product, n, 1, n};
        status = problem->op->apply(problem->op, &from, &to);
        if (status != GPB_STATUS_DONE)
            break;
        const double alpha = gamma / dot(d, product, n);
        for (int64_t k = 0; k < n; k++) {
            x[k] += alpha * d[k];
            r[k] -= alpha * product[k];
        }
        const double next = dot(r, r, n);
        for (int64_t k = 0; k < n; k++)
            d[k] = r[k] + next / gamma * d[k];
        gamma = next;
    }
    free(memory);
    return status;
}

__attribute__((unused)) static GpbStatus solve_well(void *solver, const GpbProblem *problem, GpbReport *report)
{
    (void)solver;
    GpbStatus status = GPB_STATUS_DONE;
    for (int64_t j = 0; j < problem->rhs->cols && status == GPB_STATUS_DONE; j++)
        status = solve_column(problem, problem->rhs->data + j * problem->rhs->ld,
                              problem->x->data + j * problem->x->ld);
    report->reason = status == GPB_STATUS_DONE ? GPB_REASON_CONVERGED : GPB_REASON_STOPPED;
    return status;
}

static GpbStatus create(const GpbHost *host, const GpbValue *values, int64_t n_values, void **out)
{
    (void)host, (void)values, (void)n_values;
    *out = NULL;
    return GPB_STATUS_DONE;
}

static void destroy(void *solver)
{
    (void)solver;
}

#endif
