//! A frame of a Python process, and the places in shared memory that it names.
#![no_main]

use gpbench_bridge_py::frame::{Body, HOT, decode, encode};
use gpbench_bridge_py::region::{Extent, FIRST, Region, disjoint};
use gpbench_bridge_py::serve;
use libfuzzer_sys::fuzz_target;

/// Bytes of the shared memory.
const SIZE: i64 = 1 << 20;

fuzz_target!(|bytes: &[u8]| {
    let Ok(frame) = decode(bytes) else { return };
    let _ = (serve::reason(&frame), frame.text("name"), frame.integer("offset"), frame.number("value"));
    let Body::Numbers(integers, reals) = frame.body else { return };
    let again = encode(frame.kind, frame.flags, frame.status, frame.sequence, &integers, &reals);
    assert_eq!((bytes, bytes.len()), (&again[..], HOT));
    let mut regions = Vec::new();
    for numbers in integers.windows(4) {
        let numbers = [numbers[0], numbers[1], numbers[2], numbers[3]];
        let Ok(region) = Region::read(numbers, Extent::Any, Extent::Any, SIZE, "x") else { continue };
        if !region.is_empty() {
            let last = region.offset + 8 * ((region.cols - 1) * region.ld + region.rows);
            assert!(region.offset >= FIRST && region.offset % 8 == 0 && last <= SIZE);
        }
        regions.push(("x", region));
    }
    let _ = disjoint(&regions);
});
