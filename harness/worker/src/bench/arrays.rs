//! The arrays of a timed product, or of a learner's steps, so that other programs can be timed on the same.
//!
//! `x.bin` (n x d), and `v.bin` (n x s) and `product.bin` (H V, n x s), or `y.bin` (n x 1) and `z.bin` (inducing
//! points, m x d): eight bytes `GPBARRAY`, rows and
//! columns as 64-bit unsigned integers, then 64-bit floating-point numbers row by row, all
//! little-endian. `kernel.json` has the family and the scales of H.

use std::error::Error;
use std::fs;
use std::path::Path;

use gpbench_files::{Durability, replace};
use gpbench_gp::KernelMatrix;
use gpbench_record::Kernel;
use ndarray::{Array2, ArrayView2, ShapeBuilder};

const MAGIC: &[u8; 8] = b"GPBARRAY";

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
    for (name, array) in arrays {
        let (rows, columns) = array.dim();
        let path = folder.join(name).with_extension("bin");
        let written = replace(&path, Durability::ThisRun, |out| {
            out.write_all(MAGIC)?;
            [rows, columns].iter().try_for_each(|&size| out.write_all(&(size as u64).to_le_bytes()))?;
            array.iter().try_for_each(|number| out.write_all(&number.to_le_bytes()))
        });
        written.map_err(|error| format!("{}: {error}", path.display()))?;
    }
    let path = folder.join("kernel.json");
    fs::write(&path, serde_json::to_vec_pretty(kernel)?)
        .map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(())
}
