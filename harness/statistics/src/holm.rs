//! Several tests at once.

/// The p-values of several tests, adjusted for their number, and which tests reject.
#[derive(Debug, Clone, PartialEq)]
pub struct Holm {
    /// Adjusted p-values, in the order of the tests.
    pub adjusted: Vec<f64>,
    /// Whether each test rejects.
    pub rejected: Vec<bool>,
}

/// Rejects with a chance of at most `alpha` that any of the tests rejects wrongly (Holm 1979). NaN counts as 1.
pub fn holm(p: &[f64], alpha: f64) -> Holm {
    let value = |at: usize| if p[at].is_nan() { 1.0 } else { p[at] };
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| value(a).total_cmp(&value(b)));
    let mut adjusted = vec![1.0; p.len()];
    let mut largest = 0.0_f64;
    for (rank, &at) in order.iter().enumerate() {
        largest = largest.max((p.len() - rank) as f64 * value(at)).min(1.0);
        adjusted[at] = largest;
    }
    let rejected = adjusted.iter().map(|p| *p <= alpha).collect();
    Holm { adjusted, rejected }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_without_a_result_rejects_nothing() {
        let holm = holm(&[0.01, f64::NAN], 0.05);
        assert_eq!(holm.adjusted, [0.02, 1.0]);
        assert_eq!(holm.rejected, [true, false]);
        assert_eq!(super::holm(&[], 0.05).rejected, [] as [bool; 0]);
    }
}
