//! What the rows of a data set are, in words: its name alone may stand for several.

use gpbench_record::{Dataset, Fractions, InputScaling, Subsample, TargetScaling};

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
    let said = |holds: bool, words: &str| holds.then(|| words.to_owned());
    let parts = [
        Some(overview::source(&Dataset { collapse_duplicates: false, ..dataset.clone() })),
        subsample,
        fractions,
        validation,
        said(dataset.rule.is_some(), "split by a rule"),
        said(dataset.keep_replicates, "replicates stay together"),
        said(dataset.inputs == InputScaling::Box, "inputs scaled to a box"),
        said(dataset.targets == TargetScaling::Centred, "targets centred, in their own units"),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use gpbench_record::Source;

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
}
