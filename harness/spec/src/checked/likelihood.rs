//! How often the likelihood is estimated.
//!
//! | key of `[likelihood]` | default | meaning |
//! |---|---|---|
//! | `repetitions` | 100 | independent estimates, whose mean and spread are compared with the exact terms |

use gpbench_record::Task;

use super::positive;
use crate::error::Mistakes;
use crate::typed::Root;

const REPETITIONS: u32 = 100;

/// What `[likelihood]` says, where the task makes estimates.
pub(crate) fn resolve(root: &Root, task: Task, mistakes: &mut Mistakes) -> Option<u64> {
    let table = root.likelihood.as_ref();
    if task != Task::Likelihood {
        if let Some(table) = table {
            let hint = "write task = \"likelihood\"".to_owned();
            let what = "[likelihood] is for task \"likelihood\": here it has no effect";
            mistakes.add(&table.at, what, hint);
        }
        return None;
    }
    let given = table.and_then(|t| t.value.repetitions.as_ref());
    Some(positive(given, "repetitions", REPETITIONS, mistakes).into())
}
