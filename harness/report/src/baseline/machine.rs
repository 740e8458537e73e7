//! The machine that seconds were measured on.

use gpbench_record::Environment;
use serde::{Deserialize, Serialize};

use super::notation::quoted;

/// The properties of a machine and of a run on it without which seconds cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BaselineMachine {
    /// Processor model.
    pub cpu: String,
    /// Logical processors.
    pub cores: usize,
    /// Threads a case may use.
    pub threads: usize,
    /// Number of cases that run at the same time; 0 where it is unknown.
    #[serde(default)]
    pub jobs: usize,
    /// Instruction set chosen at run time.
    pub cpu_dispatch: String,
    /// OpenBLAS core type.
    pub blas_core: String,
}

impl BaselineMachine {
    /// What seconds of a run depend on.
    pub(super) fn of(environment: &Environment) -> BaselineMachine {
        let Environment { cpu, cores, threads, jobs, cpu_dispatch, blas_core, .. } = environment.clone();
        BaselineMachine { cpu, cores, threads, jobs, cpu_dispatch, blas_core }
    }

    /// The table of a file, on one line.
    pub(super) fn text(&self) -> String {
        let BaselineMachine { cpu, cores, threads, jobs, cpu_dispatch, blas_core } = self;
        let [cpu, dispatch, core] = [cpu, cpu_dispatch, blas_core].map(|text| quoted(text));
        format!(
            "{{ cpu = {cpu}, cores = {cores}, threads = {threads}, jobs = {jobs}, cpu_dispatch = {dispatch}, \
             blas_core = {core} }}"
        )
    }

    /// The difference to another machine on which seconds depend, in words; none where seconds are comparable.
    pub(super) fn difference(&self, other: &BaselineMachine) -> Option<String> {
        let hardware =
            |m: &BaselineMachine| format!("{}, {} processors, {} threads", m.cpu, m.cores, m.threads);
        let numerics = |m: &BaselineMachine| format!("{} and {}", m.cpu_dispatch, m.blas_core);
        let [(here, there), (ours, theirs)] =
            [(hardware(self), hardware(other)), (numerics(self), numerics(other))];
        let is_known = self.jobs.min(other.jobs) > 0;
        match () {
            () if here != there => Some(format!("they are of different machines ({here}; {there})")),
            () if ours != theirs => Some(format!("they used different instructions ({ours}; {theirs})")),
            () if is_known && self.jobs != other.jobs => {
                Some(format!("{} and {} cases ran at the same time", self.jobs, other.jobs))
            }
            () => None,
        }
    }
}
