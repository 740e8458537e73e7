//! The examples of benchmarks/examples: the script makes their tables, and small parts of their specs run.

use std::path::Path;

use crate::support::{Ended, Sandbox, checkout};

/// The examples, each with rows for a test and the options of a small run.
const EXAMPLES: [(&str, &str, &[&str]); 3] = [
    ("kriging", "400", &["-d", "sites", "-s", "ap"]),
    ("hourly", "200", &["-d", "gaps", "--set", "train.optimum=false"]),
    ("wide", "160", &["--set", "train.optimum=false"]),
];

/// A sandbox with the specs of the examples and their script.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    for entry in std::fs::read_dir(checkout("benchmarks/examples")).expect("the examples") {
        let path = entry.expect("an entry").path();
        let kept = path.extension().is_some_and(|end| ["toml", "py"].iter().any(|kept| end == *kept));
        if kept {
            let name = path.file_name().expect("a name").to_str().expect("UTF-8");
            std::fs::copy(&path, sandbox.path(name)).expect("a writable folder");
        }
    }
    sandbox
}

/// Makes a table.
fn make(sandbox: &Sandbox, args: &[&str]) {
    Ended::of(&mut sandbox.command_of("python3", &[&["make-data.py"], args].concat())).exits(0);
}

#[test]
fn each_example_is_planned_and_a_part_of_it_runs() {
    let sandbox = sandbox();
    let readme = std::fs::read_to_string(checkout("benchmarks/README.md")).expect("a page");
    for (name, rows, part) in EXAMPLES {
        let spec = format!("{name}.toml");
        assert!(readme.contains(&format!("{spec})")), "{spec} is missing in benchmarks/README.md");
        make(&sandbox, &[name, "--rows", rows]);
        sandbox.run(&["plan", &spec]).exits(0);
        let small = ["run", &spec, "--set", "seeds=[0]", "--set", "train.steps=3"];
        sandbox.run(&[&small[..], part].concat()).exits(0);
        let cases = sandbox.run(&["report", &format!("example-{name}"), "--format", "json"]).exits(0).json();
        let cases = cases["cases"].as_array().expect("cases").clone();
        assert!(cases.len() >= 2, "{name}");
        assert!(cases.iter().all(|case| case["metrics"]["coverage_95"].is_f64()), "{name}: {cases:?}");
    }
}

#[test]
fn the_tables_are_as_described_and_the_same_each_time() {
    let sandbox = sandbox();
    make(&sandbox, &["hourly", "wide"]);
    let tables = ["hourly.csv", "wide.csv"].map(|name| sandbox.read(name));
    let lines = |table: &str| table.lines().skip(1).map(str::to_owned).collect::<Vec<_>>();
    let [hourly, wide] = tables.each_ref().map(|table| lines(table));
    assert_eq!((hourly.len(), wide.len()), (1500, 800));
    assert!(wide.iter().all(|line| line.split(',').count() == 50));
    let incomplete = wide.iter().filter(|line| line.split(',').any(str::is_empty)).count();
    assert!((50..150).contains(&incomplete), "{incomplete}");
    make(&sandbox, &["kriging", "--rows", "2000"]);
    let kriging = sandbox.read("kriging.csv");
    let mut sites: Vec<&str> = kriging.lines().skip(1).filter_map(|line| line.split(',').next()).collect();
    assert_eq!(sites.len(), 2000);
    sites.dedup();
    assert_eq!(sites.len(), 500);
    // In another folder.
    std::fs::create_dir(sandbox.path("again")).expect("a new folder");
    make(&sandbox, &["hourly", "wide", "--to", "again"]);
    assert_eq!(["again/hourly.csv", "again/wide.csv"].map(|name| sandbox.read(name)), tables);
    assert!(!Path::new(&sandbox.path("again/kriging.csv")).exists());
    Ended::of(&mut sandbox.command_of("python3", &["make-data.py", "narrow"]))
        .exits(2)
        .says(&["no table `narrow`"]);
}
