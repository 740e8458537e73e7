//! The schedule with a runner whose trials take the seconds of a formula.

use std::convert::Infallible;

use super::*;
use crate::pilot::course::near_largest;
use crate::pilot::measured::{Work, WorkUnit};

/// A contestant whose trials take 0.2 s beside `seconds(n)` for a whole case.
#[derive(Clone, Copy)]
struct Fake {
    seconds: fn(f64) -> f64,
    /// Fails below so many rows.
    needs: usize,
    /// Fails from so many rows on.
    most: usize,
}

const CUBIC: Fake = Fake { seconds: |n| 1e-11 * n.powi(3), needs: 0, most: usize::MAX };
const LINEAR: Fake = Fake { seconds: |n| 1e-4 * n, needs: 0, most: usize::MAX };

/// Runs trials by formulas, and keeps what was asked.
struct Fakes {
    fakes: Vec<Fake>,
    work: Work,
    asked: Vec<Request>,
}

impl TrialRunner for Fakes {
    type Halt = Infallible;

    fn run(&mut self, request: Request) -> Result<TrialEnd, Infallible> {
        self.asked.push(request);
        let Fake { seconds, needs, most } = self.fakes[request.contestant];
        if request.rows < needs || request.rows >= most {
            return Ok(TrialEnd::Failed { wall: 0.2, reason: "too small or too large".to_owned() });
        }
        let whole = seconds(request.rows as f64);
        let done = match request.steps {
            Some(steps) => steps as f64 / self.work.allowed.unwrap(),
            None => (request.limit / whole).min(1.0),
        };
        Ok(TrialEnd::Measured(Measured {
            rows: request.rows,
            wall: 0.2 + done * whole,
            once: 0.0,
            seconds: done * whole,
            units_once: 0.0,
            units: done * self.work.allowed.unwrap_or(1.0),
            memory: None,
            cached: 0.0,
            is_whole: done == 1.0,
        }))
    }
}

/// Work that ends at a tolerance, or 100 units of known work.
fn work(known: Option<WorkUnit>) -> Work {
    Work { unit: known.unwrap_or(WorkUnit::Epochs), allowed: known.map(|_| 100.0), may_end: known.is_none() }
}

/// Trials of contestants with so many rows.
fn trials(
    fakes: Vec<Fake>,
    rows: usize,
    known: Option<WorkUnit>,
    seconds: f64,
) -> (Vec<Course>, Vec<Request>) {
    let work = work(known);
    let entrants = vec![Entrant { rows, fewest: 8, work, memory_limit: None }; fakes.len()];
    let mut runner = Fakes { fakes, work, asked: Vec::new() };
    let Ok(courses) = run_trials(&entrants, seconds, &mut runner);
    (courses, runner.asked)
}

fn rows(course: &Course) -> Vec<usize> {
    course.trials.iter().map(|trial| trial.rows).collect()
}

#[test]
fn a_small_set_is_tried_as_a_whole_with_sizes_below() {
    let (courses, asked) = trials(vec![LINEAR], 540, None, 60.0);
    assert_eq!(rows(&courses[0]), [33, 66, 132, 191, 264, 382, 540]);
    assert_eq!(asked.len(), courses[0].count());
    assert!(asked.iter().enumerate().all(|(number, request)| request.number == number));
}

#[test]
fn trials_double_until_the_next_would_take_too_long() {
    let (courses, _) = trials(vec![CUBIC], 100_000, None, 20.0);
    let course = &courses[0];
    // 8000 rows take 5 s, 16 000 would take 41 s.
    let largest = course.largest().unwrap();
    assert!((5000..=12_000).contains(&largest.rows), "{:?}", rows(course));
    assert!(largest.is_whole && course.spent < 20.0, "{}", course.spent);
    assert!(near_largest(&course.trials).len() >= 3, "{:?}", rows(course));
}

#[test]
fn the_time_is_shared_and_what_cheap_ones_leave_goes_to_others() {
    let (courses, asked) = trials(vec![CUBIC, LINEAR, CUBIC], 20_000, None, 30.0);
    assert_eq!(asked[..3].iter().map(|request| request.contestant).collect::<Vec<_>>(), [0, 1, 2]);
    let spent: f64 = courses.iter().map(|course| course.spent).sum();
    assert!(spent < 31.0, "{spent}");
    // The linear one is done with all of its rows.
    assert_eq!(courses[1].largest().unwrap().rows, 20_000);
    let shares = [0, 2].map(|place| courses[place].spent);
    assert!(shares.iter().all(|spent| *spent > 3.0), "{shares:?}");
}

#[test]
fn known_work_is_cut_and_reaches_more_rows() {
    let (unknown, _) = trials(vec![CUBIC], 100_000, None, 20.0);
    for unit in [WorkUnit::Passes, WorkUnit::Steps] {
        let (known, asked) = trials(vec![CUBIC], 100_000, Some(unit), 20.0);
        let [known, unknown] = [&known[0], &unknown[0]];
        let largest = known.largest().unwrap();
        assert!(largest.rows > unknown.largest().unwrap().rows, "{:?} and {:?}", rows(known), rows(unknown));
        assert!(!largest.is_whole && largest.units >= 1.0, "{largest:?}");
        assert!(asked.iter().all(|request| request.limit <= 0.6 * 20.0), "{asked:?}");
        assert_eq!(asked[0].steps, (unit == WorkUnit::Steps).then_some(4));
        assert!(asked.iter().all(|request| request.steps.is_none_or(|steps| steps <= 100)), "{asked:?}");
        assert!(known.spent < 20.0);
    }
}

#[test]
fn failures_end_a_climb_or_begin_it_higher() {
    let needs = |rows| Fake { needs: rows, ..CUBIC };
    let (courses, _) = trials(vec![needs(1000)], 100_000, None, 60.0);
    assert_eq!(courses[0].failures.len(), 1);
    assert!(rows(&courses[0])[0] == 2000 && courses[0].trials.len() >= 3, "{:?}", rows(&courses[0]));
    let (courses, _) = trials(vec![needs(usize::MAX)], 100_000, None, 60.0);
    let failed: Vec<usize> = courses[0].failures.iter().map(|failed| failed.rows).collect();
    assert_eq!((failed.as_slice(), courses[0].trials.len()), (&[500, 2000, 8000][..], 0));
    let (courses, _) = trials(vec![Fake { most: 3000, ..LINEAR }], 100_000, None, 60.0);
    assert_eq!(courses[0].failures.len(), 1);
    assert_eq!(courses[0].largest().unwrap().rows, 2000);
}

#[test]
fn without_time_nothing_runs() {
    let (courses, asked) = trials(vec![CUBIC, LINEAR], 1000, None, 0.0);
    assert!(asked.is_empty() && courses.iter().all(|course| course.count() == 0));
    assert!(trials(Vec::new(), 1000, None, 10.0).0.is_empty());
}

#[test]
fn a_runner_that_halts_ends_the_pilot() {
    struct Halting;
    impl TrialRunner for Halting {
        type Halt = i32;
        fn run(&mut self, _: Request) -> Result<TrialEnd, i32> {
            Err(2)
        }
    }
    let entrant = Entrant { rows: 100, fewest: 8, work: work(None), memory_limit: None };
    assert_eq!(run_trials(&[entrant], 10.0, &mut Halting).unwrap_err(), 2);
}
