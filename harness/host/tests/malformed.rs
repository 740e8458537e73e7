//! Descriptions and calls as no SDK would make them, straight in C types.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::mem::offset_of;
use std::path::Path;
use std::ptr::{null, null_mut};

use gpbench_abi::{
    Block, Facts, Host, Mat, Param, Plugin, Problem, Report, Rows, Solver, State, Status, Str, Trace, Value,
    Volatile, id, reason, value_kind,
};
use gpbench_host::{CallError, Library, Session, SolverObject, SolverState, VolatileObjects};
use ndarray::{Array2, ShapeBuilder};

use crate::support::{LIMITS, host, system};

const EMPTY: Str = Str { ptr: null(), len: 0 };
const NO_VALUE: Value = Value { kind: value_kind::NONE, reserved: 0, i: 0, f: 0.0, s: EMPTY };

unsafe extern "C" fn create(_: *const Host, _: *const Value, _: i64, out: *mut *mut c_void) -> Status {
    // SAFETY: the host passes a place to write to.
    unsafe { out.write(null_mut()) };
    Status::DONE
}

unsafe extern "C" fn destroy(_: *mut c_void) {}

unsafe extern "C" fn does_nothing(_: *mut c_void, _: *const Problem, _: *mut Report) -> Status {
    Status::DONE
}

fn solver(solve: unsafe extern "C" fn(*mut c_void, *const Problem, *mut Report) -> Status) -> Solver {
    Solver {
        size: size_of::<Solver>() as u32,
        reserved: 0,
        capabilities: 0,
        id: Str::new("raw"),
        doc: Str::new("In C types."),
        params: null(),
        n_params: 0,
        create: Some(create),
        prepare: None,
        solve: Some(solve),
        estimate: None,
        destroy: Some(destroy),
        source: Str::new("A paper."),
        warm_up: None,
        facts: Facts { advice: Str::new("Always."), ..Facts::none() },
    }
}

fn plugin(solvers: &[Solver]) -> Plugin {
    Plugin {
        size: size_of::<Plugin>() as u32,
        minor: 0,
        name: Str::new("raw"),
        version: Str::new("1"),
        solvers: solvers.as_ptr(),
        n_solvers: solvers.len() as i64,
        solver_stride: size_of::<Solver>() as i64,
        learners: null(),
        n_learners: 0,
        learner_stride: 0,
        parts: null(),
        n_parts: 0,
        part_stride: 0,
    }
}

fn read(plugin: *const Plugin) -> Result<Library, String> {
    // SAFETY: null or a live description.
    let library = unsafe { Library::from_description(Path::new("raw.so"), plugin, host()) };
    library.map_err(|error| error.to_string())
}

/// What is said of a plugin whose one solver was changed by `spoil`.
fn complaint_of_solver(spoil: impl FnOnce(&mut Solver)) -> String {
    let mut solvers = [solver(does_nothing)];
    spoil(&mut solvers[0]);
    let error = read(&plugin(&solvers)).unwrap_err();
    error.strip_prefix("raw.so describes itself wrongly: ").expect("a malformed description").to_owned()
}

/// What is said of a plugin that was changed by `spoil`.
fn complaint(spoil: impl FnOnce(&mut Plugin)) -> String {
    let solvers = [solver(does_nothing)];
    let mut plugin = plugin(&solvers);
    spoil(&mut plugin);
    let error = read(&plugin).unwrap_err();
    error.strip_prefix("raw.so describes itself wrongly: ").expect("a malformed description").to_owned()
}

#[test]
fn a_sound_description_passes() {
    let solvers = [solver(does_nothing)];
    let library = read(&plugin(&solvers)).unwrap();
    assert_eq!((library.name(), library.version(), library.abi().as_str()), ("raw", "1", "1.0"));
    assert!(library.solver("raw").is_ok());
    let error = library.solver("cooked").unwrap_err().to_string();
    assert_eq!(error, "raw.so offers no solver `cooked`; it offers `raw`");
}

