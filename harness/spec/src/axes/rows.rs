//! Numbers of rows of the cases of a data set, and reports of splits that leave too few.

use gpbench_record::{Fractions, SplitSizes, Subsample};

use crate::catalog::TrainingRows;
use crate::error::Mistakes;
use crate::source::{At, Location};

/// Fewest training rows: one row cannot be standardised.
const FEWEST: usize = 2;

/// The rows of a data set, and the part of them that the spec takes.
#[derive(Debug, Clone)]
pub(crate) struct RowCounts {
    /// The place of the file or of the name.
    pub(crate) at: Location,
    /// Rows in all, and training rows of the set's own splits; `None` where they are unknown.
    pub(crate) size: Option<(usize, TrainingRows)>,
    /// Whether there are test rows. An objective is evaluated instead.
    pub(crate) has_test_rows: bool,
    pub(crate) fractions: Option<At<Fractions>>,
    pub(crate) subsample: Option<At<Subsample>>,
}

impl RowCounts {
    /// The parts of a split before a subsample is taken, where known.
    fn sizes(&self, split: u32, validation: Option<f64>) -> Option<SplitSizes> {
        let (all, training) = self.size.as_ref()?;
        Some(match &self.fractions {
            Some(fractions) => SplitSizes::by_shares(*all, fractions.value, validation),
            None => SplitSizes::of_own(*all, training.of(split)?, validation),
        })
    }

    /// Shares that splits are drawn by.
    pub(crate) fn fractions(&self) -> Option<Fractions> {
        self.fractions.as_ref().map(|fractions| fractions.value)
    }

    /// Test rows of a split, where known.
    pub(crate) fn test_rows(&self, split: u32) -> Option<usize> {
        self.sizes(split, None).map(|sizes| sizes.test)
    }

    /// Training rows of a case, where known.
    pub(crate) fn n(&self, split: u32, validation: Option<f64>) -> Option<usize> {
        self.kept(self.sizes(split, validation).map(|sizes| sizes.training))
    }

    /// The rows that a subsample keeps of the `left` training rows, where known.
    pub(crate) fn kept(&self, left: Option<usize>) -> Option<usize> {
        match self.subsample.as_ref().map(|subsample| subsample.value) {
            Some(Subsample::Rows(rows)) => Some(rows),
            Some(share) => left.map(|rows| share.rows(rows)),
            None => left,
        }
    }

    /// Reports a subsample of data set `name` that is larger than the `left` training rows or of one row.
    pub(crate) fn check_kept(&self, name: &str, left: Option<usize>, mistakes: &mut Mistakes) {
        if let Some(subsample) = &self.subsample {
            check_subsample(name, subsample, left, mistakes);
        }
    }

    /// Whether rows are drawn, rather than divided by the set's own splits.
    pub(crate) fn is_drawn(&self) -> bool {
        self.fractions.is_some() || !matches!(self.size, Some((_, TrainingRows::Masked(_))))
    }

    /// Reports a split of data set `name` that leaves too few rows to train on, to test on or to validate by, and a
    /// subsample that is larger than its training rows or of one row.
    pub(crate) fn check(
        &self,
        name: &str,
        split: u32,
        validation: Option<&At<f64>>,
        mistakes: &mut Mistakes,
    ) {
        let own = self.size.as_ref().zip(self.sizes(split, None));
        let has_enough =
            own.is_none_or(|((all, _), sizes)| self.check_split(name, split, *all, sizes, mistakes));
        if let (Some(validation), Some((all, _)), true) = (validation, &self.size, has_enough)
            && !self.check_validation(name, split, *all, validation, mistakes)
        {
            return;
        }
        if has_enough {
            let left = self.sizes(split, validation.map(|share| share.value)).map(|sizes| sizes.training);
            self.check_kept(name, left, mistakes);
        }
    }

    /// Whether a split has rows to train and to test on; reports one that has not.
    fn check_split(
        &self,
        name: &str,
        split: u32,
        all: usize,
        sizes: SplitSizes,
        mistakes: &mut Mistakes,
    ) -> bool {
        let SplitSizes { training, test, .. } = sizes;
        let has_enough = training >= FEWEST && (test > 0 || !self.has_test_rows);
        let at = self.fractions.as_ref().map_or(&self.at, |fractions| &fractions.at);
        let is_reported = self.fractions.is_some() && mistakes.is_reported_within(at);
        if !has_enough && !is_reported {
            let which = match (&self.fractions, &self.size) {
                (None, Some((_, TrainingRows::Masked(_)))) => format!("split {split} of "),
                _ => String::new(),
            };
            let what = format!(
                "{which}data set `{name}` has {training} training rows and {test} test rows, of {all} rows"
            );
            let hint = match &self.fractions {
                Some(_) => "at least 2 and 1 are needed; give larger shares",
                None => "at least 2 and 1 are needed; add rows",
            };
            mistakes.add(at, what, hint.to_owned());
        }
        has_enough
    }

    /// Whether a share for validation leaves rows for it and enough to train on; reports one that does not.
    fn check_validation(
        &self,
        name: &str,
        split: u32,
        all: usize,
        validation: &At<f64>,
        mistakes: &mut Mistakes,
    ) -> bool {
        let At { value: share, at } = validation;
        let Some(sizes) = self.sizes(split, Some(*share)) else { return true };
        let needed = match self.subsample.as_ref().map(|subsample| subsample.value) {
            Some(Subsample::Rows(rows)) => rows.max(FEWEST),
            Some(Subsample::Fraction(_)) | None => FEWEST,
        };
        let is_whole_enough = self.sizes(split, None).is_none_or(|sizes| sizes.training >= needed);
        if sizes.training < needed && is_whole_enough {
            let left = sizes.training;
            let what = format!("validation = {share:?} leaves {left} training rows of data set `{name}`");
            mistakes.add(at, what, format!("at least {needed} are needed"));
            return false;
        }
        // Shares that are more than all rows together have been reported.
        if sizes.validation == 0 && !mistakes.is_reported(at) {
            let what = format!("validation = {share:?} of the {all} rows of data set `{name}` is no row");
            mistakes.add(at, what, "give a larger share".to_owned());
            return false;
        }
        true
    }
}

/// Reports a subsample of fewer rows than can be standardised, or of more than the `left` training rows, where known.
fn check_subsample(name: &str, subsample: &At<Subsample>, left: Option<usize>, mistakes: &mut Mistakes) {
    // A value out of its range has been reported.
    if mistakes.is_reported(&subsample.at) {
        return;
    }
    let asked = match (subsample.value, left) {
        (Subsample::Rows(rows), _) => rows,
        (share, Some(left)) => share.rows(left),
        (Subsample::Fraction(_), None) => return,
    };
    if let Some(left) = left.filter(|left| asked > *left) {
        let what = format!("data set `{name}` has {left} training rows, fewer than {asked}");
        mistakes.add(&subsample.at, what, None);
    } else if asked < FEWEST {
        let of = left.map_or_else(String::new, |left| format!(" of its {left} training rows"));
        let what = format!("the subsample of data set `{name}` has {asked} rows{of}");
        mistakes.add(&subsample.at, what, format!("at least {FEWEST} are needed"));
    }
}
