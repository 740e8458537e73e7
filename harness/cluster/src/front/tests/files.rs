//! A front over files: what it writes is what a later one reads.

use std::cell::RefCell;
use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::rc::Rc;

use gpbench_record::{Attempt, Ending, PartLine, Row};
use jiff::Timestamp;

use super::world::{Shared, case_line, limits, manifest};
use crate::front::{Front, FrontRow, Policy};
use crate::manager::{Manager, Records as _};
use crate::part::PartWriter;
use crate::scheduler::TaskState;
use crate::store::{RunFiles, RunJournal};
use crate::{ClusterError, ClusterFolder};

/// The id of a case and the bytes of its line.
type Line = (String, Vec<u8>);

/// Lines of a journal.
#[derive(Debug, Clone, Default)]
struct Lines(Rc<RefCell<Vec<Line>>>);

impl RunJournal for Lines {
    fn copy(&mut self, row: &Row, line: &[u8]) -> Result<(), ClusterError> {
        self.0.borrow_mut().push((row.id.clone(), line.to_owned()));
        Ok(())
    }

    fn write(&mut self, row: &FrontRow) -> Result<(), ClusterError> {
        self.0.borrow_mut().push((row.id.clone(), row.reason.clone().into_bytes()));
        Ok(())
    }
}

/// A front over the files of a run of one task with the cases `a` and `b`.
fn open(run: &Path, shared: &Shared, journal: &Lines) -> Manager<Shared, RunFiles<Lines>> {
    let (store, known) = RunFiles::open(ClusterFolder::of(run), journal.clone(), true).unwrap();
    let rows: HashSet<String> = journal.0.borrow().iter().map(|(id, _)| id.clone()).collect();
    let manifest = manifest(&[vec!["a".into(), "b".into()]]);
    let (policy, now) = (Policy::default(), Timestamp::UNIX_EPOCH);
    let front = Front::new(&manifest, limits(4, 100), policy, rows, &known.ledger, &known.parts, now);
    Manager::new(front, shared.clone(), store)
}

#[test]
fn a_front_goes_on_from_the_files_of_another() {
    let run = tempfile::tempdir().unwrap();
    let folder = ClusterFolder::of(run.path());
    folder.create().unwrap();
    let (shared, journal) = (Shared::default(), Lines::default());
    let (first, second) = (Attempt { task: 0, attempt: 1 }, Attempt { task: 0, attempt: 2 });
    // What the scheduler's side has to know of the two arrays.
    shared.0.borrow_mut().prepared.insert(1, vec![(first, vec!["a".into(), "b".into()])]);
    shared.0.borrow_mut().prepared.insert(2, vec![(second, vec!["b".into()])]);
    open(run.path(), &shared, &journal).round(Timestamp::UNIX_EPOCH).unwrap();
    assert_eq!(fs::read_to_string(folder.path().join("submissions/1.txt")).unwrap(), "0 1\n");
    // A runner adds a row and is interrupted, while no front is there.
    let mut writer = PartWriter::open(&folder.part(first)).unwrap();
    writer.append(&case_line("a")).unwrap();
    let time = Timestamp::UNIX_EPOCH.to_string();
    let ending = Ending::Signal { signal: 15 };
    writer.append(&PartLine::Ended { time, ending, advanced: false }).unwrap();
    shared.0.borrow_mut().jobs.get_mut(&(1, 0)).unwrap().task.state = TaskState::Failed;
    let mut manager = open(run.path(), &shared, &journal);
    assert_eq!(manager.round(Timestamp::UNIX_EPOCH).unwrap().rows, ["a"]);
    let line = journal.0.borrow()[0].1.clone();
    let part = fs::read(folder.part(first)).unwrap();
    assert!(part.split(|byte| *byte == b'\n').any(|found| found == line));
    let assigned = manager.records.news(second).unwrap().lines;
    let seconds = Some(4 * 3600);
    assert_eq!(assigned[0].line, PartLine::Assigned { attempt: second, cases: vec!["b".into()], seconds });
    // A third front knows the second attempt, and does not send another.
    let mut manager = open(run.path(), &shared, &journal);
    assert!(manager.round(Timestamp::UNIX_EPOCH).unwrap().rows.is_empty());
    assert_eq!(shared.0.borrow().arrays.len(), 2);
}
