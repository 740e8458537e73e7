//! The common beginning of running and verifying a case: its rows, threads, systems and files.

use std::sync::Arc;

use gpbench_gp::thread_pool;
use gpbench_record::{FaultCause, Inducing, Job, Kernel, Probes};
use rayon::ThreadPool;

use crate::blas_memory;
use crate::exact_file::{self, Reference};
use crate::failure::{CaseError, file_fault};
use crate::kernel::in_units_of_rows;
use crate::process;
use crate::rows::Rows;
use crate::starts;
use crate::system::{System, SystemSpec};

/// A job with its rows and threads.
#[derive(Debug)]
pub(crate) struct Setup<'j> {
    pub(crate) job: &'j Job,
    pub(crate) rows: Rows,
    /// The case's kernel, in the units of the rows, with the numbers that the data give where the spec asks for these.
    pub(crate) kernel: Kernel,
    pub(crate) pool: Arc<ThreadPool>,
    /// Seconds since the start of the process at which the rows were loaded.
    pub(crate) loaded: f64,
}

impl Setup<'_> {
    /// Loads the rows of a job.
    pub(crate) fn new(job: &Job) -> Result<Setup<'_>, CaseError> {
        blas_memory::reserve(job.threads)?;
        let (file, sha256) = (job.dataset_file.as_deref(), job.dataset_sha256.as_deref());
        let rows = Rows::load_planned(&job.case.dataset, job.case.seed, file, sha256);
        let (rows, loaded) = (rows?, process::seconds_since_start());
        let shared = job.case.task.shares_length_scale();
        let kernel = in_units_of_rows(&job.case.kernel, &rows.split, shared);
        let kernel = starts::resolved(&kernel, shared, &rows, job.threads)?;
        Ok(Setup { job, rows, kernel, pool: thread_pool(job.threads)?, loaded })
    }

    /// The system of a kernel; see [`SystemSpec`].
    pub(crate) fn system(
        &self,
        kernel: &Kernel,
        probes: Probes,
        redraw: Option<u64>,
        inducing: Option<Inducing>,
    ) -> Result<System, CaseError> {
        let (rows, pool) = (&self.rows, &self.pool);
        Ok(System::build(SystemSpec { rows, kernel, probes, redraw, features: None, inducing, pool })?)
    }

    /// The exact reference that the job names, if any.
    pub(crate) fn exact(&self) -> Result<Option<Reference>, CaseError> {
        let Some(file) = &self.job.exact_file else { return Ok(None) };
        exact_file::read(file, self.rows.n(), self.rows.split.x_test.nrows())
            .map(Some)
            .map_err(file_fault(FaultCause::Reference))
    }
}
