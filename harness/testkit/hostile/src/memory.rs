//! Acts that take memory in ways that the resident size of one process does not show.
//!
//! Each takes a bounded amount, so that a harness that does not detect it survives, and then sleeps for a while.

use std::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::forks::wait_to_be_noticed;
use crate::{acts, forks};

/// Bytes that are taken.
const MOST: usize = 1 << 30;
/// Bytes that the fastest act takes.
const MOST_FAST: usize = 4 << 30;
/// Bytes of one piece.
const PIECE: usize = 16 << 20;
/// Bytes that one write touches.
const PAGE: usize = 4096;
/// Threads or children that share the work.
const SHARES: usize = 4;

/// A new mapping without a file; null if it is refused.
fn map(bytes: usize, flags: i32) -> *mut u8 {
    let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_ANONYMOUS | flags);
    // SAFETY: a new mapping at any address.
    let piece = unsafe { libc::mmap(null_mut(), bytes, protection, flags, -1, 0) };
    if piece == libc::MAP_FAILED { null_mut() } else { piece.cast() }
}

/// Takes memory in pieces, with every page touched by the system itself.
fn take(most: usize, taken: &AtomicUsize) {
    while taken.fetch_add(PIECE, Ordering::Relaxed) < most {
        if map(PIECE, libc::MAP_PRIVATE | libc::MAP_POPULATE).is_null() {
            return;
        }
    }
}

/// Takes memory in several threads at a time.
pub(crate) fn allocate_fast() {
    let taken = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..SHARES {
            scope.spawn(|| take(MOST_FAST, &taken));
        }
    });
    wait_to_be_noticed();
}

/// Writes to a file in memory that has no name and is not mapped.
pub(crate) fn fill_memfd() {
    let piece = vec![1u8; PIECE];
    // SAFETY: a name that ends with zero; the descriptor stays open.
    let file = unsafe { libc::memfd_create(c"act".as_ptr(), 0) };
    for _ in 0..MOST / PIECE {
        // SAFETY: writes live bytes.
        unsafe { libc::write(file, piece.as_ptr().cast(), PIECE) };
    }
    wait_to_be_noticed();
}

/// Starts children that each fill a quarter of one shared mapping.
pub(crate) fn fill_shared() {
    let shared = map(MOST, libc::MAP_SHARED);
    assert!(!shared.is_null(), "a mapping");
    for share in 0..SHARES {
        if forks::fork() {
            for offset in (0..MOST / SHARES).step_by(PAGE) {
                // SAFETY: inside the mapping.
                unsafe { shared.add(share * (MOST / SHARES) + offset).write_volatile(1) };
            }
            wait_to_be_noticed();
            acts::exit();
        }
    }
    wait_to_be_noticed();
}

/// Ends the main thread while another one takes memory.
pub(crate) fn allocate_without_leader() -> ! {
    thread::spawn(|| {
        take(MOST, &AtomicUsize::new(0));
        wait_to_be_noticed();
        acts::exit()
    });
    forks::leave_thread()
}
