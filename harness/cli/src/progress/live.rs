//! The line at the bottom of a terminal while cases run.

use std::time::Instant;

use console::{measure_text_width, truncate_str};
use gpbench_engine::{ReferenceKind, RunProgress as Count};
use gpbench_record::{Labels, Metrics, names, text};

use crate::notice::{Notice, Styles};
use crate::units;

/// Columns of the bar.
const BAR: usize = 20;
/// A terminal narrower than this gets no bar.
const WIDE: usize = 100;
/// Columns of a case's name below which only the name is shown, without the progress of the case.
const SHORTEST_NAME: usize = 12;
/// Assumed columns of a terminal whose width is unknown.
const UNKNOWN: usize = 80;

/// The state of the cases of a run.
#[derive(Debug)]
pub(super) struct Live {
    styles: Styles,
    count: Count,
    /// Cases that had their rows when this process began.
    done_before: usize,
    /// Seconds that all cases were estimated to take, before any has ended.
    estimate: Option<f64>,
    /// Seconds after which the last case ended.
    last_end: f64,
    /// In the order in which they began.
    running: Vec<Running>,
}

/// A case that is running.
#[derive(Debug)]
struct Running {
    id: String,
    name: String,
    /// Its name without kernel and estimator, for a narrow terminal.
    short_name: String,
    since: Instant,
    share: f64,
    /// Such as `residual 3.2e-3`.
    state: Option<String>,
}

impl Live {
    /// No case yet.
    pub(super) fn new(styles: Styles, estimate: Option<f64>) -> Live {
        Live { styles, count: Count::default(), done_before: 0, estimate, last_end: 0.0, running: Vec::new() }
    }

    /// The run has begun.
    pub(super) fn begin(&mut self, count: Count) {
        (self.count, self.done_before) = (count, count.done);
    }

    /// A case has begun.
    pub(super) fn start(&mut self, id: String, labels: &Labels, now: Instant) {
        let Labels { dataset, solver, seed, .. } = labels;
        let plain = |name: String| Notice::new(Styles::PLAIN).text(text::line(&name)).as_str().to_owned();
        let (name, short_name) =
            (plain(labels.to_string()), plain(format!("{dataset}/{solver}/seed {seed}")));
        self.end_case(&id);
        self.running.push(Running { id, name, short_name, since: now, share: 0.0, state: None });
    }

    /// A reference of the case that began last is being computed.
    pub(super) fn reference(&mut self, kind: ReferenceKind) {
        if let Some(last) = self.running.last_mut() {
            last.state = Some(kind.as_str().to_owned());
        }
    }

    /// A case has come further.
    pub(super) fn advance(&mut self, id: &str, share: Option<f64>, metrics: &Metrics) {
        if let Some(case) = self.running.iter_mut().find(|case| case.id == id) {
            case.share = share.unwrap_or(case.share).clamp(0.0, 1.0);
            case.state = state(metrics).or(case.state.take());
        }
    }

    /// A case has ended, `seconds` after the run began.
    pub(super) fn finish(&mut self, id: &str, count: Count, seconds: f64) {
        (self.count, self.last_end) = (count, seconds);
        self.end_case(id);
    }

    fn end_case(&mut self, id: &str) {
        self.running.retain(|case| case.id != id);
    }

    /// The line, `seconds` after the run began. It is narrower than a terminal of `width` columns: one that is as wide
    /// makes some terminals begin the next.
    pub(super) fn line(&self, width: Option<usize>, seconds: f64, now: Instant) -> String {
        let room = width.unwrap_or(UNKNOWN).saturating_sub(1);
        let head = self.head(seconds, width.is_some_and(|width| width >= WIDE));
        let left = room.saturating_sub(measure_text_width(&head) + 2);
        let line = match self.case(left, now) {
            Some(case) => format!("{head}  {case}"),
            None => head,
        };
        truncate_str(&line, room, "").into_owned()
    }

    /// The state of the run.
    fn head(&self, seconds: f64, with_bar: bool) -> String {
        let Count { total, done, failed } = self.count;
        let mut head = Notice::new(self.styles);
        if total == 0 {
            return String::new();
        }
        if with_bar {
            let full = BAR * done / total;
            head = head.text(format_args!("[{}{}] ", "=".repeat(full), " ".repeat(BAR - full)));
        }
        head = head.text(format_args!("{done}/{total}  {}", units::clock(seconds)));
        if let Some(left) = self.seconds_left(seconds) {
            head = head.text(format_args!(", about {} left", units::clock(left)));
        }
        if failed > 0 {
            head = head.text(", ").bad(&format!("{failed} failed"));
        }
        head.as_str().to_owned()
    }

