//! `[train]`: how hyperparameters are trained.

use gpbench_record::{Grid, RateSchedule, Scale};

use super::kernel::{Hyperparameters, start};
use super::optimum;
use super::replay::{Replay, replay};
use crate::keys::{
    COUNT_OR_ZERO, Keys, Kind, POSITIVE, Setting, between, choice, count, inner, list, number, whole,
};
use crate::source::At;

#[derive(Debug, Clone)]
pub(crate) struct Train {
    pub(crate) steps: Setting<u64>,
    pub(crate) learning_rate: Setting<f64>,
    pub(crate) schedule: Setting<RateSchedule>,
    pub(crate) initial: Option<At<Hyperparameters>>,
    pub(crate) fixed: Option<At<Vec<At<Scale>>>>,
    /// `None` for a mean of 0.
    pub(crate) mean: Setting<Option<f64>>,
    pub(crate) replay: Option<At<Replay>>,
    pub(crate) landscape: Option<At<Option<Grid>>>,
    /// Most rows of cases that are compared with the optimum.
    pub(crate) optimum: Setting<usize>,
}

pub(crate) fn read(keys: &mut Keys<'_>) -> Train {
    let constant = choice("schedule", [("constant", RateSchedule::Constant)]);
    Train {
        steps: keys.or("steps", count(), 100, "Outer steps."),
        learning_rate: keys.or("learning_rate", number(POSITIVE), 0.1, "Learning rate of Adam's first step."),
        schedule: keys.or(
            "schedule",
            constant.or(inner(multi_step), "a text or a table"),
            "constant",
            "How the learning rate changes: \"constant\", or a table with milestones.",
        ),
        initial: keys.derived(
            "initial",
            start(),
            "\"data\" for a file of your own, else \"ones\"",
            "Where kernels without `hyperparameters` of their own start, in the same form.",
        ),
        fixed: keys.optional(
            "fixed",
            list(choice("hyperparameter", Scale::ALL.map(|scale| (scale.as_str(), scale)))),
            "Scales that stay as they are.",
        ),
        mean: keys.or(
            "mean",
            mean(),
            "zero",
            "Prior mean: \"zero\", or \"constant\", which is trained beside the scales, from 0.",
        ),
        replay: keys.optional(
            "replay",
            replay(),
            "A run whose hyperparameters are taken step by step, so that all solvers solve the same systems: its \
             folder, or a table.",
        ),
        landscape: keys.optional(
            "landscape",
            inner(landscape),
            "A grid on which the exact likelihood is evaluated after training by the exact estimator, with one length \
             scale for all inputs.",
        ),
        optimum: optimum::read(keys),
    }
}

/// A prior mean: where it starts, if it is learned.
pub(crate) fn mean() -> Kind<Option<f64>> {
    choice("mean", [("zero", None), ("constant", Some(0.0))])
}

fn landscape(keys: &mut Keys<'_>) -> Option<Grid> {
    let hint = "for instance length_scale = [0.1, 10]";
    let length_scale = interval(keys, "length_scale", hint, "Shortest and longest length scale.");
    let hint = "for instance noise_scale = [0.01, 1]";
    let noise_scale = interval(keys, "noise_scale", hint, "Smallest and largest noise scale.");
    let points = keys.or("points", whole(between(2.0, 200.0)), 24, "Points along each axis.");
    Some(Grid { length_scale: length_scale?, noise_scale: noise_scale?, points: points.value })
}

/// The ends of an interval: two numbers, the smaller first.
fn interval(
    keys: &mut Keys<'_>,
    name: &'static str,
    hint: &'static str,
    doc: &'static str,
) -> Option<[f64; 2]> {
    let ends = keys.required(name, list(number(POSITIVE)), hint, doc)?;
    match ends.value.as_slice() {
        [low, high] if low.value < high.value => return Some([low.value, high.value]),
        _ => {
            let what = format!("`{name}` of `landscape` must be two positive numbers, the smaller first");
            keys.report(&ends.at, &what, Some(hint));
        }
    }
    None
}

fn multi_step(keys: &mut Keys<'_>) -> RateSchedule {
    let hint = "for instance { milestones = [50, 80], factor = 0.5 }";
    let step = whole::<u64>(COUNT_OR_ZERO).hint("steps are counted from 0");
    let milestones = keys.required(
        "milestones",
        list(step),
        hint,
        "Steps, counted from 0, before which the rate changes.",
    );
    let factor = keys.required(
        "factor",
        number(POSITIVE),
        hint,
        "Factor by which each milestone multiplies the rate.",
    );
    if let Some(list) = milestones.as_ref().filter(|list| list.value.is_empty()) {
        keys.report(&list.at, "`milestones` is empty", Some(hint));
    }
    let milestones = milestones.map(|list| list.value.iter().map(|step| step.value).collect());
    RateSchedule::MultiStep {
        milestones: milestones.unwrap_or_default(),
        factor: factor.map_or(1.0, |factor| factor.value),
    }
}
