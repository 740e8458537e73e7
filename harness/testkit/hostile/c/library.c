/* A library that is faulty as a whole. -DFAULT_<NAME> chooses the fault when it is compiled; without, it is
 * correct. */

#define _GNU_SOURCE

#include <time.h>
#include <unistd.h>

#include "solver.h"

/* Escape sequences, a copy to the clipboard, HTML, Markdown and a fence of four backticks. */
#define FOREIGN                                                                                           \
    "\033[31mred\033]52;c;Z3BiZW5jaA==\007 <script>alert(1)</script> [link](javascript:alert(1)) | cell |"    \
    " ````\n# Heading\n````\r\b end of foreign text"

#ifdef FAULT_UNRESOLVED
extern void a_function_that_no_library_has(void);
#endif

#if defined FAULT_WORK_IN_CONSTRUCTOR || defined FAULT_WORK_IN_ENTRY || defined FAULT_WORK_IN_CREATE || defined FAULT_WORK_IN_DESTROY
/* Computes for 1.5 s. */
static void work(void)
{
    struct timespec began, now;
    clock_gettime(CLOCK_MONOTONIC, &began);
    do {
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - began.tv_sec) + 1e-9 * (now.tv_nsec - began.tv_nsec) < 1.5);
}
#endif

#ifdef FAULT_WORK_IN_CONSTRUCTOR
__attribute__((constructor)) static void constructor(void)
{
    work();
}
#endif

#ifdef FAULT_WORK_IN_CREATE
#define CREATE create_late
static GpbStatus create_late(const GpbHost *host, const GpbValue *values, int64_t n_values, void **out)
{
    work();
    return create(host, values, n_values, out);
}
#else
#define CREATE create
#endif

#ifdef FAULT_WORK_IN_DESTROY
#define DESTROY destroy_late
static void destroy_late(void *solver)
{
    work();
    destroy(solver);
}
#else
#define DESTROY destroy
#endif

static const GpbSolver solvers[] = {{
#ifdef FAULT_SMALL_SOLVER
    .size = 16,
#else
    .size = sizeof(GpbSolver),
#endif
#ifdef FAULT_ID
    .id = TEXT("Not an id"),
#else
    .id = TEXT(ID),
#endif
#ifdef FAULT_FOREIGN_TEXT
    .doc = TEXT(FOREIGN),
    .source = TEXT(FOREIGN),
    .facts = {.step = TEXT(FOREIGN), .advice = TEXT(FOREIGN)},
#else
    .doc = TEXT("In a library that may be wrong"),
#endif
    .create = CREATE,
#ifndef FAULT_NO_SOLVE
    .solve = solve_well,
#endif
    .destroy = DESTROY,
}};

static const GpbPlugin plugin = {
#if defined FAULT_SMALL_PLUGIN
    .size = 8,
#elif defined FAULT_LATER_MINOR
    .size = sizeof(GpbPlugin) + 64,
#else
    .size = sizeof(GpbPlugin),
#endif
#ifdef FAULT_LATER_MINOR
    .minor = 99,
#else
    .minor = GPB_MINOR,
#endif
    .name = TEXT(ID),
#ifdef FAULT_FOREIGN_TEXT
    .version = TEXT(FOREIGN),
#else
    .version = TEXT("0.1.0"),
#endif
    .solvers = solvers,
#ifdef FAULT_COUNT
    .n_solvers = -3,
#else
    .n_solvers = 1,
#endif
#ifdef FAULT_STRIDE
    .solver_stride = 8,
#else
    .solver_stride = sizeof(GpbSolver),
#endif
};

#if defined FAULT_NO_ENTRY
const GpbPlugin *hidden(const GpbHost *host)
#elif defined FAULT_FUTURE
const GpbPlugin *gpbench_plugin_v2(const GpbHost *host)
#else
const GpbPlugin *gpbench_plugin_v1(const GpbHost *host)
#endif
{
    (void)host;
#ifdef FAULT_UNRESOLVED
    a_function_that_no_library_has();
#endif
#ifdef FAULT_CRASH
    *(volatile int *)NULL = 1;
#endif
#ifdef FAULT_WORK_IN_ENTRY
    work();
#endif
#ifdef FAULT_NULL
    return NULL;
#endif
    return &plugin;
}

#if defined FAULT_ABORT_AT_LOAD || defined FAULT_EXIT_AT_LOAD || defined FAULT_HANG_AT_LOAD ||               \
    defined FAULT_FORK_AT_LOAD || defined FAULT_PRINT_AT_LOAD
__attribute__((constructor)) static void at_load(void)
{
#if defined FAULT_ABORT_AT_LOAD
    abort();
#elif defined FAULT_EXIT_AT_LOAD
    _exit(0);
#elif defined FAULT_HANG_AT_LOAD
    for (;;)
        pause();
#elif defined FAULT_FORK_AT_LOAD
    /* A child in a session of its own, which holds every descriptor. */
    if (fork() == 0) {
        setsid();
        sleep(600);
        _exit(0);
    }
#elif defined FAULT_PRINT_AT_LOAD
    static const char line[4096] = "a line that nobody asked for\n";
    for (;;) {
        if (write(1, line, sizeof line) < 0 || write(2, line, sizeof line) < 0)
            pause();
    }
#endif
}
#endif
