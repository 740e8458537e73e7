//! Times of the parts of the work on one tile, alternating with dgemm or sgemm.

use std::error::Error;
use std::sync::Mutex;

use gpbench_gp::seed::Streams;
use gpbench_gp::{Kernel, thread_pool, tile_parts};
use gpbench_record::{Arithmetic, BenchRequest, PartTiming, TilePart, TileTiming};
use ndarray::ArrayView2;

use super::gemm;
use super::median::medians_of;

/// Times that a part runs between two looks at the clock.
const REPEATS: usize = 16;

/// Times the parts in the requested precision, each thread on a tile of its own.
pub(super) fn time(
    request: &BenchRequest,
    kernel: &Kernel,
    x: ArrayView2<f64>,
    streams: &Streams,
) -> Result<TileTiming, Box<dyn Error>> {
    let (pool, v) = (thread_pool(request.threads)?, streams.normals("v", x.nrows(), request.rhs));
    let tile = || tile_parts(request.precision, kernel, x, v.view());
    let first = tile();
    let tiles: Vec<_> = (0..pool.current_num_threads()).map(|_| Mutex::new(tile())).collect();
    let run = |part: TilePart| {
        pool.broadcast(|context| {
            let mut tile = tiles[context.index()].lock().expect("a part that panics ends the benchmark");
            (0..REPEATS).for_each(|_| tile.run(part));
        });
    };
    let run = &run;
    let mut gemm: Box<dyn FnMut()> = match request.precision {
        Arithmetic::F64 => Box::new(gemm::product::<f64>(request, streams)),
        Arithmetic::Mixed => Box::new(gemm::product::<f32>(request, streams)),
    };
    let mut parts = TilePart::ALL.map(|part| move || run(part));
    let mut works: Vec<&mut dyn FnMut()> = vec![&mut *gemm];
    for part in &mut parts {
        works.push(part);
    }
    let seconds = medians_of(&mut works, request.seconds);
    let gemm_gflops = gemm::gflops(request, seconds[0]);
    let entries = (REPEATS * first.size() * first.size()) as f64;
    let timing = |(part, &seconds): (TilePart, &f64)| {
        let gflops = (tiles.len() * REPEATS) as f64 * first.operations(part) / seconds / 1e9;
        PartTiming { part, nanoseconds: 1e9 * seconds / entries, gflops, ratio: gflops / gemm_gflops }
    };
    Ok(TileTiming {
        tile: first.size(),
        d: x.ncols(),
        rhs: request.rhs,
        precision: request.precision,
        threads: tiles.len(),
        gemm_gflops,
        parts: TilePart::ALL.into_iter().zip(&seconds[1..]).map(timing).collect(),
    })
}
