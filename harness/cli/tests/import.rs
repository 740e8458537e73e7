//! `gpbench data import`: what is shown, and a spec that reads the same file.

use crate::support::{Sandbox, spec};

const HOUSES: &str = "id;area;colour;price\n\
    1;50.5;red;1.5\n2;60.5;blue;2.5\n3;70.25;red;2\n4;80;green;4\n5;90;red;4.5\n6;95;blue;5\n";

const OPTIONS: [&str; 6] = ["--drop", "id", "--categories", "colour", "--separator", ";"];

#[test]
fn the_target_the_inputs_and_the_first_rows_are_shown() {
    let sandbox = Sandbox::new();
    sandbox.write("houses.csv", HOUSES);
    let import = |more: &[&str]| sandbox.run(&[&["data", "import", "houses.csv"], more].concat());
    let shown = import(&OPTIONS).exits(0);
    assert_eq!(shown.stderr, "");
    let shown = shown.prints(&[
        "houses.csv: 6 rows, 4 inputs\ntarget: price\ninputs: area, colour=blue, colour=green, colour=red\n\n area ",
        "\n 50.5            0             0           1    1.5\n",
        "\n[dataset.houses]\npath = \"houses.csv\"\ndrop = [\"id\"]\ncategories = [\"colour\"]\nseparator = \";\"\n",
    ]);
    // Five of the six rows.
    assert!(shown.stdout.contains("4.5\n") && !shown.stdout.contains("95 "), "{}", shown.stdout);

    let json = import(&[&OPTIONS[..], &["--format", "json", "--target", "area"]].concat()).exits(0).json();
    assert_eq!(json["schema"], 1);
    let dataset = &json["dataset"];
    assert_eq!((&dataset["rows"], &dataset["target"]), (&6.into(), &"area".into()));
    assert_eq!(dataset["inputs"], serde_json::json!(["colour=blue", "colour=green", "colour=red", "price"]));
    assert_eq!(dataset["first_rows"][0], serde_json::json!([0.0, 0.0, 1.0, 1.5, 50.5]));

    // Without options all is told that has to be changed.
    import(&[]).exits(2).says(&["the file has one column", "it seems to use `;`: set `separator`"]);
    import(&["--separator", ";"]).exits(2).says(&["`red` in column 3 (`colour`) is not a number"]);
    import(&["--separator", "xy"]).exits(2).says(&["a separator is one character"]);
    let counted = import(&["--separator", ";", "--categories", "2"]).exits(0);
    counted.says(&["warning: column 1 (`id`) counts the rows"]);
}

#[test]
fn a_spec_reads_a_file_with_the_same_options() {
    let keys = "path = \"houses.csv\"\ndrop = \"id\"\ncategories = [\"colour\"]\nseparator = \";\"\nheader = true\n\
        target = \"price\"";
    let sandbox = Sandbox::with_spec(&spec("houses", &[("from = \"gp-draw\"\nn = 60\nd = 2", keys)]));
    sandbox.write("houses.csv", HOUSES);
    sandbox.run(&["run", "spec.toml", "-s", "cholesky"]).exits(0);
    let cases = sandbox.cases();
    assert_eq!((cases.len(), &cases[0]["status"]), (1, &"ok".into()));
    let wrong = spec("wrong", &[("n = 60", "n = 60\nseparator = \"::\"\ndrop = [\"a\"]")]);
    sandbox.write("wrong.toml", &wrong);
    sandbox
        .run(&["plan", "wrong.toml"])
        .exits(2)
        .says(&["a separator is one character", "`drop` does not apply to data set `draw`"]);
}

#[test]
fn manual_pages_are_written_for_each_verb() {
    let sandbox = Sandbox::new();
    sandbox.run(&["manual", "man1"]).exits(0);
    for page in ["gpbench.1", "gpbench-run.1", "gpbench-data-import.1"] {
        assert!(sandbox.read(&format!("man1/{page}")).starts_with(".ie"), "{page}");
    }
}
