//! Runs the cases of a plan as tasks of a cluster.
//!
//! A task is a block of cases that run one after another on one node. [`Front`] decides which tasks are sent, cancelled and sent
//! again; it has no access to files and scheduler, so that it can be tested without a cluster and without waiting. [`Manager`]
//! connects it with a [`Scheduler`], such as [`Slurm`], and with the files of the run, [`RunFiles`].
//!
//! Only files count: a row exists once its line is in a part file. The scheduler explains missing rows. A task that ends
//! without rows for reasons of a machine is sent again; a solver is blamed only for what ended during its own case.
//!
//! Rejected: workers that pull cases from a server, which compute nodes would have to reach, or from locked files on a network
//! file system; and the scheduler's own requeue, which starts a second copy while the first may still run.

#![forbid(unsafe_code)]

mod commands;
mod error;
mod folder;
mod front;
mod ledger;
mod limits;
mod line;
mod manager;
mod part;
mod read_front;
mod scheduler;
mod script;
mod settings;
mod slurm;
mod store;
mod tasks;

pub use commands::{Answer, Commands, NoAnswer, SystemCommands};
pub use error::ClusterError;
pub use folder::ClusterFolder;
pub use front::{Action, Cancellation, Front, FrontRow, FrontSummary, Policy, Submission, TaskNote};
pub use ledger::{Cause, Ledger, LedgerLine, Loss, Withdrawal};
pub use limits::{BadRequest, ClusterLimits, LEAST_MEMORY, Node, ResourceRequest};
pub use manager::{Manager, Records, Round};
pub use part::{NewLine, News, PartReader, PartWriter};
pub use read_front::read_front;
pub use scheduler::{Array, CancelTarget, Exit, JobTask, Scheduler, SchedulerError, TaskState, Trouble};
pub use settings::settings_file;
pub use slurm::{Slurm, WARNING_SECONDS};
pub use store::{RestoredRun, RunFiles, RunJournal};
pub use tasks::{SizedCase, task, tasks};
