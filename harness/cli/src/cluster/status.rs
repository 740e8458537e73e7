//! A cluster run in a few lines.

use gpbench_cluster::{Summary, TaskNote};

/// Most tasks that are named one by one.
const MOST_NAMED: usize = 10;

/// How far a cluster run is.
pub(crate) fn status(name: &str, summary: &Summary) -> String {
    let Summary { cases, rows, running, queued, sent, waiting, .. } = summary;
    let mut parts = vec![format!("{name}: {rows} of {cases} rows")];
    let count: usize = running.values().sum();
    if count > 0 {
        let nodes: Vec<&str> = running.keys().map(String::as_str).filter(|node| !node.is_empty()).collect();
        let nodes =
            if nodes.len() <= MOST_NAMED { nodes.join(", ") } else { format!("{} nodes", nodes.len()) };
        let on = if nodes.is_empty() { String::new() } else { format!(" on {nodes}") };
        parts.push(format!("{count} tasks running{on}"));
    }
    for (reason, count) in queued {
        parts.push(format!("{count} queued ({reason})"));
    }
    if *sent > 0 {
        parts.push(format!("{sent} sent"));
    }
    if *waiting > 0 {
        parts.push(format!("{waiting} not sent yet"));
    }
    let mut lines = vec![parts.join(", ")];
    let mut add = |what: &str, notes: &[TaskNote]| {
        for TaskNote { attempt, most, reason, remedy } in notes.iter().take(MOST_NAMED) {
            let remedy = if remedy.is_empty() { String::new() } else { format!("; {remedy}") };
            let (task, attempt) = (attempt.task, attempt.attempt);
            lines.push(format!(
                "  task {task} {what}, attempt {attempt} (at most {most} may fail): {reason}{remedy}"
            ));
        }
        if notes.len() > MOST_NAMED {
            lines.push(format!("  and {} more", notes.len() - MOST_NAMED));
        }
    };
    add("is tried again", &summary.retried);
    add("is given up", &summary.given_up);
    if !summary.banned.is_empty() {
        lines.push(format!(
            "  nothing is sent to {}: several tasks failed there at once",
            summary.banned.join(", ")
        ));
    }
    if summary.duplicates > 0 {
        lines.push(format!("  {} rows came a second time and were left out", summary.duplicates));
    }
    lines.join("\n")
}
