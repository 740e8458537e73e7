//! Profiles of solvers over problems and targets, and errors against cost.
//!
//! A problem is a data set with a kernel and an estimator. Problems weigh alike, whatever the number of their seeds.
//! A cost that was never enough is infinite.

/// Number of targets of a runtime profile, as in COCO.
pub const TARGETS: i32 = 51;

/// Costs that agree to this relative difference are equal.
const EQUAL: f64 = 1e-12;

/// Targets from easy to hard, equally spaced in logarithms: least^(j/51), j = 1 to 51. None is trivial, and the last
/// is `least`.
pub fn targets(least: f64) -> Vec<f64> {
    let target = |j: i32| if j == TARGETS { least } else { least.powf(f64::from(j) / f64::from(TARGETS)) };
    (1..=TARGETS).map(target).collect()
}

/// The cost at which a run reaches each target: that of the first of its evaluations (cost, error), in order of cost,
/// from which on all are within the target, the verified end included. NaN is not within. Infinite where there is
/// none.
pub fn runtimes(trace: &[(f64, f64)], targets: &[f64]) -> Vec<f64> {
    let runtime = |target: &f64| {
        let missing = trace.iter().rposition(|(_, error)| !(error <= target));
        trace.get(missing.map_or(0, |at| at + 1)).map_or(f64::INFINITY, |(cost, _)| *cost)
    };
    targets.iter().map(runtime).collect()
}

/// Share of the whole that is reached at a cost or ratio: an increasing step function, continuous from the right.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Staircase {
    steps: Vec<(f64, f64)>,
}

impl Staircase {
    /// The steps at the values, each as high as its weight. Values that are not finite have no step.
    fn new(weighted: impl IntoIterator<Item = (f64, f64)>) -> Staircase {
        let mut values: Vec<(f64, f64)> =
            weighted.into_iter().filter(|(value, _)| value.is_finite()).collect();
        values.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let mut steps: Vec<(f64, f64)> = Vec::new();
        let mut height = 0.0;
        for (value, weight) in values {
            height += weight;
            match steps.last_mut() {
                Some(last) if value <= last.0 * (1.0 + EQUAL) => last.1 = height,
                _ => steps.push((value, height)),
            }
        }
        Staircase { steps }
    }

    /// Where each step is, and the height from there on.
    pub fn steps(&self) -> &[(f64, f64)] {
        &self.steps
    }

    /// The height at `x`.
    pub fn at(&self, x: f64) -> f64 {
        let below = self.steps.partition_point(|(value, _)| *value <= x * (1.0 + EQUAL));
        if below == 0 { 0.0 } else { self.steps[below - 1].1 }
    }

    /// The height at the end.
    pub fn height(&self) -> f64 {
        self.steps.last().map_or(0.0, |(_, height)| *height)
    }

    /// Area under the steps over log x from 1 to `factor`, as a share of the whole, for steps from 1 on.
    pub fn area(&self, factor: f64) -> f64 {
        let mut before = 0.0;
        let part = |&(x, height): &(f64, f64)| {
            let rise = height - std::mem::replace(&mut before, height);
            rise * (1.0 - x.ln() / factor.ln()).max(0.0)
        };
        self.steps.iter().map(part).sum()
    }
}

/// Share of (seed, target) pairs that a solver reaches within a cost, from its runtimes by problem, seed and target.
/// A problem without seeds is one in which it reaches nothing.
pub fn runtime_profile(problems: &[Vec<Vec<f64>>]) -> Staircase {
    let weighted = problems.iter().flat_map(|seeds| {
        let of_problem = 1.0 / (problems.len() * seeds.len()) as f64;
        seeds
            .iter()
            .flat_map(move |times| times.iter().map(move |time| (*time, of_problem / times.len() as f64)))
    });
    Staircase::new(weighted)
}

/// A performance profile (Dolan and Moré 2002).
#[derive(Debug, Clone, PartialEq)]
pub struct PerformanceProfile {
    /// By solver, the share of problems that it solves within a factor of the fastest solver.
    pub solvers: Vec<Staircase>,
    /// Number of problems of which some system was solved.
    pub problems: usize,
    /// Number of systems that some solver solved.
    pub systems: usize,
    /// Number of systems that no solver solved; they are left out.
    pub unsolved: usize,
}

/// The performance profile from times by problem, system (one for each seed), and solver; infinite where a solver
/// fails.
pub fn performance_profile(problems: &[Vec<Vec<f64>>]) -> PerformanceProfile {
    let fastest = |times: &[f64]| times.iter().copied().fold(f64::INFINITY, f64::min);
    let is_solved = |times: &&Vec<f64>| fastest(times).is_finite();
    let all: usize = problems.iter().map(Vec::len).sum();
    let solved = problems.iter().map(|systems| systems.iter().filter(is_solved).collect::<Vec<_>>());
    let solved: Vec<Vec<&Vec<f64>>> = solved.filter(|systems| !systems.is_empty()).collect();
    let systems = solved.iter().map(Vec::len).sum();
    let solvers = problems.iter().flatten().map(Vec::len).max().unwrap_or(0);
    let ratios = |solver: usize| {
        let count = solved.len();
        let of_problem = move |systems: &Vec<&Vec<f64>>| {
            let weight = 1.0 / (count * systems.len()) as f64;
            systems.iter().map(|times| (times[solver] / fastest(times), weight)).collect::<Vec<_>>()
        };
        Staircase::new(solved.iter().flat_map(of_problem))
    };
    PerformanceProfile {
        solvers: (0..solvers).map(ratios).collect(),
        problems: solved.len(),
        systems,
        unsolved: all - systems,
    }
}

