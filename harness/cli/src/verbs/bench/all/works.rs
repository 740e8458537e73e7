//! The works of the table, and what their operations allow.

/// A work that is timed: a line of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Work {
    Product,
    ProductSingle,
    ProductOfOne,
    Gradient,
    Rows,
    RowsAndBack,
    Columns,
    Factor,
    FactorSingle,
    Solve,
    SolveSingle,
    Build,
    Apply,
    ApplySingle,
    SampleGradients,
    Svgp,
    Minimax,
    Scgd,
}

/// Instructions for a vector of entries from sums over coordinates to correlations, for Matérn-3/2 in double and in
/// single precision: each takes as long as a multiply-add where all arithmetic shares two units. The square root,
/// which another unit computes meanwhile, is not among them.
const FUNCTION: f64 = 26.0;
const FUNCTION_SINGLE: f64 = 22.0;

impl Work {
    /// Its name, which is its key in JSON too.
    pub(super) fn name(self) -> &'static str {
        match self {
            Work::Product => "product, f64",
            Work::ProductSingle => "product, f32",
            Work::ProductOfOne => "product, f64, one column",
            Work::Gradient => "gradient by all hyperparameters",
            Work::Rows => "rows",
            Work::RowsAndBack => "rows, forward and back",
            Work::Columns => "columns",
            Work::Factor => "Cholesky factor, f64",
            Work::FactorSingle => "Cholesky factor, f32",
            Work::Solve => "solves, f64",
            Work::SolveSingle => "solves, f32",
            Work::Build => "low-rank preconditioner, build",
            Work::Apply => "low-rank preconditioner, apply, f64",
            Work::ApplySingle => "low-rank preconditioner, apply, f32",
            Work::SampleGradients => "gradients of posterior samples",
            Work::Svgp => "svgp, a step",
            Work::Minimax => "minimax, a step",
            Work::Scgd => "scgd, a step",
        }
    }

    /// The ratio that the operations allow at d inputs and s columns, where that is known.
    ///
    /// Of kernel products it follows from the multiply-adds: a product evaluates half of the entries that it uses, a
    /// block of rows each of its own, and a gradient half of them with weights of 2 s and a product with d inputs. Of
    /// dense algebra and samples it is an estimate.
    pub(super) fn allowed(self, d: f64, s: f64) -> Option<f64> {
        let function = if self == Work::ProductSingle { FUNCTION_SINGLE } else { FUNCTION };
        let entry = d + function;
        let product = 0.5 * entry + s;
        Some(match self {
            Work::Product | Work::ProductSingle | Work::ProductOfOne => (d + s) / product,
            Work::Gradient => (d + s) / (product + 0.5 * d),
            Work::Rows | Work::Columns => (entry + s) / product,
            Work::RowsAndBack => (entry + 2.0 * s) / product,
            Work::Factor | Work::FactorSingle | Work::Apply | Work::ApplySingle => 0.9,
            Work::Solve | Work::SolveSingle => 0.8,
            Work::Build => 0.7,
            Work::SampleGradients => 0.5,
            Work::Svgp | Work::Minimax | Work::Scgd => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_allow_what_they_count() {
        let of = |work: Work, s: f64| work.allowed(26.0, s).expect("a kernel product");
        let is_near = |found: f64, expected: f64| assert!((found - expected).abs() < 0.01, "{found}");
        is_near(of(Work::Product, 65.0), 1.0);
        is_near(of(Work::ProductOfOne, 1.0), 1.0);
        is_near(of(Work::Gradient, 65.0), 0.875);
        is_near(of(Work::Rows, 65.0), 1.286);
        is_near(of(Work::RowsAndBack, 65.0), 2.0);
        assert!(of(Work::ProductSingle, 65.0) > of(Work::Product, 65.0));
        assert_eq!(Work::Svgp.allowed(26.0, 65.0), None);
    }
}
