//! Kernels, and where their hyperparameters come from.
//!
//! | `hyperparameters` | meaning |
//! |---|---|
//! | `"ones"` (default) | every scale is 1 |
//! | `"published"` | the built-in figures of Lin et al. 2023, by data set and split |
//! | `"generating"` | those that a `gp-draw` data set was drawn with |
//! | `{ signal_scale, noise_scale, length_scale }` | as given; one length scale is shared by all inputs |
//! | `{ from = "...", ... }` | one of the first three, with some numbers replaced |
//!
//! Training begins with them, and with `length_scale = "shared"` trains a single one.
//!
//! A draw's inputs are uniform on the unit cube and its rows are standardised like
//! any other data set's, so the generating hyperparameters are converted with the
//! population's statistics: inputs have standard deviation 1/sqrt(12), targets
//! sqrt(signal_scale^2 + noise_scale^2). A finite draw's own statistics differ a
//! little (more, the longer the length scale), and so do its best hyperparameters.

use gpbench_record::{Kernel, Source, Subset, Task};

use super::dataset::{DatasetEntry, FAMILIES};
use super::train;
use crate::error::Mistakes;
use crate::source::{At, Location};
use crate::typed::{Hyperparameters, Root};
use crate::{nearest, published};

const ORIGINS: [&str; 3] = ["published", "ones", "generating"];

/// An entry of the kernel axis.
pub(crate) struct KernelEntry {
    pub(crate) name: String,
    family: String,
    from: Origin,
    /// Where the numbers' source is named.
    at: Location,
    /// Numbers that stand in the spec.
    given: Hyperparameters,
    /// Fits of parts of the data, from whose average training begins.
    subset: Option<Subset>,
}

/// Where numbers come from that do not stand in the spec.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Origin {
    Published,
    Ones,
    Generating,
    Spec,
}

/// Numbers before the spec's own are put over them.
struct Numbers {
    signal_scale: f64,
    noise_scale: f64,
    length_scale: Vec<f64>,
    origin: &'static str,
}

/// Tells a family that does not exist.
pub(super) fn known_family(family: &At<String>, mistakes: &mut Mistakes) {
    if !FAMILIES.contains(&family.value.as_str()) {
        let hint = nearest::hint(&family.value, FAMILIES);
        mistakes.add(&family.at, format!("unknown kernel family `{}`", family.value), hint);
    }
}

