use std::cell::RefCell;
use std::collections::VecDeque;

use gpbench_record::ResourceSettings as SiteAsk;

use super::*;
use crate::commands::Answer;
use crate::limits::{Node, ResourceRequest};
use crate::scheduler::Exit;

/// Gives recorded answers, in order, and keeps the commands.
#[derive(Debug, Default)]
struct Replay {
    answers: RefCell<VecDeque<Answer>>,
    asked: RefCell<Vec<String>>,
}

impl Commands for Replay {
    fn run(&self, program: &str, arguments: &[String], _: &[u8]) -> Result<Answer, NoAnswer> {
        self.asked.borrow_mut().push(format!("{program} {}", arguments.join(" ")));
        Ok(self.answers.borrow_mut().pop_front().expect("an answer"))
    }
}

fn slurm(answers: &[(i32, &str, &str)]) -> Slurm<Replay> {
    let answer = |(status, stdout, stderr): &(i32, &str, &str)| Answer {
        status: *status,
        stdout: (*stdout).into(),
        stderr: (*stderr).into(),
    };
    let commands =
        Replay { answers: RefCell::new(answers.iter().map(answer).collect()), ..Replay::default() };
    Slurm {
        commands,
        site: Site::default(),
        name: "gpbench-uci".into(),
        folder: "/run".into(),
        logs: "/run/cluster/logs".into(),
        script: "/run/cluster/job.sh".into(),
    }
}

fn array() -> Array {
    Array {
        comment: "uci.3".into(),
        count: 6,
        request: ResourceRequest { seconds: 90, memory_bytes: (1 << 30) + 1, threads: 4 },
        throttle: Some(3),
        excluded: vec!["n7".into(), "n8".into()],
        argument: "3".into(),
    }
}

#[test]
fn an_array_is_sent_with_all_that_it_asks_for() {
    let mut slurm = slurm(&[(0, "1234;cluster\n", "")]);
    slurm.site = Site {
        partition: Some("compute".into()),
        extra: vec!["--reservation=bench".into()],
        ask: SiteAsk { exclusive: false, ..SiteAsk::default() },
        ..Site::default()
    };
    assert_eq!(slurm.submit(&array()), Ok(1234));
    let expected = "sbatch --parsable --no-requeue --open-mode=append --signal=B:USR1@120 --array=0-5%3 \
                    --comment=uci.3 --chdir=/run --output=/run/cluster/logs/%A_%a.log --job-name=gpbench-uci \
                    --time=2 --mem=1025M --nodes=1 --ntasks=1 --cpus-per-task=4 --hint=nomultithread \
                    --exclude=n7,n8 --partition=compute --reservation=bench /run/cluster/job.sh 3";
    assert_eq!(*slurm.commands.asked.borrow(), [expected]);
}

#[test]
fn tasks_of_the_queue_are_read() {
    let slurm = slurm(&[(
        0,
        "1|0|FAILED|NonZeroExitCode|n1|768|a.b|\n1|1|FAILED|JobLaunchFailure|n2|9|a.b|\n\
         2|N/A|RUNNING|None|n1|0|(null)|\n3|12|PENDING|launch failed requeued held||0|a.c|\n",
        "",
    )]);
    let tasks = slurm.poll().unwrap();
    assert_eq!(tasks.len(), 3);
    assert_eq!((tasks[0].job, tasks[0].index, &tasks[0].state), (1, 0, &TaskState::Failed));
    assert_eq!(tasks[0].exit, Exit { status: 3, signal: 0 });
    assert_eq!(tasks[1].exit, Exit { status: 0, signal: 9 });
    assert_eq!((tasks[1].node.as_str(), tasks[1].reason.as_str()), ("n2", "JobLaunchFailure"));
    assert_eq!((tasks[2].node.as_str(), tasks[2].comment.as_str()), ("", "a.c"));
    assert_eq!(tasks[2].reason, "launch failed requeued held");
}

#[test]
fn limits_are_those_of_the_partition() {
    let config = (0, "Configuration data as of now\nMaxArraySize            = 11\n", "");
    let sinfo = "main*|n1|4000|2|1:00:00\nmain*|n2|8000+|4|1:00:00\nlong|n1|4000|2|2-00:00:00\n";
    let limits = slurm(&[config, (0, sinfo, "")]).limits().unwrap();
    let node =
        |name: &str, mib: u64, processors| Node { name: name.into(), memory_bytes: mib << 20, processors };
    assert_eq!(limits.array_size, 11);
    assert_eq!(limits.seconds, Some(3600));
    assert_eq!(limits.nodes, [node("n1", 4000, 2), node("n2", 8000, 4)]);
    let mut named = slurm(&[config, (0, "long|n1|4000|2|2-01:00:00\n", "")]);
    named.site.partition = Some("long".into());
    assert_eq!(named.limits().unwrap().seconds, Some(49 * 3600));
    assert!(named.commands.asked.borrow()[1].ends_with("--partition=long"));
    let unlimited = slurm(&[config, (0, "main*|n1|4000|2|infinite\n", "")]);
    assert_eq!(unlimited.limits().unwrap().seconds, None);
    let error = slurm(&[config, (0, "long|n1|4000|2|infinite\n", "")]).limits().unwrap_err();
    assert!(error.to_string().contains("name one as `partition`"), "{error}");
}

#[test]
fn errors_tell_the_command_and_whether_they_may_pass() {
    let away =
        "sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)";
    let full = "sbatch: error: QOSMaxSubmitJobPerUserLimit\nsbatch: error: Batch job submission failed: Job \
                violates accounting/QOS policy (job submit limit, user's size and/or time limits)";
    let bad = "sbatch: error: invalid partition specified: nope";
    for (stderr, kind) in [(away, Trouble::Passing), (full, Trouble::Full), (bad, Trouble::Lasting)] {
        let error = slurm(&[(1, "", stderr)]).submit(&array()).unwrap_err();
        assert_eq!(error.kind, kind, "{stderr}");
        let text = error.to_string();
        assert!(text.starts_with("`sbatch --parsable"), "{text}");
        assert!(text.contains("ended with status 1: sbatch: error:"), "{text}");
    }
    let error = slurm(&[(0, "nonsense", "")]).submit(&array()).unwrap_err();
    assert!(error.may_pass() && error.said.contains("instead of a job id"), "{error}");
    let odd = slurm(&[(1, "", "slurm_load_jobs error: something new")]).poll().unwrap_err();
    assert!(odd.may_pass(), "{odd}");
    let error = slurm(&[(0, "1|2|3\n", "")]).poll().unwrap_err();
    assert_eq!(error.to_string(), "`squeue` printed `1|2|3`, which is not a task");
}

#[test]
fn the_waiting_tasks_of_an_array_are_ended_first() {
    let slurm = slurm(&[(0, "", ""), (0, "", ""), (0, "", "")]);
    slurm.cancel(&[CancelTarget::Array(5), CancelTarget::Array(6)]).unwrap();
    slurm.cancel(&[CancelTarget::Task(5, 3)]).unwrap();
    slurm.cancel(&[]).unwrap();
    let asked = slurm.commands.asked.borrow();
    assert_eq!(*asked, ["scancel --state=PENDING 5 6", "scancel 5 6", "scancel 5_3"]);
}
