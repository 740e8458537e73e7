//! Growth of a step's time and a case's memory with the batch size and the number of features: slopes on logarithmic axes.

use gpbench_record::{Case, ParamValue, names};
use gpbench_statistics::{PRINTED_FROM, PowerLaw};

use crate::aggregate::Group;
use crate::number::short;
use crate::results::{Results, once_each};
use crate::table::TextTable;

/// A size with which costs grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Size {
    Batch,
    Features,
}

impl Size {
    pub(crate) const ALL: [Size; 2] = [Size::Batch, Size::Features];

    /// Name in tables and axes.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Size::Batch => "batch size",
            Size::Features => "features",
        }
    }

    /// The size of a case.
    pub(crate) fn of(self, case: &Case) -> Option<f64> {
        match self {
            Size::Batch => match case.solver.params.get("batch")? {
                ParamValue::Int(batch) => Some(*batch as f64),
                ParamValue::Bool(_) | ParamValue::Float(_) | ParamValue::Text(_) => None,
            },
            Size::Features => {
                let network = case.kernel.network.as_ref()?;
                Some(network.random.unwrap_or(network.outputs()) as f64)
            }
        }
    }
}

/// The groups of one method that differ in one size, by that size.
pub(crate) struct Growth<'a> {
    /// The learner's id in its plugin.
    pub(crate) method: &'a str,
    pub(crate) dataset: &'a str,
    /// Description of the properties that do not vary.
    pub(crate) fixed: String,
    pub(crate) groups: Vec<(f64, &'a Group)>,
}

/// All methods whose cases have several values of a size, on each data set.
pub(crate) fn growths<'a>(results: &'a Results<'_>, size: Size) -> Vec<Growth<'a>> {
    let other = if size == Size::Batch { Size::Features } else { Size::Batch };
    let mut all: Vec<Growth<'a>> = Vec::new();
    for group in results.groups.iter().map(|group| results.comparable(group)) {
        let case = results.case(group);
        let Some(at) = size.of(case) else { continue };
        let (method, dataset) = (case.solver.plugin.as_str(), group.problem.dataset.as_str());
        // A kernel of another family has other costs; its name has the number of features, which may vary.
        let kernel = case.kernel.family.as_str();
        let fixed = match other.of(case) {
            Some(other_size) => format!("{kernel}, {} {}", other.name(), short(other_size)),
            None => kernel.to_owned(),
        };
        match all.iter_mut().find(|own| (own.method, own.dataset) == (method, dataset) && own.fixed == fixed)
        {
            Some(own) => own.groups.push((at, group)),
            None => all.push(Growth { method, dataset, fixed, groups: vec![(at, group)] }),
        }
    }
    for growth in &mut all {
        growth.groups.sort_by(|a, b| a.0.total_cmp(&b.0));
        growth.groups.dedup_by_key(|(at, _)| *at);
    }
    all.retain(|growth| growth.groups.len() > 1);
    all
}

impl Growth<'_> {
    /// A metric against the size.
    pub(crate) fn values(&self, metric: &str) -> Vec<(f64, f64)> {
        self.groups.iter().filter_map(|(at, group)| Some((*at, group.mean(metric)?))).collect()
    }
}

/// The exponent of the power law through the values; none with fewer than three of them.
pub(crate) fn exponent(values: &[(f64, f64)]) -> Option<f64> {
    PowerLaw::fit(values).filter(|law| law.count() >= PRINTED_FROM).map(|law| law.exponent())
}

/// The table of exponents; none where no size has three values.
pub(crate) fn exponents(results: &Results<'_>) -> Option<TextTable> {
    let mut table = TextTable::new("How the cost of a step grows");
    table = ["data set", "method", "fixed", "grows with"].into_iter().fold(table, TextTable::words);
    table = ["from", "to", "exponent of time", "of its second half", "exponent of memory"]
        .into_iter()
        .fold(table, TextTable::numbers);
    for size in Size::ALL {
        for growth in growths(results, size) {
            let seconds = growth.values(names::SECONDS_PER_STEP);
            let Some(slope) = exponent(&seconds) else { continue };
            let upper = exponent(&seconds[seconds.len() / 2 - usize::from(seconds.len() < 6)..]);
            let memory = exponent(&growth.values(names::PEAK_MEMORY_BYTES));
            let optional = |slope: Option<f64>| slope.map_or_else(String::new, |slope| format!("{slope:.2}"));
            let ends = [seconds[0].0, seconds[seconds.len() - 1].0].map(short);
            let [from, to] = ends;
            table.row([
                growth.dataset.to_owned(),
                growth.method.to_owned(),
                growth.fixed.clone(),
                size.name().to_owned(),
                from,
                to,
                optional(Some(slope)),
                optional(upper),
                optional(memory),
            ]);
        }
    }
    table.caption = "Slopes of least-squares lines through logarithms of mean seconds of a step and of peak memory. Memory \
                     is that of the whole process, so that its exponent is small while the process itself is larger than \
                     what grows. Costs that are sums, such as b³ + b² D, reach their exponent at large sizes alone."
        .to_owned();
    (!table.rows.is_empty()).then(|| table.without_empty_columns())
}

/// The methods of some growths, once each.
pub(crate) fn methods<'a>(growths: &[Growth<'a>]) -> Vec<&'a str> {
    once_each(growths.iter().map(|growth| growth.method))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exponent_is_that_of_a_power() {
        let power = |x: f64| (x, 0.3 * x.powf(1.7));
        let slope = exponent(&[8.0, 16.0, 64.0, 100.0].map(power)).unwrap();
        assert!((slope - 1.7).abs() < 1e-12, "{slope}");
        assert_eq!(exponent(&[(1.0, 1.0), (2.0, 4.0)]), None);
        assert_eq!(exponent(&[(2.0, 1.0), (2.0, 4.0), (2.0, 3.0)]), None);
    }
}
