//! How the last of several runs relates to the first, seed by seed: what a solver measured in both with one seed is a pair.

use std::collections::{BTreeMap, BTreeSet};

use gpbench_record::metric::{self, Metric};
use gpbench_record::{counted, names};
use gpbench_statistics::PRINTED_FROM;

use crate::between::{Pair, Relation};
use crate::costs::Goal;
use crate::frame::{CaseView, Cases, is_time};
use crate::problem::GroupProblem;
use crate::ratio::Ratio;
use crate::split::Split;

/// Heading of the column of changes.
pub(crate) const CHANGE: &str = "change";

/// Costs of whole cases, which have a ratio beside that of the costs to a goal.
const WHOLE: [&str; 3] = [names::SECONDS, names::EPOCHS, names::SECONDS_TRAIN];

/// How the numbers of the last run relate to those of the first.
#[derive(Default)]
pub(crate) struct Changes {
    /// By problem, solver and name of the metric.
    relations: BTreeMap<(GroupProblem, String, &'static str), Relation>,
    /// Largest number of common seeds.
    seeds: usize,
    /// Whether times to a target are compared, which evaluations tell.
    is_to_target: bool,
    /// What the caption says of metrics of test rows, each sentence once.
    splits: BTreeSet<String>,
}

impl Changes {
    /// The changes from one run to another, whose times are comparable. Times have none where the two ran on different machines.
    pub(crate) fn new<'f>(first: &Cases<'f>, last: &Cases<'f>, is_one_machine: bool) -> Changes {
        let goal = match first.options().target == last.options().target {
            true => Goal::of(first),
            false => Goal::Tolerance,
        };
        let method = |case: CaseView<'f>| (GroupProblem::of(&case.row().labels), case.solver());
        let methods: BTreeSet<(GroupProblem, &str)> = first.iter().map(method).collect();
        let mut changes = Changes { is_to_target: matches!(goal, Goal::Target(..)), ..Changes::default() };
        for (problem, solver) in methods {
            let [own, other] = [first, last].map(|cases| cases.filter(|case| case.solver() == solver));
            if let Some(pair) = Pair::new(&problem, [&own, &other]) {
                changes.add(solver, &pair, &goal, is_one_machine);
            }
        }
        changes
    }

    /// Adds the pair of a solver.
    fn add(&mut self, solver: &str, pair: &Pair<'_>, goal: &Goal<'_>, is_one_machine: bool) {
        self.seeds = self.seeds.max(pair.seeds.len());
        let split = Split::of(pair.all());
        let whole = WHOLE.iter().filter_map(|name| pair.line(metric::find(name)?, split));
        // Where a cost to the goal is that of whole cases, it takes their place.
        for line in whole.chain(pair.lines(goal)) {
            let is_comparable = is_one_machine || !is_time(line.metric.name);
            let Some(relation) = line.relation.filter(|_| is_comparable) else { continue };
            if line.metric.is_of_test_rows() {
                self.splits.extend(split.sentence());
            }
            let key = (pair.problem.clone(), solver.to_owned(), line.metric.name);
            self.relations.insert(key, relation.second_less_first());
        }
    }

    /// The change of a metric of a solver on a problem.
    pub(crate) fn of(&self, problem: &GroupProblem, solver: &str, metric: &Metric) -> Option<Relation> {
        self.relations.get(&(problem.clone(), solver.to_owned(), metric.name)).copied()
    }

    /// What the column is, as sentences; none where nothing is compared.
    pub(crate) fn caption(&self) -> Option<String> {
        let between = if self.is_to_target { ", including the distance between evaluations" } else { "" };
        let brackets = match self.seeds < PRINTED_FROM {
            true => format!("no interval: {}", counted(self.seeds, "seed")),
            false => format!("brackets are 95 % t intervals over seeds, from three common seeds on{between}"),
        };
        let mut sentences = vec![format!(
            "`{CHANGE}` compares the last run with the first, seed by seed: of costs and of errors that span decades it is the geometric \
             mean of the ratios last / first (×), of other errors the mean of the differences last − first; {brackets}."
        )];
        let is_missed = |relation: &Relation| matches!(relation, Relation::Ratio(Ratio::Missed { .. }));
        if self.relations.values().any(is_missed) {
            sentences.push(
                "A mark like 4/5 stands in place of a ratio: both runs got there with 4 of 5 common seeds; ≥ and ≤ are bounds from a \
                 budget that was spent."
                    .to_owned(),
            );
        }
        sentences.extend(self.splits.iter().cloned());
        (!self.relations.is_empty()).then(|| sentences.join(" "))
    }
}
