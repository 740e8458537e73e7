//! Data sets: the registry's, the user's own, toys, and Gaussian-process draws.

use gpbench_record::{
    Dataset, GpDraw, InputScaling, Objective, ObjectiveDraw, Predictions, Source, SplitRule, TargetScaling,
};

use super::rows::RowCounts;
use super::rule;
use crate::catalog::{Catalog, DatasetSize, SplitCheck, TrainingRows};
use crate::error::Mistakes;
use crate::nearest;
use crate::own_files::OwnFiles;
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
    /// A rule that divides the rows.
    rule: Option<SplitRule>,
    /// Whether rows with the same inputs stay together, where the spec says so.
    replicates: Option<bool>,
    /// Number of groups, where its files were read.
    groups: Option<u32>,
    /// Whether some rows share their inputs, where its files were read.
    has_replicates: Option<bool>,
    pub(crate) counts: RowCounts,
    pub(crate) targets: TargetScaling,
    pub(crate) inputs: InputScaling,
    /// Where the spec says that rows with the same inputs share an unknown.
    pub(crate) collapse: Option<Location>,
    /// The user's files, where [`Source::File`].
    pub(crate) own_files: Option<OwnFiles>,
    /// Whether the spec asks for the predictions on the test rows, or for none.
    predictions: Option<At<bool>>,
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
        let dataset = self.dataset(self.split(seed), validation);
        match dataset.is_grouped() {
            true => self.counts.kept(self.split_check.training_rows(&dataset).and_then(Result::ok)),
            false => self.counts.n(dataset.split, validation),
        }
    }

    /// The split of a seed.
    fn split(&self, seed: u64) -> u32 {
        match &self.split {
            Some(fixed) => fixed.value,
            None if self.source.is_drawn() || self.has_own_test_rows() => 0,
            None if matches!(self.rule, Some(SplitRule::Future { .. })) => 0,
            None => u32::try_from(seed).expect("seeds were checked to fit"),
        }
    }

    /// Whether the test rows have a file of their own, so that there is one split.
    fn has_own_test_rows(&self) -> bool {
        self.own_files.as_ref().is_some_and(|own| own.test.is_some())
    }

    /// Takes the size of its files, where they were read; reports files that cannot be read.
    fn take_size(&mut self, catalog: &Catalog, mistakes: &mut Mistakes) {
        match catalog.sizes.get(&self.name) {
            Some(Ok(DatasetSize { rows, inputs, training, groups, has_replicates })) => {
                if let TrainingRows::Masked(splits) = training {
                    self.splits = Some(splits.len() as u32);
                }
                self.groups = Some(*groups as u32);
                self.has_replicates = Some(*has_replicates);
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
            let (what, hint) = rule::no_split(&self.name, self.rule.as_ref(), split, splits);
            mistakes.add(at, what, hint);
            return None;
        }
        let dataset = self.dataset(split, validation.map(|share| share.value));
        let training = self.split_check.training_rows(&dataset);
        match &training {
            _ if !dataset.is_grouped() => self.counts.check(&self.name, split, validation, mistakes),
            Some(Ok(rows)) => self.counts.check_kept(&self.name, Some(*rows), mistakes),
            _ => self.counts.check_kept(&self.name, None, mistakes),
        }
        if let Some(Err(fault)) = training {
            mistakes.add(&self.counts.at, fault, None);
        }
        self.check_predictions(split, mistakes);
        Some(dataset)
    }

    /// Whether rows with the same inputs stay together. By default, they do on a user's own file whose rows would be drawn
    /// one by one.
    fn keeps_replicates(&self) -> bool {
        let group = match &self.source {
            Source::File { options, .. } => options.group.is_some(),
            _ => true,
        };
        let has_replicates = self.has_replicates.unwrap_or(self.replicates.is_some());
        has_replicates
            && !self.has_own_test_rows()
            && (self.rule.is_some() || self.counts.is_drawn())
            && self.replicates.unwrap_or(self.rule.is_none() && !group)
    }

    /// The rows of a split.
    fn dataset(&self, split: u32, validation: Option<f64>) -> Dataset {
        Dataset {
            name: self.name.clone(),
            source: self.source.clone(),
            split,
            fractions: self.counts.fractions(),
            subsample: self.counts.subsample.as_ref().map(|subsample| subsample.value),
            collapse_duplicates: self.collapse.is_some(),
            targets: self.targets,
            inputs: self.inputs,
            validation,
            predictions: self.predictions.as_ref().map(|given| given.value),
            rule: self.rule.clone(),
            keep_replicates: self.keeps_replicates(),
        }
    }

    /// Reports predictions that the spec asks for and that are too many to keep.
    fn check_predictions(&self, split: u32, mistakes: &mut Mistakes) {
        let Some(asked) = self.predictions.as_ref().filter(|asked| asked.value) else { return };
        let most = Predictions::MOST_ROWS;
        if let Some(rows) = self.counts.test_rows(split).filter(|rows| *rows > most)
            && !mistakes.is_reported(&asked.at)
        {
            let what =
                format!("data set `{}` has {rows} test rows; predictions of {most} can be kept", self.name);
            let hint = "remove `predictions`, or give `fractions` with a smaller share of test rows";
            mistakes.add(&asked.at, what, hint.to_owned());
        }
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
        rule: None,
        replicates: table.replicates.as_ref().map(|together| together.value),
        groups: None,
        has_replicates: None,
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
        own_files: None,
        predictions: table.predictions.clone(),
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
    if table.path.is_none() {
        refuse(&["test"], "it goes with `path`, a file of your own", mistakes);
    }
    if let Some(asked) = table.predictions.as_ref().filter(|asked| asked.value) {
        task.check(TaskKey::TestPredictions, Some(&asked.at), mistakes);
    }
    const DRAWN: &str = "this data set is drawn anew for every seed: set `n` instead of a subsample";
    const NOT_DRAWN: &str = "only generated data sets take it";
    const ONLY_OBJECTIVE: &str = "only `objective` takes it";
    const OWN_TEST_ROWS: &str = "with `test` there is one split: all rows of `path` are training rows";
    if let Some(path) = &table.path {
        let source = Source::File { path: path.value.clone(), options: table.read_options() };
        let mut entry = entry(source, None, None, None);
        entry.own_files = OwnFiles::of(table, &typed.folder);
        entry.take_size(catalog, mistakes);
        refuse(&SIZE_KEYS, NOT_DRAWN, mistakes);
        refuse(&DRAW_KEYS, NOT_DRAWN, mistakes);
        refuse(&OBJECTIVE_KEYS, ONLY_OBJECTIVE, mistakes);
        if table.test.is_some() {
            refuse(&["split", "fractions", "group", "replicates"], OWN_TEST_ROWS, mistakes);
        }
        return Some(with_rows(entry, table, mistakes));
    }
    let from = table.from.as_ref().unwrap_or(name);
    if from.value == OBJECTIVE {
        task.check(TaskKey::Objective, Some(&from.at), mistakes);
        refuse(&READ_KEYS, DRAWN, mistakes);
        refuse(&SPLIT_KEYS, DRAWN, mistakes);
        refuse(&SCALE_KEYS, "an objective stays in raw units", mistakes);
        let of_rows = ["n_test", "collapse_duplicates", "predictions"];
        refuse(&of_rows, "an objective is evaluated during the run", mistakes);
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
    Some(with_rows(entry, table, mistakes))
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
fn with_rows(mut entry: DatasetEntry, table: &table::Dataset, mistakes: &mut Mistakes) -> DatasetEntry {
    if let Some(given) = &table.fractions {
        entry.counts.fractions = given.value.map(|value| At { value, at: given.at.clone() });
        // Any number of splits can be drawn.
        entry.splits = None;
    }
    entry.counts.subsample = table.subsample.clone();
    entry.split = table.index().cloned();
    if let (Some(rule), Some(split)) = (table.rule(), &table.split) {
        rule::check(&entry.name, rule, &split.at, table, mistakes);
        entry.rule = Some(rule.clone());
        entry.splits = match rule {
            SplitRule::LeaveGroupOut => entry.groups,
            _ => rule.splits().map(|splits| splits as u32),
        };
    }
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
