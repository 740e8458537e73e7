//! The order of trials, their sizes and their times.
//!
//! What time is left is divided among the contestants that have a trial to do; the one that has had the least
//! time is next. Where no trial fits an equal share, the share is that of fewer contestants. The schedule has
//! no clock of its own: it adds up what the trials took.

use super::course::{Course, Entrant};
use super::measured::Measured;

/// The part of a contestant's share of the time that its next trial may take; the rest is for further ones.
const PART: f64 = 0.6;

/// A trial to run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Request {
    /// Place of the contestant.
    pub(crate) contestant: usize,
    /// Number of the contestant's trial, counted from 0.
    pub(crate) number: usize,
    /// Training rows.
    pub(crate) rows: usize,
    /// Seconds of prepare and solve after which it ends.
    pub(crate) limit: f64,
    /// Steps after which it ends, of a case that has steps.
    pub(crate) steps: Option<u64>,
}

/// How a trial ended.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum TrialEnd {
    /// With a measurement.
    Measured(Measured),
    /// Without one, after so many seconds, for this reason.
    Failed {
        /// Wall-clock seconds.
        wall: f64,
        /// Why.
        reason: String,
    },
}

/// Runs trials.
pub(crate) trait TrialRunner {
    /// Why no further trial can run.
    type Halt;

    /// Runs a trial to its end.
    fn run(&mut self, request: Request) -> Result<TrialEnd, Self::Halt>;
}

/// Runs trials of all contestants for about `seconds` in all; the trials of each.
pub(crate) fn run_trials<R: TrialRunner>(
    entrants: &[Entrant],
    seconds: f64,
    runner: &mut R,
) -> Result<Vec<Course>, R::Halt> {
    let mut courses = vec![Course::default(); entrants.len()];
    while let Some(request) = next(entrants, &courses, seconds) {
        let course = &mut courses[request.contestant];
        match runner.run(request)? {
            TrialEnd::Measured(measured) => course.add(measured),
            TrialEnd::Failed { wall, reason } => course.fail(request.rows, reason, wall),
        }
    }
    Ok(courses)
}

/// The next trial, if one fits the time that is left.
fn next(entrants: &[Entrant], courses: &[Course], seconds: f64) -> Option<Request> {
    let left = seconds - courses.iter().map(|course| course.spent).sum::<f64>();
    if left <= 0.0 {
        return None;
    }
    let wanted = |place: usize, allowance: f64| courses[place].next(&entrants[place], allowance);
    let open: Vec<usize> =
        (0..courses.len()).filter(|place| wanted(*place, f64::INFINITY).is_some()).collect();
    (1..=open.len()).rev().find_map(|sharers| {
        let allowance = PART * left / sharers as f64;
        let able = open.iter().filter_map(|place| Some((*place, wanted(*place, allowance)?)));
        let (contestant, rows) =
            able.min_by(|(a, _), (b, _)| courses[*a].spent.total_cmp(&courses[*b].spent))?;
        let (course, entrant) = (&courses[contestant], &entrants[contestant]);
        let limit = course.limit(entrant, rows, allowance);
        let steps = course.steps(entrant, rows, limit);
        Some(Request { contestant, number: course.count(), rows, limit, steps })
    })
}

#[cfg(test)]
mod tests;
