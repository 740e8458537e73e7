//! Sums of products in a fixed order.

/// Scalar product of vectors of equal length, in a fixed order on any number of threads (unlike a threaded BLAS).
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    const LANES: usize = 8;
    let (a_chunks, b_chunks) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest: f64 = a_chunks.remainder().iter().zip(b_chunks.remainder()).map(|(a, b)| a * b).sum();
    let mut sums = [0.0; LANES];
    for (a, b) in a_chunks.zip(b_chunks) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::dot;

    #[test]
    fn every_length_is_summed() {
        for n in [0, 1, 7, 8, 9, 40] {
            let a: Vec<f64> = (0..n).map(f64::from).collect();
            let expected: f64 = a.iter().map(|entry| 2.0 * entry).sum();
            assert_eq!(dot(&a, &vec![2.0; a.len()]), expected, "{n}");
        }
    }
}
