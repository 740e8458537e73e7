//! Mistakes of rules that divide the rows of a data set.

use gpbench_record::SplitRule;

use crate::error::Mistakes;
use crate::source::Location;
use crate::tables::dataset::Dataset;

/// What is wrong with a split beyond the `splits` that a data set has, and what to do.
pub(super) fn no_split(name: &str, rule: Option<&SplitRule>, split: u32, splits: u32) -> (String, String) {
    let last = splits.saturating_sub(1);
    match rule {
        None => (
            format!("data set `{name}` has no split {split}, only 0 to {last}"),
            "seed k selects split k; `split` in the data set's table fixes one".to_owned(),
        ),
        Some(SplitRule::LeaveGroupOut) => (
            format!("data set `{name}` has no group {split} to leave out, only 0 to {last}"),
            "seed k leaves out group k; use fewer seeds, or fix one by `index` in `split`".to_owned(),
        ),
        Some(_) => (
            format!("the rule of data set `{name}` gives no split {split}, only 0 to {last}"),
            "seed k takes split k; use fewer seeds, ask for more blocks, or fix one by `index` in `split`"
                .to_owned(),
        ),
    }
}

/// Reports a rule at `at` that goes against another key, or lacks one.
pub(super) fn check(name: &str, rule: &SplitRule, at: &Location, table: &Dataset, mistakes: &mut Mistakes) {
    if let Some(fractions) = &table.fractions {
        let what = format!("data set `{name}` has both `fractions` and a rule in `split`");
        mistakes.add(&fractions.at, what, "a rule decides the sizes; leave one of them out".to_owned());
    }
    if *rule == SplitRule::LeaveGroupOut && table.group.is_none() {
        let what = format!("`leave_out` of data set `{name}` needs a column of groups");
        mistakes.add(at, what, "set `group`, for instance group = \"site\"".to_owned());
    }
}
