//! Comparison of times: a rank test, and a smallest effect that counts.
//!
//! Times are compared by solver and problem, over seeds and repeats. A solver is slower where both hold: the
//! geometric mean over seeds of the median time exceeds the old one by more than the tolerance of `seconds`, and a
//! rank test over the repeats of each seed rules out chance. If only chance orders old and new times, the chance that
//! any solver of a comparison is called slower is at most 1 in [`gate::ONE_IN`]. The arithmetic is that of
//! [`gpbench_statistics::gate`].
//!
//! What cannot be called slower or not slower is *undecided*, and fails the check unless that is allowed: on another
//! machine or with other instructions, with too few repeats, beside other programs or where their load is not known, where a repeat has no time, and
//! where times differ more than twofold though ranks do not rule out chance. Where ranks cannot decide, a solver
//! whose times all exceed twice the old ones is still slower (the gross rule).

use gpbench_record::{counted, names};
use gpbench_statistics::gate::{self, GROSS_FACTOR, Tail};

use super::check::{Check, CheckOutcome, MetricCheck};
use super::file::BaselineTolerance;
use super::groups::Group;
use super::load::Load;
use super::timed::Timed;

/// Relative tolerance of seconds against those of another session: sessions differ, and all times of one share its
/// effect. Within a session, where old and new repeats alternate, that of the registry of metrics holds.
const OTHER_SESSION: f64 = 0.25;

/// The tolerance of seconds that were measured in another session, where the file states none.
pub(super) fn of_other_session(registry: BaselineTolerance) -> BaselineTolerance {
    BaselineTolerance { relative: OTHER_SESSION, ..registry }
}

/// What was found about a group of times.
pub(super) struct Verdict {
    /// Regressed, undecided or improved.
    pub(super) outcome: CheckOutcome,
    /// The evidence or the reason.
    pub(super) detail: String,
    /// The largest value that would have passed.
    pub(super) limit: Option<f64>,
}

impl Verdict {
    pub(super) fn undecided(reason: impl Into<String>) -> Verdict {
        Verdict { outcome: CheckOutcome::Undecided, detail: reason.into(), limit: None }
    }
}

/// Adds the changes of the times of `new` against those of `old`, and what is undecided about them. `noun` names what
/// is compared.
pub(super) fn compare(check: &mut Check, new: &Timed, old: &Timed, tolerance: BaselineTolerance, noun: &str) {
    let groups = Group::of(new, old);
    if groups.is_empty() {
        return;
    }
    let elsewhere = match (&old.machine, &new.machine) {
        (Some(old), Some(new)) => old.difference(new),
        _ => Some("a run does not name its machine".to_owned()),
    };
    if let Some(difference) = elsewhere {
        check.remarks.push(format!("seconds are undecided: {difference}"));
        return check.add_undecided(&groups, "another machine");
    }
    let loads = [new, old].map(|side| check.remark_load(side));
    let load = loads.into_iter().flatten().next();
    let evidence = evidence(&groups);
    for (group, evidence) in groups.iter().zip(&evidence) {
        match verdict(group, evidence.as_ref(), tolerance, load) {
            Some(verdict) => check.add_times(group, group.typical(), verdict),
            None => check.compared += 1,
        }
    }
    check.remarks.extend(too_few_repeats(&groups, &evidence, noun));
}

/// What ranks say of a group.
struct Evidence {
    /// Whether its times are larger than by chance, and how often chance would do that.
    larger: (bool, Tail),
    /// The same for smaller times.
    smaller: (bool, Tail),
}

/// What ranks say of each group; nothing of those whose best outcome could be chance.
fn evidence(groups: &[Group]) -> Vec<Option<Evidence>> {
    let all = groups.len();
    let decided = |group: &&Group| !group.strata.is_empty() && gate::decides(&group.shapes(), all);
    let tails = |of: fn(&[gate::Stratum]) -> Tail| -> Vec<Tail> {
        groups.iter().filter(decided).map(|group| of(&group.strata)).collect()
    };
    let (larger, smaller) = (tails(gate::tail_of_larger), tails(gate::tail_of_smaller));
    let marked = |tails: Vec<Tail>| gate::rejects(&tails, all).into_iter().zip(tails);
    let mut each = marked(larger).zip(marked(smaller)).map(|(larger, smaller)| Evidence { larger, smaller });
    groups.iter().map(|group| decided(&group).then(|| each.next()).flatten()).collect()
}

