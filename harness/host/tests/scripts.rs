//! What version 1.3 of the interface adds: parts, warming up, and the host's extensions for scripts, processes and parts.

use std::cell::Cell;
use std::ffi::c_void;
use std::path::Path;
use std::ptr::null;

use gpbench_abi::{
    Facts, Host, Part, Parts, Plugin, Process, Shape, Solver, Status, Str, Value, id, part_kind,
};
use gpbench_host::{CallError, Library, SolverObject};
use gpbench_terms::{Covariance, Family, PartKind};

use crate::arbitrary_description::{SHA256, destroy, solve};
use crate::support::host;

thread_local! {
    /// The host of the object made last.
    static HOST: Cell<*const Host> = const { Cell::new(null()) };
    /// The sizes that the solver last got ready for.
    static READY_FOR: Cell<[i64; 8]> = const { Cell::new([0; 8]) };
}

unsafe extern "C" fn create(host: *const Host, _: *const Value, _: i64, out: *mut *mut c_void) -> Status {
    HOST.set(host);
    // SAFETY: the host passes a place to write to.
    unsafe { out.write(std::ptr::null_mut()) };
    Status::DONE
}

unsafe extern "C" fn warm_up(_: *mut c_void, shape: *const Shape) -> Status {
    // SAFETY: the host passes a shape.
    let shape = unsafe { &*shape };
    let Shape { size, family, n, m, d, s, threads, reserved: _, batch } = *shape;
    READY_FOR.set([i64::from(size), i64::from(family), n, m, d, s, i64::from(threads), batch]);
    if n == 13 { Status::UNSUPPORTED } else { Status::DONE }
}

fn part(name: &'static str, path: &'static str) -> Part {
    Part {
        kind: part_kind::FILE,
        reserved: 0,
        name: Str::new(name),
        version: Str::new(""),
        path: Str::new(path),
        sha256: Str::new(SHA256),
    }
}

/// A library of one solver and these parts.
fn library(parts: &[Part]) -> Result<Library, String> {
    let solver: &'static Solver = Box::leak(Box::new(Solver {
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
        source: Str::new(""),
        warm_up: Some(warm_up),
        facts: Facts::none(),
    }));
    let plugin = Plugin {
        size: size_of::<Plugin>() as u32,
        minor: 3,
        name: Str::new("raw"),
        version: Str::new("1"),
        solvers: solver,
        n_solvers: 1,
        solver_stride: size_of::<Solver>() as i64,
        learners: null(),
        n_learners: 0,
        learner_stride: 0,
        parts: parts.as_ptr(),
        n_parts: parts.len() as i64,
        part_stride: size_of::<Part>() as i64,
    };
    // SAFETY: a live description.
    unsafe { Library::from_description(Path::new("raw.so"), &plugin, host()) }
        .map_err(|error| error.to_string())
}

/// The host as a library sees it.
fn host_of(library: &Library) -> *const Host {
    let entry = library.solver("raw").unwrap();
    SolverObject::create(entry, library.host(), &Default::default()).unwrap();
    HOST.get()
}

/// An extension of the host.
fn extension<T>(host: *const Host, id: &'static str) -> &'static T {
    // SAFETY: a live host, whose extensions live as long.
    unsafe { &*(*host).extension.unwrap()(host, &Str::new(id)).cast::<T>() }
}

#[test]
fn parts_are_read() {
    let package = Part { kind: part_kind::PACKAGE, version: Str::new("2.1.0"), ..part("numpy", "/RECORD") };
    let library = library(&[part("a.stub", "/a.stub"), package]).unwrap();
    let [file, package] = library.parts() else { panic!("{:?}", library.parts()) };
    assert_eq!((file.kind, &*file.name, file.path.to_str()), (PartKind::File, "a.stub", Some("/a.stub")));
    assert_eq!((package.called(), &*package.sha256), ("package `numpy` 2.1.0".to_owned(), SHA256));
    assert!(library.bridge().is_none() && library.undescribed_parts().is_empty());
}

#[test]
fn wrong_parts_are_refused_with_a_reason() {
    let refused = |part: Part, expected: &str| {
        let error = library(&[part]).unwrap_err();
        assert!(error.contains(&format!("part 1: {expected}")), "{error}");
    };
    refused(Part { kind: 4, ..part("a", "/a") }, "`a` is of the unknown kind 4");
    refused(part("a", "a"), "the path `a` of `a` is not absolute");
    refused(part("a\tb", "/a"), "\"a\\tb\" \"\" is no name and version");
    refused(Part { sha256: Str::new("ABC"), ..part("a", "/a") }, "`ABC` of `a` is no SHA-256");
}

#[test]
fn parts_that_are_found_later_are_told_from_those_described() {
    let described = [part("a", "/a"), part("b", "/b")];
    let library = library(&described).unwrap();
    let host = host_of(&library);
    let add = extension::<Parts>(host, id::PARTS).add.unwrap();
    let later = part("c", "/c");
    let wrong = part("d", "d");
    // SAFETY: a live host and live parts, or null.
    unsafe {
        assert_eq!(add(host, &described[1]), Status::DONE);
        assert_eq!((add(host, &later), add(host, &later)), (Status::DONE, Status::DONE));
        assert_eq!(
            (add(host, null()), add(host, &wrong)),
            (Status::INVALID_ARGUMENT, Status::INVALID_ARGUMENT)
        );
        assert_eq!(add(null(), &later), Status::INVALID_ARGUMENT);
    }
    let found: Vec<_> = library.undescribed_parts().into_iter().map(|part| part.name).collect();
    assert_eq!(found, ["c"]);
}

#[test]
fn sizes_reach_a_solver_without_data() {
    let library = library(&[]).unwrap();
    let entry = library.solver("raw").unwrap();
    let mut solver = SolverObject::create(entry, library.host(), &Default::default()).unwrap();
    let shape = gpbench_terms::Shape {
        covariance: Some(Covariance::Stationary(Family::Matern32)),
        n: 7,
        m: 6,
        d: 5,
        s: 4,
        threads: 3,
        batch: None,
    };
    solver.warm_up(shape).unwrap();
    assert_eq!(READY_FOR.get(), [size_of::<Shape>() as i64, 3, 7, 6, 5, 4, 3, 0]);
    let error = solver.warm_up(gpbench_terms::Shape { n: 13, ..shape }).unwrap_err();
    assert!(matches!(error, CallError::Refused { during: "warm_up", code: -5, .. }), "{error:?}");
}

#[test]
fn a_process_is_adopted_by_a_number_that_one_can_have() {
    let host = host_of(&library(&[]).unwrap());
    let adopt = extension::<Process>(host, id::PROCESS).adopt.unwrap();
    // SAFETY: a live host, or null.
    unsafe {
        assert_eq!(adopt(host, 1234), Status::DONE);
        for wrong in [0, -1, i64::MAX] {
            assert_eq!(adopt(host, wrong), Status::INVALID_ARGUMENT);
        }
        assert_eq!(adopt(null(), 1234), Status::INVALID_ARGUMENT);
    }
}
