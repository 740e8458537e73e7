//! What a stream of minibatches gives.

use gpbench_abi::stream::{INDEPENDENT, SAME_EACH_PASS};
use gpbench_abi::{Batches, Position};

/// A generator for tests (Steele et al. 2014, SplitMix64), seeded with the stream's number.
fn words(stream: u64) -> impl FnMut() -> u64 {
    let mut state = stream;
    move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = state;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }
}

fn draw(batches: &mut Batches, want: usize) -> Vec<i64> {
    batches.draw(want, words).to_vec()
}

/// Passes, each as its batches in turn.
fn pass(batches: &mut Batches, want: usize) -> Vec<Vec<i64>> {
    let shuffles = batches.position().shuffles;
    let mut pass = Vec::new();
    while batches.position().shuffles == shuffles {
        pass.push(draw(batches, want));
    }
    pass
}

fn sorted(mut rows: Vec<i64>) -> Vec<i64> {
    rows.sort_unstable();
    rows
}

#[test]
fn a_pass_is_a_permutation_and_its_last_batch_is_short() {
    let mut batches = Batches::new(10, 0).unwrap();
    let (first, second) = (pass(&mut batches, 4), pass(&mut batches, 4));
    assert_eq!(first.iter().map(Vec::len).collect::<Vec<_>>(), [4, 4, 2]);
    assert_eq!(sorted(first.concat()), (0..10).collect::<Vec<_>>());
    assert_eq!(sorted(second.concat()), (0..10).collect::<Vec<_>>());
    assert_ne!(first, second);
}

#[test]
fn the_order_of_a_pass_does_not_depend_on_the_size_of_batches() {
    let [small, large] = [3, 70].map(|want| {
        let mut batches = Batches::new(10, 5).unwrap();
        [pass(&mut batches, want).concat(), pass(&mut batches, want).concat()]
    });
    assert_eq!(small, large);
}

#[test]
fn streams_differ_and_the_same_each_pass_is_the_same_each_pass() {
    let mut of = [0, 1, SAME_EACH_PASS].map(|stream| Batches::new(20, stream).unwrap());
    let [first, other, same] = of.each_mut().map(|batches| pass(batches, 7));
    assert!(first != other && first != same);
    assert_eq!(pass(&mut of[2], 7), same);
    assert_ne!(pass(&mut of[0], 7), first);
}

#[test]
fn independent_batches_have_distinct_rows_that_are_equally_likely() {
    let mut batches = Batches::new(10, INDEPENDENT).unwrap();
    let mut count = [0; 10];
    for k in 0..3000 {
        // Sizes that change show that each batch starts from the rows in order.
        let batch = draw(&mut batches, 2 + k % 3);
        let mut distinct = sorted(batch.clone());
        distinct.dedup();
        assert_eq!(distinct.len(), batch.len());
        batch.iter().for_each(|&row| count[row as usize] += 1);
    }
    // 900 expected, with a standard deviation of 25.
    assert!(count.iter().all(|count| (775..1025).contains(count)), "{count:?}");
    let mut again = Batches::new(10, INDEPENDENT).unwrap();
    draw(&mut again, 10);
    assert_eq!(draw(&mut again, 4), draw(&mut Batches::at(10, INDEPENDENT, at(1, 0), words).unwrap(), 4));
}

fn at(shuffles: u64, given: u64) -> Position {
    Position { shuffles, given }
}

#[test]
fn a_stream_goes_on_from_its_position() {
    for stream in [0, 7, SAME_EACH_PASS, 3 | INDEPENDENT] {
        let mut batches = Batches::new(11, stream).unwrap();
        for _ in 0..9 {
            let mut resumed = Batches::at(11, stream, batches.position(), words).unwrap();
            assert_eq!(draw(&mut batches, 4), draw(&mut resumed, 4));
            assert_eq!(batches.position(), resumed.position());
        }
    }
}

#[test]
fn the_draws_never_change() {
    let mut batches = Batches::new(12, 2).unwrap();
    assert_eq!([draw(&mut batches, 7), draw(&mut batches, 7)], KNOWN.map(<[i64]>::to_vec));
}

/// Draws that must never change.
const KNOWN: [&[i64]; 2] = [&[10, 1, 2, 4, 11, 8, 6], &[9, 3, 7, 5, 0]];

#[test]
fn what_cannot_be_is_refused() {
    assert!(Batches::new(0, 0).is_none());
    assert!(Batches::new(3, 1 << 16).is_none());
    assert!(Batches::new(3, INDEPENDENT | SAME_EACH_PASS).is_none());
    assert!(Batches::at(3, 0, at(2, 3), words).is_none());
    assert!(Batches::at(3, INDEPENDENT, at(2, 1), words).is_none());
    assert!(Batches::new(3, 0).unwrap().draw(0, words).is_empty());
}

#[test]
fn stream_0_counts_passes_however_it_is_drawn() {
    for stream in [0, SAME_EACH_PASS, INDEPENDENT] {
        assert!(Batches::counts_passes(stream));
        assert!(!Batches::counts_passes(stream | 1));
    }
}

#[test]
fn a_whole_number_of_passes_is_spent_exactly() {
    assert!(!Batches::are_spent(29, 10, 3.0));
    assert!(Batches::are_spent(30, 10, 3.0));
    assert!(Batches::are_spent(3, 10, 0.1 + 0.1 + 0.1));
    assert!(Batches::are_spent(0, 10, 0.0));
    assert!(!Batches::are_spent(u64::MAX, 10, f64::INFINITY));
}
