//! Each extension of the host as a solver sees it: results, counted entries, and errors where the host lacks it.

use gpbench_sdk::abi::Status;
use gpbench_sdk::ndarray::{Array2, Axis, ShapeBuilder, array};
use gpbench_sdk::{Error, Family, NoParams, Problem, Reason, Report, Result, Select, Solver};
use gpbench_testing::{DenseProblem, Outcome};

/// A matrix of five rows and three columns.
fn matrix() -> Array2<f64> {
    Array2::from_shape_fn((5, 3), |(i, j)| (i as f64 + 1.0) / (j as f64 + 2.0) + (i * j) as f64)
}

fn rhs() -> Array2<f64> {
    Array2::from_shape_fn((5, 2), |(i, j)| i as f64 - j as f64)
}

fn solve<S: Solver>(problem: &DenseProblem) -> Outcome {
    problem.solve::<S>(&[]).unwrap()
}

fn zeros(rows: usize, columns: usize) -> Array2<f64> {
    Array2::zeros((rows, columns).f())
}

fn invalid(result: Result<()>) -> String {
    match result.unwrap_err() {
        Error::InvalidArgument(text) => text,
        other => panic!("{other:?}"),
    }
}

/// Uses every product.
struct Products;

impl Solver for Products {
    type Params = NoParams;
    const ID: &'static str = "products";
    const DOC: &'static str = "Uses every product";
    type Prepared = ();

    fn new(_: NoParams) -> Result<Self> {
        Ok(Products)
    }

    fn prepare(&self, _: &Problem<'_>) -> Result<()> {
        Ok(())
    }

    fn solve(&self, (): &mut (), problem: &mut Problem<'_>) -> Result<Report> {
        let (op, a) = (problem.operator(), matrix());
        assert_eq!((op.n(), op.m()), (5, 3));
        let x = array![[1.0, 0.5], [-2.0, 3.0], [0.25, 4.0]];

        let mut y = zeros(5, 2);
        op.apply(&x, &mut y)?;
        assert_eq!(y, a.dot(&x));
        assert_eq!(invalid(op.apply(&zeros(5, 2), &mut y)), "apply: x is 5 x 2, expected 3 x 2");

        let mut y = zeros(2, 2);
        op.apply_rows(1..3, &x, &mut y)?;
        assert_eq!(y, a.select(Axis(0), &[1, 2]).dot(&x));
        op.apply_rows(&[4, 0], &x, &mut y)?;
        assert_eq!(y, a.select(Axis(0), &[4, 0]).dot(&x));
        assert_eq!(invalid(op.apply_rows(&[4, 5], &x, &mut y)), "row 5 of 5");

        let (mut u, mut z) = (zeros(2, 2), Array2::ones((3, 2).f()));
        op.apply_rows_and_back(&[3, 1], &x, &mut u, &mut z, |mut u| u -= 1.0)?;
        let some = a.select(Axis(0), &[3, 1]);
        assert_eq!(u, some.dot(&x) - 1.0);
        assert_eq!(z, some.t().dot(&u) + 1.0);

        let mut y = Array2::ones((5, 2).f());
        op.update_columns(&[2], &array![[2.0, 3.0]], &mut y)?;
        assert_eq!(y, a.select(Axis(1), &[2]).dot(&array![[2.0, 3.0]]) + 1.0);
        assert_eq!(invalid(op.update_columns(&[3], &zeros(1, 2), &mut y)), "column 3 of 3");

        let mut block = zeros(2, 3);
        op.block(&[4, 0], Select::All, &mut block)?;
        assert_eq!(block, a.select(Axis(0), &[4, 0]));
        assert_eq!(invalid(op.block(0..2, 0..2, &mut block)), "block: out is 2 x 3, expected 2 x 2");
        op.charge(7)?;
        Ok(Report::new(Reason::Converged, 1))
    }
}

#[test]
fn products_are_those_of_the_matrix_and_are_counted_once() {
    let outcome = solve::<Products>(&DenseProblem::new(matrix(), rhs()));
    // All of A; two rows, twice; two rows for both products; a column; two rows of a block; a charge.
    assert_eq!(outcome.entries, (15 + 2 * 6 + 6 + 5 + 6 + 7) as f64);
}

/// Asks what the matrix and the right-hand sides are made of.
struct Parts;

impl Solver for Parts {
    type Params = NoParams;
    const ID: &'static str = "parts";
    const DOC: &'static str = "Asks what the problem is made of";
    type Prepared = ();

    fn new(_: NoParams) -> Result<Self> {
        Ok(Parts)
    }

    fn prepare(&self, _: &Problem<'_>) -> Result<()> {
        Ok(())
    }

