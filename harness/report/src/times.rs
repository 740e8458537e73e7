//! Whose times a report shows.
//!
//! Seconds of different machines, builds or plans say nothing about each other, so tables and charts show those of one kind
//! alone: of the environment, and in a merged run of the plan, with the most timed cases whose times tell of nothing else. Results of the other cases count
//! in everything else, and the files of results keep their times.

use std::borrow::Cow;

use gpbench_record::{Environment, Row};

use crate::doubt::Doubt;
use crate::run::Run;
use crate::untimed::{is_timed, without_times};

/// What rows have to share for their times to be compared: the environment, and the plan in a run of several.
type Kind<'r> = (Option<&'r str>, Option<&'r str>);

impl Run {
    /// The run with the times of one kind alone; the run itself where there is one kind only.
    pub(crate) fn with_times_of_one_kind(&self) -> Cow<'_, Run> {
        let Some(shown) = self.timed_kind().filter(|_| self.kinds().len() > 1) else {
            return Cow::Borrowed(self);
        };
        let rows = self.rows.iter();
        let rows = rows.map(|row| if self.kind(row) == shown { row.clone() } else { without_times(row) });
        Cow::Owned(Run { rows: rows.collect(), ..self.clone() })
    }

    /// Where the cases ran whose times are shown, where that is known.
    pub(crate) fn timed_environment(&self) -> Option<&Environment> {
        let named = |kind: &str| self.environments.iter().find(|known| known.kind() == kind);
        match self.timed_kind() {
            Some((Some(environment), _)) => named(environment),
            _ => self.environments.first(),
        }
    }

    /// How many cases ran in an environment; `None` where no row says where it ran.
    pub(crate) fn cases_in(&self, environment: &Environment) -> Option<usize> {
        let kind = environment.kind();
        let known: Vec<&str> = self.rows.iter().filter_map(|row| row.environment.as_deref()).collect();
        (!known.is_empty()).then(|| known.into_iter().filter(|known| *known == kind).count())
    }

    /// What to say of times that are not shown; nothing where all are.
    pub(crate) fn times_left_out(&self) -> Option<String> {
        let shown = self.timed_kind().filter(|_| self.kinds().len() > 1)?;
        let timed = self.rows.iter().filter(|row| is_timed(row));
        let left = timed.filter(|row| self.kind(row) != shown).count();
        let of =
            if self.plans.is_empty() { "in other environments" } else { "in other environments or plans" };
        Some(format!(
            "{left} of {} cases were timed {of}: their seconds are in the files of results, and not in tables and charts",
            self.rows.len()
        ))
    }

    /// What to say of times that are not shown, and of those that are compared with no others; each a sentence without its full
    /// stop.
    pub(crate) fn remarks_on_times(&self) -> Vec<String> {
        let in_doubt = self.with_times_of_one_kind().times_in_doubt();
        self.times_left_out().into_iter().chain(in_doubt).collect()
    }

    /// The kind with the most timed cases on nodes of their own, or else with the most timed cases; of several, that of the first
    /// row.
    fn timed_kind(&self) -> Option<Kind<'_>> {
        let timed = |kind: &Kind<'_>| {
            let of_kind = || self.rows.iter().filter(|row| is_timed(row) && self.kind(row) == *kind);
            (of_kind().filter(|row| Doubt::of(row).is_none()).count(), of_kind().count())
        };
        // The last of the largest is the first of the reversed order.
        self.kinds().into_iter().rev().max_by_key(timed)
    }

    /// The kinds of all timed rows, each once, in the order of the rows.
    fn kinds(&self) -> Vec<Kind<'_>> {
        let mut kinds = Vec::new();
        for kind in self.rows.iter().filter(|row| is_timed(row)).map(|row| self.kind(row)) {
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        kinds
    }

    fn kind<'r>(&'r self, row: &'r Row) -> Kind<'r> {
        (row.environment.as_deref(), self.plans.get(&row.id).map(String::as_str))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use gpbench_record::testing::{case, row};
    use gpbench_record::{Metrics, TracePoint};

    use super::*;

    fn run(environments: &[Option<&str>]) -> Run {
        let rows = environments.iter().enumerate().map(|(seed, environment)| {
            let row = row(case("cg"), &[("seconds_solve", 1.0), ("test_rmse", 0.5)]);
            let labels = gpbench_record::Labels { seed: seed as u64, ..row.labels.clone() };
            Row { id: seed.to_string(), labels, environment: environment.map(str::to_owned), ..row }
        });
        Run {
            folder: "/tmp/toy".into(),
            name: "toy".into(),
            rows: rows.collect(),
            missing: 0,
            unlisted: 0,
            shard: None,
            merged: Vec::new(),
            plans: BTreeMap::new(),
            environments: Vec::new(),
            axes: Default::default(),
            options: Default::default(),
            sources: Default::default(),
            warnings: Vec::new(),
            truncated: false,
        }
    }

    fn timed(run: &Run) -> Vec<bool> {
        run.with_times_of_one_kind().rows.iter().map(is_timed).collect()
    }

    #[test]
    fn times_of_the_most_cases_are_shown() {
        assert!(matches!(run(&[None, None]).with_times_of_one_kind(), Cow::Borrowed(_)));
        assert_eq!(run(&[None]).times_left_out(), None);
        let run = run(&[Some("a"), Some("b"), Some("b")]);
        assert_eq!(timed(&run), [false, true, true]);
        assert!(run.times_left_out().unwrap().starts_with("1 of 3 cases were timed in other environments:"));
        let shown = run.with_times_of_one_kind();
        assert_eq!(shown.rows[0].metrics.get("test_rmse"), Some(0.5));
    }

    #[test]
    fn of_equals_the_first_is_shown_and_failures_do_not_count() {
        assert_eq!(timed(&run(&[Some("a"), Some("b")])), [true, false]);
        let mut run = run(&[Some("a"), Some("b"), Some("a")]);
        run.rows[0].status = gpbench_record::Status::Crashed;
        run.rows[2].status = gpbench_record::Status::Crashed;
        assert_eq!(timed(&run), [false, true, false]);
    }

    #[test]
    fn plans_are_kinds_too() {
        let mut run = run(&[Some("a"), Some("a"), Some("a")]);
        run.plans = [("0", "x"), ("1", "y"), ("2", "y")].map(|(id, plan)| (id.into(), plan.into())).into();
        assert_eq!(timed(&run), [false, true, true]);
        assert!(run.times_left_out().unwrap().contains("environments or plans"));
    }

    #[test]
    fn traces_and_steps_lose_their_seconds_too() {
        let mut timed = row(case("cg"), &[("seconds_solve", 1.0)]);
        timed.trace =
            vec![TracePoint { iteration: 1, seconds: 2.0, epochs: 3.0, metrics: Metrics::default() }];
        let bare = without_times(&timed);
        assert!(bare.trace[0].seconds.is_nan() && bare.trace[0].epochs == 3.0 && bare.metrics.is_empty());
    }
}