/// A run with its verified evaluations (cost, error), in order of cost.
#[derive(Debug, Clone, PartialEq)]
pub struct ErrorTrace {
    /// The evaluations.
    pub trace: Vec<(f64, f64)>,
    /// Whether the run failed: nothing is known past its last evaluation.
    pub failed: bool,
}

/// Costs at which errors are drawn: 10^(j/10), from the last one below `low` to the first one from `high` on.
pub fn decade_grid(low: f64, high: f64) -> Vec<f64> {
    if !(low > 0.0 && low <= high && high.is_finite()) {
        return Vec::new();
    }
    let at = |cost: f64| 10.0 * cost.log10();
    let (first, last) = ((at(low) + 1e-9).floor() as i32, (at(high) - 1e-9).ceil() as i32);
    (first..=last).map(|j| 10.0_f64.powf(f64::from(j) / 10.0)).collect()
}

/// The geometric mean over the runs of a solver of the error at each cost: that of the last evaluation by then.
/// `None` before every run has an evaluation, after any failed run ended, and where an error is not a number.
pub fn work_precision(runs: &[ErrorTrace], grid: &[f64]) -> Vec<Option<f64>> {
    let at = |cost: f64| {
        let errors: Option<Vec<f64>> = runs.iter().map(|run| error(run, cost)).collect();
        let logs: Vec<f64> = errors?.iter().map(|error| error.ln()).collect();
        (!logs.is_empty()).then(|| (logs.iter().sum::<f64>() / logs.len() as f64).exp())
    };
    grid.iter().map(|cost| at(*cost)).collect()
}

/// The error of a run at a cost.
fn error(run: &ErrorTrace, cost: f64) -> Option<f64> {
    let by_then = run.trace.partition_point(|(at, _)| *at <= cost * (1.0 + EQUAL));
    let has_ended = run.failed && run.trace.last().is_none_or(|(end, _)| cost > end * (1.0 + EQUAL));
    let (_, error) = run.trace[..by_then].last()?;
    (!has_ended && error.is_finite()).then_some(*error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_a_number_misses_the_target() {
        assert_eq!(runtimes(&[(1.0, 0.1), (2.0, f64::NAN), (3.0, 0.1)], &[0.5]), [3.0]);
        assert_eq!(runtimes(&[(1.0, 0.1), (2.0, f64::NAN)], &[0.5]), [f64::INFINITY]);
        assert_eq!(runtimes(&[], &[0.5, 0.1]), [f64::INFINITY; 2]);
    }

    #[test]
    fn problems_weigh_alike_whatever_their_seeds() {
        let profile = runtime_profile(&[vec![vec![1.0]], vec![vec![1.0], vec![f64::INFINITY]], vec![]]);
        assert!((profile.height() - 0.5).abs() < 1e-15);
        let times =
            [vec![vec![1.0, 2.0]], vec![vec![3.0, 3.0], vec![f64::INFINITY, 1.0], vec![f64::INFINITY; 2]]];
        let profile = performance_profile(&times);
        assert_eq!((profile.problems, profile.systems, profile.unsolved), (2, 3, 1));
        assert_eq!(profile.solvers.iter().map(|of| of.at(1.0)).collect::<Vec<_>>(), [0.75, 0.5]);
    }

    #[test]
    fn the_curve_of_a_failed_run_ends_with_it() {
        let trace = vec![(1.0, 1.0), (4.0, 0.01)];
        let kept = ErrorTrace { trace, failed: false };
        let failed = ErrorTrace { failed: true, ..kept.clone() };
        let grid = [0.5, 1.0, 2.0, 4.0, 8.0];
        let curve = |run: &ErrorTrace| work_precision(std::slice::from_ref(run), &grid);
        assert_eq!(
            curve(&kept),
            [None, Some(1.0), Some(1.0), Some(0.01_f64.ln().exp()), Some(0.01_f64.ln().exp())]
        );
        assert_eq!(curve(&failed)[4], None);
        assert_eq!(
            work_precision(&[ErrorTrace { trace: vec![(1.0, 0.0)], failed: false }], &[1.0]),
            [Some(0.0)]
        );
    }

    #[test]
    fn grids_reach_both_ends() {
        assert_eq!(decade_grid(1.0, 10.0).len(), 11);
        let grid = decade_grid(1.1, 9.0);
        assert!(grid[0] <= 1.1 && grid[grid.len() - 1] >= 9.0);
        assert!(decade_grid(0.0, 1.0).is_empty());
    }
}
