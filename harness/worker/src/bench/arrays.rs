//! The arrays of a timed product or of a learner's steps, so that other programs can be timed on the same arrays.
//!
//! `arrays.safetensors` is an [array file](crate::array_file). For a product it holds `x` (n x d), `v` (n x s) and
//! `product` (H V, n x s); for a learner's steps, `x`, `y` (n x 1) and `z` (inducing points, m x d). `kernel.json` has
//! the family and the scales of H.

use std::error::Error;
use std::fs;
use std::path::Path;

use gpbench_files::Durability;
use gpbench_gp::KernelMatrix;
use gpbench_record::Kernel;
use ndarray::{Array2, ArrayView2, ShapeBuilder};

use crate::array_file::ArrayWriter;

const KIND: &str = "benchmark";

/// Writes inputs, right-hand sides, kernel and product into a folder.
pub(super) fn write(
    folder: &Path,
    kernel: &Kernel,
    x: ArrayView2<f64>,
    v: ArrayView2<f64>,
    matrix: &dyn KernelMatrix,
) -> Result<(), Box<dyn Error>> {
    let mut product = Array2::zeros(v.dim().f());
    matrix.apply(v, product.view_mut());
    write_all(folder, kernel, &[("x", x), ("v", v), ("product", product.view())])
}

/// Writes named arrays and a kernel into a folder.
pub(super) fn write_all(
    folder: &Path,
    kernel: &Kernel,
    arrays: &[(&str, ArrayView2<f64>)],
) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let arrays =
        arrays.iter().fold(ArrayWriter::new(KIND, &()), |file, (name, array)| file.array(name, *array));
    arrays.write(&folder.join("arrays.safetensors"), Durability::ThisRun)?;
    let path = folder.join("kernel.json");
    fs::write(&path, serde_json::to_vec_pretty(kernel)?)
        .map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(())
}
