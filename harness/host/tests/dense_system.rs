//! A solver on a stored matrix: what it is given, what is counted, and how its end is told.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::ptr::{null, null_mut};

use gpbench_abi::{
    Facts, Features, Host, Inputs, Mat, Problem, Report, Solver, Status, Str, Targets, Value, id, reason,
};
use gpbench_host::{
    DenseFeatures, DenseInputs, DenseSystem, Session, SolveLimits, SolveOutcome, SolverEntry, SolverObject,
};
use gpbench_terms::{Family, Reason, StopReason};
use ndarray::{Array2, ShapeBuilder, array, s};

use crate::support::{LIMITS, host, system};

unsafe extern "C" fn create(_: *const Host, _: *const Value, _: i64, out: *mut *mut c_void) -> Status {
    // SAFETY: the host passes a place to write to.
    unsafe { out.write(null_mut()) };
    Status::DONE
}

unsafe extern "C" fn destroy(_: *mut c_void) {}

/// Looks at everything, puts A B into the iterate, and asks for products until one is refused.
unsafe extern "C" fn look(_: *mut c_void, problem: *const Problem, report: *mut Report) -> Status {
    // SAFETY: the host's tables are sound, and what they point to lives until this call returns.
    unsafe {
        let problem = &*problem;
        let op = &*problem.op;
        assert_eq!((problem.n_targets, op.n, op.m), (1, 6, 6));
        let find = |id| (op.extension.unwrap())(problem.op, &Str::new(id));
        let inputs = &*find(id::INPUTS).cast::<Inputs>();
        assert_eq!(
            (inputs.family, inputs.x.rows, inputs.x.cols, inputs.x.ld),
            (Family::Rbf.number(), 6, 2, 6)
        );
        assert!(inputs.basis.data.is_null() && inputs.scales.is_null());
        assert_eq!((*inputs.x.data.add(6), *inputs.length_scale.add(1)), (0.5, 3.0), "by columns");
        let targets = &*(problem.extension.unwrap())(problem, &Str::new(id::TARGETS)).cast::<Targets>();
        let sum = *targets.f.data.add(7) + *targets.noise.data.add(7);
        assert_eq!(sum, *(*problem.rhs).data.add(6 + 7));

        let features = &*find(id::FEATURES).cast::<Features>();
        let (mut w, mut y) = ([1.0; 4], [0.0; 6]);
        let w = Mat { data: w.as_mut_ptr(), rows: 4, cols: 1, ld: 4 };
        let mut y = Mat { data: y.as_mut_ptr(), rows: 6, cols: 1, ld: 6 };
        assert_eq!((features.apply.unwrap())(op, 5, 4, &w, &mut y), Status::DONE);
        assert_eq!((features.apply.unwrap())(op, 5, 3, &w, &mut y), Status::INVALID_ARGUMENT);

        let apply = op.apply.unwrap();
        (*report).iterations = 0;
        while apply(op, problem.rhs, problem.x) == Status::DONE {
            (*report).iterations += 1;
        }
        (*report).reason = reason::STOPPED;
    }
    Status::DONE
}

/// Multiplies B, the iterate that results, and B again.
unsafe extern "C" fn certify(_: *mut c_void, problem: *const Problem, report: *mut Report) -> Status {
    // SAFETY: as in `look`.
    unsafe {
        let problem = &*problem;
        let apply = (*problem.op).apply.unwrap();
        let mut numbers = vec![0.0; 6 * 4];
        let mut out = Mat { data: numbers.as_mut_ptr(), rows: 6, cols: 4, ld: 6 };
        assert_eq!(apply(problem.op, problem.rhs, problem.x), Status::DONE);
        assert_eq!(apply(problem.op, problem.x, &mut out), Status::DONE);
        assert_eq!(apply(problem.op, problem.rhs, &mut out), Status::DONE);
        (*report).reason = reason::CONVERGED;
    }
    Status::DONE
}

type Solve = unsafe extern "C" fn(*mut c_void, *const Problem, *mut Report) -> Status;

