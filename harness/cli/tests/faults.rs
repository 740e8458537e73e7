//! Faults of the machine and of files: no row against a healthy solver, the other cases go on, and the same command
//! ends with the rows of a quiet run.
//!
//! A library that is loaded before all others (`LD_PRELOAD`) plays the system: it refuses threads, files and memory,
//! and kills, in the processes and from the call on that a test says.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::support::sources::entries;
use crate::support::{Ended, Sandbox, build, library, reproducible};
use serde_json::Value;

/// Two solvers on a data set that is read from a file, with exact references.
const SPEC: &str = r#"schema = 1
name = "faults"
task = "posterior"
seeds = [0, 1]

[matrix]
dataset = ["table"]
kernel = ["matern32"]
estimator = ["pathwise"]
solver = ["cholesky", "cg"]

[dataset.table]
path = "table.csv"

[kernel.matern32]
hyperparameters = { signal_scale = 1.0, noise_scale = 0.1, length_scale = 1.0 }

[estimator.pathwise]
probes = 2
features = 20

[budget]
tolerance = 0.01
"#;

/// Plays the system, as environment variables say: `ROLE`, the verb of the process; `ACT`; `FROM`, the number of calls
/// that are granted; `BYTES`, the size from which memory is refused; `LIBRARY`, a part of the name of a plugin.
const SYSTEM: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);

static char act[32];
static long from = 0, bytes = 0;
static atomic_long calls = 0;

__attribute__((constructor)) static void begin(void) {
    const char *role = getenv("ROLE"), *what = getenv("ACT");
    char words[4096] = {0};
    FILE *file = fopen("/proc/self/cmdline", "r");
    if (!role || !what || !file) return;
    size_t length = fread(words, 1, sizeof words - 1, file);
    fclose(file);
    size_t program = strlen(words) + 1;
    if (program >= length || strcmp(words + program, role) != 0) return;
    if (getenv("FROM")) from = atol(getenv("FROM"));
    if (getenv("BYTES")) bytes = atol(getenv("BYTES"));
    snprintf(act, sizeof act, "%s", what);
    if (strcmp(act, "kill") == 0) raise(SIGKILL);
}

static int refuses(const char *name) {
    return strcmp(act, name) == 0 && atomic_fetch_add(&calls, 1) >= from;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg) {
    static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    if (refuses("threads")) return EAGAIN;
    if (!real) real = (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))dlsym(RTLD_NEXT, "pthread_create");
    return real(thread, attr, start, arg);
}

int open64(const char *path, int flags, ...) {
    static int (*real)(const char *, int, ...);
    va_list rest;
    va_start(rest, flags);
    int mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(rest, int) : 0;
    va_end(rest);
    if (refuses("files")) { errno = EMFILE; return -1; }
    if (!real) real = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open64");
    return real(path, flags, mode);
}

int posix_spawnp(pid_t *pid, const char *file, const void *actions, const void *attributes, char *const argv[], char *const env[]) {
    static int (*real)(pid_t *, const char *, const void *, const void *, char *const[], char *const[]);
    if (refuses("processes")) return EAGAIN;
    if (!real) real = (int (*)(pid_t *, const char *, const void *, const void *, char *const[], char *const[]))dlsym(RTLD_NEXT, "posix_spawnp");
    return real(pid, file, actions, attributes, argv, env);
}

pid_t fork(void) {
    static pid_t (*real)(void);
    if (refuses("processes")) { errno = EAGAIN; return -1; }
    if (!real) real = (pid_t (*)(void))dlsym(RTLD_NEXT, "fork");
    return real();
}

static int is_refused(size_t size) {
    return bytes && size >= (size_t)bytes && refuses("memory");
}

void *malloc(size_t size) { return is_refused(size) ? NULL : __libc_malloc(size); }
void *calloc(size_t count, size_t size) { return is_refused(count * size) ? NULL : __libc_calloc(count, size); }
void *realloc(void *old, size_t size) { return is_refused(size) ? NULL : __libc_realloc(old, size); }

void *dlopen(const char *file, int flags) {
    static void *(*real)(const char *, int);
    const char *name = getenv("LIBRARY");
    if (file && name && strstr(file, name)) {
        if (strcmp(act, "end gpbench") == 0) { kill(getppid(), SIGKILL); for (;;) pause(); }
        if (strcmp(act, "end itself") == 0) raise(SIGKILL);
    }
    if (!real) real = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
    return real(file, flags);
}
"#;

/// A folder with the spec, its data set and the library that plays the system.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::with_spec(SPEC);
    let rows = (0..60).map(|row| {
        let x = f64::from(row) / 10.0;
        format!("{},{},{}\n", x.sin(), (0.7 * x).cos(), (1.3 * x).sin() + 0.01 * f64::from(row % 7))
    });
    sandbox.write("table.csv", &format!("a,b,target\n{}", rows.collect::<String>()));
    let source = sandbox.write("system.c", SYSTEM);
    build(
        Command::new("cc")
            .args(["-std=gnu11", "-O1", "-shared", "-fPIC", "-w", "-o"])
            .arg(sandbox.path("system.so"))
            .arg(source)
            .arg("-ldl"),
    );
    sandbox
}

