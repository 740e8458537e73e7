//! Ratios over several data sets. Pooling all pairs would treat the seeds of one data set as if they were data sets,
//! so there are two claims: about the data sets that were run, and about data sets like them.

use crate::distribution::t_quantile;
use crate::estimate::{Estimate, estimate, finite, mean, sample_variance};

/// The ratio on these data sets, from the logarithms of ratios of each: exp of the mean of their means. The interval
/// counts the variation of seeds alone, with Satterthwaite's degrees of freedom; it exists if each data set has two
/// seeds or more. `count` is the smallest number of seeds. `None` if a data set has no value, or there is none.
pub fn over_these_datasets(log_ratios: &[Vec<f64>]) -> Option<Estimate> {
    let by_dataset: Vec<Vec<f64>> = log_ratios.iter().map(|of| finite(of)).collect();
    let means: Option<Vec<f64>> = by_dataset.iter().map(|of| mean(of)).collect();
    let overall = mean(&means?)?;
    let of_mean = |of: &Vec<f64>| Some((sample_variance(of)? / of.len() as f64, of.len() as f64 - 1.0));
    let variances: Option<Vec<(f64, f64)>> = by_dataset.iter().map(of_mean).collect();
    let half = variances.map(|variances| half_width(&variances));
    let count = by_dataset.iter().map(Vec::len).min()?;
    Some(Estimate::around(overall, None, half, count).exp())
}

/// Half the width of the interval of a mean of means, from the variance and the degrees of freedom of each.
fn half_width(variances: &[(f64, f64)]) -> f64 {
    let sum: f64 = variances.iter().map(|(variance, _)| variance).sum();
    if sum == 0.0 {
        return 0.0;
    }
    let df = sum * sum / variances.iter().map(|(variance, df)| variance * variance / df).sum::<f64>();
    t_quantile(df) * sum.sqrt() / variances.len() as f64
}

/// The ratio on data sets like these: exp of the mean of their means, with a t interval over data sets. `count` is
/// their number. `None` if a data set has no value, or there is none.
pub fn over_such_datasets(log_ratios: &[Vec<f64>]) -> Option<Estimate> {
    let means: Option<Vec<f64>> = log_ratios.iter().map(|of| mean(&finite(of))).collect();
    Some(estimate(&means?, 0.0)?.exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_have_an_interval_without_width() {
        let estimate = over_these_datasets(&[vec![0.5, 0.5], vec![0.5, 0.5, 0.5]]).unwrap();
        let interval = estimate.interval.unwrap();
        assert_eq!((interval.low, interval.high, estimate.count), (estimate.mean, estimate.mean, 2));
        assert!(over_these_datasets(&[vec![0.5], vec![0.1, 0.2]]).unwrap().interval.is_none());
        assert!(over_these_datasets(&[vec![], vec![0.1]]).is_none() && over_such_datasets(&[]).is_none());
    }
}
