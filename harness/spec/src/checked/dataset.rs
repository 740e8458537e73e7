//! Data sets: the registry's, the user's own, toys, and Gaussian-process draws.

use std::path::PathBuf;

use gpbench_record::{Dataset, Fractions, GpDraw, Source, Subsample};

use super::positive;
use crate::catalog::{Catalog, KnownDataset};
use crate::error::Mistakes;
use crate::nearest;
use crate::source::{At, Location};
use crate::typed::{Amount, DatasetTable, FractionsTable, Typed};

/// Name of the built-in Gaussian-process draw.
pub(crate) const GP_DRAW: &str = "gp-draw";

/// Kernel families.
pub(crate) const FAMILIES: [&str; 4] = ["rbf", "matern12", "matern32", "matern52"];

/// An entry of the data-set axis.
pub(crate) struct DatasetEntry {
    pub(crate) name: String,
    pub(crate) source: Source,
    /// A split fixed by the spec.
    split: Option<At<u32>>,
    /// Shares that splits are drawn by.
    pub(crate) fractions: Option<Fractions>,
    subsample: Option<Subsample>,
    /// Where the spec says that rows with the same inputs share an unknown.
    pub(crate) collapse: Option<Location>,
    /// The user's file, where [`Source::File`].
    pub(crate) path: Option<PathBuf>,
    /// Training rows, where known.
    pub(crate) n: Option<usize>,
    /// Inputs, where known.
    pub(crate) d: Option<usize>,
    /// Number of splits, where bounded.
    splits: Option<u32>,
}

impl DatasetEntry {
    /// The rows of a case. Seed k selects split k, unless the spec fixes one;
    /// what is drawn with the seed has one split only.
    pub(crate) fn rows(&self, seed: &At<u64>, mistakes: &mut Mistakes) -> Option<Dataset> {
        let drawn = matches!(self.source, Source::Toy { .. } | Source::GpDraw(_));
        let split = match &self.split {
            Some(fixed) => fixed.value,
            None if drawn => 0,
            None => u32::try_from(seed.value).expect("seeds were checked to fit"),
        };
        if let Some(splits) = self.splits
            && split >= splits
        {
            let at = self.split.as_ref().map_or(&seed.at, |fixed| &fixed.at);
            let hint = "seed k selects split k; `split` in the data set's table fixes one".to_owned();
            let what = format!("data set `{}` has no split {split}, only 0 to {}", self.name, splits - 1);
            mistakes.add(at, what, hint);
            return None;
        }
        Some(Dataset {
            name: self.name.clone(),
            source: self.source.clone(),
            split,
            fractions: self.fractions,
            subsample: self.subsample,
            collapse_duplicates: self.collapse.is_some(),
        })
    }
}

pub(crate) fn resolve(
    name: &At<String>,
    typed: &Typed,
    catalog: &Catalog,
    mistakes: &mut Mistakes,
) -> Option<DatasetEntry> {
    let table = typed.root.datasets.iter().find(|t| t.name.value == name.value);
    let path = table.and_then(|t| t.path.as_ref());
    if let (Some(_), Some(from)) = (path, table.and_then(|t| t.from.as_ref())) {
        mistakes.add(&from.at, format!("data set `{}` has both `from` and `path`", name.value), None);
    }
    let entry = |source, n, d, splits| DatasetEntry {
        name: name.value.clone(),
        source,
        split: None,
        fractions: None,
        subsample: None,
        collapse: collapse(table),
        path: None,
        n,
        d,
        splits,
    };
    if let (Some(path), Some(table)) = (path, table) {
        let target = table.target.as_ref().map(|t| t.value.clone());
        let mut entry = entry(Source::File { path: path.value.clone(), target }, None, None, None);
        entry.path = Some(typed.folder.join(&path.value));
        refuse(table, &DRAW_KEYS, "only generated data sets take it", mistakes);
        return Some(with_rows(entry, None, table, mistakes));
    }
    let from = table.and_then(|t| t.from.as_ref()).unwrap_or(name);
    if from.value == GP_DRAW {
        let draw = gp_draw(table, mistakes)?;
        let (n, d) = (draw.n, draw.d);
        if let Some(table) = table {
            refuse(table, &FILE_KEYS, DRAWN, mistakes);
        }
        return Some(entry(Source::GpDraw(draw), Some(n), Some(d), None));
    }
    let Some(known) = catalog.dataset(&from.value) else {
        unknown(from, table, typed, catalog, mistakes);
        return None;
    };
    if known.toy {
        let source = toy(known, table, mistakes);
        let Source::Toy { n, .. } = source else { unreachable!("a toy's source is a toy") };
        if let Some(table) = table {
            refuse(table, &FILE_KEYS, DRAWN, mistakes);
            refuse(table, &DRAW_KEYS[2..], "only `gp-draw` takes it", mistakes);
        }
        return Some(entry(source, Some(n), known.d.or(Some(1)), None));
    }
    // One row in ten is held out for testing.
    let n = known.n.map(|n| n - n / 10);
    let entry = entry(Source::Registry { name: known.name.clone() }, n, known.d, known.splits);
    let Some(table) = table else { return Some(entry) };
    refuse(table, &DRAW_KEYS, "only generated data sets take it", mistakes);
    refuse(table, &["target"], "the last column of this set is its target", mistakes);
    Some(with_rows(entry, known.n, table, mistakes))
}

