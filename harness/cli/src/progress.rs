//! Progress while cases run: a bar on a terminal, plain lines elsewhere.

use std::io::IsTerminal;
use std::path::Path;
use std::time::Instant;

use gpbench_engine::{Beginning, Event, Progress as Count, Reused};
use gpbench_record::metric::{self, Shown, Unit};
use gpbench_record::{Row, Status, names, text};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::args::Global;
use crate::notice::{Notice, Styles};
use crate::units;

/// Prints the events of a run on standard error.
pub(crate) struct Progress {
    bar: ProgressBar,
    styles: Styles,
    quiet: bool,
    verbose: bool,
    plain: bool,
    started: Instant,
    done_before: usize,
}

impl Progress {
    /// A bar or plain lines, as suits standard error and the user's options.
    pub(crate) fn new(global: &Global) -> Progress {
        let plain = global.quiet || !std::io::stderr().is_terminal();
        let target = if plain { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}")
            .expect("the template is a constant that a test renders");
        let bar = ProgressBar::with_draw_target(Some(0), target).with_style(style);
        Progress {
            bar,
            styles: Styles::new(global.color),
            quiet: global.quiet,
            verbose: global.verbose,
            plain,
            started: Instant::now(),
            done_before: 0,
        }
    }

    /// Prints the estimate of a run.
    pub(crate) fn announce(&self, estimate: &str) {
        self.say(&self.notice().text(estimate));
    }

    /// Prints an event.
    pub(crate) fn show(&mut self, event: Event) {
        match event {
            Event::Begun { folder, beginning, reused, progress } => {
                self.begin(&folder, beginning, &reused, progress);
            }
            Event::ExactStarted { labels, n } => {
                let dataset = text::line(&labels.dataset);
                self.say(&self.notice().text(format_args!("exact reference for {dataset} (n = {n})")));
            }
            Event::CaseStarted { labels, .. } => {
                if self.verbose {
                    self.say(&self.notice().text("starting ").text(&labels));
                }
                self.hint(&self.notice().text(labels));
            }
            Event::CaseFinished { row, progress } => self.finish(&row, progress),
            Event::Warning(text) => {
                let warning = self.notice().warning("warning:").text(" ").text(text);
                self.bar.suspend(|| warning.print());
            }
        }
    }

    /// Removes the bar.
    pub(crate) fn end(&self) {
        self.bar.finish_and_clear();
    }

    fn begin(&mut self, folder: &Path, beginning: Beginning, reused: &Reused, progress: Count) {
        self.done_before = progress.done;
        self.bar.set_length(progress.total as u64);
        self.bar.set_position(progress.done as u64);
        for line in opening(folder, beginning, reused, progress) {
            self.say(&self.notice().text(line));
        }
    }

    fn finish(&mut self, row: &Row, progress: Count) {
        let Count { total, done, failed } = progress;
        self.say(&line(self.notice().text(format_args!("[{done}/{total}] ")), row));
        self.bar.set_position(done as u64);
        let elapsed = self.started.elapsed().as_secs_f64();
        let left = seconds_left(elapsed, done.saturating_sub(self.done_before), total - done);
        let mut hint = self.notice();
        if failed > 0 {
            hint = hint.bad(&format!(" {failed} failed"));
        }
        if let Some(seconds) = left {
            hint = hint.text(format_args!(" {} left", units::duration(seconds)));
        }
        self.hint(&hint);
    }

    fn notice(&self) -> Notice {
        Notice::new(self.styles)
    }

    /// Shows a message beside the bar.
    fn hint(&self, notice: &Notice) {
        self.bar.set_message(notice.as_str().to_owned());
    }

    fn say(&self, notice: &Notice) {
        if self.quiet {
            return;
        }
        if self.plain { notice.print() } else { self.bar.println(notice.as_str()) }
    }
}

/// What to say as a run begins: which folder and why, and what it takes from earlier runs.
fn opening(folder: &Path, beginning: Beginning, reused: &Reused, progress: Count) -> Vec<String> {
    let mut lines = Vec::new();
    let (Count { done, total, .. }, folder) = (progress, folder.display());
    match beginning {
        Beginning::Continued if done < total => {
            lines.push(format!("continuing {folder}: {done} of {total} cases are done"));
        }
        Beginning::Changed { same, changed, added, removed } => {
            let changes = [
                (same, "as there"),
                (changed, "changed (settings, plugin, data, or gpbench itself)"),
                (added, "added"),
                (removed, "removed"),
            ];
            let changes = changes.iter().filter(|(count, _)| *count > 0);
            let changes: Vec<String> = changes.map(|(count, how)| format!("{count} {how}")).collect();
            lines
                .push(format!("{folder} is new, beside the newest run of this name: {}", changes.join(", ")));
        }
        Beginning::Continued | Beginning::Fresh | Beginning::First => {}
    }
    let Reused { cases, elsewhere, differences } = reused;
    if *cases > 0 {
        lines.push(format!("finished cases re-used from earlier runs: {cases}"));
    }
    if *elsewhere > 0 {
        let what = differences.join(", ");
        lines.push(format!(
            "finished cases of another environment ({what}), which run again: {elsewhere}; `--reuse any` takes their \
             rows, with their seconds"
        ));
    }
    lines
}

/// Adds the line of a finished case: labels, status, the metrics that the registry shows here, and the reason.
fn line(notice: Notice, row: &Row) -> Notice {
    let mut line = notice.text(&row.labels).text(": ");
    let status = row.status.as_str();
    line = match row.status {
        Status::Ok => line.good(status),
        Status::NotConverged | Status::Skipped => line.warning(status),
        _ => line.bad(status),
    };
    for metric in metric::shown(row.case.task.kind(), Shown::Progress) {
        let value = match metric.name {
            names::SECONDS => row.total_seconds(),
            name => row.metrics.get(name),
        };
        if let Some(value) = value {
            line = line.text(match metric.unit {
                Unit::Seconds => format!(", {}", units::duration(value)),
                _ => format!(", {} {}", metric.title, gpbench_report::number(metric, value)),
            });
        }
    }
    if row.status != Status::Ok && !row.reason.is_empty() {
        let reason = text::line(&row.reason);
        line = line.text(format_args!(" ({})", text::cut(&reason, text::REASON)));
    }
    line
}

/// Estimated seconds until the end, from the cases that this process has run.
fn seconds_left(elapsed: f64, ran: usize, left: usize) -> Option<f64> {
    (ran > 0 && left > 0).then(|| elapsed / ran as f64 * left as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_follows_the_cases_of_this_process() {
        assert_eq!(seconds_left(10.0, 0, 5), None);
        assert_eq!(seconds_left(10.0, 5, 0), None);
        assert_eq!(seconds_left(10.0, 5, 10), Some(20.0));
    }

    #[test]
    fn the_bar_template_is_valid() {
        assert!(ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}").is_ok());
    }
}
