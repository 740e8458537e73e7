//! The times of one side of a comparison, case by case, and why some cases have none.

use std::collections::BTreeMap;

use gpbench_record::names;

use super::cases::CaseKey;
use super::machine::BaselineMachine;
use super::session::{BaselineSession, SessionCase};
use crate::frame::{CaseView, Cases};

/// The times of one side.
#[derive(Debug, Clone)]
pub(super) struct Timed {
    /// Where they were measured; `None` where that is unknown.
    pub(super) machine: Option<BaselineMachine>,
    /// Fraction of the processors that other programs used.
    pub(super) other_load: Option<f64>,
    /// By case.
    pub(super) cases: BTreeMap<CaseKey, Times>,
}

/// The times of one case.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Times {
    /// Seconds of every repeat.
    All(Vec<f64>),
    /// At least one repeat has no time.
    Lacking(Lack),
}

/// Why a repeat has no time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lack {
    /// It failed.
    Failed,
    /// A time limit ended it, so that its seconds are those of the limit.
    Stopped,
    /// Other jobs could run on its node, or it ran elsewhere than the others.
    Incomparable,
    /// The clock shows no time, or none was recorded.
    Unmeasured,
}

impl Lack {
    /// The reason, for a table.
    pub(super) fn words(self) -> &'static str {
        match self {
            Lack::Failed => "a repeat failed",
            Lack::Stopped => "a time limit ended a repeat",
            Lack::Incomparable => "times that are not comparable",
            Lack::Unmeasured => "a repeat has no time",
        }
    }
}

impl Timed {
    /// The times of a run's cases that tables show.
    pub(super) fn of(cases: &Cases<'_>) -> Timed {
        let shown = cases.with_times_of_one_kind().with_comparable_times();
        let environment = cases.timed_environment();
        let mut times: BTreeMap<CaseKey, Times> = BTreeMap::new();
        for case in shown.iter() {
            let of_case = times.entry(CaseKey::of(&case)).or_insert_with(|| Times::All(Vec::new()));
            of_case.add(seconds(&case));
        }
        Timed {
            machine: environment.map(BaselineMachine::of),
            other_load: environment.and_then(|environment| environment.other_load),
            cases: times,
        }
    }

    /// Whether any case has times.
    pub(super) fn has_times(&self) -> bool {
        self.cases.values().any(|times| times.all().is_some())
    }

    /// The seconds as a session of the run `id`; none where the machine is unknown or no case has times.
    pub(super) fn session(self, id: String) -> Option<BaselineSession> {
        let complete = self.cases.into_iter().filter_map(|(key, times)| match times {
            Times::All(repeats) => Some(SessionCase { key, median: median(&repeats), repeats }),
            Times::Lacking(_) => None,
        });
        let cases: Vec<SessionCase> = complete.collect();
        let machine = self.machine.filter(|_| !cases.is_empty())?;
        Some(BaselineSession { id, machine, other_load: self.other_load, cases })
    }

    /// The newest times of each case in sessions, oldest first. Machine and load are those of the last session.
    pub(super) fn of_sessions(sessions: &[&BaselineSession]) -> Option<Timed> {
        let last = sessions.last()?;
        let all = sessions.iter().flat_map(|session| &session.cases);
        let cases = all.map(|case| (case.key.clone(), Times::All(case.repeats.clone()))).collect();
        Some(Timed { machine: Some(last.machine.clone()), other_load: last.other_load, cases })
    }
}

impl Times {
    /// Adds a repeat.
    fn add(&mut self, seconds: Result<f64, Lack>) {
        if let Times::All(all) = self {
            match seconds {
                Ok(seconds) => all.push(seconds),
                Err(lack) => *self = Times::Lacking(lack),
            }
        }
    }

    /// The repeats, where all were timed.
    pub(super) fn all(&self) -> Option<&[f64]> {
        if let Times::All(all) = self { Some(all) } else { None }
    }

    /// Why there are none.
    pub(super) fn lack(&self) -> Option<Lack> {
        if let Times::Lacking(lack) = self { Some(*lack) } else { None }
    }
}

/// Seconds of one repeat.
fn seconds(case: &CaseView<'_>) -> Result<f64, Lack> {
    match case.metric(names::SECONDS) {
        _ if !case.is_answer() => Err(Lack::Failed),
        _ if !case.row().reproducible => Err(Lack::Stopped),
        Some(seconds) if seconds.is_finite() && seconds > 0.0 => Ok(seconds),
        None if case.row().metrics.get(names::SECONDS).is_some() => Err(Lack::Incomparable),
        _ => Err(Lack::Unmeasured),
    }
}

/// Median of one or more times.
pub(super) fn median(times: &[f64]) -> f64 {
    gpbench_statistics::median(times).expect("a case has at least one repeat")
}
