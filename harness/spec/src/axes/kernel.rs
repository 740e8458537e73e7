//! Kernels, and where their hyperparameters come from.
//!
//! The rows of a draw are scaled like those of any other data set, by statistics that depend on the seed and are known
//! only where the rows are drawn. So the generating hyperparameters stay in the units of the draw here, and the worker
//! converts them. With the population's statistics in their place, the exact process of a draw with a long length
//! scale would have intervals that are too narrow.

use gpbench_record::{
    Covariance, GpDraw, InputScaling, Kernel, NetworkShape, Objective, Origin, OriginBase, Source, Subset,
    TargetScaling,
};

use super::dataset::DatasetEntry;
use super::numbers::Numbers;
use crate::error::Mistakes;
use crate::nearest;
use crate::published;
use crate::source::{At, Location};
use crate::tables::kernel::{self as table, Base, Hyperparameters, LengthScale};
use crate::tables::root::Root;
use crate::task_keys::{TaskKey, TaskKeys};

/// An entry of the kernel axis.
pub(crate) struct KernelEntry {
    pub(crate) name: String,
    pub(crate) family: Covariance,
    /// The network between inputs and kernel.
    pub(crate) network: Option<NetworkShape>,
    /// Where the numbers come from; `None` where the spec gives all.
    base: Option<Base>,
    /// Whether the spec does not say where.
    is_default: bool,
    /// Where the spec states it.
    at: Location,
    /// Numbers that the spec gives.
    given: Hyperparameters,
}

/// Resolves a name on the axis.
pub(crate) fn resolve(
    name: &At<String>,
    root: &Root,
    task: TaskKeys,
    mistakes: &mut Mistakes,
) -> Option<KernelEntry> {
    let table = root.kernels.find(&name.value);
    let family = match table.and_then(|table| table.family.as_ref()) {
        Some(family) => family.value,
        None => family_of_name(name, root, mistakes)?,
    };
    let own = table.and_then(|table| table.hyperparameters.as_ref());
    let typed = own.or(root.train.value.initial.as_ref());
    let given = typed.map(|typed| typed.value.clone()).unwrap_or_default();
    let (base, at) = match (typed, &given.from) {
        (None, _) => (Some(Base::Ones), &name.at),
        (Some(_), Some(from)) => (Some(from.value), &from.at),
        (Some(typed), None) => (given.fit.as_ref().map(|_| Base::Ones), &typed.at),
    };
    let before = mistakes.count();
    let network = network(name, table, family, task, mistakes);
    task.check(TaskKey::SharedLengthScale, given.shared(), mistakes);
    task.check(TaskKey::Fit, given.fit.as_ref().map(|fit| &fit.at), mistakes);
    task.check(TaskKey::DataStart, (base == Some(Base::Data)).then_some(at), mistakes);
    if base.is_none() {
        let is_written = |key: &str| given.written.iter().any(|written| written.value == key);
        let scales = ["signal_scale", "noise_scale", "length_scale"];
        let missing: Vec<&str> = scales.into_iter().filter(|key| !is_written(key)).collect();
        if !missing.is_empty() {
            let hint = "give all three scales, or `from` to start from known ones".to_owned();
            mistakes.add(at, format!("hyperparameters lack `{}`", missing.join("`, `")), hint);
        }
    }
    let (name, at) = (name.value.clone(), at.clone());
    let is_default = typed.is_none();
    (mistakes.count() == before).then_some(KernelEntry { name, family, network, base, is_default, at, given })
}

/// The network of a kernel, with its random features.
fn network(
    name: &At<String>,
    table: Option<&table::Kernel>,
    family: Covariance,
    task: TaskKeys,
    mistakes: &mut Mistakes,
) -> Option<NetworkShape> {
    let given = table.and_then(|table| table.network.as_ref());
    let random = table.and_then(|table| table.random.as_ref());
    let of_family = table.and_then(|table| table.family.as_ref()).map_or(&name.at, |family| &family.at);
    let linear = (family == Covariance::Linear).then_some(of_family);
    let written = [given.map(|network| &network.at), random.map(|random| &random.at), linear];
    if let Some(at) = written.iter().flatten().next()
        && !task.check(TaskKey::Network, Some(at), mistakes)
    {
        return None;
    }
    if given.is_none() {
        let hint = || "add, for instance, network = { widths = [128, 128] }".to_owned();
        if let Some(at) = linear {
            mistakes.add(at, "a linear kernel is on the outputs of a network", hint());
        }
        if let Some(random) = random {
            mistakes.add(&random.at, "random features are of a kernel on the outputs of a network", hint());
        }
    } else if let (Some(_), Some(random)) = (linear, random) {
        mistakes.add(&random.at, "`random` has no effect: a linear kernel is of finite dimension", None);
    }
    let network = given.and_then(|network| network.value.clone())?;
    Some(NetworkShape { random: random.map(|random| random.value), ..network })
}

