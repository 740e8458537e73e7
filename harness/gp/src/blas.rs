//! OpenBLAS: its thread count, its name and its environment.
//!
//! OpenBLAS is one shared library, so its thread count is that of the process. This crate leaves it at 1: products
//! and factorisations make one BLAS call for each tile inside a rayon pool, where more threads would compete for
//! the cores, and threaded LAPACK rounds differently on another number of threads. A [`ThreadGuard`] raises it for
//! other code.
//!
//! OpenBLAS reads some settings before `main`, so they are set where the process is started: see
//! [`missing_environment`].
//!
//! This is the only module with `unsafe` code.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem::transmute;
use std::sync::{Mutex, Once, PoisonError};

use gpbench_record::counted;

unsafe extern "C" {
    fn openblas_set_num_threads(threads: c_int);
    fn openblas_get_num_threads() -> c_int;
    fn openblas_get_config() -> *const c_char;
    fn openblas_get_corename() -> *const c_char;
}

type Allocate = unsafe extern "C" fn(position: c_int) -> *mut c_void;
type Free = unsafe extern "C" fn(buffer: *mut c_void);

/// The functions that give and take back a buffer, where OpenBLAS exports them: that of Debian does, that of the wheel does not.
fn buffer_functions() -> Option<(Allocate, Free)> {
    // SAFETY: the names end with a zero. All versions of OpenBLAS declare both functions so, and they are used as long as this
    // program runs, whose libraries stay. A null pointer is `None`.
    unsafe {
        let find = |name: &CStr| libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr());
        let allocate = transmute::<*mut c_void, Option<Allocate>>(find(c"blas_memory_alloc"));
        let free = transmute::<*mut c_void, Option<Free>>(find(c"blas_memory_free"));
        allocate.zip(free)
    }
}

/// Bytes that OpenBLAS allocates for each thread that calls it at the same time, whatever the size of the matrices, and
/// a few more.
pub const BUFFER_BYTES: usize = 130 << 20;

/// Bytes of address space that no process exceeds: 48 bits on x86-64 and ARM64.
const ADDRESS_SPACE: usize = 1 << 48;

/// The system refuses memory for the buffers of OpenBLAS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the system refuses {count} x {} MiB of address space, which OpenBLAS needs for {}",
    BUFFER_BYTES >> 20,
    counted(*count, "thread")
)]
pub struct BuffersRefused {
    /// Number of buffers.
    pub count: usize,
}

/// Lets OpenBLAS allocate its buffers for so many threads now. It keeps them, and allocates none later as long as no more
/// threads call it at the same time: OpenBLAS 0.3.21 repeats an allocation that the system refuses endlessly.
///
/// No other thread may call BLAS meanwhile. An OpenBLAS that does not export the functions for this allocates a buffer when a
/// thread first needs one, and ends the process if the system then refuses it (0.3.34).
///
/// # Errors
/// Where the system refuses the memory. Nothing is allocated then.
pub fn reserve_buffers(count: usize) -> Result<(), BuffersRefused> {
    static RESERVED: Mutex<usize> = Mutex::new(0);
    let mut reserved = RESERVED.lock().unwrap_or_else(PoisonError::into_inner);
    let missing = count.saturating_sub(*reserved);
    if count.saturating_mul(BUFFER_BYTES) > ADDRESS_SPACE {
        return Err(BuffersRefused { count });
    }
    // All at once, since together they must fit; no page of them is touched.
    let mut trial = vec![Vec::<u8>::new(); missing];
    let is_refused = trial.iter_mut().any(|buffer| buffer.try_reserve_exact(BUFFER_BYTES).is_err());
    std::hint::black_box(&trial);
    drop(trial);
    if is_refused {
        return Err(BuffersRefused { count });
    }
    if missing > 0 {
        if let Some((allocate, free)) = buffer_functions() {
            // SAFETY: any position is allowed, and each buffer is given back once.
            unsafe {
                let buffers: Vec<*mut c_void> = (0..count).map(|_| allocate(0)).collect();
                buffers.into_iter().for_each(|buffer| free(buffer));
            }
        }
        *reserved = count;
    }
    Ok(())
}

/// Sets the number of threads of every later BLAS call of this process.
pub fn set_threads(threads: usize) {
    let threads = c_int::try_from(threads.max(1)).unwrap_or(c_int::MAX);
    // SAFETY: the function takes any positive count and clips it to its own limit.
    unsafe { openblas_set_num_threads(threads) }
}

/// Current number of threads of BLAS calls.
pub fn threads() -> usize {
    // SAFETY: the function has no precondition.
    let threads = unsafe { openblas_get_num_threads() };
    usize::try_from(threads).unwrap_or(1)
}

/// Sets BLAS to one thread, once per process.
pub(crate) fn start_single_threaded() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| set_threads(1));
}

