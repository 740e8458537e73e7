//! Limits of counts that allow for chance.

/// The 99.9 % quantile of a binomial distribution.
pub fn limit(of: usize, chance: f64) -> usize {
    let mut weight = (1.0 - chance).powi(of as i32);
    let mut sum = weight;
    let mut count = 0;
    while sum < 0.999 && count < of {
        weight *= (of - count) as f64 / (count + 1) as f64 * chance / (1.0 - chance);
        count += 1;
        sum += weight;
    }
    count
}
