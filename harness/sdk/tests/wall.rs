//! What crosses the interface when a solver or a host misbehaves: a status and a text, never a panic.

use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::Mutex;

use gpbench_sdk::abi::{self, Status};
use gpbench_sdk::ndarray::{Array2, array};
use gpbench_sdk::{
    Error, ParamValue, Params as _, Problem, Reason, Report, Result, Shape, Solver, choices, export, params,
};
use gpbench_testing::{DenseProblem, SolverEntry};

choices! {
    /// Where to panic or fail.
    enum Where {
        /// Nowhere.
        Nowhere = "nowhere",
        /// Making the solver.
        New = "new",
        /// Getting ready.
        WarmUp = "warm-up",
        /// Setting up.
        Prepare = "prepare",
        /// Solving.
        Solve = "solve",
        /// Solving, on another thread.
        Worker = "worker",
        /// In the middle of the operator's product.
        Transform = "transform",
        /// Destroying the solver.
        Drop = "drop",
        /// Solving: an error, not a panic.
        Error = "error",
        /// Solving: wrong shapes.
        Shape = "shape",
    }
}

params! {
    /// Parameters.
    struct MinefieldParams {
        /// Where to panic.
        at: Where = Where::Nowhere;
        /// A number that is not used.
        size: f64 = 1.0, in 0.5..=2.0;
        /// A flag that is not used.
        flag: bool = true;
        /// A text that is not used.
        label: String = "of\nlines".to_owned();
    }
}

struct Minefield(Where);

impl Minefield {
    fn tread(&self, place: Where) {
        assert!(self.0 != place, "mine at {place:?}");
    }
}

impl Drop for Minefield {
    fn drop(&mut self) {
        self.tread(Where::Drop);
    }
}

impl Solver for Minefield {
    type Params = MinefieldParams;
    const ID: &'static str = "minefield";
    const DOC: &'static str = "Panics as told";
    type Prepared = ();

    fn new(params: MinefieldParams) -> Result<Self> {
        assert!(params.at != Where::New, "mine at New");
        Ok(Minefield(params.at))
    }

    fn warm_up(&mut self, shape: &Shape) -> Result<()> {
        self.tread(Where::WarmUp);
        if shape.n == 13 { Err(Error::new("not thirteen")) } else { Ok(()) }
    }

    fn prepare(&self, _: &Problem<'_>) -> Result<()> {
        self.tread(Where::Prepare);
        Ok(())
    }

    fn solve(&self, (): &mut (), problem: &mut Problem<'_>) -> Result<Report> {
        self.tread(Where::Solve);
        problem.note(7, "depth", 0.5)?;
        problem.workers().for_each(0..4, |_| self.tread(Where::Worker));
        let operator = problem.operator();
        let x = Array2::ones((operator.m(), 1));
        let (mut u, mut z) = (Array2::zeros((1, 1)), Array2::zeros((operator.m(), 1)));
        operator.apply_rows_and_back(&[0], &x, &mut u, &mut z, |_| self.tread(Where::Transform))?;
        match self.0 {
            Where::Error => Err(Error::new("no way through")),
            Where::Shape => {
                operator.apply(&x, &mut Array2::zeros((7, 1))).map(|()| unreachable!("seven rows"))
            }
            _ => Ok(Report::new(Reason::Converged, 1).residuals([0.25]).number("mines", 3.0)),
        }
    }
}

fn problem() -> DenseProblem {
    DenseProblem::new(array![[2.0, 1.0], [1.0, 3.0]], array![[1.0], [1.0]])
}

#[test]
fn a_panic_anywhere_becomes_an_error_with_its_text_and_place() {
    for (at, text) in [
        ("new", "create panicked: mine at New"),
        ("prepare", "prepare panicked: mine at Prepare"),
        ("solve", "solve panicked: mine at Solve"),
        ("worker", "solve panicked: mine at Worker"),
        ("transform", "solve panicked: mine at Transform"),
    ] {
        let failure = problem().solve::<Minefield>(&[("at", at.into())]).unwrap_err();
        assert_eq!(failure.status(), Some(Status::PANIC));
        let said = failure.to_string();
        let place = said.strip_prefix(text).expect("the text of the panic");
        assert!(place.starts_with(" (") && place.contains("wall.rs:") && place.ends_with(')'), "{place}");
    }
    // Destroying a solver returns no status; the only requirement is that the process does not abort.
    let outcome = problem().solve::<Minefield>(&[("at", "drop".into())]).unwrap();
    assert_eq!((outcome.claimed, outcome.numbers), (vec![0.25], vec![("mines".to_owned(), 3.0)]));
    assert_eq!(outcome.notes, [(7, "depth".to_owned(), 0.5)]);
}

