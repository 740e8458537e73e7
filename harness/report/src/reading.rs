//! The page about reading results in other programs: examples, and every column of the tables.

use std::fmt::Write as _;

use gpbench_record::TaskKind;
use gpbench_record::metric::{Direction, METRICS, Metric, Shown, Tolerance};

use crate::frame::{COLUMNS, PREDICTION_COLUMNS, STEP_COLUMNS, TRACE_COLUMNS};

/// How to read results, with a table of the columns of each file, in Markdown.
pub fn reading_page() -> String {
    let mut page = include_str!("reading.md").to_owned();
    page.push_str("## Columns of results.parquet\n\nWhat tells cases apart, and how they ended:\n\n");
    columns(&mut page, COLUMNS);
    page.push_str("\nMetrics; a run has those of its task that were measured:\n\n");
    page.push_str("| column | unit | better | tolerance | tasks | meaning |\n|---|---|---|---|---|---|\n");
    for metric in METRICS {
        let Metric { name, unit, .. } = metric;
        let (better, tolerance, tasks) = (better(metric), tolerance(metric), tasks(metric));
        let (unit, doc) = (unit.as_str(), cell(metric.doc()));
        let _ = writeln!(page, "| `{name}` | {unit} | {better} | {tolerance} | {tasks} | {doc} |");
    }
    page.push_str("\n## Columns of traces.parquet\n\n");
    columns(&mut page, TRACE_COLUMNS);
    shown(&mut page, Shown::Trace);
    page.push_str("\n## Columns of steps.parquet\n\n");
    columns(&mut page, STEP_COLUMNS);
    shown(&mut page, Shown::Steps);
    page.push_str("\n## Columns of predictions.parquet\n\n");
    columns(&mut page, PREDICTION_COLUMNS);
    page
}

/// `lower` or `higher`, by which values of a metric are better; empty where neither is.
pub fn better(metric: &Metric) -> &'static str {
    match metric.direction {
        Direction::Lower => "lower",
        Direction::Higher => "higher",
        Direction::Neither => "",
    }
}

/// The difference up to which values count as equal, such as `0.0001 or 0.5 %`; of metrics that are compared as ratios a share
/// alone, and empty where no value is better than another.
pub fn tolerance(metric: &Metric) -> String {
    let Tolerance { absolute, relative } = metric.tolerance;
    let absolute = (absolute > 0.0 && !metric.is_compared_as_log()).then(|| format!("{absolute} or "));
    match metric.direction {
        Direction::Neither => String::new(),
        // Rounded, since a share times 100 is not exact.
        Direction::Lower | Direction::Higher => {
            format!("{}{} %", absolute.unwrap_or_default(), (1e11 * relative).round() / 1e9)
        }
    }
}

/// The tasks that a metric belongs to, in words.
pub fn tasks(metric: &Metric) -> String {
    let tasks: Vec<&str> = metric.tasks.iter().map(|task| task.as_str()).collect();
    if tasks.len() == TaskKind::ALL.len() { "all".to_owned() } else { tasks.join(" ") }
}

fn columns(page: &mut String, columns: &[(&str, &str)]) {
    page.push_str("| column | meaning |\n|---|---|\n");
    for (name, doc) in columns {
        let _ = writeln!(page, "| `{name}` | {} |", cell(doc));
    }
}

/// Names of the metrics that a file of steps or trace points has beside its own columns.
fn shown(page: &mut String, place: Shown) {
    let names = METRICS.iter().filter(|metric| metric.is_shown(place));
    let names: Vec<String> = names.map(|metric| format!("`{}`", metric.name)).collect();
    let words = "Further columns are metrics that were measured there, named as in `results.parquet`. Charts show these of them";
    let _ = writeln!(page, "\n{words}: {}.", names.join(", "));
}

/// Escapes bars, which separate cells.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_in_reports_is_up_to_date() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../reports/READING.md");
        let stored = std::fs::read_to_string(file).unwrap_or_default();
        assert!(
            stored == reading_page(),
            "reports/READING.md is out of date: write the output of `gpbench schema results --format md` to it"
        );
    }
}
