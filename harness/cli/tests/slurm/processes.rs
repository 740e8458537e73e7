//! Processes of the cluster.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use super::cluster::Cluster;

/// A process that runs an attempt.
pub struct Runner {
    pub process: i32,
    pub attempt: String,
    pub node: String,
    /// The id of its task.
    pub job: String,
}

/// The processes whose command lines have a word, and that belong to this cluster.
pub fn processes(cluster: &Cluster, word: &str) -> Vec<i32> {
    let entries = fs::read_dir("/proc").expect("/proc").flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let own = format!("SLURM_CONF={}/", cluster.folder.display());
    let is_it =
        |process: &i32| text(*process, "cmdline").contains(word) && text(*process, "environ").contains(&own);
    numbers.filter(is_it).filter(|process| *process != std::process::id() as i32).collect()
}

/// A file of a process, with a space after each argument or variable.
fn text(process: i32, file: &str) -> String {
    let text = fs::read(format!("/proc/{process}/{file}")).unwrap_or_default();
    String::from_utf8_lossy(&text).replace('\0', " ")
}

/// The processes that run attempts of a run below a folder.
pub fn runners(cluster: &Cluster, folder: &Path) -> Vec<Runner> {
    let runner = |process: i32| {
        let line = text(process, "cmdline");
        let [.., run, task, attempt, _] = line.split_whitespace().collect::<Vec<_>>()[..] else {
            return None;
        };
        let environment = text(process, "environ");
        let variable = |name: &str| {
            let own = |word: &&str| word.strip_prefix(name).is_some_and(|rest| rest.starts_with('='));
            Some(environment.split(' ').find(own)?[name.len() + 1..].to_owned())
        };
        Path::new(run).starts_with(folder).then_some(())?;
        let attempt = format!("{:04}.{:02}", task.parse::<u32>().ok()?, attempt.parse::<u32>().ok()?);
        // The id of a task may be that of its array.
        let job = format!("{}_{}", variable("SLURM_ARRAY_JOB_ID")?, variable("SLURM_ARRAY_TASK_ID")?);
        Some(Runner { process, attempt, node: variable("SLURMD_NODENAME")?, job })
    };
    processes(cluster, "gpbench-node").into_iter().filter_map(runner).collect()
}

/// A process, the one that started it, and so on.
pub fn line_of(process: i32) -> impl Iterator<Item = i32> {
    let parent = |process: &i32| {
        let status = text(*process, "stat");
        status.rsplit(") ").next()?.split(' ').nth(1)?.parse::<i32>().ok()
    };
    std::iter::successors(Some(process), parent)
}

/// The workers of a runner.
pub fn workers(cluster: &Cluster, runner: i32) -> Vec<i32> {
    let workers = processes(cluster, "gpbench-worker").into_iter();
    workers.filter(|worker| line_of(*worker).any(|above| above == runner)).collect()
}

/// Sends a signal, such as `-KILL`, to processes.
pub fn signal(name: &str, processes: &[i32]) {
    for process in processes {
        // It may have ended.
        let _ = Command::new("kill").args([name, &process.to_string()]).stderr(Stdio::null()).status();
    }
}
