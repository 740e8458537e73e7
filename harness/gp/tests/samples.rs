//! Posterior samples as functions: values, gradients and their distribution.

use gpbench_gp::exact::ExactGp;
use gpbench_gp::pathwise::{PriorDraws, Targets};
use gpbench_gp::seed::Streams;
use gpbench_gp::{Family, Frequencies, Kernel, PosteriorSamples, RandomFeatures, thread_pool};
use gpbench_testkit::assert_close;
use ndarray::{Array1, Array2, ArrayView1, Axis, concatenate, s};

const NOISE: f64 = 0.1;
const SAMPLES: usize = 5;

struct Problem {
    features: RandomFeatures,
    w: Array2<f64>,
    x: Array2<f64>,
    v: Array2<f64>,
    starts: Array2<f64>,
    owner: Vec<usize>,
}

/// Points with a duplicate, and starts in no order of their owners, some of them at points.
fn problem(family: Family, n: usize, d: usize, starts: usize) -> Problem {
    let streams = Streams::new(1, &["samples"]);
    let mut x = points(&streams, "x", n, d);
    x += 2.0;
    let copy = x.row(0).to_owned();
    x.row_mut(n - 1).assign(&copy);
    let lengths: Vec<f64> = (0..d).map(|k| 0.7 + 0.2 * k as f64).collect();
    let kernel = Kernel::new(family, 1.3, &lengths, d);
    // Normal frequencies for every family: those of Matérn-1/2 would be too large for central differences.
    let features = RandomFeatures::from_omega(&kernel, streams.normals("frequencies", d, 30));
    let mut at = points(&streams, "starts", starts, d);
    at += 2.0;
    for start in (0..starts).step_by(7) {
        at.row_mut(start).assign(&x.row(start * 3 % n));
    }
    Problem {
        features,
        w: streams.normals("w", 60, SAMPLES),
        v: streams.normals("v", n, SAMPLES),
        x,
        starts: at,
        owner: (0..starts).map(|start| start * 3 % SAMPLES).collect(),
    }
}

fn problems() -> Vec<Problem> {
    // Sizes around tiles of 128 rows; distances by differences and, from 7 inputs on, by products.
    let sizes = [(40, 1, 9), (300, 3, 131), (129, 8, 300), (700, 8, 20)];
    Family::ALL
        .into_iter()
        .flat_map(|family| sizes.map(|(n, d, starts)| problem(family, n, d, starts)))
        .collect()
}

impl Problem {
    fn samples(&self, threads: usize) -> PosteriorSamples<'_> {
        let pool = thread_pool(threads).unwrap();
        PosteriorSamples::new(&self.features, self.w.view(), self.x.view(), self.v.view(), NOISE, pool)
    }

    /// One sample and its gradient by plain sums, and the sum of their absolute terms.
    fn plain(&self, at: ArrayView1<f64>, sample: usize) -> (f64, Array1<f64>, f64) {
        let kernel = self.features.kernel();
        let (mut value, mut gradient, mut reach) = (0.0, Array1::<f64>::zeros(at.len()), 0.0);
        for (x, v) in self.x.rows().into_iter().zip(self.v.column(sample)) {
            let scaled = |k: usize| (at[k] - x[k]) / kernel.length_scale[k];
            let r2: f64 = (0..at.len()).map(|k| scaled(k).powi(2)).sum();
            let k = v * kernel.variance() * kernel.correlation(r2);
            value += k;
            reach += k.abs();
            if r2 > 0.0 {
                let slope = v * kernel.variance() * kernel.slope(r2);
                for (k, gradient) in gradient.iter_mut().enumerate() {
                    *gradient -= slope * scaled(k) / kernel.length_scale[k];
                }
                reach += slope.abs() * r2.sqrt();
            }
        }
        let pairs = self.features.count() / 2;
        let scale = kernel.signal_scale / (pairs as f64).sqrt();
        for (p, omega) in self.features.omega().columns().into_iter().enumerate() {
            let angle: f64 = (0..at.len()).map(|k| omega[k] * at[k] / kernel.length_scale[k]).sum();
            let [sine, cosine] = [p, pairs + p].map(|row| scale * self.w[(row, sample)]);
            value += sine * angle.sin() + cosine * angle.cos();
            let slope = sine * angle.cos() - cosine * angle.sin();
            for (k, gradient) in gradient.iter_mut().enumerate() {
                *gradient += slope * omega[k] / kernel.length_scale[k];
                reach += (slope * omega[k]).abs();
            }
        }
        (value, gradient, reach)
    }
}

