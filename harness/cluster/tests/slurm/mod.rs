//! A front beside a real Slurm, which `ci/slurm` starts:
//!
//! ```sh
//! ci/slurm cargo nextest run --release -p gpbench-cluster --test main
//! ```
//!
//! Skipped where `ci/slurm` has started nothing.

mod run;

use std::time::{Duration, Instant};

use gpbench_cluster::{Array, ResourceRequest, Scheduler};
use jiff::Timestamp;

use self::run::{Run, cluster, manifest, shell};

#[test]
fn thirty_tasks_run_in_three_arrays() {
    let Some(slurm) = cluster("thirty_tasks_run_in_three_arrays") else { return };
    let ids: Vec<[String; 2]> = (10..40).map(|k| [format!("a{k}"), format!("b{k}")]).collect();
    let tasks: Vec<Vec<&str>> = ids.iter().map(|pair| pair.iter().map(String::as_str).collect()).collect();
    let tasks: Vec<&[&str]> = tasks.iter().map(Vec::as_slice).collect();
    let mut run = Run::new(slurm, &tasks);
    assert_eq!(run.limits.array_size, 11);
    run.finish();
    let mut all = ids.concat();
    all.sort();
    assert_eq!(run.copied(), all);
    assert_eq!((run.jobs(), run.summary().duplicates), (3, 0));
}

#[test]
fn limits_are_known_and_what_exceeds_them_is_refused_before_it_is_sent() {
    let Some(slurm) = cluster("limits_are_known") else { return };
    let run = Run::new(slurm, &[&["a"]]);
    let nodes: Vec<_> = run.limits.nodes.iter().map(|node| (node.name.as_str(), node.processors)).collect();
    assert_eq!((run.limits.seconds, nodes), (Some(3600), vec![("n1", 2), ("n2", 2)]));
    let mut task = manifest(&[&["a"]], run.folder.path()).tasks;
    task[0].seconds = 3601;
    let error = run.limits.check(&task).unwrap_err();
    assert!(
        error.to_string().starts_with("task 0 asks for 61 min and the partition allows 60 min"),
        "{error}"
    );
    let mut array = Array {
        comment: "test".into(),
        count: 3,
        request: ResourceRequest { seconds: 600, memory_bytes: 1 << 30, threads: 1 },
        throttle: None,
        excluded: Vec::new(),
        argument: "1".into(),
    };
    run.manager.scheduler.test(&array).unwrap();
    array.request.memory_bytes = 100 << 30;
    // Slurm says the same where all nodes are down for a while. Its limits tell them apart.
    let error = run.manager.scheduler.test(&array).unwrap_err();
    assert!(error.may_pass() && error.said.contains("Requested node configuration"), "{error}");
    (task[0].seconds, task[0].memory_bytes) = (600, 100 << 30);
    let error = run.limits.check(&task).unwrap_err();
    assert!(error.to_string().starts_with("task 0 asks for 100.0 GiB of memory"), "{error}");
    assert_eq!(run.queue(), [""; 0]);
}

#[test]
fn killed_cancelled_and_preempted_tasks() {
    let Some(slurm) = cluster("killed_cancelled_and_preempted_tasks") else { return };
    let mut run = Run::new(slurm, &[&["die", "z"], &["wait-a"], &["wait-b"]]);
    run.process_of("wait-a");
    run.process_of("wait-b");
    // Somebody else cancels one of them.
    let of_a = run.manager.scheduler.poll().unwrap();
    let of_a = of_a.iter().find(|task| task.index == 1).unwrap();
    shell(&format!("scancel {}_{}", of_a.job, of_a.index));
    run.until("withdrawal", |run| run.summary().given_up.len() == 1);
    // A more important job takes both nodes.
    let urgent = shell("sbatch --parsable -p urgent -N 2 --exclusive --output=/dev/null --wrap 'sleep 3'");
    run.until("preemption", |run| run.queue().iter().any(|task| task.starts_with("PREEMPTED")));
    shell(&format!("while squeue -h -j {urgent} -t R,PD | grep -q .; do sleep 0.2; done"));
    run.go();
    run.finish();
    assert_eq!(run.copied(), ["wait-b", "z"]);
    assert_eq!(run.manager.records.rows.written, ["die crashed: killed three times (signal 9)"]);
    assert_eq!(run.summary().left, ["wait-a"]);
}

#[test]
fn the_user_ends_a_run() {
    let Some(slurm) = cluster("the_user_ends_a_run") else { return };
    let mut run =
        Run::new(slurm, &[&["wait-a"], &["wait-b"], &["wait-c"], &["wait-d"], &["wait-e"], &["wait-f"]]);
    run.process_of("wait-a");
    run.manager.front.end();
    run.finish();
    assert!(run.queue().iter().all(|task| task.starts_with("CANCELLED")), "{:?}", run.queue());
    assert!(run.copied().is_empty() && run.summary().left.is_empty());
}

