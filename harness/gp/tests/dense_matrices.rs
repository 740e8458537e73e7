//! Everything above the traits, over matrices that are simply stored: no estimator depends on how a matrix is held.

use crate::suite;
use gpbench_gp::Gradient;
use gpbench_gp::likelihood::{self, Truncation};
use gpbench_gp::seed::Streams;
use gpbench_gp::train::{self, estimator};
use gpbench_gp::{
    Arithmetic, CollapsedOperator, Family, Kernel, KernelMatrix, KernelOperator, SystemMatrix, UniqueInputs,
    lanczos, metrics, pathwise, thread_pool,
};
use gpbench_numerics::{Dense, LinearOperator};
use gpbench_testkit::assert_close;
use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2, Axis, arr1};

const NOISE_SCALE: f64 = 0.4;

/// `K(X, P)`, plus noise on the diagonal where P is X.
#[derive(Debug)]
struct Stored {
    kernel: Kernel,
    noise_scale: f64,
    x: Array2<f64>,
    points: Array2<f64>,
    entries: Dense,
}

impl Stored {
    fn system(kernel: &Kernel, noise_scale: f64, x: &Array2<f64>) -> Stored {
        let mut entries = kernel.matrix(x.view(), x.view());
        entries.diag_mut().mapv_inplace(|entry| entry + noise_scale * noise_scale);
        let entries = Dense(entries);
        Stored { kernel: kernel.clone(), noise_scale, x: x.clone(), points: x.clone(), entries }
    }
}

impl LinearOperator for Stored {
    fn shape(&self) -> (usize, usize) {
        self.entries.shape()
    }

    fn apply(&self, v: ArrayView2<f64>, out: ArrayViewMut2<f64>) {
        self.entries.apply(v, out);
    }

    fn rows(&self, idx: &[usize], v: ArrayView2<f64>, out: ArrayViewMut2<f64>) {
        self.entries.rows(idx, v, out);
    }

    fn rows_and_back(
        &self,
        idx: &[usize],
        v: ArrayView2<f64>,
        f: &mut dyn FnMut(ArrayViewMut2<f64>),
        z: ArrayViewMut2<f64>,
    ) {
        self.entries.rows_and_back(idx, v, f, z);
    }

    fn columns(&self, idx: &[usize], u: ArrayView2<f64>, y: ArrayViewMut2<f64>) {
        self.entries.columns(idx, u, y);
    }

    fn block(&self, rows: &[usize], cols: &[usize], out: ArrayViewMut2<f64>) {
        self.entries.block(rows, cols, out);
    }

    fn diagonal(&self) -> Option<Array1<f64>> {
        self.entries.diagonal()
    }
}

impl KernelMatrix for Stored {
    fn cross(&self, x_star: ArrayView2<f64>, v: ArrayView2<f64>) -> Array2<f64> {
        self.kernel.matrix(x_star, self.points.view()).dot(&v)
    }
}

impl SystemMatrix for Stored {
    fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    fn noise_scale(&self) -> f64 {
        self.noise_scale
    }

    fn gradient(&self, u: ArrayView2<f64>, w: ArrayView2<f64>, _: Arithmetic) -> Gradient {
        let (x, form) = (self.x.view(), |derivative: Array2<f64>| (&u * &derivative.dot(&w)).sum());
        Gradient {
            noise_scale: 2.0 * self.noise_scale * (&u * &w).sum(),
            signal_scale: form(self.kernel.matrix_by_signal_scale(x, x)),
            length_scale: (0..x.ncols()).map(|k| form(self.kernel.matrix_by_length_scale(k, x, x))).collect(),
        }
    }

    fn over(&self, x: ArrayView2<f64>) -> Box<dyn KernelMatrix> {
        let (kernel, x) = (self.kernel.clone(), x.to_owned());
        let entries = kernel.matrix(x.view(), x.view());
        Box::new(Stored { kernel, noise_scale: 0.0, points: x.clone(), x, entries: Dense(entries) })
    }

    fn between(&self, z: ArrayView2<f64>) -> Box<dyn KernelMatrix> {
        let entries = self.kernel.matrix(self.x.view(), z);
        Box::new(Stored {
            kernel: self.kernel.clone(),
            noise_scale: 0.0,
            x: self.x.clone(),
            points: z.to_owned(),
            entries: Dense(entries),
        })
    }
}

/// What the functions above the traits return, as one vector.
fn numbers(h: &dyn SystemMatrix, unscaled: Box<dyn KernelMatrix>, inputs: &UniqueInputs) -> Array1<f64> {
    let streams = Streams::new(4, &["dense"]);
    let (n, d) = (h.n(), h.kernel().d());
    let [b, v, before] = ["b", "v", "before"].map(|name| streams.normals(name, n, 3));
    let (x_star, z) = (streams.normals("star", 7, d), streams.normals("z", 5, d));
    let gradient = |gradient: Gradient| {
        let scales = [gradient.noise_scale, gradient.signal_scale];
        scales.into_iter().chain(gradient.length_scale).collect::<Vec<f64>>()
    };
    let collapsed = CollapsedOperator::new(unscaled, h.noise_scale(), inputs, thread_pool(1).unwrap());
    let gamma = inputs.project(b.view());
    let truncation = Truncation::Fixed { terms: 8 };
    let (values, _) = lanczos::leading(h, n, 2).unwrap();
    let f_test = streams.normals("f", 7, 2);
    let parts: Vec<Vec<f64>> = vec![
        gradient(estimator::standard(h, b.view(), v.view(), Some(before.column(0)), Arithmetic::F64)),
        gradient(estimator::pathwise(h, v.view(), None, Arithmetic::F64)),
        vec![likelihood::log_det(h, b.view(), &truncation).unwrap(), metrics::rkhs_norm(h, v.column(0))],
        lanczos::log_det(h, b.view(), 6).into_iter().flatten().collect(),
        values,
        metrics::relative_residuals(h, v.view(), b.view()),
        metrics::energy_norms(h, v.view()),
        metrics::relative_residuals(&collapsed, gamma.view(), gamma.view()),
        collapsed.diagonal().unwrap().to_vec(),
        train::extrapolate(h, b.view(), v.view(), before.view()).into_iter().collect(),
        pathwise::predict(h, x_star.view(), v.view(), f_test.view()).samples.into_iter().collect(),
        h.between(z.view()).cross(x_star.view(), b.slice(ndarray::s![..5, ..])).into_iter().collect(),
    ];
    assert!(h.between(z.view()).diagonal().is_none());
    arr1(&parts.concat())
}

#[test]
fn stored_matrices_give_the_same_numbers() {
    let x = suite::points(&Streams::new(3, &["dense"]), "x", 30, 2);
    let rows: Vec<usize> = (0..45).map(|row| row * row % 30).collect();
    let x = x.select(Axis(0), &rows);
    let inputs = UniqueInputs::of(x.view());
    for family in Family::ALL {
        let kernel = Kernel::new(family, 1.3, &[0.8, 1.7], 2);
        let tiled = KernelOperator::new(&kernel, NOISE_SCALE, x.view(), 2);
        let unscaled = KernelOperator::new(&kernel, 0.0, inputs.x.view(), 2);
        let stored = Stored::system(&kernel, NOISE_SCALE, &x);
        suite::every_product_agrees(&stored, &stored.entries.0, 2);
        let expected = numbers(&stored, Box::new(Stored::system(&kernel, 0.0, &inputs.x)), &inputs);
        assert_close(&numbers(&tiled, Box::new(unscaled), &inputs), &expected, 1e-10);
    }
}
