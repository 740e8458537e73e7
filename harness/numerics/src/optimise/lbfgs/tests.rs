use super::*;

type Function = fn(&[f64]) -> (f64, Vec<f64>);

fn rosenbrock(x: &[f64]) -> (f64, Vec<f64>) {
    let (a, b) = (1.0 - x[0], x[1] - x[0] * x[0]);
    (a * a + 100.0 * b * b, vec![-2.0 * a - 400.0 * x[0] * b, 200.0 * b])
}

/// Curvatures from 1 to 1000; the minimum is -3 at (1, 2, ..., n).
fn quadratic(x: &[f64]) -> (f64, Vec<f64>) {
    let curvature = |i: usize| 1000_f64.powf(i as f64 / (x.len() - 1) as f64);
    let offset = |i: usize| x[i] - (i + 1) as f64;
    let gradient: Vec<f64> = (0..x.len()).map(|i| curvature(i) * offset(i)).collect();
    (-3.0 + (0..x.len()).map(|i| gradient[i] * offset(i) / 2.0).sum::<f64>(), gradient)
}

/// x - log x - 1, which is not a number below 0; the minimum is at 1.
fn barrier(x: &[f64]) -> (f64, Vec<f64>) {
    (x[0] - x[0].ln() - 1.0, vec![1.0 - 1.0 / x[0]])
}

/// The optimiser at its end, and the number of evaluations.
fn minimise(function: Function, start: &[f64], options: LbfgsOptions) -> (Lbfgs, Finish, usize) {
    let mut lbfgs = Lbfgs::new(start, options);
    for evaluations in 1..1000 {
        let (value, gradient) = function(lbfgs.point());
        if let Progress::Finished(finish) = lbfgs.tell(value, &gradient) {
            return (lbfgs, finish, evaluations);
        }
    }
    panic!("the optimiser does not end");
}

/// An optimiser after so many evaluations.
fn evaluated(function: Function, start: &[f64], count: usize) -> Lbfgs {
    let mut lbfgs = Lbfgs::new(start, LbfgsOptions::default());
    for _ in 0..count {
        let (value, gradient) = function(lbfgs.point());
        lbfgs.tell(value, &gradient);
    }
    lbfgs
}

#[test]
fn minima_are_found() {
    let exact = LbfgsOptions { relative_gain: 0.0, ..LbfgsOptions::default() };
    let start = vec![0.0; 12];
    let minimum: Vec<f64> = (1..=12).map(f64::from).collect();
    let cases: [(Function, &[f64], &[f64], f64); 3] = [
        (rosenbrock, &[-1.2, 1.0], &[1.0, 1.0], 0.0),
        (quadratic, &start, &minimum, -3.0),
        (barrier, &[20.0], &[1.0], 0.0),
    ];
    for (function, start, minimum, value) in cases {
        let (lbfgs, finish, evaluations) = minimise(function, start, exact);
        for (found, expected) in lbfgs.best().iter().zip(minimum) {
            assert!((found - expected).abs() < 1e-6, "{finish:?}: {found} in place of {expected}");
        }
        assert!((lbfgs.best_value() - value).abs() < 1e-11, "{}", lbfgs.best_value());
        assert_eq!(lbfgs.point(), lbfgs.best());
        assert!(evaluations < 300, "{evaluations}");
    }
}

#[test]
fn a_small_gain_ends_it() {
    let (lbfgs, finish, evaluations) = minimise(quadratic, &[0.0; 12], LbfgsOptions::default());
    assert_eq!(finish, Finish::Converged);
    assert!(lbfgs.best_value() < -3.0 + 1e-2, "{}", lbfgs.best_value());
    let exact = LbfgsOptions { relative_gain: 0.0, ..LbfgsOptions::default() };
    assert!(evaluations < minimise(quadratic, &[0.0; 12], exact).2);
}

#[test]
fn a_zero_gradient_ends_it() {
    let mut lbfgs = Lbfgs::new(&[1.0, 1.0], LbfgsOptions::default());
    let (value, gradient) = rosenbrock(lbfgs.point());
    assert!(!lbfgs.is_line_search());
    assert_eq!(lbfgs.tell(value, &gradient), Progress::Finished(Finish::Gradient));
    assert_eq!((lbfgs.point(), lbfgs.best_value()), (&[1.0, 1.0][..], 0.0));
    // Nothing changes after the end.
    assert_eq!(lbfgs.tell(-5.0, &[1.0, 1.0]), Progress::Finished(Finish::Gradient));
    assert_eq!(lbfgs.best_value(), 0.0);
}

#[test]
fn what_is_not_finite_counts_as_too_high() {
    for (value, derivative) in [(f64::NAN, 0.0), (f64::NEG_INFINITY, 0.0), (0.0, f64::INFINITY)] {
        let mut lbfgs = Lbfgs::new(&[3.0], LbfgsOptions::default());
        assert_eq!(lbfgs.tell(1.0, &[4.0]), Progress::Accepted);
        assert_eq!(lbfgs.point(), [2.0]);
        assert!(lbfgs.is_line_search());
        assert_eq!(lbfgs.tell(value, &[derivative]), Progress::Trial);
        assert_eq!((lbfgs.point(), lbfgs.best(), lbfgs.best_value()), (&[2.5][..], &[3.0][..], 1.0));
    }
    let mut lbfgs = Lbfgs::new(&[3.0], LbfgsOptions::default());
    assert_eq!(lbfgs.tell(f64::NAN, &[0.0]), Progress::Finished(Finish::NoDescent));
    assert_eq!((lbfgs.best(), lbfgs.best_value()), (&[3.0][..], f64::INFINITY));
}

