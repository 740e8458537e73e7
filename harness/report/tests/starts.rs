//! What a report says of hyperparameters that a start from the data is better than.

use gpbench_report::{Format, export};

use crate::support::run;

#[test]
fn hyperparameters_far_below_a_start_from_the_data_are_warned_of() {
    let page = |gap: f64| {
        let mut run = run();
        run.record.rows.iter_mut().take(3).for_each(|row| row.metrics.insert("below_start", gap));
        export(&run, Format::Markdown).unwrap().replace('\\', "")
    };
    let expected =
        "the log likelihood per row of a sample of the rows is 0.800 below that of a start from the data";
    let far = page(0.8);
    assert!(far.contains("the hyperparameters of 1 model are far from the optimum: on pol"), "{far}");
    assert!(far.contains(expected), "{far}");
    assert!(!page(0.05).contains("far from the optimum"));
}
