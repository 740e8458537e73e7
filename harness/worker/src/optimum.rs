//! `gpbench-worker optimum`: the hyperparameters of the greatest exact likelihood, with which training is compared.
//!
//! The starts do not depend on where the cases start that are compared, so that all of them have one optimum.

use std::path::Path;

use gpbench_files::{Durability, replace_sealed};
use gpbench_gp::thread_pool;
use gpbench_gp::train::{FoundOptimum, Hyperparameters, OptimumSearch, spread_starts};
use gpbench_record::{DataStart, FaultCause, Kernel, Message, Optimum, OptimumRequest, Scale};

use crate::array_file::FileError;
use crate::blas_memory;
use crate::failure::{CaseError, diverged, file_fault};
use crate::kernel::{in_units_of_rows, kernel};
use crate::rows::Rows;
use crate::starts;

/// Searches, and writes the optimum to its file.
pub fn run(request: &OptimumRequest) -> Message {
    optimum(request).map_or_else(|error| error.message(false), Message::Optimum)
}

fn optimum(request: &OptimumRequest) -> Result<Optimum, CaseError> {
    let system = &request.system;
    blas_memory::reserve(system.threads)?;
    let (file, sha256) = (system.dataset_file.as_deref(), system.dataset_sha256.as_deref());
    let rows = Rows::load_planned(&system.dataset, system.seed, file, sha256)?;
    // Of scales that are fixed where the data put them, the numbers.
    let shared = request.shared_length_scale;
    let of = in_units_of_rows(&system.kernel, &rows.split, shared);
    let of = starts::resolved(&of, shared, &rows, system.threads)?;
    let family = kernel(&of, rows.d())?.family;
    let pool = thread_pool(system.threads)?;
    let (x, y) = (rows.split.x_train.view(), rows.split.y_train.view());
    let (with_mean, fixed) = (of.mean.is_some(), &request.fixed[..]);
    let search = OptimumSearch { family, x, y, with_mean, fixed, pool: &pool };
    let found = search.from_starts(&all_starts(request, &of, &rows)?);
    let none = || diverged("from every start, the kernel matrix with noise is singular in double precision");
    let FoundOptimum { hyperparameters, mean, log_marginal_likelihood, evaluations } =
        found.ok_or_else(none)?;
    let Hyperparameters { noise_scale, signal_scale, length_scale } = hyperparameters;
    let learned = Kernel { noise_scale, signal_scale, length_scale, mean, ..of };
    let optimum = Optimum {
        log_marginal_likelihood,
        hyperparameters: learned.hyperparameters(),
        n: rows.n(),
        evaluations,
    };
    write(&system.output, &optimum).map_err(file_fault(FaultCause::Storage))?;
    Ok(optimum)
}

/// Starts that are spread over the scales of the data, all scales 1, and the start that `initial = "data"` finds.
/// Scales of the kernel that are fixed have their values in all of them.
fn all_starts(request: &OptimumRequest, of: &Kernel, rows: &Rows) -> Result<Vec<Hyperparameters>, CaseError> {
    let shared = request.shared_length_scale;
    let mut starts = spread_starts(rows.split.x_train.view(), rows.split.y_train.view(), shared);
    let lengths = if shared { 1 } else { rows.d() };
    starts.push(Hyperparameters { noise_scale: 1.0, signal_scale: 1.0, length_scale: vec![1.0; lengths] });
    let from_data = DataStart { restarts: DataStart::RESTARTS, keep: Vec::new() };
    let from_data = Kernel { start: Some(from_data), ..of.clone() };
    let found = starts::resolved(&from_data, shared, rows, request.system.threads)?;
    let Kernel { noise_scale, signal_scale, length_scale, .. } = found;
    starts.push(Hyperparameters { noise_scale, signal_scale, length_scale });
    let Kernel { noise_scale, signal_scale, length_scale, .. } = of;
    for start in &mut starts {
        for scale in &request.fixed {
            match (scale, &length_scale[..]) {
                (Scale::NoiseScale, _) => start.noise_scale = *noise_scale,
                (Scale::SignalScale, _) => start.signal_scale = *signal_scale,
                (Scale::LengthScale, [all]) => start.length_scale.fill(*all),
                (Scale::LengthScale, each) => start.length_scale = each.to_vec(),
            }
        }
    }
    Ok(starts)
}

/// Writes an optimum as JSON, with a checksum at its end.
fn write(path: &Path, optimum: &Optimum) -> Result<(), FileError> {
    let json = serde_json::to_vec(optimum).expect("plain data with text keys always serialises");
    replace_sealed(path, Durability::Whole, |file| file.write_all(&json))
        .map_err(|source| FileError::Io { path: path.to_owned(), source })
}
