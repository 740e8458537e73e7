//! Descriptions of plugins made of arbitrary bytes: whatever they hold, pointers point to as much memory as
//! is promised, or are null or misaligned, since a reader can check nothing else.

use std::ffi::c_void;
use std::path::Path;
use std::ptr::{null, null_mut};
use std::sync::OnceLock;

use gpbench_abi::{
    Facts, Fit, Host, Learner, Mat, Param, Part, Plugin, Problem, Report, Solver, Status, Store, Str, Value,
};
use gpbench_host::{HostTable, Library};

unsafe extern "C" fn create(_: *const Host, _: *const Value, _: i64, out: *mut *mut c_void) -> Status {
    // SAFETY: the host passes a place to write to.
    unsafe { out.write(null_mut()) };
    Status::DONE
}

pub(crate) unsafe extern "C" fn destroy(_: *mut c_void) {}

pub(crate) unsafe extern "C" fn solve(_: *mut c_void, _: *const Problem, _: *mut Report) -> Status {
    Status::DONE
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

/// A hash as a part has it.
pub(crate) const SHA256: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

/// Bytes that decide, one after the other; zeros when they are used up.
struct Choices<'a>(std::slice::Iter<'a, u8>);

impl Choices<'_> {
    fn next(&mut self) -> u8 {
        self.0.next().copied().unwrap_or(0)
    }

    /// One of these; the first where bytes are used up, and more often than the others.
    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        let byte = usize::from(self.next());
        all[byte.saturating_sub(160) % all.len()]
    }

    /// A count of things of which there are `there`: never more than that unless it is beyond any limit.
    fn count(&mut self, there: usize) -> i64 {
        let there = there as i64;
        self.of(&[there, 0, there.min(1), -1, i64::MIN, i64::MAX, 4097, 1 << 40])
    }

    fn pointer<T>(&mut self, to: *const T) -> *const T {
        self.of(&[to, null(), to.wrapping_byte_add(1)])
    }

    fn text(&mut self, likely: &'static str) -> Str {
        let of = |bytes: &'static [u8]| Str { ptr: bytes.as_ptr().cast(), len: bytes.len() as i64 };
        let long = of(megabytes());
        let mut all =
            vec![Str::new(likely), Str::new("step"), Str::new("Not An Id"), of(b""), of(b"r\xe9sum\xe9")];
        all.extend([
            of("\u{1b}[2J\u{0}".as_bytes()),
            Str { ptr: null(), len: 3 },
            Str { ptr: null(), len: 0 },
        ]);
        all.extend([-1, i64::MIN, i64::MAX, 1 << 20, (1 << 20) + 1, 1 << 10].map(|len| Str { len, ..long }));
        self.of(&all)
    }

    fn value(&mut self, likely: i32) -> Value {
        Value {
            kind: self.of(&[likely, 0, 1, 2, 3, 4, 5, -1, i32::MIN, i32::MAX]),
            reserved: 0,
            i: self.of(&[1, 0, -1, i64::MIN, i64::MAX]),
            f: self.of(&[1.0, 0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 5e-324, 1e308]),
            s: self.text("fast"),
        }
    }

    fn param(&mut self) -> Param {
        let kind = 1 + i32::from(self.next() % 4);
        let names = ["alpha", "beta", "gamma", "delta"];
        let name = names[usize::from(self.next() % 4)];
        let choices: Vec<Str> = (0..self.next() % 4).map(|_| self.text("fast")).collect();
        let n_choices = self.count(choices.len());
        // Never freed, like those of a plugin.
        let choices = self.of(&[choices.leak().as_ptr(), null()]);
        Param {
            name: self.text(name),
            doc: self.text("A parameter."),
            default: self.value(kind),
            min: self.value(0),
            max: self.value(0),
            choices: self.pointer(choices),
            n_choices,
        }
    }

    fn params(&mut self) -> (*const Param, i64) {
        let params: Vec<Param> = (0..self.next() % 5).map(|_| self.param()).collect();
        let count = self.count(params.len());
        (self.pointer(params.leak().as_ptr()), count)
    }

    fn size<T>(&mut self) -> u32 {
        let size = size_of::<T>() as u32;
        self.of(&[size, size + 8, u32::MAX, size - 1, 4, 0])
    }

    /// A distance that stays within the entries that there are, or is refused.
    fn stride<T>(&mut self) -> i64 {
        let size = size_of::<T>() as i64;
        self.of(&[size, size - 1, 8, 0, -1, i64::MIN, i64::MAX, 1 << 20])
    }

    fn plugin(&mut self) -> Plugin {
        let ids = ["one", "two", "three"];
        let solvers: Vec<Solver> = (0..usize::from(self.next() % 4))
            .map(|k| {
                let (params, n_params) = self.params();
                Solver {
                    size: self.size::<Solver>(),
                    reserved: u32::from(self.next()),
                    capabilities: u64::from(self.next()),
                    id: self.text(ids[k]),
                    doc: self.text("A solver."),
                    params,
                    n_params,
                    create: self.of(&[Some(create as _), None]),
                    prepare: None,
                    solve: self.of(&[Some(solve as _), None]),
                    estimate: None,
                    destroy: self.of(&[Some(destroy as _), None]),
                    source: Str::new("A paper."),
                    warm_up: None,
                    facts: Facts { advice: self.text("Always."), ..Facts::none() },
                }
            })
            .collect();
        let learners: Vec<Learner> = (0..self.next() % 2)
            .map(|_| {
                let (params, n_params) = self.params();
                Learner {
                    size: self.size::<Learner>(),
                    reserved: u32::from(self.next()),
                    capabilities: u64::from(self.next()),
                    id: self.text("learner"),
                    doc: self.text("A learner."),
                    params,
                    n_params,
                    source: self.text("A paper."),
                    create: self.of(&[Some(create as _), None]),
                    begin: self.of(&[Some(begin as _), None]),
                    fit: self.of(&[Some(fit as _), None]),
                    predict: self.of(&[Some(predict as _), None]),
                    model: None,
                    save: self.of(&[None, Some(save as _)]),
                    load: None,
                    estimate: None,
                    destroy: self.of(&[Some(destroy as _), None]),
                    warm_up: None,
                    facts: Facts { advice: self.text("Always."), ..Facts::none() },
                }
            })
            .collect();
        let parts = self.parts();
        let parts = self.pointer(parts);
        Plugin {
            size: self.size::<Plugin>(),
            minor: self.of(&[0, 1, 3, u32::MAX]),
            name: self.text("raw"),
            version: self.text("1"),
            n_solvers: self.count(solvers.len()),
            solvers: self.pointer(solvers.leak().as_ptr()),
            solver_stride: self.stride::<Solver>(),
            n_learners: self.count(learners.len()),
            learners: self.pointer(learners.leak().as_ptr()),
            learner_stride: self.stride::<Learner>(),
            n_parts: self.of(&[0, 0, 1, 2, -1, i64::MAX]),
            parts,
            part_stride: self.of(&[size_of::<Part>() as i64, 0, 71, 76, i64::MAX]),
        }
    }

    /// Two parts.
    fn parts(&mut self) -> *const Part {
        let part = |choices: &mut Self| Part {
            kind: choices.of(&[1, 2, 3, 0, -1]),
            reserved: 0,
            name: choices.text("part"),
            version: choices.text("1"),
            path: choices.text("/part"),
            sha256: choices.text(SHA256),
        };
        vec![part(self), part(self)].leak().as_ptr()
    }
}

/// Text enough for any length that is not refused.
fn megabytes() -> &'static [u8] {
    static TEXT: OnceLock<Vec<u8>> = OnceLock::new();
    TEXT.get_or_init(|| vec![b'a'; 2 << 20])
}

/// Reads a plugin's description that these bytes decide on; what is said of it, or what it offers.
pub fn read(bytes: &[u8]) -> Result<usize, String> {
    static HOST: OnceLock<&HostTable> = OnceLock::new();
    let host = HOST.get_or_init(|| HostTable::new(Box::new(())));
    let plugin = Choices(bytes.iter()).plugin();
    // SAFETY: a live description whose pointers point to as many entries as it says, are null or misaligned.
    let library = unsafe { Library::from_description(Path::new("raw.so"), &plugin, host) };
    library.map(|library| library.offers().count()).map_err(|error| error.to_string())
}