#[test]
fn each_fault_of_a_description_is_named() {
    assert!(read(null()).unwrap_err().ends_with("the description of the library is a null pointer"));
    assert_eq!(
        complaint(|p| p.size = 12),
        format!(
            "the description of the library has 12 bytes, fewer than the {} of version 1.0",
            offset_of!(Plugin, parts)
        )
    );
    assert_eq!(complaint(|p| p.name = EMPTY), "the library has no name");
    assert_eq!(complaint(|p| p.n_solvers = -1), "the library lists -1 solvers");
    assert_eq!(complaint(|p| p.solvers = null()), "solver number 1 is a null pointer");
    assert_eq!(
        complaint(|p| p.solver_stride = 8),
        format!(
            "the solvers are at a distance of 8 bytes, where each has at least {}",
            offset_of!(Solver, source)
        )
    );
    assert_eq!(complaint_of_solver(|s| s.solve = None), "solver `raw` has no function `solve`");
    assert_eq!(complaint_of_solver(|s| s.destroy = None), "solver `raw` has no function `destroy`");
    assert!(complaint_of_solver(|s| s.size = 4).starts_with("solver number 1 has 4 bytes"));
    assert!(complaint_of_solver(|s| s.id = Str::new("Not An Id")).contains("has the id `Not An Id`"));
    assert!(complaint_of_solver(|s| s.n_params = 2).starts_with("`raw` lists 2 parameters at "));
    let latin1 = b"r\xe9sum\xe9";
    let latin1 = Str { ptr: latin1.as_ptr().cast(), len: 6 };
    assert_eq!(complaint_of_solver(|s| s.doc = latin1), "the doc of solver number 1 is not UTF-8");
    let twice = [solver(does_nothing), solver(does_nothing)];
    assert!(read(&plugin(&twice)).unwrap_err().ends_with("the library offers `raw` twice"));
}

#[test]
fn each_fault_of_a_parameter_is_named() {
    let float = |f: f64| Value { kind: value_kind::FLOAT, f, ..NO_VALUE };
    let sound = || Param {
        name: Str::new("step"),
        doc: Str::new("A step."),
        default: float(1.0),
        min: float(0.0),
        max: NO_VALUE,
        choices: null(),
        n_choices: 0,
    };
    let complaint = |spoil: &dyn Fn(&mut Param)| {
        let mut param = sound();
        spoil(&mut param);
        complaint_of_solver(|s| (s.params, s.n_params) = (&raw const param, 1))
    };
    assert_eq!(complaint(&|p| p.default = float(-1.0)), "`raw`: parameter `step`: its default -1 is below 0");
    assert_eq!(
        complaint(&|p| p.default = float(f64::NAN)),
        "`raw`: parameter `step`: its default is not a number"
    );
    for (infinite, bound) in [(f64::INFINITY, "max"), (f64::NEG_INFINITY, "min")] {
        let spoil = |p: &mut Param| (p.min, p.max, p.default) = (NO_VALUE, NO_VALUE, float(infinite));
        assert_eq!(
            complaint(&spoil),
            format!("`raw`: parameter `step`: its default is {infinite}, not a finite number"),
            "no {bound}"
        );
    }
    assert_eq!(
        complaint(&|p| p.min = float(f64::INFINITY)),
        "`raw`: parameter `step`: its min is inf, which bounds no number"
    );
    assert_eq!(
        complaint(&|p| p.max = float(f64::NAN)),
        "`raw`: parameter `step`: its max is NaN, which bounds no number"
    );
    assert_eq!(complaint(&|p| p.default = NO_VALUE), "`raw`: parameter `step`: its default has no value");
    let odd = Value { kind: 77, ..NO_VALUE };
    assert_eq!(
        complaint(&|p| p.max = odd),
        "`raw`: parameter `step`: its max is of kind 77, which version 1 does not have"
    );
    let text = Value { kind: value_kind::TEXT, s: Str::new("x"), ..NO_VALUE };
    assert_eq!(
        complaint(&|p| p.max = text),
        "`raw`: parameter `step`: its max is not a number of its own kind"
    );
    assert!(complaint(&|p| p.name = Str::new("Step")).starts_with("`raw`: a parameter is named `Step`"));
    let params = [sound(), sound()];
    let complaint = complaint_of_solver(|s| (s.params, s.n_params) = (params.as_ptr(), 2));
    assert_eq!(complaint, "`raw` has two parameters `step`");
}