#[test]
fn a_task_whose_step_is_dead_runs_again() {
    let Some(slurm) = cluster("a_task_whose_step_is_dead_runs_again") else { return };
    let mut run = Run::new(slurm, &[&["wait-a", "b"]]);
    let process = run.process_of("wait-a");
    // The scheduler goes on to say that it runs.
    let step = shell(&format!("ps -o ppid= -p {process}"));
    shell(&format!("kill -KILL {step} {process}"));
    run.go();
    run.finish();
    assert_eq!(run.copied(), ["b", "wait-a"]);
    assert_eq!(run.summary().duplicates, 0);
}

#[test]
fn copies_outlive_their_node() {
    let Some(slurm) = cluster("copies_outlive_their_node") else { return };
    let mut run = Run::new(slurm, &[&["wait-a"], &["wait-b"], &["wait-c"], &["wait-d"]]);
    for id in ["wait-a", "wait-b", "wait-c", "wait-d"] {
        run.process_of(id);
    }
    run.stop("slurmd-n2", "KILL");
    run.until("failure of the node", |run| run.queue().iter().any(|task| task.starts_with("NODE_FAIL")));
    // Each copy still lives, so none was sent again.
    run.go();
    run.finish();
    shell("$GPBENCH_SLURM/start-node n2");
    assert_eq!(run.copied(), ["wait-a", "wait-b", "wait-c", "wait-d"]);
    assert_eq!((run.jobs(), run.summary().duplicates), (1, 0));
    shell("until [[ $(sinfo -h -N -p main -o %t | sort -u) == idle ]]; do sleep 0.5; done");
}

#[test]
fn a_run_outlives_the_controller() {
    let Some(slurm) = cluster("a_run_outlives_the_controller") else { return };
    let mut run = Run::new(slurm, &[&["wait-a"], &["wait-b"]]);
    for id in ["wait-a", "wait-b"] {
        run.process_of(id);
    }
    run.stop("slurmctld", "TERM");
    let round = run.manager.round(Timestamp::now()).unwrap();
    assert!(round.notes.iter().any(|note| note.contains("Unable to contact slurm controller")), "{round:?}");
    run.go();
    run.until("rows", |run| run.copied().len() == 2);
    shell("slurmctld; until scontrol ping >/dev/null; do sleep 0.2; done");
    run.finish();
    assert_eq!((run.jobs(), run.summary().duplicates), (1, 0));
}

#[test]
fn each_case_has_one_row_or_is_left_whatever_fails() {
    let Some(slurm) = cluster("each_case_has_one_row_or_is_left_whatever_fails") else { return };
    let ids: Vec<Vec<String>> =
        (0..8).map(|task| (0..6).map(|case| format!("slow-{task}-{case}")).collect()).collect();
    let tasks: Vec<Vec<&str>> = ids.iter().map(|ids| ids.iter().map(String::as_str).collect()).collect();
    let tasks: Vec<&[&str]> = tasks.iter().map(Vec::as_slice).collect();
    let mut run = Run::new(slurm, &tasks);
    run.process_of("slow-0-0");
    // The newest runner.
    let runner = format!("pid=$(cat $(ls -t {}/pid-* | head -n 1))", run.folder.path().display());
    let restart = "until scontrol ping >/dev/null; do sleep 0.2; done";
    let faults = [
        format!("{runner}; kill -TERM $pid || true"),
        format!("{runner}; kill -KILL $(ps -o ppid= -p $pid) $pid || true"),
        "sbatch -p urgent -N 1 --exclusive --output=/dev/null --wrap 'sleep 1'".to_owned(),
        format!("{runner}; kill -KILL $pid || true"),
        format!(
            "scontrol requeue $(squeue -h -t R -n {} -o %A | head -n 1) || true",
            run.manager.scheduler.name
        ),
        format!("kill -KILL $(cat {}/run/slurmctld.pid); slurmctld; {restart}", run.slurm.display()),
    ];
    for fault in faults {
        shell(&fault);
        let later = Instant::now() + Duration::from_secs(2);
        run.until("second", |_| Instant::now() > later);
        run.restart();
    }
    run.finish();
    let rows = &run.manager.records.rows;
    assert_eq!(rows.copied.len() + rows.written.len(), rows.ids().len(), "each row once");
    let mut ended: Vec<String> = rows.ids().into_iter().chain(run.summary().left).collect();
    ended.sort();
    assert_eq!(ended, ids.concat());
    eprintln!("{} arrays, {} copied, {:?}", run.jobs(), run.copied().len(), run.summary());
}
