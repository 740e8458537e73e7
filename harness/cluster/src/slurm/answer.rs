//! Parsers of the output of Slurm's programs.

use std::collections::BTreeSet;

use crate::limits::Node;
use crate::scheduler::{Exit, JobTask, TaskState, Trouble};

/// Most bytes of a message that are shown.
const MOST_SHOWN: usize = 600;

/// Lines of a message that are shown.
const LINES: usize = 5;

/// The last lines of a message, in one line.
pub(super) fn last_lines(message: &str) -> String {
    let lines: Vec<&str> = message.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let text = lines[lines.len().saturating_sub(LINES)..].join("; ");
    let text = if text.is_empty() { "it printed nothing".to_owned() } else { text };
    gpbench_record::text::cut(&text, MOST_SHOWN).into_owned()
}

/// The kind of a failure by the program's message, if it is known.
pub(super) fn trouble(message: &str) -> Option<Trouble> {
    /// Parts of messages about a controller that does not answer or is busy.
    const PASSING: [&str; 9] = [
        "Unable to contact slurm controller",
        "Socket timed out",
        "Connection refused",
        "Connection timed out",
        "connect failure",
        "Zero Bytes were transmitted",
        "Slurm backup controller in standby mode",
        "temporarily unable",
        "Transport endpoint is not connected",
    ];
    /// Parts of messages about a limit on tasks in the queue.
    const FULL: [&str; 4] = ["MaxSubmit", "job submit limit", "MaxJobCount", "AssocGrpSubmit"];
    /// Parts of messages about options that this version of Slurm does not have.
    const LASTING: [&str; 2] = ["nrecognized option", "Invalid job format"];
    let has = |parts: &[&str]| parts.iter().any(|part| message.contains(part));
    let known = [(&FULL[..], Trouble::Full), (&PASSING, Trouble::Passing), (&LASTING, Trouble::Lasting)];
    known.into_iter().find(|(parts, _)| has(parts)).map(|(_, trouble)| trouble)
}

/// A setting of `scontrol show config`.
pub(super) fn setting<'a>(config: &'a str, name: &str) -> Option<&'a str> {
    let settings = config.lines().filter_map(|line| line.split_once('='));
    settings.into_iter().find(|(key, _)| key.trim() == name).map(|(_, value)| value.trim())
}

/// Reads lines of partition, node, MiB of memory, processors and longest time; the longest time in seconds and the
/// nodes; those of the default partition where none is named.
pub(super) fn nodes(text: &str, of_default: bool) -> Result<(Option<u64>, Vec<Node>), String> {
    let (mut longest, mut nodes, mut seen) = (Some(0), Vec::new(), BTreeSet::new());
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let unreadable = || format!("printed `{line}`, which is not a node");
        let [partition, name, memory, processors, time] =
            line.trim().split('|').collect::<Vec<_>>().try_into().map_err(|_| unreadable())?;
        if of_default && !partition.ends_with('*') {
            continue;
        }
        let memory: u64 = number(memory).ok_or_else(unreadable)?;
        let processors = number(processors).ok_or_else(unreadable)?;
        longest = match (longest, seconds(time).ok_or_else(unreadable)?) {
            (Some(known), Some(time)) => Some(time.max(known)),
            _ => None,
        };
        if seen.insert(name) {
            nodes.push(Node { name: name.to_owned(), memory_bytes: memory << 20, processors });
        }
    }
    match (nodes.is_empty(), of_default) {
        (true, true) => Err("shows no default partition; name one as `partition` of `site`".to_owned()),
        (true, false) => {
            Err("shows no node in this partition; see `sinfo` for those that there are".to_owned())
        }
        (false, _) => Ok((longest, nodes)),
    }
}

/// A number, after which a plus sign may stand where nodes differ.
fn number<T: std::str::FromStr>(text: &str) -> Option<T> {
    text.trim().trim_end_matches('+').parse().ok()
}

/// Seconds of `[days-]hours:minutes:seconds` or `minutes:seconds`; none where there is no limit.
fn seconds(text: &str) -> Option<Option<u64>> {
    if matches!(text.trim(), "infinite" | "UNLIMITED" | "n/a") {
        return Some(None);
    }
    let (days, rest) = text.trim().split_once('-').unwrap_or(("0", text.trim()));
    let mut total = 0;
    for part in rest.split(':') {
        total = 60 * total + part.parse::<u64>().ok()?;
    }
    Some(Some(86_400 * days.parse::<u64>().ok()? + total))
}

/// Reads lines of job, index, state, reason, node, wait status and comment. Jobs that are no arrays are left out.
pub(super) fn tasks(text: &str) -> Result<Vec<JobTask>, String> {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let tasks = lines.map(|line| task(line).ok_or_else(|| format!("printed `{line}`, which is not a task")));
    tasks.filter_map(Result::transpose).collect()
}

fn task(line: &str) -> Option<Option<JobTask>> {
    let columns: Vec<&str> = line.trim().splitn(7, '|').map(str::trim).collect();
    let [job, index, state, reason, node, exit, comment] = columns.try_into().ok()?;
    if index == "N/A" {
        return Some(None);
    }
    let status: i32 = exit.parse().ok()?;
    Some(Some(JobTask {
        job: job.parse().ok()?,
        index: index.parse().ok()?,
        state: TaskState::parse(state),
        reason: reason.to_owned(),
        node: if node == "(null)" { String::new() } else { node.to_owned() },
        exit: Exit { status: status >> 8 & 0xff, signal: status & 0x7f },
        comment: comment.trim_end_matches('|').to_owned(),
    }))
}