pub(crate) fn resolve(
    name: &At<String>,
    root: &Root,
    task: Task,
    mistakes: &mut Mistakes,
) -> Option<KernelEntry> {
    let table = root.kernels.iter().find(|t| t.name.value == name.value);
    let family = match table {
        Some(table) => table.family.as_ref().unwrap_or(name),
        None => name,
    };
    if !FAMILIES.contains(&family.value.as_str()) {
        let tables = root.kernels.iter().map(|t| t.name.value.as_str()).filter(|t| *t != name.value);
        let (what, hint) = match table {
            Some(table) if table.family.is_none() => (
                format!("[kernel.{}] lacks `family`", name.value),
                Some("it is one of `rbf`, `matern12`, `matern32`, `matern52`".to_owned()),
            ),
            Some(_) => {
                (format!("unknown kernel family `{}`", family.value), nearest::hint(&family.value, FAMILIES))
            }
            None => (
                format!("unknown kernel `{}`", name.value),
                nearest::hint(&name.value, FAMILIES.into_iter().chain(tables)),
            ),
        };
        let at = if table.is_some_and(|t| t.family.is_none()) { &table?.name.at } else { &family.at };
        mistakes.add(at, what, hint);
        return None;
    }
    let initial = root.train.as_ref().and_then(|train| train.value.initial.as_ref());
    let typed = table.and_then(|t| t.hyperparameters.as_ref()).or(initial);
    let fit = typed.and_then(|t| t.value.fit.as_ref());
    let subset = fit.and_then(|fit| train::subset(fit, task, mistakes));
    let (from, at) = match typed.map(|t| (&t.value.from, &t.at)) {
        None => (Origin::Ones, &name.at),
        Some((None, at)) if fit.is_some() => (Origin::Ones, at),
        Some((None, at)) => (Origin::Spec, at),
        Some((Some(from), _)) => match from.value.as_str() {
            "published" => (Origin::Published, &from.at),
            "ones" => (Origin::Ones, &from.at),
            "generating" => (Origin::Generating, &from.at),
            other => {
                let hint = nearest::hint(other, ORIGINS);
                mistakes.add(&from.at, format!("unknown hyperparameters \"{other}\""), hint);
                return None;
            }
        },
    };
    let given = typed.map(|t| t.value.clone()).unwrap_or_default();
    let before = mistakes.count();
    check_given(&given, mistakes);
    if let Some(at) = given.shared.as_ref().filter(|_| task != Task::Train) {
        let hint = "write one number, which all inputs share".to_owned();
        mistakes.add(at, "a shared length scale is fitted by task \"train\" only", hint);
    }
    if from == Origin::Spec {
        let missing: Vec<&str> = [
            ("signal_scale", given.signal_scale.is_none()),
            ("noise_scale", given.noise_scale.is_none()),
            ("length_scale", given.length_scale.is_none() && given.shared.is_none()),
        ]
        .into_iter()
        .filter_map(|(key, absent)| absent.then_some(key))
        .collect();
        if !missing.is_empty() {
            let hint = "give all three scales, or `from` to start from known ones".to_owned();
            mistakes.add(at, format!("hyperparameters lack `{}`", missing.join("`, `")), hint);
        }
    }
    (mistakes.count() == before).then(|| KernelEntry {
        name: name.value.clone(),
        family: family.value.clone(),
        from,
        at: at.clone(),
        given,
        subset,
    })
}

/// Every scale is positive and finite.
fn check_given(given: &Hyperparameters, mistakes: &mut Mistakes) {
    let single = [("signal_scale", &given.signal_scale), ("noise_scale", &given.noise_scale)];
    let single = single.into_iter().filter_map(|(key, value)| value.as_ref().map(|v| (key, v)));
    let lengths = given.length_scale.iter().flat_map(|l| &l.value).map(|v| ("length_scale", v));
    for (key, value) in single.chain(lengths) {
        if !(value.value > 0.0 && value.value.is_finite()) {
            mistakes.add(
                &value.at,
                format!("`{key}` must be positive and finite, not {}", value.value),
                None,
            );
        }
    }
    if let Some(lengths) = &given.length_scale
        && lengths.value.is_empty()
    {
        let hint = "give one number, or one for every input".to_owned();
        mistakes.add(&lengths.at, "`length_scale` is empty", hint);
    }
}

impl KernelEntry {
    /// Fits of parts of the data, from whose average training begins.
    pub(crate) fn subset(&self) -> Option<Subset> {
        self.subset
    }

    /// Whether training is to move one length scale for all inputs.
    pub(crate) fn shares_length_scale(&self) -> bool {
        self.given.shared.is_some()
    }

