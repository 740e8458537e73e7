//! The answer to "how much faster", as sentences.

use gpbench_record::counted;
use gpbench_statistics::{Estimate, Interval};

use super::pair::Speed;
use crate::number::short;
use crate::ratio::{Bound, Ratio};

/// The sentence about two solvers on one problem, which `place` names.
pub(super) fn on_problem(names: [&str; 2], place: &str, speed: &Speed, held: &[&str]) -> String {
    let [first, second] = names;
    let what = &speed.what;
    match speed.ratio {
        Ratio::Stated { estimate, of } => {
            let seeds = match estimate.count == of {
                true => counted(of, "seed"),
                false => format!("{} of {}", estimate.count, counted(of, "seed")),
            };
            let basis = match estimate.printed() {
                Some(_) => format!("{}, {seeds}", interval(forward(&estimate))),
                None => format!("no interval: {seeds}"),
            };
            let basis = format!("({basis}; {what}; held equal: {})", held.join(", "));
            told(names, &format!("on {place} "), &estimate, &basis)
        }
        Ratio::Missed { both, of, bound } => {
            let bound = match bound {
                None => String::new(),
                Some(Bound::AtLeast(ratio)) => {
                    format!(
                        "; {first} is at least {} times as fast, since {second} spent its budget",
                        short(ratio)
                    )
                }
                Some(Bound::AtMost(ratio)) => {
                    format!("; {first} is at most {} times as fast, since it spent its budget", short(ratio))
                }
            };
            format!(
                "No ratio of {first} and {second} is stated on {place}: both got there with {both} of {} ({what}){bound}.",
                counted(of, "seed")
            )
        }
    }
}

/// The sentence about problems on which two solvers have no goal in common.
pub(super) fn without_goal([first, second]: [&str; 2], place: &str) -> String {
    format!(
        "The speed of {first} and {second} is not compared on {place}: nothing holds both to one quality whose times are known; a \
         target or a tolerance does."
    )
}

/// The claim about the data sets that were run.
pub(super) fn on_these(names: [&str; 2], datasets: usize, estimate: &Estimate) -> String {
    let basis = match estimate.printed() {
        Some(_) => format!("({}; the seeds vary, the data sets do not)", interval(forward(estimate))),
        None => format!("(no interval: {})", counted(estimate.count, "seed")),
    };
    told(names, &format!("on these {datasets} data sets "), estimate, &basis)
}

/// The claim about data sets like those that were run.
pub(super) fn on_such(names: [&str; 2], estimate: &Estimate) -> String {
    let datasets = counted(estimate.count, "data set");
    let basis = match estimate.printed() {
        Some(_) => format!("({}, {datasets})", interval(forward(estimate))),
        None => format!("(no interval, {datasets})"),
    };
    told(names, "on data sets like these ", estimate, &basis)
}

/// The sentence about data sets that are too few to say anything of others.
pub(super) fn on_too_few(datasets: usize) -> String {
    format!("Of data sets like these nothing is claimed: {} are too few.", counted(datasets, "data set"))
}

/// The sentence about data sets of which some have no ratio.
pub(super) fn incomplete([first, second]: [&str; 2], missing: &[&str]) -> String {
    format!(
        "No ratio of {first} and {second} over the data sets is stated: it takes all of them, and there is none on {}.",
        missing.join(", ")
    )
}

/// A ratio in words, the faster solver first.
fn told([first, second]: [&str; 2], place: &str, estimate: &Estimate, basis: &str) -> String {
    let (faster, slower) = if estimate.mean < 1.0 { (second, first) } else { (first, second) };
    let of = forward(estimate);
    let ratio = short(of.mean);
    match of.printed().is_some_and(|of| of.contains(1.0)) {
        true => format!(
            "{first} and {second} cannot be told apart {place}: {faster} is {ratio} times as fast {basis}.",
            place = place.trim_end()
        ),
        false => format!("{faster} is {ratio} times as fast as {slower} {place}{basis}."),
    }
}

