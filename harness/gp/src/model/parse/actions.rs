//! Arrays of actions, with a row for each training row.

use ndarray::{Array2, ShapeBuilder};

use crate::CovarianceFunction;
use crate::actions::Actions;
use crate::model::arrays::{Entries, InvalidArray, Reader, Size, invalid_entry};

/// The actions S for `n` training rows: `actions`, or `action` and `entry` where each row is in one.
pub(super) fn read(
    reader: &mut Reader<'_>,
    covariance: CovarianceFunction,
    n: usize,
) -> Result<Actions, InvalidArray> {
    let CovarianceFunction::Stationary(kernel) = covariance else {
        let wanted = "another: actions have no linear kernel";
        return Err(InvalidArray::new("kind", "is that of actions", wanted));
    };
    let actions = if reader.has("actions") { dense(reader, n)? } else { sparse(reader, n)? };
    Ok(Actions { kernel, actions })
}

fn dense(reader: &mut Reader<'_>, n: usize) -> Result<Array2<f64>, InvalidArray> {
    let meaning = "a row for each training row, a column for each action";
    let size = Size { rows: Some(n), columns: None, meaning };
    let found = reader.entries("actions", size, Entries::Finite)?;
    let is_used = |action: usize| found.column(action).iter().any(|&entry| entry != 0.0);
    demand_all("actions", found.ncols(), is_used)?;
    let mut actions = Array2::zeros(found.dim().f());
    actions.assign(found);
    Ok(actions)
}

fn sparse(reader: &mut Reader<'_>, n: usize) -> Result<Array2<f64>, InvalidArray> {
    let size = Size { rows: Some(n), columns: Some(1), meaning: "the action of each training row" };
    let action = reader.entries("action", size, Entries::NotNegative)?;
    let wrong = action.indexed_iter().find(|&(_, &action)| action.fract() != 0.0 || action >= n as f64);
    if let Some((place, _)) = wrong {
        let wanted = format!("a whole number below {n}, the number of training rows");
        return Err(invalid_entry("action", action, place, wanted));
    }
    let entry = reader.column("entry", n, "each training row's entry in its action", Entries::Finite)?;
    let action: Vec<usize> = action.iter().map(|&action| action as usize).collect();
    let count = action.iter().max().map_or(0, |last| last + 1);
    let mut used = vec![false; count];
    action.iter().zip(&entry).for_each(|(&action, &entry)| used[action] |= entry != 0.0);
    demand_all("entry", count, |action| used[action])?;
    let mut actions = Array2::zeros((n, count).f());
    for (row, (&action, &entry)) in action.iter().zip(&entry).enumerate() {
        actions[(row, action)] = entry;
    }
    Ok(actions)
}

/// Refuses an action without an entry that is not 0.
fn demand_all(name: &str, count: usize, is_used: impl Fn(usize) -> bool) -> Result<(), InvalidArray> {
    match (0..count).find(|&action| !is_used(action)) {
        Some(action) => {
            let found = format!("has no entry other than 0 for action {action}, counted from 0");
            Err(InvalidArray::new(name, found, "other than 0 in a row of each action").of_divergence())
        }
        None => Ok(()),
    }
}
