//! OpenBLAS: its thread count, its name, and the LAPACK calls of the exact GP.
//!
//! OpenBLAS is one shared library, so its thread count is that of the process. This crate leaves it at 1: products
//! and factorisations make one BLAS call for each tile inside a rayon pool, where more threads would compete for
//! the cores, and threaded LAPACK rounds differently on another number of threads. A [`ThreadGuard`] raises it for
//! other code.
//!
//! OpenBLAS reads some settings before `main`, so they are set where the process is started: see
//! [`missing_environment`].
//!
//! This is the only module with `unsafe` code. Matrices are column-major (row stride 1), which every function
//! asserts.

use std::ffi::{CStr, c_char, c_int};
use std::sync::Once;

use blas_src as _;
use ndarray::{Array1, Array2, ArrayRef2, ArrayView2, ArrayViewMut2, ShapeBuilder};
use openblas_src as _;

unsafe extern "C" {
    fn openblas_set_num_threads(threads: c_int);
    fn openblas_get_num_threads() -> c_int;
    fn openblas_get_config() -> *const c_char;
    fn openblas_get_corename() -> *const c_char;
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

/// Sets BLAS to one thread, once a process.
pub(crate) fn start_single_threaded() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| set_threads(1));
}

/// Sets the thread count of BLAS until it is dropped.
///
/// Only one thread may hold one, and no pool may be working meanwhile.
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

/// Environment variables, with values, that OpenBLAS reads before `main` and that are better for this machine. A
/// process should set them and restart itself before it does anything else.
///
/// OpenBLAS takes a processor newer than itself for an older one: for one of 2004 (`Prescott`), and is then three times
/// slower than necessary, or for one without AVX-512 (`Haswell` for a Zen 5: 67 instead of 113 Gflop/s of dgemm). And its
/// idle threads spin for long by default. Variables that the user has set are left out.
pub fn missing_environment() -> Vec<(&'static str, &'static str)> {
    let [core_type, thread_timeout] = ENVIRONMENT;
    let core = better_core(&core_name(), crate::cpu_dispatch()).map(|core| (core_type, core));
    let wanted = core.into_iter().chain([(thread_timeout, "4")]);
    wanted.filter(|(name, _)| std::env::var_os(name).is_none()).collect()
}

/// The core type to request where OpenBLAS has chosen one without the vector instructions of the processor.
fn better_core(chosen: &str, dispatch: &str) -> Option<&'static str> {
    const OLD: [&str; 8] =
        ["Prescott", "Core2", "Penryn", "Dunnington", "Nehalem", "Sandybridge", "Generic", "Unknown"];
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

/// A matrix is not positive definite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the leading minor of order {order} is not positive definite")]
pub struct NotPositiveDefinite {
    /// Order of the first leading minor that is not positive.
    pub order: usize,
}

/// Cholesky factorisation in place: the lower triangle of `a` becomes L with
/// `a = L L^T`. The strict upper triangle is neither read nor written.
///
/// # Errors
/// [`NotPositiveDefinite`]; `a` is then partly factorised.
pub fn potrf(mut a: ArrayViewMut2<f64>) -> Result<(), NotPositiveDefinite> {
    let n = order(&a);
    let lda = leading_dimension(&a);
    let mut info = 0;
    // SAFETY: `a` is exclusively borrowed, column-major, n x n with leading dimension lda.
    unsafe { lapack_sys::dpotrf_(&LOWER, &n, a.as_mut_ptr(), &lda, &mut info) };
    match usize::try_from(info).expect("dpotrf accepts its arguments") {
        0 => Ok(()),
        order => Err(NotPositiveDefinite { order }),
    }
}

/// Solves `L L^T X = B` in place of `b`, given L in the lower triangle of `factor`.
pub fn potrs(factor: ArrayView2<f64>, mut b: ArrayViewMut2<f64>) {
    let n = order(&factor);
    assert_eq!(factor.nrows(), b.nrows(), "as many rows as the factor");
    let (lda, ldb, columns) = (leading_dimension(&factor), leading_dimension(&b), int(b.ncols()));
    let mut info = 0;
    // SAFETY: both are column-major with these leading dimensions, and `b` is exclusively borrowed.
    unsafe {
        lapack_sys::dpotrs_(&LOWER, &n, &columns, factor.as_ptr(), &lda, b.as_mut_ptr(), &ldb, &mut info);
    }
    assert_eq!(info, 0, "dpotrs accepts its arguments");
}

/// Solves `L X = B` in place of `b`, given L in the lower triangle of `factor`.
pub fn solve_lower(factor: ArrayView2<f64>, b: ArrayViewMut2<f64>) {
    triangular(factor, b, cblas_sys::cblas_dtrsm);
}

