//! Cases that have rows and run again.

use std::collections::BTreeMap;

use crate::front::state::{Front, Standing};
use crate::ledger::LedgerLine;

impl Front {
    /// Runs cases again that have rows. Rows of earlier attempts do not count any more, even where they come later.
    pub fn again(&mut self, ids: &[String]) {
        let last = |id: &String| Some((id.clone(), self.tasks[*self.owners.get(id)?].attempts));
        let cases: BTreeMap<String, u32> = ids.iter().filter_map(last).collect();
        if !cases.is_empty() {
            self.run_again(&cases);
            self.records.push(LedgerLine::Again { cases });
        }
    }

    /// Applies that cases run again.
    pub(super) fn run_again(&mut self, cases: &BTreeMap<String, u32>) {
        for (id, last) in cases {
            self.outdated.insert(id.clone(), *last);
            self.kills.remove(id);
            self.told.remove(id);
            self.rows.remove(id);
        }
        for (task, planned) in self.tasks.iter_mut().zip(&self.manifest_tasks) {
            let is_new = |id: &&String| cases.contains_key(*id) && !task.left.contains(id);
            let new: Vec<String> = planned.cases.iter().filter(is_new).cloned().collect();
            if !new.is_empty() && task.standing == Standing::Done {
                task.standing = Standing::Waiting;
            }
            task.left.extend(new);
        }
        self.changed = true;
    }
}