#[test]
fn an_infinite_bound_bounds_nothing() {
    let float = |f: f64| Value { kind: value_kind::FLOAT, f, ..NO_VALUE };
    let param = Param {
        name: Str::new("step"),
        doc: Str::new("A step."),
        default: float(1.0),
        min: float(f64::NEG_INFINITY),
        max: float(f64::INFINITY),
        choices: null(),
        n_choices: 0,
    };
    let mut solvers = [solver(does_nothing)];
    (solvers[0].params, solvers[0].n_params) = (&raw const param, 1);
    let library = read(&plugin(&solvers)).unwrap();
    let found = &library.offers().next().unwrap().params[0];
    assert_eq!((found.min, found.max), (None, None));
}

#[test]
fn a_longer_table_of_a_later_version_is_read_as_far_as_it_is_known() {
    #[repr(C)]
    struct Later {
        known: Solver,
        news: [u64; 3],
    }
    let mut later = [(); 2].map(|()| Later { known: solver(does_nothing), news: [u64::MAX; 3] });
    later[1].known.id = Str::new("raw-2");
    for entry in &mut later {
        entry.known.size = size_of::<Later>() as u32;
    }
    let mut plugin = plugin(&[]);
    plugin.solvers = later.as_ptr().cast();
    plugin.n_solvers = 2;
    plugin.solver_stride = size_of::<Later>() as i64;
    let library = read(&plugin).unwrap();
    let ids: Vec<_> = library.offers().map(|info| info.id.as_str()).collect();
    assert_eq!(ids, ["raw", "raw-2"]);
}

/// Version 1.0 has no source; a table that ends within the field has none either.
#[test]
fn the_source_of_a_solver_is_read_where_its_table_has_one() {
    let source = |bytes: usize| {
        let mut solvers = [solver(does_nothing)];
        solvers[0].size = bytes as u32;
        read(&plugin(&solvers)).unwrap().solver("raw").unwrap().info.source.clone()
    };
    assert_eq!(source(size_of::<Solver>()).as_deref(), Some("A paper."));
    assert_eq!([offset_of!(Solver, source), offset_of!(Solver, source) + 8].map(source), [None, None]);
}

/// Versions before 1.5 have no facts.
#[test]
fn the_facts_of_a_solver_are_read_where_its_table_has_them() {
    let facts = |bytes: usize| {
        let mut solvers = [solver(does_nothing)];
        solvers[0].size = bytes as u32;
        read(&plugin(&solvers)).unwrap().solver("raw").unwrap().info.facts.clone()
    };
    let whole = facts(size_of::<Solver>());
    assert_eq!((whole.advice.as_str(), whole.step.as_str()), ("Always.", ""));
    assert!(facts(offset_of!(Solver, facts)).is_empty());
}

