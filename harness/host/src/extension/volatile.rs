//! `gpbench.volatile/1`: objects of a solver that stay in memory from one outer step to the next.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::c_void;

use gpbench_abi::{self as abi, Problem, Status, Str, Volatile};

use crate::callback::Refusal;
use crate::session::{ProblemExtension, Session, serve_problem};
use crate::views;

/// Null in a session that keeps no objects after its end.
pub(super) const EXTENSION: ProblemExtension = (abi::id::VOLATILE, |session| {
    objects(session).map_or(std::ptr::null(), |_| std::ptr::from_ref(&TABLE).cast())
});

static TABLE: Volatile =
    Volatile { size: size_of::<Volatile>() as u32, reserved: 0, keep: Some(keep), take: Some(take) };

/// Objects that a solver keeps, by its own keys. They are freed when this is dropped.
#[derive(Debug, Default)]
pub struct VolatileObjects(BTreeMap<String, Object>);

impl VolatileObjects {
    /// Bytes that the objects occupy, as reported by the solver.
    pub fn bytes(&self) -> usize {
        self.0.values().map(|object| object.bytes).sum()
    }
}

/// An object of a plugin's, which is freed when it is dropped.
#[derive(Debug)]
struct Object {
    object: *mut c_void,
    bytes: usize,
    free: unsafe extern "C" fn(*mut c_void),
}

impl Object {
    /// Gives the object back to the plugin.
    fn release(self) -> *mut c_void {
        std::mem::ManuallyDrop::new(self).object
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        // SAFETY: the plugin has handed the object over with its function, which is called once; libraries are never
        // unloaded.
        unsafe { (self.free)(self.object) };
    }
}

impl Session<'_> {
    /// Lets the solver take these objects and keep its own.
    #[must_use]
    pub fn with_volatile(self, objects: VolatileObjects) -> Self {
        self.objects.store.get_or_init(|| RefCell::new(objects));
        self
    }

    /// Takes the objects that the solver keeps.
    pub fn take_volatile(&self) -> VolatileObjects {
        objects(self).map(RefCell::take).unwrap_or_default()
    }
}

fn objects<'s>(session: &'s Session) -> Option<&'s RefCell<VolatileObjects>> {
    session.objects.store.get()
}

unsafe extern "C" fn keep(
    problem: *const Problem,
    key: *const Str,
    object: *mut c_void,
    bytes: i64,
    free: Option<unsafe extern "C" fn(*mut c_void)>,
) -> Status {
    let body = |session: &Session| {
        // SAFETY: the plugin passes a text or null.
        let key = unsafe { views::text_at(key, "`key`") }?;
        let bytes = usize::try_from(bytes).map_err(|_| format!("`bytes` is {bytes}"))?;
        let (Some(free), false) = (free, object.is_null()) else {
            return Err(Refusal::Invalid("`object` or `free` is null".into()));
        };
        let Some(kept) = objects(session) else {
            return Err(Refusal::Unsupported("nothing outlives this solve".into()));
        };
        let before = kept.borrow_mut().0.insert(key, Object { object, bytes, free });
        // The earlier object is freed while nothing is borrowed.
        drop(before);
        Ok(())
    };
    // SAFETY: the plugin passes its problem or null.
    unsafe { serve_problem(problem, "volatile.keep", body) }
}

unsafe extern "C" fn take(problem: *const Problem, key: *const Str, object: *mut *mut c_void) -> Status {
    let body = |session: &Session| {
        // SAFETY: the plugin passes a text or null.
        let key = unsafe { views::text_at(key, "`key`") }?;
        if object.is_null() || !object.is_aligned() {
            return Err(Refusal::Invalid("`object` is a null or misaligned pointer".into()));
        }
        let found = objects(session).and_then(|kept| kept.borrow_mut().0.remove(&key));
        // SAFETY: the plugin passes a place for a pointer.
        unsafe { *object = found.map_or(std::ptr::null_mut(), Object::release) };
        Ok(())
    };
    // SAFETY: the plugin passes its problem or null.
    unsafe { serve_problem(problem, "volatile.take", body) }
}
