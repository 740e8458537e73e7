//! Data sets: the registry's, the user's own, toys, and Gaussian-process draws.

use std::path::PathBuf;

use gpbench_record::{Dataset, GpDraw, InputScaling, Objective, ObjectiveDraw, Source, TargetScaling};

use super::rows::RowCounts;
use crate::catalog::{Catalog, DatasetSize, SplitCheck, TrainingRows};
use crate::error::Mistakes;
use crate::nearest;
use crate::source::{At, Location};
use crate::tables::dataset::{
    self as table, DRAW_KEYS, OBJECTIVE_KEYS, READ_KEYS, SCALE_KEYS, SIZE_KEYS, SPLIT_KEYS,
};
use crate::task_keys::{TaskKey, TaskKeys};
use crate::typed::Typed;

/// Name of the built-in Gaussian-process draw.
const GP_DRAW: &str = "gp-draw";

/// Name of the built-in objective.
const OBJECTIVE: &str = "objective";

/// An entry of the data-set axis.
pub(crate) struct DatasetEntry {
    pub(crate) name: String,
    /// Where the axis names it.
    pub(crate) at: Location,
    pub(crate) source: Source,
    /// A split fixed by the spec.
    split: Option<At<u32>>,
    pub(crate) counts: RowCounts,
    pub(crate) targets: TargetScaling,
    pub(crate) inputs: InputScaling,
    /// Where the spec says that rows with the same inputs share an unknown.
    pub(crate) collapse: Option<Location>,
    /// The user's file, where [`Source::File`].
    pub(crate) path: Option<PathBuf>,
    /// Inputs, where known.
    pub(crate) d: Option<usize>,
    /// Number of splits, where bounded.
    splits: Option<u32>,
    /// Checks its splits, where its files were read.
    split_check: SplitCheck,
}

impl DatasetEntry {
    /// Training rows of a case of this seed, where known.
    pub(crate) fn n(&self, seed: u64, validation: Option<f64>) -> Option<usize> {
        self.counts.n(self.split(seed), validation)
    }

    /// The split of a seed.
    fn split(&self, seed: u64) -> u32 {
        match &self.split {
            Some(fixed) => fixed.value,
            None if self.source.is_drawn() => 0,
            None => u32::try_from(seed).expect("seeds were checked to fit"),
        }
    }

    /// Takes the size of its files, where they were read; reports files that cannot be read.
    fn take_size(&mut self, catalog: &Catalog, mistakes: &mut Mistakes) {
        match catalog.sizes.get(&self.name) {
            Some(Ok(DatasetSize { rows, inputs, training })) => {
                if let TrainingRows::Masked(splits) = training {
                    self.splits = Some(splits.len() as u32);
                }
                self.counts.size = Some((*rows, training.clone()));
                self.split_check = catalog.splits.clone();
                self.d = Some(*inputs);
            }
            Some(Err(why)) => {
                mistakes.add(&self.counts.at, format!("data set `{}`: {why}", self.name), None);
            }
            None => {}
        }
    }

    /// The rows of a case. Seed k selects split k, unless the spec fixes one; a set that is drawn with the seed has
    /// one split only.
    pub(crate) fn rows(
        &self,
        seed: &At<u64>,
        validation: Option<&At<f64>>,
        mistakes: &mut Mistakes,
    ) -> Option<Dataset> {
        let split = self.split(seed.value);
        if let Some(splits) = self.splits
            && split >= splits
        {
            let at = self.split.as_ref().map_or(&seed.at, |fixed| &fixed.at);
            let hint = "seed k selects split k; `split` in the data set's table fixes one".to_owned();
            let what = format!("data set `{}` has no split {split}, only 0 to {}", self.name, splits - 1);
            mistakes.add(at, what, hint);
            return None;
        }
        self.counts.check(&self.name, split, validation, mistakes);
        let dataset = Dataset {
            name: self.name.clone(),
            source: self.source.clone(),
            split,
            fractions: self.counts.fractions(),
            subsample: self.counts.subsample.as_ref().map(|subsample| subsample.value),
            collapse_duplicates: self.collapse.is_some(),
            targets: self.targets,
            inputs: self.inputs,
            validation: validation.map(|share| share.value),
        };
        if let Some(fault) = self.split_check.fault(&dataset) {
            mistakes.add(&self.counts.at, fault, None);
        }
        Some(dataset)
    }
}

