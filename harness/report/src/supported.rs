//! What the pairs of solvers support over several data sets, in sentences. The chance that any of them is wrong is 5 % at
//! most.
//!
//! All pairs are compared on all problems, by seconds and by errors on test rows, with one adjustment (Holm) over all
//! comparisons. One solver is better than another on a data set if it is better on each problem of it that both were
//! run on. That is a sentence only if it is so on some data set, the reverse is so on none, and both were compared on
//! three data sets or more.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use gpbench_record::{TaskKind, metric, names};
use gpbench_statistics::{Column, ComparedPair};

use crate::aggregate::Group;
use crate::bold::{self, ByPair};
use crate::clock::Clock;
use crate::costs::{Costs, Goal};
use crate::number::range;
use crate::problem::GroupProblem;
use crate::results::{Results, once_each};
use crate::split::Split;

/// Fewest data sets that a sentence is about.
const DATASETS: usize = 3;

/// Fewest seeds of a solver that is compared.
const SEEDS: usize = 5;

/// The sentences, and how they were found.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Supported {
    /// For each measure, what each solver is better than, in the order of the spec; solvers that are better than the
    /// same ones on as many data sets share a sentence.
    pub(crate) sentences: Vec<String>,
    /// The tests, and what is not compared.
    pub(crate) rule: String,
}

/// Heading of the sentences.
pub(crate) const TITLE: &str = "What the pairs support";

/// What solvers are compared by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Measure {
    /// Seconds to the target of the run, or else to the tolerance.
    Seconds,
    Rmse,
    Nll,
}

impl Measure {
    const ALL: [Measure; 3] = [Measure::Seconds, Measure::Rmse, Measure::Nll];

    fn metric(self) -> &'static str {
        match self {
            Measure::Seconds => names::SECONDS,
            Measure::Rmse => names::TEST_RMSE,
            Measure::Nll => names::TEST_NLL,
        }
    }

    /// What the better solver does, before "than": of one solver, and of several.
    fn verbs(self, results: &Results<'_>, goal: &Goal<'_>) -> [String; 2] {
        let (verbs, object) = match (self, goal) {
            (Measure::Seconds, Goal::Tolerance) if results.cases.tasks() == [TaskKind::Train] => {
                (["trains", "train"], "in fewer seconds".to_owned())
            }
            (Measure::Seconds, _) => (["takes", "take"], format!("fewer seconds to {}", goal.words())),
            (Measure::Rmse, _) => (["has", "have"], "a lower test RMSE".to_owned()),
            (Measure::Nll, _) => (["has", "have"], "a lower test NLL".to_owned()),
        };
        verbs.map(|verb| format!("{verb} {object}"))
    }
}

/// A measure on a problem.
struct OnProblem<'r> {
    measure: Measure,
    dataset: &'r str,
    column: Column,
    /// By solver, how much less its cost may be than was observed, as a logarithm of ratios: the distance between
    /// evaluations. `None` where it is not known; 0 for errors.
    slack: Vec<Option<f64>>,
}

/// A comparison of two solvers on a problem.
struct Verdict {
    /// The better one, where one is.
    winner: Option<usize>,
    /// Mean difference, of logarithms where values are compared as such.
    mean: f64,
}

/// The comparisons of a pair by data set.
type ByDataset<'r> = BTreeMap<&'r str, Vec<Verdict>>;

/// That one solver is better than another on some data sets, and on none worse.
struct Claim {
    measure: Measure,
    better: usize,
    worse: usize,
    /// Number of data sets where it is.
    on: usize,
    /// Number of data sets where both were compared.
    of: usize,
    /// Ratios on the problems where it is; none of values that are compared as differences.
    factors: Option<String>,
}

