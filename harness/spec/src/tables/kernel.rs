//! `[kernel.NAME]`, and the hyperparameters that training starts from.

use gpbench_record::{Activation, Covariance, DataStart, Family, NetworkShape, Scale, Subset};

use crate::keys::{
    EVEN_COUNT, Keys, Kind, NOT_NEGATIVE, POSITIVE, between, choice, count, inner, list, number, whole,
};
use crate::source::{At, Location};

#[derive(Debug, Clone)]
pub(crate) struct Kernel {
    pub(crate) family: Option<At<Covariance>>,
    pub(crate) hyperparameters: Option<At<Hyperparameters>>,
    /// The network, without its random features.
    pub(crate) network: Option<At<Option<NetworkShape>>>,
    pub(crate) random: Option<At<usize>>,
}

/// Where a kernel's numbers come from, and the ones that the spec gives.
#[derive(Debug, Clone, Default)]
pub(crate) struct Hyperparameters {
    /// `None` where the spec gives all numbers.
    pub(crate) from: Option<At<Base>>,
    pub(crate) signal_scale: Option<At<f64>>,
    pub(crate) noise_scale: Option<At<f64>>,
    pub(crate) length_scale: Option<At<LengthScale>>,
    /// Exact fits of parts of the data, whose average training starts from.
    pub(crate) fit: Option<At<Subset>>,
    /// Number of starts that are made from the data.
    pub(crate) restarts: Option<At<usize>>,
    /// Every key of the table.
    pub(crate) written: Vec<At<String>>,
}

/// Where numbers come from that the spec does not give.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Base {
    Ones,
    Published,
    Generating,
    Data,
}

/// Length scales as a spec gives them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum LengthScale {
    /// One for all inputs, from the base's numbers.
    Shared,
    /// One entry is shared by all inputs.
    Given(Vec<f64>),
}

/// A stationary kernel family.
pub(crate) fn family() -> Kind<Family> {
    choice("kernel family", Family::ALL.map(|family| (family.as_str(), family)))
}

pub(crate) fn read(keys: &mut Keys<'_>) -> Kernel {
    Kernel {
        family: keys.derived(
            "family",
            choice("kernel family", Covariance::all().map(|family| (family.as_str(), family)).collect::<Vec<_>>()),
            "NAME",
            "Kernel family; \"linear\" is for learners, on the outputs of a network.",
        ),
        hyperparameters: keys.derived(
            "hyperparameters",
            start(),
            "`initial` of [train], or \"data\" for a file of your own, or \"ones\"",
            "Where the numbers come from: \"ones\" (every scale is 1), \"data\" (the likeliest of some starts that are \
             made from the rows), \"published\" (by data set and split), \"generating\" (those of a `gp-draw` or an \
             `objective`, and all numbers beside them, in its units), or a table.",
        ),
        network: keys.optional(
            "network",
            inner(network),
            "A network between inputs and kernel, which learners learn; the kernel is on its outputs.",
        ),
        random: keys.optional(
            "random",
            whole(EVEN_COUNT).hint("sines and cosines are counted together"),
            "Random features of the kernel on a network's outputs, sines and cosines together, for learners that need \
             finitely many.",
        ),
    }
}

/// Fully connected layers.
fn network(keys: &mut Keys<'_>) -> Option<NetworkShape> {
    let hint = "for instance { widths = [128, 128], activation = \"relu\" }";
    let width = whole::<usize>(between(1.0, 65536.0)).hint("it is the number of outputs of a layer");
    let widths = keys.required(
        "widths",
        list(width),
        hint,
        "Outputs of each layer, the last one's are the kernel's inputs.",
    );
    let names = Activation::ALL.map(|activation| (activation.as_str(), activation));
    let activation = keys.or("activation", choice("activation", names), "relu", "What follows every layer.");
    let widths = widths?;
    if widths.value.is_empty() {
        keys.report(&widths.at, "`widths` is empty", Some(hint));
        return None;
    }
    let widths = widths.value.into_iter().map(|width| width.value).collect();
    Some(NetworkShape { widths, activation: activation.value, random: None })
}

/// The name of known hyperparameters, or a table.
pub(crate) fn start() -> Kind<Hyperparameters> {
    let known = |from| Hyperparameters { from: Some(from), ..Hyperparameters::default() };
    base().map(known).or(inner(hyperparameters), "a text or a table")
}

