//! The files of a spec's data sets: those on this machine are read before the spec is checked, so that all mistakes are found
//! at once, and missing ones are downloaded afterwards.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use gpbench_data::copy::{self, CopyError};
use gpbench_data::locate::SearchPlaces;
use gpbench_import::Materialised;
use gpbench_record::{Dataset, DatasetNotes, Source, Task};
use gpbench_spec::{DatasetSize, FileDataset, SpecCase, SpecPlan, SplitCheck, TrainingRows};

use crate::args::{Global, SpecArgs};
use crate::dataset::{self, Unavailable};
use crate::exit::Failure;
use crate::notice::{say, warn};
use crate::split_words::split_words;
use crate::splits::Splits;

/// What is read of the data sets of a spec before it is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    /// The files on this machine.
    Files,
    /// Nothing.
    Nothing,
}

/// The files of a spec's data sets that are on this machine.
#[derive(Default)]
pub(crate) struct SpecFiles {
    /// The binary copy of each data set, by name, or why it is skipped.
    copies: BTreeMap<String, Result<Materialised, String>>,
    /// Whether a data set that is unavailable is skipped.
    skip_missing: bool,
    /// Their splits.
    splits: Rc<Splits>,
    /// Data sets whose splits were warned of.
    told: BTreeSet<String>,
}

/// The sizes of data sets, by name, or why one cannot be read.
pub(crate) type Sizes = BTreeMap<String, Result<DatasetSize, String>>;

impl SpecFiles {
    /// Reads the data sets that the command line chooses, and returns their sizes too. A registered set that is not on this
    /// machine is left for [`SpecFiles::complete`].
    pub(crate) fn read(
        global: &Global,
        args: &SpecArgs,
        files: &[FileDataset],
        places: &SearchPlaces,
    ) -> (SpecFiles, Sizes) {
        let mut found = SpecFiles { skip_missing: args.skip_missing, ..SpecFiles::default() };
        let mut sizes = Sizes::new();
        for FileDataset { name, source, own } in files {
            if !args.filter.includes_dataset(name) {
                continue;
            }
            let is_registered = matches!(source, Source::Registry { .. });
            match with_size(|| dataset::obtain(global, places, source, own.as_ref(), true)) {
                Ok((size, copy)) => {
                    sizes.insert(name.clone(), Ok(size));
                    found.add(global, name, source, copy);
                }
                Err(missing) if missing.is_absent && is_registered => {}
                Err(missing) if missing.is_absent && found.skip_missing => found.skip(global, name, &missing),
                Err(Unavailable { text, is_absent }) => {
                    let hint = if is_absent { "; or run without it: `--skip-missing`" } else { "" };
                    sizes.insert(name.clone(), Err(format!("{text}{hint}")));
                }
            }
        }
        (found, sizes)
    }

    /// Obtains the registered sets of a plan that were not on this machine: downloads them unless `offline`.
    pub(crate) fn complete(
        &mut self,
        global: &Global,
        offline: bool,
        plan: &SpecPlan,
        places: &SearchPlaces,
    ) -> Result<(), Failure> {
        let mut missing: BTreeMap<&str, String> = BTreeMap::new();
        for SpecCase { case, own_files, .. } in &plan.cases {
            let (name, source) = (case.dataset.name.as_str(), &case.dataset.source);
            if source.is_drawn() || self.copies.contains_key(name) || missing.contains_key(name) {
                continue;
            }
            match dataset::obtain(global, places, source, own_files.as_ref(), offline) {
                Ok(copy) => self.add(global, name, source, copy),
                Err(unavailable) if self.skip_missing && unavailable.is_absent => {
                    self.skip(global, name, &unavailable);
                }
                Err(Unavailable { text, is_absent }) => {
                    let hint = if is_absent { "\nor run without it: `--skip-missing`" } else { "" };
                    missing.insert(name, format!("{text}{hint}"));
                }
            }
        }
        let faults = plan.cases.iter().filter_map(|planned| self.splits.fault(&planned.case.dataset));
        let texts: BTreeSet<String> = missing.into_values().chain(faults).collect();
        if !texts.is_empty() {
            return Err(Failure::usage(texts.into_iter().collect::<Vec<_>>().join("\n\n")));
        }
        self.tell_of_splits(global, plan);
        Ok(())
    }

    /// The binary copy of a data set.
    pub(crate) fn copy(&self, name: &str) -> Option<&Materialised> {
        self.copies.get(name)?.as_ref().ok()
    }

    /// Why a data set is skipped, if it is.
    pub(crate) fn why_skipped(&self, name: &str) -> Option<&str> {
        self.copies.get(name)?.as_ref().err().map(String::as_str)
    }

