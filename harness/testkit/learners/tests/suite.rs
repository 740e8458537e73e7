//! Tests of the learners in the host.

use gpbench_learners::ScaleDescent;
use gpbench_sdk::{Family, ModelKind, Reason};
use gpbench_testing::FitHost;
use gpbench_testing::rules::Tested;

fn host() -> FitHost {
    FitHost::wave(57).passes(4.0)
}

gpbench_testing::learner_rules! { Tested::learner::<ScaleDescent>() }

#[test]
fn all_rows_in_a_batch_descend_to_the_likeliest_scales() {
    for family in [Family::Rbf, Family::Matern12, Family::Matern32, Family::Matern52] {
        let host = host().family(family).passes(300.0);
        let mut run = host.begin::<ScaleDescent>(&[("batch", 57.into())]).unwrap();
        run.fit().unwrap();
        let trace = run.trace();
        let falls = trace.windows(2).all(|pair| pair[1].1 <= pair[0].1 + 1e-9);
        assert!(falls, "{family:?}: {trace:?}");
        let norms: Vec<f64> = run.notes().into_iter().map(|(_, _, norm)| norm).collect();
        assert!(norms[299] < 0.05 * norms[0], "{family:?}: {norms:?}");
        assert_eq!(run.model().unwrap().kind(), Some(ModelKind::Gp));
    }
}

#[test]
fn a_limit_ends_the_fit() {
    let host = host();
    let mut run = host.begin::<ScaleDescent>(&[("limit", 5.into())]).unwrap();
    let report = run.fit().unwrap();
    assert_eq!((report.reason, report.steps), (Reason::Iterations, 5));
    assert_eq!(run.fit().unwrap(), report);
}
