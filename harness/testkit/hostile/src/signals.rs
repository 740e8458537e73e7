//! Acts that end other processes, or this one, by SIGKILL.

use std::fs;

/// Largest number of processes that are ended.
const MOST: usize = 2;
/// Largest number of searches for them.
const ROUNDS: usize = 500;

fn kill(process: i32) {
    // SAFETY: a system call on numbers.
    unsafe { libc::kill(process, libc::SIGKILL) };
}

fn own() -> i32 {
    i32::try_from(std::process::id()).expect("a number of a process")
}

fn parent() -> i32 {
    i32::try_from(std::os::unix::process::parent_id()).expect("a number of a process")
}

/// Ends this process.
pub(crate) fn kill_self() {
    kill(own());
}

/// Ends the parent.
pub(crate) fn kill_parent() {
    kill(parent());
    crate::acts::sleep()
}

/// Ends two other children of the parent: workers that run cases, verify or compute exact references.
pub(crate) fn kill_siblings() {
    let mut ended = Vec::new();
    for _ in 0..ROUNDS {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let processes = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
        for process in processes.filter(|process| *process != own() && is_child(*process)) {
            if !ended.contains(&process) && ended.len() < MOST {
                kill(process);
                ended.push(process);
            }
        }
    }
}

/// Whether a process is a child of this one's parent and has not ended.
fn is_child(process: i32) -> bool {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The name, in brackets, may hold anything; state and parent follow.
    let mut fields = text.rsplit_once(") ").map_or("", |(_, rest)| rest).split(' ');
    fields.next().is_some_and(|state| state != "Z") && fields.next() == Some(parent().to_string().as_str())
}
