/* A library of solvers that misbehave while they solve, in ways that only C has. */

#define _GNU_SOURCE

#include <fenv.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "solver.h"

static GpbStatus exit_with_handlers(void *solver, const GpbProblem *problem, GpbReport *report)
{
    (void)solver, (void)problem, (void)report;
    exit(0);
}

/* Sets the rounding mode to upwards. */
static GpbStatus round_up(void *solver, const GpbProblem *problem, GpbReport *report)
{
    fesetround(FE_UPWARD);
    return solve_well(solver, problem, report);
}

/* Turns floating-point exceptions into signals. */
static GpbStatus trap(void *solver, const GpbProblem *problem, GpbReport *report)
{
    feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);
    volatile double zero = 0.0;
    report->iterations = (int64_t)(1.0 / zero);
    return solve_well(solver, problem, report);
}

extern void openblas_set_num_threads(int threads);

static GpbStatus more_blas_threads(void *solver, const GpbProblem *problem, GpbReport *report)
{
    openblas_set_num_threads(16);
    return solve_well(solver, problem, report);
}

/* Blocks all signals that can be blocked, and never returns. */
static GpbStatus deaf(void *solver, const GpbProblem *problem, GpbReport *report)
{
    (void)solver, (void)problem, (void)report;
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    for (;;)
        pause();
    return GPB_STATUS_DONE;
}

/* Jumps to an address that was never set. */
static GpbStatus jump(void *solver, const GpbProblem *problem, GpbReport *report)
{
    (void)solver, (void)problem, (void)report;
    jmp_buf nowhere;
    memset(&nowhere, 0x5a, sizeof nowhere);
    longjmp(nowhere, 1);
}

static GpbStatus free_twice(void *solver, const GpbProblem *problem, GpbReport *report)
{
    (void)solver, (void)problem;
    void *volatile piece = malloc(64);
    void *again = piece;
    free(piece);
    free(again);
    report->reason = GPB_REASON_CONVERGED;
    return GPB_STATUS_DONE;
}

/* A report with a null pointer and a large length. */
static GpbStatus wild_report(void *solver, const GpbProblem *problem, GpbReport *report)
{
    const GpbStatus status = solve_well(solver, problem, report);
    report->claimed = NULL;
    report->n_claimed = INT64_MAX;
    return status;
}

/* Changes the sizes in the structs. */
static GpbStatus resize(void *solver, const GpbProblem *problem, GpbReport *report)
{
    ((GpbProblem *)problem)->size = 1;
    report->size = UINT32_MAX;
    return solve_well(solver, problem, report);
}

/* Leaves an incomplete line in the output buffer, which is written when the process ends. */
static GpbStatus half_a_line(void *solver, const GpbProblem *problem, GpbReport *report)
{
    printf("{\"type\":\"solved\",\"n\":");
    return solve_well(solver, problem, report);
}

/* Uses two seconds of processor time. */
static void work(void)
{
    const clock_t end = clock() + 2 * CLOCKS_PER_SEC;
    while (clock() < end)
        ;
}

/* Works between the request for an iterate and the iterate, while the clock is paused; then solves. */
static GpbStatus thief(void *solver, const GpbProblem *problem, GpbReport *report)
{
    if (problem->observe(problem, 0, NULL, 0) == GPB_STATUS_ITERATE) {
        work();
        problem->observe(problem, 0, NULL, 0);
    }
    return solve_well(solver, problem, report);
}

#define SOLVER(name, function)                                                                            \
    {                                                                                                     \
        .size = sizeof(GpbSolver), .id = TEXT(name), .doc = TEXT("Misbehaves"), .create = create,         \
        .solve = function, .destroy = destroy                                                             \
    }

static const GpbSolver solvers[] = {
    SOLVER("c-well", solve_well),
    SOLVER("c-exit", exit_with_handlers),
    SOLVER("c-round-up", round_up),
    SOLVER("c-trap", trap),
    SOLVER("c-more-blas-threads", more_blas_threads),
    SOLVER("c-deaf", deaf),
    SOLVER("c-jump", jump),
    SOLVER("c-free-twice", free_twice),
    SOLVER("c-wild-report", wild_report),
    SOLVER("c-resize", resize),
    SOLVER("c-half-a-line", half_a_line),
    SOLVER("c-thief", thief),
};

static const GpbPlugin plugin = {
    .size = sizeof(GpbPlugin),
    .minor = GPB_MINOR,
    .name = TEXT("hostile-c"),
    .version = TEXT("0.1.0"),
    .solvers = solvers,
    .n_solvers = sizeof solvers / sizeof solvers[0],
    .solver_stride = sizeof(GpbSolver),
};

const GpbPlugin *gpbench_plugin_v1(const GpbHost *host)
{
    (void)host;
    return &plugin;
}

/* Two handlers that keep a process from ending normally. */
static void stay(void)
{
    for (;;)
        pause();
}

__attribute__((destructor)) static void abort_at_end(void)
{
    abort();
}

__attribute__((constructor)) static void register_stay(void)
{
    atexit(stay);
}