#[test]
fn an_error_carries_its_text_and_a_wrong_shape_never_reaches_the_host() {
    let failed = |at: &'static str| problem().solve::<Minefield>(&[("at", at.into())]).unwrap_err();
    assert_eq!(failed("error").to_string(), "solve failed: no way through");
    assert_eq!(failed("shape").status(), Some(Status::INVALID_ARGUMENT));
    assert_eq!(failed("shape").to_string(), "solve failed: apply: y is 7 x 1, expected 2 x 1");
}

#[test]
fn a_solve_without_a_prepared_problem_is_refused() {
    let table = abi::Solver { prepare: None, ..export::solver::<Minefield>() };
    // SAFETY: a table of the SDK, less one function.
    let entry = unsafe { SolverEntry::of(table) }.unwrap();
    let failure = problem().solve_with(&entry, &[]).unwrap_err();
    assert_eq!(failure.status(), Some(Status::INVALID_ARGUMENT));
    assert_eq!(failure.to_string(), "solve failed: solve: no problem is prepared");
}

/// A host refuses such values first; the SDK does not rely on it.
#[test]
fn values_that_a_parameter_cannot_take_are_refused_by_name() {
    let good = || [ParamValue::from("nowhere"), 1.0.into(), true.into(), "label".into()];
    assert!(MinefieldParams::from_values(&good()).is_ok());
    let wrong: [(usize, &str, &[ParamValue]); 4] = [
        (0, "at", &["no such choice".into(), 1.into()]),
        (1, "size", &[0.25.into(), 3.0.into(), f64::NAN.into(), "1".into()]),
        (2, "flag", &[1.into()]),
        (3, "label", &[1.into()]),
    ];
    for (position, name, values) in wrong {
        for value in values {
            let mut all = good();
            all[position] = value.clone();
            let Err(Error::InvalidArgument(text)) = MinefieldParams::from_values(&all) else {
                panic!("{name} = {value:?} is not refused")
            };
            assert!(text.contains(name), "{name} = {value:?}: {text}");
        }
    }
}

static SAID: Mutex<String> = Mutex::new(String::new());

unsafe extern "C" fn hear(_host: *const abi::Host, _status: Status, text: *const abi::Str) {
    // SAFETY: the SDK passes a live text.
    let bytes = unsafe { std::slice::from_raw_parts((*text).ptr.cast::<u8>(), (*text).len as usize) };
    *SAID.lock().unwrap() = String::from_utf8(bytes.to_vec()).unwrap();
}

/// A host with nothing to offer.
fn host() -> &'static abi::Host {
    Box::leak(Box::new(abi::Host {
        size: size_of::<abi::Host>() as u32,
        minor: 0,
        ctx: null_mut(),
        set_error: Some(hear),
        log: None,
        extension: None,
    }))
}

/// The defaults of `MinefieldParams`.
fn defaults(table: &abi::Solver) -> Vec<abi::Value> {
    // SAFETY: a table of the SDK.
    let schema = unsafe { std::slice::from_raw_parts(table.params, table.n_params as usize) };
    schema.iter().map(|param| param.default).collect()
}

#[test]
fn sizes_that_cannot_be_and_errors_of_warming_up_are_refused() {
    let table = export::solver::<Minefield>();
    let (create, warm_up, destroy) = (table.create.unwrap(), table.warm_up.unwrap(), table.destroy.unwrap());
    let shape = Shape { covariance: None, n: 12, m: 12, d: 2, s: 1, threads: 1, batch: None }.to_abi();
    let mut values = defaults(&table);
    let mut object: *mut c_void = null_mut();
    // SAFETY: a live host, its values, and sizes; what is wrong in a call is refused before it is used.
    unsafe {
        assert_eq!(create(host(), values.as_ptr(), values.len() as i64, &mut object), Status::DONE);
        assert_eq!(warm_up(object, &shape), Status::DONE);
        assert_eq!(warm_up(object, &abi::Shape { n: 13, ..shape }), Status::ERROR);
        assert_eq!(warm_up(object, &abi::Shape { d: -1, ..shape }), Status::INVALID_ARGUMENT);
        assert_eq!(warm_up(object, &abi::Shape { size: 8, ..shape }), Status::INVALID_ARGUMENT);
        assert_eq!(warm_up(object, null()), Status::INVALID_ARGUMENT);
        assert_eq!(warm_up(null_mut(), &shape), Status::INVALID_ARGUMENT);
        destroy(object);
        values[0].s = abi::Str::new("warm-up");
        assert_eq!(create(host(), values.as_ptr(), values.len() as i64, &mut object), Status::DONE);
        assert_eq!(warm_up(object, &shape), Status::PANIC);
        destroy(object);
    }
}

