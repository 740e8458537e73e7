//! Published hyperparameters, built into the binary.
//!
//! J. A. Lin et al., "Sampling from Gaussian Process Posteriors using Stochastic
//! Gradient Descent", NeurIPS 2023, as distributed with their code: Matern-3/2, one
//! length scale per input, for data standardised with training statistics.

use std::sync::LazyLock;

use gpbench_record::{Family, Kernel, OriginBase};
use serde::Deserialize;

/// The only kernel family with published hyperparameters.
pub(crate) const FAMILY: Family = Family::Matern32;

/// Short citation of the paper in reports.
const PAPER: &str = "Lin et al. 2023";

/// Hyperparameters of one data set and split.
#[derive(Debug, Deserialize)]
struct Published {
    dataset: String,
    split: u32,
    d: usize,
    /// Whether the published figures are finite numbers.
    finite: bool,
    signal_scale: f64,
    noise_scale: f64,
    length_scale: Vec<f64>,
}

#[derive(Deserialize)]
struct File {
    entry: Vec<Published>,
}

static ENTRIES: LazyLock<Vec<Published>> = LazyLock::new(|| {
    let text = include_str!("../../../benchmarks/reference/hyperparameters_matern32.toml");
    let file: File = toml::from_str(text).expect("the built-in file is read by a test");
    file.entry.into_iter().filter(|e| e.finite && e.length_scale.len() == e.d).collect()
});

/// The published kernel of a registry data set, by its canonical name, and split; `None` where there is none.
pub fn published_kernel(dataset: &str, split: u32, family: Family) -> Option<Kernel> {
    let is_it = |entry: &&Published| family == FAMILY && entry.dataset == dataset && entry.split == split;
    let known = ENTRIES.iter().find(is_it)?;
    Some(Kernel {
        name: family.to_string(),
        family: family.into(),
        signal_scale: known.signal_scale,
        noise_scale: known.noise_scale,
        length_scale: known.length_scale.clone(),
        mean: None,
        network: None,
        start: None,
        origin: OriginBase::Published { paper: PAPER.to_owned() }.into(),
    })
}

/// The splits that a data set has hyperparameters for; `None` if it has none at all.
pub(crate) fn splits(dataset: &str) -> Option<Vec<u32>> {
    let splits: Vec<u32> = ENTRIES.iter().filter(|e| e.dataset == dataset).map(|e| e.split).collect();
    (!splits.is_empty()).then_some(splits)
}

/// One clause that lists all data sets with published hyperparameters.
pub(crate) fn listing() -> String {
    let mut datasets: Vec<&str> = ENTRIES.iter().map(|e| e.dataset.as_str()).collect();
    datasets.dedup();
    let whole: Vec<u32> = (0..5).collect();
    let listed = datasets.iter().map(|name| match splits(name) {
        Some(splits) if splits != whole => {
            let splits: Vec<String> = splits.iter().map(u32::to_string).collect();
            format!("{name} (only {})", splits.join(", "))
        }
        _ => (*name).to_owned(),
    });
    format!("{FAMILY}, splits 0 to 4, on {}", listed.collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nine_data_sets_with_five_splits_each_but_one() {
        assert_eq!(ENTRIES.len(), 44);
        assert_eq!(splits("3droad"), Some(vec![0, 1, 2, 4]));
        assert!(ENTRIES.iter().all(|e| e.signal_scale > 0.0 && e.noise_scale > 0.0));
        let kernel = published_kernel("pol", 0, FAMILY).expect("published");
        assert_eq!((kernel.length_scale.len(), kernel.noise_scale), (26, 0.03674088791012764));
        assert_eq!(kernel.origin.to_string(), "published (Lin et al. 2023)");
        assert_eq!(published_kernel("pol", 5, FAMILY), None);
        assert_eq!(published_kernel("pol", 0, Family::Rbf), None);
    }
}
