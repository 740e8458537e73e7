//! The kinds of references, and the requests for them.

use std::path::Path;

use gpbench_record::{ExactRequest, Message, OptimumRequest};

use crate::{Planned, ReferenceKind, WorkItem};

/// Bytes that a reference takes beside its matrices: data, right-hand sides, the program itself.
const MARGIN: f64 = 256.0 * 1024.0 * 1024.0;

/// Share of a matrix that a factorisation takes in addition.
const SCRATCH: f64 = 0.25;

/// A request for a reference.
#[derive(Debug, Clone)]
pub(super) enum Request {
    /// The exact process of given hyperparameters.
    Exact(ExactRequest),
    /// The optimum of the exact likelihood.
    Optimum(OptimumRequest),
}

impl Request {
    /// The request for the exact reference of a case, without the file to write.
    pub(super) fn exact(planned: Planned<'_>) -> Request {
        let request = ExactRequest::of(&planned.case, planned.fingerprint.threads);
        Request::Exact(request).reading(planned)
    }

    /// The request for the optimum of a case that is compared with one, without the file to write.
    pub(super) fn optimum(planned: Planned<'_>) -> Option<Request> {
        let request = OptimumRequest::of(&planned.case, planned.fingerprint.threads)?;
        Some(Request::Optimum(request).reading(planned))
    }

    /// The request with the data set's file to read.
    fn reading(mut self, planned: Planned<'_>) -> Request {
        let system = self.system_mut();
        system.dataset_file.clone_from(&planned.files.dataset_file);
        system.dataset_sha256.clone_from(&planned.fingerprint.dataset_sha256);
        self
    }

    /// The name of its file.
    pub(super) fn file_name(&self, planned: Planned<'_>) -> String {
        let fingerprint = &planned.fingerprint;
        let (dataset, worker) = (fingerprint.dataset_sha256.as_deref(), &fingerprint.worker_sha256);
        match self {
            Request::Exact(request) => format!("{}.safetensors", request.key(dataset, worker)),
            Request::Optimum(request) => format!("{}.json", request.key(dataset, worker)),
        }
    }

    /// What it is a request for.
    pub(super) fn kind(&self) -> ReferenceKind {
        match self {
            Request::Exact(_) => ReferenceKind::Exact,
            Request::Optimum(_) => ReferenceKind::Optimum,
        }
    }

    /// Bytes that making it for n training rows takes: a matrix, and for gradients the inverse beside it.
    pub(super) fn bytes(&self, n: usize) -> f64 {
        let matrices = match self.kind() {
            ReferenceKind::Exact => 1.0,
            ReferenceKind::Optimum => 2.0,
        };
        8.0 * (n as f64).powi(2) * (matrices + SCRATCH) + MARGIN
    }

    /// The file to write.
    pub(super) fn output(&self) -> &Path {
        &self.system().output
    }

    /// The request with this file to write.
    #[must_use]
    pub(super) fn writing(mut self, output: &Path) -> Request {
        output.clone_into(&mut self.system_mut().output);
        self
    }

    /// The work that makes it.
    pub(super) fn work(self) -> WorkItem {
        match self {
            Request::Exact(request) => WorkItem::Exact(request),
            Request::Optimum(request) => WorkItem::Optimum(request),
        }
    }

    /// Whether a message tells that the file is on the disk.
    pub(super) fn is_made(message: &Message) -> bool {
        matches!(message, Message::Exact(_) | Message::Optimum(_))
    }

    fn system(&self) -> &ExactRequest {
        match self {
            Request::Exact(request) => request,
            Request::Optimum(request) => &request.system,
        }
    }

    fn system_mut(&mut self) -> &mut ExactRequest {
        match self {
            Request::Exact(request) => request,
            Request::Optimum(request) => &mut request.system,
        }
    }
}