/// What is made of the bytes of a file.
type Damage<'a> = &'a dyn Fn(&[u8]) -> Vec<u8>;

/// The id of a case, its status, and its metrics without times and memory.
type Facts = (String, Value, Vec<(String, Value)>);

/// Cases of the newest run, without times and memory.
fn cases(sandbox: &Sandbox) -> Vec<Facts> {
    let timeless = |case: &Value| {
        (case["id"].as_str().expect("an id").to_owned(), case["status"].clone(), reproducible(case))
    };
    sandbox.sorted_cases().iter().map(timeless).collect()
}

/// Runs the spec, of `count` cases, anew in this folder, and gives the rows of a quiet run of it.
fn quiet(sandbox: &Sandbox, count: usize) -> Vec<Facts> {
    sandbox.run(&["run", "spec.toml", "-t", "4"]).exits(0);
    let cases = cases(sandbox);
    assert!(cases.len() == count && cases.iter().all(|(_, status, _)| status == "ok"), "{cases:?}");
    fs::remove_dir_all(sandbox.path("reports")).expect("a folder of runs");
    cases
}

/// Runs the spec on a system with these variables.
fn run_on(sandbox: &Sandbox, variables: &[(&str, &str)], args: &[&str]) -> Ended {
    let all = [&["run", "spec.toml", "-t", "4"][..], args].concat();
    let mut command = sandbox.command(&all);
    Ended::of(command.env("LD_PRELOAD", sandbox.path("system.so")).envs(variables.iter().copied()))
}

/// Asserts that no row so far is other than in a quiet run, and that the same command ends with all of them.
#[track_caller]
fn goes_on(sandbox: &Sandbox, expected: &[Facts]) {
    if sandbox.path("reports/faults/latest/journal.jsonl").exists() {
        for case in cases(sandbox) {
            assert!(expected.contains(&case), "{case:?}");
        }
    }
    sandbox.run(&["run", "spec.toml", "-t", "4"]).exits(0);
    assert_eq!(cases(sandbox), expected);
}

