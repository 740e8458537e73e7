//! Children that end: the process that they belong to ends in the same way, and none is left.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};

use gpbench_terms::ParamValue;

use crate::python::{is_here, small, solver, zoo};

/// Name of the variable that says what the victim does.
const ACT: &str = "GPBENCH_ZOO_ACT";

/// Run by the other tests, in a process of its own; nothing without their variable.
#[test]
fn victim() {
    let Ok(act) = std::env::var(ACT) else { return };
    let outcome = small().solve_with(&solver(&zoo("faults"), "faults"), &[("act", ParamValue::Text(act))]);
    panic!("the solve returned: {outcome:?}");
}

fn start(act: &str) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "ends::victim", "--nocapture", "--test-threads", "1"]);
    command.env(ACT, act).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

fn end(act: &str) -> (ExitStatus, String) {
    let mut child = start(act);
    let mut log = String::new();
    child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
    (child.wait().unwrap(), log)
}

#[test]
fn an_exit_is_an_exit_with_the_same_code() {
    if !is_here() {
        return;
    }
    let (status, log) = end("os-exit");
    assert_eq!(status.code(), Some(3), "{log}");
    assert!(log.contains("the Python process has ended: exit status: 3"), "{log}");
}

#[test]
fn a_signal_is_the_same_signal() {
    if !is_here() {
        return;
    }
    let (status, log) = end("segfault");
    assert_eq!(status.signal(), Some(libc::SIGSEGV), "{log}");
    assert!(
        log.contains("Fatal Python error: Segmentation fault") && log.contains("in do_segfault"),
        "{log}"
    );
    let (status, log) = end("kill");
    assert_eq!(status.signal(), Some(libc::SIGKILL), "{log}");
}

#[test]
fn a_copy_that_stays_hides_nothing_and_asks_for_nothing() {
    if !is_here() {
        return;
    }
    let mut child = start("fork");
    let mut log = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    // Not to the end of the log, which the copy holds open.
    while log.read_line(&mut line).unwrap() > 0 && !line.contains("has ended") {}
    assert_eq!(child.wait().unwrap().code(), Some(4), "{line}");
    end_orphans(&zoo("faults").to_string_lossy());
}

#[test]
fn a_child_that_hangs_ends_with_its_process() {
    if !is_here() {
        return;
    }
    for act in ["hang", "hang-in-c"] {
        let mut child = start(act);
        let mut log = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        while log.read_line(&mut line).unwrap() > 0 && !line.contains("hangs") {}
        child.kill().unwrap();
        child.wait().unwrap();
        // The child has the only other end of this pipe.
        log.read_line(&mut line).unwrap();
        let mut rest = Vec::new();
        log.read_to_end(&mut rest).unwrap();
    }
}

/// Ends the copies that a script has left, which have no parent.
fn end_orphans(script: &str) {
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Ok(pid) = entry.file_name().to_string_lossy().parse::<i32>() else { continue };
        let command = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        if String::from_utf8_lossy(&command).split('\0').any(|word| word == script) {
            let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
            let parent = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1));
            if parent == Some("1") {
                // SAFETY: a system call on numbers.
                unsafe { libc::kill(pid, libc::SIGKILL) };
            }
        }
    }
}

#[test]
fn limits_of_files_and_addresses_leave_room_for_python() {
    if !is_here() {
        return;
    }
    for limit in ["-f 100000", "-v 4000000"] {
        let shell =
            format!("ulimit {limit} && exec \"$0\" --exact ends::victim --nocapture --test-threads 1");
        let mut command = Command::new("sh");
        command.arg("-c").arg(shell).arg(std::env::current_exe().unwrap());
        let output = command.env(ACT, "none").stdin(Stdio::null()).output().unwrap();
        let log = String::from_utf8_lossy(&output.stderr);
        assert!(
            log.contains("the solve returned: Ok(") && log.contains("reason: Converged"),
            "{limit}: {log}"
        );
    }
}
