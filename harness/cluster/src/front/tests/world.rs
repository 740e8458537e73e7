//! A cluster in memory: its scheduler, its part files, and the journal and the ledger of one run.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::rc::Rc;

use gpbench_record::testing::{case, row};
use gpbench_record::{
    Attempt, CaseStatus, ClusterTask, Environment, Manifest, NodeOptions, NodePlace, PartLine, Row, SCHEMA,
    Site,
};
use jiff::Timestamp;

use crate::ClusterError;
use crate::front::{FrontRow, Submission};
use crate::ledger::LedgerLine;
use crate::limits::{ClusterLimits, Node};
use crate::manager::Records;
use crate::part::{NewLine, News};
use crate::scheduler::{Array, CancelTarget, Exit, JobTask, Scheduler, SchedulerError, TaskState, Trouble};

/// A task in the queue.
#[derive(Debug, Clone)]
pub(super) struct Job {
    pub(super) attempt: Attempt,
    pub(super) task: JobTask,
    /// Whether the scheduler knows it no more.
    pub(super) is_forgotten: bool,
}

/// What the scheduler does with the next array.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Answer {
    /// It refuses.
    Refuses(Trouble),
    /// It accepts, and its answer is lost.
    AcceptsSilently,
}

#[derive(Debug, Default)]
pub(super) struct World {
    /// Seconds.
    pub(super) now: i64,
    pub(super) jobs: BTreeMap<(u64, u32), Job>,
    pub(super) arrays: Vec<Array>,
    pub(super) cancelled: Vec<CancelTarget>,
    pub(super) prepared: HashMap<u32, Vec<(Attempt, Vec<String>)>>,
    /// Lines of the part files, each with the time from which on the front sees it, and how many it has read.
    pub(super) parts: HashMap<Attempt, (Vec<(i64, NewLine)>, usize)>,
    pub(super) ledger: Vec<LedgerLine>,
    /// Ids of the rows, in order; with status and reason for those that the front wrote.
    pub(super) journal: Vec<(String, Option<(CaseStatus, String)>)>,
    pub(super) is_away: bool,
    pub(super) answers: VecDeque<Answer>,
    last_job: u64,
}

impl World {
    /// The time.
    pub(super) fn time(&self) -> Timestamp {
        Timestamp::from_second(self.now).unwrap()
    }

    /// Appends a line to a part file. The front sees it so many seconds later.
    pub(super) fn tell(&mut self, attempt: Attempt, line: PartLine, delay: i64) {
        let bytes = match &line {
            PartLine::Case(row) => row.id.clone().into_bytes(),
            _ => Vec::new(),
        };
        let visible = self.now + delay;
        self.parts.entry(attempt).or_default().0.push((visible, NewLine { line, bytes }));
    }

    /// The newest attempt at a task, by its place in the queue.
    pub(super) fn place(&self, task: u32) -> (u64, u32) {
        let of_task = self.jobs.iter().filter(|(_, job)| job.attempt.task == task);
        *of_task.max_by_key(|(_, job)| job.attempt).expect("it was sent").0
    }

    pub(super) fn set(&mut self, place: (u64, u32), state: TaskState, reason: &str, exit: Exit) {
        let task = &mut self.jobs.get_mut(&place).unwrap().task;
        (task.state, task.reason, task.exit) = (state, reason.to_owned(), exit);
    }

    /// A task begins on a node.
    pub(super) fn begin(&mut self, place: (u64, u32), node: &str, delay: i64) {
        self.set(place, TaskState::Running, "None", Exit::default());
        let job = self.jobs.get_mut(&place).unwrap();
        job.task.node = node.to_owned();
        let attempt = job.attempt;
        let place = NodePlace {
            node: node.to_owned(),
            job: place.0,
            attempt: attempt.attempt,
            shared: false,
            suspended_seconds: 0.0,
        };
        self.tell(attempt, PartLine::Begun { time: self.time().to_string(), place }, delay);
    }

    /// Rows that the front has not written.
    pub(super) fn rows(&self) -> HashSet<String> {
        self.journal.iter().map(|(id, _)| id.clone()).collect()
    }

    fn error(kind: Trouble) -> SchedulerError {
        SchedulerError { command: "sbatch".into(), said: "said no".into(), kind }
    }

    fn accept(&mut self, array: &Array) -> u64 {
        self.last_job += 1;
        let number: u32 = array.argument.parse().unwrap();
        let attempts = self.prepared[&number].clone();
        assert_eq!(attempts.len(), array.count as usize);
        for (index, (attempt, _)) in (0..).zip(attempts) {
            let task = JobTask {
                job: self.last_job,
                index,
                state: TaskState::Pending,
                reason: "Priority".into(),
                node: String::new(),
                exit: Exit::default(),
                comment: array.comment.clone(),
            };
            self.jobs.insert((self.last_job, index), Job { attempt, task, is_forgotten: false });
        }
        self.last_job
    }
}

