//! The decoder of frames, and the checks of places in the arena.

use gpbench_bridge_py::frame::{
    Body, HOT, INTEGERS, MOST_JSON, REALS, decode, encode, encode_text, flag, kind,
};
use gpbench_bridge_py::region::{Extent, FIRST, Region, check_indices, disjoint};
use proptest::prelude::*;

const SIZE: i64 = 1 << 30;

/// What is wrong with some bytes.
fn wrong(bytes: &[u8]) -> String {
    decode(bytes).expect_err("a wrong frame").to_string()
}

#[test]
fn numbers_come_back() {
    let integers: [i64; INTEGERS] = std::array::from_fn(|index| i64::MIN + index as i64);
    let bytes = encode(kind::APPLY, flag::MIXED, -3, u64::MAX, &integers, &[1.5, f64::NEG_INFINITY]);
    assert_eq!(bytes.len(), HOT);
    let frame = decode(&bytes).unwrap();
    assert_eq!((frame.kind, frame.flags, frame.status, frame.sequence), (kind::APPLY, 1, -3, u64::MAX));
    assert_eq!(frame.body, Body::Numbers(integers, [1.5, f64::NEG_INFINITY]));
}

#[test]
fn objects_come_back() {
    let frame = decode(&encode_text(kind::LOG, 7, r#"{"level": "info", "text": "ü"}"#)).unwrap();
    assert_eq!((frame.kind, frame.sequence, frame.text("text").unwrap()), (kind::LOG, 7, "ü"));
    assert_eq!(frame.text("name").unwrap_err().to_string(), "a frame of kind 61 has no text `name`");
    assert_eq!(
        frame.integer("text").unwrap_err().to_string(),
        "a frame of kind 61 has no whole number `text`"
    );
}

#[test]
fn lengths_kinds_and_flags_are_checked() {
    let good = encode(kind::APPLY, 0, 0, 1, &[], &[]);
    assert_eq!(wrong(&[]), "a frame of 0 bytes has no header");
    assert_eq!(wrong(&good[..15]), "a frame of 15 bytes has no header");
    assert_eq!(wrong(&good[..HOT - 1]), "a frame of kind 50 has 143 bytes, not 144");
    assert_eq!(wrong(&[&good[..], &[0]].concat()), "a frame of kind 50 has 145 bytes, not 144");
    assert_eq!(
        wrong(&encode(kind::APPLY, 2, 0, 1, &[], &[])),
        "a frame of kind 50 has the unknown flags 0x2"
    );
    for unknown in [0, kind::CREATE, kind::REPLY, kind::END, 39, 45, 49, 71, u16::MAX] {
        assert_eq!(
            wrong(&encode(unknown, 0, 0, 1, &[], &[])),
            format!("a frame of the unknown kind {unknown}")
        );
    }
    assert!(wrong(&encode_text(kind::LOG, 1, "")).contains("0 bytes of text, not 1 to 65536"));
    assert!(wrong(&encode_text(kind::LOG, 1, &" ".repeat(MOST_JSON + 1))).contains("65537 bytes"));
    for text in ["[1]", "{", "null", "{\"a\": 1} x", "\u{0}"] {
        assert!(wrong(&encode_text(kind::LOG, 1, text)).starts_with("a frame of kind 61 is no object"));
    }
}

#[test]
fn a_region_lies_in_the_arena() {
    let read = |numbers| Region::read(numbers, Extent::Any, Extent::Any, SIZE, "x");
    assert!(read([FIRST, 3, 2, 5]).is_ok());
    assert!(read([SIZE - 8 * 8, 3, 2, 5]).is_ok(), "the last entry is the arena's last one");
    for numbers in [
        [0, 3, 2, 3],
        [FIRST - 8, 3, 2, 3],
        [FIRST + 4, 3, 2, 3],
        [-8, 3, 2, 3],
        [SIZE - 8 * 8 + 8, 3, 2, 5],
        [SIZE, 1, 1, 1],
        [i64::MAX - 7, 1, 1, 1],
        [FIRST, 3, 2, 2],
        [FIRST, -1, 2, 5],
        [FIRST, 3, -1, 5],
        [FIRST, 1, i64::MAX, i64::MAX],
        [FIRST, i64::MAX, 1, i64::MAX],
        [FIRST, 1 << 31, 1 << 31, 1 << 31],
        [i64::MIN, i64::MIN, i64::MIN, i64::MIN],
    ] {
        assert!(read(numbers).is_err(), "{numbers:?}");
    }
    let text = Region::read([FIRST, 3, 2, 3], Extent::Exactly(4), Extent::Any, SIZE, "y").unwrap_err();
    assert_eq!(text.to_string(), "`y` is 3 x 2, where 4 x any number is needed");
}

#[test]
fn overlaps_are_found() {
    let region = |offset, rows, cols, ld| {
        Region::read([offset, rows, cols, ld], Extent::Any, Extent::Any, SIZE, "x").unwrap()
    };
    let whole = region(FIRST, 10, 4, 10);
    assert!(disjoint(&[("a", whole), ("b", region(FIRST + 320, 10, 4, 10))]).is_ok());
    assert!(disjoint(&[("a", whole), ("b", region(FIRST, 0, 4, 10))]).is_ok());
    let error = disjoint(&[("a", whole), ("b", region(FIRST + 312, 1, 1, 1))]).unwrap_err();
    assert_eq!(error.to_string(), "`b` overlaps `a`");
    // Two sets of rows of one matrix share no entry, but their columns alternate.
    assert!(disjoint(&[("a", region(FIRST, 5, 4, 10)), ("b", region(FIRST + 40, 5, 4, 10))]).is_err());
}

#[test]
fn indices_are_in_range() {
    assert!(check_indices(&[], 0, "rows").is_ok());
    assert!(check_indices(&[0, 4, 4], 5, "rows").is_ok());
    for index in [-1, 5, i64::MIN, i64::MAX] {
        assert!(check_indices(&[0, index], 5, "rows").is_err());
    }
}

proptest! {
    /// Whatever bytes a child sends, the answer is a frame of a known form or an error.
    #[test]
    fn any_bytes_are_a_frame_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..300), kind in 40u16..72) {
        let _ = decode(&bytes);
        let mut hot = encode(kind, 0, 0, 1, &[], &[]).to_vec();
        hot.splice(16.., bytes.iter().copied());
        if let Ok(frame) = decode(&hot) {
            prop_assert!((40..=70).contains(&frame.kind));
            if let Body::Numbers(..) = frame.body {
                prop_assert_eq!(hot.len(), HOT);
            }
        }
    }

    #[test]
    fn any_numbers_come_back(integers: [i64; INTEGERS], reals: [u64; REALS], sequence: u64, status: i32) {
        let reals = reals.map(f64::from_bits);
        let frame = decode(&encode(kind::OBSERVE, 0, status, sequence, &integers, &reals)).unwrap();
        prop_assert_eq!(frame.integers(), &integers);
        prop_assert_eq!(frame.real().to_bits(), reals[0].to_bits());
        prop_assert_eq!((frame.sequence, frame.status), (sequence, status));
    }

    /// A region that is accepted has all of its entries inside the arena, computed in wider numbers.
    #[test]
    fn accepted_regions_lie_inside(
        offset in prop_oneof![any::<i64>(), 0..SIZE],
        rows in prop_oneof![any::<i64>(), 0i64..1000],
        cols in prop_oneof![any::<i64>(), 0i64..1000],
        ld in prop_oneof![any::<i64>(), 0i64..2000],
    ) {
        let read = Region::read([offset, rows, cols, ld], Extent::Any, Extent::Any, SIZE, "x");
        let wide = |number: i64| i128::from(number);
        let is_sound = rows >= 0 && cols >= 0 && ld >= rows.max(1);
        let entries = ((wide(cols) - 1) * wide(ld)).checked_add(wide(rows));
        let bytes = entries.and_then(|entries| entries.checked_mul(8));
        let end = bytes.and_then(|bytes| bytes.checked_add(wide(offset)));
        let lies_inside = offset >= FIRST && offset % 8 == 0 && end.is_some_and(|end| end <= wide(SIZE));
        prop_assert_eq!(read.is_ok(), is_sound && (rows == 0 || cols == 0 || lies_inside));
    }

    /// Two regions that are found apart share no entry.
    #[test]
    fn regions_that_are_apart_share_no_entry(
        first in (0i64..60, 0i64..5, 0i64..5, 0i64..3),
        second in (0i64..60, 0i64..5, 0i64..5, 0i64..3),
    ) {
        let region = |(offset, rows, cols, more): (i64, i64, i64, i64)| {
            let numbers = [FIRST + 8 * offset, rows, cols, rows.max(1) + more];
            Region::read(numbers, Extent::Any, Extent::Any, SIZE, "x").unwrap()
        };
        let entries = |region: &Region| -> Vec<i64> {
            let at = |j: i64| (0..region.rows).map(move |i| region.offset + 8 * (i + j * region.ld));
            (0..region.cols).flat_map(at).collect()
        };
        let (first, second) = (region(first), region(second));
        if !first.overlaps(&second) {
            let entries = (entries(&first), entries(&second));
            prop_assert!(entries.0.iter().all(|entry| !entries.1.contains(entry)));
        }
    }
}
