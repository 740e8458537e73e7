//! `gpbench-worker bench`: times products with the kernel operator, the dense algebra of solvers, and steps of learners.
//!
//! A product with n^2 entries of d inputs and s right-hand sides costs about 2 n^2 (d + s)
//! floating-point operations if the kernel's own function is free: that many for distances and
//! multiply-adds, which a matrix product could do at the speed of dgemm. So dgemm is timed as well,
//! in the same process, on the same number of threads and alternating with the product.

mod acquire;
mod arrays;
mod dense;
mod gemm;
mod learner;
mod median;
mod memory;
mod tile;

use std::error::Error;
use std::hint::black_box;

use gpbench_gp::seed::Streams;
use gpbench_gp::{KernelOperator, SystemMatrix, thread_pool};
use gpbench_numerics::LinearOperator;
use gpbench_record::{Arithmetic, BenchAnswer, BenchInputs, BenchRequest, BlockTiming, Product, Timing};
use ndarray::{Array2, ArrayView2, ShapeBuilder};

use crate::blas_memory;
use crate::kernel::kernel;
use crate::rows::Rows;

use median::{medians, medians_of};

/// Data that the timed products share.
struct Benchmark<'a> {
    request: &'a BenchRequest,
    operator: Box<dyn SystemMatrix>,
    /// Right-hand sides, n x s.
    v: Array2<f64>,
    streams: &'a Streams,
}

/// Times the product of a request.
///
/// # Errors
/// Where memory is refused, the inputs cannot be read, the kernel is invalid, or the arrays cannot be written.
pub fn run(request: &BenchRequest) -> Result<BenchAnswer, Box<dyn Error>> {
    blas_memory::reserve(request.threads)?;
    let streams = Streams::new(0, &["bench"]);
    let x = inputs(&request.inputs, &streams)?;
    let operator = || -> Result<KernelOperator, Box<dyn Error>> {
        let kernel = kernel(&request.kernel, x.ncols())?;
        let pool = thread_pool(request.threads)?;
        Ok(KernelOperator::with_pool(&kernel, request.kernel.noise_scale, x.view(), pool))
    };
    let benchmark = || Benchmark::new(request, Box::new(operator()?), x.view(), &streams);
    Ok(match &request.product {
        Product::Operator => benchmark()?.whole(),
        Product::Gradient => benchmark()?.gradient(),
        Product::Rows { block } => benchmark()?.blocks(*block),
        Product::Factor => BenchAnswer::Dense(dense::factor(request, &operator()?, &streams)?),
        Product::Precondition { rank } => {
            BenchAnswer::Dense(dense::precondition(request, x.nrows(), *rank, &streams)?)
        }
        Product::Acquire(sizes) => acquire::time(request, *sizes, x.view(), &operator()?, &streams)?,
        Product::Learner(step) => BenchAnswer::Step(learner::time(request, step, x.view(), &streams)?),
        Product::Tile => {
            let kernel = kernel(&request.kernel, x.ncols())?;
            BenchAnswer::Tile(tile::time(request, &kernel, x.view(), &streams)?)
        }
    })
}

/// Rows x inputs, row-major.
fn inputs(inputs: &BenchInputs, streams: &Streams) -> Result<Array2<f64>, Box<dyn Error>> {
    match inputs {
        BenchInputs::Normal { n, d } => Ok(streams.normals("x", *n, *d).as_standard_layout().to_owned()),
        BenchInputs::Dataset { dataset, file } => {
            Ok(Rows::load(dataset, 0, Some(file))?.split.x_train.clone())
        }
    }
}

