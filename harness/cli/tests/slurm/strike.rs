//! Faults, and how they are made to happen.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant as Clock};

use super::cluster::{Cluster, set_up, shell};
use super::parts::{Instant, Parts};
use super::processes::{Runner, line_of, processes, runners, signal, workers};
use crate::support::Sandbox;

/// Longest time that a job is held.
const PATIENCE: Duration = Duration::from_secs(60);

/// What happens to a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    Runner,
    Front,
    Worker,
    Cancelled,
    MemoryLimit,
    Preempted,
    TimeLimit,
    NoRunFolder,
    Controller,
    NoTemporarySpace,
    Step,
    NoSpaceForRows,
    Node,
    None,
}

impl Fault {
    pub const ALL: [Fault; 14] = [
        Fault::Runner,
        Fault::Front,
        Fault::Worker,
        Fault::Cancelled,
        Fault::MemoryLimit,
        Fault::Preempted,
        Fault::TimeLimit,
        Fault::NoRunFolder,
        Fault::Controller,
        Fault::NoTemporarySpace,
        Fault::Step,
        Fault::NoSpaceForRows,
        Fault::Node,
        Fault::None,
    ];

    /// What the table calls it.
    pub fn name(self) -> &'static str {
        match self {
            Fault::Runner => "a runner is killed",
            Fault::Front => "the front is killed",
            Fault::Worker => "a worker is killed",
            Fault::TimeLimit => "a case does not end, and Slurm's time limit is over",
            Fault::Cancelled => "a task is cancelled by somebody else",
            Fault::MemoryLimit => "another process of a job exceeds its memory",
            Fault::Preempted => "a more important job takes a node",
            Fault::NoRunFolder => "a node loses the run folder",
            Fault::Controller => "slurmctld is killed, and starts again",
            Fault::NoTemporarySpace => "the disk for temporary files of a node is full",
            Fault::Step => "slurmstepd and a runner are killed",
            Fault::NoSpaceForRows => "a runner cannot write its rows: the disk is full",
            Fault::Node => "slurmd is killed, and starts again",
            Fault::None => "none",
        }
    }

    /// Whether it needs a file system of each node.
    pub fn needs_mounts(self) -> bool {
        matches!(self, Fault::NoRunFolder | Fault::NoTemporarySpace)
    }

    /// Prepares a run for it.
    pub fn prepare(self, cluster: &Cluster, sandbox: &Sandbox) {
        let folder = sandbox.path("").display().to_string();
        match self {
            Fault::MemoryLimit => {
                let file = format!("{folder}allocate-${{SLURM_ARRAY_JOB_ID}}_$SLURM_ARRAY_TASK_ID");
                let waiting = format!("while kill -0 $$ && [[ ! -e {file} ]]; do sleep 0.1; done");
                let allocating = format!("({waiting}; rm {file} && exec tail -c 1500M < <(cat /dev/zero))");
                // The runner ends what is below it, so it gets a shell beside this process.
                let running = "within=1 bash \"$0\" \"$@\" & wait $!; exit $?";
                set_up(
                    sandbox,
                    &[format!("[[ ${{within:-}} ]] || {{ {allocating} >/dev/null 2>&1 & {running}; }}")],
                );
            }
            // Writing beyond a limit is then an error, as on a full disk, and no signal.
            Fault::NoSpaceForRows => set_up(sandbox, &["trap '' XFSZ".to_owned()]),
            Fault::NoTemporarySpace => {
                let temporary = sandbox.path("tmp");
                fs::create_dir_all(&temporary).expect("a folder");
                set_up(sandbox, &[format!("export TMPDIR={}", temporary.display())]);
                for node in ["n1", "n2"] {
                    on_node(
                        cluster,
                        node,
                        &format!("mount -t tmpfs -o size=512m none {}", temporary.display()),
                    );
                }
            }
            _ => {}
        }
    }
}

/// Starts a daemon again that was killed, after a while without it.
fn restart(cluster: &Cluster, daemon: &str, program: &Path, arguments: &[&str]) {
    signal("-KILL", &cluster.daemon(daemon).into_iter().collect::<Vec<_>>());
    thread::sleep(Duration::from_secs(2));
    let started = Command::new(program).args(arguments).stdin(Stdio::null()).status();
    assert!(started.is_ok_and(|status| status.success()), "{daemon} starts");
}

/// Runs a command of the shell with the file systems of a node.
fn on_node(cluster: &Cluster, node: &str, command: &str) {
    let daemon = cluster.daemon(&format!("slurmd-{node}")).expect("the node's daemon");
    let mut entered = Command::new("nsenter");
    entered.args(["--mount", "--target", &daemon.to_string(), "bash", "-c", command]);
    let status = entered.status();
    assert!(status.is_ok_and(|status| status.success()), "{command}");
}

/// Holds the workers of a job for as long as it runs, as if its case had no end. Slurm looks at times every half a minute.
fn hold(cluster: &Cluster, runner: &Runner) {
    let begun = Clock::now();
    while shell(&format!("squeue -h -j {} -o %T", runner.job)) == "RUNNING" && begun.elapsed() < PATIENCE {
        signal("-STOP", &workers(cluster, runner.process));
        thread::sleep(Duration::from_millis(100));
    }
    signal("-CONT", &workers(cluster, runner.process));
}