fn base() -> Kind<Base> {
    let names = [
        ("ones", Base::Ones),
        ("data", Base::Data),
        ("published", Base::Published),
        ("generating", Base::Generating),
    ];
    choice("hyperparameters", names)
}

/// Keys of `fit`.
const OF_FIT: [&str; 5] = ["centroids", "size", "steps", "learning_rate", "tolerance"];

fn hyperparameters(keys: &mut Keys<'_>) -> Hyperparameters {
    let from = keys.optional("from", base(), "Known hyperparameters, of which the table replaces some.");
    let scale = || number(POSITIVE);
    let signal_scale = keys.optional("signal_scale", scale(), "Standard deviation of the latent function.");
    let noise_scale = keys.optional("noise_scale", scale(), "Standard deviation of the observation noise.");
    let shared = choice("length scale", [("shared", LengthScale::Shared)]);
    let numbers =
        list(scale()).map(|list| LengthScale::Given(list.value.into_iter().map(|l| l.value).collect()));
    let length_scale = keys.optional(
        "length_scale",
        shared.or(numbers, "a number, a list of numbers, or \"shared\""),
        "Length scales: one number for all inputs, or one for each; \"shared\" trains one for all inputs.",
    );
    if let Some(At { value: LengthScale::Given(numbers), at }) = &length_scale
        && numbers.is_empty()
    {
        keys.report(at, "`length_scale` is empty", Some("give one number, or one for every input"));
    }
    let method = choice("way to fit hyperparameters", [("subset", ())]);
    let fit = keys.optional(
        "fit",
        method,
        "\"subset\": training starts at the average of exact fits to parts of the data.",
    );
    let subset = Subset {
        centroids: keys
            .or("centroids", count(), 10, "Parts that `fit` makes, each around a random row.")
            .value,
        size: keys
            .or("size", count(), 10_000, "Rows of each part that `fit` makes: those nearest to its centre.")
            .value,
        steps: keys.or("steps", count(), 200, "Most steps of Adam on each part that `fit` makes.").value,
        learning_rate: keys
            .or(
                "learning_rate",
                number(POSITIVE),
                0.1,
                "Learning rate of these steps, whatever that of training.",
            )
            .value,
        tolerance: keys
            .or(
                "tolerance",
                number(NOT_NEGATIVE),
                1e-3,
                "A fit ends once ten steps gain less than this in the log marginal likelihood per row.",
            )
            .value,
    };
    let restarts = keys.derived(
        "restarts",
        count(),
        "24",
        "Starts that from = \"data\" compares: those that it makes of the distances of rows and the variance of the \
         targets come first, and the others are drawn.",
    );
    let from_data = from.as_ref().is_some_and(|from| from.value == Base::Data);
    if let Some(At { at, .. }) = restarts.as_ref().filter(|_| !from_data) {
        keys.report(at, "`restarts` has no effect without `from`", Some("add from = \"data\""));
    }
    let written = keys.written();
    if fit.is_none() {
        for key in written.iter().filter(|key| OF_FIT.contains(&&*key.value)) {
            let what = format!("`{}` has no effect without `fit`", key.value);
            keys.report(&key.at, &what, Some("add fit = \"subset\""));
        }
    }
    let fit = fit.map(|fit| At { value: subset, at: fit.at });
    Hyperparameters { from, signal_scale, noise_scale, length_scale, fit, restarts, written }
}

impl Hyperparameters {
    /// Starts from the data, around the scales that the spec gives.
    pub(crate) fn start(&self) -> DataStart {
        let given_lengths = matches!(&self.length_scale, Some(At { value: LengthScale::Given(_), .. }));
        let given = [
            (Scale::NoiseScale, self.noise_scale.is_some()),
            (Scale::SignalScale, self.signal_scale.is_some()),
            (Scale::LengthScale, given_lengths),
        ];
        let keep = given.into_iter().filter_map(|(scale, is_given)| is_given.then_some(scale)).collect();
        let restarts = self.restarts.as_ref().map_or(DataStart::RESTARTS, |restarts| restarts.value);
        DataStart { restarts, keep }
    }

    /// Where the spec asks for one trained length scale, shared by all inputs.
    pub(crate) fn shared(&self) -> Option<&Location> {
        self.length_scale.as_ref().filter(|given| given.value == LengthScale::Shared).map(|given| &given.at)
    }
}