fn entry(solve: Solve) -> SolverEntry {
    let table = Solver {
        size: size_of::<Solver>() as u32,
        reserved: 0,
        capabilities: 0,
        id: Str::new("look"),
        doc: Str::new("Looks at everything."),
        params: null(),
        n_params: 0,
        create: Some(create),
        prepare: None,
        solve: Some(solve),
        estimate: None,
        destroy: Some(destroy),
        source: Str::new(""),
        warm_up: None,
        facts: Facts::none(),
    };
    // SAFETY: a table of static texts and sound functions.
    unsafe { SolverEntry::of(table) }.unwrap()
}

fn run(solve: Solve, system: &DenseSystem, x: &mut Array2<f64>) -> SolveOutcome {
    let (entry, host) = (entry(solve), host());
    let limits = SolveLimits { max_epochs: Some(3.0), ..LIMITS };
    let mut no_observer = ();
    let session = Session::new(system, limits, host, &mut no_observer);
    SolverObject::create(&entry, host, &BTreeMap::new()).unwrap().run(&session, x).unwrap()
}

#[test]
fn a_solver_is_given_the_parts_of_a_stored_system() {
    let (mut system, solution) = system(6);
    let noise = system.rhs.slice(s![.., 1..]).mapv(|b| 0.25 * b);
    let f = &system.rhs.slice(s![.., 1..]) - &noise;
    let by_columns = |part: Array2<f64>| {
        let mut columns = Array2::zeros(part.dim().f());
        columns.assign(&part);
        columns
    };
    system.parts = Some([f, noise].map(by_columns));
    system.inputs = Some(DenseInputs {
        family: Family::Rbf,
        x: Array2::from_elem((6, 2), 0.5),
        basis: None,
        signal_scale: 1.0,
        noise_scale: 0.5,
        length_scale: vec![2.0, 3.0],
    });
    system.features = Some(DenseFeatures::Drawn(Array2::eye(6)));
    let mut x = Array2::zeros(solution.dim().f());
    let outcome = run(look, &system, &mut x);
    assert_eq!((outcome.reason, outcome.stop_reason), (Reason::Stopped, StopReason::Epochs));
    assert_eq!((outcome.cost.iterations, outcome.cost.entries.used), (3, 108.0));
    assert_eq!(x, system.a.0.dot(&system.rhs));
}

#[test]
fn the_last_product_with_the_iterate_is_kept() {
    let (system, solution) = system(6);
    let mut x = Array2::zeros(solution.dim().f());
    let outcome = run(certify, &system, &mut x);
    let product = outcome.product.expect("the iterate was multiplied");
    assert_eq!(product.with(x.view()).unwrap(), system.a.0.dot(&x));
    assert_eq!(product.with(system.rhs.view()), None);
}

#[test]
fn features_of_a_seed_have_the_expectation_of_their_root() {
    use gpbench_host::FeatureProducts as _;
    let root = array![[1.0, 0.0], [0.5, 2.0]];
    let features = DenseFeatures::Drawn(root.clone());
    let (mut sums, mut phi) = (Array2::zeros((2, 2)), Array2::zeros((2, 100)));
    for seed in 0..200 {
        features.apply(seed, Array2::eye(100).view(), phi.view_mut()).unwrap();
        sums += &phi.dot(&phi.t());
    }
    let error = (sums / 200.0 - root.dot(&root.t())).mapv(f64::abs).sum();
    assert!(error < 0.1, "{error}");
    let (mut back, y) = (Array2::zeros((100, 1)), array![[1.0], [-1.0]]);
    features.apply_transposed(199, y.view(), back.view_mut()).unwrap();
    assert!((back - phi.t().dot(&y)).iter().all(|difference| difference.abs() < 1e-15));
    let fixed = DenseFeatures::Fixed(array![[1.0, 2.0]]);
    let error = fixed.apply(0, Array2::zeros((4, 1)).view(), Array2::zeros((1, 1)).view_mut()).unwrap_err();
    assert_eq!(error, "4 features were asked for, of 2 fixed ones");
}
