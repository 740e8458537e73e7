//! Columns of ratios of costs: speed-ups, and what the captions say of them.

use std::collections::BTreeSet;

use gpbench_record::{counted, names, text};
use gpbench_statistics::PRINTED_FROM;

use crate::aggregate::Group;
use crate::between::Pair;
use crate::clock::Clock;
use crate::costs::{Costs, Goal, noise};
use crate::number::ratio as two_digits;
use crate::pairs::by_seed;
use crate::places::machine;
use crate::ratio::{Ratio, ratio};
use crate::results::{Results, once_each};

/// Ratios of the costs of the groups of a task.
pub(crate) struct SpeedUps<'a> {
    results: &'a Results<'a>,
    goal: Goal<'a>,
}

impl<'a> SpeedUps<'a> {
    /// The ratios of the costs to the goal of these results.
    pub(crate) fn new(results: &'a Results<'a>) -> SpeedUps<'a> {
        SpeedUps { results, goal: Goal::of(&results.cases) }
    }

    /// Whether costs are counted to the target of the run, not to the tolerance.
    pub(crate) fn is_to_target(&self) -> bool {
        matches!(self.goal, Goal::Target(..))
    }

    /// The costs of a group by seed, where their times are comparable.
    pub(crate) fn costs(&self, group: &Group, clock: Clock) -> Costs {
        Costs::new(&self.goal, clock, self.results.comparable_cases(group))
    }

    /// The text of a cell: how many times the cost of `over` is that of `group`. None where there is nothing to state.
    pub(crate) fn text(&self, group: &Group, over: &Group, clock: Clock) -> Option<String> {
        let of = self.costs(group, clock);
        let is_same = (&group.problem, &group.solver) == (&over.problem, &over.solver);
        match ratio(&of, &self.costs(over, clock))? {
            Ratio::Stated { .. } if is_same => Some("1×".to_owned()),
            found => Some(found.words()),
        }
    }

    /// The same for the seconds of whole cases, which no goal holds to one quality: only where all cases of the common seeds ended
    /// `ok`.
    pub(crate) fn of_whole(&self, group: &Group, over: &Group) -> Option<String> {
        let cases = [group, over].map(|of| self.results.comparable_cases(of).collect());
        let pair = Pair::of_cases(&group.problem, cases)?;
        let seconds = [0, 1].map(|side| by_seed(pair.of(side), names::SECONDS));
        pair.ratio_of_costs(&seconds).map(|ratio| ratio.words())
    }

    /// What the cells mean, for the groups of one table: seeds, repeats, brackets, marks and machine.
    pub(crate) fn caption(&self, groups: &[&Group]) -> String {
        let cases = || groups.iter().flat_map(|group| self.results.of(group));
        let seeds = cases().map(|case| case.seed()).collect::<BTreeSet<u64>>().len();
        let repeats = cases().map(|case| case.row().labels.repeat).collect::<BTreeSet<u32>>().len();
        let of =
            if repeats > 1 { format!("median seconds of {repeats} repeats") } else { "seconds".to_owned() };
        let goal = self.goal.words();
        let between = if self.is_to_target() { ", including the distance between evaluations" } else { "" };
        let brackets = match seeds < PRINTED_FROM {
            true => format!("no interval: {}", counted(seeds, "seed")),
            false => format!("brackets are 95 % t intervals over seeds{between}"),
        };
        let mut caption = format!(
            "Speed-ups are geometric means over {} of ratios of {of} to {goal}; {brackets}.",
            counted(seeds, "seed")
        );
        let shown = |group: &&Group| self.costs(group, Clock::Seconds).has_missed();
        if groups.iter().any(shown) {
            caption += " A mark like 4/5 stands in place of a ratio: both reached it with 4 of 5 common seeds. ≥ and ≤ are bounds \
                        from a budget that was spent.";
        }
        if let Some(environment) = self.results.cases.timed_environment() {
            caption += &format!(" Machine: {}.", text::cut(&machine(environment), text::NAME));
        }
        caption
    }

    /// The sentence of a caption about the noise of timing repeats; none without repeats.
    pub(crate) fn noise(&self, groups: &[&Group]) -> Option<String> {
        let of_group = |group: &&Group| {
            let noise = noise(self.results.comparable_cases(group))?;
            let label = self.results.label(group);
            Some(format!("{} % of {}", two_digits(100.0 * noise), text::cut(&label, text::NAME)))
        };
        let all = once_each(groups.iter().filter_map(of_group));
        (!all.is_empty()).then(|| format!("Timing noise within seeds: {}.", all.join(", ")))
    }
}

/// Whether a column has ratios of pairs, by its heading: a speed-up, or the ratio of a cost.
pub(crate) fn has_ratios(title: &str) -> bool {
    title.starts_with("speed-up") || title.ends_with(" ratio")
}
