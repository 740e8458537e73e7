//! What follows from the formulae, whatever the numbers.

use gpbench_plugin_cagp::{ActionMatrix, NoisyKernel, SparseActions, residual_directions};
use gpbench_sdk::kernel::Kernel;
use gpbench_sdk::ndarray::{Array1, Array2, s};
use gpbench_sdk::{Family, Workers};
use gpbench_testing::{scattered, scattered_inputs};

use crate::given::{Given, dense, units};

/// `n` rows of two inputs.
fn given(n: usize, family: Family) -> Given {
    let x = scattered_inputs(n);
    let residual = Array1::from_shape_fn(n, |i| (2.0 * x[[i, 0]]).sin() + 0.3 * scattered(i, 9));
    let kernel = Kernel { family: family.into(), signal_scale: 1.3, length_scale: vec![0.5, 0.8] };
    Given { at: NoisyKernel { kernel, noise_scale: 0.4 }, x, residual }
}

/// `count` actions of n rows, of which every seventh is in none.
fn sparse(n: usize, count: usize) -> SparseActions {
    let entry = |row: usize| if row % 7 == 6 { 0.0 } else { 0.2 + scattered(row, 3) };
    SparseActions::new((0..n).map(|row| row % count).collect(), (0..n).map(entry).collect())
}

fn close(found: f64, expected: f64, what: &str) {
    assert!((found - expected).abs() <= 1e-6 * expected.abs().max(1.0), "{what}: {found} against {expected}");
}

#[test]
fn gradients_are_derivatives_of_the_bound() {
    for family in [Family::Rbf, Family::Matern32, Family::Matern52] {
        let (given, start) = (given(40, family), sparse(40, 6));
        for actions in [
            ActionMatrix::Sparse(start.clone()),
            ActionMatrix::Dense(dense(&ActionMatrix::Sparse(start.clone()))),
        ] {
            let difference = |change: &dyn Fn(&mut Given, &mut ActionMatrix, f64)| {
                let along = |h: f64| {
                    let (mut moved, mut actions) = (given.clone(), actions.clone());
                    change(&mut moved, &mut actions, h);
                    moved.project(&actions, 1).bound
                };
                let central = |h: f64| (along(h) - along(-h)) / (2.0 * h);
                (4.0 * central(1e-4) - central(2e-4)) / 3.0
            };
            let by = given.gradient(&actions, 1);
            close(by.noise_scale, difference(&|given, _, h| given.at.noise_scale += h), "noise");
            close(by.signal_scale, difference(&|given, _, h| given.at.kernel.signal_scale += h), "signal");
            for k in 0..2 {
                let expected = difference(&|given, _, h| given.at.kernel.length_scale[k] += h);
                close(by.length_scale[k], expected, "length");
            }
            close(by.mean, difference(&|given, _, h| given.residual -= h), "mean");
            for (row, &by) in by.entries.iter().enumerate() {
                let expected = difference(&|_, actions, h| match actions {
                    ActionMatrix::Sparse(sparse) => sparse.entry[row] += h,
                    ActionMatrix::Dense(_) => unreachable!("they are not trained"),
                });
                close(by, expected, "entry");
            }
        }
    }
}

#[test]
fn lengths_of_actions_change_nothing() {
    let (given, start) = (given(60, Family::Matern32), sparse(60, 5));
    let mut longer = start.clone();
    longer.entry.iter_mut().zip(&start.action).for_each(|(entry, &action)| *entry *= 3.0 + action as f64);
    let [one, other] = [start.clone(), longer].map(|sparse| {
        let actions = ActionMatrix::Sparse(sparse);
        let projected = given.project(&actions, 1);
        (projected.bound, given.predict(&actions, &projected, &given.x))
    });
    close(other.0, one.0, "bound");
    assert!((&one.1.0 - &other.1.0).iter().chain(&(&one.1.1 - &other.1.1)).all(|gap| gap.abs() < 1e-10));
    // The derivative along an action is 0.
    let by = given.gradient(&ActionMatrix::Sparse(start.clone()), 1).entries * &start.entry;
    let mut along = [0.0; 5];
    start.action.iter().zip(&by).for_each(|(&action, by)| along[action] += by);
    let scale = by.iter().fold(0.0_f64, |most, by| most.max(by.abs()));
    assert!(along.iter().all(|along| along.abs() < 1e-9 * scale), "{along:?}");
}