#[test]
fn null_pointers_and_short_tables_are_refused() {
    let table = export::solver::<Minefield>();
    let (create, solve) = (table.create.unwrap(), table.solve.unwrap());
    let (prepare, destroy) = (table.prepare.unwrap(), table.destroy.unwrap());
    let values = defaults(&table);
    let count = values.len() as i64;
    let mut object: *mut c_void = null_mut();
    // SAFETY: what is wrong in each call is refused before it is used.
    unsafe {
        assert_eq!(create(null(), values.as_ptr(), count, &mut object), Status::INVALID_ARGUMENT);
        let short = abi::Host { size: 8, ..std::ptr::read(host()) };
        assert_eq!(create(&short, values.as_ptr(), count, &mut object), Status::INVALID_ARGUMENT);
        let mute = abi::Host { set_error: None, ..std::ptr::read(host()) };
        assert_eq!(create(&mute, values.as_ptr(), count, &mut object), Status::INVALID_ARGUMENT);
        assert_eq!(create(host(), null(), count, &mut object), Status::INVALID_ARGUMENT);
        assert_eq!(create(host(), values.as_ptr(), -1, &mut object), Status::INVALID_ARGUMENT);
        assert_eq!(create(host(), values.as_ptr(), count, null_mut()), Status::INVALID_ARGUMENT);
        assert_eq!(create(host(), values.as_ptr(), 1, &mut object), Status::INVALID_ARGUMENT);
        assert!(SAID.lock().unwrap().contains("no value for the parameter `size`"));
        assert!(object.is_null());

        assert_eq!(prepare(null_mut(), null()), Status::INVALID_ARGUMENT);
        assert_eq!(create(host(), values.as_ptr(), count, &mut object), Status::DONE);
        assert_eq!(prepare(object, null()), Status::INVALID_ARGUMENT);
        assert!(SAID.lock().unwrap().contains("the problem is null"));
        assert_eq!(solve(object, null(), null_mut()), Status::INVALID_ARGUMENT);
        assert!(SAID.lock().unwrap().contains("the report is null"));
        let mut report: abi::Report = std::mem::zeroed();
        report.size = size_of::<abi::Report>() as u32;
        let operator: abi::Operator = std::mem::zeroed();
        let mut nothing: abi::Problem = std::mem::zeroed();
        assert_eq!(solve(object, &nothing, &mut report), Status::INVALID_ARGUMENT);
        nothing.size = size_of::<abi::Problem>() as u32;
        nothing.op = &operator;
        assert_eq!(solve(object, &nothing, &mut report), Status::INVALID_ARGUMENT);
        assert!(SAID.lock().unwrap().contains("the problem lacks a function"));
        destroy(object);
        destroy(null_mut());
    }
}

#[test]
fn the_schema_says_what_was_declared() {
    let table = export::solver::<Minefield>();
    // SAFETY: a table of the SDK, whose texts are static.
    let (schema, text) = unsafe {
        let schema = std::slice::from_raw_parts(table.params, table.n_params as usize);
        (schema, |text: &abi::Str| {
            std::str::from_utf8(std::slice::from_raw_parts(text.ptr.cast::<u8>(), text.len as usize)).unwrap()
        })
    };
    let names: Vec<&str> = schema.iter().map(|param| text(&param.name)).collect();
    assert_eq!(names, ["at", "size", "flag", "label"]);
    let kinds: Vec<i32> = schema.iter().map(|param| param.default.kind).collect();
    use abi::value_kind::{BOOL, FLOAT, NONE, TEXT};
    assert_eq!(kinds, [TEXT, FLOAT, BOOL, TEXT]);
    assert_eq!((schema[0].n_choices, schema[0].min.kind, text(&schema[0].default.s)), (10, NONE, "nowhere"));
    assert_eq!((schema[1].min.f, schema[1].max.f, schema[1].max.kind), (0.5, 2.0, FLOAT));
    assert_eq!(text(&schema[1].doc), "A number that is not used.");
}
