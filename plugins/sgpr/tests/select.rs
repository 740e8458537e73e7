//! Greedy selection against the remainder computed as a whole.

use gpbench_plugin_sgpr::select;
use gpbench_sdk::kernel::Kernel;
use gpbench_sdk::ndarray::Array2;
use gpbench_sdk::{Family, Workers};
use gpbench_testing::{scattered, scattered_inputs};

fn kernel() -> Kernel {
    Kernel { family: Family::Matern32.into(), signal_scale: 1.3, length_scale: vec![0.4, 0.7] }
}

#[test]
fn pivots_are_those_of_the_remainder_computed_as_a_whole() {
    let x = scattered_inputs(60);
    let mut left = kernel().gram(&x, &x, Workers::new(1));
    let selection = select(&kernel(), &x, 20, Workers::new(2));
    assert_eq!((selection.rows.len(), selection.remaining.len()), (20, 20));
    for (&row, &remaining) in selection.rows.iter().zip(&selection.remaining) {
        // The largest entry, the first of equal ones: the diagonal is constant at first.
        let diagonal = left.diag();
        let largest =
            (1..60).fold(0, |best: usize, i: usize| if diagonal[i] > diagonal[best] { i } else { best });
        assert_eq!(row, largest);
        let (column, square) = (left.column(row).to_owned(), left[[row, row]]);
        left.indexed_iter_mut().for_each(|((i, j), entry)| *entry -= column[i] * column[j] / square);
        left[[row, row]] = 0.0;
        assert!((left.diag().sum() - remaining).abs() < 1e-10, "{remaining}");
    }
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let x = scattered_inputs(1300);
    let one = select(&kernel(), &x, 40, Workers::new(1));
    assert_eq!(one, select(&kernel(), &x, 40, Workers::new(3)));
}

#[test]
fn repeated_rows_are_chosen_once() {
    let x = Array2::from_shape_fn((40, 2), |(i, j)| scattered(i / 4, j));
    let rows = select(&kernel(), &x, 40, Workers::new(1)).rows;
    assert_eq!(rows.len(), 10);
    assert!(rows.iter().all(|row| row % 4 == 0), "{rows:?}");
    assert_eq!(select(&kernel(), &Array2::zeros((5, 2)), 5, Workers::new(1)).rows, [0]);
}
