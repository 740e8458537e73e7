//! `gpbench pack` and `unpack`, and packed runs in the place of runs.

use std::fs;

use crate::support::{Sandbox, library, spec};

/// A folder with the spec `spec.toml`, which names the library `cg.so` by its whole path, and its run `public`.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    fs::copy(library("gpbench_plugin_cg"), sandbox.path("cg.so")).unwrap();
    let table = format!("[solver.cg]\nlibrary = \"{}\"\n\n[budget]", sandbox.path("cg.so").display());
    sandbox.write("spec.toml", &spec("public", &[("[budget]", &table)]));
    sandbox.run(&["run", "spec.toml", "--keep-solutions", "1"]).exits(0);
    sandbox
}

#[test]
fn a_run_is_packed_with_neutral_names_which_are_listed() {
    let sandbox = sandbox();
    let work = sandbox.path("").canonicalize().unwrap().display().to_string();
    let replaced = format!("replaced: {} by <work>, ", work.trim_end_matches('/'));
    let listed = sandbox.run(&["pack", "public", "--dry-run"]).exits(0).says(&[&replaced]);
    listed.prints(&["journal.jsonl (", "figures/", "results.parquet (", "index.html ("]);
    sandbox.run(&["pack", "public"]).exits(2).says(&["--output"]);
    let packed = sandbox.run(&["pack", "public", "-o", "a.gpbench"]).exits(0);
    let packed = packed.says(&[&replaced, "packed: a.gpbench (", "no solutions; SHA-256 "]);
    assert!(packed.stderr.find("replaced") < packed.stderr.find("packed: "), "{}", packed.stderr);
    sandbox.run(&["unpack", "a.gpbench", "-o", "back"]).exits(0);
    for file in ["spec.toml", "journal.jsonl", "environment.json", "plan.json", "report.md", "index.html"] {
        assert!(!sandbox.read(&format!("back/{file}")).contains(work.trim_end_matches('/')), "{file}");
    }
    assert!(sandbox.read("back/spec.toml").contains("library = \"<work>/cg.so\""));
    // Equal runs give equal files.
    sandbox.run(&["pack", "public", "-o", "b.gpbench"]).exits(0);
    assert!(fs::read(sandbox.path("a.gpbench")).unwrap() == fs::read(sandbox.path("b.gpbench")).unwrap());

    let kept =
        sandbox.run(&["pack", "public", "-o", "c.gpbench", "--keep-paths", "--solutions", "5"]).exits(0);
    let kept = kept.says(&["the solution of 1 case; "]);
    assert!(!kept.stderr.contains("replaced"), "{}", kept.stderr);
    sandbox.run(&["unpack", "c.gpbench", "-o", "kept"]).exits(0);
    assert_eq!(sandbox.read("kept/spec.toml"), sandbox.read("reports/public/latest/spec.toml"));
    assert_eq!(fs::read_dir(sandbox.path("kept/solutions")).unwrap().count(), 1);
    sandbox.run(&["unpack", "c.gpbench", "-o", "kept"]).exits(2).says(&["kept exists"]);
}

#[test]
fn solutions_that_were_not_kept_are_asked_for() {
    let sandbox = Sandbox::with_spec(&spec("public", &[]));
    sandbox.run(&["run", "spec.toml"]).exits(0);
    let asked = sandbox.run(&["pack", "public", "-o", "a.gpbench", "--solutions", "2"]).exits(2);
    asked.says(&["keeps no solutions; `gpbench run SPEC --fresh --keep-solutions 2` keeps some"]);
    assert!(!sandbox.path("a.gpbench").exists());
    // Cases whose solutions are to be kept run; others are taken from the store.
    let other = sandbox.run(&["run", "spec.toml", "--set", "seeds=[0, 1]", "--keep-solutions", "4"]).exits(0);
    assert!(!other.stderr.contains("re-used"), "{}", other.stderr);
    assert_eq!(fs::read_dir(sandbox.path("reports/public/latest/solutions")).unwrap().count(), 4);
}

#[test]
fn a_run_that_readers_would_refuse_is_not_packed() {
    let sandbox = Sandbox::with_spec(&spec("public", &[]));
    sandbox.run(&["run", "spec.toml"]).exits(0);
    let long = format!("# {}\n", "x".repeat(100)).repeat(50_000);
    let typed = "reports/public/latest/spec.toml";
    sandbox.write(typed, &(sandbox.read(typed) + &long));
    let refused = sandbox.run(&["pack", "public", "-o", "a.gpbench"]).exits(2);
    refused
        .says(&["a.gpbench: its entry `spec.toml` has 5", "bytes, more than the 4194304 that are unpacked"]);
    assert!(!sandbox.path("a.gpbench").exists());
}

