//! What a front costs: its seconds, the memory of its process and the bytes that it reads, over the files of a run.
//!
//! ```sh
//! GPBENCH_FRONT_TASKS=2500 cargo nextest run --release -p gpbench-cluster --lib \
//!     what_a_front_costs --no-capture
//! ```
//!
//! `GPBENCH_FRONT_TASKS` is the number of tasks of four cases, 10 unless set; `GPBENCH_FRONT_ROW` is the bytes of a row, 4096 unless
//! set.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use gpbench_record::testing::{case, row};
use gpbench_record::{Attempt, Ending, NodePlace, PartLine, Row};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use super::world::{Shared, limits, manifest};
use crate::front::{Front, FrontRow, Policy, Submission};
use crate::ledger::LedgerLine;
use crate::manager::{Manager, Records};
use crate::part::{News, PartWriter};
use crate::scheduler::{Exit, TaskState};
use crate::store::{RunFiles, RunJournal};
use crate::{ClusterError, ClusterFolder};

/// Cases of a task.
const CASES: usize = 4;
/// Tasks that run at a time.
const NODES: usize = 200;

/// A journal.
struct Journal {
    file: File,
    rows: usize,
}

impl RunJournal for Journal {
    fn copy(&mut self, _: &Row, line: &[u8]) -> Result<(), ClusterError> {
        self.file.write_all(line).and_then(|()| self.file.write_all(b"\n")).unwrap();
        self.file.sync_data().unwrap();
        self.rows += 1;
        Ok(())
    }

    fn write(&mut self, row: &FrontRow) -> Result<(), ClusterError> {
        panic!("no case ends badly: {row:?}")
    }
}

/// The files of a run, beside a scheduler in memory that has to know what is prepared.
struct Files {
    store: RunFiles<Journal>,
    shared: Shared,
}

impl Records for Files {
    fn record(&mut self, line: &LedgerLine) -> Result<(), ClusterError> {
        self.store.record(line)
    }

    fn prepare(&mut self, submission: &Submission) -> Result<(), ClusterError> {
        let prepared = &mut self.shared.0.borrow_mut().prepared;
        prepared.insert(submission.number, submission.attempts.clone());
        self.store.prepare(submission)
    }

    fn news(&mut self, attempt: Attempt) -> Result<News, ClusterError> {
        self.store.news(attempt)
    }

    fn copy(&mut self, row: &Row, line: &[u8]) -> Result<(), ClusterError> {
        self.store.copy(row, line)
    }

    fn write(&mut self, row: &FrontRow) -> Result<(), ClusterError> {
        self.store.write(row)
    }
}

/// A runner, which writes its part file.
struct Runner {
    part: PartWriter,
    cases: VecDeque<String>,
    /// When the running case ends.
    until: i64,
}

struct Load {
    folder: ClusterFolder,
    shared: Shared,
    random: ChaCha8Rng,
    runners: BTreeMap<(u64, u32), Runner>,
    /// Bytes of a row.
    row: usize,
}

impl Load {
    /// A quarter of a minute: runners write, and tasks that wait begin on free nodes.
    fn tick(&mut self) {
        self.shared.0.borrow_mut().now += 15;
        for place in self.runners.keys().copied().collect::<Vec<_>>() {
            self.run(place);
        }
        let world = self.shared.0.borrow();
        let waiting = world.jobs.iter().filter(|(_, job)| job.task.state == TaskState::Pending);
        let free = NODES - self.runners.len();
        let waiting: Vec<_> = waiting.map(|(place, job)| (*place, job.attempt)).take(free).collect();
        drop(world);
        waiting.into_iter().for_each(|(place, attempt)| self.begin(place, attempt));
    }

    fn begin(&mut self, place: (u64, u32), attempt: Attempt) {
        let world = &mut *self.shared.0.borrow_mut();
        world.set(place, TaskState::Running, "None", Exit::default());
        let mut part = PartWriter::open(&self.folder.part(attempt)).unwrap();
        let begun = NodePlace {
            node: "n1".into(),
            job: place.0,
            attempt: attempt.attempt,
            shared: false,
            suspended_seconds: 0.0,
        };
        part.append(&PartLine::Begun { time: world.time().to_string(), place: begun }).unwrap();
        let number: u32 = world.arrays[place.0 as usize - 1].argument.parse().unwrap();
        let cases = world.prepared[&number][place.1 as usize].1.clone().into();
        self.runners.insert(place, Runner { part, cases, until: 0 });
    }

