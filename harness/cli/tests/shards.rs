//! Shards of a plan, run apart and merged.

use std::fs;

use crate::support::{Ended, Sandbox, library, reproducible, spec};

/// Four blocks of two solvers.
fn four_blocks() -> String {
    spec("shards", &[("seeds = [0]", "seeds = [0, 1, 2, 3]")])
}

/// Copies a folder with all that is in it.
fn copy(from: &std::path::Path, to: &std::path::Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder").flatten() {
        match entry.file_type().expect("a kind") {
            kind if kind.is_dir() => copy(&entry.path(), &to.join(entry.file_name())),
            kind if kind.is_file() => {
                fs::copy(entry.path(), to.join(entry.file_name())).expect("a copy");
            }
            _ => {}
        }
    }
}

#[test]
fn shards_of_two_computers_become_the_run_of_one() {
    let whole = Sandbox::with_spec(&four_blocks());
    whole.run(&["run", "spec.toml"]).exits(0);

    let [here, there] = [(); 2].map(|()| Sandbox::with_spec(&four_blocks()));
    let first = here.run(&["run", "spec.toml", "--shard", "1/3"]).exits(0);
    assert!(first.stderr.contains("to unite all shards: gpbench merge shards\n"), "{}", first.stderr);
    here.run(&["run", "spec.toml", "--shard", "2/3"]).exits(0);
    there.run(&["run", "spec.toml", "--shard", "3/3"]).exits(0);
    assert!(here.read("reports/shards/latest/report.md").contains("shard 2/3: 2 of 8 cases"));

    // The name stands for the shards that are here.
    let part = here.run(&["merge", "shards"]).exits(1);
    assert!(
        part.stderr.contains("merged 2 runs: 6 rows; 2 cases have no row (not among the runs: shards 3/3)"),
        "{}",
        part.stderr
    );
    copy(&there.path("reports/shards"), &here.path("brought"));
    let merged = here.run(&["merge", "shards", "brought"]).exits(0);
    assert!(merged.stderr.contains("merged 3 runs: 8 rows"), "{}", merged.stderr);

    let (expected, found) = (whole.sorted_cases(), here.sorted_cases());
    assert_eq!((expected.len(), found.len()), (8, 8));
    for (a, b) in expected.iter().zip(&found) {
        assert_eq!((&a["id"], &a["status"]), (&b["id"], &b["status"]));
        assert_eq!(reproducible(a), reproducible(b));
    }
    let whole = whole.path("reports/shards");
    here.run(&["compare", "--exact", whole.to_str().expect("a path"), "latest"]).exits(0);
    // The merged run is the run of the spec.
    let again = here.run(&["run", "spec.toml"]).exits(0);
    assert!(again.stderr.contains("nothing was left to run"), "{}", again.stderr);
    let report = here.read("reports/shards/latest/report.md");
    assert!(report.contains("8 of 8 cases ran in the runs that were merged"), "{report}");
}

#[test]
fn a_shard_without_a_block_is_no_failure() {
    let sandbox = Sandbox::with_spec(&four_blocks());
    let shards = (1..=5).map(|number| {
        let shard = format!("{number}/5");
        sandbox.run(&["run", "spec.toml", "--output-dir", "my runs", "--shard", &shard])
    });
    let empty = shards.filter(|ended| {
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        let is_empty = ended.stderr.contains("has no case");
        let hint = "to unite all shards: gpbench merge shards --output-dir 'my runs'\n";
        assert!(is_empty || ended.stderr.contains(hint), "{}", ended.stderr);
        is_empty
    });
    assert_eq!(empty.count(), 1);
    sandbox.run(&["merge", "shards", "--output-dir", "my runs"]).exits(0);
    // The merged run stands for its shards.
    let history = ["history", "shards", "--format", "json", "--output-dir", "my runs"];
    let history = sandbox.run(&history).exits(0).json();
    let points = history["points"].as_array().expect("points");
    assert_eq!(points.len(), 2);
    assert!(points.iter().all(|point| point["seeds"] == 4), "{history}");
}

