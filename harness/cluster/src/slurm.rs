//! Slurm, through its programs. Slurm's accounting is not needed.

mod answer;

use std::path::PathBuf;

use gpbench_record::Site;

use crate::commands::{Commands, NoAnswer};
use crate::limits::ClusterLimits;
use crate::scheduler::{Array, CancelTarget, JobTask, Scheduler, SchedulerError, TaskState, Trouble};

/// Seconds before the end of its time at which a task gets a signal.
pub const WARNING_SECONDS: u64 = 120;

/// Message of `sbatch --test-only` where no node is up, and where none could ever run the task; [`ClusterLimits::check`] refuses
/// the latter.
const NOT_NOW: &str = "Requested node configuration is not available";

/// Most ids of tasks in one command.
const MOST_IDS: usize = 500;

/// Slurm, for the jobs of one run.
#[derive(Debug)]
pub struct Slurm<C> {
    /// Runs its programs.
    pub commands: C,
    /// Settings of the site.
    pub site: Site,
    /// The name of all jobs of the run.
    pub name: String,
    /// The folder in which jobs begin.
    pub folder: PathBuf,
    /// The folder of the output of tasks.
    pub logs: PathBuf,
    /// The script of a task.
    pub script: PathBuf,
}

impl<C: Commands> Slurm<C> {
    /// Runs a program; its output if it succeeded. `unknown`: the kind of a failure whose message is unknown.
    fn run(&self, program: &str, arguments: Vec<String>, unknown: Trouble) -> Result<String, SchedulerError> {
        let error = |said: String, kind| {
            let command = std::iter::once(program).chain(arguments.iter().map(String::as_str));
            let command = command.collect::<Vec<_>>().join(" ");
            SchedulerError { command, said, kind }
        };
        match self.commands.run(program, &arguments, b"") {
            Ok(answer) if answer.status == 0 => Ok(answer.stdout),
            Ok(answer) => {
                let said =
                    format!("ended with status {}: {}", answer.status, answer::last_lines(&answer.stderr));
                Err(error(said, answer::trouble(&answer.stderr).unwrap_or(unknown)))
            }
            Err(NoAnswer::NotStarted(cause)) => {
                Err(error(format!("cannot be started: {cause}; is this a login node?"), Trouble::Lasting))
            }
            Err(hangs @ NoAnswer::Hangs(_)) => {
                Err(error(format!("gave no answer: {hangs}"), Trouble::Passing))
            }
        }
    }

    /// Options for the resources that an array requests.
    fn options(&self, array: &Array) -> Vec<String> {
        let Site { partition, account, qos, constraint, extra, ask, tasks: _, nodes: _, intervals: _ } =
            &self.site;
        let mut options = vec![
            format!("--job-name={}", self.name),
            format!("--time={}", array.request.seconds.div_ceil(60)),
            format!("--mem={}M", array.request.memory_bytes.div_ceil(1 << 20)),
            "--nodes=1".to_owned(),
            "--ntasks=1".to_owned(),
            format!("--cpus-per-task={}", array.request.threads),
            "--hint=nomultithread".to_owned(),
        ];
        if ask.exclusive {
            options.push("--exclusive".to_owned());
        }
        if !array.excluded.is_empty() {
            options.push(format!("--exclude={}", array.excluded.join(",")));
        }
        for (name, value) in
            [("partition", partition), ("account", account), ("qos", qos), ("constraint", constraint)]
        {
            options.extend(value.as_ref().map(|value| format!("--{name}={value}")));
        }
        options.extend(extra.iter().cloned());
        options
    }

    fn script(&self, array: &Array) -> [String; 2] {
        [self.script.display().to_string(), array.argument.clone()]
    }

    /// An answer that cannot be read.
    fn unreadable(&self, program: &str, what: String) -> SchedulerError {
        SchedulerError { command: program.to_owned(), said: what, kind: Trouble::Lasting }
    }
}

