//! Plans of specs, and a small spec.

use gpbench_record::Case;
use gpbench_spec::SpecPlan;

use super::check_text;

/// The plan of a spec that is right, with these overrides.
pub(crate) fn planned(text: &str, sets: &[&str]) -> SpecPlan {
    check_text(text, sets).unwrap_or_else(|errors| panic!("{errors}")).plan()
}

/// The cases of a solver on a data set.
pub(crate) fn cases<'a>(plan: &'a SpecPlan, dataset: &str, solver: &str) -> Vec<&'a Case> {
    let wanted = |c: &&Case| c.dataset.name == dataset && c.solver.name == solver;
    plan.cases.iter().map(|p| &p.case).filter(wanted).collect()
}

/// Two solvers on two data sets with three seeds.
pub(crate) const SMALL: &str = r#"
schema = 1
name = "small"
task = "posterior"
seeds = [0, 1, 2]
[matrix]
dataset = ["gp-draw", "pol"]
kernel = ["matern32"]
solver = ["cholesky", "cg"]
[budget]
tolerance = 0.01
"#;
