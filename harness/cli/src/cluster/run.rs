//! A cluster run, opened from its files.

use std::collections::HashSet;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use gpbench_cluster::{
    ClusterFolder, ClusterLimits, Front, FrontSummary, Manager, Policy, Round, RunFiles, Scheduler as _,
    Slurm, SystemCommands,
};
use gpbench_engine::{Event, Interrupt, SystemClock, WallClock as _};
use gpbench_record::Manifest;
use gpbench_runs::{Journal, PlanFile, RunFolder};

use super::failure;
use super::rows::JournalRows;
use super::status::{living, status, tasks};
use crate::exit::Failure;
use crate::progress::Progress;

/// Time between two checks for signals while a front waits.
const SIGNAL_POLL: Duration = Duration::from_millis(200);
/// Time between two rounds of a run that is being cancelled.
const CANCEL_ROUND: Duration = Duration::from_secs(2);
/// The signal by which a user at a terminal ends a run.
const CTRL_C: i32 = 2;

/// When a front ends its work on a cluster run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Until {
    /// When each case has its row, or will have none.
    Finished,
    /// When everything is sent.
    Sent,
}

/// A cluster run whose journal this process has locked.
pub(crate) struct ClusterRun {
    folder: RunFolder,
    name: String,
    manager: Manager<Slurm<SystemCommands>, RunFiles<JournalRows>>,
    /// Tasks that were sent.
    sent: usize,
    /// Tasks that were cancelled.
    cancelled: usize,
    /// Whether the user has cancelled the run.
    is_ending: bool,
}

/// The settings of Slurm for a run.
pub(super) fn slurm(folder: &RunFolder, manifest: &Manifest) -> Slurm<SystemCommands> {
    let cluster = ClusterFolder::of(folder.path());
    Slurm {
        commands: SystemCommands::default(),
        site: manifest.site.clone(),
        name: format!("gpbench-{}", manifest.run),
        folder: folder.path().to_owned(),
        logs: cluster.logs(),
        script: cluster.script(),
    }
}

impl ClusterRun {
    /// Opens the cluster run of a run folder. `journal` is that folder's. `again`: cases with rows that are to run again.
    /// `resume`: whether tasks that were given up are tried again.
    pub(crate) fn open(
        folder: RunFolder,
        journal: Journal,
        again: &HashSet<String>,
        resume: bool,
    ) -> Result<ClusterRun, Failure> {
        let cluster = ClusterFolder::of(folder.path());
        let manifest = cluster.read_manifest().map_err(failure)?;
        let plan = PlanFile::read(folder.path()).map_err(Failure::internal)?;
        let name = plan.name.clone();
        let rows = JournalRows::new(journal, &folder, &cluster, plan);
        let ended = rows.ended();
        let again: Vec<String> = ended.iter().filter(|id| again.contains(*id)).cloned().collect();
        let slurm = slurm(&folder, &manifest);
        let limits = match resume {
            true => slurm.limits().map_err(|error| failure(error.into()))?,
            // Nothing is going to be sent.
            false => ClusterLimits::default(),
        };
        let (store, known) = RunFiles::open(cluster, rows, resume).map_err(failure)?;
        let policy = Policy::of(&manifest.site);
        let now = SystemClock.now();
        let ended = ended.into_iter().collect();
        let mut front = Front::new(&manifest, limits, policy, ended, &known.ledger, &known.parts, now);
        front.again(&again);
        let manager = Manager::new(front, slurm, store);
        Ok(ClusterRun { folder, name, manager, sent: 0, cancelled: 0, is_ending: false })
    }

    /// The run folder.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Copies new rows and queries Slurm once, without sending anything; the status.
    pub(crate) fn poll(&mut self, progress: &mut Progress) -> Result<String, Failure> {
        match self.manager.scheduler.poll() {
            Ok(tasks) => self.manager.front.polled(&tasks, SystemClock.now()),
            Err(error) => progress.show(Event::Warning(error.to_string())),
        }
        self.take_over(progress)?;
        Ok(self.status())
    }

