//! `gpbench data import`: what is shown, and a spec that reads the same file.

use crate::support::{Sandbox, spec};

const HOUSES: &str = "id;area;colour;price\n\
    1;50.5;red;1.5\n2;60.5;blue;2.5\n3;70.25;red;2\n4;80;green;4\n5;90;red;4.5\n6;95;blue;5\n";

const OPTIONS: [&str; 6] = ["--drop", "id", "--categories", "colour", "--separator", ";"];

#[test]
fn the_target_and_what_each_column_becomes_are_shown() {
    let sandbox = Sandbox::new();
    sandbox.write("houses.csv", HOUSES);
    let import = |more: &[&str]| sandbox.run(&[&["data", "import", "houses.csv"], more].concat());
    let shown = import(&OPTIONS).exits(0);
    assert_eq!(shown.stderr, "");
    shown.prints(&[
        "houses.csv: 6 rows, 4 inputs\ntarget: price (the last column, since no target is set)\nsplit: one row in ten is drawn for testing\n\ncolumn ",
        "\nid                                       left out\narea    numbers     50.5 to 95           input\ncolour  categories  3: blue, green, red  3 inputs, 0 or 1\nprice   numbers     1.5 to 5             target\n",
        "\nin a spec:\n[dataset.houses]\npath = \"houses.csv\"\ndrop = [\"id\"]\ncategories = [\"colour\"]\nseparator = \";\"\n",
    ]);

    let json = import(&[&OPTIONS[..], &["--format", "json", "--target", "area"]].concat()).exits(0).json();
    assert_eq!(json["schema"], 1);
    let dataset = &json["dataset"];
    assert_eq!((&dataset["rows"], &dataset["target"]), (&6.into(), &"area".into()));
    assert_eq!(dataset["inputs"], serde_json::json!(["colour=blue", "colour=green", "colour=red", "price"]));
    assert_eq!(dataset["first_rows"][0], serde_json::json!([0.0, 0.0, 1.0, 1.5, 50.5]));
    assert_eq!(dataset["read"]["columns"][2]["values"], "3: blue, green, red");

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

/// Houses with a constant column.
const PLAIN: &str = "k,area,price\n7,50.5,1.5\n7,60.5,2.5\n7,70.25,2\n7,80,4\n7,90,4.5\n7,95,5\n";

fn of_houses() -> Sandbox {
    Sandbox::with_spec(&spec("houses", &[("from = \"gp-draw\"\nn = 60\nd = 2", "path = \"houses.csv\"")]))
}

#[test]
fn a_target_by_default_and_warnings_of_the_file_are_in_the_run_and_its_report() {
    let sandbox = of_houses();
    sandbox.write("houses.csv", PLAIN);
    // The second time, nothing is read and nothing runs; the same is said.
    for _ in 0..2 {
        sandbox.run(&["run", "spec.toml", "-s", "cholesky"]).exits(0).says(&[
            "data set `draw`: its target is `price`, the last column, since no `target` is set",
            "warning: data set `draw`: column 1 (`k`) is 7 in every row",
        ]);
        // Marks of Markdown are escaped.
        let report = sandbox.read("reports/houses/latest/report.md").replace('\\', "");
        for text in ["price (the last column)", "warning: data set `draw`: column 1 (`k`) is 7 in every row"]
        {
            assert!(report.contains(text), "`{text}` is missing:\n{report}");
        }
        let page = sandbox.read("reports/houses/latest/index.html");
        assert!(page.contains("price (the last column)") && page.contains("is 7 in every row"));
    }
    let quiet = sandbox.run(&["run", "spec.toml", "-s", "cholesky", "--quiet"]).exits(0);
    assert!(!quiet.stderr.contains("its target is"), "{}", quiet.stderr);
    // A stated target is in the report too, without the remark.
    let stated = "dataset.draw.target=\"area\"";
    let named = sandbox.run(&["run", "spec.toml", "-s", "cholesky", "--set", stated]).exits(0);
    assert!(!named.stderr.contains("the last column"), "{}", named.stderr);
    let report = sandbox.read("reports/houses/latest/report.md");
    assert!(report.contains("area") && !report.contains("(the last column)"), "{report}");
}

#[test]
fn a_table_replaced_by_another_of_the_same_size_and_time_is_run_anew_and_compared_with_a_remark() {
    use std::fs::{self, File, FileTimes};
    let sandbox = of_houses();
    let file = sandbox.write("houses.csv", PLAIN);
    let time = fs::metadata(&file).unwrap().modified().unwrap();
    sandbox.run(&["run", "spec.toml", "-s", "cholesky"]).exits(0);
    let first = fs::canonicalize(sandbox.path("reports/houses/latest")).unwrap();
    let before = sandbox.cases();
    let other = sandbox.write("other.csv", &PLAIN.replace("4.5", "1.5"));
    File::open(&other).unwrap().set_times(FileTimes::new().set_modified(time)).unwrap();
    fs::rename(&other, &file).unwrap();
    let again = sandbox.run(&["run", "spec.toml", "-s", "cholesky"]).exits(0);
    assert!(!again.stderr.contains("nothing was left to run"), "{}", again.stderr);
    assert_ne!(sandbox.cases()[0]["id"], before[0]["id"]);
    let first = first.to_str().unwrap();
    let compared = sandbox.run(&["compare", first, "latest"]);
    compared.prints(&["they differ in the content of data set `draw`"]);
    let exact = sandbox.run(&["compare", "--exact", first, "latest"]).exits(3);
    exact.prints(&["the content of these data sets differs: draw"]);
}

#[test]
fn a_table_in_the_place_of_a_spec_is_one_line() {
    let sandbox = Sandbox::new();
    sandbox.write("plant.csv", PLAIN);
    sandbox.write("plant", PLAIN);
    std::fs::write(sandbox.path("plant.parquet"), b"PAR1\xff\0PAR1").unwrap();
    for name in ["plant.csv", "plant", "plant.parquet"] {
        for verb in ["run", "plan"] {
            let ended = sandbox.run(&[verb, name]).exits(2);
            assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
            ended.says(&[&format!("`gpbench data import {name}` reads a file of data")]);
        }
    }
    sandbox.write("spec.toml", &spec("a", &[]));
    sandbox
        .run(&["data", "import", "spec.toml"])
        .exits(2)
        .says(&["this is a spec", "run it by `gpbench run`"]);
}

#[test]
fn manual_pages_are_written_for_each_verb() {
    let sandbox = Sandbox::new();
    sandbox.run(&["manual", "man1"]).exits(0);
    for page in ["gpbench.1", "gpbench-run.1", "gpbench-data-import.1"] {
        assert!(sandbox.read(&format!("man1/{page}")).starts_with(".ie"), "{page}");
    }
}

/// Stations with replicates, gaps and a time; decimal commas.
fn stations() -> String {
    let mut text = "# stations\nsite;when;lon;lat;y\n".to_owned();
    for row in 0..120_u32 {
        let site = ["north", "south", "west", "east"][row as usize % 4];
        let (lon, lat) = (row % 12, row / 24);
        let y = if row == 7 { String::new() } else { format!("{},{}", row % 7, row % 10) };
        text += &format!("{site};{:02}.{:02}.2020;{lon},5;{lat};{y}\n", 1 + row % 28, 1 + row / 28);
    }
    text
}

const STATIONS: [&str; 10] =
    ["--decimal", ",", "--comment", "#", "--missing", "drop", "--group", "site", "--time-unit", "hours"];

#[test]
fn an_import_is_one_screen() {
    let sandbox = Sandbox::new();
    sandbox.write("stations.csv", &stations());
    let shown = sandbox.run(&[&["data", "import", "stations.csv"][..], &STATIONS[..]].concat()).exits(0);
    let shown = shown.says(&["1 of 120 rows are left out, because they lack a value"]).prints(&[
        "stations.csv: 119 of 120 rows (1 left out for missing values), 3 inputs\n",
        "one row in ten is drawn for testing; rows of one `site` stay together",
        "4: east, north, south, west",
        "2020-01-01 to 2020-05-08",
        "hours since 1970-01-01",
        "\ngroup = \"site\"\ndecimal = \",\"\ncomment = \"#\"\nmissing = \"drop\"\ntime_unit = \"hours\"\n",
    ]);
    let lines: Vec<&str> = shown.stdout.lines().collect();
    assert!(lines.len() <= 23 && lines.iter().all(|line| line.chars().count() <= 80), "{}", shown.stdout);
    // Many columns and replicates: some are listed, unless all are asked for.
    let wide: String = (0..40).map(|column| format!("a{column},")).collect::<String>() + "y\n";
    let row = |row: u32| (0..40).map(|column| format!("{},", (row % 25) * (column + 1))).collect::<String>();
    let rows: String = (0..100).map(|k| format!("{}{k}\n", row(k))).collect();
    sandbox.write("wide.csv", &(wide + &rows));
    let shown = sandbox.run(&["data", "import", "wide.csv"]).exits(0).prints(&[
        "repeated inputs: 100 rows share 25 inputs; drawn one by one, ",
        "rows with the same inputs",
        "more columns (`--wide` lists all)\n",
    ]);
    let lines: Vec<&str> = shown.stdout.lines().collect();
    assert!(lines.len() <= 23 && lines.iter().all(|line| line.chars().count() <= 80), "{}", shown.stdout);
    let all = sandbox.run(&["data", "import", "wide.csv", "--wide"]).exits(0).prints(&["\na39 "]);
    assert!(all.stdout.lines().count() > 40);
}

#[test]
fn splits_by_groups_blocks_and_time_run_and_the_report_names_them() {
    let keys = "path = \"stations.csv\"\ndecimal = \",\"\ncomment = \"#\"\nmissing = \"drop\"\n";
    for (name, split, said) in [
        (
            "out",
            "group = \"site\"\nsplit = { leave_out = \"group\" }",
            "seed k tests on group k of the 4 groups of `site` (0: `east`, 1: `north`, 2: `south`, 3: `west`)",
        ),
        (
            "blocks",
            "drop = \"site\"\nsplit = { blocks = 4, by = [\"lon\", \"lat\"] }",
            "seed k tests on block k of 4 contiguous blocks by `lon` and `lat`",
        ),
        (
            "time",
            "drop = [\"site\", \"when\"]\nsplit = { time = \"when\", test = 0.2 }",
            "trained on the past by `when`, tested on the last 20 % of the rows",
        ),
    ] {
        let table = format!("{keys}{split}");
        let text = spec(name, &[("from = \"gp-draw\"\nn = 60\nd = 2", table.as_str()), ("[0]", "[0, 1]")]);
        let sandbox = Sandbox::with_spec(&text);
        sandbox.write("stations.csv", &stations());
        let said = format!("data set `draw`: split: {said}");
        sandbox.run(&["plan", "spec.toml"]).exits(0).says(&[&said]);
        sandbox.run(&["run", "spec.toml", "-s", "cholesky"]).exits(0).says(&[&said]);
        let report = sandbox.read(&format!("reports/{name}/latest/report.md")).replace('\\', "");
        assert!(report.contains(said.split_once("split: ").unwrap().1), "{report}");
    }
    let keys = format!("{keys}group = \"site\"\nsplit = {{ leave_out = \"group\" }}");
    let text = spec("beyond", &[("from = \"gp-draw\"\nn = 60\nd = 2", keys.as_str()), ("[0]", "[0, 4]")]);
    let sandbox = Sandbox::with_spec(&text);
    sandbox.write("stations.csv", &stations());
    sandbox.run(&["plan", "spec.toml"]).exits(2).says(&["has no group 4 to leave out, only 0 to 3"]);
}

#[test]
fn replicates_stay_together_by_default_and_a_key_parts_them() {
    let sandbox = of_houses();
    let rows: String = (0..60).map(|row| format!("{},{}\n", row / 3, row % 7)).collect();
    sandbox.write("houses.csv", &format!("area,price\n{rows}"));
    let said = "split: one row in ten is drawn for testing; rows with the same inputs stay together (60 rows share 20 inputs)";
    sandbox.run(&["run", "spec.toml", "-s", "cholesky"]).exits(0).says(&[said]);
    let together = sandbox.cases()[0].clone();
    let apart = "dataset.draw.replicates=\"apart\"";
    let ended = sandbox.run(&["run", "spec.toml", "-s", "cholesky", "--set", apart]).exits(0);
    assert!(!ended.stderr.contains("stay together"), "{}", ended.stderr);
    assert_ne!(sandbox.cases()[0]["id"], together["id"]);
}
