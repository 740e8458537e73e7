//! The numerics of a cluster's nodes: from the settings, from an earlier run, or from a short job.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use gpbench_cluster::{
    Array, CancelTarget, ClusterFolder, JobTask, LEAST_MEMORY, ResourceRequest, Scheduler as _, Slurm,
    SystemCommands, TaskState,
};
use gpbench_engine::Interrupt;
use gpbench_files::process_tag;
use gpbench_record::{Manifest, Program, Site, finds_by_own_folder, text};
use gpbench_runs::list_runs;

use super::failure;
use super::programs::keep;
use crate::args::Global;
use crate::exit::{Failure, of_signal};
use crate::notice::say;
use crate::prepare::Numerics;
use crate::worker::Worker;

/// Time between two checks for the answer and for signals.
const ANSWER_POLL: Duration = Duration::from_millis(200);
/// Wall-clock seconds that the job requests.
const SECONDS: u64 = 300;
/// The remedy where no node answers.
const REMEDY: &str =
    "or set `instruction_set` and `blas_core` of `nodes`, which `gpbench doctor` on a node prints";

/// Finds out the numerics of the nodes of a site. `longest`: the longest time of a job in seconds, where there is a bound.
pub(super) fn numerics(global: &Global, site: &Site, longest: Option<u64>) -> Result<Numerics, Failure> {
    let nodes = &site.nodes;
    if let (Some(instruction_set), Some(blas_core)) = (&nodes.instruction_set, &nodes.blas_core) {
        return Ok(Numerics { instruction_set: instruction_set.clone(), blas_core: blas_core.clone() });
    }
    let worker = Worker::locate()?.file;
    match told_earlier(&global.output_dir, site, &worker)? {
        Some(told) => Ok(told),
        None => {
            // Before anything is sent, so that a signal leaves no job behind.
            let interrupt = Interrupt::on_signals().map_err(Failure::internal)?;
            Question::send(global, site, &worker, longest)?.answer(&interrupt)
        }
    }
}

/// The numerics in the newest run that was sent with the same settings of the site and the same worker.
fn told_earlier(output_dir: &Path, site: &Site, worker: &Path) -> Result<Option<Numerics>, Failure> {
    let worker = Program::of(worker).map_err(Failure::usage)?.sha256;
    let mut runs = list_runs(output_dir);
    runs.sort_by_key(|run| run.file_name().map(ToOwned::to_owned));
    let is_same = |manifest: &Manifest| {
        let Site { ask, tasks, intervals, .. } = site.clone();
        manifest.started_in.worker_sha256 == worker
            && Site { ask, tasks, intervals, ..manifest.site.clone() } == *site
    };
    let manifests = runs.iter().rev().filter_map(|run| ClusterFolder::of(run).read_manifest().ok());
    Ok(manifests.into_iter().find(is_same).map(|manifest| Numerics {
        instruction_set: manifest.started_in.cpu_dispatch,
        blas_core: manifest.started_in.blas_core,
    }))
}

/// A short job that reports the numerics of a node. Its files are removed when this is dropped.
struct Question {
    slurm: Slurm<SystemCommands>,
    folder: PathBuf,
    answer: PathBuf,
    job: u64,
    is_quiet: bool,
}

/// The state of the job by Slurm.
#[derive(Default)]
struct Seen {
    /// Its state, for people.
    state: String,
    /// When Slurm was polled last.
    polled: Option<Instant>,
    /// The first of the last answers by which the job is over.
    gone: Option<Instant>,
}

impl Question {
    fn send(global: &Global, site: &Site, worker: &Path, longest: Option<u64>) -> Result<Self, Failure> {
        let output_dir = std::path::absolute(&global.output_dir).map_err(Failure::internal)?;
        let folder = output_dir.join(format!(".nodes.{}", process_tag()));
        let cluster = ClusterFolder::of(&folder);
        let mut site = site.clone();
        site.ask.exclusive = false;
        let mut question = Question {
            answer: folder.join("answer.json"),
            slurm: Slurm {
                commands: SystemCommands::default(),
                site,
                name: format!("gpbench-nodes.{}", process_tag()),
                folder: folder.clone(),
                logs: cluster.logs(),
                script: cluster.script(),
            },
            folder,
            job: 0,
            is_quiet: global.quiet,
        };
        cluster.create().map_err(failure)?;
        let worker = keep(&cluster, worker, finds_by_own_folder)?;
        cluster.write_question(&question.slurm.site.nodes, &worker, &question.answer).map_err(failure)?;
        let array = Array {
            comment: "nodes".to_owned(),
            count: 1,
            request: ResourceRequest {
                seconds: longest.map_or(SECONDS, |longest| longest.min(SECONDS)),
                memory_bytes: LEAST_MEMORY,
                threads: 1,
            },
            throttle: None,
            excluded: Vec::new(),
            argument: String::new(),
        };
        question.job = question.slurm.submit(&array).map_err(|error| failure(error.into()))?;
        Ok(question)
    }

