//! The cells of a paper with their measured values or the reasons for their absence.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Add;

use super::cell::Cell;
use super::hours::{Cost, Hours};
use super::measured::Measured;
use super::notes::{Note, Notes};
use super::verdict::Difference;
use crate::reference::Reference;

/// Our value of a cell, or why there is none.
pub(super) enum Outcome<'a> {
    Measured {
        measured: &'a Measured,
        difference: Difference,
        /// Number of the remark on it, from 1.
        note: Option<usize>,
    },
    Absent {
        cost: Option<&'a Cost>,
        why: Option<&'a Note>,
    },
}

pub(super) struct Entry<'a> {
    pub(super) cell: Cell<'a>,
    pub(super) outcome: Outcome<'a>,
}

/// All cells of a paper.
pub(super) struct PaperCoverage<'a> {
    /// Name of the reference.
    pub(super) name: &'a str,
    pub(super) reference: &'a Reference,
    pub(super) notes: &'a Notes,
    pub(super) entries: Vec<Entry<'a>>,
}

/// Numbers of cells.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) all: usize,
    /// Within two published standard deviations.
    pub(super) within: usize,
    /// Within two standard errors of both means.
    pub(super) within_errors: usize,
    /// Beyond two published standard deviations.
    pub(super) beyond: usize,
    /// Number of those beyond with a remark.
    pub(super) explained: usize,
    pub(super) absent: usize,
    /// Number of those not measured without an estimate.
    pub(super) without_estimate: usize,
}

impl Add for Counts {
    type Output = Counts;

    fn add(self, other: Counts) -> Counts {
        Counts {
            all: self.all + other.all,
            within: self.within + other.within,
            within_errors: self.within_errors + other.within_errors,
            beyond: self.beyond + other.beyond,
            explained: self.explained + other.explained,
            absent: self.absent + other.absent,
            without_estimate: self.without_estimate + other.without_estimate,
        }
    }
}

impl Counts {
    pub(super) fn measured(&self) -> usize {
        self.within + self.beyond
    }
}

impl<'a> PaperCoverage<'a> {
    pub(super) fn new(
        name: &'a str,
        reference: &'a Reference,
        measured: &'a BTreeMap<String, Measured>,
        hours: &'a Hours,
        notes: &'a Notes,
    ) -> PaperCoverage<'a> {
        let own: Vec<&Note> = notes.differs.iter().filter(|note| note.is_of(name)).collect();
        let entry = |cell: Cell<'a>| {
            let key = cell.key();
            let outcome = match measured.get(&key) {
                Some(measured) => {
                    let difference = Difference::new(&measured.ours, &cell.theirs, &reference.comparison);
                    let note = own.iter().position(|note| note.is_about(name, &cell)).map(|place| place + 1);
                    Outcome::Measured {
                        measured,
                        difference,
                        note: note.filter(|_| !difference.is_within_deviations()),
                    }
                }
                None => Outcome::Absent {
                    cost: hours.cells.get(name).and_then(|cells| cells.get(&key)),
                    why: notes.absent.iter().find(|note| note.is_about(name, &cell)),
                },
            };
            Entry { cell, outcome }
        };
        let entries = Cell::all(reference).into_iter().map(entry).collect();
        PaperCoverage { name, reference, notes, entries }
    }

    pub(super) fn counts(&self) -> Counts {
        let mut counts = Counts { all: self.entries.len(), ..Counts::default() };
        for entry in &self.entries {
            match entry.outcome {
                Outcome::Measured { difference, note, .. } => {
                    let is_within = difference.is_within_deviations();
                    counts.within += usize::from(is_within);
                    counts.within_errors += usize::from(difference.is_within_errors());
                    counts.beyond += usize::from(!is_within);
                    counts.explained += usize::from(note.is_some());
                }
                Outcome::Absent { cost, .. } => {
                    counts.absent += 1;
                    counts.without_estimate += usize::from(cost.is_none());
                }
            }
        }
        counts
    }

    /// Hours of all cells that were not measured. The figures of one row come from the same cases.
    pub(super) fn hours(&self) -> f64 {
        let mut of_cases: BTreeMap<(&str, String, &str), f64> = BTreeMap::new();
        for entry in &self.entries {
            if let Outcome::Absent { cost: Some(cost), .. } = entry.outcome {
                let case = (entry.cell.row.dataset.as_str(), entry.cell.row.title(), cost.spec.as_str());
                of_cases.insert(case, cost.hours);
            }
        }
        of_cases.into_values().fold(0.0, |sum, hours| sum + hours)
    }

    /// Names of the runs that cells come from.
    pub(super) fn runs(&self) -> BTreeSet<&str> {
        let of_entry = |entry: &'_ Entry<'a>| match entry.outcome {
            Outcome::Measured { measured, .. } => Some(measured.run.as_str()),
            Outcome::Absent { .. } => None,
        };
        self.entries.iter().filter_map(of_entry).collect()
    }
}