/// Solves `X L^T = B` in place of `b`, given L in the lower triangle of `factor`.
pub fn divide_by_transposed(factor: ArrayView2<f64>, mut b: ArrayViewMut2<f64>) {
    let n = order(&factor);
    assert_eq!(factor.ncols(), b.ncols(), "as many columns as the factor");
    let (lda, ldb, rows) = (leading_dimension(&factor), leading_dimension(&b), int(b.nrows()));
    // SAFETY: both are column-major with these leading dimensions, and `b` is exclusively borrowed.
    unsafe {
        cblas_sys::cblas_dtrsm(
            cblas_sys::CBLAS_LAYOUT::CblasColMajor,
            cblas_sys::CBLAS_SIDE::CblasRight,
            cblas_sys::CBLAS_UPLO::CblasLower,
            cblas_sys::CBLAS_TRANSPOSE::CblasTrans,
            cblas_sys::CBLAS_DIAG::CblasNonUnit,
            rows,
            n,
            1.0,
            factor.as_ptr(),
            lda,
            b.as_mut_ptr(),
            ldb,
        );
    }
}

/// `B = L B` in place of `b`, given L in the lower triangle of `factor`.
pub fn multiply_lower(factor: ArrayView2<f64>, b: ArrayViewMut2<f64>) {
    triangular(factor, b, cblas_sys::cblas_dtrmm);
}

/// Thin singular value decomposition `a = U S V^T` of an n x r matrix with r <= n: returns S, largest first, and
/// replaces `a` by U. `None` where the iteration does not converge.
pub fn left_singular_vectors(mut a: ArrayViewMut2<f64>) -> Option<Array1<f64>> {
    let (rows, columns) = a.dim();
    assert!(columns <= rows, "at least as many rows as columns");
    let (m, n, lda) = (int(rows), int(columns), leading_dimension(&a));
    let mut values = Array1::zeros(columns);
    let mut right = Array2::<f64>::zeros((columns, columns).f());
    let mut integers: Vec<c_int> = vec![0; 8 * columns];
    let mut call = |work: &mut [f64], length: c_int| {
        let mut info = 0;
        // SAFETY: `a` is exclusively borrowed, column-major, m x n with leading dimension lda; `values` has n
        // numbers, `right` n x n, `integers` 8 n, and `work` `length` numbers, or one where `length` is -1, which
        // requests the best length. U overwrites `a` (job O), so the separate argument for U is not used.
        unsafe {
            lapack_sys::dgesdd_(
                &OVERWRITE,
                &m,
                &n,
                a.as_mut_ptr(),
                &lda,
                values.as_mut_ptr(),
                [0.0; 1].as_mut_ptr(),
                &m,
                right.as_mut_ptr(),
                &n,
                work.as_mut_ptr(),
                &length,
                integers.as_mut_ptr(),
                &mut info,
            );
        }
        info
    };
    if columns == 0 {
        return Some(values);
    }
    let mut best = [0.0];
    assert_eq!(call(&mut best, -1), 0, "dgesdd accepts its arguments");
    let mut work = vec![0.0; best[0] as usize];
    let length = int(work.len());
    let info = call(&mut work, length);
    assert!(info >= 0, "dgesdd accepts its arguments");
    (info == 0).then_some(values)
}

/// Eigenvalues, smallest first, and orthonormal eigenvectors of the symmetric tridiagonal matrix with this
/// `diagonal` and `off_diagonal`, one entry shorter. `None` where LAPACK does not converge.
pub fn tridiagonal_eigenvectors(
    diagonal: &[f64],
    off_diagonal: &[f64],
) -> Option<(Array1<f64>, Array2<f64>)> {
    let rows = diagonal.len();
    assert_eq!(off_diagonal.len() + 1, rows.max(1), "the off-diagonal is one entry shorter");
    let mut values = Array1::from(diagonal.to_vec());
    let mut vectors = Array2::<f64>::zeros((rows, rows).f());
    if rows == 0 {
        return Some((values, vectors));
    }
    let (n, mut off_diagonal, mut work, mut info) =
        (int(rows), off_diagonal.to_vec(), vec![0.0; 2 * rows], 0);
    // SAFETY: `values` holds n numbers, `off_diagonal` n - 1, `vectors` n x n in columns, `work` 2 n.
    unsafe {
        lapack_sys::dstev_(
            &VECTORS,
            &n,
            values.as_mut_ptr(),
            off_diagonal.as_mut_ptr(),
            vectors.as_mut_ptr(),
            &n,
            work.as_mut_ptr(),
            &mut info,
        );
    }
    assert!(info >= 0, "dstev accepts its arguments");
    (info == 0).then_some((values, vectors))
}