    /// Copies new rows. Slurm is not queried.
    pub(crate) fn take_over(&mut self, progress: &mut Progress) -> Result<(), Failure> {
        let mut round = Round::default();
        let merged = self.manager.merge(SystemClock.now(), &mut round).map_err(failure);
        self.tell(progress, round.notes);
        merged
    }

    /// Ends the run: what is queued or running is cancelled in the next rounds.
    pub(crate) fn end(&mut self) {
        self.is_ending = true;
        self.manager.front.end();
    }

    /// Continues the run until the state of `until`. Ctrl-C cancels what is queued and running, and a
    /// second one ends the front at once; other signals end it and cancel nothing. The signal that ended it.
    pub(crate) fn drive(&mut self, until: Until, progress: &mut Progress) -> Result<Option<i32>, Failure> {
        let interrupt = Interrupt::on_signals().map_err(Failure::internal)?;
        let (mut shown, mut ended_by) = (String::new(), None);
        loop {
            let round = self.manager.round(SystemClock.now()).map_err(failure)?;
            self.sent += round.sent;
            self.cancelled += round.cancelled;
            self.tell(progress, round.notes);
            let status = self.status();
            if status != shown {
                progress.say_text(&status);
                shown = status;
            }
            if round.is_finished {
                return Ok(ended_by);
            }
            if until == Until::Sent && self.summary().waiting == 0 {
                return Ok(None);
            }
            let pause =
                if self.is_ending { CANCEL_ROUND } else { Duration::from_secs_f64(round.pause_seconds) };
            let begun = Instant::now();
            while begun.elapsed() < pause {
                match interrupt.signal() {
                    Some(CTRL_C) if !self.is_ending => {
                        ended_by = Some(CTRL_C);
                        // The next one ends the front at once.
                        interrupt.raise(0);
                        self.end();
                        progress.say_text("cancelling what is queued and running; what has come is stored");
                        break;
                    }
                    Some(signal) => return Ok(Some(signal)),
                    _ => thread::sleep(SIGNAL_POLL.min(pause)),
                }
            }
        }
    }

    /// The progress of the run.
    pub(crate) fn summary(&self) -> FrontSummary {
        self.manager.front.summary()
    }

    /// Whether nothing is left to do.
    pub(crate) fn is_finished(&self) -> bool {
        self.manager.front.is_finished()
    }

    /// A list of what may still be queued or running, if anything may.
    pub(crate) fn living(&self) -> Option<String> {
        living(&self.summary())
    }

    /// A line about what this process has sent.
    pub(crate) fn sent(&self) -> String {
        match (self.sent, self.summary().unanswered) {
            (0, 0) => "nothing was left to send".to_owned(),
            (sent, 0) => format!("sent {}", tasks(sent)),
            (sent, open) => {
                format!(
                    "sent {}; Slurm gave no answer for {}, which the next `gpbench watch` checks",
                    tasks(sent),
                    tasks(open)
                )
            }
        }
    }

    /// A line about what this process has cancelled, and the rows that have come.
    pub(crate) fn cancelled(&self) -> String {
        let FrontSummary { rows, cases, .. } = self.summary();
        let what = match self.cancelled {
            0 => "nothing was cancelled".to_owned(),
            count => format!("cancelled {}", tasks(count)),
        };
        format!("{what}; {rows} of {cases} cases have rows, which are in {}", self.folder.path().display())
    }

    /// Removes files that only a run in progress needs.
    pub(crate) fn close(self) -> Result<(), Failure> {
        self.folder.end().map_err(Failure::internal)
    }

    fn status(&self) -> String {
        let rows = &self.manager.records.rows;
        status(&self.name, &self.summary(), rows.progress().failed, &|id| rows.block(id))
    }

    /// Shows new rows and messages.
    fn tell(&mut self, progress: &mut Progress, notes: Vec<String>) {
        let rows = &mut self.manager.records.rows;
        let new = rows.take_new();
        let mut count = rows.progress();
        let all = count.done;
        for (place, row) in new.iter().enumerate() {
            count.done = all - (new.len() - 1 - place);
            progress.show(Event::CaseFinished { row: Box::new(row.clone()), progress: count });
        }
        let notes = notes.into_iter().chain(rows.take_notes());
        notes.for_each(|note| progress.show(Event::Warning(note)));
    }
}
