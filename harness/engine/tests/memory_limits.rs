//! Limits on memory, as real processes: whatever keeps memory, in whichever way, is found before it is much more than the
//! limit.

use std::fs;
use std::fs::File;
use std::io::Write as _;
use std::thread;
use std::time::Duration;

use gpbench_engine::{End, Outcome};
use gpbench_record::Limits;
use rustix::fs::{MemfdFlags, memfd_create};

use crate::script::Script;

const LIMIT: u64 = 300 << 20;
/// What an act may reach before it is killed: far below the gigabyte that it would take.
const MOST: u64 = 600 << 20;
/// What an act takes if nobody ends it.
const ALL: usize = 1 << 30;
const PIECE: usize = 1 << 20;

/// Runs an act, one of the ignored tests below, as the worker.
fn act(name: &str, limit: u64) -> Outcome {
    let script = Script::new(
        "cat > /dev/null; GPBENCH_ACT=1 exec \"$(cat $(dirname $0)/program)\" --exact \"$(cat $(dirname $0)/act)\" --ignored --nocapture 3>&1 > /dev/null 2>&1",
    );
    let program = std::env::current_exe().unwrap();
    fs::write(script.path().join("program"), program.to_str().unwrap()).unwrap();
    fs::write(script.path().join("act"), format!("memory_limits::{name}")).unwrap();
    script.case(Limits { memory_bytes: Some(limit), kill_after_seconds: Some(60.0), ..Limits::default() })
}

#[track_caller]
fn is_ended_in_time(outcome: &Outcome) {
    let End::OutOfMemory { bytes, limit: LIMIT } = outcome.end else { panic!("{:?}", outcome.end) };
    assert!((LIMIT..MOST).contains(&bytes), "{} MiB", bytes >> 20);
}

/// Whether this process is to act. Without it, a run of all ignored tests would sleep for a minute in each act.
fn acts() -> bool {
    std::env::var_os("GPBENCH_ACT").is_some()
}

#[test]
#[ignore = "an act"]
fn allocate_fast() {
    if !acts() {
        return;
    }
    let fill = || {
        let held: Vec<Vec<u8>> = (0..ALL / PIECE).map(|_| vec![1; PIECE]).collect();
        thread::sleep(Duration::from_secs(60));
        drop(held);
    };
    thread::scope(|scope| (0..2).for_each(|_| drop(scope.spawn(fill))));
}

#[test]
#[ignore = "an act"]
fn fill_files_in_memory() {
    if !acts() {
        return;
    }
    let mut files: Vec<File> =
        (0..4).map(|_| memfd_create("a", MemfdFlags::CLOEXEC).unwrap().into()).collect();
    for _ in 0..ALL / PIECE / files.len() {
        files.iter_mut().for_each(|file| file.write_all(&vec![1; PIECE]).unwrap());
    }
    thread::sleep(Duration::from_secs(60));
}

#[test]
fn memory_that_is_filled_fast_is_not_much_more_than_the_limit() {
    is_ended_in_time(&act("allocate_fast", LIMIT));
}

#[test]
fn files_in_memory_count_though_nothing_maps_them() {
    is_ended_in_time(&act("fill_files_in_memory", LIMIT));
}

#[test]
fn a_worker_that_closes_its_output_is_held_to_its_limit_all_the_same() {
    // Three hundred megabytes in a shell, which counts as about to end.
    let script = Script::new(
        "cat > /dev/null; exec > /dev/null; x=$(head -c 300000000 /dev/zero | tr '\\0' x); sleep 60",
    );
    let limits = Limits { memory_bytes: Some(50 << 20), kill_after_seconds: Some(60.0), ..Limits::default() };
    let outcome = script.case(limits);
    assert!(matches!(outcome.end, End::OutOfMemory { .. }), "{:?}", outcome.end);
}

#[test]
fn what_an_orphan_in_a_session_of_its_own_takes_counts() {
    // Without control groups, mark and parent; the worker waits.
    let mut script = Script::new(
        "cat > /dev/null; (env -i setsid sh -c 'x=$(head -c 100000000 /dev/zero | tr \"\\0\" x); sleep 60' &) ; sleep 60",
    );
    script.executor = script.executor.without_control_groups();
    let limits = Limits { memory_bytes: Some(50 << 20), kill_after_seconds: Some(60.0), ..Limits::default() };
    // The shell adopts no orphans, as a worker does: one that escapes it is ended at once, and takes nothing.
    let outcome = script.case(Limits { kill_after_seconds: Some(1.5), ..limits });
    assert!(outcome.peak_memory_bytes < 100 << 20, "{}", outcome.peak_memory_bytes);
}

#[test]
fn pages_that_processes_share_count_once() {
    // Forty processes of a megabyte or more each, most of which they share.
    let script = Script::new(
        "cat > /dev/null; i=0; while [ $i -lt 40 ]; do sleep 60 & i=$((i + 1)); done; sleep 1; cat $(dirname $0)/solved",
    );
    let limits = Limits { memory_bytes: Some(20 << 20), kill_after_seconds: Some(60.0), ..Limits::default() };
    let outcome = script.case(limits);
    assert_eq!((outcome.end, outcome.messages.len()), (End::Exited(0), 1));
}