impl<'a> Benchmark<'a> {
    /// Draws right-hand sides, and writes the arrays where this is requested.
    fn new(
        request: &'a BenchRequest,
        operator: Box<dyn SystemMatrix>,
        x: ArrayView2<f64>,
        streams: &'a Streams,
    ) -> Result<Benchmark<'a>, Box<dyn Error>> {
        let v = streams.normals("v", x.nrows(), request.rhs);
        if let Some(folder) = &request.arrays {
            arrays::write(folder, &request.kernel, x, v.view(), &*operator)?;
        }
        Ok(Benchmark { request, operator, v, streams })
    }

    /// H in the requested arithmetic.
    fn matrix(&self) -> &dyn LinearOperator {
        match self.request.precision {
            Arithmetic::F64 => &*self.operator,
            Arithmetic::Mixed => {
                self.operator.mixed().expect("the kernel operator has a form in mixed precision")
            }
        }
    }

    fn whole(&self) -> BenchAnswer {
        let mut out = Array2::zeros(self.v.dim().f());
        self.with_limits(&mut || self.matrix().apply(self.v.view(), out.view_mut()))
    }

    fn gradient(&self) -> BenchAnswer {
        let (n, s) = self.v.dim();
        let u = self.streams.normals("u", n, s);
        let precision = self.request.precision;
        self.with_limits(&mut || drop(black_box(self.operator.gradient(u.view(), self.v.view(), precision))))
    }

    /// Times work that uses all entries, alternating with dgemm, and in mixed precision with sgemm too.
    fn with_limits(&self, work: &mut dyn FnMut()) -> BenchAnswer {
        let is_mixed = self.request.precision == Arithmetic::Mixed;
        let mut dgemm = gemm::product::<f64>(self.request, self.streams);
        let mut sgemm = is_mixed.then(|| gemm::product::<f32>(self.request, self.streams));
        let mut works: Vec<&mut dyn FnMut()> = vec![&mut dgemm, work];
        if let Some(sgemm) = &mut sgemm {
            works.push(sgemm);
        }
        let seconds = medians_of(&mut works, self.request.seconds);
        let timing = self.timing(seconds[1], self.v.nrows(), seconds[0]);
        let sgemm_gflops = seconds.get(2).map(|&seconds| gemm::gflops(self.request, seconds));
        BenchAnswer::Whole(Timing { sgemm_gflops, ..timing })
    }

    fn blocks(&self, block: usize) -> BenchAnswer {
        let (n, s) = self.v.dim();
        let rows = spread(block.min(n), n);
        let columns = spread((2 * block).min(n), n);
        let u = self.streams.normals("u", columns.len(), s);
        let [mut out, mut y, mut z] = [(); 3].map(|()| Array2::zeros((n, s).f()));
        let mut some = Array2::zeros((rows.len(), s).f());
        let mut of_all = || self.matrix().apply(self.v.view(), out.view_mut());
        let mut of_rows = || self.matrix().rows(&rows, self.v.view(), some.view_mut());
        let mut of_both = || {
            self.matrix().rows_and_back(&rows, self.v.view(), &mut |_| (), z.view_mut());
        };
        let mut of_columns = || self.matrix().columns(&columns, u.view(), y.view_mut());
        let [dgemm, all, by_rows, by_both, by_columns] = medians(
            [
                &mut gemm::product::<f64>(self.request, self.streams),
                &mut of_all,
                &mut of_rows,
                &mut of_both,
                &mut of_columns,
            ],
            self.request.seconds,
        );
        let per_entry = all / n as f64;
        let timing = |seconds: f64, block: usize| BlockTiming {
            timing: self.timing(seconds, block, dgemm),
            block,
            seconds_per_entry_to_operator: seconds / block as f64 / per_entry,
        };
        BenchAnswer::Blocks {
            rows: timing(by_rows, rows.len()),
            fused: timing(by_both, rows.len()),
            columns: timing(by_columns, columns.len()),
            operator: self.timing(all, n, dgemm),
        }
    }

    /// The speed of a product that uses `rows` x n entries.
    fn timing(&self, seconds: f64, rows: usize, dgemm_seconds: f64) -> Timing {
        let (n, s) = self.v.dim();
        let d = self.operator.kernel().d();
        let entries_per_second = rows as f64 * n as f64 / seconds;
        let gemm_gflops = 2.0 * entries_per_second * (d + s) as f64 / 1e9;
        let dgemm_gflops = gemm::gflops(self.request, dgemm_seconds);
        Timing {
            n,
            d,
            rhs: s,
            precision: self.request.precision,
            seconds,
            entries_per_second,
            gemm_gflops,
            dgemm_gflops,
            ratio: gemm_gflops / dgemm_gflops,
            sgemm_gflops: None,
        }
    }
}

/// `count` evenly spaced numbers of 0 .. n.
fn spread(count: usize, n: usize) -> Vec<usize> {
    (0..count).map(|i| i * n / count).collect()
}
