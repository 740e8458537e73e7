//! Runs by name, by `NAME~1` and by id, wherever a run is named; and the checksums of their plugins.

use crate::support::{Sandbox, spec};

#[test]
fn earlier_runs_are_named_by_count_and_by_id() {
    let sandbox = Sandbox::with_spec(&spec("named", &[]));
    let ids: Vec<String> = (0..2)
        .map(|_| {
            sandbox.run(&["run", "spec.toml", "--fresh"]).exits(0);
            let latest = std::fs::canonicalize(sandbox.path("reports/named/latest")).expect("a run");
            latest.file_name().expect("an id").to_string_lossy().into_owned()
        })
        .collect();
    let [first, second] = [&ids[0], &ids[1]];
    let told = |id: &str, name: &str| format!("{name}: run {id} of named, ");
    for (name, id) in [("latest", second), ("named", second), ("named~1", first), (first.as_str(), first)] {
        let ended = sandbox.run(&["report", name]).exits(0).says(&[&told(id, name), " UTC, 2 rows"]);
        assert!(ended.stderr.starts_with(&told(id, name)), "{}", ended.stderr);
    }
    let quiet = sandbox.run(&["report", "latest", "--quiet"]).exits(0);
    assert_eq!(quiet.stderr, "");
    // A folder needs no explanation.
    let folder = format!("reports/named/{first}");
    assert!(!sandbox.run(&["report", &folder]).exits(0).stderr.contains(": run "));
    sandbox.run(&["compare", "named~1", "named", "--exact"]).exits(0);
    sandbox.run(&["check", "spec.toml", "--baseline", "named~1", "--allow-undecided"]).exits(0);
    sandbox.run(&["merge", first, &format!("named/{second}")]).exits(0);

    // What is unknown or ambiguous lists what there is.
    sandbox.run(&["report", "named~9"]).exits(2).says(&[
        "there is no run `named~9`",
        "named~0 (",
        "named~1 (",
    ]);
    sandbox.run(&["report", "20"]).exits(2).says(&["`20` begins the ids of several runs: ", first, second]);
    sandbox.run(&["report", "other~1"]).exits(2).says(&["there are: "]);
    sandbox.run(&["check", "spec.toml", "--baseline", "20"]).exits(2).says(&["several runs"]);
}

#[test]
fn the_checksum_of_each_plugin_is_shown_and_whether_it_changed() {
    let sandbox = Sandbox::with_spec(&spec("summed", &[]));
    for _ in 0..2 {
        sandbox.run(&["run", "spec.toml", "--fresh"]).exits(0);
    }
    let first = std::fs::canonicalize(sandbox.path("reports/summed/latest")).expect("a run");
    let json = sandbox.run(&["history", "summed", "-s", "cg", "--format", "json"]).exits(0).json();
    let points = json["points"].as_array().expect("points");
    let plugin = points[0]["plugins"][0].as_str().expect("a checksum");
    assert_eq!((points[0]["plugin_changed"].is_null(), &points[1]["plugin_changed"]), (true, &false.into()));
    let report = std::fs::read_to_string(first.join("report.md")).expect("a report");
    let short = &plugin[..10];
    assert!(report.contains(&format!("| {short} |")) && report.contains("the run before, "), "{report}");
    let table = sandbox.run(&["history", "summed", "-s", "cg", "--wide"]).exits(0).prints(&[short]);
    assert!(!table.stdout.contains("(changed)"), "{}", table.stdout);

    // The second run with another plugin, as its plan states it.
    let plan = first.join("plan.json");
    let text = std::fs::read_to_string(&plan).expect("a plan");
    let other = format!("0123456789{}", &plugin[10..]);
    std::fs::write(&plan, without_check(&text.replace(plugin, &other))).expect("a writable plan");
    sandbox.run(&["history", "summed", "-s", "cg", "--wide"]).exits(0).prints(&["0123456789 (changed)"]);
    let report = sandbox.run(&["report", "summed", "--format", "md"]).exits(0);
    report.prints(&[&format!("0123456789 (was {short})")]);
}

/// A stored object without its checksum, as earlier versions wrote it.
fn without_check(text: &str) -> String {
    let mut object: serde_json::Value = serde_json::from_str(text).expect("an object");
    object.as_object_mut().expect("an object").remove("check");
    object.to_string()
}
