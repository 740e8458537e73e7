//! Progress while cases run: a bar on a terminal, plain lines elsewhere.

use std::io::IsTerminal;
use std::path::Path;
use std::time::Instant;

use gpbench_engine::{Event, Progress as Count};
use gpbench_record::metric::{self, Shown, Unit};
use gpbench_record::{Row, Status, names};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::args::Global;
use crate::notice::Styles;
use crate::output::note;
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
        self.say(estimate);
    }

    /// Prints an event.
    pub(crate) fn show(&mut self, event: Event) {
        match event {
            Event::Begun { folder, resumed, progress } => self.begin(&folder, resumed, progress),
            Event::ExactStarted { labels, n } => {
                self.say(&format!("exact reference for {} (n = {n})", labels.dataset));
            }
            Event::CaseStarted { labels, .. } => {
                if self.verbose {
                    self.say(&format!("starting {labels}"));
                }
                self.bar.set_message(format!("{labels}"));
            }
            Event::CaseFinished { row, progress } => self.finish(&row, progress),
            Event::Warning(text) => {
                let text = format!("{} {text}", self.styles.warning("warning:"));
                self.bar.suspend(|| note(text));
            }
        }
    }

    /// Removes the bar.
    pub(crate) fn end(&self) {
        self.bar.finish_and_clear();
    }

    fn begin(&mut self, folder: &Path, resumed: bool, progress: Count) {
        self.done_before = progress.done;
        self.bar.set_length(progress.total as u64);
        self.bar.set_position(progress.done as u64);
        if resumed && progress.done < progress.total {
            let Count { done, total, .. } = progress;
            self.say(&format!("continuing {}: {done} of {total} cases are done", folder.display()));
        }
    }

    fn finish(&mut self, row: &Row, progress: Count) {
        let Count { total, done, failed } = progress;
        self.say(&format!("[{done}/{total}] {}", line(row, self.styles)));
        self.bar.set_position(done as u64);
        let elapsed = self.started.elapsed().as_secs_f64();
        let left = seconds_left(elapsed, done.saturating_sub(self.done_before), total - done);
        let failed = if failed > 0 { self.styles.bad(&format!(" {failed} failed")) } else { String::new() };
        let left = left.map_or(String::new(), |s| format!(" {} left", units::duration(s)));
        self.bar.set_message(format!("{failed}{left}"));
    }

    fn say(&self, text: &str) {
        if self.quiet {
            return;
        }
        if self.plain { note(text) } else { self.bar.println(text) }
    }
}

/// The line of a finished case: labels, status, the metrics that the registry shows here, and the reason.
fn line(row: &Row, styles: Styles) -> String {
    let status = match row.status {
        Status::Ok => styles.good("ok"),
        Status::NotConverged | Status::Skipped => styles.warning(row.status.as_str()),
        _ => styles.bad(row.status.as_str()),
    };
    let mut line = format!("{}: {status}", row.labels);
    for metric in metric::shown(row.case.task.kind(), Shown::Progress) {
        let value = match metric.name {
            names::SECONDS => row.total_seconds(),
            name => row.metrics.get(name),
        };
        if let Some(value) = value {
            line += &match metric.unit {
                Unit::Seconds => format!(", {}", units::duration(value)),
                _ => format!(", {} {}", metric.title, gpbench_report::number(metric, value)),
            };
        }
    }
    if row.status != Status::Ok && !row.reason.is_empty() {
        line += &format!(" ({})", row.reason);
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