#[test]
fn copies_and_references_that_are_cut_or_flipped_are_made_anew() {
    let sandbox = sandbox();
    let expected = quiet(&sandbox, 4);
    let copy = entries(&sandbox.path("cache/copies")).pop().expect("a copy");
    let reference = entries(&sandbox.path("cache/exact")).pop().expect("a reference");
    let cut = |bytes: &[u8]| bytes[..bytes.len() / 2].to_vec();
    let flipped = |bytes: &[u8]| {
        let mut bytes = bytes.to_vec();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 16;
        bytes
    };
    let damages: [(&PathBuf, Damage<'_>); 4] =
        [(&copy, &cut), (&copy, &flipped), (&reference, &cut), (&reference, &|_| Vec::new())];
    for (file, damage) in damages {
        let whole = fs::read(file).expect("a cached file");
        fs::write(file, damage(&whole)).expect("a writable file");
        sandbox.run(&["run", "spec.toml", "-t", "4"]).exits(0);
        assert_eq!(cases(&sandbox), expected, "{}", file.display());
        assert!(fs::read(file).expect("a cached file") == whole, "{} is made anew", file.display());
        fs::remove_dir_all(sandbox.path("reports")).expect("a folder of runs");
    }
}

#[test]
fn cleaning_during_a_run_changes_nothing() {
    let sandbox = sandbox();
    let expected = quiet(&sandbox, 4);
    for lines in 1..8 {
        let mut command = sandbox.command(&["run", "spec.toml", "-t", "4", "-v"]);
        let mut child =
            command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the program starts");
        let mut said = BufReader::new(child.stderr.take().expect("it is piped")).lines();
        let heard = said.by_ref().take(lines).count();
        sandbox.run(&["clean"]).exits(0);
        let rest: Vec<String> = said.map_while(Result::ok).collect();
        assert!(child.wait().expect("a child").success(), "{heard} lines, then {rest:#?}");
        assert_eq!(cases(&sandbox), expected);
        fs::remove_dir_all(sandbox.path("reports")).expect("a folder of runs");
    }
}

#[test]
fn a_library_that_is_away_is_no_verdict() {
    let sandbox = sandbox();
    let expected = quiet(&sandbox, 4);
    let own = sandbox.path("libgpbench_plugin_own.so");
    fs::copy(library("gpbench_plugin_cg"), &own).expect("a copy");
    let named = format!("{SPEC}\n[solver.cg]\nplugin = \"cg\"\nlibrary = \"{}\"\n", own.display());
    sandbox.write("spec.toml", &named);
    let mut command = sandbox.command(&["run", "spec.toml", "-t", "4", "-v"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the program starts");
    let mut said = BufReader::new(child.stderr.take().expect("it is piped")).lines();
    said.by_ref().take(1).for_each(drop);
    let away = sandbox.path("away.so");
    fs::rename(&own, &away).expect("a file");
    said.for_each(drop);
    child.wait().expect("a child");
    fs::rename(&away, &own).expect("a file");
    goes_on(&sandbox, &expected);
}

#[test]
fn a_worker_that_is_killed_outside_of_the_solver_is_no_verdict() {
    let sandbox = sandbox();
    let expected = quiet(&sandbox, 4);
    for (role, act, rows) in [("verify", "kill", 0), ("exact", "kill", 0), ("case", "kill", 0)] {
        fs::remove_dir_all(sandbox.path("cache/exact")).expect("a cache");
        let ended = run_on(&sandbox, &[("ROLE", role), ("ACT", act)], &[]).exits(1);
        let ended = ended.says(&["no row: table/matern32/pathwise/cg/seed 0", "SIGKILL", "to continue: "]);
        assert!(ended.stderr.contains("what is needed: see the log"), "{}", ended.stderr);
        assert_eq!(cases(&sandbox).len(), rows);
        goes_on(&sandbox, &expected);
        fs::remove_dir_all(sandbox.path("reports")).expect("a folder of runs");
    }
}

#[test]
fn a_solver_that_kills_its_worker_has_three_tries() {
    let sandbox = sandbox();
    let variables = [("ROLE", "case"), ("ACT", "end itself"), ("LIBRARY", "plugin_cg")];
    run_on(&sandbox, &variables, &[]).exits(1).says(&["SIGKILL, which gpbench did not send"]);
    let cases = sandbox.cases();
    assert_eq!(cases.len(), 4);
    for case in &cases {
        let expected = if case["solver"] == "cg" { "crashed" } else { "ok" };
        assert_eq!(case["status"], expected, "{case}");
    }
}

#[test]
fn a_solver_that_ends_gpbench_runs_last_and_has_its_row_after_three_times() {
    let sandbox = sandbox();
    let variables = [("ROLE", "case"), ("ACT", "end gpbench"), ("LIBRARY", "plugin_cg")];
    // Each of the two cases of this solver ends gpbench three times.
    for _ in 0..6 {
        assert_eq!(run_on(&sandbox, &variables, &[]).code, -1, "gpbench is killed");
    }
    run_on(&sandbox, &variables, &[]).exits(1);
    let cases = sandbox.cases();
    assert_eq!(cases.len(), 4);
    for case in &cases {
        let expected = if case["solver"] == "cg" { "crashed" } else { "ok" };
        assert_eq!(case["status"], expected, "{case}");
    }
}

/// Runs the spec on systems that refuse something from a certain call on, in every process of a role.
fn refuse(act: &str, roles: &[&str], calls: &[&str], more: &[(&str, &str)]) {
    let sandbox = sandbox();
    // One case of each solver, since every process of the role is refused the same.
    sandbox.write("spec.toml", &SPEC.replace("seeds = [0, 1]", "seeds = [0]"));
    let expected = quiet(&sandbox, 2);
    for role in roles {
        let mut refused = 0;
        for from in calls {
            fs::remove_dir_all(sandbox.path("cache")).expect("a cache");
            let variables = [&[("ROLE", *role), ("ACT", act), ("FROM", *from)][..], more].concat();
            let ended = run_on(&sandbox, &variables, &[]);
            refused += usize::from(ended.code != 0);
            goes_on(&sandbox, &expected);
            fs::remove_dir_all(sandbox.path("reports")).expect("a folder of runs");
        }
        assert!(refused > 0, "nothing was refused to `{role}`");
    }
}

#[test]
fn threads_that_are_refused_are_no_verdict() {
    refuse("threads", &["case", "verify", "exact"], &["0", "2", "4", "6"], &[]);
}

#[test]
fn files_that_are_refused_are_no_verdict() {
    refuse("files", &["case", "verify", "exact"], &["0", "2", "4", "6"], &[]);
}

#[test]
fn processes_that_are_refused_are_no_verdict() {
    refuse("processes", &["run"], &["0", "2", "5", "9"], &[]);
}

#[test]
fn threads_that_are_refused_to_gpbench_itself_are_no_verdict() {
    refuse("threads", &["run"], &["0", "2", "4", "9"], &[]);
}

#[test]
fn a_backtrace_does_not_hide_that_memory_ran_out() {
    let sandbox = sandbox();
    sandbox.write("spec.toml", &SPEC.replace("path = \"table.csv\"", "from = \"gp-draw\"\nn = 400\nd = 2"));
    // The matrix of the direct solver, and nothing else, is as large.
    let variables = [("ROLE", "case"), ("ACT", "memory"), ("BYTES", "1280000"), ("RUST_BACKTRACE", "1")];
    run_on(&sandbox, &variables, &["--exact-limit", "1"]).exits(1);
    for case in sandbox.cases() {
        let expected = if case["solver"] == "cholesky" { "out_of_memory" } else { "ok" };
        assert_eq!(case["status"], expected, "{case}");
    }
}