    fn run(&mut self, place: (u64, u32)) {
        let world = &mut *self.shared.0.borrow_mut();
        let (now, time) = (world.now, world.time().to_string());
        let runner = self.runners.get_mut(&place).unwrap();
        if now < runner.until {
            return runner.part.append(&PartLine::Beat { time, advanced: false }).unwrap();
        }
        if runner.until > 0 {
            let mut ended = row(case("cg"), &[]);
            ended.id = runner.cases.pop_front().unwrap();
            ended.reason = "x".repeat(self.row);
            runner.part.append(&PartLine::Case(Box::new(ended))).unwrap();
        }
        runner.until = now + self.random.random_range(15..400);
        match runner.cases.front() {
            Some(id) => runner.part.append(&PartLine::Started { time, id: id.clone() }).unwrap(),
            None => {
                let ended = PartLine::Ended { time, ending: Ending::Done, advanced: false };
                runner.part.append(&ended).unwrap();
                self.runners.remove(&place);
                world.set(place, TaskState::Completed, "None", Exit::default());
            }
        }
    }
}

/// A front over the files in a folder.
fn front(folder: &ClusterFolder, shared: &Shared, tasks: usize, journal: &Path) -> Manager<Shared, Files> {
    let ids = |task: usize| (0..CASES).map(|case| format!("{task}-{case}")).collect();
    let manifest = manifest(&(0..tasks).map(ids).collect::<Vec<Vec<String>>>());
    let journal = Journal { file: File::create(journal).unwrap(), rows: 0 };
    let (store, known) = RunFiles::open(folder.clone(), journal, false).unwrap();
    let (limits, now) = (limits(NODES as u32, 1001), shared.0.borrow().time());
    let (rows, policy) = (HashSet::new(), Policy::default());
    let front = Front::new(&manifest, limits, policy, rows, &known.ledger, &known.parts, now);
    Manager::new(front, shared.clone(), Files { store, shared: shared.clone() })
}

/// A number in a file of `/proc/self`: of a line that begins so.
fn own(file: &str, name: &str) -> u64 {
    let text = fs::read_to_string(Path::new("/proc/self").join(file)).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
    line.split_whitespace().next().and_then(|number| number.parse().ok()).unwrap_or_default()
}

/// A number from the environment.
fn setting(name: &str, default: usize) -> usize {
    std::env::var(name).map_or(default, |text| text.parse().expect("a number"))
}

#[test]
fn what_a_front_costs() {
    let tasks = setting("GPBENCH_FRONT_TASKS", 10);
    let run = tempfile::tempdir().unwrap();
    let (folder, journal) = (ClusterFolder::of(run.path()), run.path().join("journal.jsonl"));
    folder.create().unwrap();
    let shared = Shared::default();
    shared.0.borrow_mut().now = 1_000_000;
    let before = own("status", "VmHWM:");
    let mut manager = front(&folder, &shared, tasks, &journal);
    let (random, runners) = (ChaCha8Rng::seed_from_u64(1), BTreeMap::new());
    let row = setting("GPBENCH_FRONT_ROW", 4096);
    let mut load = Load { folder: folder.clone(), shared: shared.clone(), random, runners, row };
    let (mut times, mut bytes) = (Vec::new(), Vec::new());
    loop {
        load.tick();
        let now = shared.0.borrow().time();
        let (begun, read) = (Instant::now(), own("io", "rchar:"));
        let round = manager.round(now).unwrap();
        times.push(begun.elapsed());
        bytes.push(own("io", "rchar:") - read);
        if round.is_finished {
            break;
        }
    }
    assert_eq!(
        (manager.records.store.rows.rows, manager.front.summary().rows),
        (tasks * CASES, tasks * CASES)
    );
    let parts = fs::read_dir(folder.parts()).unwrap().map(|part| part.unwrap().metadata().unwrap().len());
    let (count, parts) = (times.len(), parts.sum::<u64>());
    let (seconds, longest) = (times.iter().sum::<Duration>(), times.iter().max().unwrap());
    eprintln!("{tasks} tasks of {CASES} cases on {NODES} nodes, {count} polls");
    eprintln!("seconds: {:.2} in all, {:.4} at most a poll", seconds.as_secs_f64(), longest.as_secs_f64());
    eprintln!(
        "bytes read: {} a poll, {} at most; {parts} in part files",
        bytes.iter().sum::<u64>() / count as u64,
        bytes.iter().max().unwrap()
    );
    eprintln!("peak memory: {} KiB, {before} KiB of them before the front began", own("status", "VmHWM:"));
    let begun = Instant::now();
    let mut again = front(&folder, &shared, tasks, &run.path().join("another.jsonl"));
    again.round(shared.0.borrow().time()).unwrap();
    assert_eq!(again.records.store.rows.rows, tasks * CASES, "all parts are read anew");
    eprintln!(
        "another front that reads all: {:.2} s, peak memory {} KiB",
        begun.elapsed().as_secs_f64(),
        own("status", "VmHWM:")
    );
}