fn collapse(table: Option<&DatasetTable>) -> Option<Location> {
    let given = table?.collapse_duplicates.as_ref()?;
    given.value.then(|| given.at.clone())
}

const DRAWN: &str = "this data set is drawn anew for every seed: set `n` instead of a subsample";

/// Keys of sets that are read from a file.
const FILE_KEYS: [&str; 4] = ["target", "subsample", "split", "fractions"];

/// Keys of generated sets; all but the first two are those of `gp-draw` alone.
const DRAW_KEYS: [&str; 7] = ["n", "n_test", "d", "kernel", "signal_scale", "noise_scale", "length_scale"];

/// The training rows of a generated set.
fn training_rows(table: Option<&DatasetTable>, default: u32, mistakes: &mut Mistakes) -> u32 {
    let given = table.and_then(|t| t.n.as_ref());
    let n = positive(given, "n", default, mistakes);
    if let (1, Some(given)) = (n, given) {
        mistakes.add(&given.at, "one training row cannot be standardised", "give at least 2".to_owned());
    }
    n
}

/// Tells every key of `keys` that the table gives.
fn refuse(table: &DatasetTable, keys: &[&str], why: &str, mistakes: &mut Mistakes) {
    fn place<T>(value: &Option<At<T>>) -> Option<&Location> {
        value.as_ref().map(|v| &v.at)
    }
    for key in keys {
        let given = match *key {
            "n" => place(&table.n),
            "n_test" => place(&table.n_test),
            "d" => place(&table.d),
            "kernel" => place(&table.kernel),
            "signal_scale" => place(&table.signal_scale),
            "noise_scale" => place(&table.noise_scale),
            "length_scale" => place(&table.length_scale),
            "target" => place(&table.target),
            "subsample" => place(&table.subsample),
            "fractions" => place(&table.fractions),
            _ => place(&table.split),
        };
        if let Some(at) = given {
            mistakes.add(
                at,
                format!("`{key}` does not apply to data set `{}`", table.name.value),
                why.to_owned(),
            );
        }
    }
}

/// Applies `fractions`, `subsample` and `split`. A set of `total` rows gives as many of them to training as the entry
/// says, unless fractions do.
fn with_rows(
    mut entry: DatasetEntry,
    total: Option<usize>,
    table: &DatasetTable,
    mistakes: &mut Mistakes,
) -> DatasetEntry {
    if let Some(given) = &table.fractions {
        entry.fractions = fractions(given, mistakes);
        // What is drawn can be drawn any number of times.
        entry.splits = None;
        let share = entry.fractions.map(|Fractions { train, .. }| Subsample::Fraction(train));
        entry.n = total.zip(share).map(|(total, share)| share.rows(total));
    }
    if let Some(given) = &table.subsample {
        let subsample = subsample(given, mistakes);
        if let (Some(n), Subsample::Rows(rows)) = (entry.n, subsample)
            && rows > n
        {
            let what = format!("data set `{}` has {n} training rows, fewer than {rows}", entry.name);
            mistakes.add(&given.at, what, None);
        }
        entry.subsample = Some(subsample);
        entry.n = match subsample {
            Subsample::Rows(rows) => Some(rows),
            Subsample::Fraction(_) => entry.n.map(|n| subsample.rows(n)),
        };
    }
    if let Some(given) = &table.split {
        match u32::try_from(given.value) {
            Ok(value) => entry.split = Some(At { value, at: given.at.clone() }),
            Err(_) => mistakes.add(&given.at, "`split` must be a whole number, 0 or more", None),
        }
    }
    entry
}