    fn solve(&self, (): &mut (), problem: &mut Problem<'_>) -> Result<Report> {
        let op = problem.operator();
        let inputs = op.inputs()?;
        assert_eq!((inputs.family, inputs.x.dim()), (Family::Matern52.into(), (5, 2)));
        assert_eq!(inputs.basis.unwrap(), array![[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]);
        assert_eq!(
            (inputs.signal_scale, inputs.noise_scale, inputs.length_scale),
            (1.5, 0.5, &[1.0, 2.0][..])
        );
        let no_diagonal = Error::Host { call: "diag", status: Status::UNSUPPORTED.0 };
        assert_eq!(op.diagonal(), Err(no_diagonal));

        // Features are at the columns' points: three of them.
        let w = array![[1.0], [2.0]];
        let mut y = zeros(3, 1);
        op.features(9, &w, &mut y)?;
        assert_eq!(y, features().dot(&w));
        let mut back = zeros(2, 1);
        op.features_transposed(9, &y, &mut back)?;
        assert_eq!(back, features().t().dot(&y));
        assert_eq!(invalid(op.features(9, &w, &mut zeros(5, 1))), "features: y is 5 x 1, expected 3 x 1");
        let refused = op.features_transposed(9, &zeros(5, 1), &mut back);
        assert_eq!(invalid(refused), "features_transposed: y is 5 x 1, expected 3 x 1");

        let targets = problem.targets()?.unwrap();
        assert_eq!((targets.f, targets.noise), (parts(1.0).view(), parts(0.5).view()));
        Ok(Report::new(Reason::Converged, 1))
    }
}

/// One part of the only probe.
fn parts(value: f64) -> Array2<f64> {
    Array2::from_elem((5, 1), value)
}

fn features() -> Array2<f64> {
    array![[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
}

#[test]
fn a_problem_with_inducing_points_tells_what_it_is_made_of() {
    let x = Array2::from_shape_fn((5, 2), |(i, j)| (i + j) as f64);
    let problem = DenseProblem::new(matrix(), rhs())
        .kernel(Family::Matern52, x, 1.5, 0.5, vec![1.0, 2.0])
        .basis(&array![[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]])
        .fixed_features(features())
        .pathwise(&parts(1.0), &parts(0.5));
    assert_eq!(solve::<Parts>(&problem).entries, 0.0);
}

/// Asks for what is not there.
struct Lacking;

impl Solver for Lacking {
    type Params = NoParams;
    const ID: &'static str = "lacking";
    const DOC: &'static str = "Asks for what is not there";
    type Prepared = ();

    fn new(_: NoParams) -> Result<Self> {
        Ok(Lacking)
    }

    fn prepare(&self, _: &Problem<'_>) -> Result<()> {
        Ok(())
    }

    fn solve(&self, (): &mut (), problem: &mut Problem<'_>) -> Result<Report> {
        let op = problem.operator();
        let lacks = |id: &str| Error::Unsupported(format!("the host does not offer `{id}` here"));
        assert_eq!(op.inputs().unwrap_err(), lacks("gpbench.inputs/1"));
        let features = op.features(1, &zeros(2, 1), &mut zeros(3, 1));
        assert_eq!(features.unwrap_err(), lacks("gpbench.features/1"));
        assert!(problem.targets()?.is_none());
        assert_eq!(problem.load_state("key")?, None, "nothing has been kept yet");
        assert_eq!(problem.load_columns("key")?, None);
        problem.save_state("key", b"bytes")?;
        assert_eq!(problem.load_state("key")?.as_deref(), Some(&b"bytes"[..]));
        assert_eq!(problem.load_columns("key")?, None, "no columns of this problem");
        Ok(Report::new(Reason::Converged, 1))
    }
}

#[test]
fn what_the_host_lacks_is_named_or_missed_quietly() {
    solve::<Lacking>(&DenseProblem::new(matrix(), rhs()));
}

/// Observes, notes and works in parallel.
struct Talks;

impl Solver for Talks {
    type Params = NoParams;
    const ID: &'static str = "talks";
    const DOC: &'static str = "Observes, notes and works in parallel";
    type Prepared = ();

    fn new(_: NoParams) -> Result<Self> {
        Ok(Talks)
    }

    fn prepare(&self, _: &Problem<'_>) -> Result<()> {
        Ok(())
    }

    fn solve(&self, (): &mut (), problem: &mut Problem<'_>) -> Result<Report> {
        let mut squares = [0, 1, 2, 3, 4];
        problem.workers().for_each(squares.iter_mut(), |item| *item *= *item);
        assert_eq!(squares, [0, 1, 4, 9, 16]);
        assert_eq!(invalid(problem.observe(0, &[0.5])), "observe: 1 norms for 2 columns");
        for iteration in 1..=3 {
            problem.note(iteration, "step", 0.5_f64.powi(iteration as i32))?;
            problem.observe_with(iteration, &[0.5, 0.25], |x| x.fill(iteration as f64))?;
        }
        unreachable!("the second was to be the last")
    }
}

#[test]
fn what_is_observed_and_noted_arrives_and_stopping_ends_it() {
    let outcome = solve::<Talks>(&DenseProblem::new(matrix(), rhs()).iterates().stop_at(2));
    assert_eq!(outcome.trace, [(1, vec![0.5, 0.25]), (2, vec![0.5, 0.25])]);
    assert_eq!(outcome.notes, [(1, "step".to_owned(), 0.5), (2, "step".to_owned(), 0.25)]);
    assert!(outcome.iterates[0].iter().all(|&entry| entry == 1.0));
    assert_eq!(outcome.x, Array2::from_elem((3, 2), 2.0));
    assert_eq!(outcome.reason, Reason::Stopped);
}
