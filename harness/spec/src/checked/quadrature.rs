//! Nodes of the quadrature that gives log |H| along with a solver's solutions.
//!
//! `quadrature = 20` takes 20 nodes, as `max_iterations = 20` takes 20 iterations of conjugate gradients;
//! `quadrature = { min = 10, rate = 0.1 }` takes J of them with P(J) ~ exp(-rate J), J >= min, and weighs the
//! terms so that none is missed in the mean.

use gpbench_record::{Quadrature, Task};

use crate::error::Mistakes;
use crate::source::At;
use crate::typed::QuadratureTable;

pub(crate) fn resolve(
    given: &At<QuadratureTable>,
    task: Task,
    mistakes: &mut Mistakes,
) -> Option<Quadrature> {
    if task != Task::Likelihood {
        let hint = "it is for task \"likelihood\"".to_owned();
        mistakes.add(&given.at, "`quadrature` has no effect: this task does not estimate log |H|", hint);
        return None;
    }
    let mut count = |count: i64, key: &str| -> Option<usize> {
        let found = usize::try_from(count).ok().filter(|&count| count > 0);
        if found.is_none() {
            mistakes.add(&given.at, format!("`{key}` must be a positive whole number"), None);
        }
        found
    };
    match &given.value {
        QuadratureTable::Nodes(nodes) => Some(Quadrature::Fixed { nodes: count(*nodes, "quadrature")? }),
        QuadratureTable::Random { min: Some(min), rate: Some(rate) } => {
            let min = count(min.value, "min")?;
            if !(rate.value >= 0.0 && rate.value.is_finite()) {
                let what = format!("`rate` must be finite and not below 0, not {}", rate.value);
                mistakes.add(&rate.at, what, None);
            }
            Some(Quadrature::Random { min, rate: rate.value })
        }
        QuadratureTable::Random { .. } => {
            let hint = "for instance { min = 10, rate = 0.1 }".to_owned();
            mistakes.add(&given.at, "a random `quadrature` needs `min` and `rate`", hint);
            None
        }
    }
}