/// Resolves a name on the axis.
pub(crate) fn resolve(
    name: &At<String>,
    typed: &Typed,
    catalog: &Catalog,
    task: TaskKeys,
    mistakes: &mut Mistakes,
) -> Option<DatasetEntry> {
    let table = typed.root.datasets.get(&name.value);
    if let (Some(_), Some(from)) = (&table.path, &table.from) {
        mistakes.add(&from.at, format!("data set `{}` has both `from` and `path`", name.value), None);
    }
    let collapse = &table.collapse_duplicates;
    let entry = |source, size, d, splits| DatasetEntry {
        name: name.value.clone(),
        at: name.at.clone(),
        source,
        split: None,
        counts: RowCounts {
            at: table.path.as_ref().map_or(&name.at, |path| &path.at).clone(),
            size,
            has_test_rows: true,
            fractions: None,
            subsample: None,
        },
        targets: table.targets.value,
        inputs: table.inputs.value,
        collapse: collapse.at.clone().filter(|_| collapse.value),
        path: None,
        d,
        splits,
        split_check: SplitCheck::default(),
    };
    let refuse = |keys: &[&str], why: &str, mistakes: &mut Mistakes| {
        for key in table.written.iter().filter(|key| keys.contains(&&*key.value)) {
            let what = format!("`{}` does not apply to data set `{}`", key.value, name.value);
            mistakes.add(&key.at, what, why.to_owned());
        }
    };
    const DRAWN: &str = "this data set is drawn anew for every seed: set `n` instead of a subsample";
    const NOT_DRAWN: &str = "only generated data sets take it";
    const ONLY_OBJECTIVE: &str = "only `objective` takes it";
    if let Some(path) = &table.path {
        let source = Source::File { path: path.value.clone(), options: table.read_options() };
        let mut entry = entry(source, None, None, None);
        entry.path = Some(typed.folder.join(&path.value));
        entry.take_size(catalog, mistakes);
        refuse(&SIZE_KEYS, NOT_DRAWN, mistakes);
        refuse(&DRAW_KEYS, NOT_DRAWN, mistakes);
        refuse(&OBJECTIVE_KEYS, ONLY_OBJECTIVE, mistakes);
        return Some(with_rows(entry, table));
    }
    let from = table.from.as_ref().unwrap_or(name);
    if from.value == OBJECTIVE {
        task.check(TaskKey::Objective, Some(&from.at), mistakes);
        refuse(&READ_KEYS, DRAWN, mistakes);
        refuse(&SPLIT_KEYS, DRAWN, mistakes);
        refuse(&SCALE_KEYS, "an objective stays in raw units", mistakes);
        refuse(&["n_test", "collapse_duplicates"], "an objective is evaluated during the run", mistakes);
        let objective = objective(table);
        let (n, d) = (objective.n, Some(objective.d));
        let mut entry = entry(Source::Objective(objective), Some((n, TrainingRows::Drawn(n))), d, None);
        entry.counts.has_test_rows = false;
        return Some(entry);
    }
    refuse(&OBJECTIVE_KEYS, ONLY_OBJECTIVE, mistakes);
    if from.value == GP_DRAW {
        refuse(&READ_KEYS, DRAWN, mistakes);
        refuse(&SPLIT_KEYS, DRAWN, mistakes);
        let (n, n_test) = sizes(table, 1000);
        let draw = GpDraw {
            n,
            n_test,
            d: table.d.value,
            kernel: table.kernel.value,
            signal_scale: table.signal_scale.value,
            noise_scale: table.noise_scale.value,
            length_scale: table.length_scale.value,
        };
        let size = (n + n_test, TrainingRows::Drawn(n));
        return Some(entry(Source::GpDraw(draw), Some(size), Some(table.d.value), None));
    }
    let Some(known) = catalog.dataset(&from.value) else {
        report_unknown(from, name, typed, catalog, mistakes);
        return None;
    };
    if known.toy {
        refuse(&READ_KEYS, DRAWN, mistakes);
        refuse(&SPLIT_KEYS, DRAWN, mistakes);
        refuse(&DRAW_KEYS, "only `gp-draw` and `objective` take it", mistakes);
        let (n, n_test) = sizes(table, known.n.unwrap_or(1000));
        let source = Source::Toy { name: known.name.clone(), n, n_test };
        return Some(entry(source, Some((n + n_test, TrainingRows::Drawn(n))), known.d.or(Some(1)), None));
    }
    refuse(&SIZE_KEYS, NOT_DRAWN, mistakes);
    refuse(&DRAW_KEYS, NOT_DRAWN, mistakes);
    refuse(&READ_KEYS, "the columns of this set are fixed, the last one is its target", mistakes);
    // One row in ten is held out for testing.
    let size = known.n.map(|n| (n, TrainingRows::Drawn(n - n / 10)));
    let mut entry = entry(Source::Registry { name: known.name.clone() }, size, known.d, known.splits);
    entry.take_size(catalog, mistakes);
    Some(with_rows(entry, table))
}

