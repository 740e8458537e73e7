//! Gates on times of which it is known whether they changed.

use gpbench_statistics::gate::{Stratum, decides, is_gross, rejects, tail_of_larger};

use crate::random::Random;

/// The size of a gate.
#[derive(Clone, Copy)]
pub struct Gate {
    /// Groups.
    pub groups: usize,
    /// Seeds of each group.
    pub seeds: usize,
    /// Repeats of each seed, old and new.
    pub repeats: usize,
}

/// What a gate says of one group.
#[derive(Clone, Copy, PartialEq)]
pub enum Verdict {
    /// Ranks or the gross rule show that it is slower.
    Slower,
    /// Ranks could have shown it, and did not.
    NotSlower,
    /// Ranks cannot decide.
    Undecided,
}

/// The verdicts on groups that became slower by a factor each, without an effect of the session.
pub fn verdicts(gate: Gate, factors: &[f64], random: &mut Random) -> Vec<Verdict> {
    let stratum = |factor: f64, random: &mut Random| {
        let mut times = |factor: f64| (0..gate.repeats).map(|_| factor * random.timing()).collect();
        Stratum { old: times(1.0), new: times(factor) }
    };
    let groups = factors.iter().map(|factor| (0..gate.seeds).map(|_| stratum(*factor, random)).collect());
    let groups: Vec<Vec<Stratum>> = groups.collect();
    let shapes = vec![(gate.repeats, gate.repeats); gate.seeds];
    if decides(&shapes, groups.len()) {
        let tails: Vec<_> = groups.iter().map(|strata| tail_of_larger(strata)).collect();
        let slower = rejects(&tails, groups.len());
        return slower
            .iter()
            .map(|slower| if *slower { Verdict::Slower } else { Verdict::NotSlower })
            .collect();
    }
    groups.iter().map(|strata| if is_gross(strata) { Verdict::Slower } else { Verdict::Undecided }).collect()
}

/// Number of gates that find a slower group where nothing changed.
pub fn alarms(gates: usize, gate: Gate, random: &mut Random) -> usize {
    let alarm =
        |random: &mut Random| verdicts(gate, &vec![1.0; gate.groups], random).contains(&Verdict::Slower);
    (0..gates).filter(|_| alarm(random)).count()
}

/// Number of gates that pass although one group became ten times slower.
pub fn tenfold_slowdowns_passed(gates: usize, gate: Gate, random: &mut Random) -> usize {
    let factors: Vec<f64> = (0..gate.groups).map(|group| if group == 0 { 10.0 } else { 1.0 }).collect();
    (0..gates).filter(|_| verdicts(gate, &factors, random)[0] == Verdict::NotSlower).count()
}