/// `dtrsm` and `dtrmm` have the same arguments.
type Triangular = unsafe extern "C" fn(
    cblas_sys::CBLAS_LAYOUT,
    cblas_sys::CBLAS_SIDE,
    cblas_sys::CBLAS_UPLO,
    cblas_sys::CBLAS_TRANSPOSE,
    cblas_sys::CBLAS_DIAG,
    c_int,
    c_int,
    f64,
    *const f64,
    c_int,
    *mut f64,
    c_int,
);

fn triangular(factor: ArrayView2<f64>, mut b: ArrayViewMut2<f64>, routine: Triangular) {
    let n = order(&factor);
    assert_eq!(factor.nrows(), b.nrows(), "as many rows as the factor");
    let (lda, ldb, columns) = (leading_dimension(&factor), leading_dimension(&b), int(b.ncols()));
    // SAFETY: both are column-major with these leading dimensions, and `b` is exclusively borrowed.
    unsafe {
        routine(
            cblas_sys::CBLAS_LAYOUT::CblasColMajor,
            cblas_sys::CBLAS_SIDE::CblasLeft,
            cblas_sys::CBLAS_UPLO::CblasLower,
            cblas_sys::CBLAS_TRANSPOSE::CblasNoTrans,
            cblas_sys::CBLAS_DIAG::CblasNonUnit,
            n,
            columns,
            1.0,
            factor.as_ptr(),
            lda,
            b.as_mut_ptr(),
            ldb,
        );
    }
}

const LOWER: c_char = b'L' as c_char;
const OVERWRITE: c_char = b'O' as c_char;
const VECTORS: c_char = b'V' as c_char;

fn int(size: usize) -> c_int {
    c_int::try_from(size).expect("LAPACK counts with 32 bits")
}

fn order(a: &ArrayRef2<f64>) -> c_int {
    assert_eq!(a.nrows(), a.ncols(), "the matrix is square");
    int(a.nrows())
}

fn leading_dimension(a: &ArrayRef2<f64>) -> c_int {
    let (rows, columns) = a.dim();
    let [row_stride, column_stride] = [a.strides()[0], a.strides()[1]];
    assert!(rows <= 1 || row_stride == 1, "the matrix is column-major");
    if columns <= 1 {
        return int(rows.max(1));
    }
    let stride = usize::try_from(column_stride).expect("the column stride is positive");
    assert!(stride >= rows, "columns do not overlap");
    int(stride.max(1))
}

#[cfg(test)]
mod tests {
    use ndarray::{array, s};

    use super::*;

    #[test]
    fn factors_and_solves_inside_a_larger_array() {
        let mut memory = Array2::<f64>::zeros((5, 3).f());
        memory.slice_mut(s![1..4, ..]).assign(&array![[4.0, 9.0, 9.0], [2.0, 5.0, 9.0], [0.0, 1.0, 2.0]]);
        potrf(memory.slice_mut(s![1..4, ..])).expect("positive definite");
        let expected = array![[2.0, 9.0, 9.0], [1.0, 2.0, 9.0], [0.0, 0.5, f64::sqrt(1.75)]];
        assert_eq!(memory.slice(s![1..4, ..]), expected);

        let factor = memory.slice(s![1..4, ..]);
        let mut b = array![[2.0], [7.0], [4.0]];
        multiply_lower(factor, b.view_mut());
        solve_lower(factor, b.view_mut());
        assert!((&b - &array![[2.0], [7.0], [4.0]]).iter().all(|e| e.abs() < 1e-14));

        let mut rows = array![[2.0, 7.0, 4.0]];
        divide_by_transposed(factor, rows.view_mut());
        solve_lower(factor, b.view_mut());
        assert!((&rows - &b.t()).iter().all(|e| e.abs() < 1e-14));
    }

    #[test]
    fn the_error_names_the_first_minor_that_is_not_positive() {
        let mut a = Array2::from_shape_vec((2, 2).f(), vec![1.0, 2.0, 2.0, 1.0]).expect("four entries");
        assert_eq!(potrf(a.view_mut()), Err(NotPositiveDefinite { order: 2 }));
    }

    #[test]
    #[should_panic(expected = "column-major")]
    fn refuses_row_major() {
        let mut a = Array2::<f64>::eye(3);
        a[(0, 1)] = 0.5;
        let _ = potrf(a.view_mut());
    }

    #[test]
    fn a_newer_processor_gets_its_own_core_type() {
        assert_eq!(better_core("Prescott", "avx512"), Some("SkylakeX"));
        assert_eq!(better_core("prescott", "avx2"), Some("Haswell"));
        assert_eq!(better_core("Prescott", "portable"), None);
        assert_eq!(better_core("Zen", "avx2"), None);
        assert_eq!(better_core("Zen", "avx512"), Some("SkylakeX"));
        assert_eq!(better_core("Haswell", "avx512"), Some("SkylakeX"));
        assert_eq!(better_core("Cooperlake", "avx512"), None);
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