    /// The case that began first, in so many columns; nothing if they are too few.
    fn case(&self, room: usize, now: Instant) -> Option<String> {
        let first = self.running.first()?;
        let state = first.state.as_ref().map(|state| format!("{state}, ")).unwrap_or_default();
        let others = match self.running.len() - 1 {
            0 => String::new(),
            others => format!(", and {others} more"),
        };
        let inside =
            format!(": {state}{}{others}", units::clock(now.duration_since(first.since).as_secs_f64()));
        let for_name = room.saturating_sub(measure_text_width(&inside));
        let name = if measure_text_width(&first.name) <= for_name { &first.name } else { &first.short_name };
        if for_name >= SHORTEST_NAME.min(measure_text_width(name)) {
            return Some(format!("{}{inside}", truncate_str(name, for_name, "…")));
        }
        (room >= SHORTEST_NAME).then(|| truncate_str(name, room, "…").into_owned())
    }

    /// Estimated seconds until the end: by the work that this process has done, or else by the estimate. Nothing once
    /// that time is over.
    fn seconds_left(&self, elapsed: f64) -> Option<f64> {
        let Count { total, done, .. } = self.count;
        let begun: f64 = self.running.iter().map(|case| case.share).sum();
        let (ran, left) = ((done - self.done_before) as f64, (total - done) as f64);
        let seconds = if begun > 0.0 {
            elapsed / (ran + begun) * (left - begun)
        } else if ran > 0.0 {
            self.last_end / ran * left - (elapsed - self.last_end)
        } else {
            self.estimate? * left / total.max(1) as f64 - elapsed
        };
        (seconds > 0.0).then_some(seconds)
    }
}

/// The progress of a case: its residual, or the metric that its task has instead.
fn state(metrics: &Metrics) -> Option<String> {
    let first = |names: &[&str]| names.iter().find_map(|name| metrics.get(name));
    if let Some(residual) = first(&[names::RESIDUAL_Y, names::CLAIMED_Y]) {
        return Some(format!("residual {residual:.1e}"));
    }
    if let Some(nll) = first(&[names::TEST_NLL]) {
        return Some(format!("test NLL {nll:.3}"));
    }
    first(&[names::CLAIMED_OBJECTIVE]).map(|objective| format!("objective {objective:.4}"))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn labels(dataset: &str) -> Labels {
        Labels {
            dataset: dataset.to_owned(),
            kernel: "matern32".to_owned(),
            estimator: None,
            solver: "cg".to_owned(),
            seed: 0,
            repeat: 0,
        }
    }

    fn residual(value: f64) -> Metrics {
        Metrics::from_iter([(names::CLAIMED_Y.to_owned(), value)])
    }

    /// Three of nine cases are done, one of them by an earlier process; one case runs.
    fn live(began: Instant) -> Live {
        let mut live = Live::new(Styles::PLAIN, Some(90.0));
        live.begin(Count { total: 9, done: 1, failed: 0 });
        live.start("a".to_owned(), &labels("pol"), began);
        live.finish("a", Count { total: 9, done: 3, failed: 1 }, 40.0);
        live.start("b".to_owned(), &labels("elevators"), began + Duration::from_secs(40));
        live.advance("b", None, &residual(0.0032));
        live
    }

    #[test]
    fn the_line_tells_time_case_and_residual() {
        let began = Instant::now();
        let line = |width| live(began).line(Some(width), 60.0, began + Duration::from_secs(60));
        assert_eq!(
            line(120),
            "[======              ] 3/9  1:00, about 1:40 left, 1 failed  \
             elevators/matern32/cg/seed 0: residual 3.2e-3, 0:20"
        );
        assert_eq!(
            line(80),
            "3/9  1:00, about 1:40 left, 1 failed  elevators/cg/seed…: residual 3.2e-3, 0:20"
        );
        assert_eq!(line(60), "3/9  1:00, about 1:40 left, 1 failed  elevators/cg/seed 0");
        assert_eq!(line(30), "3/9  1:00, about 1:40 left, 1");
    }

    #[test]
    fn no_line_is_as_wide_as_the_terminal() {
        let began = Instant::now();
        let mut live = live(began);
        live.start("c".to_owned(), &labels("データ"), began);
        live.finish("b", Count { total: 9, done: 4, failed: 1 }, 70.0);
        for width in 1..200 {
            let line = live.line(Some(width), 3700.0, began);
            assert!(measure_text_width(&line) < width, "{width}: {line}");
        }
    }

    #[test]
    fn the_time_left_follows_the_work_of_this_process() {
        let began = Instant::now();
        let mut live = Live::new(Styles::PLAIN, Some(90.0));
        live.begin(Count { total: 3, done: 0, failed: 0 });
        assert_eq!(live.seconds_left(30.0), Some(60.0));
        assert_eq!(live.seconds_left(100.0), None);
        live.start("a".to_owned(), &labels("pol"), began);
        live.advance("a", Some(0.5), &Metrics::default());
        assert_eq!(live.seconds_left(10.0), Some(50.0));
        live.finish("a", Count { total: 3, done: 1, failed: 0 }, 20.0);
        assert_eq!(live.seconds_left(20.0), Some(40.0));
        assert_eq!(live.seconds_left(30.0), Some(30.0));
    }
}