/// Shares of training and test rows, which leave the rest aside.
fn fractions(given: &At<FractionsTable>, mistakes: &mut Mistakes) -> Option<Fractions> {
    let (Some(train), Some(test)) = (&given.value.train, &given.value.test) else {
        let hint = "for instance { train = 0.64, test = 0.2 }".to_owned();
        mistakes.add(&given.at, "`fractions` needs `train` and `test`", hint);
        return None;
    };
    for (key, share) in [("train", train), ("test", test)] {
        if !(share.value > 0.0 && share.value < 1.0) {
            let hint = "a fraction lies between 0 and 1".to_owned();
            mistakes.add(&share.at, format!("`{key}` cannot be {:?}", share.value), hint);
            return None;
        }
    }
    let (train, test) = (train.value, test.value);
    if train + test > 1.0 + f64::EPSILON {
        let hint = "together at most 1; rows that are left are set aside".to_owned();
        mistakes.add(&given.at, format!("fractions of {train:?} and {test:?} are more than all rows"), hint);
        return None;
    }
    Some(Fractions { train, test })
}

/// A count of rows, or a share of them.
fn subsample(given: &At<Amount>, mistakes: &mut Mistakes) -> Subsample {
    match given.value {
        Amount::Count(count) => {
            let count = At { value: count, at: given.at.clone() };
            Subsample::Rows(positive(Some(&count), "subsample", 1, mistakes) as usize)
        }
        Amount::Share(share) => {
            if !(share > 0.0 && share < 1.0) {
                let hint = "a fraction lies between 0 and 1; a count has no decimal point".to_owned();
                mistakes.add(&given.at, format!("`subsample` cannot be {share:?}"), hint);
            }
            Subsample::Fraction(share)
        }
    }
}

fn toy(known: &KnownDataset, table: Option<&DatasetTable>, mistakes: &mut Mistakes) -> Source {
    let default = known.n.unwrap_or(1000) as u32;
    let n = training_rows(table, default, mistakes);
    let n_test = positive(table.and_then(|t| t.n_test.as_ref()), "n_test", (n / 10).max(1), mistakes);
    Source::Toy { name: known.name.clone(), n: n as usize, n_test: n_test as usize }
}

/// A Gaussian-process draw; whatever the table leaves out takes the values below.
fn gp_draw(table: Option<&DatasetTable>, mistakes: &mut Mistakes) -> Option<GpDraw> {
    let n = training_rows(table, 1000, mistakes);
    let scale = |given: Option<&At<f64>>, key: &str, default: f64, zero: bool, mistakes: &mut Mistakes| {
        let value = given.map_or(default, |g| g.value);
        if let Some(given) = given
            && !(value.is_finite() && (value > 0.0 || zero && value == 0.0))
        {
            mistakes.add(&given.at, format!("`{key}` must be positive and finite, not {value}"), None);
        }
        value
    };
    let kernel = match table.and_then(|t| t.kernel.as_ref()) {
        None => "matern32".to_owned(),
        Some(family) => {
            super::kernel::known_family(family, mistakes);
            family.value.clone()
        }
    };
    Some(GpDraw {
        n: n as usize,
        n_test: positive(table.and_then(|t| t.n_test.as_ref()), "n_test", (n / 10).max(1), mistakes) as usize,
        d: positive(table.and_then(|t| t.d.as_ref()), "d", 2, mistakes) as usize,
        kernel,
        signal_scale: scale(
            table.and_then(|t| t.signal_scale.as_ref()),
            "signal_scale",
            1.0,
            false,
            mistakes,
        ),
        noise_scale: scale(table.and_then(|t| t.noise_scale.as_ref()), "noise_scale", 0.1, true, mistakes),
        length_scale: scale(
            table.and_then(|t| t.length_scale.as_ref()),
            "length_scale",
            0.3,
            false,
            mistakes,
        ),
    })
}

fn unknown(
    from: &At<String>,
    table: Option<&DatasetTable>,
    typed: &Typed,
    catalog: &Catalog,
    mistakes: &mut Mistakes,
) {
    let name = &from.value;
    let own = table.map(|t| t.name.value.as_str());
    let tables = typed.root.datasets.iter().map(|t| t.name.value.as_str()).filter(|t| Some(*t) != own);
    let aliases = catalog.datasets.iter().flat_map(|d| d.aliases.iter().chain([&d.name])).map(String::as_str);
    let hint = match nearest::nearest(name, aliases.chain([GP_DRAW]).chain(tables)) {
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
