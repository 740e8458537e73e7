//! Times of a learner's steps, in the loop that cases also run, without evaluations of the model.

use std::collections::BTreeMap;
use std::error::Error;
use std::rc::Rc;

use gpbench_gp::seed::Streams;
use gpbench_gp::thread_pool;
use gpbench_host::{FitLimits, FitProblem, FitSession, LearnerObject, Pause};
use gpbench_record::{BenchRequest, Kernel, LearnerStep, ParamValue, StepTiming};
use ndarray::{Array1, Array2, ArrayView2, s};
use rand::Rng as _;

use crate::{library, services};

use super::median::medians;
use super::{arrays, gemm};

/// Limit on passes, which no benchmark reaches.
const PASSES: f64 = 1e9;

/// Times the steps of a learner, alternating with dgemm.
pub(super) fn time(
    request: &BenchRequest,
    step: &LearnerStep,
    x: ArrayView2<f64>,
    streams: &Streams,
) -> Result<StepTiming, Box<dyn Error>> {
    let (n, d) = x.dim();
    let y = targets(x, streams);
    let points = x.slice(s![..step.points.min(n), ..]);
    if let Some(folder) = &request.arrays {
        let y = y.view().insert_axis(ndarray::Axis(1));
        arrays::write_all(folder, &request.kernel, &[("x", x), ("y", y), ("z", points)])?;
    }
    let host = services::host(Some(thread_pool(request.threads)?));
    let library = library::open(&step.library, None, request.threads, host)?;
    let params = BTreeMap::from([("batch".to_owned(), ParamValue::Int(i64::try_from(step.batch)?))]);
    let mut learner = LearnerObject::create(library.learner(&step.learner)?, library.host(), &params)?;
    let lengths = length_scale(&request.kernel, d);
    let problem = FitProblem {
        x,
        y: y.view(),
        basis: (step.points > 0).then_some(points),
        covariance: request.kernel.family,
        signal_scale: request.kernel.signal_scale,
        noise_scale: request.kernel.noise_scale,
        length_scale: &lengths,
        shared_length_scale: false,
        mean: 0.0,
        trained_mean: true,
        network: None,
    };
    let limits =
        FitLimits { passes: PASSES, max_epochs: None, seconds: None, threads: request.threads, seed: 0 };
    let session =
        FitSession::new(problem, limits, streams.stream("batch").next_u64(), library.host(), Rc::new(()));
    learner.begin(&session)?;
    session.pause(Pause::EachStep);

    let mut failure = None;
    let mut take = || {
        if failure.is_none() {
            failure = learner.fit(&session).err();
        }
    };
    let [gemm, step_seconds] =
        medians([&mut gemm::product::<f64>(request, streams), &mut take], request.seconds);
    if let Some(failure) = failure {
        return Err(failure.into());
    }
    let dgemm_gflops = gemm::gflops(request, gemm);
    Ok(StepTiming {
        n,
        d,
        batch: step.batch.min(n),
        points: points.nrows(),
        step_seconds,
        dgemm_gflops,
        dgemm_operations: step_seconds * dgemm_gflops,
    })
}

/// A smooth function of the inputs, with noise.
fn targets(x: ArrayView2<f64>, streams: &Streams) -> Array1<f64> {
    let noise: Array2<f64> = streams.normals("y", x.nrows(), 1);
    let rows = x.rows().into_iter().zip(&noise);
    rows.map(|(x, noise)| (x.sum() / (x.len() as f64).sqrt()).sin() + 0.1 * noise).collect()
}

/// One length scale per input.
fn length_scale(kernel: &Kernel, d: usize) -> Vec<f64> {
    match kernel.length_scale[..] {
        [shared] => vec![shared; d],
        _ => kernel.length_scale.clone(),
    }
}
