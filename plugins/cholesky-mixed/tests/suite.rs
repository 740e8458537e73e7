//! The tests that every solver inherits.

use crate::common;
use gpbench_plugin_cholesky_mixed::CholeskyMixed;
use gpbench_sdk::Family;
use gpbench_testing::{DenseProblem, Suite, matern32, scattered_inputs, scattered_right_hand_sides};

/// With its own factor, a solve ends before it could be stopped.
mod with_a_new_factor {
    use super::*;

    gpbench_testing::solver_suite! { tests: Suite::<CholeskyMixed>::matern32(0.3, 0.5, 9);
        the_number_of_threads_changes_no_bit
        the_seed_decides
        without_budget_nothing_is_done
        a_zero_right_hand_side_has_a_zero_solution
        a_right_hand_side_that_is_not_a_number_is_not_solved
        a_product_that_is_not_a_number_never_reaches_the_solution
        parameters_out_of_range_are_refused
        one_right_hand_side_is_solved
        a_warm_start_at_the_solution_costs_one_product
        a_warm_start_from_anywhere_converges
    }
}

/// A start that seems to be the solution may take a second product, which certifies it.
mod in_mixed_precision {
    use super::*;

    gpbench_testing::solver_suite! {
        tests: Suite::<CholeskyMixed>::matern32(0.3, 0.5, 9).settings([("precision", "mixed".into())]);
        the_number_of_threads_changes_no_bit
        one_right_hand_side_is_solved
        a_warm_start_from_anywhere_converges
    }
}

/// The factor belongs to hyperparameters that are far from those of the system.
mod with_an_old_factor {
    use super::*;

    fn suite() -> Suite<CholeskyMixed> {
        let (x, lengths) = (scattered_inputs(120), vec![0.2; 2]);
        let (a, b) = (matern32(&x, 1.0, 0.1, &lengths), scattered_right_hand_sides(120, 3));
        let suite = Suite::new(a, b, move |a, b| {
            let problem = DenseProblem::new(a, b);
            let problem = problem.kernel(Family::Matern32, x.clone(), 1.0, 0.1, lengths.clone());
            problem.state(common::state_of(1.0, 0.5, &[0.5, 0.5]))
        });
        suite.settings([("steps_per_factor", 100.into())])
    }

    gpbench_testing::solver_suite! { suite() }
}
