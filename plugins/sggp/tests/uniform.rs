//! Groups drawn uniformly.

use gpbench_plugin_sggp::draw;

#[test]
fn groups_have_distinct_rows_and_all_others_are_equally_likely() {
    let mut count = [0; 10];
    for step in 0..3000 {
        let groups = draw(&[4], 3, 10, 7, step);
        let mut rows = groups.row(0).to_vec();
        assert_eq!(rows[0], 4);
        rows.sort_unstable();
        rows.dedup();
        assert_eq!(rows.len(), 3);
        rows.iter().for_each(|&row| count[row] += 1);
    }
    // 667 expected, with a standard deviation of 23.
    count[4] = 667;
    assert!(count.iter().all(|count| (567..767).contains(count)), "{count:?}");
}

#[test]
fn a_step_never_changes() {
    assert_eq!(draw(&[3, 5], 4, 50, 1, 9), draw(&[3, 5], 4, 50, 1, 9));
    assert_ne!(draw(&[3, 5], 4, 50, 1, 9), draw(&[3, 5], 4, 50, 1, 10));
    assert_ne!(draw(&[3, 5], 4, 50, 1, 9), draw(&[3, 5], 4, 50, 2, 9));
    assert_eq!(draw(&[0], 16, 1, 1, 0).row(0).to_vec(), [0]);
}
