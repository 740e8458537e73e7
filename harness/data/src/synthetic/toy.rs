//! One-dimensional toy data sets: a known function plus noise.

use std::f64::consts::PI;

use gpbench_gp::seed;
use ndarray::{Array1, Array2};
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};
use thiserror::Error;

use crate::split::Unscaled;

/// A toy data set.
#[derive(Debug, Clone, Copy)]
pub struct Toy {
    /// Name in specs.
    pub name: &'static str,
    /// Default number of training rows.
    pub n: usize,
    /// Default number of test rows.
    pub n_test: usize,
    /// Description in one line.
    pub doc: &'static str,
    /// Draws so many training and test rows from a seed.
    draw: fn(usize, usize, u64) -> Unscaled,
}

/// All toys.
pub const TOYS: &[Toy] = &[
    Toy {
        name: "toy-infill",
        n: 10_000,
        n_test: 1_000,
        doc: "sin(2x) + cos(5x), x ~ N(0, 1): ill-conditioned (Lin et al. 2023, Figure 1)",
        draw: toy_infill,
    },
    Toy {
        name: "toy-grid",
        n: 10_000,
        n_test: 1_000,
        doc: "sin(2x) + cos(5x) on an even grid: well-conditioned (Lin et al. 2023, Figure 1)",
        draw: toy_grid,
    },
    Toy {
        name: "toy-sine",
        n: 1_000,
        n_test: 100,
        doc: "x sin(5 pi x), x uniform on [0, 1] (Potapczynski et al. 2021, section 3.1)",
        draw: toy_sine,
    },
];

/// The name of a toy that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("unknown toy `{name}`; there are toy-infill, toy-grid and toy-sine")]
pub struct UnknownToy {
    /// The name asked for.
    pub name: String,
}

/// Draws a toy by name.
///
/// # Errors
/// If there is no such toy.
pub fn toy(name: &str, n: usize, n_test: usize, seed: u64) -> Result<Unscaled, UnknownToy> {
    let toy = TOYS.iter().find(|toy| toy.name == name).ok_or_else(|| UnknownToy { name: name.to_owned() })?;
    Ok((toy.draw)(n, n_test, seed))
}

/// Variance of the noise in both sets of Lin et al. 2023, Figure 1.
const TWO_WAVES_NOISE: f64 = 0.5;

/// Infill asymptotics: x ~ N(0, 1), y = sin(2x) + cos(5x) + N(0, 0.5) (Lin et al. 2023, Figure 1).
///
/// With more rows, neighbours are closer and K + s^2 I is conditioned worse. The 0.5 is read as a variance.
fn toy_infill(n: usize, n_test: usize, seed: u64) -> Unscaled {
    draw("toy-infill", seed, [n, n_test], TWO_WAVES_NOISE, two_waves, |rng, _| StandardNormal.sample(rng))
}

/// Distance between neighbours of `toy-grid`.
///
/// The paper says "fixed spacing" and does not state it. At 0.1, its 10 000 rows span 1000 units with 12.6 rows in
/// each period of cos(5x): 1024 inducing points are then too few and 3000 are enough, as the paper reports.
pub const GRID_SPACING: f64 = 0.1;

/// Large-domain asymptotics: x on an even grid around 0 with spacing
/// [`GRID_SPACING`], y = sin(2x) + cos(5x) + N(0, 0.5) (Lin et al. 2023, Figure 1).
///
/// More rows widen the domain and do not change the conditioning. Test inputs are uniform on the span of the grid.
/// The 0.5 is read as a variance.
fn toy_grid(n: usize, n_test: usize, seed: u64) -> Unscaled {
    let first = -GRID_SPACING * (n as f64 - 1.0) / 2.0;
    draw("toy-grid", seed, [n, n_test], TWO_WAVES_NOISE, two_waves, |rng, row| match row {
        Row::Train(index) => first + GRID_SPACING * index as f64,
        Row::Test => first * (1.0 - 2.0 * rng.random::<f64>()),
    })
}

fn two_waves(x: f64) -> f64 {
    (2.0 * x).sin() + (5.0 * x).cos()
}

/// y = x sin(5 pi x) + N(0, 0.01) (Potapczynski et al. 2021, section 3.1).
///
/// The paper does not state the inputs; here they are uniform on [0, 1]. The 0.01 is read as a variance.
fn toy_sine(n: usize, n_test: usize, seed: u64) -> Unscaled {
    let wave = |x: f64| x * (5.0 * PI * x).sin();
    draw("toy-sine", seed, [n, n_test], 0.01, wave, |rng, _| rng.random::<f64>())
}

/// The row that an input is drawn for.
enum Row {
    Train(usize),
    Test,
}

type Stream = rand_chacha::ChaCha8Rng;

/// Training and test rows of a noisy function. Inputs and noise of training and of test rows have separate random
/// streams, so that a change of one size changes no other number.
fn draw(
    name: &str,
    seed: u64,
    [n, n_test]: [usize; 2],
    noise_variance: f64,
    function: impl Fn(f64) -> f64,
    mut input: impl FnMut(&mut Stream, Row) -> f64,
) -> Unscaled {
    let mut rows = |part: &str, n: usize, row: fn(usize) -> Row| -> (Array2<f64>, Array1<f64>) {
        let mut inputs = seed::stream(seed, &[name, part, "inputs"]);
        let mut noise = seed::stream(seed, &[name, part, "noise"]);
        let x: Array1<f64> = (0..n).map(|index| input(&mut inputs, row(index))).collect();
        let y = x.mapv(|x| {
            let noise: f64 = StandardNormal.sample(&mut noise);
            function(x) + noise_variance.sqrt() * noise
        });
        (x.insert_axis(ndarray::Axis(1)), y)
    };
    let (x_train, y_train) = rows("train", n, Row::Train);
    let (x_test, y_test) = rows("test", n_test, |_| Row::Test);
    Unscaled { x_train, y_train, x_test, y_test }
}