    /// The kernel of one cell, with its numbers.
    pub(crate) fn numbers(
        &self,
        dataset: &DatasetEntry,
        split: u32,
        mistakes: &mut Mistakes,
    ) -> Option<Kernel> {
        let base = match self.from {
            Origin::Published => self.published(dataset, split, mistakes)?,
            Origin::Generating => self.generating(dataset, mistakes)?,
            Origin::Ones => {
                Numbers { signal_scale: 1.0, noise_scale: 1.0, length_scale: vec![1.0], origin: "ones" }
            }
            Origin::Spec => {
                Numbers { signal_scale: 1.0, noise_scale: 1.0, length_scale: vec![1.0], origin: "given" }
            }
        };
        let mut origin = base.origin.to_owned();
        let mut put = |key: &str, given: Option<&At<f64>>, base: f64| match given {
            Some(given) => {
                if self.from != Origin::Spec {
                    origin += &format!(", {key} = {}", given.value);
                }
                given.value
            }
            None => base,
        };
        let signal_scale = put("signal_scale", self.given.signal_scale.as_ref(), base.signal_scale);
        let noise_scale = put("noise_scale", self.given.noise_scale.as_ref(), base.noise_scale);
        let length_scale = match &self.given.length_scale {
            None => base.length_scale,
            Some(given) => {
                self.fits(given, dataset, mistakes)?;
                if self.from != Origin::Spec {
                    origin += ", length_scale given";
                }
                given.value.iter().map(|l| l.value).collect()
            }
        };
        if let Some(at) = self.given.shared.as_ref().filter(|_| length_scale.len() > 1) {
            let hint = "begin with numbers of which all inputs share one, such as \"ones\"".to_owned();
            mistakes.add(at, "published length scales are one for each input: none is shared", hint);
            return None;
        }
        if noise_scale == 0.0 {
            let hint = "add noise_scale, as in { from = \"generating\", noise_scale = 1e-3 }".to_owned();
            mistakes.add(&self.at, format!("data set `{}` was drawn without noise", dataset.name), hint);
            return None;
        }
        Some(Kernel {
            name: self.name.clone(),
            family: self.family.clone(),
            signal_scale,
            noise_scale,
            length_scale,
            mean: None,
            origin,
        })
    }

    /// Whether the given length scales are as many as the inputs, where those are known.
    fn fits(&self, given: &At<Vec<At<f64>>>, dataset: &DatasetEntry, mistakes: &mut Mistakes) -> Option<()> {
        let count = given.value.len();
        match dataset.d {
            Some(d) if count != 1 && count != d => {
                let what = format!("{count} length scales for the {d} inputs of data set `{}`", dataset.name);
                let hint = "give one number, which all inputs share, or one for every input".to_owned();
                mistakes.add(&given.at, what, hint);
                None
            }
            _ => Some(()),
        }
    }

    fn published(&self, dataset: &DatasetEntry, split: u32, mistakes: &mut Mistakes) -> Option<Numbers> {
        let known = match &dataset.source {
            Source::Registry { name } if self.family == published::FAMILY && dataset.fractions.is_none() => {
                published::find(name, split)
            }
            _ => None,
        };
        let Some(known) = known else {
            let name = &dataset.name;
            let item = if self.family != published::FAMILY {
                format!("kernel `{}`", self.family)
            } else if dataset.fractions.is_some() {
                format!("splits of data set `{name}` by `fractions`")
            } else if matches!(&dataset.source, Source::Registry { name } if published::splits(name).is_some())
            {
                format!("split {split} of data set `{name}`")
            } else {
                format!("data set `{name}`")
            };
            let hint = format!("they exist for {}", published::listing());
            mistakes.add_item(&self.at, "there are no published hyperparameters for", &item, hint);
            return None;
        };
        Some(Numbers {
            signal_scale: known.signal_scale,
            noise_scale: known.noise_scale,
            length_scale: known.length_scale.clone(),
            origin: published::ORIGIN,
        })
    }

    fn generating(&self, dataset: &DatasetEntry, mistakes: &mut Mistakes) -> Option<Numbers> {
        let Source::GpDraw(draw) = &dataset.source else {
            let what = format!("data set `{}` was not drawn from a Gaussian process", dataset.name);
            mistakes.add(&self.at, what, "\"generating\" is for `gp-draw` data sets".to_owned());
            return None;
        };
        if draw.kernel != self.family {
            let what = format!(
                "data set `{}` was drawn with `{}`, not `{}`",
                dataset.name, draw.kernel, self.family
            );
            mistakes.add(&self.at, what, "\"generating\" is for the kernel of the draw".to_owned());
            return None;
        }
        let target_std = draw.signal_scale.hypot(draw.noise_scale);
        Some(Numbers {
            signal_scale: draw.signal_scale / target_std,
            noise_scale: draw.noise_scale / target_std,
            length_scale: vec![draw.length_scale * 12.0_f64.sqrt()],
            origin: "generating",
        })
    }
}
