//! Tables of learners as no SDK would make them.

use std::ffi::c_void;
use std::mem::offset_of;
use std::path::Path;
use std::ptr::null;

use gpbench_abi::{
    Facts, Fit, Host, Learner, MINOR, Mat, Plugin, Report, Status, Store, Str, Value, capability,
};
use gpbench_host::Library;
use gpbench_terms::Capability;

use crate::support::host;

unsafe extern "C" fn create(_: *const Host, _: *const Value, _: i64, _: *mut *mut c_void) -> Status {
    Status::ERROR
}

unsafe extern "C" fn begin(_: *mut c_void, _: *const Fit) -> Status {
    Status::DONE
}

unsafe extern "C" fn fit(_: *mut c_void, _: *const Fit, _: *mut Report) -> Status {
    Status::DONE
}

unsafe extern "C" fn predict(_: *mut c_void, _: *const Mat, _: *mut Mat) -> Status {
    Status::DONE
}

unsafe extern "C" fn save(_: *mut c_void, _: *const Store) -> Status {
    Status::DONE
}

unsafe extern "C" fn destroy(_: *mut c_void) {}

/// What the interface requires, and no more.
fn learner() -> Learner {
    Learner {
        size: size_of::<Learner>() as u32,
        reserved: 0,
        capabilities: capability::KERNEL | capability::FINITE | capability::NETWORK,
        id: Str::new("raw"),
        doc: Str::new("In C types."),
        params: null(),
        n_params: 0,
        source: Str::new("A paper."),
        create: Some(create),
        begin: Some(begin),
        fit: Some(fit),
        predict: Some(predict),
        model: None,
        save: None,
        load: None,
        estimate: None,
        destroy: Some(destroy),
        warm_up: None,
        facts: Facts { step: Str::new("n entries"), ..Facts::none() },
    }
}

fn read(learners: &[Learner]) -> Result<Library, String> {
    let plugin = Plugin {
        size: size_of::<Plugin>() as u32,
        minor: MINOR,
        name: Str::new("raw"),
        version: Str::new("1"),
        solvers: null(),
        n_solvers: 0,
        solver_stride: 0,
        learners: learners.as_ptr(),
        n_learners: learners.len() as i64,
        learner_stride: size_of::<Learner>() as i64,
        parts: null(),
        n_parts: 0,
        part_stride: 0,
    };
    // SAFETY: a live description, whose entries are static or outlive the library's use here.
    let library = unsafe { Library::from_description(Path::new("raw.so"), &plugin, host()) };
    library.map_err(|error| error.to_string())
}

fn complaint(spoil: impl FnOnce(&mut Learner)) -> String {
    let mut learners = [learner()];
    spoil(&mut learners[0]);
    let error = read(&learners).unwrap_err();
    error.strip_prefix("raw.so describes itself wrongly: ").expect("a malformed description").to_owned()
}

#[test]
fn a_learner_with_what_is_required_is_offered_with_its_capabilities_source_and_facts() {
    let library = read(&[learner()]).unwrap();
    let entry = library.learner("raw").unwrap();
    assert_eq!(entry.info.capabilities, [Capability::Network, Capability::Finite, Capability::Kernel]);
    assert_eq!(entry.info.source.as_deref(), Some("A paper."));
    assert_eq!(entry.info.facts.step, "n entries");
    assert_eq!(entry.oddities, Vec::<String>::new());
    assert_eq!(
        library.learner("cooked").err().unwrap().to_string(),
        "raw.so offers no learner `cooked`; it offers `raw`, a learner"
    );
    assert_eq!(
        library.solver("raw").err().unwrap().to_string(),
        "raw.so offers no solver `raw`; it offers `raw`, a learner"
    );
}

#[test]
fn each_missing_function_is_named() {
    let missing = |name: &str| format!("learner `raw` has no function `{name}`");
    assert_eq!(complaint(|l| l.create = None), missing("create"));
    assert_eq!(complaint(|l| l.begin = None), missing("begin"));
    assert_eq!(complaint(|l| l.fit = None), missing("fit"));
    assert_eq!(complaint(|l| l.predict = None), missing("predict"));
    assert_eq!(complaint(|l| l.destroy = None), missing("destroy"));
    assert_eq!(
        complaint(|l| l.save = Some(save)),
        "learner `raw` has one of the functions `save` and `load`"
    );
    assert!(complaint(|l| l.size = 40).starts_with("learner number 1 has 40 bytes, fewer than the 64"));
}

/// A table that ends anywhere before the functions' end is that of the first versions.
#[test]
fn a_table_without_functions_is_listed_and_cannot_run() {
    for size in [offset_of!(Learner, source), offset_of!(Learner, destroy)] {
        let library = read(&[Learner { size: size as u32, ..learner() }]).unwrap();
        assert_eq!(library.offers().map(|info| info.id.as_str()).collect::<Vec<_>>(), ["raw"]);
        let source = (size > offset_of!(Learner, source)).then_some("A paper.");
        assert!(library.offers().all(|info| info.source.as_deref() == source));
        assert!(library.learner("raw").err().unwrap().to_string().contains("no functions of learners"));
    }
}

#[test]
fn a_longer_table_of_a_later_version_runs() {
    let size = size_of::<Learner>() as u32 + 8;
    let library = read(&[Learner { size, ..learner() }]).unwrap();
    let entry = library.learner("raw").unwrap();
    assert_eq!(entry.oddities, ["the table gives its size as 232 bytes, not 224"]);
}
