//! What fits into a budget of epochs.

use gpbench_abi::Budget;

/// Entries used after as many calls of `entries` each as fit, out of `calls`.
fn use_up(budget: Budget, entries: f64, calls: usize) -> f64 {
    (0..calls).fold(0.0, |used, _| if budget.fits(used, entries) { used + entries } else { used })
}

#[test]
fn a_whole_number_of_products_fits_and_not_one_more() {
    assert_eq!(use_up(Budget::new(3, 2.0), 9.0, 5), 18.0);
    assert!(!Budget::new(3, 2.0).is_spent(9.0));
    assert!(Budget::new(3, 2.0).is_spent(18.0));
    assert_eq!(Budget::new(3, 2.0).epochs(18.0), 2.0);
}

#[test]
fn fractions_of_an_epoch_add_up() {
    assert_eq!(use_up(Budget::new(7, 1.0), 7.0, 10), 49.0);
    assert_eq!(use_up(Budget::new(10, 0.3), 10.0, 10), 30.0);
}

#[test]
fn work_that_does_not_fit_is_refused_and_smaller_work_still_fits() {
    let budget = Budget::new(10, 1.5);
    assert!(budget.fits(0.0, 100.0));
    assert!(!budget.fits(100.0, 100.0));
    assert!(budget.fits(100.0, 50.0));
    assert!(!budget.fits(150.0, 0.0), "a spent budget admits nothing");
}

#[test]
fn an_unbounded_budget_admits_everything() {
    let budget = Budget::new(2, f64::INFINITY);
    assert!(budget.fits(1e300, 1e300));
    assert!(!budget.is_spent(1e300));
}