/// Guard that sets the thread count of BLAS until it is dropped.
///
/// Only one thread may hold a guard at a time, and no pool may run work while a guard exists.
#[derive(Debug)]
pub struct ThreadGuard {
    before: usize,
}

impl ThreadGuard {
    /// Lets BLAS use `threads` threads until the guard is dropped.
    pub fn raise(threads_now: usize) -> Self {
        start_single_threaded();
        let before = threads();
        set_threads(threads_now);
        ThreadGuard { before }
    }
}

impl Drop for ThreadGuard {
    fn drop(&mut self) {
        set_threads(self.before);
    }
}

/// Name of the processor type whose routines OpenBLAS uses, such as `SkylakeX`.
pub fn core_name() -> String {
    // SAFETY: the function returns a static, null-terminated string.
    unsafe { text(openblas_get_corename()) }
}

/// Version and build options of OpenBLAS.
pub fn config() -> String {
    // SAFETY: the function returns a static, null-terminated string.
    unsafe { text(openblas_get_config()) }
}

/// The environment variables that [`missing_environment`] may name.
pub const ENVIRONMENT: [&str; 2] = ["OPENBLAS_CORETYPE", "OPENBLAS_THREAD_TIMEOUT"];

/// Environment variables, with values, that make OpenBLAS faster on this machine. OpenBLAS reads them before `main`,
/// so a process should set them and restart itself before it does anything else.
///
/// OpenBLAS identifies a processor newer than itself as an older type: as one of 2004 (`Prescott`, or `Katmai` in the wheel's
/// build), with which it is three times slower than necessary, or as one without AVX-512 (`Haswell` for a Zen 5: dgemm reaches 67 instead of
/// 113 Gflop/s). Its idle threads also spin for a long time by default. Variables that the user has set are left out.
pub fn missing_environment() -> Vec<(&'static str, &'static str)> {
    let [core_type, thread_timeout] = ENVIRONMENT;
    let core = better_core_type().map(|core| (core_type, core));
    let wanted = core.into_iter().chain([(thread_timeout, "4")]);
    wanted.filter(|(name, _)| std::env::var_os(name).is_none()).collect()
}

/// The core type that is faster on this machine than the one that OpenBLAS computes with; `None` where that suits the
/// processor.
pub fn better_core_type() -> Option<&'static str> {
    better_core(&core_name(), crate::cpu_dispatch())
}

/// The core type to request where OpenBLAS has chosen one without the vector instructions of the processor.
fn better_core(chosen: &str, dispatch: &str) -> Option<&'static str> {
    const OLD: [&str; 9] = [
        "Prescott",
        "Katmai",
        "Core2",
        "Penryn",
        "Dunnington",
        "Nehalem",
        "Sandybridge",
        "Generic",
        "Unknown",
    ];
    const AVX2: [&str; 3] = ["Haswell", "Zen", "Excavator"];
    let is_of = |names: &[&str]| names.iter().any(|name| name.eq_ignore_ascii_case(chosen));
    match dispatch {
        "avx512" if is_of(&OLD) || is_of(&AVX2) => Some("SkylakeX"),
        "avx2" if is_of(&OLD) => Some("Haswell"),
        _ => None,
    }
}

/// # Safety
/// `pointer` is null or points to a null-terminated string.
unsafe fn text(pointer: *const c_char) -> String {
    if pointer.is_null() {
        return String::from("unknown");
    }
    // SAFETY: not null, and null-terminated by this function's contract.
    unsafe { CStr::from_ptr(pointer) }.to_string_lossy().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_newer_processor_gets_its_own_core_type() {
        assert_eq!(better_core("Prescott", "avx512"), Some("SkylakeX"));
        assert_eq!(better_core("prescott", "avx2"), Some("Haswell"));
        assert_eq!(better_core("Prescott", "portable"), None);
        assert_eq!(better_core("Katmai", "avx2"), Some("Haswell"));
        assert_eq!(better_core("Zen", "avx2"), None);
        assert_eq!(better_core("Zen", "avx512"), Some("SkylakeX"));
        assert_eq!(better_core("Haswell", "avx512"), Some("SkylakeX"));
        assert_eq!(better_core("Cooperlake", "avx512"), None);
    }

    #[test]
    fn buffers_are_reserved_or_refused() {
        assert_eq!(reserve_buffers(2), Ok(()));
        assert_eq!(reserve_buffers(1), Ok(()));
        // More than any address space holds.
        let refused = reserve_buffers(1 << 22).unwrap_err();
        let text =
            "the system refuses 4194304 x 130 MiB of address space, which OpenBLAS needs for 4194304 threads";
        assert_eq!(refused.to_string(), text);
    }

    #[test]
    fn a_guard_sets_the_threads_back() {
        set_threads(1);
        {
            let _guard = ThreadGuard::raise(2);
            assert_eq!(threads(), 2);
        }
        assert_eq!(threads(), 1);
        assert!(!core_name().is_empty());
        assert!(config().contains("OpenBLAS"));
    }
}