/// The sentences that the results of one task support; `None` where there are none.
pub(crate) fn supported(results: &Results<'_>) -> Option<Supported> {
    let solvers = results.cases.solvers();
    let goal = Goal::of(&results.cases);
    let problems = results.problems();
    if once_each(problems.iter().map(|problem| problem.dataset.as_str())).len() < DATASETS {
        return None;
    }
    let columns: Vec<OnProblem<'_>> = problems
        .iter()
        .flat_map(|problem| Measure::ALL.map(|measure| (*problem, measure)))
        .filter_map(|(problem, measure)| OnProblem::new(results, problem, measure, &goal))
        .collect();
    let compared: Vec<Column> = columns.iter().map(|on| on.column.clone()).collect();
    let marks = gpbench_statistics::bold(&compared);
    let mut verdicts: BTreeMap<(Measure, [usize; 2]), ByDataset<'_>> = BTreeMap::new();
    for pair in &marks.pairs {
        let on = &columns[pair.column];
        let of_pair = verdicts.entry((on.measure, pair.solvers)).or_default();
        let verdict = Verdict { winner: on.winner(pair), mean: pair.mean };
        of_pair.entry(on.dataset).or_default().push(verdict);
    }
    let claims: Vec<Claim> =
        verdicts.iter().filter_map(|((measure, pair), found)| Claim::of(*measure, *pair, found)).collect();
    let of_measure = |measure: Measure| {
        let own: Vec<&Claim> = claims.iter().filter(|claim| claim.measure == measure).collect();
        sentences(&own, &solvers, &measure.verbs(results, &goal))
    };
    let sentences: Vec<String> = Measure::ALL.into_iter().flat_map(of_measure).collect();
    let rule = rule(results, &compared, marks.comparisons);
    (!sentences.is_empty()).then_some(Supported { sentences, rule })
}

impl<'r> OnProblem<'r> {
    /// The values of all solvers, in the order of the spec; `None` where no two may be compared.
    fn new(
        results: &'r Results<'_>,
        problem: &'r GroupProblem,
        measure: Measure,
        goal: &Goal<'_>,
    ) -> Option<OnProblem<'r>> {
        let metric = metric::find(measure.metric())?;
        let solvers = results.cases.solvers();
        let (mut values, mut slack): (ByPair, Vec<Option<f64>>) =
            (vec![BTreeMap::new(); solvers.len()], vec![Some(0.0); solvers.len()]);
        let of_groups: Vec<(&Group, Costs)> =
            results.of_problem(problem).map(|group| (group, costs(results, group, goal))).collect();
        let level = of_groups.iter().find_map(|(_, costs)| costs.level);
        for (group, costs) in of_groups {
            let Some(at) = solvers.iter().position(|solver| *solver == group.solver) else { continue };
            let found = match measure {
                Measure::Seconds if costs.level.is_none() || costs.level != level => BTreeMap::new(),
                Measure::Seconds => {
                    slack[at] = costs.bracket(costs.seeds.keys());
                    reached(&costs)
                }
                _ if results.has_own_predictions(group) => BTreeMap::new(),
                _ => bold::comparable(results, group, metric),
            };
            if found.len() >= SEEDS {
                values[at] = found;
            }
        }
        let split = Split::of(results.cases_of(problem));
        let has_pair = values.iter().filter(|values| !values.is_empty()).count() > 1;
        let column = bold::compared_column(metric, values, split);
        has_pair.then(|| OnProblem { measure, dataset: &problem.dataset, column, slack })
    }

    /// The better solver of a pair, if the distance between evaluations cannot explain the difference.
    fn winner(&self, pair: &ComparedPair) -> Option<usize> {
        let winner = pair.winner(self.column.lower_is_better)?;
        let slack = self.slack[other(pair.solvers, winner)]?;
        (pair.mean.abs() - slack > pair.tolerance).then_some(winner)
    }
}

/// The solver of a pair that is not `one`.
fn other([first, second]: [usize; 2], one: usize) -> usize {
    if first == one { second } else { first }
}

/// Seconds of a group to the goal, where its times are comparable.
fn costs(results: &Results<'_>, group: &Group, goal: &Goal<'_>) -> Costs {
    Costs::new(goal, Clock::Seconds, results.comparable_cases(group))
}

/// Costs by seed, where all seeds reached the goal at a known cost; else empty.
fn reached(costs: &Costs) -> BTreeMap<u64, f64> {
    let of_seed = costs.seeds.iter().map(|(seed, of)| Some((*seed, of.cost.filter(|_| of.is_reached)?)));
    of_seed.collect::<Option<BTreeMap<u64, f64>>>().unwrap_or_default()
}

