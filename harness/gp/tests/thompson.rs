//! The points that posterior samples choose, against a fine grid.

use gpbench_gp::pathwise::prior_weights;
use gpbench_gp::seed::Streams;
use gpbench_gp::thompson::{ascend, candidates};
use gpbench_gp::{Family, Frequencies, Kernel, PosteriorSamples, RandomFeatures, thread_pool};
use gpbench_numerics::lapack;
use gpbench_record::{Ascent, Candidates, Exploit};
use ndarray::{Array1, Array2, Axis, ShapeBuilder, s};

const ROWS: usize = 40;
const SAMPLES: usize = 20;
const NOISE: f64 = 0.05;
const CANDIDATES: Candidates =
    Candidates { rounds: 10, points: 500, explore: 0.5, nearby: 0.5, exploit: Exploit::Shifted };
const ASCENT: Ascent = Ascent { steps: 100, learning_rate: 1e-3 };
const GRID: usize = 100_000;

/// Each sample is at least as large at its point as on a grid of 10^5 places, up to what the last steps of Adam leave.
#[test]
fn chosen_points_are_as_good_as_a_fine_grid() {
    let streams = Streams::new(12, &["thompson"]);
    let mut rng = streams.stream("inputs");
    let uniform = Candidates { points: ROWS, explore: 1.0, ..CANDIDATES };
    let none = Array2::zeros((1, 1));
    let x = candidates(&uniform, &[1.0], none.view(), Array1::zeros(1).view(), &mut rng);
    for family in [Family::Rbf, Family::Matern32, Family::Matern52] {
        let kernel = Kernel::new(family, 1.0, &[0.15], 1);
        let features =
            RandomFeatures::draw(&kernel, Frequencies::default(), 500, &mut streams.stream("frequencies"));
        let w = prior_weights(&features, SAMPLES, &streams);

        // Weights H^-1 y - H^-1 (f + noise), by a dense factor.
        let mut h = kernel.matrix(x.view(), x.view()).reversed_axes();
        h.diag_mut().mapv_inplace(|variance| variance + NOISE * NOISE);
        lapack::cholesky(&mut h).expect("H is positive definite");
        let y = x.column(0).mapv(|x| (9.0 * x).sin());
        let mut v = Array2::zeros((ROWS, SAMPLES).f());
        v.assign(&y.view().insert_axis(Axis(1)));
        v -= &features.apply(x.view(), w.view());
        v -= &(streams.normals("noise", ROWS, SAMPLES) * NOISE);
        lapack::cholesky_solve(&h, &mut v).unwrap();

        let pool = thread_pool(2).expect("two threads");
        let samples = PosteriorSamples::new(&features, w.view(), x.view(), v.view(), NOISE, pool);
        let mut starts = Array2::zeros((0, 1));
        for round in 0..CANDIDATES.rounds {
            let rng = &mut streams.stream(&format!("candidates/{round}"));
            let found = candidates(&CANDIDATES, &kernel.length_scale, x.view(), y.view(), rng);
            let best: Vec<usize> = samples.best_of(found.view()).iter().map(|(row, _)| *row).collect();
            starts.append(Axis(0), found.select(Axis(0), &best).view()).expect("one input");
        }
        let owner: Vec<usize> = (0..starts.nrows()).map(|start| start % SAMPLES).collect();
        let ended = ascend(&samples, starts, &owner, ASCENT, &mut |_, _| ());
        let grid = Array1::linspace(0.0, 1.0, GRID).insert_axis(Axis(1));
        let on_grid = samples.best_of(grid.view());
        for (sample, (_, largest)) in on_grid.iter().enumerate() {
            let found = ended.values.slice(s![sample..;SAMPLES]).fold(f64::NEG_INFINITY, |a, b| a.max(*b));
            assert!(found > largest - 1e-6, "{family}, sample {sample}: {found}, {largest} on the grid");
        }
    }
}