    /// Waits for the answer. A signal cancels the job.
    fn answer(self, interrupt: &Interrupt) -> Result<Numerics, Failure> {
        let intervals = self.slurm.site.intervals;
        let is_over = |since: Instant, seconds: f64| since.elapsed().as_secs_f64() >= seconds;
        let (asked, mut seen) = (Instant::now(), Seen::default());
        self.say(format_args!(
            "a job reports the numerics of a node (job {}); `nodes` of the settings can state them",
            self.job
        ));
        loop {
            if let Some(numerics) = self.read()? {
                return Ok(numerics);
            }
            if let Some(signal) = interrupt.signal() {
                self.cancel();
                let code = of_signal(signal);
                return Err(Failure {
                    code,
                    text: "interrupted while waiting for the numerics of a node".to_owned(),
                });
            }
            if is_over(asked, intervals.answer) {
                self.cancel();
                return Err(self.too_late(&seen));
            }
            if seen.polled.is_none_or(|polled| is_over(polled, intervals.poll)) {
                self.poll(&mut seen);
            }
            // The answer of a job that has ended may come a while later.
            if seen.gone.is_some_and(|gone| is_over(gone, intervals.silent)) {
                return Err(self.silent(&seen));
            }
            thread::sleep(ANSWER_POLL);
        }
    }

    /// Queries Slurm for the state of the job, and prints it if it has changed. A failed query is ignored.
    fn poll(&self, seen: &mut Seen) {
        seen.polled = Some(Instant::now());
        let Ok(tasks) = self.slurm.poll() else { return };
        let task = tasks.into_iter().find(|task| task.job == self.job);
        let state = match &task {
            Some(JobTask { state: TaskState::Pending, reason, .. }) => {
                format!("is {} ({reason})", TaskState::Pending)
            }
            Some(JobTask { state, .. }) => format!("is {state}"),
            None => "is unknown to Slurm".to_owned(),
        };
        let is_over = task.is_none_or(|task| task.state.is_over());
        seen.gone = is_over.then(|| seen.gone.unwrap_or_else(Instant::now));
        if state != seen.state {
            self.say(format_args!("job {} {state}", self.job));
            seen.state = state;
        }
    }

    fn too_late(&self, seen: &Seen) -> Failure {
        Failure::usage(format!(
            "no node has reported its numerics within {:.0} s; job {} {}: raise `answer` of `intervals`, {REMEDY}",
            self.slurm.site.intervals.answer, self.job, seen.state
        ))
    }

    fn silent(&self, seen: &Seen) -> Failure {
        let file = self.slurm.logs.join(format!("{}_0.log", self.job));
        let printed = fs::read_to_string(file).unwrap_or_default();
        Failure::usage(format!(
            "the job that reports the numerics of a node gave no answer; job {} {}: fix the cause, {REMEDY}\n{}",
            self.job,
            seen.state,
            text::cut(printed.trim(), text::LOG)
        ))
    }

    /// The answer, once it is there.
    fn read(&self) -> Result<Option<Numerics>, Failure> {
        let Ok(told) = fs::read(&self.answer) else { return Ok(None) };
        let unreadable = |error| {
            Failure::internal(format!("the answer of the job that reports the numerics of a node: {error}"))
        };
        serde_json::from_slice(&told).map(Some).map_err(unreadable)
    }

    /// Ends the job. If that fails, it ends by itself within minutes.
    fn cancel(&self) {
        let _ = self.slurm.cancel(&[CancelTarget::Array(self.job)]);
    }

    fn say(&self, text: std::fmt::Arguments<'_>) {
        if !self.is_quiet {
            say(text);
        }
    }
}

impl Drop for Question {
    fn drop(&mut self) {
        // What is left is named after this process.
        let _ = fs::remove_dir_all(&self.folder);
    }
}
