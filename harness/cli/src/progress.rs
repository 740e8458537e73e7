//! Progress while cases run: lines, and on a terminal below them one with the present state.

mod live;

use std::fmt;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use gpbench_engine::{Beginning, Event, ReferenceKind, Reused, RunProgress as Count};
use gpbench_record::metric::{self, Shown, Unit};
use gpbench_record::{CaseStatus, Row, names, text};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use self::live::Live;
use crate::args::Global;
use crate::estimate::RunEstimate;
use crate::notice::{Notice, Styles};
use crate::{terminal, units};

/// Time after which the line is drawn again without an event.
const TICK: Duration = Duration::from_secs(1);

/// Prints the events of a run on standard error.
pub(crate) struct Progress {
    bar: ProgressBar,
    /// The content of the line.
    live: Arc<Mutex<Live>>,
    styles: Styles,
    quiet: bool,
    verbose: bool,
    plain: bool,
    /// Threads of the whole run.
    threads: usize,
    /// The run folder, once it is known.
    folder: Option<PathBuf>,
}

impl Progress {
    /// Lines alone, or the present state below them, as suits standard error and the user's options.
    pub(crate) fn new(global: &Global, estimate: &RunEstimate) -> Progress {
        let plain = global.quiet || !std::io::stderr().is_terminal();
        let styles = Styles::new(global.color);
        let live = Live::new(styles, Some(estimate.seconds).filter(|_| estimate.is_whole));
        let live = Arc::new(Mutex::new(live));
        let target = if plain { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(None, target).with_style(style(Arc::clone(&live)));
        Progress {
            bar,
            live,
            styles,
            quiet: global.quiet,
            verbose: global.verbose,
            plain,
            threads: estimate.threads,
            folder: None,
        }
    }

    /// Lines alone, for cases that run elsewhere.
    pub(crate) fn plain(global: &Global) -> Progress {
        let nothing = RunEstimate { text: String::new(), seconds: 0.0, is_whole: false, threads: 0 };
        Progress { plain: true, ..Progress::new(global, &nothing) }
    }

    /// Warnings alone.
    pub(crate) fn quiet(global: &Global) -> Progress {
        Progress { quiet: true, ..Progress::plain(global) }
    }

    /// Prints the estimate of a run.
    pub(crate) fn announce(&self, estimate: &str) {
        self.say(&self.notice().text(estimate));
    }

    /// Prints a text, unless `--quiet` is given.
    pub(crate) fn say_text(&self, text: &str) {
        self.say(&self.notice().text(text));
    }

    /// Prints an event.
    pub(crate) fn show(&mut self, event: Event) {
        match event {
            Event::Begun { folder, beginning, reused, progress } => {
                self.begin(&folder, beginning, &reused, progress);
            }
            Event::ReferenceStarted { labels, kind, n, again } => {
                let dataset = text::line(&labels.dataset);
                let line = match again {
                    false => format!("{} for {dataset} (n = {n})", kind.as_str()),
                    true => interrupted(kind, &dataset, n, self.threads),
                };
                self.say(&self.notice().text(line));
                self.live().reference(kind);
            }
            Event::CaseStarted { id, labels } => {
                if self.verbose {
                    self.say(&self.notice().text("starting ").text(&labels));
                }
                self.live().start(id, &labels, Instant::now());
            }
            Event::CaseAdvanced { id, share, metrics } => self.live().advance(&id, share, &metrics),
            Event::CaseFinished { row, progress } => {
                self.live().finish(&row.id, progress, self.bar.elapsed().as_secs_f64());
                self.say(&finished(self.notice(), progress, &row, self.folder.as_deref()));
            }
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
        self.folder = Some(folder.to_owned());
        self.live().begin(progress);
        if !self.plain {
            self.bar.enable_steady_tick(TICK);
        }
        for line in opening(folder, beginning, reused, progress) {
            self.say(&self.notice().text(line));
        }
    }

    fn live(&self) -> MutexGuard<'_, Live> {
        lock(&self.live)
    }

    fn notice(&self) -> Notice {
        Notice::new(self.styles)
    }

    fn say(&self, notice: &Notice) {
        if self.quiet {
            return;
        }
        if self.plain { notice.print() } else { self.bar.println(notice.as_str()) }
    }
}

/// A style whose line is written anew each time that it is drawn.
fn style(live: Arc<Mutex<Live>>) -> ProgressStyle {
    let line = move |state: &ProgressState, to: &mut dyn fmt::Write| {
        let line = lock(&live).line(terminal::error_width(), state.elapsed().as_secs_f64(), Instant::now());
        // Writing into a text cannot fail.
        let _ = to.write_str(&line);
    };
    let style =
        ProgressStyle::with_template("{line}").expect("the template is a constant that a test renders");
    style.with_key("line", line)
}

fn lock(live: &Mutex<Live>) -> MutexGuard<'_, Live> {
    live.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The message about a reference whose computation was interrupted before.
fn interrupted(kind: ReferenceKind, dataset: &str, n: usize, threads: usize) -> String {
    let seconds = match kind {
        ReferenceKind::Exact => gpbench_spec::reference_seconds(n, threads),
        ReferenceKind::Optimum => gpbench_spec::optimum_seconds(n, None, threads),
    };
    let (what, time, left_out_by) = (kind.as_str(), units::duration(seconds), kind.left_out_by());
    format!(
        "the {what} of {dataset} (n = {n}) was interrupted and begins again (about {time}); {left_out_by} leaves it out"
    )
}

/// The message at the beginning of a run: the folder and why it was chosen, and the rows that are taken from earlier runs.
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

/// The line of a finished case: labels, status, the metrics that the registry shows here, and the reason. That of a failure
/// ends with the last iteration that was seen, unless the reason tells the iteration, and the path of the log.
fn finished(notice: Notice, Count { total, done, .. }: Count, row: &Row, folder: Option<&Path>) -> Notice {
    let mut line = notice.text(format_args!("[{done}/{total}] ")).text(&row.labels).text(": ");
    let status = row.status.as_str();
    line = match row.status {
        CaseStatus::Ok => line.good(status),
        CaseStatus::NotConverged | CaseStatus::Skipped => line.warning(status),
        _ => line.bad(status),
    };
    for metric in metric::shown(row.case.task.kind(), Shown::Progress) {
        let value = match metric.name {
            names::SECONDS => row.metrics.solver_seconds(),
            name => row.metrics.get(name),
        };
        if let Some(value) = value {
            line = line.text(match metric.unit {
                Unit::Seconds => format!(", {}", units::duration(value)),
                _ => format!(", {} {}", metric.title, gpbench_report::number(metric, value)),
            });
        }
    }
    if !row.reason.is_empty() {
        let reason = text::line(&row.reason);
        let reason = reason.replace(&format!("; log: logs/{}.log", row.id), "");
        let what = if row.status == CaseStatus::Ok { "warning: " } else { "" };
        line = line.text(format_args!(" ({what}{})", text::cut(&reason, text::REASON)));
    }
    if row.status.is_failure() {
        if let Some(point) = row.trace.last().filter(|_| row.status != CaseStatus::Diverged) {
            line = line.text(format_args!(", last seen at iteration {}", point.iteration));
        }
        if let Some(folder) = folder {
            let log = folder.join("logs").join(format!("{}.log", row.id));
            line = line.text(format_args!(", log: {}", log.display()));
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_is_valid() {
        let live = Arc::new(Mutex::new(Live::new(Styles::PLAIN, None)));
        let bar = ProgressBar::hidden().with_style(style(live));
        bar.tick();
    }
}
