//! Bounds of cases, training that is interrupted, and runners that share a node.

use std::fs;
use std::process::{Child, Stdio};

use super::cluster::{Cluster, RUN, by_id, expected, journal, sandbox, sandbox_of, set_up, shell, until};
use super::parts::Parts;
use crate::support::zoo::{self, Task, act, by_solver, unmet};
use crate::support::{Sandbox, spec};

fn with(sandbox: &Sandbox, options: &[&str]) -> Child {
    let arguments = [&RUN[..], options].concat();
    sandbox.command(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("gpbench")
}

#[test]
fn bounds_of_cases_are_ours_and_not_those_of_slurm() {
    let Some(_cluster) = Cluster::of("bounds_of_cases_are_ours_and_not_those_of_slurm") else { return };
    // What the job leaves to cases bounds the last one: 900 MiB, less 256 MiB for the runner.
    let unbounded = ("unbounded".to_owned(), act("allocate", true).1 + "\nbudget.memory = \"100GiB\"");
    let acts = [act("allocate", false), act("hang", true), act("burn_in_child", false), unbounded];
    let sandbox = sandbox_of(&zoo::spec(Task::Posterior, &acts).replace("\"zoo\"", "\"slurm\""));
    let options = ["--kill-after", "20", "--cpu-limit", "3s"];
    assert_eq!(with(&sandbox, &options).wait().expect("a child").code(), Some(1));
    let cases = sandbox.cases();
    let expectations = [
        ("cg", "ok", ""),
        ("cholesky", "ok", ""),
        ("allocate", "out_of_memory", "killed"),
        ("hang", "timeout", "killed"),
        ("burn_in_child", "timeout", "used 3 s of processor time"),
        ("unbounded", "out_of_memory", "killed"),
    ];
    let wrong = unmet(&by_solver(&cases), &expectations);
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(cases.iter().all(|case| !case["reason"].to_string().contains("Slurm")));
    // The runner outlived all of them: no task was sent again.
    let parts = Parts::read(&sandbox);
    assert_eq!((parts.attempts(), parts.duplicates()), (1, 0));
    assert!(parts.last("ended").values().all(|line| line["why"] == "done"));
}

#[test]
fn training_that_is_preempted_gives_the_same_bits() {
    let Some(_cluster) = Cluster::of("training_that_is_preempted_gives_the_same_bits") else { return };
    let text = spec(
        "slurm",
        &[
            ("\"posterior\"", "\"train\""),
            ("n = 60", "n = 1000"),
            ("[\"cholesky\", \"cg\"]", "[\"cg\"]"),
            ("{ signal_scale = 1.0, noise_scale = 0.1, length_scale = 1.0 }", "\"ones\""),
            ("[budget]", "[train]\nsteps = 30\n\n[budget]"),
        ],
    );
    let local = sandbox_of(&text);
    local.run(&["run", "spec.toml", "-t", "1"]).exits(0);
    let sandbox = sandbox_of(&text);
    let mut front = with(&sandbox, &[]);
    let checkpoints = sandbox.path("reports/slurm/latest/checkpoints");
    until("a checkpoint", || fs::read_dir(&checkpoints).is_ok_and(|files| files.count() > 0));
    let ask = "--partition=urgent --nodes=2 --exclusive --mem=900M --time=1 --output=/dev/null";
    shell(&format!("sbatch {ask} --wrap='sleep 1'"));
    assert!(front.wait().expect("a child").success());
    assert_eq!(Parts::read(&sandbox).attempts(), 2, "it was preempted");
    assert_eq!(by_id(&sandbox), by_id(&local));
    assert_eq!(journal(&sandbox).len(), 1);
}

#[test]
fn two_runners_of_a_run_share_a_node() {
    let Some(_cluster) = Cluster::of("two_runners_of_a_run_share_a_node") else { return };
    let sandbox = sandbox(60);
    // No task begins before another one does on the same node.
    let folder = sandbox.path("begun").display().to_string();
    fs::create_dir(&folder).expect("a folder");
    let begin = format!("touch {folder}/$SLURM_JOB_ID");
    let wait = format!("until [[ $(ls {folder} | wc -l) -ge 2 ]]; do sleep 0.1; done");
    set_up(&sandbox, &[begin, wait]);
    let node = ["--set", "slurm.site.extra=[\"--nodelist=n1\"]"];
    assert!(with(&sandbox, &node).wait().expect("a child").success());
    assert_eq!(by_id(&sandbox), expected(60));
    let parts = Parts::read(&sandbox);
    assert_eq!((parts.attempts(), parts.duplicates(), journal(&sandbox).len()), (4, 0, 8));
    assert!(parts.last("begun").values().all(|line| line["place"]["node"] == "n1"));
}
