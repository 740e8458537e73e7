//! The estimated time of a run.

use gpbench_record::counted;
use gpbench_spec::SpecPlan;

use crate::units;

/// The estimated time of all cases of a plan.
pub(crate) struct RunEstimate {
    /// The estimate in words.
    pub(crate) text: String,
    /// Seconds of the cases whose size is known.
    pub(crate) seconds: f64,
    /// Whether the size of every case is known.
    pub(crate) is_whole: bool,
    /// Threads of the whole run.
    pub(crate) threads: usize,
}

impl RunEstimate {
    /// Estimates the time of a plan on a number of threads.
    pub(crate) fn of(plan: &SpecPlan, threads: usize) -> RunEstimate {
        let known: Vec<f64> = plan.cases.iter().filter_map(|p| Some(p.cost(threads)?.seconds)).collect();
        let seconds = known.iter().sum();
        let time = match known.len() {
            0 => "unknown time".to_owned(),
            n if n < plan.cases.len() => format!("more than {}", units::duration(seconds)),
            _ => format!("about {}", units::duration(seconds)),
        };
        let mut assumptions = plan.cases.iter().filter_map(|p| p.cost(threads)?.assumption);
        let is_assumed = assumptions.any(|assumption| !assumption.is_measured());
        let doubt = if is_assumed { " (no forecast: it assumes numbers of epochs)" } else { "" };
        let cases = counted(plan.cases.len(), "case");
        let text = format!("{cases}, {time} on {threads} threads{doubt}");
        RunEstimate { text, seconds, is_whole: known.len() == plan.cases.len(), threads }
    }
}
