//! The toys have the functions and the noise of the papers.

use std::f64::consts::PI;

use gpbench_data::Split;
use gpbench_data::synthetic::{GRID_SPACING, TOYS, toy};

/// Mean and variance of y - f(x) in the units of the paper, over the training rows.
fn noise(split: &Split, function: impl Fn(f64) -> f64) -> (f64, f64) {
    let x = split.x_train.column(0).mapv(|x| x * split.x_std[0] + split.x_mean[0]);
    let y = split.y_train.mapv(|y| y * split.y_std + split.y_mean);
    let residual = y - x.mapv(function);
    let mean = residual.mean().unwrap();
    (mean, residual.mapv(|r| (r - mean).powi(2)).mean().unwrap())
}

fn two_waves(x: f64) -> f64 {
    (2.0 * x).sin() + (5.0 * x).cos()
}

#[test]
fn functions_and_noise_variances() {
    // With 10 000 rows a variance is known to 1.4 % (one standard error).
    let close = |(mean, variance): (f64, f64), expected: f64| {
        assert!(mean.abs() < 4.0 * (expected / 1e4).sqrt(), "{mean}");
        assert!((variance / expected - 1.0).abs() < 0.06, "{variance} against {expected}");
    };
    close(noise(&toy("toy-infill", 10_000, 10, 0).unwrap().standardise(), two_waves), 0.5);
    close(noise(&toy("toy-grid", 10_000, 10, 0).unwrap().standardise(), two_waves), 0.5);
    close(noise(&toy("toy-sine", 10_000, 10, 0).unwrap().standardise(), |x| x * (5.0 * PI * x).sin()), 0.01);
}

#[test]
fn inputs_have_their_distributions() {
    let infill = toy("toy-infill", 10_000, 10, 1).unwrap().standardise();
    assert!(infill.x_mean[0].abs() < 0.04 && (infill.x_std[0] - 1.0).abs() < 0.03);

    let grid = toy("toy-grid", 1_001, 200, 1).unwrap().standardise();
    let raw = |x: f64| x * grid.x_std[0] + grid.x_mean[0];
    for (index, &x) in grid.x_train.iter().enumerate() {
        assert!((raw(x) - GRID_SPACING * (index as f64 - 500.0)).abs() < 1e-9);
    }
    assert!(grid.x_test.iter().all(|&x| raw(x).abs() <= 500.0 * GRID_SPACING));

    let sine = toy("toy-sine", 1_000, 100, 1).unwrap().standardise();
    let raw = |x: f64| x * sine.x_std[0] + sine.x_mean[0];
    assert!(sine.x_train.iter().all(|&x| (-1e-12..=1.0 + 1e-12).contains(&raw(x))));
}

#[test]
fn a_seed_fixes_everything_and_sizes_are_independent() {
    for known in TOYS {
        let one = toy(known.name, 50, 20, 9).unwrap().standardise();
        assert_eq!(one, toy(known.name, 50, 20, 9).unwrap().standardise());
        assert_ne!(one.y_train, toy(known.name, 50, 20, 10).unwrap().standardise().y_train);
        assert_eq!(one.x_train, toy(known.name, 50, 5, 9).unwrap().standardise().x_train);
        assert_eq!((one.x_train.dim(), one.x_test.dim()), ((50, 1), (20, 1)));
    }
    assert_eq!(
        toy("toy-cosine", 5, 5, 0).unwrap_err().to_string(),
        "unknown toy `toy-cosine`; there are toy-infill, toy-grid and toy-sine"
    );
}
