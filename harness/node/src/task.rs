//! The cases of an attempt.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use gpbench_cluster::{ClusterError, ClusterFolder, PartReader};
use gpbench_engine::{Planned, kept_sample};
use gpbench_record::{Attempt, CaseFiles, Ending, Manifest, PartLine, PlannedCase};
use gpbench_runs::{PlanFile, RunError};

use crate::time::{JobTime, bound};

/// An attempt at a task.
pub(crate) struct Task {
    /// The run folder.
    pub(crate) run: PathBuf,
    /// Its folder `cluster`.
    pub(crate) folder: ClusterFolder,
    /// Which attempt.
    pub(crate) attempt: Attempt,
    /// The manifest: files, options and tasks.
    pub(crate) manifest: Manifest,
    /// The time of the job.
    pub(crate) time: JobTime,
    /// The cases in the order in which they are to run.
    pub(crate) cases: Vec<PlannedCase>,
    /// The ids of the cases of the whole plan whose solutions are kept.
    pub(crate) kept: HashSet<String>,
    /// The files of each of them.
    files: Vec<CaseFiles>,
}

/// Why an attempt cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unreadable {
    /// Wrong arguments.
    #[error("usage: gpbench-node RUN TASK ATTEMPT SECONDS; it is started by the script of a cluster run")]
    Usage,
    /// A file of the cluster run.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    /// A file of the run.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The part file does not begin with what is assigned.
    #[error("{} does not begin with the attempt's cases", path.display())]
    Unassigned {
        /// The part file.
        path: PathBuf,
    },
    /// A case that plan or manifest do not have.
    #[error("the plan of {} has no case {id}", run.display())]
    Unplanned {
        /// The run folder.
        run: PathBuf,
        /// The case.
        id: String,
    },
}

/// Why an attempt ends before its last case.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Stop {
    /// This node cannot run the task; another may.
    #[error("{0}")]
    Unfit(String),
    /// The runner cannot go on.
    #[error("{0}")]
    Failed(String),
}

impl Stop {
    pub(crate) fn unfit(why: impl ToString) -> Self {
        Stop::Unfit(why.to_string())
    }

    pub(crate) fn failed(why: impl ToString) -> Self {
        Stop::Failed(why.to_string())
    }

    /// The ending as the part file states it.
    pub(crate) fn ending(self) -> Ending {
        match self {
            Stop::Unfit(reason) => Ending::Unfit { reason },
            Stop::Failed(reason) => Ending::Failed { reason },
        }
    }
}

impl From<ClusterError> for Stop {
    fn from(error: ClusterError) -> Self {
        Stop::failed(error)
    }
}

impl Task {
    /// Reads the attempt that the command line names.
    pub(crate) fn read(words: &[String]) -> Result<Self, Unreadable> {
        let [run, task, attempt, elapsed] = words else { return Err(Unreadable::Usage) };
        let (Ok(task), Ok(attempt), Ok(elapsed)) = (task.parse(), attempt.parse(), elapsed.parse()) else {
            return Err(Unreadable::Usage);
        };
        let (run, attempt) = (PathBuf::from(run), Attempt { task, attempt });
        let folder = ClusterFolder::of(&run);
        let manifest = folder.read_manifest()?;
        let plan = PlanFile::read(&run)?;
        let (assigned, seconds) = assigned(&folder.part(attempt), attempt)?;
        let time = JobTime::new(seconds, Duration::from_secs(elapsed), Instant::now());
        let (mut cases, mut files) = (Vec::new(), Vec::new());
        for id in assigned {
            let planned = plan.cases.iter().find(|planned| planned.id == id).zip(manifest.cases.get(&id));
            let Some((planned, its_files)) = planned else {
                return Err(Unreadable::Unplanned { run, id });
            };
            cases.push(planned.clone());
            files.push(its_files.clone());
        }
        let kept = kept_sample(&plan.cases, manifest.options.keep_solutions);
        Ok(Self { run, folder, attempt, manifest, time, cases, kept, files })
    }

    /// The cases with their files, in the order in which they are to run.
    pub(crate) fn planned(&self) -> impl Iterator<Item = Planned<'_>> {
        self.cases.iter().zip(&self.files).map(|(entry, files)| Planned { entry, files })
    }

    /// The seconds that each case may take, where anything bounds them.
    pub(crate) fn bounds(&self) -> HashMap<String, f64> {
        let bound =
            |planned: Planned<'_>| Some((planned.id.clone(), bound(planned, &self.manifest.options)?));
        self.planned().filter_map(bound).collect()
    }

    /// Threads that the task asks for.
    pub(crate) fn threads(&self) -> usize {
        let task = self.manifest.tasks.get(self.attempt.task as usize);
        task.map_or(1, |task| task.threads as usize)
    }
}

/// What the first line of a part file assigns to an attempt: ids, and the seconds of its job, where known.
fn assigned(path: &Path, own: Attempt) -> Result<(Vec<String>, Option<u64>), Unreadable> {
    let news = PartReader::new(path.to_owned()).read()?;
    match news.lines.into_iter().next().map(|line| line.line) {
        Some(PartLine::Assigned { attempt, cases, seconds }) if attempt == own => Ok((cases, seconds)),
        _ => Err(Unreadable::Unassigned { path: path.to_owned() }),
    }
}
