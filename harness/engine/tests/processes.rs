//! Workers that misbehave, as real processes. Each is a small shell script; none may block the engine, lose a row, or
//! outlive its run.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use gpbench_engine::{End, EngineError, Executor as _, Interrupt, LocalExecutor, RunOptions, Stop};
use gpbench_record::{CaseStatus, Job, Limits, Message};
use gpbench_runs::read_journal;

use crate::script::Script;
use crate::support::{change, options, plan, planned, run};

/// Whether the process that wrote its number into `file` has ended, reaped or not. A kill takes a moment.
fn is_dead(file: &Path) -> bool {
    let pid = fs::read_to_string(file).unwrap();
    let deadline = Instant::now() + Duration::from_secs(5);
    loop {
        let dead = match fs::read_to_string(format!("/proc/{}/stat", pid.trim())) {
            Ok(stat) => stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with(['Z', 'X'])),
            Err(_) => true,
        };
        if dead || Instant::now() > deadline {
            return dead;
        }
        thread::yield_now();
    }
}

const HANG: &str = "sleep 60\n";
const LIMIT: Limits =
    Limits { kill_after_seconds: Some(0.5), cpu_seconds: None, memory_bytes: None, memory_share: None };

#[test]
fn a_good_worker_gets_its_job_and_environment_and_reports() {
    let script = Script::new(
        "echo printed >&2; cat > $(dirname $0)/input
         echo $1 $RAYON_NUM_THREADS $OPENBLAS_NUM_THREADS $OMP_NUM_THREADS $LC_ALL >&2
         cat $(dirname $0)/solved",
    );
    let outcome = script.case(Limits::default());
    assert_eq!(outcome.end, End::Exited(0));
    assert!(matches!(&outcome.messages[..], [Message::Solved(_)]));
    assert_eq!(script.log(), "printed\ncase 3 1 1 C\n");
    let job: Job = serde_json::from_slice(&fs::read(script.path().join("input")).unwrap()).unwrap();
    assert_eq!(job.case, planned("cg", 0).case);
}

#[test]
fn signals_and_exits_are_distinguished() {
    assert_eq!(Script::new("exit 0").end(), End::Exited(0));
    assert_eq!(Script::new("exit 3").end(), End::Exited(3));
    let signalled = |signal| End::Signalled { signal, memory_pressure: false };
    assert_eq!(Script::new("kill -SEGV $$").end(), signalled(11));
    assert_eq!(Script::new("kill -ABRT $$").end(), signalled(6));
    assert_eq!(Script::new("kill -KILL $$").end(), signalled(9));
}

#[test]
fn a_worker_that_hangs_is_killed_with_what_it_forked() {
    let script = Script::new(&format!(
        "d=$(dirname $0); trap '' TERM INT HUP\n({HANG}) & echo $! > $d/child; echo $$ > $d/leader\n{HANG}"
    ));
    let outcome = script.case(LIMIT);
    assert_eq!(outcome.end, End::TimedOut { limit: 0.5 });
    assert!(outcome.seconds_over_limit.is_some_and(|seconds| seconds >= 0.0));
    assert!(is_dead(&script.path().join("leader")));
    // The child is killed at the same time; init reaps it, or no process does.
    assert!(is_dead(&script.path().join("child")));
}

#[test]
fn a_worker_that_takes_too_much_memory_is_killed() {
    let limits = Limits { memory_bytes: Some(1), ..LIMIT };
    let outcome = Script::new(HANG).case(limits);
    assert!(matches!(outcome.end, End::OutOfMemory { limit: 1, bytes } if bytes > 1), "{:?}", outcome.end);
    assert!(outcome.peak_memory_bytes > 1);
}

#[test]
fn garbage_is_named_and_ends_the_worker() {
    let garbled = |sample: &str| End::Garbled { sample: sample.into() };
    assert_eq!(Script::new(&format!("echo iteration 1: fine\n{HANG}")).end(), garbled("iteration 1: fine"));
    // Eight megabytes without a line's end.
    let flood = format!("head -c 8388608 /dev/zero | tr '\\0' x\n{HANG}");
    assert_eq!(Script::new(&flood).end(), garbled(&"x".repeat(80)));
}