/// The ratio of the slower solver's cost to that of the faster one.
fn forward(estimate: &Estimate) -> Estimate {
    if estimate.mean >= 1.0 {
        return *estimate;
    }
    let inverted = |of: Interval| Interval { low: 1.0 / of.high, high: 1.0 / of.low };
    Estimate { mean: 1.0 / estimate.mean, interval: estimate.interval.map(inverted), ..*estimate }
}

fn interval(estimate: Estimate) -> String {
    let ends = estimate.interval.map(|of| format!("{} to {}", short(of.low), short(of.high)));
    format!("95 % interval {}", ends.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use gpbench_statistics::ratio;

    use super::*;

    fn speed(ratio: Ratio) -> Speed {
        Speed { ratio, what: "seconds to residual 0.01".into(), logs: BTreeMap::new(), brackets: None }
    }

    fn stated(ratios: &[f64], of: usize) -> Ratio {
        let logs: Vec<f64> = ratios.iter().map(|ratio| ratio.ln()).collect();
        Ratio::Stated { estimate: ratio(&logs).unwrap(), of }
    }

    fn sentence(ratio: Ratio) -> String {
        on_problem(["cg", "cholesky"], "pol/matern32", &speed(ratio), &["seeds", "machine"])
    }

    #[test]
    fn the_faster_solver_comes_first() {
        let ratios = [2.7, 3.0, 3.1];
        let rest = "seconds to residual 0.01; held equal: seeds, machine).";
        assert_eq!(
            sentence(stated(&ratios, 3)),
            format!(
                "cg is 2.93 times as fast as cholesky on pol/matern32 (95 % interval 2.45 to 3.50, 3 seeds; {rest}"
            )
        );
        assert_eq!(
            sentence(stated(&ratios.map(|ratio| 1.0 / ratio), 3)),
            format!(
                "cholesky is 2.93 times as fast as cg on pol/matern32 (95 % interval 2.45 to 3.50, 3 seeds; {rest}"
            )
        );
        assert_eq!(
            sentence(stated(&[2.5, 2.5], 4)),
            format!(
                "cg is 2.50 times as fast as cholesky on pol/matern32 (no interval: 2 of 4 seeds; {rest}"
            )
        );
    }

    #[test]
    fn an_interval_that_holds_one_tells_nothing_apart() {
        let told = sentence(stated(&[0.9, 1.3, 1.0], 3));
        assert!(
            told.starts_with(
                "cg and cholesky cannot be told apart on pol/matern32: cg is 1.05 times as fast (95 %"
            ),
            "{told}"
        );
    }

    #[test]
    fn missed_seeds_leave_a_bound_at_most() {
        let missed = |bound| sentence(Ratio::Missed { both: 4, of: 5, bound });
        let told = "No ratio of cg and cholesky is stated on pol/matern32: both got there with 4 of 5 seeds (seconds to residual 0.01)";
        assert_eq!(missed(None), format!("{told}."));
        assert_eq!(
            missed(Some(Bound::AtLeast(0.7))),
            format!("{told}; cg is at least 0.700 times as fast, since cholesky spent its budget.")
        );
        assert_eq!(
            missed(Some(Bound::AtMost(0.7))),
            format!("{told}; cg is at most 0.700 times as fast, since it spent its budget.")
        );
    }

    #[test]
    fn each_claim_over_data_sets_names_itself() {
        let Ratio::Stated { estimate, .. } = stated(&[2.0, 3.0, 4.0], 3) else { panic!("stated") };
        let names = ["cg", "ap"];
        let these = on_these(names, 3, &estimate);
        assert!(
            these.starts_with("cg is 2.88 times as fast as ap on these 3 data sets (95 % interval"),
            "{these}"
        );
        let such = on_such(names, &estimate);
        assert!(
            such.starts_with("cg is 2.88 times as fast as ap on data sets like these (95 % interval"),
            "{such}"
        );
        assert!(such.ends_with(", 3 data sets)."), "{such}");
        assert_eq!(on_too_few(2), "Of data sets like these nothing is claimed: 2 data sets are too few.");
        assert!(incomplete(names, &["pol"]).ends_with("there is none on pol."));
    }
}