impl Claim {
    /// The claim that the comparisons of a pair support, by data set.
    fn of(measure: Measure, pair: [usize; 2], found: &ByDataset<'_>) -> Option<Claim> {
        let winners: BTreeSet<usize> =
            found.values().flatten().filter_map(|verdict| verdict.winner).collect();
        let better = *winners.first().filter(|_| winners.len() == 1)?;
        let is_won = |verdict: &&Verdict| verdict.winner == Some(better);
        let is_won_whole = |verdicts: &&Vec<Verdict>| verdicts.iter().all(|verdict| is_won(&verdict));
        let on = found.values().filter(is_won_whole).count();
        if found.len() < DATASETS || on == 0 {
            return None;
        }
        let won = found.values().flatten().filter(is_won);
        let factors = match measure {
            Measure::Seconds => Some(format!("{}×", range(won.map(|verdict| verdict.mean.abs().exp())))),
            Measure::Rmse | Measure::Nll => None,
        };
        Some(Claim { measure, better, worse: other(pair, better), on, of: found.len(), factors })
    }

    /// The worse solver, with how many times it takes.
    fn object(&self, solvers: &[&str]) -> String {
        let factors = self.factors.iter().map(|factors| format!(" ({factors})"));
        format!("{}{}", solvers[self.worse], factors.collect::<String>())
    }
}

/// The sentences of the claims of one measure.
fn sentences(claims: &[&Claim], solvers: &[&str], verbs: &[String; 2]) -> Vec<String> {
    let objects_of: Vec<Option<String>> =
        (0..solvers.len()).map(|solver| objects(claims, solver, solvers)).collect();
    let sentence = |objects: &String| {
        let is_subject = |(of, solver): (&Option<String>, &&str)| {
            (of.as_ref() == Some(objects)).then(|| (*solver).to_owned())
        };
        let subjects: Vec<String> = objects_of.iter().zip(solvers).filter_map(is_subject).collect();
        let verb = &verbs[usize::from(subjects.len() > 1)];
        format!("{} {verb} {objects}.", enumerated(&subjects))
    };
    once_each(objects_of.iter().flatten()).into_iter().map(sentence).collect()
}

/// What one solver is better than, and on how many data sets; `None` where it is nothing.
fn objects(claims: &[&Claim], solver: usize, solvers: &[&str]) -> Option<String> {
    let own = claims.iter().filter(|claim| claim.better == solver);
    // By the number of data sets where it is not better, so that the widest claims come first.
    let mut by_extent: BTreeMap<(usize, Reverse<usize>), Vec<String>> = BTreeMap::new();
    for claim in own {
        by_extent.entry((claim.of - claim.on, Reverse(claim.of))).or_default().push(claim.object(solvers));
    }
    let part = |((missing, Reverse(of)), objects): ((usize, Reverse<usize>), Vec<String>)| {
        let place = if missing == 0 { format!("all {of}") } else { format!("{} of {of}", of - missing) };
        format!("than {} on {place} data sets", enumerated(&objects))
    };
    let parts: Vec<String> = by_extent.into_iter().map(part).collect();
    (!parts.is_empty()).then(|| parts.join(", and "))
}