thread_local! {
    static ANSWERS: RefCell<Vec<(&'static str, i32)>> = const { RefCell::new(Vec::new()) };
    static FREED: Cell<i32> = const { Cell::new(0) };
}

unsafe extern "C" fn count_freed(_: *mut c_void) {
    FREED.set(FREED.get() + 1);
}

fn note(what: &'static str, status: Status) {
    ANSWERS.with_borrow_mut(|answers| answers.push((what, status.0)));
}

/// Makes every call wrongly and notes the answers.
unsafe extern "C" fn misuses(_: *mut c_void, problem: *const Problem, report: *mut Report) -> Status {
    // SAFETY: the host's tables are sound; what is passed to them is the test's business.
    unsafe {
        let (problem_ref, op) = (&*problem, (*problem).op);
        let (apply, n) = ((*op).apply.unwrap(), (*op).n);
        let mut data = vec![1.0; 2 * n as usize];
        let mat = |data: *mut f64, rows: i64, cols: i64, ld: i64| Mat { data, rows, cols, ld };
        let x = mat(data.as_mut_ptr(), n, 1, n);
        let mut y = mat(data.as_mut_ptr().add(n as usize), n, 1, n);
        note("sound", apply(op, &x, &mut y));
        note("null operator", apply(null(), &x, &mut y));
        note("null x", apply(op, null(), &mut y));
        note("null data", apply(op, &mat(null_mut(), n, 1, n), &mut y));
        note("short", apply(op, &mat(x.data, n - 1, 1, n), &mut y));
        note("negative", apply(op, &mat(x.data, n, -1, n), &mut y));
        note("narrow", apply(op, &mat(x.data, n, 1, n - 1), &mut y));
        note("overlap", apply(op, &x, &mut mat(x.data.add(1), n, 1, n)));
        note("huge", apply(op, &mat(x.data, n, i64::MAX, i64::MAX), &mut y));
        note("charge", (*op).charge.unwrap()(op, -5));
        note("diag", (*op).diag.unwrap()(op, &mut mat(x.data, n, 2, n)));

        let find = (*op).extension.unwrap();
        assert!(find(op, null()).is_null());
        assert!(find(op, &Str::new("gpbench.nothing/1")).is_null());
        let rows = &*find(op, &Str::new(id::ROWS)).cast::<Rows>();
        let indices = [0, n];
        note("index", rows.apply.unwrap()(op, indices.as_ptr(), 2, &x, &mut mat(y.data, 2, 1, 2)));
        note("count", rows.apply.unwrap()(op, indices.as_ptr(), -2, &x, &mut mat(y.data, 2, 1, 2)));
        let block = &*find(op, &Str::new(id::BLOCK)).cast::<Block>();
        let get = block.get.unwrap();
        note("block", get(op, indices.as_ptr(), 1, indices.as_ptr(), 1, &mut mat(y.data, 1, 2, 1)));

        let observe = problem_ref.observe.unwrap();
        note("norms", observe(problem, 1, x.data, 2));
        note("null norms", observe(problem, 1, null(), 4));
        note("no norms", observe(problem, 1, null(), 0));

        let find = problem_ref.extension.unwrap();
        assert!(find(problem, null()).is_null());
        assert!(find(problem, &Str::new(id::ROWS)).is_null(), "the operator's own");
        let trace = &*find(problem, &Str::new(id::TRACE)).cast::<Trace>();
        note("null name", trace.note.unwrap()(problem, 1, null(), 1.0));
        let bytes = Str { ptr: b"\xff\xfe".as_ptr().cast(), len: 2 };
        note("bytes", trace.note.unwrap()(problem, 1, &bytes, 1.0));

        let state = &*find(problem, &Str::new(id::STATE)).cast::<State>();
        let (load, save, key) = (state.load.unwrap(), state.save.unwrap(), Str::new("key"));
        let (mut place, mut length) = ([0u8; 2], -1);
        note("no key", save(problem, null(), place.as_ptr(), 2));
        note("no bytes", save(problem, &key, null(), 2));
        note("negative bytes", save(problem, &key, place.as_ptr(), -1));
        note("sound", save(problem, &key, b"kept".as_ptr(), 4));
        note("no place", load(problem, &key, null_mut(), 4, &mut length));
        note("negative place", load(problem, &key, place.as_mut_ptr(), -1, &mut length));
        note("no length", load(problem, &key, place.as_mut_ptr(), 2, null_mut()));
        note("sound", load(problem, &key, place.as_mut_ptr(), 2, &mut length));
        assert_eq!((&place, length), (b"ke", 4));
        note("sound", load(problem, &Str::new("other"), null_mut(), 0, &mut length));
        assert_eq!(length, 0);

        let volatile = &*find(problem, &Str::new(id::VOLATILE)).cast::<Volatile>();
        let (keep, take) = (volatile.keep.unwrap(), volatile.take.unwrap());
        let (object, mut found) = ((&raw mut length).cast::<c_void>(), null_mut());
        note("no key", keep(problem, null(), object, 8, Some(count_freed)));
        note("no object", keep(problem, &key, null_mut(), 8, Some(count_freed)));
        note("negative bytes", keep(problem, &key, object, -8, Some(count_freed)));
        note("no function", keep(problem, &key, object, 8, None));
        note("no place", take(problem, &key, null_mut()));
        note("no key", take(problem, null(), &mut found));
        note("sound", keep(problem, &key, object, 8, Some(count_freed)));
        note("sound", take(problem, &key, &mut found));
        assert_eq!((found, FREED.get()), (object, 0), "given back, not freed");
        note("sound", take(problem, &key, &mut found));
        assert!(found.is_null());
        note("sound", keep(problem, &key, object, 8, Some(count_freed)));
        note("sound", keep(problem, &key, object, 8, Some(count_freed)));
        assert_eq!(FREED.get(), 1, "the one before");

        let elsewhere = (op as usize, x.data as usize, y.data as usize);
        let status = std::thread::spawn(move || {
            let (op, x, y) = elsewhere;
            let (x, mut y) = (mat(x as *mut f64, n, 1, n), mat(y as *mut f64, n, 1, n));
            apply(op as *const _, &x, &mut y)
        });
        note("thread", status.join().unwrap());
        // A solver that tampers with the table it was given reaches nothing of the host's.
        (*problem_ref.x).data = null_mut();
        (*report).reason = reason::CONVERGED;
    }
    Status::DONE
}

fn run(
    solve: unsafe extern "C" fn(*mut c_void, *const Problem, *mut Report) -> Status,
) -> Result<(), CallError> {
    let (system, solution) = system(20);
    let solvers = [solver(solve)];
    let library = read(&plugin(&solvers)).unwrap();
    let mut object =
        SolverObject::create(library.solver("raw").unwrap(), library.host(), &BTreeMap::new()).unwrap();
    let mut x = Array2::zeros(solution.dim().f());
    let mut no_observer = ();
    let session = Session::new(&system, LIMITS, library.host(), &mut no_observer);
    object
        .run(&session.with_state(SolverState::new()).with_volatile(VolatileObjects::default()), &mut x)
        .map(drop)
}

#[test]
fn wrong_calls_are_refused_and_do_nothing() {
    run(misuses).unwrap();
    let answers = ANSWERS.take();
    let (done, invalid) = (Status::DONE.0, Status::INVALID_ARGUMENT.0);
    for (what, status) in &answers {
        let expected = if ["sound", "no norms"].contains(what) { done } else { invalid };
        assert_eq!(*status, expected, "{what}");
    }
    assert_eq!(answers.len(), 40);
    assert_eq!(FREED.get(), 2, "what is kept is freed with its session");
}

unsafe extern "C" fn odd_reason(_: *mut c_void, _: *const Problem, report: *mut Report) -> Status {
    // SAFETY: the host passes its report.
    unsafe { (*report).reason = 99 };
    Status::DONE
}

unsafe extern "C" fn too_many_claims(_: *mut c_void, _: *const Problem, report: *mut Report) -> Status {
    // SAFETY: the host passes its report.
    unsafe { ((*report).claimed, (*report).n_claimed) = ([0.0; 3].as_ptr(), 3) };
    Status::DONE
}

unsafe extern "C" fn odd_status(_: *mut c_void, _: *const Problem, _: *mut Report) -> Status {
    Status(2)
}

unsafe extern "C" fn no_memory(_: *mut c_void, _: *const Problem, _: *mut Report) -> Status {
    Status::OUT_OF_MEMORY
}

#[test]
fn wrong_answers_are_named() {
    let said = |solve| run(solve).unwrap_err().to_string();
    assert_eq!(said(odd_reason), "solve gave the reason 99, which version 1 does not have");
    assert_eq!(said(too_many_claims), "solve claims 3 residual norms for 4 columns");
    assert_eq!(said(odd_status), "solve returned 2, which is not one of its outcomes");
    assert_eq!(said(no_memory), "solve ran out of memory: it gave no reason");
}