#[test]
fn with_more_actions_variances_fall_to_the_exact_ones() {
    let given = given(40, Family::Rbf);
    let points = Array2::from_shape_fn((30, 2), |(i, j)| 1.2 * scattered(i, j + 70));
    let exact_actions = units(40, 40);
    let exact = given.project(&exact_actions, 1);
    let (_, exact_variance) = given.predict(&exact_actions, &exact, &points);
    for are_residuals in [false, true] {
        let mut variance = Array1::from_elem(30, f64::INFINITY);
        for count in [1, 3, 8, 15] {
            let (actions, projected) = match are_residuals {
                true => given.conjugate_gradients(count),
                false => (units(40, count), given.project(&units(40, count), 1)),
            };
            let (_, found) = given.predict(&actions, &projected, &points);
            // With all rows the bound is the likelihood.
            assert!(projected.bound <= exact.bound + 1e-8, "{count}: {}", projected.bound);
            let never_above = |less: &Array1<f64>, more: &Array1<f64>| {
                less.iter().zip(more).all(|(less, more)| *less <= more + 1e-9)
            };
            assert!(never_above(&exact_variance, &found) && never_above(&found, &variance), "{count}");
            variance = found;
        }
    }
}

/// Conjugate gradients from 0, as in a book.
#[test]
fn means_are_those_of_conjugate_gradients() {
    let given = given(50, Family::Matern32);
    let gram = given.at.kernel.gram(&given.x, &given.x, Workers::new(1));
    let points = Array2::from_shape_fn((20, 2), |(i, j)| scattered(i, j + 60));
    let cross = given.at.kernel.gram(&points, &given.x, Workers::new(1));
    let (mut iterate, mut residual) = (Array1::<f64>::zeros(50), given.residual.clone());
    let mut direction = residual.clone();
    for count in 1..=6 {
        let product = gram.dot(&direction) + given.at.noise_scale.powi(2) * &direction;
        let square = residual.dot(&residual);
        let step = square / direction.dot(&product);
        iterate.scaled_add(step, &direction);
        residual.scaled_add(-step, &product);
        direction = &residual + (residual.dot(&residual) / square) * &direction;

        let (actions, projected) = given.conjugate_gradients(count);
        let (means, _) = given.predict(&actions, &projected, &points);
        let gap = (&means - &cross.dot(&iterate)).iter().fold(0.0_f64, |most, gap| most.max(gap.abs()));
        assert!(gap < 1e-9, "{count}: {gap}");
        // The residual of this step is the next action, up to its sign.
        let next = given.conjugate_gradients(count + 1).0;
        let cosine = dense(&next).column(count).dot(&residual) / residual.dot(&residual).sqrt();
        assert!((cosine.abs() - 1.0).abs() < 1e-9, "{count}: {cosine}");
    }
}

#[test]
fn directions_are_orthonormal_and_end_with_the_krylov_space() {
    let given = given(90, Family::Rbf);
    let workers = Workers::new(1);
    let of = |residual: &Array1<f64>, count: usize| {
        residual_directions(&given.at.kernel, given.x.view(), residual.view(), count, workers)
    };
    let found = of(&given.residual, 60);
    let gram = found.actions.t().dot(&found.actions) - Array2::<f64>::eye(found.actions.ncols());
    assert!(gram.iter().all(|gap| gap.abs() < 1e-12));
    // Rows that are all equal: a single direction.
    let equal = Given { x: Array2::zeros((20, 2)), residual: Array1::ones(20), ..given.clone() };
    let (actions, projected) = equal.conjugate_gradients(9);
    assert_eq!(actions.count(), 1);
    assert!(projected.bound.is_finite());
    // Targets equal to the prior mean have an action too.
    let found = of(&Array1::zeros(90), 2);
    assert!(found.actions.column(0).iter().all(|entry| (entry - 90_f64.sqrt().recip()).abs() < 1e-15));
}

/// As in other units of the targets.
#[test]
fn scales_and_targets_together_shift_the_bound() {
    let one = given(50, Family::Matern32);
    let mut ten = one.clone();
    ten.at.kernel.signal_scale *= 10.0;
    ten.at.noise_scale *= 10.0;
    ten.residual *= 10.0;
    let actions = ActionMatrix::Sparse(sparse(50, 8));
    let (a, b) = (one.project(&actions, 1), ten.project(&actions, 1));
    close(b.bound, a.bound - 50.0 * 10_f64.ln(), "bound");
    close(b.divergence, a.divergence, "divergence");
    let (by_a, by_b) = (one.gradient(&actions, 1), ten.gradient(&actions, 1));
    close(10.0 * by_b.signal_scale, by_a.signal_scale, "by the signal scale");
    by_a.entries.iter().zip(&by_b.entries).for_each(|(&a, &b)| close(b, a, "by an entry"));
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    // More rows than a tile of each kind.
    let given = given(1300, Family::Matern32);
    let all = ActionMatrix::Sparse(sparse(1300, 150));
    for actions in [all.clone(), ActionMatrix::Dense(dense(&all).slice(s![.., ..20]).to_owned())] {
        let one = (given.project(&actions, 1), given.gradient(&actions, 1));
        for threads in [2, 7] {
            assert_eq!(one, (given.project(&actions, threads), given.gradient(&actions, threads)));
        }
    }
}