/// Both sides of the world: the scheduler and the files.
#[derive(Debug, Clone, Default)]
pub(super) struct Shared(pub(super) Rc<RefCell<World>>);

impl Scheduler for Shared {
    fn limits(&self) -> Result<ClusterLimits, SchedulerError> {
        Ok(limits(4, 100))
    }

    fn test(&self, _: &Array) -> Result<(), SchedulerError> {
        Ok(())
    }

    fn submit(&self, array: &Array) -> Result<u64, SchedulerError> {
        let world = &mut *self.0.borrow_mut();
        match world.answers.pop_front() {
            Some(Answer::Refuses(trouble)) => return Err(World::error(trouble)),
            Some(Answer::AcceptsSilently) => {
                world.arrays.push(array.clone());
                world.accept(array);
                return Err(World::error(Trouble::Passing));
            }
            None if world.is_away => return Err(World::error(Trouble::Passing)),
            None => {}
        }
        world.arrays.push(array.clone());
        Ok(world.accept(array))
    }

    fn poll(&self) -> Result<Vec<JobTask>, SchedulerError> {
        let world = self.0.borrow();
        if world.is_away {
            return Err(World::error(Trouble::Passing));
        }
        let known = world.jobs.values().filter(|job| !job.is_forgotten);
        Ok(known.map(|job| job.task.clone()).collect())
    }

    fn cancel(&self, targets: &[CancelTarget]) -> Result<(), SchedulerError> {
        let world = &mut *self.0.borrow_mut();
        if world.is_away {
            return Err(World::error(Trouble::Passing));
        }
        world.cancelled.extend(targets);
        for ((job, index), found) in &mut world.jobs {
            let is_meant = targets.iter().any(|target| match target {
                CancelTarget::Array(array) => array == job,
                CancelTarget::Task(array, place) => (array, place) == (job, index),
            });
            if is_meant && !found.task.state.is_over() {
                found.task.state = TaskState::Cancelled;
            }
        }
        Ok(())
    }
}

impl Records for Shared {
    fn record(&mut self, line: &LedgerLine) -> Result<(), ClusterError> {
        self.0.borrow_mut().ledger.push(line.clone());
        Ok(())
    }

    fn prepare(&mut self, submission: &Submission) -> Result<(), ClusterError> {
        let mut world = self.0.borrow_mut();
        for (attempt, cases) in &submission.attempts {
            assert!(!world.parts.contains_key(attempt), "{attempt} is used twice");
            let seconds = Some(submission.array.request.seconds);
            let assigned = PartLine::Assigned { attempt: *attempt, cases: cases.clone(), seconds };
            world.tell(*attempt, assigned, 0);
        }
        world.prepared.insert(submission.number, submission.attempts.clone());
        Ok(())
    }

    fn news(&mut self, attempt: Attempt) -> Result<News, ClusterError> {
        let world = &mut *self.0.borrow_mut();
        let Some((lines, read)) = world.parts.get_mut(&attempt) else { return Ok(News::default()) };
        let now = world.now;
        let new: Vec<NewLine> = lines[*read..]
            .iter()
            .take_while(|(time, _)| *time <= now)
            .map(|(_, line)| line.clone())
            .collect();
        *read += new.len();
        Ok(News { lines: new, damaged: Vec::new() })
    }

    fn copy(&mut self, row: &Row, line: &[u8]) -> Result<(), ClusterError> {
        assert_eq!(row.id.as_bytes(), line);
        self.0.borrow_mut().journal.push((row.id.clone(), None));
        Ok(())
    }

    fn write(&mut self, row: &FrontRow) -> Result<(), ClusterError> {
        let outcome = Some((row.status, row.reason.clone()));
        self.0.borrow_mut().journal.push((row.id.clone(), outcome));
        Ok(())
    }
}

pub(super) fn limits(nodes: u32, array_size: u32) -> ClusterLimits {
    let node = |k| Node { name: format!("n{k}"), memory_bytes: 64 << 30, processors: 16 };
    ClusterLimits { array_size, seconds: None, nodes: (1..=nodes).map(node).collect() }
}

/// A run with these cases in each task, which ask for four hours and 32 GiB.
pub(super) fn manifest(tasks: &[Vec<String>]) -> Manifest {
    let task = |cases: &Vec<String>| ClusterTask {
        cases: cases.clone(),
        seconds: 4 * 3600,
        memory_bytes: 32 << 30,
        threads: 8,
    };
    Manifest {
        schema: SCHEMA,
        run: "uci".into(),
        runner: "/gpbench-node".into(),
        worker: "/gpbench-worker".into(),
        started_in: Environment::default(),
        cases: BTreeMap::new(),
        libraries: Vec::new(),
        options: NodeOptions::default(),
        tasks: tasks.iter().map(task).collect(),
        site: Site::default(),
    }
}

/// The line of a case.
pub(super) fn case_line(id: &str) -> PartLine {
    let mut row = row(case("cg"), &[]);
    row.id = id.to_owned();
    PartLine::Case(Box::new(row))
}
