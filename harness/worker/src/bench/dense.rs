//! The dense algebra that solvers share, from the SDK: Cholesky factors and preconditioners of low rank.

use std::cell::RefCell;
use std::error::Error;
use std::hint::black_box;
use std::ops::Range;

use gpbench_gp::KernelMatrix;
use gpbench_gp::seed::Streams;
use gpbench_record::{BenchRequest, Bound, DenseTiming, WorkTiming};
use gpbench_sdk::exact::{self, SingleFactor};
use gpbench_sdk::precondition::Preconditioner;
use gpbench_sdk::{Precision, Workers};
use ndarray::{Array2, ArrayViewMut2, Axis, ShapeBuilder, s};

use super::median::{medians_of, untimed};
use super::{gemm, memory};

/// Ratio of the largest to the smallest column of the factor that a preconditioner is built from, typical of
/// kernel matrices late in training.
const DECAY: f64 = 1e3;

/// Noise scale of that preconditioner: far enough from 0 for single precision.
const NOISE_SCALE: f64 = 0.1;

/// Columns of a matrix that a thread copies at a time.
const COLUMNS: usize = 64;

/// Counted work of an algorithm.
struct Work {
    name: &'static str,
    /// Floating-point operations.
    operations: f64,
    /// Bytes read and written.
    bytes: f64,
    /// The matrix product in the same precision.
    gemm: Bound,
}

/// Times a Cholesky factorisation of H, and solves with the factor.
pub(super) fn factor(
    request: &BenchRequest,
    operator: &dyn KernelMatrix,
    streams: &Streams,
) -> Result<DenseTiming, Box<dyn Error>> {
    let (n, rhs, workers) = (operator.shape().0, request.rhs, Workers::new(request.threads));
    let all: Vec<usize> = (0..n).collect();
    let mut h = exact::square(n)?;
    operator.block(&all, &all, h.view_mut());
    let b = streams.normals("b", n, rhs);
    // A factor takes the place of the one before: with many rows, there is no memory for both.
    let factor = RefCell::new(h.clone());
    exact::factorise(&mut factor.borrow_mut(), workers)?;
    let fill = |rows: Range<usize>, columns: Range<usize>, mut tile: ArrayViewMut2<'_, f32>| {
        tile.zip_mut_with(&h.slice(s![rows, columns]), |entry, &h| *entry = h as f32);
    };
    let single = RefCell::new(Some(SingleFactor::new(n, fill, workers)?));

    let mut x = b.clone();
    let mut double = || {
        let mut factor = factor.borrow_mut();
        let columns = factor.axis_chunks_iter_mut(Axis(1), COLUMNS).zip(h.axis_chunks_iter(Axis(1), COLUMNS));
        workers.for_each(columns.enumerate(), |(index, (mut copy, h))| {
            let below = index * COLUMNS;
            copy.slice_mut(s![below.., ..]).assign(&h.slice(s![below.., ..]));
        });
        exact::factorise(&mut factor, workers).expect("it was factorised before");
    };
    let mut in_single = || {
        *single.borrow_mut() = None;
        *single.borrow_mut() = SingleFactor::new(n, fill, workers).ok();
    };
    let mut solve = || {
        x.assign(&b);
        exact::solve(&factor.borrow(), &mut x, workers);
    };
    let mut solve_single = || {
        let single = single.borrow();
        drop(black_box(single.as_ref().expect("it was factorised before").solve(&b, workers)));
    };
    let (order, columns) = (n as f64, rhs as f64);
    let (cubic, quadratic) = (order.powi(3) / 3.0, 2.0 * order.powi(2) * columns);
    // A factor is written once, and read once for each of two triangular solves.
    let triangle = order.powi(2) / 2.0;
    let works = [
        Work { name: "factor, double", operations: cubic, bytes: 8.0 * triangle, gemm: Bound::Dgemm },
        Work { name: "factor, single", operations: cubic, bytes: 4.0 * triangle, gemm: Bound::Sgemm },
        Work { name: "solve, double", operations: quadratic, bytes: 16.0 * triangle, gemm: Bound::Dgemm },
        Work { name: "solve, single", operations: quadratic, bytes: 8.0 * triangle, gemm: Bound::Sgemm },
    ];
    let timed: [&mut dyn FnMut(); 4] = [&mut double, &mut in_single, &mut solve, &mut solve_single];
    Ok(DenseTiming { n, rhs, rank: 0, works: time(request, streams, works, timed)? })
}

