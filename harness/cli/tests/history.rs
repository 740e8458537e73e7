//! `gpbench history`: a metric over the runs of a spec, as a table, as JSON and as a chart.

use crate::support::{Sandbox, spec};

#[test]
fn a_metric_is_shown_over_the_runs_of_a_spec() {
    let sandbox = Sandbox::with_spec(&spec("twice", &[("seeds = [0]", "seeds = [0, 1]")]));
    for _ in 0..2 {
        sandbox.run(&["run", "spec.toml", "--fresh"]).exits(0);
    }
    // A run that takes all rows of an earlier one measures nothing.
    sandbox.run(&["run", "spec.toml"]).exits(0);
    let json = ["history", "twice", "-m", "residual_y", "-s", "c?", "--format", "json"];
    let answer = sandbox.run(&json).exits(0).json();
    assert_eq!((&answer["schema"], &answer["metric"]), (&1.into(), &"residual_y".into()));
    let points = answer["points"].as_array().expect("points");
    assert_eq!(points.len(), 2, "{answer}");
    for point in points {
        assert_eq!((&point["solver"], &point["seeds"]), (&"cg".into(), &2.into()));
        let [lowest, mean, highest] =
            ["lowest", "mean", "highest"].map(|name| point[name].as_f64().expect(name));
        assert!(lowest <= mean && mean <= highest && lowest < highest, "{point}");
    }
    assert_eq!(points[0]["mean"], points[1]["mean"], "runs are reproducible");
    assert!(points[0]["finished"].as_str() < points[1]["finished"].as_str());
    assert_ne!(points[0]["run"], points[1]["run"]);

    let table = sandbox.run(&["history", "twice", "--chart", "history.svg", "--format", "md"]).exits(0);
    table.prints(&["| run | last case (UTC) | ", " | lowest | highest |", "cholesky"]);
    let chart = sandbox.read("history.svg");
    assert!(chart.starts_with("<svg") && chart.contains("total [s] over runs: twice"), "{chart}");
}

#[test]
fn a_history_without_values_says_so() {
    let sandbox = Sandbox::with_spec(&spec("once", &[]));
    sandbox.run(&["run", "spec.toml"]).exits(0);
    sandbox.run(&["history", "other"]).exits(2).says(&["there are: once"]);
    sandbox.run(&["history", "once", "-m", "nlml"]).exits(4).says(&["`nlml`"]);
    sandbox.run(&["history", "once", "-s", "sgd"]).exits(4);
    sandbox.run(&["history", "once", "-m", "speed"]).exits(2).says(&["gpbench list metrics"]);
}