impl<C: Commands> Scheduler for Slurm<C> {
    fn limits(&self) -> Result<ClusterLimits, SchedulerError> {
        let config = self.run("scontrol", vec!["show".into(), "config".into()], Trouble::Lasting)?;
        let array_size = answer::setting(&config, "MaxArraySize").and_then(|size| size.parse().ok());
        let array_size = array_size
            .ok_or_else(|| self.unreadable("scontrol show config", "printed no MaxArraySize".to_owned()))?;
        if array_size < 2 {
            let what = format!("says MaxArraySize={array_size}: this cluster allows no arrays");
            return Err(self.unreadable("scontrol show config", what));
        }
        let mut arguments = ["-h", "-N", "-o", "%P|%N|%m|%c|%l"].map(str::to_owned).to_vec();
        arguments.extend(self.site.partition.iter().map(|partition| format!("--partition={partition}")));
        let (seconds, nodes) =
            answer::nodes(&self.run("sinfo", arguments, Trouble::Lasting)?, self.site.partition.is_none())
                .map_err(|what| self.unreadable("sinfo", what))?;
        Ok(ClusterLimits { array_size, seconds, nodes })
    }

    fn test(&self, array: &Array) -> Result<(), SchedulerError> {
        let mut arguments = vec!["--test-only".to_owned(), format!("--array=0-{}", array.count - 1)];
        arguments.extend(self.options(array));
        arguments.extend(self.script(array));
        let error = match self.run("sbatch", arguments, Trouble::Lasting) {
            Ok(_) => return Ok(()),
            Err(error) => error,
        };
        let kind = if error.said.contains(NOT_NOW) { Trouble::Passing } else { error.kind };
        Err(SchedulerError { kind, ..error })
    }

    fn submit(&self, array: &Array) -> Result<u64, SchedulerError> {
        let throttle = array.throttle.map(|most| format!("%{}", most.max(1))).unwrap_or_default();
        let mut arguments = vec![
            "--parsable".to_owned(),
            "--no-requeue".to_owned(),
            "--open-mode=append".to_owned(),
            format!("--signal=B:USR1@{WARNING_SECONDS}"),
            format!("--array=0-{}{throttle}", array.count - 1),
            format!("--comment={}", array.comment),
            format!("--chdir={}", self.folder.display()),
            format!("--output={}/%A_%a.log", self.logs.display()),
        ];
        arguments.extend(self.options(array));
        arguments.extend(self.script(array));
        let said = self.run("sbatch", arguments, Trouble::Lasting)?;
        // A cluster's name may follow the id.
        let id = said.trim().split(';').next().and_then(|id| id.parse().ok());
        id.ok_or_else(|| SchedulerError {
            command: "sbatch".to_owned(),
            said: format!("printed `{}` instead of a job id", answer::last_lines(&said)),
            // The array may have been accepted: the next polls search for it.
            kind: Trouble::Passing,
        })
    }

    fn poll(&self) -> Result<Vec<JobTask>, SchedulerError> {
        const COLUMNS: &str = "ArrayJobID:|,ArrayTaskID:|,State:|,Reason:|,NodeList:|,exit_code:|,Comment:|";
        let arguments = ["-h", "-r", "-t", "all", "--me", "-n", &self.name, "-O", COLUMNS];
        let said = self.run("squeue", arguments.map(str::to_owned).to_vec(), Trouble::Passing)?;
        answer::tasks(&said).map_err(|what| self.unreadable("squeue", what))
    }

    fn cancel(&self, targets: &[CancelTarget]) -> Result<(), SchedulerError> {
        let arrays = targets.iter().any(|target| matches!(target, CancelTarget::Array(_)));
        for some in targets.chunks(MOST_IDS) {
            let ids = || some.iter().map(CancelTarget::to_string);
            if arrays {
                // Otherwise each place that becomes free is taken by the next task of the array.
                let waiting = format!("--state={}", TaskState::Pending);
                self.run("scancel", std::iter::once(waiting).chain(ids()).collect(), Trouble::Passing)?;
            }
            self.run("scancel", ids().collect(), Trouble::Passing)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
