//! Trials by the engine: the same executor and workers as those of a run, and nothing stored.

use std::path::Path;
use std::time::Instant;

use gpbench_engine::{Engine, Event, Plan, Planned, RunOptions, SingleCase};
use gpbench_record::{CaseFiles, Row};

use super::contestants::{Contestant, on_part};
use super::measured::Measured;
use super::schedule::{Request, TrialEnd, TrialRunner};
use crate::args::Global;
use crate::execute;
use crate::exit::Failure;
use crate::notice::{say, warn};
use crate::units;

/// Runs the trials of a plan's contestants.
pub(crate) struct EngineTrials<'a> {
    pub(crate) global: &'a Global,
    pub(crate) engine: &'a Engine<'a>,
    pub(crate) plan: &'a Plan,
    pub(crate) contestants: &'a [Contestant],
    pub(crate) options: &'a RunOptions,
    /// The folder of their files, which the caller removes.
    pub(crate) folder: &'a Path,
}

/// Why no further trial can run.
pub(crate) enum Halt {
    /// A signal asks for the end.
    Signal(i32),
    /// Nothing can run.
    Failure(Failure),
}

impl TrialRunner for EngineTrials<'_> {
    type Halt = Halt;

    fn run(&mut self, request: Request) -> Result<TrialEnd, Halt> {
        let cases = &self.contestants[request.contestant].cases;
        // Each trial is of another seed, so that the fit's noise contains that of seeds.
        let planned = self.plan.planned(cases[request.number % cases.len()]);
        let entry = on_part(planned.entry, request.rows, request.limit, request.steps);
        let is_part = entry.case.task.most_steps() < planned.case.task.most_steps();
        let files = CaseFiles { memory_estimate: None, seconds_estimate: None, ..planned.files.clone() };
        let planned = Planned { entry: &entry, files: &files };
        let report = |event| {
            if let Event::Warning(text) = event {
                warn(self.global, text);
            }
        };
        let began = Instant::now();
        let ended = self.engine.trial(&self.plan.libraries, planned, self.folder, self.options, &report);
        let wall = began.elapsed().as_secs_f64();
        let end = match ended.map_err(|error| Halt::Failure(execute::failure(error)))? {
            SingleCase::Row(row) => end_of(&row, request.rows, wall, is_part),
            SingleCase::Fault(fault) => TrialEnd::Failed { wall, reason: fault.reason },
            SingleCase::Unfinished => match self.engine.interrupt.signal() {
                Some(signal) => return Err(Halt::Signal(signal)),
                None => TrialEnd::Failed { wall, reason: "it ended without a result".to_owned() },
            },
        };
        if self.global.verbose {
            say(format_args!("{}, {} rows: {}", planned.labels, request.rows, words(&end)));
        }
        Ok(end)
    }
}

/// How a trial with this row ended, whose case has fewer steps than the full one if it `is_part` of that.
fn end_of(row: &Row, rows: usize, wall: f64, is_part: bool) -> TrialEnd {
    match Measured::of(row, rows, wall).filter(|_| row.status.is_answer()) {
        Some(measured) => {
            TrialEnd::Measured(Measured { is_whole: measured.is_whole && !is_part, ..measured })
        }
        None => TrialEnd::Failed { wall, reason: format!("{}: {}", row.status.as_str(), row.reason) },
    }
}

/// What a trial found, for a line of progress.
fn words(end: &TrialEnd) -> String {
    match end {
        TrialEnd::Measured(measured) => {
            let how = if measured.is_whole { "" } else { ", where its time ended" };
            format!("{}{how}", units::duration(measured.total()))
        }
        TrialEnd::Failed { reason, .. } => reason.clone(),
    }
}