/// The family that an entry without `family` is named after.
fn family_of_name(name: &At<String>, root: &Root, mistakes: &mut Mistakes) -> Option<Covariance> {
    let families: Vec<&str> = Covariance::all().map(Covariance::as_str).collect();
    let found = name.value.parse().ok();
    if found.is_none() {
        let table = root.kernels.names().find(|table| table.value == name.value);
        let (at, what, hint) = match table {
            Some(table) => {
                let hint = format!("it is one of `{}`", families.join("`, `"));
                (&table.at, format!("[kernel.{}] lacks `family`", name.value), Some(hint))
            }
            None => {
                let known =
                    families.into_iter().chain(root.kernels.names().map(|table| table.value.as_str()));
                (&name.at, format!("unknown kernel `{}`", name.value), nearest::hint(&name.value, known))
            }
        };
        mistakes.add(at, what, hint);
    }
    found
}

impl KernelEntry {
    /// Exact fits of parts of the data, whose average training starts from.
    pub(crate) fn subset(&self) -> Option<Subset> {
        self.given.fit.as_ref().map(|fit| fit.value)
    }

    /// Whether training moves one length scale for all inputs.
    pub(crate) fn shares_length_scale(&self) -> bool {
        self.given.shared().is_some()
    }

    /// The kernel of one cell, with its numbers.
    pub(crate) fn numbers(
        &self,
        dataset: &DatasetEntry,
        split: u32,
        mean: Option<f64>,
        mistakes: &mut Mistakes,
    ) -> Option<Kernel> {
        let base = self.base_on(dataset);
        let mut numbers = match base {
            Some(Base::Data) => self.of_the_data(dataset, mistakes)?,
            Some(Base::Published) => self.published(dataset, split, mistakes)?,
            Some(Base::Generating) => self.generating(dataset, mistakes)?,
            Some(Base::Ones) => Numbers::ones(OriginBase::Ones),
            None => Numbers::ones(OriginBase::Given),
        };
        let mut changes = Vec::new();
        let scales = [
            ("signal_scale", &self.given.signal_scale, &mut numbers.signal_scale),
            ("noise_scale", &self.given.noise_scale, &mut numbers.noise_scale),
        ];
        for (key, given, scale) in scales {
            if let Some(given) = given {
                *scale = given.value;
                changes.push(format!("{key} = {}", given.value));
            }
        }
        match &self.given.length_scale {
            Some(At { value: LengthScale::Given(given), at }) => {
                self.check_count(given.len(), at, dataset, mistakes)?;
                numbers.length_scale.clone_from(given);
                changes.push("length_scale given".to_owned());
            }
            Some(At { value: LengthScale::Shared, at }) if numbers.length_scale.len() > 1 => {
                let hint = "begin with numbers of which all inputs share one, such as \"ones\"".to_owned();
                mistakes.add(at, "published length scales are one for each input: none is shared", hint);
                return None;
            }
            Some(_) | None => {}
        }
        if numbers.noise_scale == 0.0 {
            let hint = "add noise_scale, as in { from = \"generating\", noise_scale = 1e-3 }".to_owned();
            mistakes.add(&self.at, format!("data set `{}` was drawn without noise", dataset.name), hint);
            return None;
        }
        numbers.check_scales(&dataset.name, &self.at, mistakes)?;
        if self.base.is_none() {
            changes.clear();
        }
        Some(Kernel {
            name: self.name.clone(),
            family: self.family,
            signal_scale: numbers.signal_scale,
            noise_scale: numbers.noise_scale,
            length_scale: numbers.length_scale,
            mean,
            origin: Origin { base: numbers.origin, changes },
            network: self.network.clone(),
            start: (base == Some(Base::Data)).then(|| self.given.start()),
        })
    }

    /// Where the numbers come from on a data set. Where the spec does not say, those for a file of the user's own
    /// come from its rows: scales of 1 may be far from any good ones.
    fn base_on(&self, dataset: &DatasetEntry) -> Option<Base> {
        let is_own = matches!(dataset.source, Source::File { .. });
        let is_on_inputs = self.network.is_none() && self.family.stationary().is_some();
        if self.is_default && is_own && is_on_inputs { Some(Base::Data) } else { self.base }
    }

