//! Estimated cost of the optima of the likelihood that cases are compared with.

use std::collections::BTreeMap;

use gpbench_record::OptimumRequest;

use super::{FLOPS_PER_EXPONENTIAL, FLOPS_PER_THREAD, INPUTS};
use crate::spec_case::SpecCase;

/// Rows up to which every start of a search climbs on all of them, and the evaluations that these climbs take
/// together.
const FEW_ROWS: usize = 400;
const EVALUATIONS_OF_FEW: f64 = 400.0;
/// Evaluations on all rows where only the best starts climb on them.
const EVALUATIONS: f64 = 150.0;

/// The searches that a plan needs, each once for all cases that are compared with its optimum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Optima {
    /// Their number.
    pub count: usize,
    /// Seconds that all of them are likely to take.
    pub seconds: f64,
}

/// Seconds that the search for the optimum of so many training rows and inputs is likely to take: factorisations and
/// inverses, and kernel entries with their derivatives.
pub fn optimum_seconds(n: usize, d: Option<usize>, threads: usize) -> f64 {
    let entry = 4.0 * d.unwrap_or(INPUTS) as f64 + 2.0 * FLOPS_PER_EXPONENTIAL;
    let evaluation = |n: usize| (n as f64).powi(2) * (2.0 * n as f64 + entry);
    let of_few = EVALUATIONS_OF_FEW * evaluation(n.min(FEW_ROWS));
    let of_all = if n > FEW_ROWS { EVALUATIONS * evaluation(n) } else { 0.0 };
    (of_few + of_all) / (FLOPS_PER_THREAD * threads.max(1) as f64)
}

impl Optima {
    /// Those of some cases; `None` where no case is compared with an optimum.
    pub fn of(cases: &[SpecCase], threads: usize) -> Option<Optima> {
        let seconds: BTreeMap<String, f64> = cases.iter().filter_map(|case| of_case(case, threads)).collect();
        let (count, seconds) = (seconds.len(), seconds.values().sum());
        (count > 0).then_some(Optima { count, seconds })
    }
}

impl SpecCase {
    /// Seconds that the search for the optimum takes that the case is compared with, unless another case has needed
    /// it before; 0 where it is compared with none.
    pub fn optimum_seconds(&self, threads: usize) -> f64 {
        of_case(self, threads).map_or(0.0, |(_, seconds)| seconds)
    }
}

/// What tells the optimum of a case from others of the plan, and the seconds that its search takes.
fn of_case(case: &SpecCase, threads: usize) -> Option<(String, f64)> {
    let request = OptimumRequest::of(&case.case, threads)?;
    Some((request.key(None, ""), optimum_seconds(case.n?, case.d, threads)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_grow_with_rows_and_fall_with_threads() {
        let of = |n| optimum_seconds(n, Some(4), 2);
        assert!(of(100) < of(400) && of(400) < of(401) && of(401) < of(3000));
        assert!(of(400) < 3.0 && (60.0..600.0).contains(&of(3000)), "{} {}", of(400), of(3000));
        assert_eq!(optimum_seconds(1000, Some(4), 4), of(1000) / 2.0);
    }
}
