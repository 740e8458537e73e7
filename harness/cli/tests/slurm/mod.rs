//! Runs on a real Slurm, which `ci/slurm` starts:
//!
//! ```sh
//! ci/slurm cargo nextest run --release -p gpbench -E 'kind(test) and test(/^slurm::/)' --test-threads 1
//! ```
//!
//! Skipped where `ci/slurm` has started nothing. `GPBENCH_FAULT_ROUNDS` is the number of runs that meet a fault, 20 unless
//! set; `GPBENCH_FAULT_SEED` chooses their instants, `GPBENCH_FAULT_KINDS` limits them to some faults (`TimeLimit,Node`),
//! `GPBENCH_FAULT_RECORDS` names a file that takes a line for each of them, and `GPBENCH_FAULT_LOGS` prints what runs say that
//! are not finished.

mod again;
mod bounds;
mod cluster;
mod faults;
mod nodes;
mod parts;
mod processes;
mod strike;
mod table;
mod uci;
mod whole;