    /// The notes on the reading of each data set of a plan that has any, by its name.
    pub(crate) fn notes(&self, plan: &SpecPlan) -> BTreeMap<String, DatasetNotes> {
        let mut of_splits = self.split_warnings(plan, &datasets(plan).collect::<Vec<_>>());
        let of_dataset = |dataset: &Dataset| {
            let copy = self.copy(&dataset.name)?;
            let notes = dataset::notes(&dataset.source, copy);
            Some((dataset.name.clone(), DatasetNotes { split: split_words(dataset, copy), ..notes }))
        };
        let mut notes: BTreeMap<String, DatasetNotes> = datasets(plan).filter_map(of_dataset).collect();
        for (name, notes) in &mut notes {
            notes.warnings.extend(of_splits.remove(name).unwrap_or_default());
        }
        notes.retain(|_, notes| !notes.is_empty());
        notes
    }

    /// What checks the splits of these data sets.
    pub(crate) fn split_check(&self) -> SplitCheck {
        let splits = Rc::clone(&self.splits);
        SplitCheck::new(move |dataset| splits.look(dataset))
    }

    /// Warnings of the splits of some data sets of a plan, by their names: of inputs that hardly vary in the training rows, and of
    /// test rows whose predictions are not kept.
    fn split_warnings(&self, plan: &SpecPlan, datasets: &[&Dataset]) -> BTreeMap<String, Vec<String>> {
        let mut warnings = self.splits.warnings(datasets.iter().copied());
        let predicts = |task: &Task| matches!(task, Task::Posterior(_) | Task::Train(_) | Task::Learn(_));
        if !plan.cases.iter().any(|planned| predicts(&planned.case.task)) {
            return warnings;
        }
        for dataset in datasets {
            let Some(warning) = self.splits.unkept_predictions(dataset) else { continue };
            let of_dataset = warnings.entry(dataset.name.clone()).or_default();
            if !of_dataset.contains(&warning) {
                of_dataset.push(warning);
            }
        }
        warnings
    }

    /// Says how the rows of a plan's data sets are divided, where some stay together, and warns of what their splits lack; once
    /// for each data set.
    pub(crate) fn tell_of_splits(&mut self, global: &Global, plan: &SpecPlan) {
        let is_untold =
            |dataset: &&Dataset| self.copy(&dataset.name).is_some() && !self.told.contains(&dataset.name);
        let untold: Vec<&Dataset> = datasets(plan).filter(is_untold).collect();
        let mut warnings = self.split_warnings(plan, &untold);
        for dataset in untold {
            let name = &dataset.name;
            if !self.told.insert(name.clone()) {
                continue;
            }
            let words = self.copy(name).and_then(|copy| split_words(dataset, copy));
            if let Some(words) = words.filter(|_| dataset.is_grouped() && !global.quiet) {
                say(format_args!("data set `{name}`: split: {words}"));
            }
            for warning in warnings.remove(name).unwrap_or_default() {
                warn(global, format!("data set `{name}`: {warning}"));
            }
        }
    }

    fn add(&mut self, global: &Global, name: &str, source: &Source, copy: Materialised) {
        if let Entry::Vacant(place) = self.copies.entry(name.to_owned()) {
            dataset::tell(global, name, &dataset::notes(source, &copy));
            self.splits.add(name, copy.path.clone());
            place.insert(Ok(copy));
        }
    }

    fn skip(&mut self, global: &Global, name: &str, missing: &Unavailable) {
        warn(global, format!("skipping data set `{name}`: {}", missing.text));
        self.copies.insert(name.to_owned(), Err("its data set is unavailable".to_owned()));
    }
}

/// The data sets of a plan's cases.
fn datasets(plan: &SpecPlan) -> impl Iterator<Item = &Dataset> {
    plan.cases.iter().map(|planned| &planned.case.dataset)
}

/// A binary copy with its size. It is obtained again where it has vanished since: another process may remove the folder of
/// copies at any time.
fn with_size(
    obtain: impl Fn() -> Result<Materialised, Unavailable>,
) -> Result<(DatasetSize, Materialised), Unavailable> {
    let copy = obtain()?;
    let (size, copy) = match size(&copy) {
        Err(error) if error.is_missing() => {
            let copy = obtain()?;
            (size(&copy), copy)
        }
        size => (size, copy),
    };
    let size = size.map_err(|error| Unavailable { text: error.to_string(), is_absent: false })?;
    Ok((size, copy))
}

/// The size of a data set, by its binary copy.
fn size(copy: &Materialised) -> Result<DatasetSize, CopyError> {
    let training = match copy.splits {
        0 => TrainingRows::Drawn(copy.training_rows()),
        _ => TrainingRows::Masked(copy::training_rows_of_splits(&copy.path)?),
    };
    let (groups, has_replicates) = (copy.reading.groups.len(), copy.reading.repeats.rows > 0);
    Ok(DatasetSize { rows: copy.n, inputs: copy.d, training, groups, has_replicates })
}
