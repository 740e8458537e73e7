//! A front over files: what it writes is what a later one reads.

use std::cell::RefCell;
use std::collections::HashSet;
use std::fs;
use std::rc::Rc;

use gpbench_record::{Attempt, Ending, PartLine};
use jiff::Timestamp;

use super::world::{Shared, case_line, limits, manifest};
use crate::front::{Front, FrontRow, Policy};
use crate::manager::{Manager, Records as _};
use crate::part::PartWriter;
use crate::store::{Rows, Store};
use crate::{ClusterError, ClusterFolder};

/// Lines of a journal.
#[derive(Debug, Clone, Default)]
struct Lines(Rc<RefCell<Vec<(String, Vec<u8>)>>>);

impl Rows for Lines {
    fn copy(&mut self, id: &str, line: &[u8]) -> Result<(), ClusterError> {
        self.0.borrow_mut().push((id.to_owned(), line.to_owned()));
        Ok(())
    }

    fn write(&mut self, row: &FrontRow) -> Result<(), ClusterError> {
        self.copy(&row.id, row.reason.as_bytes())
    }
}

#[test]
fn a_front_goes_on_from_the_files_of_another() {
    let run = tempfile::tempdir().unwrap();
    let folder = ClusterFolder::of(run.path());
    folder.create().unwrap();
    let manifest = manifest(&[vec!["a".into(), "b".into()], vec!["c".into()]]);
    let (shared, journal) = (Shared::default(), Lines::default());
    let open = |second: i64, resume| {
        let now = Timestamp::from_second(second).unwrap();
        let (store, known) = Store::open(folder.clone(), journal.clone(), resume).unwrap();
        let rows: HashSet<String> = journal.0.borrow().iter().map(|(id, _)| id.clone()).collect();
        let policy = Policy::default();
        let front = Front::new(&manifest, limits(4, 100), policy, rows, &known.ledger, &known.parts, now);
        // The scheduler of the world needs to know what was sent.
        let mut files = shared.clone();
        let manager = Manager::new(front, shared.clone(), store);
        (manager, move |submission: &_| files.prepare(submission).unwrap(), now)
    };
    let attempt = Attempt { task: 0, attempt: 1 };
    let number = 1;
    shared.0.borrow_mut().prepared.insert(
        number,
        vec![(attempt, vec!["a".into(), "b".into()]), (Attempt { task: 1, attempt: 1 }, vec!["c".into()])],
    );
    let (mut manager, _, now) = open(1000, true);
    manager.round(now).unwrap();
    let list = fs::read_to_string(folder.path().join("submissions/1.txt")).unwrap();
    assert_eq!(list, "0 1\n1 1\n");
    // A runner adds a row and is interrupted, while no front is there.
    drop(manager);
    let mut writer = PartWriter::open(&folder.part(attempt)).unwrap();
    writer.append(&case_line("a")).unwrap();
    let time = "1970-01-01T00:17:00Z".to_owned();
    let ending = Ending::Signal { signal: 15 };
    writer.append(&PartLine::Ended { time, ending, advanced: false }).unwrap();
    shared.0.borrow_mut().jobs.get_mut(&(1, 0)).unwrap().task.state = crate::State::Failed;
    let again = Attempt { task: 0, attempt: 2 };
    shared.0.borrow_mut().prepared.insert(2, vec![(again, vec!["b".into()])]);
    let (mut manager, _, now) = open(2000, true);
    let round = manager.round(now).unwrap();
    assert_eq!(round.rows, ["a"]);
    let line = journal.0.borrow()[0].1.clone();
    assert!(fs::read(folder.part(attempt)).unwrap().windows(line.len()).any(|bytes| bytes == line));
    let assigned = manager.records.news(again).unwrap().lines;
    assert_eq!(assigned[0].line, PartLine::Assigned { attempt: again, cases: vec!["b".into()] });
}