#[test]
fn half_a_line_is_neither_message_nor_garbage() {
    let script = Script::new("head -c 30 $(dirname $0)/solved; kill -SEGV $$");
    let outcome = script.case(Limits::default());
    assert_eq!(outcome.end, End::Signalled { signal: 11, memory_pressure: false });
    assert!(outcome.messages.is_empty());
}

#[test]
fn a_child_that_keeps_the_output_open_blocks_nothing() {
    let forked = format!("({HANG}) & echo $! > $(dirname $0)/child; cat $(dirname $0)/solved");
    let script = Script::new(&forked);
    let outcome = script.case(Limits::default());
    assert_eq!((outcome.end, outcome.messages.len()), (End::Exited(0), 1));
    assert!(is_dead(&script.path().join("child")));
}

/// A script that leaves a process in a session of its own, and the file with that one's number. As a worker does, it
/// reads its job first, which comes once its limits stand.
const ESCAPE: &str =
    "cat > /dev/null; d=$(dirname $0); env -i setsid sh -c \"echo \\$\\$ > $d/child; exec sleep 60\" &
     while [ ! -s $d/child ]; do :; done; cat $d/solved";

#[test]
fn a_child_that_escapes_its_group_blocks_nothing_and_is_ended() {
    let confined = Script::new(ESCAPE);
    let mut marked = Script::new(ESCAPE);
    marked.executor = marked.executor.without_control_groups();
    for script in [confined, marked] {
        let outcome = script.case(Limits::default());
        assert_eq!((outcome.end, outcome.messages.len()), (End::Exited(0), 1));
        assert!(is_dead(&script.path().join("child")), "{}", script.executor.machine().limits);
    }
}

#[test]
fn what_a_killed_engine_left_running_is_ended() {
    let script = Script::new("");
    let log = script.path().join("logs/a.log");
    // One that has said something runs with its own environment; one that was only just spawned may not yet.
    let start = |log: &Path| {
        let mut shell = Command::new("sh");
        shell.args(["-c", "echo ready; read -r answer"]).env("GPBENCH_LOG", log);
        let mut child = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        child
    };
    let mut left = start(&log);
    // Of another run, and of cases of this run that another engine may be running.
    let others = ["/elsewhere/logs/a.log", "logs/b.log", "logs/a.log.b"].map(|log| script.path().join(log));
    let mut others = others.map(|log| start(&log));
    script.executor.end_stale_processes(&[log, script.path().join("logs/c.log")]);
    assert_eq!(left.wait().unwrap().signal(), Some(9));
    for other in &mut others {
        assert_eq!(other.try_wait().unwrap(), None, "processes of other cases continue");
        other.kill().unwrap();
        other.wait().unwrap();
    }
}

#[test]
fn a_worker_that_uses_too_much_processor_time_is_killed() {
    let limits = Limits { kill_after_seconds: Some(60.0), cpu_seconds: Some(0.2), ..LIMIT };
    let confined = Script::new("while :; do :; done");
    let mut watched = Script::new("while :; do :; done");
    watched.executor = watched.executor.without_control_groups();
    for script in [confined, watched] {
        let outcome = script.case(limits);
        assert_eq!(outcome.end, End::CpuSpent { limit: 0.2 }, "{}", script.executor.machine().limits);
        assert!(outcome.seconds_over_limit.is_some());
    }
}

#[test]
fn what_a_worker_has_forked_counts_as_its_own() {
    // The child burns, the worker waits.
    let burn = "(while :; do :; done) & wait";
    let limits = Limits { kill_after_seconds: Some(60.0), cpu_seconds: Some(0.2), ..LIMIT };
    let mut script = Script::new(burn);
    script.executor = script.executor.without_control_groups();
    assert_eq!(script.case(limits).end, End::CpuSpent { limit: 0.2 });
}

#[test]
fn a_worker_leaves_no_core_file() {
    let script = Script::new("ulimit -c >&2; cat $(dirname $0)/solved");
    script.case(Limits::default());
    assert_eq!(script.log(), "0\n");
}

#[test]
fn a_worker_that_lingers_is_killed_and_its_result_counts() {
    let end = |body: &str| {
        let mut script = Script::new(body);
        script.executor.grace = Duration::from_millis(100);
        let outcome = script.case(Limits::default());
        (outcome.end, outcome.messages.len())
    };
    assert_eq!(end(&format!("cat $(dirname $0)/solved\n{HANG}")), (End::Lingered, 1));
    assert_eq!(end("exec sleep 60 >&-"), (End::Lingered, 0));
}

