//! Which times a report shows.
//!
//! Seconds of different machines, builds or plans are not comparable, so tables and charts show those of one kind alone: of
//! the environment, and in a merged run of the plan, with the most timed cases whose times are comparable. Results of the
//! other cases count in everything else, and the files of results keep their times.

use gpbench_record::Environment;

use crate::comparable_times::Incomparable;
use crate::frame::{CaseView, Cases};

/// Properties that cases share where their times are compared: the environment, and the plan in a run of several.
type Kind<'f> = (Option<&'f str>, Option<&'f str>);

impl<'f> Cases<'f> {
    /// The cases with the times of one kind alone.
    pub(crate) fn with_times_of_one_kind(&self) -> Cases<'f> {
        let shown = self.timed_kind().filter(|_| self.kinds().len() > 1);
        let is_shown = |case: &CaseView<'f>| shown.is_none_or(|shown| kind(*case) == shown);
        self.with(|case| Some(if is_shown(case) { *case } else { case.without_times() }))
    }

    /// Environment of the cases whose times are shown, where that is known.
    pub(crate) fn timed_environment(&self) -> Option<&'f Environment> {
        let environments = &self.record().environments;
        let named = |kind: &str| environments.iter().find(|known| known.kind() == kind);
        match self.timed_kind() {
            Some((Some(environment), _)) => named(environment),
            _ => environments.first(),
        }
    }

    /// Number of cases that ran in an environment; `None` where no row names its environment.
    pub(crate) fn number_in(&self, environment: &Environment) -> Option<usize> {
        let kind = environment.kind();
        let known: Vec<&str> = self.iter().filter_map(|case| case.environment()).collect();
        (!known.is_empty()).then(|| known.into_iter().filter(|known| *known == kind).count())
    }

    /// A remark on times that are not shown; none where all are.
    pub(crate) fn times_left_out(&self) -> Option<String> {
        let shown = self.timed_kind().filter(|_| self.kinds().len() > 1)?;
        let timed = self.iter().filter(CaseView::is_timed);
        let left = timed.filter(|case| kind(*case) != shown).count();
        let has_plans = !self.record().plans.is_empty();
        let of = if has_plans { "in other environments or plans" } else { "in other environments" };
        Some(format!(
            "{left} of {} cases were timed {of}: their seconds are in the files of results, and not in tables and charts",
            self.len()
        ))
    }

    /// Remarks on times that are not shown and on those that are not comparable, as sentences without a full stop.
    pub(crate) fn remarks_on_times(&self) -> Vec<String> {
        let incomparable = self.with_times_of_one_kind().remark_on_incomparable_times();
        self.times_left_out().into_iter().chain(incomparable).collect()
    }

    /// The kind with the most timed cases on nodes of their own, or else with the most timed cases; of several, that of the first
    /// case.
    fn timed_kind(&self) -> Option<Kind<'f>> {
        let timed = |of: &Kind<'_>| {
            let of_kind = || self.iter().filter(|case| case.is_timed() && kind(*case) == *of);
            (of_kind().filter(|case| Incomparable::of(case.row()).is_none()).count(), of_kind().count())
        };
        // The last of the largest is the first of the reversed order.
        self.kinds().into_iter().rev().max_by_key(timed)
    }

    /// The kinds of all timed cases, each once, in the order of the cases.
    fn kinds(&self) -> Vec<Kind<'f>> {
        let mut kinds = Vec::new();
        for kind in self.iter().filter(CaseView::is_timed).map(kind) {
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        kinds
    }
}

fn kind(case: CaseView<'_>) -> Kind<'_> {
    (case.environment(), case.plan())
}

#[cfg(test)]
mod tests {
    use gpbench_record::testing::{case, row};
    use gpbench_record::{CaseStatus, Labels, Metrics, Row, TracePoint, names};
    use gpbench_runs::RunRecord;

    use super::*;
    use crate::frame::Frame;
    use crate::run::Run;

    fn run(environments: &[Option<&str>]) -> Run {
        let rows = environments.iter().enumerate().map(|(seed, environment)| {
            let row = row(case("cg"), &[("seconds_solve", 1.0), ("test_rmse", 0.5)]);
            let labels = Labels { seed: seed as u64, ..row.labels.clone() };
            Row { id: seed.to_string(), labels, environment: environment.map(str::to_owned), ..row }
        });
        let record = RunRecord { rows: rows.collect(), ..RunRecord::default() };
        Run { record, warnings: Vec::new() }
    }

    fn timed(run: &Run) -> Vec<bool> {
        let frame = Frame::new(run).unwrap();
        Cases::of(&frame).with_times_of_one_kind().iter().map(|case| case.is_timed()).collect()
    }

    fn left_out(run: &Run) -> Option<String> {
        Cases::of(&Frame::new(run).unwrap()).times_left_out()
    }

    #[test]
    fn times_of_the_most_cases_are_shown() {
        assert_eq!(timed(&run(&[None, None])), [true, true]);
        assert_eq!(left_out(&run(&[None])), None);
        let run = run(&[Some("a"), Some("b"), Some("b")]);
        assert_eq!(timed(&run), [false, true, true]);
        assert!(left_out(&run).unwrap().starts_with("1 of 3 cases were timed in other environments:"));
        let frame = Frame::new(&run).unwrap();
        let shown = Cases::of(&frame).with_times_of_one_kind();
        assert_eq!(shown.at(0).metric("test_rmse"), Some(0.5));
    }

    #[test]
    fn of_equals_the_first_is_shown_and_failures_do_not_count() {
        assert_eq!(timed(&run(&[Some("a"), Some("b")])), [true, false]);
        let mut run = run(&[Some("a"), Some("b"), Some("a")]);
        run.record.rows[0].status = CaseStatus::Crashed;
        run.record.rows[2].status = CaseStatus::Crashed;
        assert_eq!(timed(&run), [false, true, false]);
    }

    #[test]
    fn plans_are_kinds_too() {
        let mut run = run(&[Some("a"), Some("a"), Some("a")]);
        run.record.plans =
            [("0", "x"), ("1", "y"), ("2", "y")].map(|(id, plan)| (id.into(), plan.into())).into();
        assert_eq!(timed(&run), [false, true, true]);
        assert!(left_out(&run).unwrap().contains("environments or plans"));
    }

    #[test]
    fn traces_and_steps_lose_their_seconds_too() {
        let mut run = run(&[None]);
        let metrics = [(names::SECONDS_SOLVE.to_owned(), 2.0), ("claimed".to_owned(), 4.0)];
        run.record.rows[0].trace = vec![TracePoint {
            iteration: 1,
            seconds: 2.0,
            epochs: 3.0,
            metrics: metrics.into_iter().collect::<Metrics>(),
        }];
        let frame = Frame::new(&run).unwrap();
        let timed = Cases::of(&frame).at(0);
        let numbers = |case: CaseView<'_>| {
            let point = case.trace().next().unwrap();
            ["seconds", names::SECONDS_SOLVE, "epochs", "claimed"].map(|name| point.number(name))
        };
        assert_eq!(numbers(timed), [Some(2.0), Some(2.0), Some(3.0), Some(4.0)]);
        let bare = timed.without_times();
        assert_eq!(numbers(bare), [None, None, Some(3.0), Some(4.0)]);
        assert_eq!(bare.metrics().collect::<Vec<_>>(), [("test_rmse", 0.5)]);
    }
}
