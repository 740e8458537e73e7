//! `split` of `[dataset.NAME]`: a number of a split, or a rule that divides the rows.

use gpbench_record::SplitRule;

use crate::keys::{COUNT_OR_ZERO, FRACTION, Keys, Kind, SEVERAL, choice, column, inner, list, number, whole};
use crate::source::At;

/// Share of the rows that a split by time tests on, where the spec states none.
const LATEST: f64 = 0.1;

/// The split of a data set.
#[derive(Debug, Clone)]
pub(crate) struct Split {
    /// The split that all seeds share.
    pub(crate) index: Option<At<u32>>,
    /// The rule that divides the rows.
    pub(crate) rule: Option<SplitRule>,
}

/// An index, or a table with a rule.
pub(super) fn kind() -> Kind<Option<Split>> {
    let index = whole::<u32>(COUNT_OR_ZERO).map(|index| Some(Split { index: Some(index), rule: None }));
    index.or(inner(read), "a whole number or a table")
}

/// A rule; none where its keys do not make one, which is reported.
fn read(keys: &mut Keys<'_>) -> Option<Split> {
    let leave_out = keys.optional(
        "leave_out",
        choice("kind of rows to leave out", [("group", ())]),
        "Split k tests on group k of the column `group`; groups are in the order of their names.",
    );
    let blocks = keys.optional(
        "blocks",
        whole::<usize>(SEVERAL),
        "Number of contiguous blocks of about equal numbers of rows: split k tests on block k; with `time`, it trains on \
         blocks 0 to k and tests on block k + 1.",
    );
    let by = keys.optional(
        "by",
        list(column()),
        "Columns of numbers or times in whose space the blocks lie: names or indices.",
    );
    let time = keys.optional(
        "time",
        column(),
        "Column of times: training rows come before test rows. It is read even if it is dropped.",
    );
    let test = keys.derived(
        "test",
        number(FRACTION),
        "0.1",
        "Share of the rows, the last ones in `time`, to test on.",
    );
    let index = keys.derived(
        "index",
        whole::<u32>(COUNT_OR_ZERO),
        "the case's seed",
        "Number of the rule's split that all seeds share.",
    );
    let parsed = [leave_out.is_some(), blocks.is_some(), by.is_some(), time.is_some(), test.is_some()];
    let parsed = parsed.into_iter().filter(|is| *is).count() + usize::from(index.is_some());
    if parsed < keys.written().len() {
        // A key of another type or of another name, which is reported.
        return None;
    }
    let typed = (leave_out.is_some(), blocks.map(|blocks| blocks.value), by, time, test);
    let rule = match typed {
        (true, None, None, None, None) => SplitRule::LeaveGroupOut,
        (false, Some(blocks), Some(by), None, None) if !by.value.is_empty() => {
            SplitRule::Blocks { blocks, by: by.value.into_iter().map(|column| column.value).collect() }
        }
        (false, None, None, Some(time), test) => {
            SplitRule::Future { time: time.value, test: test.map_or(LATEST, |share| share.value) }
        }
        (false, Some(blocks), None, Some(time), None) => SplitRule::Rolling { time: time.value, blocks },
        _ => {
            let hint = "write { leave_out = \"group\" }, { blocks = 10, by = [\"lon\", \"lat\"] }, { time = \"when\", \
                        test = 0.1 } or { time = \"when\", blocks = 10 }";
            keys.report_table("states no rule that divides rows", hint);
            return None;
        }
    };
    Some(Split { index, rule: Some(rule) })
}
