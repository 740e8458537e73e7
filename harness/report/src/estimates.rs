//! Estimates of the likelihood in pairs of the same seed: the errors, variances and seconds of each estimate beside those of the
//! first.

use std::collections::BTreeMap;

use gpbench_record::{counted, metric, names};
use gpbench_statistics::PRINTED_FROM;

use crate::aggregate::Group;
use crate::between::Pair;
use crate::bias::{ROUNDING, TERMS, Term};
use crate::pairs::by_seed;
use crate::results::{Model, Results};
use crate::table::{Cell, TextTable};

/// A number by seed.
type BySeed = BTreeMap<u64, f64>;

/// The numbers of a group that are compared. Those of a term are relative to the exact one, which all groups share.
struct Numbers {
    /// Absolute error of the mean of the estimates, for each of [`terms`].
    errors: Vec<BySeed>,
    /// Variance of one estimate, for each of [`terms`].
    variances: Vec<BySeed>,
    /// Seconds of one estimate.
    seconds: BySeed,
}

/// The table of a model: ratios to the first of its estimates, or the first one by the solver that the spec names as the
/// baseline. None where nothing is in pairs.
pub(crate) fn table(results: &Results<'_>, model: Model<'_>) -> Option<TextTable> {
    let groups = results.of_model(model);
    let is_base = |group: &&&Group| results.cases.options().baseline.as_ref() == Some(&group.solver);
    let base = groups.iter().find(is_base).or(groups.first()).copied()?;
    let of_model = match results.models().len() {
        1 => String::new(),
        _ => format!(": {}", results.model_title(model)),
    };
    let mut table = TextTable::new(format!("Beside {}, seed by seed{of_model}", results.label(base)));
    table = table.words("estimate").numbers("pairs");
    for number in ["error", "variance"] {
        table = terms().iter().fold(table, |table, term| table.numbers(format!("{term} {number} ratio")));
    }
    let mut table = table.numbers("seconds ratio").key(&["estimate"]).major(&["seconds ratio"]);
    let of_base = Numbers::of(results, base);
    let mut most = 0;
    for group in groups.iter().copied().filter(|group| !std::ptr::eq(*group, base)) {
        let cases = [group, base].map(|of| results.of(of).collect());
        let Some(pair) = Pair::of_cases(&group.problem, cases) else { continue };
        let ratios = Numbers::of(results, group).ratios(&of_base, &pair);
        if ratios.iter().all(Option::is_none) {
            continue;
        }
        most = most.max(pair.seeds.len());
        let words = [results.label(group), pair.seeds.len().to_string()].map(Cell::from);
        let numbers = ratios.into_iter().map(|ratio| Cell::from(ratio.unwrap_or_default()));
        table.row(words.into_iter().chain(numbers));
    }
    table.caption = caption(most);
    (!table.rows.is_empty()).then(|| table.without_empty_columns())
}

/// Names of what is estimated: the terms with a bias of their own, then the gradient.
fn terms() -> Vec<&'static str> {
    let title = |name: &'static str| metric::find(name).map_or(name, |metric| metric.title);
    TERMS.into_iter().map(|term| title(term.mean)).chain(["gradient"]).collect()
}

/// What the cells of the table are.
fn caption(seeds: usize) -> String {
    let brackets = match seeds < PRINTED_FROM {
        true => format!("no interval: {}", counted(seeds, "seed")),
        false => "brackets are 95 % t intervals over seeds".to_owned(),
    };
    format!(
        "Geometric means over common seeds of the other's number over the estimate's own, above 1 where the estimate's is smaller: of the \
         absolute error of the mean of all estimates, of the variance and of the seconds of one estimate. Errors and standard errors \
         below 1e-9 of the exact term are rounding and are left out; seconds are compared only where all cases ended ok, and a mark like \
         4/5 counts the seeds of which they did; {brackets}."
    )
}

impl Numbers {
    fn of(results: &Results<'_>, group: &Group) -> Numbers {
        let of = |metric: &str| results.by_seed(group, metric);
        let count = of(names::REPETITIONS);
        let error = |term: Term| {
            of_both(&of(term.mean), &of(term.exact), |mean, exact| ((mean - exact) / exact).abs())
        };
        let spread =
            |term: Term| of_both(&of(term.error), &of(term.exact), |error, exact| (error / exact).abs());
        let (errors, spreads) = (TERMS.into_iter().map(error), TERMS.into_iter().map(spread));
        let spreads = spreads.chain([of(names::GRADIENT_ERROR)]).map(without_rounding);
        let variance = |spread: BySeed| of_both(&spread, &count, |error, count| error * error * count);
        let seconds = by_seed(results.comparable_cases(group), names::SECONDS);
        Numbers {
            errors: errors.chain([of(names::GRADIENT_BIAS)]).map(without_rounding).collect(),
            variances: spreads.map(variance).collect(),
            seconds: of_both(&seconds, &count, |seconds, count| seconds / count),
        }
    }

    /// The ratios of another group's numbers to these, as texts of cells.
    fn ratios(self, other: &Numbers, pair: &Pair<'_>) -> Vec<Option<String>> {
        let numbers = self.errors.into_iter().chain(self.variances);
        let others = other.errors.iter().chain(&other.variances);
        let of_terms = numbers.zip(others).map(|(own, other)| pair.ratio_of(&[own, other.clone()]));
        let of_seconds = pair.ratio_of_costs(&[self.seconds, other.seconds.clone()]);
        of_terms.chain([of_seconds]).map(|ratio| ratio.map(|ratio| ratio.words())).collect()
    }
}

/// A number of two others of the same seed.
fn of_both(one: &BySeed, other: &BySeed, of: impl Fn(f64, f64) -> f64) -> BySeed {
    one.iter().filter_map(|(seed, value)| Some((*seed, of(*value, *other.get(seed)?)))).collect()
}

/// Relative numbers above rounding.
fn without_rounding(mut relative: BySeed) -> BySeed {
    relative.retain(|_, value| *value > ROUNDING);
    relative
}