#[test]
fn values_and_gradients_are_those_of_plain_sums() {
    for p in problems() {
        let name = format!("{} in {} inputs", p.features.kernel().family, p.x.ncols());
        let (values, gradients) = p.samples(2).value_and_gradient(p.starts.view(), &p.owner);
        for (i, &sample) in p.owner.iter().enumerate() {
            let (value, gradient, reach) = p.plain(p.starts.row(i), sample);
            assert!((values[i] - value).abs() < 1e-13 * reach, "{name}: {} {value}", values[i]);
            for (found, expected) in gradients.row(i).iter().zip(&gradient) {
                assert!((found - expected).abs() < 1e-12 * reach, "{name}: {found} {expected}, {reach}");
            }
        }
    }
}

/// With steps of 1e-5 a central difference has an error of about 1e-10 of the third derivative, plus 1e-11 of the
/// value.
#[test]
fn gradients_are_those_of_central_differences() {
    let (step, mut compared) = (1e-5, 0);
    for p in problems() {
        let samples = p.samples(1);
        let (values, gradients) = samples.value_and_gradient(p.starts.view(), &p.owner);
        let all = samples.values(p.starts.view());
        for (i, &sample) in p.owner.iter().enumerate() {
            assert!((all[(i, sample)] - values[i]).abs() < 1e-12 * values[i].abs().max(1.0));
        }
        for k in 0..p.x.ncols() {
            let shifted = |by: f64| {
                let mut starts = p.starts.clone();
                starts.column_mut(k).mapv_inplace(|value| value + by);
                samples.value_and_gradient(starts.view(), &p.owner).0
            };
            let differences = (shifted(step) - shifted(-step)) / (2.0 * step);
            for i in 0..p.owner.len() {
                // Near a point, third derivatives of the rough kernels are large; at a point they cancel.
                let nearest = nearest(&p, i);
                if nearest > 0.0 && nearest < 0.1 {
                    continue;
                }
                compared += 1;
                let error = (gradients[(i, k)] - differences[i]).abs();
                assert!(error < 1e-7, "{} {i}: {error:e}, {nearest}", p.features.kernel().family);
            }
        }
    }
    assert!(compared > 8000, "{compared}");
}

/// Standard normal points (n x d), row-major.
fn points(streams: &Streams, name: &str, n: usize, d: usize) -> Array2<f64> {
    streams.normals(name, n, d).as_standard_layout().to_owned()
}

/// Distance of a start to the nearest point, in length scales.
fn nearest(p: &Problem, start: usize) -> f64 {
    let lengths = Array1::from_vec(p.features.kernel().length_scale.clone());
    let distance = |x: ArrayView1<f64>| ((&x - &p.starts.row(start)) / &lengths).mapv(|v| v * v).sum().sqrt();
    p.x.rows().into_iter().map(distance).fold(f64::INFINITY, f64::min)
}

#[test]
fn bits_depend_neither_on_threads_nor_on_the_order_of_starts() {
    for p in problems() {
        let (one, many) = (p.samples(1), p.samples(5));
        let found = one.value_and_gradient(p.starts.view(), &p.owner);
        assert_eq!(found, many.value_and_gradient(p.starts.view(), &p.owner));
        assert_eq!(one.values(p.starts.view()), many.values(p.starts.view()));
        assert_eq!(one.best_of(p.starts.view()), many.best_of(p.starts.view()));
        let reversed: Vec<usize> = (0..p.owner.len()).rev().collect();
        let owner: Vec<usize> = reversed.iter().map(|&start| p.owner[start]).collect();
        let starts = p.starts.select(Axis(0), &reversed);
        let (values, gradients) = one.value_and_gradient(starts.view(), &owner);
        assert_close(&values.slice(s![..;-1]), &found.0, 1e-14);
        assert_close(&gradients.slice(s![..;-1, ..]), &found.1, 1e-13);
    }
}

#[test]
fn one_owner_and_no_starts() {
    let p = problem(Family::Matern32, 150, 3, 140);
    let samples = p.samples(2);
    let (values, _) = samples.value_and_gradient(p.starts.view(), &vec![2; 140]);
    assert_close(&values, &samples.values(p.starts.view()).column(2), 1e-13);
    let none = p.starts.slice(s![..0, ..]);
    let (values, gradients) = samples.value_and_gradient(none, &[]);
    assert_eq!((values.len(), gradients.dim()), (0, (0, 3)));
    assert_eq!(samples.values(none).dim(), (0, SAMPLES));
}

