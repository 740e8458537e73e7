//! `[solver.NAME]`: a plugin, its parameters and bounds.

use gpbench_record::Quadrature;

use super::budget::{self, Bounds};
use crate::keys::{
    Keys, NOT_NEGATIVE, POSITIVE, Setting, any_table, choice, count, inner, number, text, truth,
};
use crate::source::At;
use crate::tree::Table;

#[derive(Debug, Clone)]
pub(crate) struct Solver {
    pub(crate) plugin: Option<At<String>>,
    pub(crate) library: Option<At<String>>,
    pub(crate) python: Option<At<String>>,
    pub(crate) optional: Setting<bool>,
    /// Their types are known only to the plugin.
    pub(crate) params: Option<At<Table>>,
    pub(crate) prediction: Option<At<Table>>,
    pub(crate) inducing: Option<At<Inducing>>,
    pub(crate) quadrature: Option<At<Option<Quadrature>>>,
    pub(crate) budget: Option<At<Bounds>>,
}

/// `inducing` of a solver.
#[derive(Debug, Clone)]
pub(crate) struct Inducing {
    pub(crate) select: Option<At<Select>>,
    pub(crate) points: Option<At<usize>>,
    pub(crate) distance: Option<At<f64>>,
    pub(crate) neighbours: Setting<usize>,
}

/// A way to choose inducing points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Select {
    Subset,
    Kmeans,
    Neighbours,
}

pub(crate) fn read(keys: &mut Keys<'_>) -> Solver {
    let fixed = |nodes: At<usize>| Some(Quadrature::Fixed { nodes: nodes.value });
    Solver {
        plugin: keys.derived("plugin", text(), "NAME", "Id of the solver or learner that a plugin offers."),
        library: keys.derived(
            "library",
            text(),
            "found by the id",
            "File of the plugin that offers it, relative to the spec's folder: a shared object, or a script such as \
             `my_solver.py`.",
        ),
        python: keys.derived(
            "python",
            text(),
            "chosen by the bridge",
            "The interpreter of a script: a command, or a path relative to the spec's folder. Otherwise that of \
             `$GPBENCH_PYTHON`, of `$VIRTUAL_ENV`, or `python3`.",
        ),
        optional: keys.or(
            "optional",
            truth(),
            false,
            "Whether the solver is left out, with a line that says so, where something that its library needs is not \
             installed. Otherwise that is a mistake.",
        ),
        params: keys.optional(
            "params",
            any_table(),
            "Parameters of the solver, as `gpbench list solvers --verbose` lists them; a list, \
             such as `rank = [50, 100]`, makes an entry of each value, `NAME@rank=50`; a table by data set gives each its \
             own value.",
        ),
        prediction: keys.optional(
            "prediction",
            any_table(),
            "Parameters with other values in the prediction that ends training.",
        ),
        inducing: keys.optional("inducing", inner(inducing), "Inducing points: the solver's unknowns, or those that a learner starts from."),
        quadrature: keys.optional(
            "quadrature",
            count().map(fixed).or(inner(random_nodes), "a whole number or a table"),
            "Nodes of the quadrature that estimates log |H| in task `likelihood`: a number, or a table for a random \
             number of them.",
        ),
        budget: keys.derived("budget", inner(budget::read), "[budget]", "Bounds in place of those of [budget], key by key."),
    }
}

fn inducing(keys: &mut Keys<'_>) -> Inducing {
    let names = [("subset", Select::Subset), ("kmeans", Select::Kmeans), ("neighbours", Select::Neighbours)];
    Inducing {
        select: keys.required(
            "select",
            choice("way to select inducing points", names),
            "write select = \"subset\", \"kmeans\" or \"neighbours\"",
            "How they are chosen: a random subset of the rows, centres of clusters, or rows of which none is near \
             another.",
        ),
        points: keys.optional("points", count(), "Number of points of \"subset\" and \"kmeans\", at most that of the training rows."),
        distance: keys.optional(
            "distance",
            number(POSITIVE),
            "Distance below which \"neighbours\" counts standardised inputs as near.",
        ),
        neighbours: keys.or("neighbours", count(), 100, "Largest number of neighbours of a row that are examined."),
    }
}

/// J nodes with P(J) ~ exp(-rate J), J >= min.
fn random_nodes(keys: &mut Keys<'_>) -> Option<Quadrature> {
    let hint = "for instance { min = 10, rate = 0.1 }";
    let min = keys.required("min", count(), hint, "Smallest number of nodes J.");
    let rate = keys.required("rate", number(NOT_NEGATIVE), hint, "Rate at which P(J) ~ exp(-rate J) falls.");
    Some(Quadrature::Random { min: min?.value, rate: rate?.value })
}
