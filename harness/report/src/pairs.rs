//! Values of solvers by seed. What a seed draws is the same for all solvers, so the differences and ratios of pairs vary less
//! than the values themselves.
//!
//! A seed counts once: its timing repeats are reduced to one number first, since they show the spread of the clock alone.

use std::collections::BTreeMap;

use gpbench_statistics::median;

use crate::frame::{CaseView, is_time};

/// The timing repeats of a seed as one number: the median of seconds, the mean of anything else. `None` where there are none.
pub(crate) fn reduced(metric: &str, repeats: &[f64]) -> Option<f64> {
    if is_time(metric) { median(repeats) } else { mean(repeats.iter().copied()) }
}

/// The mean of some values; none where there are none.
pub(crate) fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

/// A metric of the cases with an answer, by seed.
pub(crate) fn by_seed<'f>(cases: impl Iterator<Item = CaseView<'f>>, metric: &str) -> BTreeMap<u64, f64> {
    let of_seed = repeats(cases, metric).into_iter();
    of_seed.filter_map(|(seed, values)| Some((seed, reduced(metric, &values)?))).collect()
}

/// A metric of the timing repeats with an answer, by seed.
pub(crate) fn repeats<'f>(
    cases: impl Iterator<Item = CaseView<'f>>,
    metric: &str,
) -> BTreeMap<u64, Vec<f64>> {
    let mut of_seed: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for case in cases.filter(CaseView::is_answer) {
        of_seed.entry(case.seed()).or_default().extend(case.metric(metric));
    }
    of_seed
}

/// The differences `of - from` of the keys that both have.
pub(crate) fn differences<K: Ord>(of: &BTreeMap<K, f64>, from: &BTreeMap<K, f64>) -> Vec<f64> {
    of.iter().filter_map(|(key, value)| Some(value - from.get(key)?)).collect()
}

#[cfg(test)]
mod tests {
    use gpbench_record::{CaseStatus, Row, names, testing};
    use gpbench_runs::RunRecord;

    use super::*;
    use crate::frame::{Cases, Frame};
    use crate::run::Run;

    #[test]
    fn repeats_of_a_seed_are_the_median_of_seconds_and_the_mean_of_others() {
        let row = |seed: u64, repeat: u32, value: f64| -> Row {
            let mut case = testing::case("cg");
            (case.seed, case.repeat) = (seed, repeat);
            testing::row(case, &[(names::SECONDS, value), (names::EPOCHS, value)])
        };
        let mut rows = vec![row(0, 0, 1.0), row(0, 1, 2.0), row(0, 2, 9.0), row(1, 0, 5.0), row(2, 0, 7.0)];
        rows[4].status = CaseStatus::Crashed;
        let run = Run { record: RunRecord { rows, ..RunRecord::default() }, warnings: Vec::new() };
        let frame = Frame::new(&run).unwrap();
        let values = |metric: &str| by_seed(Cases::of(&frame).iter(), metric).into_iter().collect::<Vec<_>>();
        assert_eq!(values(names::SECONDS), [(0, 2.0), (1, 5.0)]);
        assert_eq!(values(names::EPOCHS), [(0, 4.0), (1, 5.0)]);
    }

    #[test]
    fn differences_are_of_common_keys() {
        let values = |pairs: &[(u64, f64)]| pairs.iter().copied().collect::<BTreeMap<u64, f64>>();
        let found =
            differences(&values(&[(0, 3.0), (1, 5.0), (3, 1.0)]), &values(&[(1, 1.0), (2, 0.0), (3, 2.0)]));
        assert_eq!(found, [4.0, -1.0]);
    }
}
