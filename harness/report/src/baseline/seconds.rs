//! Comparison of times: a rank test, and a smallest effect that counts.
//!
//! Times are compared by solver and problem, over seeds and repeats. A solver is called slower where both hold: the mean
//! over seeds of the median time exceeds the old one by more than the tolerance of `seconds`, and a rank test over the
//! repeats of each seed rules out chance. If nothing changed, the chance that any solver of a comparison is called
//! slower is at most [`FALSE_ALARMS`]. Times on different machines, or with different numbers of threads, are not
//! compared.

use std::collections::{BTreeMap, BTreeSet};

use gpbench_record::{Environment, names};

use super::cases::CaseKey;
use super::check::{Check, CheckOutcome, MetricCheck};
use super::file::BaselineTolerance;
use super::rank::{Stratum, holm, orders, p_at_best, p_of_larger, p_of_smaller};
use crate::frame::Cases;

/// Chance that anything is called slower where nothing changed.
pub const FALSE_ALARMS: f64 = 0.005;

/// Largest number of repeats to ask for.
const MOST_REPEATS: usize = 20;

/// The times of one solver on one problem in two runs.
struct Times {
    /// The first of its cases.
    key: CaseKey,
    /// One a seed.
    strata: Vec<Stratum>,
}

impl Times {
    /// Mean over seeds of the median of repeats: old, new.
    fn typical(&self) -> (f64, f64) {
        let mean = |of: fn(&Stratum) -> &[f64]| {
            self.strata.iter().map(|s| median(of(s))).sum::<f64>() / self.strata.len() as f64
        };
        (mean(|s| &s.old), mean(|s| &s.new))
    }

    fn repeats(&self) -> usize {
        self.strata.iter().map(|s| s.old.len().min(s.new.len())).min().unwrap_or(0)
    }
}

/// Adds the changes of the times of `new` against those of `old`, or a remark why they are not compared.
pub(super) fn compare(check: &mut Check, new: &Cases<'_>, old: &Cases<'_>, tolerance: BaselineTolerance) {
    let groups = groups(new, old);
    if groups.is_empty() {
        return;
    }
    if let Some(difference) = different_machines(old.timed_environment(), new.timed_environment()) {
        check.remarks.push(format!("seconds were not compared: {difference}"));
        return;
    }
    let all = groups.len();
    // Groups whose best outcome could be chance are not compared.
    let (groups, too_few): (Vec<Times>, Vec<Times>) =
        groups.into_iter().partition(|g| p_at_best(&g.strata) <= FALSE_ALARMS / all as f64);
    if !too_few.is_empty() {
        let repeats = too_few.iter().map(|g| needed(g.strata.len(), all)).max().unwrap_or(MOST_REPEATS);
        let least = too_few.iter().map(Times::repeats).min().unwrap_or(0);
        check.remarks.push(format!(
            "seconds of {} of {all} {}s were not compared: {least} repeat{} cannot tell a change from chance; \
             set `repeats = {repeats}`",
            too_few.len(),
            new.noun(),
            if least == 1 { "" } else { "s" },
        ));
    }
    // The threshold above is for all groups, so this is the share of those that are compared.
    let p_larger: Vec<f64> = groups.iter().map(|g| p_of_larger(&g.strata)).collect();
    let p_smaller: Vec<f64> = groups.iter().map(|g| p_of_smaller(&g.strata)).collect();
    let alpha = FALSE_ALARMS * groups.len() as f64 / all as f64;
    let (slower, faster) = (holm(&p_larger, alpha), holm(&p_smaller, alpha));
    check.compared += groups.len();
    for (at, group) in groups.iter().enumerate() {
        let (was, now) = group.typical();
        let margin = tolerance.absolute.max(tolerance.relative * was);
        let (outcome, p) = match () {
            () if slower[at] && now > was + margin => (CheckOutcome::Regressed, p_larger[at]),
            () if faster[at] && now < was - margin => (CheckOutcome::Improved, p_smaller[at]),
            () => continue,
        };
        let (seeds, repeats) = (group.strata.len(), group.repeats());
        check.findings.push(MetricCheck {
            key: group.key.clone(),
            seeds,
            outcome,
            metric: Some(names::SECONDS.to_owned()),
            baseline: Some(was),
            value: Some(now),
            limit: Some(was + margin),
            detail: format!("× {:.2}, p = {p:.1e}, {seeds} × {repeats} repeats", now / was),
        });
    }
}