/// Times a preconditioner for a matrix of n rows.
pub(super) fn precondition(
    request: &BenchRequest,
    n: usize,
    rank: usize,
    streams: &Streams,
) -> Result<DenseTiming, Box<dyn Error>> {
    let (rhs, rank, workers) = (request.rhs, rank.min(n), Workers::new(request.threads));
    // Column-major, as in solvers.
    let r = streams.normals("r", rhs, n).reversed_axes();
    let mut factor = streams.normals("factor", rank, n).reversed_axes();
    for (j, mut column) in factor.columns_mut().into_iter().enumerate() {
        column *= DECAY.powf(-(j as f64) / rank as f64);
    }
    // The Frobenius norm of a factor of a kernel matrix with a diagonal of ones.
    factor *= (n as f64).sqrt() / factor.iter().map(|entry| entry * entry).sum::<f64>().sqrt();
    // V takes the memory of its factor, so each run needs a copy, which solvers do not.
    let build = || {
        let factor = untimed(|| copied(&factor, workers));
        Preconditioner::low_rank_plus_noise(factor, NOISE_SCALE, workers)
    };
    let (double, single) = (build()?, build()?.stored_in(Precision::Mixed, workers));

    let mut built = || {
        let built = black_box(build());
        untimed(|| drop(built));
    };
    let mut apply = || drop(black_box(double.apply(&r, workers)));
    let mut apply_single = || drop(black_box(single.apply(&r, workers)));
    let (entries, columns) = (n as f64 * rank as f64, rhs as f64);
    let applied = 4.0 * entries * columns;
    let works = [
        // A symmetric product and a triangular solve, each of which reads the factor.
        Work {
            name: "build",
            operations: 2.0 * entries * rank as f64,
            bytes: 24.0 * entries,
            gemm: Bound::Dgemm,
        },
        Work { name: "apply, double", operations: applied, bytes: 16.0 * entries, gemm: Bound::Dgemm },
        Work { name: "apply, single", operations: applied, bytes: 8.0 * entries, gemm: Bound::Sgemm },
    ];
    let timed: [&mut dyn FnMut(); 3] = [&mut built, &mut apply, &mut apply_single];
    Ok(DenseTiming { n, rhs, rank, works: time(request, streams, works, timed)? })
}

/// A column-major copy, made by all threads.
fn copied(a: &Array2<f64>, workers: Workers<'_>) -> Array2<f64> {
    let mut copy = Array2::zeros(a.dim().f());
    let columns = copy.axis_chunks_iter_mut(Axis(1), COLUMNS).zip(a.axis_chunks_iter(Axis(1), COLUMNS));
    workers.for_each(columns, |(mut copy, a)| copy.assign(&a));
    copy
}

/// Times work, alternating with the operations that bound its speed.
fn time<const N: usize>(
    request: &BenchRequest,
    streams: &Streams,
    works: [Work; N],
    timed: [&mut dyn FnMut(); N],
) -> Result<Vec<WorkTiming>, Box<dyn Error>> {
    let (mut dgemm, mut sgemm) =
        (gemm::product::<f64>(request, streams), gemm::product::<f32>(request, streams));
    let mut pass = memory::pass(request.threads)?;
    let mut all: Vec<&mut dyn FnMut()> = vec![&mut dgemm, &mut sgemm, &mut pass];
    for work in timed {
        all.push(work);
    }
    let seconds = medians_of(&mut all, request.seconds);
    let [dgemm, sgemm] = [seconds[0], seconds[1]].map(|seconds| gemm::gflops(request, seconds));
    let memory = memory::BYTES / seconds[2] / 1e9;
    let timing = |(work, seconds): (Work, f64)| {
        let (gigaflop, gigabytes) = (work.operations / 1e9, work.bytes / 1e9);
        let gemm = if work.gemm == Bound::Sgemm { sgemm } else { dgemm };
        let by_memory = gigabytes / memory > gigaflop / gemm;
        let (bound, limit) = if by_memory { (Bound::Memory, memory) } else { (work.gemm, gemm) };
        WorkTiming {
            work: work.name.to_owned(),
            seconds,
            gflops: gigaflop / seconds,
            gigabytes_per_second: gigabytes / seconds,
            bound,
            limit,
            ratio: (gigabytes / memory).max(gigaflop / gemm) / seconds,
        }
    };
    Ok(works.into_iter().zip(seconds[3..].iter().copied()).map(timing).collect())
}
