//! What the rows of a data set are, in words: its name alone may stand for several.

use gpbench_record::{Dataset, Fractions, InputScaling, SplitRule, Subsample, TargetScaling};

use crate::number::percent;
use crate::overview;

/// Source of a data set, and all in which its rows differ from those that the source has by default.
pub(super) fn described(dataset: &Dataset) -> String {
    let subsample = dataset.subsample.map(|subsample| match subsample {
        Subsample::Rows(rows) => format!("{rows} training rows drawn"),
        Subsample::Fraction(share) => format!("{} of the training rows drawn", percent(share)),
    });
    let fractions = dataset.fractions.map(|Fractions { train, test }| {
        format!("{} for training, {} for testing", percent(train), percent(test))
    });
    let validation = dataset.validation.map(|share| format!("{} for validation", percent(share)));
    let group = dataset.group().unwrap_or("group");
    let leaves_out = dataset.rule == Some(SplitRule::LeaveGroupOut);
    let together = dataset.group().filter(|_| !leaves_out);
    let said = |holds: bool, words: &str| holds.then(|| words.to_owned());
    let parts = [
        Some(overview::source(&Dataset { collapse_duplicates: false, ..dataset.clone() })),
        subsample,
        fractions,
        validation,
        dataset.rule.as_ref().map(|rule| of_rule(rule, group)),
        together.map(|group| format!("rows of one {group} stay together")),
        said(dataset.keep_replicates, "replicates stay together"),
        said(dataset.inputs == InputScaling::Box, "inputs scaled to a box"),
        said(dataset.targets == TargetScaling::Centred, "targets centred, in their own units"),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// What a split tests on, of a rule and the column of groups.
fn of_rule(rule: &SplitRule, group: &str) -> String {
    match rule {
        SplitRule::LeaveGroupOut => format!("each split leaves out one {group}"),
        SplitRule::Blocks { blocks, by } => {
            format!("each split leaves out one of {blocks} blocks by {}", by.join(", "))
        }
        SplitRule::Future { time, test } => format!("tested on the last {} by {time}", percent(*test)),
        SplitRule::Rolling { time, blocks } => {
            format!("each split tests on one of {blocks} blocks by {time}, and trains on those before it")
        }
    }
}

#[cfg(test)]
mod tests {
    use gpbench_record::{ReadOptions, Source};

    use super::*;

    #[test]
    fn a_part_of_a_set_is_told_from_the_whole() {
        let pol = Dataset::new("pol", Source::Registry { name: "pol".into() });
        assert_eq!(described(&pol), "UCI, pol");
        let part = Dataset {
            subsample: Some(Subsample::Rows(2000)),
            fractions: Some(Fractions { train: 0.64, test: 0.16 }),
            inputs: InputScaling::Box,
            ..pol
        };
        let expected =
            "UCI, pol; 2000 training rows drawn; 64 % for training, 16 % for testing; inputs scaled to a box";
        assert_eq!(described(&part), expected);
    }

    #[test]
    fn rules_and_groups_are_named() {
        let options = ReadOptions { group: Some("site".into()), ..ReadOptions::default() };
        let own = Dataset::new("mine", Source::File { path: "mine.csv".into(), options });
        assert_eq!(described(&own), "mine.csv; rows of one site stay together");
        let by = |rule| described(&Dataset { rule: Some(rule), ..own.clone() });
        assert_eq!(by(SplitRule::LeaveGroupOut), "mine.csv; each split leaves out one site");
        assert_eq!(
            by(SplitRule::Blocks { blocks: 10, by: vec!["lon".into(), "lat".into()] }),
            "mine.csv; each split leaves out one of 10 blocks by lon, lat; rows of one site stay together"
        );
        assert_eq!(
            by(SplitRule::Future { time: "when".into(), test: 0.2 }),
            "mine.csv; tested on the last 20 % by when; rows of one site stay together"
        );
    }
}
