//! Accuracy in units in the last place, with vectors of every width.

use gpbench_terms::InstructionSet;
use pulp::{Arch, Simd};

use super::arch::choose;
use super::*;

struct ExpMinus<'a, E>(&'a [E]);

impl<E: Real> Work<E> for ExpMinus<'_, E> {
    type Output = Vec<E>;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Vec<E>
    where
        E: Lanes<S>,
    {
        let mut padded = self.0.to_vec();
        padded.resize(self.0.len().next_multiple_of(E::LANES), E::from_f64(0.0));
        for vector in bytemuck::cast_slice_mut::<E, E::V>(&mut padded) {
            [*vector] = E::exp_minus(simd, [*vector]);
        }
        padded.truncate(self.0.len());
        padded
    }
}

/// Results with this machine's vectors, without vectors, and with every width of processors.
fn every_way<E: Real>(a: &[E]) -> Vec<Vec<E>> {
    let work = || ExpMinus(a);
    vec![
        E::dispatch(arch(), work()),
        E::dispatch(Arch::Scalar, work()),
        E::emulate(2, work()),
        E::emulate(4, work()),
        E::emulate(8, work()),
    ]
}

/// Arguments a, and `exp(-a)` to twice the digits of a double.
fn exact() -> Vec<(f64, f64, f64)> {
    let lines = include_str!("../../tests/data/exp.txt").lines().skip(1);
    let number = |text: Option<&str>| text.expect("three numbers a line").parse().expect("a number");
    lines
        .map(|line| {
            let mut numbers = line.split(' ');
            (number(numbers.next()), number(numbers.next()), number(numbers.next()))
        })
        .collect()
}

#[test]
fn exp_is_within_one_ulp_of_three_hundred_bits() {
    let exact = exact();
    let a: Vec<f64> = exact.iter().map(|it| it.0).collect();
    for found in every_way(&a) {
        for (&(a, high, low), found) in exact.iter().zip(found) {
            let ulp = high.next_up() - high;
            let error = ((found - high) - low).abs() / ulp;
            assert!(error <= 1.0, "exp(-{a}): {error} ulp");
        }
    }
}

#[test]
fn exp_in_single_precision_is_within_two_ulp() {
    let a: Vec<f32> = (0..200_000_u32).map(|i| f32::from_f64(f64::from(i) * 0.000_43)).collect();
    for found in every_way(&a) {
        for (a, found) in a.iter().zip(found) {
            let exact = (-a.to_f64()).exp();
            let ulp = f32::from_f64(exact).next_up().to_f64() - f32::from_f64(exact).to_f64();
            let error = (found.to_f64() - exact).abs() / ulp;
            assert!(error <= 2.0, "exp(-{a}): {error} ulp");
        }
    }
}

#[test]
fn exp_of_extreme_arguments() {
    for found in every_way(&[0.0, -0.0, 1e-300, 708.0, 1e6, f64::INFINITY]) {
        assert_eq!(found[..3], [1.0; 3]);
        assert!(found[3] > 0.0 && found[3] < 1e-307);
        assert_eq!(found[4..6], [found[3]; 2]);
    }
    for found in every_way(&[0.0_f32, 87.0, 1e6]) {
        assert_eq!(found[0], 1.0);
        assert!(found[1] > 0.0 && found[1] < 2e-38);
        assert_eq!(found[2], found[1]);
    }
    for arch in [arch(), Arch::Scalar] {
        assert!(f64::dispatch(arch, ExpMinus(&[f64::NAN]))[0].is_nan());
        assert!(f32::dispatch(arch, ExpMinus(&[f32::NAN]))[0].is_nan());
    }
}

/// IEEE 754 requires that square roots round correctly: half a unit in the last place.
#[test]
fn square_roots_round_correctly() {
    struct Sqrt<'a>(&'a [f64]);
    impl Work<f64> for Sqrt<'_> {
        type Output = Vec<f64>;

        #[inline(always)]
        fn run<S: Simd>(self, simd: S) -> Vec<f64>
        where
            f64: Lanes<S>,
        {
            let mut out = self.0.to_vec();
            for vector in bytemuck::cast_slice_mut::<f64, <f64 as Lanes<S>>::V>(&mut out) {
                [*vector] = <f64 as Lanes<S>>::sqrt(simd, [*vector]);
            }
            out
        }
    }
    let a: Vec<f64> = (0..1024).map(|i| f64::from(i) * 0.618_033_988_749_894_9).collect();
    for (a, root) in a.iter().zip(f64::dispatch(arch(), Sqrt(&a))) {
        // (root +- half a unit)^2 encloses a; the products below are exact enough to tell.
        let half = (root.next_up() - root) / 2.0;
        let error = root.mul_add(root, -a).abs();
        assert!(error <= 2.0 * root * half * (1.0 + 1e-15), "sqrt({a})");
    }
}

/// A program whose environment names an unknown instruction set says so, whatever it computes: here this test, in a process
/// of its own.
#[test]
fn an_unknown_instruction_set_is_refused() {
    const CHILD: &str = "GPBENCH_TEST_OF_UNKNOWN_INSTRUCTIONS";
    if std::env::var_os(CHILD).is_some() {
        arch();
        return;
    }
    let test = "simd::tests::an_unknown_instruction_set_is_refused";
    let ended = |name: &str| {
        let mut child = std::process::Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", test]).env(CHILD, "1").env(InstructionSet::VARIABLE, name).output().unwrap()
    };
    for known in ["", "portable"] {
        assert!(ended(known).status.success(), "{known:?}");
    }
    let unknown = ended("avx2x");
    let text = String::from_utf8_lossy(&unknown.stderr) + String::from_utf8_lossy(&unknown.stdout);
    assert!(!unknown.status.success(), "{text}");
    let refusal = "GPBENCH_SIMD=avx2x names no instruction set; there are avx512, avx2, portable";
    assert!(text.contains(refusal), "{text}");
}

#[test]
fn the_environment_selects_a_smaller_instruction_set() {
    assert!(matches!(choose(Some(InstructionSet::Portable), Arch::new()), Arch::Scalar));
    let same =
        |asked| std::mem::discriminant(&choose(asked, Arch::new())) == std::mem::discriminant(&Arch::new());
    assert!(same(None) && same(Some(InstructionSet::Avx512)));
}
