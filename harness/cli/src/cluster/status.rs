//! The status of a cluster run as text.

use gpbench_cluster::{CancelTarget, FrontSummary, TaskNote};
use gpbench_record::counted;

/// Most tasks that are named one by one.
const MOST_NAMED: usize = 10;

/// The progress of a cluster run. `failed`: rows that are failures. `block`: the name of a case's block, by id.
pub(crate) fn status(
    name: &str,
    summary: &FrontSummary,
    failed: usize,
    block: &dyn Fn(&str) -> Option<String>,
) -> String {
    let mut lines = vec![first_line(name, summary, failed)];
    let tried = |note: &TaskNote| format!("is tried again, {} of {} failures", note.failures, note.most);
    add(&mut lines, &summary.retried, block, &tried);
    let given_up = |note: &TaskNote| match note.left.len() {
        1 => "is given up with 1 case left".to_owned(),
        left => format!("is given up with {left} cases left"),
    };
    add(&mut lines, &summary.given_up, block, &given_up);
    if !summary.banned.is_empty() {
        let nodes = summary.banned.join(", ");
        lines.push(format!("  nothing is sent to {nodes}: several tasks failed there within a minute each"));
    }
    if summary.duplicates > 0 {
        lines.push(format!("  {} rows came a second time and were left out", summary.duplicates));
    }
    lines.join("\n")
}

/// Rows, and where the tasks are.
fn first_line(name: &str, summary: &FrontSummary, failed: usize) -> String {
    let FrontSummary { cases, rows, running, queued, sent, unanswered, ended, waiting, .. } = summary;
    let failures = if failed > 0 { format!(" ({failed} failed)") } else { String::new() };
    let mut parts = vec![format!("{name}: {rows} of {cases} rows{failures}")];
    let count: usize = running.values().sum();
    if count > 0 {
        let nodes: Vec<&str> = running.keys().map(String::as_str).filter(|node| !node.is_empty()).collect();
        let nodes =
            if nodes.len() <= MOST_NAMED { nodes.join(", ") } else { format!("{} nodes", nodes.len()) };
        let on = if nodes.is_empty() { String::new() } else { format!(" on {nodes}") };
        parts.push(format!("{} running{on}", tasks(count)));
    }
    parts.extend(queued.iter().map(|(reason, count)| format!("{count} queued ({reason})")));
    let others = [
        (sent, "sent, not in the queue yet"),
        (unanswered, "sent without an answer of Slurm"),
        (ended, "ended with cases left"),
        (waiting, "to be sent"),
    ];
    let others = others.iter().filter(|(count, _)| **count > 0);
    parts.extend(others.map(|(count, what)| format!("{count} {what}")));
    parts.join(", ")
}

/// Adds a line for each task, up to a number of them.
fn add(
    lines: &mut Vec<String>,
    notes: &[TaskNote],
    block: &dyn Fn(&str) -> Option<String>,
    what: &dyn Fn(&TaskNote) -> String,
) {
    for note in notes.iter().take(MOST_NAMED) {
        let TaskNote { attempt, left, reason, remedy, .. } = note;
        let block = left.first().and_then(|id| block(id)).map(|block| format!(" ({block})"));
        let remedy = if remedy.is_empty() { String::new() } else { format!("; {remedy}") };
        lines.push(format!(
            "  task {}{} {}: {reason}{remedy}",
            attempt.task,
            block.unwrap_or_default(),
            what(note)
        ));
    }
    if notes.len() > MOST_NAMED {
        lines.push(format!("  and {} more", notes.len() - MOST_NAMED));
    }
}

/// A list of what may still be queued or running, if anything may.
pub(crate) fn living(summary: &FrontSummary) -> Option<String> {
    let FrontSummary { living, unanswered, .. } = summary;
    let mut parts = Vec::new();
    if !living.is_empty() {
        let mut names: Vec<String> = living.iter().take(MOST_NAMED).map(CancelTarget::to_string).collect();
        if living.len() > MOST_NAMED {
            names.push(format!("{} more", living.len() - MOST_NAMED));
        }
        parts.push(format!("{} may still be queued or running ({})", tasks(living.len()), names.join(", ")));
    }
    if *unanswered > 0 {
        parts.push(format!("{} had no answer of Slurm and may have arrived", tasks(*unanswered)));
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// A number of tasks.
pub(crate) fn tasks(count: usize) -> String {
    counted(count, "task")
}

#[cfg(test)]
mod tests {
    use gpbench_record::Attempt;

    use super::*;

    fn note(task: u32, failures: u32, left: &[&str], reason: &str, remedy: &'static str) -> TaskNote {
        let left = left.iter().map(|&id| id.to_owned()).collect();
        let attempt = Attempt { task, attempt: 3 };
        TaskNote { attempt, failures, most: 4, left, reason: reason.to_owned(), remedy }
    }

    #[test]
    fn a_run_in_every_state_is_told() {
        let summary = FrontSummary {
            cases: 360,
            rows: 212,
            duplicates: 1,
            running: [("n1".to_owned(), 2), (String::new(), 1)].into(),
            queued: [("Priority".to_owned(), 107), ("PartitionConfig".to_owned(), 2)].into(),
            sent: 3,
            unanswered: 4,
            ended: 1,
            waiting: 5,
            living: Vec::new(),
            banned: vec!["n3".to_owned()],
            retried: vec![note(17, 2, &["a"], "NODE_FAIL (n12)", "")],
            given_up: vec![
                note(88, 4, &["a", "b"], "the node is unfit: no folder /data (n2)", "fix the cause"),
                note(90, 0, &["?"], "CANCELLED", "somebody else cancelled it"),
            ],
            left: Vec::new(),
        };
        let block = |id: &str| (id == "a").then(|| "pol/matern32/seed 3".to_owned());
        let expected = "\
uci: 212 of 360 rows (3 failed), 3 tasks running on n1, 2 queued (PartitionConfig), 107 queued (Priority), \
3 sent, not in the queue yet, 4 sent without an answer of Slurm, 1 ended with cases left, 5 to be sent
  task 17 (pol/matern32/seed 3) is tried again, 2 of 4 failures: NODE_FAIL (n12)
  task 88 (pol/matern32/seed 3) is given up with 2 cases left: the node is unfit: no folder /data (n2); fix the cause
  task 90 is given up with 1 case left: CANCELLED; somebody else cancelled it
  nothing is sent to n3: several tasks failed there within a minute each
  1 rows came a second time and were left out";
        assert_eq!(status("uci", &summary, 3, &block), expected);
        let done = FrontSummary { cases: 8, rows: 8, ..FrontSummary::default() };
        assert_eq!(status("uci", &done, 0, &block), "uci: 8 of 8 rows");
    }

    #[test]
    fn what_may_live_is_named() {
        assert_eq!(living(&FrontSummary::default()), None);
        let one = FrontSummary {
            living: vec![CancelTarget::Task(12, 3)],
            unanswered: 2,
            ..FrontSummary::default()
        };
        let said = "1 task may still be queued or running (12_3), 2 tasks had no answer of Slurm and may have arrived";
        assert_eq!(living(&one).as_deref(), Some(said));
        let many = FrontSummary {
            living: (0..12).map(|k| CancelTarget::Task(7, k)).collect(),
            ..FrontSummary::default()
        };
        assert!(living(&many).unwrap().ends_with("7_9, 2 more)"));
    }
}
