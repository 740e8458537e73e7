//! Serves the child's requests: a file for each part of the interface that they belong to.

pub mod fit;
pub mod operator;
pub mod problem;
pub mod store;
pub mod volatile;

use gpbench_abi::Mat;

use crate::arena::Arena;
use crate::failure::Result;
use crate::frame::{Frame, INTEGERS, Wrong};
use crate::region::{Extent, Region, check_indices};

/// The four numbers of a matrix, from the `first` integer on.
pub fn matrix(
    integers: &[i64; INTEGERS],
    first: usize,
    (rows, cols): (Extent, Extent),
    arena: &Arena,
    name: &str,
) -> Result<Region, Wrong> {
    let numbers = [0, 1, 2, 3].map(|k| integers[first + k]);
    Region::read(numbers, rows, cols, arena.size(), name)
}

/// Indices below `limit`, copied out of the arena.
pub fn indices(
    (offset, count): (i64, i64),
    limit: i64,
    arena: &Arena,
    name: &str,
) -> Result<(Region, Vec<i64>), Wrong> {
    let region = Region::column(offset, count, arena.size(), name)?;
    let indices = arena.integers(&region);
    check_indices(&indices, limit, name)?;
    Ok((region, indices))
}

/// The reasons of a report, as the child names them.
pub fn reason(frame: &Frame) -> Result<i32, Wrong> {
    use gpbench_abi::reason;
    Ok(match frame.text("reason")? {
        "converged" => reason::CONVERGED,
        "stopped" => reason::STOPPED,
        "iterations" => reason::ITERATIONS,
        "stagnated" => reason::STAGNATED,
        "diverged" => reason::DIVERGED,
        other => return Err(Wrong(format!("the unknown reason `{other}`"))),
    })
}

/// Places for copies of the host's matrices, one after the other in the frame's integers, each with its rows as leading
/// dimension.
pub fn spaces<const N: usize>(
    frame: &Frame,
    shapes: [(&str, i64, i64); N],
    arena: &Arena,
) -> Result<[Region; N], Wrong> {
    if frame.kind != crate::frame::kind::SPACE {
        return Err(Wrong(format!("a frame of kind {} where memory was asked for", frame.kind)));
    }
    let mut regions = Vec::with_capacity(N);
    for (index, (name, rows, cols)) in shapes.into_iter().enumerate() {
        let numbers = [frame.integers()[index], rows, cols, rows.max(1)];
        let extents = (Extent::Exactly(rows), Extent::Exactly(cols));
        regions.push((name, Region::read(numbers, extents.0, extents.1, arena.size(), name)?));
    }
    crate::region::disjoint(&regions)?;
    let mut regions = regions.into_iter().map(|(_, region)| region);
    Ok(std::array::from_fn(|_| regions.next().expect("one a shape")))
}

/// A column of the host's as a matrix.
pub fn column(data: *const f64, rows: i64) -> Mat {
    Mat { data: data.cast_mut(), rows, cols: 1, ld: rows.max(1) }
}