#[test]
fn packed_runs_stand_in_the_place_of_runs() {
    let sandbox = Sandbox::with_spec(&spec("public", &[("seeds = [0]", "seeds = [0, 1]")]));
    sandbox.run(&["run", "spec.toml"]).exits(0);
    sandbox.run(&["pack", "public", "-o", "a.gpbench"]).exits(0);
    let expected = sandbox.run(&["report", "public", "--format", "csv"]).exits(0).stdout;
    fs::remove_dir_all(sandbox.path("reports")).unwrap();
    assert_eq!(sandbox.run(&["report", "a.gpbench", "--format", "csv"]).exits(0).stdout, expected);
    sandbox.run(&["report", "latest"]).exits(2).says(&["it holds no runs"]);

    sandbox.run(&["run", "spec.toml"]).exits(0);
    sandbox.run(&["compare", "a.gpbench", "latest", "--exact"]).exits(0).prints(&["4 cases, ", ": 0 differ"]);
    sandbox.run(&["merge", "a.gpbench", "public"]).exits(0).says(&["merged 2 runs: 4 rows"]);
    let history = ["history", "nothing", "a.gpbench", "-s", "cg", "--format", "json"];
    let points = sandbox.run(&history).exits(0).json();
    assert_eq!(points["points"].as_array().map(Vec::len), Some(1), "{points}");
    // Packed and in a folder, it is one run.
    sandbox.run(&["pack", "public~1", "-o", "b.gpbench"]).exits(0);
    let points = |runs: &[&str]| {
        let history = [&["history", "public", "-s", "cg", "--format", "json"][..], runs].concat();
        sandbox.run(&history).exits(0).json()["points"].as_array().map(Vec::len)
    };
    assert_eq!(points(&["b.gpbench"]), points(&[]));
    sandbox.run(&["clean"]).exits(0).prints(&[".unpacked"]);
    assert!(!sandbox.path("reports/.unpacked").exists());

    // Unpacked, it is a run below the output folder.
    fs::remove_dir_all(sandbox.path("reports")).unwrap();
    sandbox.run(&["unpack", "a.gpbench"]).exits(0).prints(&["unpacked: reports/public/2"]);
    assert_eq!(sandbox.run(&["report", "public", "--format", "csv"]).exits(0).stdout, expected);
}

#[test]
fn archived_results_stand_beside_those_of_a_run() {
    let sandbox = Sandbox::with_spec(&spec("public", &[]));
    sandbox.run(&["run", "spec.toml"]).exits(0);
    fs::create_dir_all(sandbox.path("archive/2026")).unwrap();
    sandbox.run(&["pack", "public", "-o", "archive/2026/a.gpbench"]).exits(0);
    // Ours has one solver of the archive and another one.
    sandbox.write("ours.toml", &spec("ours", &[("[\"cholesky\", \"cg\"]", "[\"cg\", \"ap\"]")]));
    sandbox.run(&["run", "ours.toml"]).exits(0);
    fs::create_dir(sandbox.path("site")).unwrap();
    let of_site = sandbox.run(&["compare", "ours", "--with", "site"]).exits(2);
    of_site.says(&["it holds no packed runs; those of a site are in the folder that it was made of"]);
    for with in ["archive/2026/a.gpbench", "archive"] {
        let json = sandbox.run(&["compare", "ours", "--with", with, "--format", "json"]).exits(0).json();
        let means = |solver: &str, metric: &str| {
            let rows = json["rows"].as_array().unwrap().iter();
            let mut found = rows.filter(|row| row["solver"] == solver && row["metric"] == metric);
            let means = found.next().unwrap_or_else(|| panic!("{solver} {metric}: {json}"))["means"].clone();
            [means[0].as_f64(), means[1].as_f64()]
        };
        assert_eq!(json["runs"], serde_json::json!(["ours", "public"]));
        let [own, archived] = means("cg", "residual_y");
        assert!(own.is_some() && own == archived, "{json}");
        assert!(matches!(means("cholesky", "residual_y"), [None, Some(_)]), "{json}");
        assert!(matches!(means("ap", "residual_y"), [Some(_), None]), "{json}");
        // Of the same machine, times are shown.
        assert!(matches!(means("cholesky", "seconds"), [None, Some(_)]), "{json}");
    }
    let chart = ["compare", "ours", "--with", "archive", "--chart", "beside.svg", "-m", "test_rmse"];
    sandbox.run(&chart).exits(0).says(&["chart: beside.svg"]);
    let chart = sandbox.read("beside.svg");
    assert!(chart.starts_with("<svg") && chart.contains("test RMSE beside the archive"), "{chart}");
    sandbox.run(&["compare", "ours", "--with", "archive", "--chart", "x.svg", "-m", "nlml"]).exits(4);
    sandbox.run(&["compare", "ours", "--chart", "x.svg"]).exits(2).says(&["--with"]);
    // Another budget makes another case of the same name, and another seed another problem.
    let other = [("tolerance = 0.01", "tolerance = 0.1"), ("[\"cholesky\", \"cg\"]", "[\"cg\"]")];
    sandbox.write("other.toml", &spec("other", &other));
    sandbox.run(&["run", "other.toml"]).exits(0);
    let told = [
        "1 cases have names of this run and are others, by parameters or budget; they are left out",
        "cholesky",
    ];
    sandbox.run(&["compare", "other", "--with", "archive", "--wide"]).exits(0).prints(&told);
    sandbox.run(&["run", "other.toml", "--set", "seeds=[5]"]).exits(0);
    let nothing = sandbox.run(&["compare", "other", "--with", "archive"]).exits(4);
    nothing.says(&["no archived case is of a problem of this run"]);
    sandbox
        .run(&["compare", "ours", "other", "--with", "archive"])
        .exits(2)
        .says(&["`--with` takes one run"]);
}