/// `a, b and c`.
fn enumerated(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// The tests and what is not compared, in words.
fn rule(results: &Results<'_>, compared: &[Column], comparisons: usize) -> String {
    let noun = results.cases.noun();
    let sizes = compared.iter().flat_map(|column| &column.values).map(BTreeMap::len).filter(|size| *size > 0);
    let seeds = range(sizes.map(|size| size as f64));
    let rule = format!(
        "By paired t tests over {seeds} seeds on each data set, kernel and estimator (Holm over all {comparisons} \
         comparisons, 5 %) and by more than the metric's tolerance. A {noun} is better on a data set if it is with all \
         kernels and estimators that both were run with; on none of the other data sets is it worse. Not compared: a \
         {noun} that failed with a seed, and seconds of one that missed its goal with a seed. In brackets are ratios \
         of seconds. Pairs that are not named cannot be told apart, were compared on fewer than three data sets, or \
         each is better somewhere."
    );
    let split = |problem: &GroupProblem| Split::of(results.cases_of(problem)).sentence();
    let splits = results.problems().into_iter().filter_map(split);
    [rule].into_iter().chain(once_each(splits)).collect::<Vec<String>>().join(" ")
}

#[cfg(test)]
mod tests {
    use gpbench_statistics::Tolerance;

    use super::*;

    #[test]
    fn the_distance_between_evaluations_may_explain_a_difference() {
        let column = || Column {
            values: Vec::new(),
            is_log: true,
            lower_is_better: true,
            smallest: Tolerance::default(),
            extra_variance: 0.0,
        };
        let winner = |slack: [Option<f64>; 2], mean: f64| {
            let solvers = [0, 1];
            let is_rejected = true;
            let pair = ComparedPair {
                column: 0,
                solvers,
                mean,
                p: 1e-9,
                adjusted: 1e-8,
                is_rejected,
                tolerance: 0.1,
            };
            let slack = slack.to_vec();
            OnProblem { measure: Measure::Seconds, dataset: "a", column: column(), slack }.winner(&pair)
        };
        let known = [Some(0.0); 2];
        assert_eq!((winner(known, -0.5), winner(known, 0.5)), (Some(0), Some(1)));
        // The second solver may have reached the target that much earlier.
        assert_eq!(winner([Some(0.0), Some(0.45)], -0.5), None);
        assert_eq!(winner([Some(0.45), Some(0.0)], -0.5), Some(0));
        assert_eq!(winner([Some(0.0), None], -0.5), None);
    }

    /// Better and worse solver, and numbers of data sets, of a claim. Given are the winners on each data set's problems.
    fn claim(datasets: &[(&'static str, &[Option<usize>])]) -> Option<[usize; 4]> {
        let verdicts = |winners: &[Option<usize>]| -> Vec<Verdict> {
            winners.iter().map(|winner| Verdict { winner: *winner, mean: 0.7 }).collect()
        };
        let found: ByDataset<'_> =
            datasets.iter().map(|(name, winners)| (*name, verdicts(winners))).collect();
        Claim::of(Measure::Rmse, [0, 1], &found).map(|claim| [claim.better, claim.worse, claim.on, claim.of])
    }

    #[test]
    fn a_claim_needs_three_data_sets_and_none_with_the_reverse() {
        let (first, second) = (Some(0), Some(1));
        assert_eq!(claim(&[("a", &[second]), ("b", &[second]), ("c", &[second])]), Some([1, 0, 3, 3]));
        assert_eq!(claim(&[("a", &[first]), ("b", &[None]), ("c", &[first])]), Some([0, 1, 2, 3]));
        assert_eq!(claim(&[("a", &[first]), ("b", &[first])]), None);
        assert_eq!(claim(&[("a", &[first]), ("b", &[first]), ("c", &[second])]), None);
        assert_eq!(claim(&[("a", &[None]), ("b", &[None]), ("c", &[None])]), None);
        // A data set counts where all of its problems do.
        assert_eq!(
            claim(&[("a", &[first, None]), ("b", &[first, first]), ("c", &[first])]),
            Some([0, 1, 2, 3])
        );
        assert_eq!(claim(&[("a", &[first, second]), ("b", &[first]), ("c", &[first])]), None);
    }

    #[test]
    fn solvers_that_are_better_than_the_same_ones_share_a_sentence() {
        let claim = |better: usize, worse: usize, on: usize| Claim {
            measure: Measure::Rmse,
            better,
            worse,
            on,
            of: 3,
            factors: None,
        };
        let claims = [claim(0, 2, 3), claim(1, 2, 3), claim(0, 3, 2), claim(1, 3, 2), claim(2, 3, 1)];
        let claims: Vec<&Claim> = claims.iter().collect();
        let verbs = ["has a lower error", "have a lower error"].map(str::to_owned);
        assert_eq!(
            sentences(&claims, &["a", "b", "c", "d"], &verbs),
            [
                "a and b have a lower error than c on all 3 data sets, and than d on 2 of 3 data sets.",
                "c has a lower error than d on 1 of 3 data sets.",
            ]
        );
    }

    #[test]
    fn words_are_enumerated() {
        let words =
            |all: &[&str]| enumerated(&all.iter().map(|word| (*word).to_owned()).collect::<Vec<String>>());
        assert_eq!(
            [words(&["a"]), words(&["a", "b"]), words(&["a", "b", "c"])],
            ["a", "a and b", "a, b and c"]
        );
    }
}