#[test]
fn an_interrupt_kills_the_worker() {
    let script = Script::new(&format!("echo $$ > $(dirname $0)/leader\n{HANG}"));
    let interrupt = Interrupt::default();
    interrupt.raise(15);
    assert_eq!(script.case_until(Limits::default(), &interrupt).end, End::Interrupted);
    let path = script.path().join("leader");
    assert!(!path.exists() || is_dead(&path));
}

#[test]
fn a_missing_worker_is_named() {
    let script = Script::new("");
    let absent = LocalExecutor::new("/nowhere/gpbench-worker");
    let script = Script { executor: absent, ..script };
    let End::NotStarted { reason } = script.end() else { panic!("it cannot have started") };
    assert!(reason.starts_with("/nowhere/gpbench-worker: "), "{reason}");
    let error = LocalExecutor::open("/nowhere/gpbench-worker", 1, 1).unwrap_err();
    assert!(matches!(error, EngineError::Worker { .. }), "{error}");
    assert!(error.to_string().contains("/nowhere/gpbench-worker"));
}

#[test]
fn a_run_whose_time_is_over_ends_and_continues_later() {
    let script = Script::new(&format!(
        "d=$(dirname $0); job=$(cat)
         [ $1 = verify ] && exec cat $d/verified
         case $job in *'\"plugin\":\"slow\"'*) [ -e $d/fast ] || {HANG} ;; esac; cat $d/solved"
    ));
    let mut options = RunOptions { time_limit_seconds: Some(1.0), ..options(script.path()) };
    let plan = plan(&["slow", "good"]);
    let (stopped, _) = run(&script.executor, &plan, &options).unwrap();
    assert_eq!((stopped.stopped, stopped.interrupted), (Some(Stop::Time), None));
    assert_eq!((stopped.ran, stopped.is_complete()), (0, false), "what was cut off has no row");
    fs::write(script.path().join("fast"), "").unwrap();
    options.time_limit_seconds = Some(600.0);
    let (whole, _) = run(&script.executor, &plan, &options).unwrap();
    assert_eq!((whole.stopped, whole.ran, whole.is_complete()), (None, 2, true));
    assert_eq!(whole.folder, stopped.folder);
}

#[test]
fn a_whole_run_survives_its_worst_case() {
    // The solver's name, in the job, says how to behave.
    let script = Script::new(&format!(
        "d=$(dirname $0); job=$(cat)
         [ $1 = verify ] && exec cat $d/verified
         cat $d/loading
         case $job in
           *'\"plugin\":\"segfault\"'*) echo 'last words' >&2; kill -SEGV $$ ;;
           *'\"plugin\":\"hang\"'*) {HANG} ;;
           *'\"plugin\":\"leave\"'*) exit 0 ;;
           *'\"plugin\":\"print\"'*) echo hello ;;
           *) cat $d/solved ;;
         esac"
    ));
    let mut plan = plan(&["segfault", "hang", "leave", "print", "good"]);
    // Only the one that hangs is held to the short limit.
    for planned in plan.file.cases.iter_mut().filter(|planned| planned.case.solver.name != "hang") {
        change(planned, |case, _| case.budget.seconds = Some(1.0));
    }
    let options = RunOptions { kill_after_seconds: Some(0.2), ..options(script.path()) };
    let (summary, _) = run(&script.executor, &plan, &options).unwrap();
    let rows = read_journal(&summary.folder).unwrap().rows;
    let ends: Vec<(&str, CaseStatus)> =
        rows.iter().map(|row| (row.labels.solver.as_str(), row.status)).collect();
    assert_eq!(
        ends,
        [
            ("segfault", CaseStatus::Crashed),
            ("hang", CaseStatus::Timeout),
            ("leave", CaseStatus::Crashed),
            ("print", CaseStatus::Invalid),
            ("good", CaseStatus::Ok),
        ]
    );
    assert_eq!(rows[0].log_tail, "last words");
    assert!(!rows[1].reproducible && rows[4].reproducible);
}
