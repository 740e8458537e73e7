//! Acts that take several lines.

use std::hint::black_box;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use gpbench_sdk::Problem;
use gpbench_sdk::ndarray::{Array2, ArrayView2, ShapeBuilder};

/// Writes through a null pointer, as a faulty C plugin would.
pub(crate) fn segfault() {
    // SAFETY: none; the crash is the purpose. The pointer is hidden from the compiler, so that the write is not
    // optimised away.
    unsafe { black_box(std::ptr::null_mut::<u8>()).write_volatile(1) };
}

/// Ends the process with status 0, without unwinding or exit handlers.
pub(crate) fn exit() -> ! {
    // SAFETY: always sound; ends the process.
    unsafe { libc::_exit(0) }
}

/// Writes text, partial records and false records to standard output, by `print` and by system calls.
pub(crate) fn print_to_stdout() {
    for line in 0..2000 {
        println!("hello from line {line} of a talkative solver");
    }
    println!(r#"{{"message":"done","status":"ok","metrics":{{"test_rmse":0.0}}}}"#);
    let half = br#"{"message":"row","status":"#;
    // SAFETY: writes live bytes to a descriptor, whichever it is.
    unsafe { libc::write(1, half.as_ptr().cast(), half.len()) };
    println!();
}

/// Closes standard output.
pub(crate) fn close_stdout() {
    // SAFETY: later writes to it return an error.
    unsafe { libc::close(1) };
}

/// Computes for 1.5 s.
pub(crate) fn work() {
    let began = Instant::now();
    while began.elapsed() < Duration::from_millis(1500) {
        std::hint::spin_loop();
    }
}

/// Never returns and never calls the host.
pub(crate) fn hang() -> ! {
    loop {
        std::hint::spin_loop();
    }
}

/// Allocates and writes memory until the process fails.
pub(crate) fn allocate() -> ! {
    const PIECE: usize = 16 << 20;
    let mut held = Vec::new();
    loop {
        held.push(vec![1u8; PIECE]);
        black_box(&held);
    }
}

/// Recurses until the stack is used up.
#[expect(unconditional_recursion, reason = "that is the act")]
pub(crate) fn overflow_stack(depth: u64) -> u64 {
    let frame = black_box([depth; 128]);
    overflow_stack(depth + 1) + black_box(frame[0])
}

/// Leaves a child that keeps every inherited descriptor open for a minute, and exits.
pub(crate) fn fork_and_exit() -> ! {
    // SAFETY: the child makes only calls that are allowed after a fork in a threaded process.
    unsafe {
        if libc::fork() == 0 {
            libc::sleep(60);
        }
        libc::_exit(0)
    }
}

/// Panics in a thread that holds a lock, and then because the lock is poisoned.
pub(crate) fn panic_in_thread() {
    let lock = Arc::new(Mutex::new(()));
    let held = Arc::clone(&lock);
    let thread = std::thread::spawn(move || {
        let _held = held.lock();
        panic!("a panic in a thread, as told");
    });
    let _ = thread.join();
    drop(lock.lock().expect("a lock that a panic has poisoned, as told"));
}

/// Waits without end.
pub(crate) fn sleep() -> ! {
    loop {
        std::thread::park();
    }
}

/// Stops all threads of the process until it gets SIGCONT.
pub(crate) fn stop_process() {
    // SAFETY: always sound.
    unsafe { libc::raise(libc::SIGSTOP) };
}

/// Writes to read-only data.
pub(crate) fn overwrite(array: ArrayView2<'_, f64>, value: f64) {
    for entry in &array {
        // SAFETY: none; the fault is the purpose. The host does not read the numbers meanwhile.
        unsafe { black_box(std::ptr::from_ref(entry).cast_mut()).write_volatile(value) };
    }
}

/// Calls products without regard to the host's answers.
pub(crate) fn ignore_stop(problem: &mut Problem<'_>, products: u64) {
    let operator = problem.operator();
    let direction = problem.rhs().to_owned();
    let mut product = Array2::zeros(direction.dim().f());
    for _ in 0..products {
        let _ = operator.apply(&direction, &mut product);
        let _ = problem.observe(0, &[]);
    }
}