/// Lets a fault happen to a run that is in progress. Gives the instant of the attempt that it happens to, or of any that runs
/// where it happens to none alone.
pub fn strike(fault: Fault, cluster: &Cluster, sandbox: &Sandbox, front: &mut Child, choice: u64) -> Instant {
    let all = runners(cluster, &sandbox.path("reports"));
    let target = all.get(choice as usize % all.len().max(1));
    let process = target.map(|runner| runner.process);
    let any = if choice.is_multiple_of(2) { "n1" } else { "n2" };
    let node = target.map_or(any, |runner| &runner.node);
    let parts = Parts::read(sandbox);
    let none = if parts.started() == 0 { Instant::BeforeStart } else { Instant::AfterLast };
    let instant = target.map_or(none, |runner| parts.instant(&runner.attempt));
    match (fault, target) {
        (Fault::None, _) => {}
        (Fault::Runner, _) => signal("-KILL", process.as_slice()),
        (Fault::Worker, _) => process.iter().for_each(|runner| signal("-KILL", &workers(cluster, *runner))),
        (Fault::Step, Some(runner)) => {
            let steps = processes(cluster, "slurmstepd").into_iter();
            let step = steps.filter(|step| line_of(runner.process).any(|above| above == *step));
            signal("-KILL", &step.chain([runner.process]).collect::<Vec<_>>());
        }
        (Fault::Front, _) => drop(front.kill()),
        (Fault::Node, _) => {
            restart(cluster, &format!("slurmd-{node}"), &cluster.folder.join("start-node"), &[node]);
        }
        (Fault::Controller, _) => restart(cluster, "slurmctld", Path::new("slurmctld"), &[]),
        (Fault::Cancelled, Some(runner)) => drop(shell(&format!("scancel {}", runner.job))),
        (Fault::Cancelled, None) => drop(shell("scancel $(squeue -h -r --me -o %i | tail -n 1)")),
        (Fault::TimeLimit, Some(runner)) => {
            shell(&format!("scontrol update JobId={} EndTime=now", runner.job));
            hold(cluster, runner);
        }
        (Fault::MemoryLimit, Some(runner)) => {
            sandbox.write(&format!("allocate-{}", runner.job), "");
            hold(cluster, runner);
        }
        (Fault::NoSpaceForRows, Some(runner)) => {
            let part = format!("reports/slurm/latest/cluster/parts/{}.jsonl", runner.attempt);
            let size = fs::metadata(sandbox.path(&part)).map_or(0, |part| part.len());
            shell(&format!("prlimit --pid {} --fsize={size}:{size}", runner.process));
        }
        (Fault::NoRunFolder, _) => {
            on_node(
                cluster,
                node,
                &format!("mount -t tmpfs -o size=1m none {}", sandbox.path("reports").display()),
            );
        }
        (Fault::NoTemporarySpace, _) => {
            let file = sandbox.path("tmp/full");
            on_node(
                cluster,
                node,
                &format!("head -c 600M /dev/zero 2>/dev/null >{} || true", file.display()),
            );
        }
        (Fault::Preempted, _) => {
            let ask = "--partition=urgent --nodes=1 --exclusive --mem=900M --time=1 --output=/dev/null";
            shell(&format!("sbatch {ask} --wrap='sleep 1'"));
        }
        (Fault::Step | Fault::TimeLimit | Fault::MemoryLimit | Fault::NoSpaceForRows, None) => {}
    }
    instant
}

/// Does what an administrator does: a controller that was killed gives ids of jobs that it has forgotten once more, and Slurm
/// takes nodes out of use where such a job still runs.
pub fn return_nodes() {
    let nodes = "nodes=$(sinfo -h -N -t drain -o %N | sort -u | paste -sd ,)";
    shell(&format!("{nodes}; [[ -z $nodes ]] || scontrol update NodeName=$nodes State=RESUME"));
}

/// Takes away what a fault has left on the nodes: mounts, and jobs that Slurm has forgotten.
pub fn mend(fault: Fault, cluster: &Cluster, sandbox: &Sandbox) {
    if fault.needs_mounts() {
        for (node, folder) in [("n1", "tmp"), ("n2", "tmp"), ("n1", "reports"), ("n2", "reports")] {
            let folder = sandbox.path(folder).display().to_string();
            on_node(
                cluster,
                node,
                &format!("while mountpoint -q {folder}; do umount --lazy {folder} || exit; done"),
            );
        }
    }
    if fault == Fault::Controller {
        // Slurm gives the ids of jobs that it has forgotten again, and the nodes refuse them: others take these ids.
        let some = "for _ in {1..12}; do sbatch --parsable --hold --output=/dev/null --wrap=true; done";
        shell(&format!("scancel $({some})"));
    }
    let begun = Clock::now();
    while !processes(cluster, "slurmstepd").is_empty() && begun.elapsed() < PATIENCE {
        thread::sleep(Duration::from_millis(50));
    }
    return_nodes();
}
