//! Fits of growth on exact and on noisy data, and the coverage of their intervals by simulation.

use gpbench_statistics::{Estimate, Interval, Polynomial, PowerLaw};

use crate::random::Random;

/// Sizes that grow by the factor sqrt(2).
const SIZES: [f64; 6] = [1000.0, 1414.0, 2000.0, 2828.0, 4000.0, 5657.0];
/// A size that is far beyond them.
const FAR: f64 = 20_000.0;

fn points(f: impl FnMut(f64) -> f64) -> Vec<(f64, f64)> {
    SIZES.into_iter().zip(SIZES.into_iter().map(f)).collect()
}

/// Whether two numbers agree to 1e-9 of their size.
#[track_caller]
fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-9 * expected.abs(), "{found} is not {expected}");
}

/// Share of `samples` simulated fits whose interval contains the observation that follows.
fn coverage(samples: usize, mut draw: impl FnMut() -> (Estimate, f64)) -> f64 {
    let covered = (0..samples).filter(|_| {
        let (estimate, next) = draw();
        estimate.interval.is_some_and(|interval| interval.contains(next))
    });
    covered.count() as f64 / samples as f64
}

#[test]
fn an_exact_power_law_is_found() {
    for exponent in [-0.5, 0.0, 1.0, 2.37, 3.0] {
        let law = PowerLaw::fit(&points(|n| 3e-8 * n.powf(exponent))).unwrap();
        assert!((law.exponent() - exponent).abs() < 1e-9, "{}", law.exponent());
        let estimate = law.predict(FAR, 0.0);
        close(estimate.mean, 3e-8 * FAR.powf(exponent));
        let Interval { low, high } = estimate.interval.unwrap();
        close(low, estimate.mean);
        close(high, estimate.mean);
        // With noise that the data do not show.
        let believed = law.predict(FAR, 0.05).interval.unwrap();
        assert!(believed.low < 0.9 * estimate.mean && believed.high > 1.1 * estimate.mean);
    }
}

#[test]
fn too_few_points_have_no_fit_or_no_interval() {
    assert_eq!(PowerLaw::fit(&[]), None);
    assert_eq!(PowerLaw::fit(&[(100.0, 1.0)]), None);
    assert_eq!(PowerLaw::fit(&[(100.0, 1.0), (100.0, 2.0), (100.0, 1.5)]), None);
    let two =
        PowerLaw::fit(&[(100.0, 1.0), (200.0, 4.0), (400.0, f64::NAN), (0.0, 1.0), (8.0, 0.0)]).unwrap();
    close(two.exponent(), 2.0);
    assert_eq!((two.count(), two.predict(400.0, 0.05).interval), (2, None));
    close(two.predict(400.0, 0.05).mean, 16.0);
    assert_eq!(Polynomial::fit(&[]), None);
    assert_eq!(Polynomial::fit(&[(100.0, 1.0)]), None);
}

#[test]
fn exact_polynomials_are_found() {
    let (a, b, c) = (6e7, 4e3, 8.0);
    for f in [&(|_| a) as &dyn Fn(f64) -> f64, &|n| b * n, &|n| a + b * n, &|n| a + c * n * n, &|n| {
        a + b * n + c * n * n
    }] {
        let estimate = Polynomial::fit(&points(f)).unwrap().predict(FAR, 0.0);
        assert!((estimate.mean / f(FAR) - 1.0).abs() < 1e-6, "{} is not {}", estimate.mean, f(FAR));
        let Interval { low, high } = estimate.interval.unwrap();
        assert!(low <= 1.000_001 * f(FAR) && high >= 0.999_999 * f(FAR), "{low} to {high}");
    }
}

#[test]
fn no_part_of_a_polynomial_is_negative() {
    // A concave curve, of which a parabola would become negative.
    let estimate = Polynomial::fit(&points(|n| 1e6 * n.sqrt())).unwrap().predict(1e6, 0.0);
    assert!(estimate.mean > 1e8 && estimate.interval.unwrap().low >= 0.0, "{estimate:?}");
}

/// 0.02 is four standard errors.
#[test]
fn intervals_of_power_laws_cover() {
    let mut random = Random::new(1);
    for (exponent, noise) in [(2.3, 0.1), (1.0, 0.3)] {
        let share = coverage(2000, || {
            let mut observed = |n: f64| 3e-8 * n.powf(exponent) * (noise * random.normal()).exp();
            let law = PowerLaw::fit(&points(&mut observed)).unwrap();
            (law.predict(FAR, 0.0), observed(FAR))
        });
        assert!((0.93..=0.97).contains(&share), "{share}");
    }
}

/// The hull over several choices of powers covers more often than one of them.
#[test]
fn intervals_of_polynomials_cover() {
    let mut random = Random::new(1);
    for [a, b, c] in [[6e7, 0.0, 8.0], [6e7, 4e3, 0.0], [6e7, 2e4, 8.0]] {
        let share = coverage(1000, || {
            let mut observed = |n: f64| (a + b * n + c * n * n) * (1.0 + 0.02 * random.normal());
            let fit = Polynomial::fit(&points(&mut observed)).unwrap();
            (fit.predict(FAR, 0.0), observed(FAR))
        });
        assert!(share >= 0.92, "{share} of {a} + {b} n + {c} n^2");
    }
}
