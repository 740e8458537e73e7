//! Gradient ascent of posterior samples on the unit cube.

use gpbench_numerics::Alone;
use gpbench_record::Ascent;
use ndarray::{Array1, Array2, ArrayView2};

use crate::{PosteriorSamples, train};

/// End points of ascents.
#[derive(Debug, Clone, PartialEq)]
pub struct Ascended {
    /// Points, one row per start.
    pub x: Array2<f64>,
    /// Values of the samples at these points.
    pub values: Array1<f64>,
}

/// Maximises samples from `starts` (one per row) by steps of Adam; start i belongs to sample `owner[i]`. After
/// each step a point outside of the unit cube is moved to its boundary. A start is returned if its value exceeds that
/// of its end point, because Adam does not take small steps near a maximum.
///
/// `observe` receives the points and the values before each step and after the last one.
pub fn ascend(
    samples: &PosteriorSamples<'_>,
    starts: Array2<f64>,
    owner: &[usize],
    Ascent { steps, learning_rate }: Ascent,
    observe: &mut dyn FnMut(ArrayView2<f64>, &Array1<f64>),
) -> Ascended {
    let mut adam = train::Adam::new(starts.len());
    let mut x = starts.clone();
    let mut best = None;
    for step in 0..=steps {
        let (values, gradient) = samples.value_and_gradient(x.view(), owner);
        observe(x.view(), &values);
        let first = best.get_or_insert_with(|| Ascended { x: starts.clone(), values: values.clone() });
        if step == steps {
            for (index, value) in values.iter().enumerate() {
                if *value > first.values[index] {
                    first.values[index] = *value;
                    first.x.row_mut(index).assign(&x.row(index));
                }
            }
            break;
        }
        let (places, slopes) = (x.as_slice_mut(), gradient.as_slice());
        adam.ascend(places.expect(IN_ORDER), slopes.expect(IN_ORDER), learning_rate, Alone);
        x.mapv_inplace(|value| value.clamp(0.0, 1.0));
    }
    best.expect("values were computed at least once")
}

const IN_ORDER: &str = "rows are contiguous";