    /// Placeholders for numbers that the worker finds in the data.
    fn of_the_data(&self, dataset: &DatasetEntry, mistakes: &mut Mistakes) -> Option<Numbers> {
        let what = if self.network.is_some() || self.family.stationary().is_none() {
            format!(
                "kernel `{}` is not on the inputs, from whose distances length scales are made",
                self.name
            )
        } else if matches!(dataset.source, Source::Objective(_)) {
            format!("data set `{}` has few rows, and is drawn with known hyperparameters", dataset.name)
        } else {
            return Some(Numbers::ones(OriginBase::Data));
        };
        mistakes.add(&self.at, what, "give the scales, or write \"ones\" or \"generating\"".to_owned());
        None
    }

    fn published(&self, dataset: &DatasetEntry, split: u32, mistakes: &mut Mistakes) -> Option<Numbers> {
        let registered = match &dataset.source {
            Source::Registry { name } => Some(name.as_str()),
            Source::File { .. } | Source::Toy { .. } | Source::GpDraw(_) | Source::Objective(_) => None,
        };
        let is_standardised =
            dataset.targets == TargetScaling::Standardised && dataset.inputs == InputScaling::Standardised;
        let is_theirs = is_standardised && dataset.counts.fractions.is_none() && self.network.is_none();
        let family = self.family.stationary().filter(|_| is_theirs);
        let known = registered.zip(family);
        let known = known.and_then(|(name, family)| published::published_kernel(name, split, family));
        let Some(known) = known else {
            let name = &dataset.name;
            let item = if self.network.is_some() {
                "kernels on a network".to_owned()
            } else if self.family != published::FAMILY {
                format!("kernel `{}`", self.family)
            } else if dataset.counts.fractions.is_some() {
                format!("splits of data set `{name}` by `fractions`")
            } else if !is_standardised {
                format!("data set `{name}` unless its inputs and targets are standardised")
            } else if registered.is_some_and(|name| published::splits(name).is_some()) {
                format!("split {split} of data set `{name}`")
            } else {
                format!("data set `{name}`")
            };
            let hint = format!("they exist for {}", published::listing());
            mistakes.add_item(&self.at, "there are no published hyperparameters for", &item, hint);
            return None;
        };
        let Kernel { signal_scale, noise_scale, length_scale, origin, .. } = known;
        Some(Numbers { signal_scale, noise_scale, length_scale, origin: origin.base })
    }

    fn generating(&self, dataset: &DatasetEntry, mistakes: &mut Mistakes) -> Option<Numbers> {
        let (drawn_with, origin, numbers) = match &dataset.source {
            Source::GpDraw(draw) => {
                let GpDraw { signal_scale, noise_scale, length_scale, .. } = *draw;
                (draw.kernel, OriginBase::Drawn, [signal_scale, noise_scale, length_scale])
            }
            // Its rows stay in raw units.
            Source::Objective(objective) => {
                let Objective { signal_scale, noise_scale, length_scale, .. } = *objective;
                (objective.kernel, OriginBase::Generating, [signal_scale, noise_scale, length_scale])
            }
            Source::Registry { .. } | Source::File { .. } | Source::Toy { .. } => {
                let what = format!("data set `{}` was not drawn from a Gaussian process", dataset.name);
                let hint = "\"generating\" is for `gp-draw` and `objective` data sets".to_owned();
                mistakes.add(&self.at, what, hint);
                return None;
            }
        };
        let [signal_scale, noise_scale, length_scale] = numbers;
        let mut refuse = |what: String| {
            mistakes.add(&self.at, what, "\"generating\" is for the kernel of the draw".to_owned());
            None
        };
        if self.network.is_some() {
            return refuse(format!("data set `{}` was drawn without a network", dataset.name));
        }
        if self.family != drawn_with {
            return refuse(format!(
                "data set `{}` was drawn with `{}`, not `{}`",
                dataset.name, drawn_with, self.family
            ));
        }
        Some(Numbers { signal_scale, noise_scale, length_scale: vec![length_scale], origin })
    }

    /// Whether there are as many length scales as inputs, or one, where the inputs are known.
    fn check_count(
        &self,
        count: usize,
        at: &Location,
        dataset: &DatasetEntry,
        mistakes: &mut Mistakes,
    ) -> Option<()> {
        let (what, hint) = match (&self.network, dataset.d) {
            (Some(_), _) if count != 1 => (
                format!("{count} length scales for a kernel on a network"),
                "give one number, which all outputs of the network share",
            ),
            (None, Some(d)) if count != 1 && count != d => (
                format!("{count} length scales for the {d} inputs of data set `{}`", dataset.name),
                "give one number, which all inputs share, or one for every input",
            ),
            _ => return Some(()),
        };
        mistakes.add(at, what, hint.to_owned());
        None
    }
}
