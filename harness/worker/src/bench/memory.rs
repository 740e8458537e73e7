//! The limit of the memory: reading two arrays and writing a third.

use std::error::Error;
use std::hint::black_box;

use gpbench_gp::thread_pool;
use rayon::prelude::*;

/// Numbers of an array: three arrays are far larger than a processor's caches.
const LENGTH: usize = 1 << 24;

/// Numbers that a thread takes at a time.
const PIECE: usize = 1 << 16;

/// Bytes that a pass moves. A processor that reads memory before it overwrites it moves a third more.
pub(super) const BYTES: f64 = 24.0 * LENGTH as f64;

/// A pass `a = b + 3 c` on `threads` threads.
pub(super) fn pass(threads: usize) -> Result<impl FnMut(), Box<dyn Error>> {
    let pool = thread_pool(threads)?;
    let [mut a, b, c] = [1.0, 2.0, 3.0].map(|value| vec![value; LENGTH]);
    Ok(move || {
        pool.install(|| {
            let pieces = a.par_chunks_mut(PIECE).zip(b.par_chunks(PIECE)).zip(c.par_chunks(PIECE));
            pieces.for_each(|((a, b), c)| {
                a.iter_mut().zip(b).zip(c).for_each(|((a, b), c)| *a = b + 3.0 * c);
            });
        });
        black_box(&a);
    })
}
