//! Inducing points of a solver: how they are chosen.

use gpbench_record::{Inducing, SolverInfo, Task};

use super::positive;
use crate::catalog::Catalog;
use crate::error::Mistakes;
use crate::nearest;
use crate::source::{At, Location};
use crate::typed::InducingTable;

/// Ways to choose.
const SELECT: [&str; 3] = ["subset", "kmeans", "neighbours"];

/// Neighbours that a row looks at, as in the paper.
const NEIGHBOURS: u32 = 100;

pub(crate) fn resolve(
    given: &At<InducingTable>,
    info: &SolverInfo,
    catalog: &Catalog,
    task: Task,
    mistakes: &mut Mistakes,
) -> Option<Inducing> {
    if !can(info) {
        let others: Vec<_> = catalog.solvers().map(|(_, s)| s).filter(|s| can(s)).map(|s| &*s.id).collect();
        let hint = match others.is_empty() {
            true => "no plugin at hand does".to_owned(),
            false => format!("these do: {}", others.join(", ")),
        };
        mistakes.add(&given.at, format!("solver `{}` does not take inducing points", info.id), hint);
    }
    if task == Task::Solve {
        let what = "weights of inducing points have no residual for task \"solve\" to measure";
        mistakes.add(&given.at, what, "use task = \"posterior\"".to_owned());
    }
    if matches!(task, Task::Train | Task::Likelihood) {
        let what = "weights of inducing points give no gradient of the likelihood";
        mistakes.add(&given.at, what, "use task = \"posterior\"".to_owned());
    }
    let table = &given.value;
    let select = table.select.as_ref()?;
    let by_count = |mistakes: &mut Mistakes| {
        refuse("distance", table.distance.as_ref().map(|d| &d.at), mistakes);
        refuse("neighbours", table.neighbours.as_ref().map(|n| &n.at), mistakes);
        if table.points.is_none() {
            let hint = "say how many, for instance points = 1000".to_owned();
            mistakes.add(&given.at, format!("inducing points by `{}` lack `points`", select.value), hint);
        }
        table.points.as_ref().map(|points| positive(Some(points), "points", 1, mistakes) as usize)
    };
    match select.value.as_str() {
        "subset" => by_count(mistakes).map(|points| Inducing::Subset { points }),
        "kmeans" => by_count(mistakes).map(|points| Inducing::Kmeans { points }),
        "neighbours" => {
            if let Some(points) = &table.points {
                let hint = "their number follows from `distance`".to_owned();
                mistakes.add(&points.at, "`points` does not go with select = \"neighbours\"", hint);
            }
            let neighbours = positive(table.neighbours.as_ref(), "neighbours", NEIGHBOURS, mistakes) as usize;
            let distance = distance(table.distance.as_ref(), &given.at, mistakes)?;
            Some(Inducing::Neighbours { distance, neighbours })
        }
        other => {
            let what = format!("unknown way `{other}` to select inducing points");
            mistakes.add(&select.at, what, nearest::hint(other, SELECT));
            None
        }
    }
}

fn can(info: &SolverInfo) -> bool {
    info.capabilities.iter().any(|capability| capability == "inducing")
}

/// Tells a key that belongs to `neighbours`.
fn refuse(key: &str, at: Option<&Location>, mistakes: &mut Mistakes) {
    if let Some(at) = at {
        mistakes.add(at, format!("`{key}` only goes with select = \"neighbours\""), None);
    }
}

fn distance(given: Option<&At<f64>>, at: &Location, mistakes: &mut Mistakes) -> Option<f64> {
    let Some(given) = given else {
        let hint = "below it standardised inputs count as near, for instance distance = 0.1".to_owned();
        mistakes.add(at, "inducing points by `neighbours` lack `distance`", hint);
        return None;
    };
    let distance = given.value;
    if !(distance > 0.0 && distance.is_finite()) {
        mistakes.add(&given.at, format!("`distance` must be positive and finite, not {distance}"), None);
        return None;
    }
    Some(distance)
}
