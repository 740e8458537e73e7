//! Grids of parameters: each value makes an entry of its own on the solver axis, named after it.

use std::collections::BTreeMap;

use gpbench_record::{GridPoint, ParamValue};

use super::param::{MOST_POINTS, ParamChoice};
use crate::error::Mistakes;
use crate::source::At;

/// The points of the grids among an entry's parameters, each with its name on the axis and all parameters; one without
/// a grid where there are none.
pub(super) fn points(
    entry: &At<String>,
    params: Vec<ParamChoice>,
    mistakes: &mut Mistakes,
) -> Vec<(String, Option<GridPoint>, Vec<ParamChoice>)> {
    let grids = params.iter().filter_map(|choice| match choice {
        ParamChoice::Grid(_, values) => Some(values.len()),
        ParamChoice::Same(..) | ParamChoice::ByDataset(..) => None,
    });
    let sizes: Vec<usize> = grids.collect();
    let size = sizes.iter().fold(1_usize, |product, size| product.saturating_mul(*size));
    if sizes.is_empty() {
        return vec![(entry.value.clone(), None, params)];
    }
    if size > MOST_POINTS {
        let what =
            format!("the grid of `{}` has {size} points; at most {MOST_POINTS} are possible", entry.value);
        mistakes.add(&entry.at, what, "give it fewer values".to_owned());
        return Vec::new();
    }
    (0..size).map(|point| at(&entry.value, &params, point)).collect()
}

/// One point: the last grid changes fastest.
fn at(
    entry: &str,
    params: &[ParamChoice],
    mut point: usize,
) -> (String, Option<GridPoint>, Vec<ParamChoice>) {
    let mut chosen = params.to_vec();
    let mut varied: BTreeMap<String, ParamValue> = BTreeMap::new();
    for choice in chosen.iter_mut().rev() {
        if let ParamChoice::Grid(key, values) = choice {
            let (key, value) = (key.clone(), values[point % values.len()].clone());
            point /= values.len();
            varied.insert(key.clone(), value.clone());
            *choice = ParamChoice::Same(key, value);
        }
    }
    let point = GridPoint { entry: entry.to_owned(), params: varied };
    (point.name(), Some(point), chosen)
}