#[test]
fn a_short_step_is_doubled_and_a_long_one_is_halved() {
    let mut lbfgs = Lbfgs::new(&[0.0], LbfgsOptions::default());
    lbfgs.tell(10.0, &[-8.0]);
    assert_eq!(lbfgs.point(), [1.0]);
    // Low enough, but the slope is still that of the start.
    assert_eq!(lbfgs.tell(0.0, &[-8.0]), Progress::Trial);
    assert_eq!(lbfgs.point(), [2.0]);
    assert_eq!(lbfgs.tell(11.0, &[9.0]), Progress::Trial);
    assert_eq!(lbfgs.point(), [1.5]);
    assert_eq!((lbfgs.best(), lbfgs.best_value()), (&[1.0][..], 0.0));
    assert_eq!(lbfgs.tell(2.0, &[3.0]), Progress::Accepted);
    // The pair of this step is (1.5, 11), so the next step is Newton's in one dimension.
    assert!((lbfgs.point()[0] - (1.5 - 3.0 * 1.5 / 11.0)).abs() < 1e-14);
}

#[test]
fn a_failed_line_search_drops_the_pairs_once() {
    let mut lbfgs = evaluated(rosenbrock, &[-1.2, 1.0], 10);
    assert!(!lbfgs.pairs.is_empty());
    let trials = |lbfgs: &mut Lbfgs| (1..).find(|_| lbfgs.tell(1e9, &[0.0, 0.0]) != Progress::Trial);
    let mut end_of_search = lbfgs.clone();
    while !end_of_search.pairs.is_empty() {
        assert_eq!(end_of_search.tell(1e9, &[0.0, 0.0]), Progress::Trial);
    }
    let moved: Vec<f64> =
        end_of_search.point().iter().zip(&end_of_search.accepted).map(|(x, a)| x - a).collect();
    let along = dot(&moved, &end_of_search.gradient) / dot(&moved, &moved).sqrt();
    let length = dot(&end_of_search.gradient, &end_of_search.gradient).sqrt();
    assert!((along + length).abs() < 1e-9 * length, "the new search follows the negative gradient");

    assert_eq!(trials(&mut end_of_search), Some(LbfgsOptions::default().trials));
    assert_eq!(end_of_search.finish(), Some(Finish::NoDescent));
    let left = trials(&mut lbfgs).unwrap();
    assert!(left > 20 && left <= 40, "{left}");
    assert_eq!(lbfgs, end_of_search);
}

#[test]
fn a_loaded_state_goes_on_with_the_same_bits() {
    let options = LbfgsOptions::default();
    for (function, start) in [(rosenbrock as Function, [-1.2, 1.0]), (quadratic as Function, [50.0, -7.0])] {
        let (mut whole, mut resumed) = (Lbfgs::new(&start, options), Lbfgs::new(&start, options));
        loop {
            assert_eq!(resumed, whole);
            let (value, gradient) = function(whole.point());
            let progress = whole.tell(value, &gradient);
            assert_eq!(resumed.tell(value, &gradient), progress);
            let state = resumed.save();
            assert!(state.iter().all(|number| number.is_finite()));
            resumed = Lbfgs::load(&state, 2, options).unwrap();
            if let Progress::Finished(_) = progress {
                break;
            }
        }
        assert_eq!(resumed, whole);
    }
    let mut without_value = Lbfgs::new(&[1.0], options);
    without_value.tell(f64::NAN, &[0.0]);
    for lbfgs in [without_value, Lbfgs::new(&[1.0], options), Lbfgs::new(&[], options)] {
        let dimensions = lbfgs.point().len();
        assert_eq!(Lbfgs::load(&lbfgs.save(), dimensions, options), Some(lbfgs));
    }
}

#[test]
fn other_numbers_are_no_state() {
    let options = LbfgsOptions::default();
    let state = evaluated(rosenbrock, &[-1.2, 1.0], 10).save();
    assert!(Lbfgs::load(&state, 2, options).is_some());
    assert_eq!(Lbfgs::load(&state, 3, options), None);
    assert_eq!(Lbfgs::load(&state[1..], 2, options), None);
    assert_eq!(Lbfgs::load(&[], 2, options), None);
    assert_eq!(Lbfgs::load(&state, 2, LbfgsOptions { pairs: 0, ..options }), None);
    for (position, number) in [(0, 5.0), (0, 0.5), (1, -1.0), (4, f64::NAN), (12, f64::INFINITY)] {
        let mut state = state.clone();
        state[position] = number;
        assert_eq!(Lbfgs::load(&state, 2, options), None, "{position}");
    }
}