/// Times of the cases that gave an answer in both runs, by solver and problem.
fn groups(new: &Cases<'_>, old: &Cases<'_>) -> Vec<Times> {
    let (old, new) = (times(old), times(new));
    let mut groups: BTreeMap<CaseKey, Times> = BTreeMap::new();
    let both: BTreeSet<&CaseKey> = old.keys().filter(|key| new.contains_key(key)).collect();
    for key in both {
        let stratum = Stratum { old: old[key].clone(), new: new[key].clone() };
        let of_all_seeds = CaseKey { seed: 0, ..key.clone() };
        let group =
            groups.entry(of_all_seeds).or_insert_with(|| Times { key: key.clone(), strata: Vec::new() });
        group.strata.push(stratum);
    }
    groups.into_values().collect()
}

/// Seconds of each case, repeat by repeat; none where a repeat failed or the clock stopped it.
fn times(cases: &Cases<'_>) -> BTreeMap<CaseKey, Vec<f64>> {
    let mut times: BTreeMap<CaseKey, Option<Vec<f64>>> = BTreeMap::new();
    for case in cases.iter() {
        let answered = case.is_answer() && case.row().reproducible;
        let seconds = case.metric(names::SECONDS).filter(|_| answered);
        let all = times.entry(CaseKey::of(&case)).or_insert_with(|| Some(Vec::new()));
        match seconds {
            Some(seconds) => all.iter_mut().for_each(|all| all.push(seconds)),
            None => *all = None,
        }
    }
    times.into_iter().filter_map(|(key, all)| Some((key, all?))).collect()
}

/// Whether the known environments of two runs permit a comparison of their times.
pub(crate) fn is_one_machine(old: &Cases<'_>, new: &Cases<'_>) -> bool {
    let (old, new) = (old.timed_environment(), new.timed_environment());
    old.is_none() || new.is_none() || different_machines(old, new).is_none()
}

/// Difference between two machines on which times depend.
fn different_machines(old: Option<&Environment>, new: Option<&Environment>) -> Option<String> {
    let (Some(old), Some(new)) = (old, new) else {
        return Some("a run does not name its machine".to_owned());
    };
    let machine = |e: &Environment| format!("{}, {} processors, {} threads", e.cpu, e.cores, e.threads);
    let numerics = |e: &Environment| format!("{} and {}", e.cpu_dispatch, e.blas_core);
    match () {
        () if machine(old) != machine(new) => {
            Some(format!("the runs took place on different machines ({}; {})", machine(old), machine(new)))
        }
        () if numerics(old) != numerics(new) => {
            Some(format!("the runs used different instructions ({}; {})", numerics(old), numerics(new)))
        }
        () => None,
    }
}

/// Number of repeats with which one of `all` groups of so many seeds can be compared.
fn needed(seeds: usize, all: usize) -> usize {
    let enough = |repeats: &usize| {
        orders(*repeats, *repeats).powi(seeds.max(1) as i32).recip() <= FALSE_ALARMS / all as f64
    };
    (2..MOST_REPEATS).find(enough).unwrap_or(MOST_REPEATS)
}

fn median(times: &[f64]) -> f64 {
    let mut times = times.to_vec();
    times.sort_by(f64::total_cmp);
    let middle = times.len() / 2;
    if times.len() % 2 == 1 { times[middle] } else { 0.5 * (times[middle - 1] + times[middle]) }
}