#[test]
fn the_best_candidate_is_the_first_of_equals() {
    let p = problem(Family::Matern52, 150, 3, 200);
    let x = concatenate![Axis(0), p.starts, p.starts, p.starts];
    let samples = p.samples(2);
    let values = samples.values(p.starts.view());
    for (c, (row, value)) in samples.best_of(x.view()).into_iter().enumerate() {
        let largest = values.column(c).iter().fold(f64::NEG_INFINITY, |most, &value| most.max(value));
        assert!((value - largest).abs() < 1e-13);
        assert!(row < 200 && (values[(row, c)] - largest).abs() < 1e-13);
    }
    let mut broken = problem(Family::Matern52, 150, 3, 200);
    broken.v.column_mut(1).fill(f64::NAN);
    let best = broken.samples(1).best_of(x.view());
    assert!(best[1].1.is_nan() && best[0].1.is_finite());
}

/// The covariance of 20 000 samples at 50 points against the dense posterior.
#[test]
fn samples_have_the_mean_and_the_covariance_of_the_posterior() {
    let (n, count) = (200, 20_000);
    let streams = Streams::new(3, &["posterior"]);
    let kernel = Kernel::new(Family::Matern32, 1.2, &[1.5], 2);
    let x = points(&streams, "x", n, 2);
    let at = points(&streams, "at", 50, 2);
    let y = x.column(0).mapv(f64::sin) + x.column(1);
    let features =
        RandomFeatures::draw(&kernel, Frequencies::default(), 2048, &mut streams.stream("frequencies"));
    let w = streams.normals("w", features.count(), count);
    let draws = PriorDraws { train: features.apply(x.view(), w.view()), test: Array2::zeros((0, count)) };
    let targets = Targets::pathwise(y.view(), NOISE, draws, &streams);
    let gp = ExactGp::fit(&kernel, NOISE, x.view(), y.view(), 2).unwrap();
    let solution = gp.solve(targets.rhs.view());
    let (v_y, v_xi) = solution.view().split_at(Axis(1), 1);
    let v = &v_y - &v_xi;
    let pool = thread_pool(2).unwrap();
    let samples =
        PosteriorSamples::new(&features, w.view(), x.view(), v.view(), NOISE, pool).values(at.view());

    // With the prior covariance Q = phi phi^T in place of K, samples have the mean K* H^-1 y, and A Q A^T plus noise as
    // covariance, where A maps the prior at all points to the sample; the posterior has A K A^T.
    let cross = kernel.matrix(at.view(), x.view());
    let h = kernel.matrix(x.view(), x.view()) + Array2::<f64>::eye(n) * (NOISE * NOISE);
    let gain = gp.solve(cross.t()).t().to_owned();
    assert_close(&gain.dot(&h), &cross, 1e-9);
    let posterior = kernel.matrix(at.view(), at.view()) - gain.dot(&cross.t());
    let map = concatenate![Axis(1), Array2::eye(50), -&gain];
    let all = concatenate![Axis(0), at, x];
    let phi = features.matrix(all.view());
    let error = phi.dot(&phi.t()) - kernel.matrix(all.view(), all.view());
    let of_features = map.dot(&error).dot(&map.t());

    let mean = samples.mean_axis(Axis(1)).unwrap();
    let expected = gain.dot(&y);
    let centred = &samples - &mean.view().insert_axis(Axis(1));
    let covariance = centred.dot(&centred.t()) / (count - 1) as f64;
    for i in 0..50 {
        let deviation = posterior[(i, i)].sqrt();
        let allowed = 4.5 * deviation / (count as f64).sqrt() * 1.1;
        assert!((mean[i] - expected[i]).abs() < allowed, "mean {i}: {} {}", mean[i], expected[i]);
        for j in 0..50 {
            let of_both = posterior[(i, i)] * posterior[(j, j)] + posterior[(i, j)].powi(2);
            let allowed = 4.5 * (of_both / count as f64).sqrt() * 1.1 + of_features[(i, j)].abs();
            let difference = covariance[(i, j)] - posterior[(i, j)];
            assert!(difference.abs() < allowed, "{i} {j}: {difference} of {}, {allowed}", posterior[(i, j)]);
        }
    }
    // The features' own error is small beside the posterior.
    let largest = of_features.iter().fold(0.0, |most: f64, error| most.max(error.abs()));
    assert!(largest < 0.2, "{largest}");
}
