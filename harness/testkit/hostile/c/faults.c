/* Faults of the machine, for the soak: a library that LD_PRELOAD loads into every process of a run.
 *
 * Each start of a worker takes the next number of a counter. The seed and the number say whether this start has a
 * fault, and which one. Nothing waits: a fault after a while is done by a child that watches the clock.
 *
 *     SOAK_STATE    a folder for the counter, marks and the list of what was done; without it, nothing is done
 *     SOAK_SEED     the seed
 *     SOAK_RATE     the number of starts among 10 000 that have a fault
 */

#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char *state;
static uint64_t seed;

/* The next number of SplitMix64. */
static uint64_t next_random(void)
{
    uint64_t z = seed += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static uint64_t below(uint64_t bound)
{
    return next_random() % bound;
}

static const char *in_state(const char *name)
{
    static char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", state, name);
    return path;
}

/* Counts the starts of all processes. */
static uint64_t count_start(void)
{
    uint64_t count = 0;
    const int file = open(in_state("counter"), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    flock(file, LOCK_EX);
    if (pread(file, &count, sizeof count, 0) != sizeof count)
        count = 0;
    count++;
    if (pwrite(file, &count, sizeof count, 0) != sizeof count)
        abort();
    close(file);
    return count;
}

/* Adds a line to the list of faults. */
static void note(const char *fault)
{
    char line[128];
    const int length = snprintf(line, sizeof line, "%s\n", fault);
    const int file = open(in_state("faults"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (write(file, line, (size_t)length) != length)
        abort();
    close(file);
}

/* The largest number of starts of a case that have not ended, by the list of attempts of a run. */
static int open_starts(const char *run)
{
    static struct {
        char id[17];
        int count;
    } cases[8192];
    size_t known = 0;
    char path[PATH_MAX], line[1024];
    snprintf(path, sizeof path, "%s/attempts.jsonl", run);
    FILE *file = fopen(path, "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        const char *id = strstr(line, "\"id\":\"");
        if (id == NULL)
            continue;
        size_t at = 0;
        while (at < known && strncmp(cases[at].id, id + 6, 16) != 0)
            at++;
        if (at == sizeof cases / sizeof *cases)
            abort();
        if (at == known) {
            snprintf(cases[known].id, sizeof cases[known].id, "%.16s", id + 6);
            cases[known++].count = 0;
        }
        cases[at].count = strstr(line, "\"started\"") != NULL ? cases[at].count + 1 : 0;
    }
    if (file != NULL)
        fclose(file);
    int most = 0;
    for (size_t at = 0; at < known; at++)
        most = cases[at].count > most ? cases[at].count : most;
    return most;
}

/* Whether no case would count as crashed if it did not survive this moment: its third start would. */
static int all_may_start_again(const char *run)
{
    return open_starts(run) < 3;
}

/* Sends a signal now, or from a child after at most 40 ms, when another case may have begun. */
static void end(pid_t process, int signal_number, int later, const char *run)
{
    if (!later) {
        kill(process, signal_number);
        return;
    }
    const uint64_t wait = below(40000000);
    if (fork() != 0)
        return;
    /* The pipes to gpbench must not stay open. */
    close_range(0, ~0u, 0);
    struct timespec from, now;
    clock_gettime(CLOCK_MONOTONIC, &from);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while ((uint64_t)(now.tv_sec - from.tv_sec) * 1000000000u + (uint64_t)(now.tv_nsec - from.tv_nsec) < wait);
    if (signal_number != SIGKILL || all_may_start_again(run))
        kill(process, signal_number);
    _exit(0);
}

/* Stops gpbench and this worker for more than a second, as where a machine is suspended. */
static void freeze(void)
{
    const pid_t worker = getpid(), gpbench = getppid();
    if (fork() != 0)
        return;
    close_range(0, ~0u, 0);
    kill(gpbench, SIGSTOP);
    kill(worker, SIGSTOP);
    const struct timespec time = {1, 200000000};
    nanosleep(&time, NULL);
    kill(worker, SIGCONT);
    kill(gpbench, SIGCONT);
    _exit(0);
}

/* Whether this case has not been killed before: after three times, a case counts as crashed. */
static int may_kill_case(const char *id)
{
    char name[NAME_MAX];
    snprintf(name, sizeof name, "killed-%.200s", id);
    const int mark = open(in_state(name), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (mark >= 0)
        close(mark);
    return mark >= 0;
}

enum harm { FLIP, CUT, REMOVE };

/* Flips a bit of a file that matches one of the patterns, or cuts or removes it. False if there is none. */
static int damage(enum harm harm, const char *const *patterns, size_t count)
{
    glob_t found = {0};
    for (size_t i = 0; i < count; i++)
        glob(patterns[i], i == 0 ? 0 : GLOB_APPEND, NULL, &found);
    int done = 0;
    struct stat data;
    if (found.gl_pathc > 0) {
        const char *path = found.gl_pathv[below(found.gl_pathc)];
        if (harm == REMOVE) {
            done = unlink(path) == 0;
        } else if (stat(path, &data) == 0 && data.st_size > 0) {
            const off_t at = (off_t)below((uint64_t)data.st_size);
            if (harm == CUT) {
                done = truncate(path, at) == 0;
            } else {
                const int file = open(path, O_RDWR | O_CLOEXEC);
                unsigned char byte;
                done = pread(file, &byte, 1, at) == 1;
                byte ^= (unsigned char)(1u << below(8));
                done = done && pwrite(file, &byte, 1, at) == 1;
                close(file);
            }
        }
    }
    globfree(&found);
    return done;
}

/* Sets the soft limit of a process. */
static int limit(pid_t process, int resource, uint64_t value)
{
    struct rlimit old;
    if (prlimit(process, (enum __rlimit_resource)resource, NULL, &old) != 0)
        return 0;
    const struct rlimit new = {value < old.rlim_max ? value : old.rlim_max, old.rlim_max};
    return prlimit(process, (enum __rlimit_resource)resource, &new, NULL) == 0;
}

/* Bytes of this process's address space. */
static uint64_t address_space(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file != NULL) {
        if (fscanf(file, "%lu", &pages) != 1)
            pages = 0;
        fclose(file);
    }
    return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Replaces a program or a library by a file that is one byte longer, or adds the byte in place. */
static int replace(int in_place)
{
    static const char *const names[] = {"gpbench-worker",
                                        "libgpbench_plugin_cg.so",
                                        "libgpbench_plugin_cholesky.so",
                                        "libgpbench_plugin_block_cg.so",
                                        "libgpbench_plugin_poe.so",
                                        "libgpbench_plugin_svgp.so"};
    const size_t count = sizeof names / sizeof *names;
    char path[PATH_MAX], copy[PATH_MAX + 8], command[3 * PATH_MAX];
    /* A program that runs cannot be written to. */
    const char *name = names[in_place ? 1 + below(count - 1) : below(count)];
    snprintf(path, sizeof path, "%s/../bin/%s", state, name);
    if (!in_place) {
        snprintf(copy, sizeof copy, "%s.new", path);
        snprintf(command, sizeof command, "LD_PRELOAD= cp -p '%s' '%s'", path, copy);
        if (system(command) != 0)
            return 0;
    }
    const int file = open(in_place ? path : copy, O_WRONLY | O_APPEND | O_CLOEXEC);
    const int written = file >= 0 && write(file, "x", 1) == 1;
    if (file >= 0)
        close(file);
    return written && (in_place || rename(copy, path) == 0);
}

enum fault {
    KILL_WORKER,
    KILL_WORKER_LATER,
    KILL_GPBENCH,
    KILL_GPBENCH_LATER,
    STOP_GPBENCH_LATER,
    FREEZE,
    DAMAGE_JOURNAL,
    DAMAGE_CHECKPOINT,
    DAMAGE_CACHE,
    REMOVE_CACHE,
    DAMAGE_SOLUTION,
    WORKER_DESCRIPTORS,
    WORKER_DISK,
    WORKER_MEMORY,
    GPBENCH_DESCRIPTORS,
    GPBENCH_DISK,
    REPLACE_PROGRAM,
    OVERWRITE_LIBRARY,
    FAULTS,
};

/* Does a fault. False if there is nothing that it could be done to. */
static int act(enum fault fault, const char *verb, const char *run, const char *id)
{
    static const int stops[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    char first[2 * PATH_MAX], second[2 * PATH_MAX];
    const char *const patterns[] = {first, second};
    const char *cache = getenv("GPBENCH_CACHE");
    const enum harm harm = below(2) ? FLIP : CUT;
    const int blamed = strcmp(verb, "case") == 0;
    switch (fault) {
    case KILL_WORKER:
    case KILL_WORKER_LATER:
        if (!all_may_start_again(run) || (blamed && !may_kill_case(id)))
            return 0;
        /* The list first: this may be the last act. */
        note(fault == KILL_WORKER ? "worker killed" : "worker killed later");
        end(getpid(), SIGKILL, fault == KILL_WORKER_LATER, run);
        return -1;
    case KILL_GPBENCH:
    case KILL_GPBENCH_LATER:
        if (!all_may_start_again(run) || (blamed && !may_kill_case(id)))
            return 0;
        note(fault == KILL_GPBENCH ? "gpbench killed" : "gpbench killed later");
        end(getppid(), SIGKILL, fault == KILL_GPBENCH_LATER, run);
        return -1;
    case STOP_GPBENCH_LATER:
        end(getppid(), stops[below(4)], 1, run);
        return 1;
    case FREEZE:
        freeze();
        return 1;
    case DAMAGE_JOURNAL:
        snprintf(first, sizeof first, "%s/journal.jsonl", run);
        snprintf(second, sizeof second, "%s/attempts.jsonl", run);
        return damage(harm, patterns, 2);
    case DAMAGE_CHECKPOINT:
        snprintf(first, sizeof first, "%s/checkpoints/*.safetensors", run);
        return damage(harm, patterns, 1);
    case DAMAGE_CACHE:
    case REMOVE_CACHE:
        snprintf(first, sizeof first, "%s/exact/*.safetensors", cache);
        snprintf(second, sizeof second, "%s/copies/*", cache);
        return damage(fault == REMOVE_CACHE ? REMOVE : harm, patterns, 2);
    case DAMAGE_SOLUTION:
        snprintf(first, sizeof first, "%s/scratch/*.solution", run);
        return damage(harm, patterns, 1);
    case WORKER_DESCRIPTORS:
        return limit(0, RLIMIT_NOFILE, 3 + below(6));
    case WORKER_DISK:
        return limit(0, RLIMIT_FSIZE, below(2048));
    case WORKER_MEMORY:
        return limit(0, RLIMIT_AS, address_space() + below(1 << 18));
    case GPBENCH_DESCRIPTORS:
        return limit(getppid(), RLIMIT_NOFILE, 3 + below(6));
    case GPBENCH_DISK:
        return limit(getppid(), RLIMIT_FSIZE, below(1 << 15));
    case REPLACE_PROGRAM:
    case OVERWRITE_LIBRARY:
        return replace(fault == OVERWRITE_LIBRARY);
    case FAULTS:
        break;
    }
    return 0;
}

static const char *const names[FAULTS] = {
    [STOP_GPBENCH_LATER] = "gpbench asked to end",
    [FREEZE] = "machine frozen",
    [DAMAGE_JOURNAL] = "journal or attempts damaged",
    [DAMAGE_CHECKPOINT] = "checkpoint damaged",
    [DAMAGE_CACHE] = "cache damaged",
    [REMOVE_CACHE] = "cache removed",
    [DAMAGE_SOLUTION] = "solution damaged",
    [WORKER_DESCRIPTORS] = "descriptors refused to a worker",
    [WORKER_DISK] = "disk full for a worker",
    [WORKER_MEMORY] = "memory refused to a worker",
    [GPBENCH_DESCRIPTORS] = "descriptors refused to gpbench",
    [GPBENCH_DISK] = "disk full for gpbench",
    [REPLACE_PROGRAM] = "program or library replaced",
    [OVERWRITE_LIBRARY] = "library overwritten in place",
};

__attribute__((constructor)) static void start(int argc, char **argv)
{
    state = getenv("SOAK_STATE");
    const char *log = getenv("GPBENCH_LOG");
    if (state == NULL || log == NULL || argc < 2 || strcmp(program_invocation_short_name, "gpbench-worker") != 0)
        return;
    /* A log is <run folder>/logs/<id>.log. */
    char run[PATH_MAX];
    snprintf(run, sizeof run, "%s", log);
    char *id = strrchr(run, '/');
    if (id == NULL || id - run < 5)
        return;
    /* Cut before `/logs/`. */
    id[-5] = 0;
    const uint64_t number = count_start();
    seed = strtoull(getenv("SOAK_SEED"), NULL, 10) * 1000003u + number;
    if (below(10000) >= strtoull(getenv("SOAK_RATE"), NULL, 10))
        return;
    /* A fault that finds nothing to harm gives way to another one. */
    for (int trial = 0; trial < 20; trial++) {
        const enum fault fault = (enum fault)below(FAULTS);
        const int done = act(fault, argv[1], run, id + 1);
        if (done > 0)
            note(names[fault]);
        if (done != 0)
            return;
    }
}
