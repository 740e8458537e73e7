//! Performance profiles (Dolan and Moré 2002): on how many systems a solver is within a factor of the fastest one.

use gpbench_statistics::profile::{PerformanceProfile, Staircase, performance_profile};

use crate::number::{percent, short};
use crate::results::Results;
use crate::systems::{Comparison, Goal, System, timed_systems};
use crate::table::TextTable;

/// The largest factor of the area under a profile.
const WITHIN: f64 = 10.0;

/// What profiles of ratios to the best solver cannot show (Gould and Scott 2016).
pub(crate) const PAIRWISE: &str = "The ratio is to the best of these solvers; leaving one out may change the order of the others, \
                                   so read the curves pairwise (Gould and Scott 2016).";

/// The performance profile of a run.
pub(crate) struct Performance<'f> {
    pub(crate) goal: Goal,
    pub(crate) solvers: Vec<&'f str>,
    pub(crate) profile: PerformanceProfile,
    /// What is left out, as a sentence.
    left_out: String,
}

impl<'f> Performance<'f> {
    /// The profile of the seconds to the run's target, or else to the tolerance; `None` for fewer than two solvers or
    /// solved systems.
    pub(crate) fn of(results: &Results<'f>) -> Option<Performance<'f>> {
        let goal = Goal::of(results)?;
        let compared = Comparison::of(timed_systems(results));
        let left_out = compared.words(results.cases.noun());
        let solvers = results.cases.solvers();
        let solvers: Vec<&'f str> = solvers.into_iter().filter(|solver| compared.has(solver)).collect();
        let seconds = |system: &System<'f>, solver: &str| {
            system.cost(solver, |case| goal.seconds(case)).unwrap_or(f64::INFINITY)
        };
        let of_system = |system: &System<'f>| solvers.iter().map(|solver| seconds(system, solver)).collect();
        let problems: Vec<Vec<Vec<f64>>> =
            compared.problems.values().map(|systems| systems.values().map(of_system).collect()).collect();
        let profile = performance_profile(&problems);
        (solvers.len() > 1 && profile.systems > 1).then_some(Performance { goal, solvers, profile, left_out })
    }

    /// The solvers with their profiles.
    pub(crate) fn profiles(&self) -> impl Iterator<Item = (&'f str, &Staircase)> {
        self.solvers.iter().copied().zip(&self.profile.solvers)
    }

    /// The systems that the profile is over, and those that no solver solved, as a sentence.
    pub(crate) fn systems(&self) -> String {
        let PerformanceProfile { problems, systems, unsolved, .. } = self.profile;
        let mut text = format!(
            "Over {systems} systems (problems with their seeds) of {problems} problems (data set, kernel and estimator), \
             which weigh alike."
        );
        if unsolved > 0 {
            text += &format!(" {unsolved} systems that no solver solved are left out.");
        }
        text + &self.left_out
    }
}

/// The areas under the curves; `None` where there is no profile.
pub(crate) fn table(results: &Results<'_>) -> Option<TextTable> {
    let performance = Performance::of(results)?;
    let mut table =
        TextTable::new(format!("Performance profile: {}", performance.goal.words())).words("solver");
    for title in ["solved", "fastest", "within 2×", "within 10×", "area to 10×"] {
        table = table.numbers(title);
    }
    for (solver, profile) in performance.profiles() {
        let shares = [profile.height(), profile.at(1.0), profile.at(2.0), profile.at(WITHIN)]
            .map(|share| percent(rounded(share)));
        let area = short(rounded(profile.area(WITHIN)));
        table.row([solver.to_owned()].into_iter().chain(shares).chain([area]));
    }
    table.caption = format!(
        "Shares of the systems that a solver solves within a factor of the fastest solver's {}. The area is that under the \
         profile over the logarithm of the factor from 1 to 10, over log 10: 1 is best. {} {PAIRWISE}",
        performance.goal.words(),
        performance.systems()
    );
    Some(table.major(&["solver", "solved", "area to 10×"]))
}

/// A sum of shares without its rounding error.
fn rounded(share: f64) -> f64 {
    (share * 1e9).round() / 1e9
}