#[test]
fn times_of_other_threads_are_left_out_and_counted() {
    let sandbox = Sandbox::with_spec(&four_blocks());
    sandbox.run(&["run", "spec.toml", "--shard", "1/2", "-t", "1"]).exits(0);
    sandbox.run(&["run", "spec.toml", "--shard", "2/2", "-t", "2"]).exits(0);
    let merged = sandbox.run(&["merge", "shards"]).exits(0);
    assert!(merged.stderr.contains("merged 2 runs: 8 rows"), "{}", merged.stderr);
    let report = sandbox.read("reports/shards/latest/report.md");
    assert!(report.contains("4 of 8 cases were timed in other environments"), "{report}");
    let is_of_kind = |line: &&str| line.ends_with("| 4 | left out |") && line.contains("| threads |");
    assert_eq!(report.lines().filter(is_of_kind).count(), 1, "{report}");
    let cases = sandbox.cases();
    assert!(cases.iter().all(|case| case["metrics"]["seconds_solve"].is_number()), "files keep all times");
}

/// A table of 40 rows.
fn table(sandbox: &Sandbox, factor: f64) {
    let row = |i: u32| format!("{},{}\n", f64::from(i) / 7.0, factor * (f64::from(i) / 5.0).sin());
    sandbox.write("rows.csv", &format!("x,y\n{}", (0..40).map(row).collect::<String>()));
}

/// What a merge says whose shards are of two contents: `cases` of them lack a row of one.
fn stands_apart(merged: Ended, name: &str, cases: usize) -> Ended {
    merged.exits(1).says(&[
        &format!("`{name}`: shards/"),
        &format!("the rows stand apart, as `{name} [2]`"),
        "merged 2 runs: 16 rows;",
        &format!("; {cases} cases have no row"),
    ])
}

#[test]
fn shards_between_which_the_data_or_a_plugin_was_replaced_stand_apart() {
    let datasets = ("dataset = [\"draw\"]", "dataset = [\"draw\", \"table\"]");
    let seeds = ("seeds = [0]", "seeds = [0, 1, 2, 3]");
    let text = spec("shards", &[seeds, datasets]) + "\n[dataset.table]\npath = \"rows.csv\"\n";
    let data = Sandbox::with_spec(&text);
    table(&data, 1.0);
    data.run(&["run", "spec.toml", "--shard", "1/2"]).exits(0);
    table(&data, 2.0);
    data.run(&["run", "spec.toml", "--shard", "2/2"]).exits(0);
    stands_apart(data.run(&["merge", "shards"]), "table", 8);
    let report = data.read("reports/shards/latest/report.md");
    assert!(report.contains("Data and plugins that differ between the runs"), "{report}");
    assert_eq!(data.cases().iter().filter(|case| case["dataset"] == "draw").count(), 8);

    let plugin = Sandbox::with_spec(&(text + "\n[solver.cg]\nlibrary = \"cg.so\"\n"));
    table(&plugin, 1.0);
    let own = plugin.path("cg.so");
    fs::copy(library("gpbench_plugin_cg"), &own).expect("a copy");
    plugin.run(&["run", "spec.toml", "--shard", "1/2"]).exits(0);
    // The loader ignores what follows the last section.
    let bytes = fs::read(&own).expect("a library");
    fs::remove_file(&own).expect("a file");
    fs::write(&own, [bytes.as_slice(), b"another build"].concat()).expect("a writable folder");
    plugin.run(&["run", "spec.toml", "--shard", "2/2"]).exits(0);
    stands_apart(plugin.run(&["merge", "shards"]), "cg", 8);
}

#[test]
fn wrong_words_are_explained() {
    let sandbox = Sandbox::with_spec(&four_blocks());
    for word in ["3", "0/2", "3/2", "a/b"] {
        let refused = sandbox.run(&["run", "spec.toml", "--shard", word]).exits(2);
        assert!(refused.stderr.contains("such as `3/16`"), "{}", refused.stderr);
    }
    let unknown = sandbox.run(&["merge", "shards"]).exits(2);
    assert!(unknown.stderr.contains("there is no run `shards`"), "{}", unknown.stderr);
    sandbox.run(&["merge"]).exits(2);
}