/// An objective.
fn objective(table: &table::Dataset) -> Objective {
    let draw = match table.draw.value {
        table::Draw::Exact => ObjectiveDraw::Exact,
        table::Draw::Features => {
            ObjectiveDraw::Features { features: table.features.value, frequencies: table.frequencies.value }
        }
    };
    Objective {
        n: table.n.as_ref().map_or(1000, |n| n.value),
        d: table.d.value,
        kernel: table.kernel.value,
        signal_scale: table.signal_scale.value,
        noise_scale: table.noise_scale.value,
        length_scale: table.length_scale.value,
        draw,
    }
}

/// Training and test rows of a generated set.
fn sizes(table: &table::Dataset, default: usize) -> (usize, usize) {
    let n = table.n.as_ref().map_or(default, |n| n.value);
    (n, table.n_test.as_ref().map_or((n / 10).max(1), |n_test| n_test.value))
}

/// Applies `fractions`, `subsample` and `split` to a set.
fn with_rows(mut entry: DatasetEntry, table: &table::Dataset) -> DatasetEntry {
    if let Some(given) = &table.fractions {
        entry.counts.fractions = given.value.map(|value| At { value, at: given.at.clone() });
        // Any number of splits can be drawn.
        entry.splits = None;
    }
    entry.counts.subsample = table.subsample.clone();
    entry.split = table.split.clone();
    entry
}

fn report_unknown(
    from: &At<String>,
    own: &At<String>,
    typed: &Typed,
    catalog: &Catalog,
    mistakes: &mut Mistakes,
) {
    let name = &from.value;
    let tables =
        typed.root.datasets.names().map(|table| table.value.as_str()).filter(|table| *table != own.value);
    let aliases = catalog.datasets.iter().flat_map(|d| d.aliases.iter().chain([&d.name])).map(String::as_str);
    let hint = match nearest::nearest(name, aliases.chain([GP_DRAW, OBJECTIVE]).chain(tables)) {
        Some(near) => format!("did you mean `{near}`?"),
        None if name.contains('/') || name.ends_with(".csv") || name.ends_with(".parquet") => {
            "for a file of your own, write a table [dataset.NAME] with `path`, and NAME on the axis"
                .to_owned()
        }
        None => "`gpbench data list` shows those there are; a table [dataset.NAME] with `path` adds your own"
            .to_owned(),
    };
    mistakes.add(&from.at, format!("unknown data set `{name}`"), hint);
}
