//! Inducing points of a solver: how they are chosen.

use gpbench_record::{Capability, Inducing, SolverInfo};

use crate::catalog::Catalog;
use crate::error::Mistakes;
use crate::source::{At, Location};
use crate::tables::solver::{self as table, Select};

pub(super) fn resolve(
    given: &At<table::Inducing>,
    info: &SolverInfo,
    catalog: &Catalog,
    mistakes: &mut Mistakes,
) -> Option<Inducing> {
    if !info.can(Capability::Inducing) {
        let others = catalog.solvers().map(|(_, solver)| solver);
        let others = others.filter(|solver| solver.can(Capability::Inducing) && solver.kind == info.kind);
        let others: Vec<&str> = others.map(|solver| solver.id.as_str()).collect();
        let hint = match others.is_empty() {
            true => "no installed plugin does".to_owned(),
            false => format!("these do: {}", others.join(", ")),
        };
        mistakes.add(&given.at, format!("{} does not take inducing points", info.called()), hint);
    }
    let table = &given.value;
    let select = table.select.as_ref()?.value;
    let mut refuse = |key: &str, at: Option<&Location>, why: &str, hint: Option<&str>| {
        if let Some(at) = at {
            mistakes.add(at, format!("`{key}` {why}"), hint.map(str::to_owned));
        }
    };
    let mut lacks = Vec::new();
    match select {
        Select::Subset | Select::Kmeans => {
            let why = "only goes with select = \"neighbours\"";
            refuse("distance", table.distance.as_ref().map(|given| &given.at), why, None);
            refuse("neighbours", table.neighbours.at.as_ref(), why, None);
            if table.points.is_none() {
                lacks.push((
                    "points",
                    "say how many, for instance points = 100; at most as many as there are training rows",
                ));
            }
        }
        Select::Neighbours => {
            let why = "does not go with select = \"neighbours\"";
            let points = table.points.as_ref().map(|given| &given.at);
            refuse("points", points, why, Some("their number follows from `distance`"));
            if table.distance.is_none() {
                let hint = "below it standardised inputs count as near, for instance distance = 0.1";
                lacks.push(("distance", hint));
            }
        }
    }
    for (key, hint) in lacks {
        mistakes.add(&given.at, format!("inducing points lack `{key}`"), hint.to_owned());
    }
    let points = table.points.as_ref().map(|given| given.value);
    let neighbours = table.neighbours.value;
    Some(match select {
        Select::Subset => Inducing::Subset { points: points? },
        Select::Kmeans => Inducing::Kmeans { points: points? },
        Select::Neighbours => Inducing::Neighbours { distance: table.distance.as_ref()?.value, neighbours },
    })
}