/// Whether a group is slower, faster or undecided; none where it is not slower.
fn verdict(
    group: &Group,
    evidence: Option<&Evidence>,
    tolerance: BaselineTolerance,
    load: Option<Load>,
) -> Option<Verdict> {
    use CheckOutcome::{Improved, Regressed};
    let lack = group.lack.map(|lack| Verdict::undecided(lack.words()));
    let Some((was, now)) = group.typical() else { return lack };
    let margin = tolerance.absolute.max(tolerance.relative * was);
    let (ratio, seeds, repeats) = (now / was, group.strata.len(), group.repeats());
    let found = |outcome, why: String| {
        let detail = format!("× {ratio:.2}, {why}, {seeds} × {repeats} repeats");
        Some(Verdict { outcome, detail, limit: Some(was + margin) })
    };
    let by_rank = |(is_beyond, tail): &(bool, Tail)| is_beyond.then_some(tail.p).filter(|_| load.is_none());
    let larger = evidence.and_then(|evidence| by_rank(&evidence.larger)).filter(|_| now > was + margin);
    let smaller = evidence.and_then(|evidence| by_rank(&evidence.smaller)).filter(|_| now < was - margin);
    match (larger, smaller) {
        (Some(p), _) => found(Regressed, format!("p = {p:.1e}")),
        _ if (evidence.is_none() || load.is_some()) && gate::is_gross(&group.strata) => {
            found(Regressed, format!("all more than {GROSS_FACTOR} × the old ones"))
        }
        _ if lack.is_some() => lack,
        _ if load.is_some() => load.map(|load| Verdict::undecided(load.words())),
        _ if evidence.is_none() => Some(Verdict::undecided("too few repeats")),
        (_, Some(p)) => found(Improved, format!("p = {p:.1e}")),
        _ if ratio > GROSS_FACTOR => {
            let is_beyond = evidence.is_some_and(|evidence| evidence.larger.0);
            let open =
                if is_beyond { "within the absolute tolerance" } else { "ranks do not rule out chance" };
            found(CheckOutcome::Undecided, format!("though {open}"))
        }
        _ => None,
    }
}

/// A remark on groups that too few repeats leave undecided, with the number that is needed, and the side that lacks them.
fn too_few_repeats(groups: &[Group], evidence: &[Option<Evidence>], noun: &str) -> Option<String> {
    let all = groups.len();
    let without_evidence = groups.iter().zip(evidence).filter(|(_, evidence)| evidence.is_none());
    let is_open = |group: &&Group| group.lack.is_none() && !gate::is_gross(&group.strata);
    let undecided: Vec<&Group> = without_evidence.map(|(group, _)| group).filter(is_open).collect();
    let seeds = undecided.iter().map(|group| group.cases.len()).min()?;
    let least = undecided.iter().map(|group| group.repeats()).min()?;
    let repeats = gate::needed_repeats(seeds, all)?;
    let has_enough = undecided.iter().all(|group| group.new_repeats() >= repeats);
    let advice = if has_enough { "record the earlier times anew with" } else { "set" };
    Some(format!(
        "seconds of {} of {all} {noun}s are undecided: {} of {} cannot tell a change from chance; \
         {advice} `repeats = {repeats}`",
        undecided.len(),
        counted(least, "repeat"),
        counted(seeds, "seed"),
    ))
}

impl Check {
    /// Adds a finding about the times of a group; `values` are the old and the new one.
    pub(super) fn add_times(&mut self, group: &Group, values: Option<(f64, f64)>, verdict: Verdict) {
        let (baseline, value) = values.unzip();
        let Verdict { outcome, detail, limit } = verdict;
        self.compared += usize::from(outcome != CheckOutcome::Undecided);
        self.findings.push(MetricCheck {
            key: group.cases[0].clone(),
            seeds: group.cases.len(),
            outcome,
            metric: Some(names::SECONDS.to_owned()),
            baseline,
            value,
            limit,
            detail,
        });
    }

    /// Adds a remark, once, where the load of other programs leaves the times of a side undecided, and returns why.
    pub(super) fn remark_load(&mut self, side: &Timed) -> Option<Load> {
        let load = Load::of(side.other_load)?;
        let remark = load.remark(side.other_load);
        if !self.remarks.contains(&remark) {
            self.remarks.push(remark);
        }
        Some(load)
    }

    /// Adds that the times of groups are undecided.
    pub(super) fn add_undecided(&mut self, groups: &[Group], reason: &str) {
        groups.iter().for_each(|group| self.add_times(group, group.typical(), Verdict::undecided(reason)));
    }
}
