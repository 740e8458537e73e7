//! Faults that take several lines or unsafe code.

use std::sync::Mutex;

use gpbench_sdk::ndarray::{Array2, ArrayRef2};
use gpbench_sdk::{Fit, Problem, Result};

/// State that all objects of one mutant share.
pub(crate) static SHARED: Mutex<Vec<f64>> = Mutex::new(Vec::new());

/// Writes the iterate as if its columns were adjacent.
pub(crate) fn write_adjacent(problem: &mut Problem<'_>, iterate: &ArrayRef2<f64>) {
    let mut x = problem.x_mut();
    x.fill(0.0);
    let first = x.as_mut_ptr();
    for (k, column) in iterate.columns().into_iter().enumerate() {
        for (i, &value) in column.iter().enumerate() {
            // SAFETY: none where columns are not adjacent; that is the fault. The suite owns the memory around the
            // iterate.
            unsafe { first.add(k * iterate.nrows() + i).write(value) };
        }
    }
}

/// Writes over the right-hand sides.
pub(crate) fn write_rhs(problem: &Problem<'_>, work: &ArrayRef2<f64>) {
    write(problem.rhs().as_ptr().cast_mut(), problem.rhs().strides()[1], work);
}

/// Writes over the targets of a fit.
pub(crate) fn write_targets(fit: &Fit<'_>) {
    // SAFETY: none; the memory is the host's, and writable.
    unsafe { fit.y().as_ptr().cast_mut().write(0.25) };
}

/// Clears the iterate, which is read-only here.
pub(crate) fn clear_iterate(problem: &Problem<'_>) {
    let x = problem.x();
    let zero = Array2::zeros(x.dim());
    write(x.as_ptr().cast_mut(), x.strides()[1], &zero);
}

fn write(first: *mut f64, distance: isize, work: &ArrayRef2<f64>) {
    for ((i, k), &value) in work.indexed_iter() {
        // SAFETY: none; the memory is the host's, and writable.
        unsafe { first.offset(k as isize * distance + i as isize).write(value) };
    }
}

/// Makes this thread flush small numbers to zero.
pub(crate) fn flush_to_zero() {
    #[cfg(target_arch = "x86_64")]
    {
        let mut mode = 0u32;
        // SAFETY: changes only the floating-point modes of this thread.
        unsafe {
            std::arch::asm!("stmxcsr [{}]", in(reg) &raw mut mode);
            mode |= 0x8040;
            std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const mode);
        }
    }
}

unsafe extern "C" {
    fn openblas_set_num_threads(threads: std::ffi::c_int);
}

/// Gives BLAS more threads.
pub(crate) fn raise_blas() {
    // SAFETY: takes any positive number.
    unsafe { openblas_set_num_threads(4) };
}

/// Starts a thread that outlives its use.
pub(crate) fn leave_thread() {
    std::thread::spawn(|| {
        loop {
            std::thread::park();
        }
    });
}

/// Never returns and never calls the host.
pub(crate) fn hang() -> ! {
    loop {
        std::thread::park();
    }
}

/// Asks for a product again and again.
pub(crate) fn ask_on(problem: &Problem<'_>, direction: &ArrayRef2<f64>, product: &mut ArrayRef2<f64>) {
    for _ in 0..1000 {
        let _: Result<()> = problem.operator().apply(direction, product);
    }
}
