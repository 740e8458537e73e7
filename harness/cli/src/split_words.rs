//! How the rows of a data set are divided, in words.

use gpbench_data::Repeats;
use gpbench_import::Materialised;
use gpbench_record::{Dataset, Fractions, Source, SplitRule, text};

/// The most groups that are named.
const MOST: usize = 10;

/// How the rows of a data set are divided into training and test rows; none for sets of the registry without a rule, whose
/// splits are known, and for sets that are drawn.
pub(crate) fn split_words(dataset: &Dataset, copy: &Materialised) -> Option<String> {
    let is_file = matches!(dataset.source, Source::File { .. });
    if !is_file && dataset.rule.is_none() && !dataset.keep_replicates {
        return None;
    }
    if let Some(test) = dataset.test_file() {
        return Some(format!("all rows are training rows, and those of `{test}` are test rows"));
    }
    let names = &copy.reading.groups;
    let groups = names.len();
    let mut words = match &dataset.rule {
        Some(rule) => of_rule(rule, dataset.group().unwrap_or_default(), names),
        None => match dataset.fractions {
            Some(Fractions { train, test }) => {
                format!("shares of {train} and {test} of the rows are drawn for training and testing")
            }
            None if copy.splits > 0 => format!("the {} splits that come with the set", copy.splits),
            None => "one row in ten is drawn for testing".to_owned(),
        },
    };
    let leaves_group_out = dataset.rule == Some(SplitRule::LeaveGroupOut);
    if let Some(group) = dataset.group().filter(|_| !leaves_group_out) {
        words += &format!("; rows of one `{group}` stay together ({groups} groups)");
    }
    if dataset.keep_replicates {
        let Repeats { rows, inputs, .. } = copy.reading.repeats;
        words += &format!("; rows with the same inputs stay together ({rows} rows share {inputs} inputs)");
    }
    Some(words)
}

fn of_rule(rule: &SplitRule, group: &str, groups: &[String]) -> String {
    match rule {
        SplitRule::LeaveGroupOut => {
            let numbered = |(k, name): (usize, &String)| format!("{k}: `{}`", text::cut(name, text::NAME));
            let mut numbered: Vec<String> = groups.iter().take(MOST).enumerate().map(numbered).collect();
            if groups.len() > MOST {
                numbered.push("...".to_owned());
            }
            let count = groups.len();
            format!("seed k tests on group k of the {count} groups of `{group}` ({})", numbered.join(", "))
        }
        SplitRule::Blocks { blocks, by } => {
            let by: Vec<String> = by.iter().map(|column| format!("`{column}`")).collect();
            format!("seed k tests on block k of {blocks} contiguous blocks by {}", by.join(" and "))
        }
        SplitRule::Future { time, test } => {
            let percent = (1e5 * test).round() / 1e3;
            format!("trained on the past by `{time}`, tested on the last {percent} % of the rows")
        }
        SplitRule::Rolling { time, blocks } => {
            format!("of {blocks} blocks by `{time}`, seed k trains on blocks 0 to k and tests on block k + 1")
        }
    }
}
