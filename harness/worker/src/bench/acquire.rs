//! Times of posterior samples at candidates and at starts, alternating with the product with all of H and with dgemm.

use std::error::Error;
use std::hint::black_box;

use gpbench_gp::seed::Streams;
use gpbench_gp::{Frequencies, KernelOperator, PosteriorSamples, RandomFeatures, SystemMatrix, thread_pool};
use gpbench_numerics::LinearOperator;
use gpbench_record::{Acquire, AcquireTiming, BenchAnswer, BenchRequest, Timing};
use ndarray::{Array2, ArrayView2, ShapeBuilder, s};

use super::gemm;
use super::median::medians;

/// Number of features whose cost is negligible.
const FEW_FEATURES: usize = 2;

/// Times the parts of an acquisition.
pub(super) fn time(
    request: &BenchRequest,
    sizes: Acquire,
    x: ArrayView2<f64>,
    operator: &KernelOperator,
    streams: &Streams,
) -> Result<BenchAnswer, Box<dyn Error>> {
    let Acquire { candidates, starts, features: m } = sizes;
    let ((n, d), samples) = (x.dim(), request.rhs);
    let kernel = operator.kernel();
    let law = Frequencies::default();
    let features = RandomFeatures::draw(kernel, law, m, &mut streams.stream("frequencies"));
    let few = features.first(FEW_FEATURES);
    let (w, v) = (streams.normals("w", m, samples), streams.normals("v", n, samples));
    let (noise_scale, pool) = (operator.noise_scale(), thread_pool(request.threads)?);
    let all = PosteriorSamples::new(&features, w.view(), x, v.view(), noise_scale, pool.clone());
    let first_w = w.slice(s![..FEW_FEATURES, ..]);
    let of_kernel = PosteriorSamples::new(&few, first_w, x, v.view(), noise_scale, pool.clone());
    let (first_row, first_v) = (x.slice(s![..1, ..]), v.slice(s![..1, ..]));
    let of_features = PosteriorSamples::new(&features, w.view(), first_row, first_v, noise_scale, pool);
    let at = |name, rows| streams.normals(name, rows, d).as_standard_layout().to_owned();
    let (shared, own) = (at("candidates", candidates), at("starts", starts));
    let owner: Vec<usize> = (0..starts).map(|start| start * samples / starts).collect();

    let mut product = Array2::zeros((n, samples).f());
    let best = |samples: &PosteriorSamples| drop(black_box(samples.best_of(shared.view())));
    let seconds = medians(
        [
            &mut gemm::product::<f64>(request, streams),
            &mut || operator.apply(v.view(), product.view_mut()),
            &mut || best(&all),
            &mut || best(&of_kernel),
            &mut || best(&of_features),
            &mut || drop(black_box(all.value_and_gradient(own.view(), &owner))),
        ],
        request.seconds,
    );
    let [dgemm, seconds_of_operator, seconds_of_all, of_rows, of_m, of_gradients] = seconds;
    let (n, m, d, s) = (n as f64, m as f64, d as f64, samples as f64);
    let dgemm_gflops = gemm::gflops(request, dgemm);
    let timing = |seconds: f64, entries: f64, multiply_adds: f64| {
        let gemm_gflops = 2.0 * multiply_adds / seconds / 1e9;
        Timing {
            n: x.nrows(),
            d: x.ncols(),
            rhs: samples,
            precision: request.precision,
            seconds,
            entries_per_second: entries / seconds,
            gemm_gflops,
            dgemm_gflops,
            ratio: gemm_gflops / dgemm_gflops,
            sgemm_gflops: None,
        }
    };
    let operator = timing(seconds_of_operator, n * n, n * n * (d + s));
    let part = |points: usize, seconds: f64, entries: f64, multiply_adds: f64| {
        let timing = timing(seconds, points as f64 * entries, points as f64 * multiply_adds);
        AcquireTiming { timing, points, ratio_to_operator: timing.ratio / operator.ratio }
    };
    // Two features share an angle.
    let (by_rows, by_features) = (n * (d + s), m * (0.5 * d + s));
    Ok(BenchAnswer::Acquire {
        candidates: part(candidates, seconds_of_all, n + m, by_rows + by_features),
        kernel: part(candidates, of_rows, n, by_rows),
        features: part(candidates, of_m, m, by_features),
        gradients: part(starts, of_gradients, n + m, n * (2.0 * d + 2.0) + m * (d + 2.0)),
        operator,
    })
}
