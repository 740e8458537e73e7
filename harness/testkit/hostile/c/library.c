/* A library that is faulty as a whole. -DFAULT_<NAME> chooses the fault when it is compiled; without, it is
 * correct. */

#define _GNU_SOURCE

#include <unistd.h>

#include "solver.h"

#ifdef FAULT_UNRESOLVED
extern void a_function_that_no_library_has(void);
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
    .doc = TEXT("In a library that may be wrong"),
    .create = create,
#ifndef FAULT_NO_SOLVE
    .solve = solve_well,
#endif
    .destroy = destroy,
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
    .version = TEXT("0.1.0"),
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
#ifdef FAULT_NULL
    return NULL;
#endif
    return &plugin;
}

#if defined FAULT_ABORT_AT_LOAD || defined FAULT_EXIT_AT_LOAD
__attribute__((constructor)) static void at_load(void)
{
#ifdef FAULT_ABORT_AT_LOAD
    abort();
#else
    _exit(0);
#endif
}
#endif
