//! `gpbench check` as a gate: what it does not compare, it does not pass.

use std::fs;

use serde_json::Value;

use crate::support::{Sandbox, library, spec};

const BASELINE: &str = "baselines/spec.toml";

/// A folder with a spec of two solvers and its baseline.
fn with_baseline() -> Sandbox {
    let sandbox = Sandbox::with_spec(&spec("gate", &[]));
    sandbox.run(&["check", "spec.toml", "--update"]).exits(0);
    sandbox
}

#[test]
fn a_new_case_fails_the_gate_only_if_it_failed() {
    let sandbox = with_baseline();
    // Without cg the baseline knows nothing of it.
    sandbox.run(&["check", "spec.toml"]).exits(0);
    let text = sandbox.read(BASELINE);
    let (head, cg) = text.split_at(text.find("[[case]]").expect("a case"));
    let cases: Vec<&str> = cg.split("\n\n").filter(|case| case.contains("\"cholesky\"")).collect();
    sandbox.write(BASELINE, &format!("{head}{}\n", cases.join("\n\n")));
    sandbox
        .run(&["check", "spec.toml"])
        .exits(0)
        .prints(&["not in baseline", "draw/matern32/pathwise/cg/seed 0"]);

    let hostile = library("gpbench_hostile");
    let two = "solver = [\"cholesky\", \"cg\"]";
    let three = "solver = [\"cholesky\", \"cg\", \"hostile\"]";
    let added = format!(
        "[solver.hostile]\nplugin = \"hostile\"\nlibrary = {:?}\nparams = {{ act = \"abort\" }}\n\n[budget]",
        hostile
    );
    sandbox.write("spec.toml", &spec("gate", &[(two, three), ("[budget]", &added)]));
    sandbox.run(&["check", "spec.toml"]).exits(3).prints(&[
        "newly failed",
        "draw/matern32/pathwise/hostile/seed 0",
        "not in the baseline; it ended crashed",
    ]);
}

#[test]
fn a_baseline_that_measures_nothing_is_not_passed() {
    let sandbox = with_baseline();
    let full = sandbox.read(BASELINE);
    sandbox.write(BASELINE, "schema = 1\n");
    sandbox.run(&["check", "spec.toml"]).exits(4).says(&["nothing to compare", "spec.toml"]);

    let bare: Vec<&str> = full.lines().filter(|line| !line.starts_with("metrics")).collect();
    sandbox.write(BASELINE, &bare.join("\n"));
    sandbox.run(&["check", "spec.toml"]).exits(4).prints(&["nothing to compare", "no metric of this case"]);
    sandbox.run(&["compare", "latest", "--baseline", BASELINE]).exits(4).prints(&["nothing to compare"]);
}

#[test]
fn a_loose_tolerance_is_said() {
    let sandbox = with_baseline();
    let text = sandbox.read(BASELINE);
    sandbox
        .write(BASELINE, &text.replace("[tolerance]\n", "[tolerance]\nresidual_y = { absolute = 1e-2 }\n"));
    sandbox
        .run(&["check", "spec.toml"])
        .exits(0)
        .prints(&["warning: the tolerance of residual_y", "draw/matern32/pathwise/cholesky/seed 0 measured"]);
}

#[test]
fn unknown_keys_are_mistakes_with_their_place() {
    let sandbox = with_baseline();
    let text = sandbox.read(BASELINE);
    let tolerance = text.lines().position(|line| line == "[tolerance]").expect("a table") + 2;
    for (old, new, said) in [
        (
            "[tolerance]\n",
            "[tolerance]\nresidual_z = { absolute = 1.0 }\n",
            format!(
                "baselines/spec.toml:{tolerance}:1: error: unknown metric `residual_z`; did you mean `residual_y`?"
            ),
        ),
        (
            "[tolerance]\n",
            "[tolerance]\nresidual_y = { absolut = 1.0 }\n",
            format!(
                "baselines/spec.toml:{tolerance}:16: error: unknown bound `absolut`; did you mean `absolute`?"
            ),
        ),
        ("[tolerance]", "[tolerances]", "unknown key `tolerances`; did you mean `tolerance`?".to_owned()),
        ("\nstatus =", "\nstate =", "unknown key `state`; did you mean `status`?".to_owned()),
    ] {
        sandbox.write(BASELINE, &text.replacen(old, new, 1));
        sandbox.run(&["check", "spec.toml"]).exits(2).says(&[&said]);
    }
}

#[test]
fn a_baseline_without_seconds_says_so_and_fails_where_they_are_asked_for() {
    let sandbox = with_baseline();
    sandbox
        .run(&["check", "spec.toml"])
        .exits(0)
        .prints(&["`gpbench check --update --with-seconds` records them"]);
    let asked = ["check", "spec.toml", "--with-seconds"];
    let said = ["undecided", "no earlier seconds", "2 failing (2 undecided)"];
    sandbox.run(&asked).exits(3).prints(&said);
    sandbox.run(&[&asked[..], &["--allow-undecided"]].concat()).exits(0).prints(&[": 0 failing"]);
    let json = sandbox.run(&[&asked[..], &["--format", "json"]].concat()).exits(3).json();
    assert_eq!((&json["failing"], &json["undecided"]), (&2.into(), &2.into()));
    assert_eq!(json["verdicts"][0]["verdict"], "undecided");
}

#[test]
fn a_baseline_with_seconds_asks_for_them_and_keeps_them_in_an_update() {
    let sandbox = Sandbox::with_spec(&spec("gate", &[]));
    sandbox.run(&["check", "spec.toml", "--update", "--with-seconds"]).exits(0);
    let text = sandbox.read(BASELINE);
    assert!(text.contains("\n[[session]]\nid = \"gate/") && text.contains("repeats = ["), "{text}");
    // One repeat decides nothing.
    let ended = sandbox.run(&["check", "spec.toml"]).exits(3);
    ended.prints(&[
        "seconds of 2 of 2 solvers are undecided: 1 repeat of 1 seed cannot tell a change from chance",
    ]);
    sandbox.run(&["check", "spec.toml", "--allow-undecided"]).exits(0);
    sandbox.run(&["compare", "latest", "--baseline", BASELINE, "--allow-undecided"]).exits(0);
    sandbox.run(&["check", "spec.toml", "--update"]).exits(0);
    assert!(sandbox.read(BASELINE).contains("[[session]]"));
}

/// A copy of the newest run as if timed on a quiet machine: a tenth of a second, times a factor for each solver.
fn timed(sandbox: &Sandbox, name: &str, factors: [(&str, f64); 2]) -> String {
    let folder = fs::canonicalize(sandbox.path("reports/gate/latest")).expect("a run");
    let copy = sandbox.path(name);
    fs::create_dir(&copy).expect("a new folder");
    for entry in fs::read_dir(&folder).expect("a run folder") {
        let file = entry.expect("an entry").path();
        if file.is_file() {
            fs::copy(&file, copy.join(file.file_name().expect("a name"))).expect("a copy");
        }
    }
    let mut environment: Value =
        serde_json::from_str(&sandbox.read(&format!("{name}/environment.json"))).expect("JSON");
    let fields = environment.as_object_mut().expect("an object");
    fields.remove("check");
    fields.insert("other_load".to_owned(), 0.0.into());
    sandbox.write(&format!("{name}/environment.json"), &environment.to_string());
    let journal = sandbox.read(&format!("{name}/journal.jsonl"));
    let lines = journal.lines().map(|line| {
        let mut row: Value = serde_json::from_str(line).expect("a row");
        row.as_object_mut().expect("an object").remove("check");
        let repeat = row["labels"]["repeat"].as_f64().expect("a repeat");
        let (_, factor) =
            factors.into_iter().find(|(name, _)| row["labels"]["solver"] == *name).expect("a solver");
        row["metrics"]["seconds_prepare"] = 0.0.into();
        row["metrics"]["seconds_solve"] = (factor * (0.1 + 0.01 * repeat)).into();
        format!("{row}\n")
    });
    let text: String = lines.collect();
    sandbox.write(&format!("{name}/journal.jsonl"), &text);
    copy.to_string_lossy().into_owned()
}

#[test]
fn three_repeats_of_two_seeds_find_a_slower_solver() {
    let three = spec("gate", &[("seeds = [0]", "seeds = [0, 1]\nrepeats = 3")]);
    let sandbox = Sandbox::with_spec(&three);
    sandbox.run(&["run", "spec.toml"]).exits(0);
    let [old, same, slow] = [("old", 1.0, 1.0), ("same", 1.01, 0.99), ("slow", 0.99, 10.0)]
        .map(|(name, cholesky, cg)| timed(&sandbox, name, [("cholesky", cholesky), ("cg", cg)]));
    let ended = sandbox.run(&["compare", &old, &same]).exits(0);
    assert!(!ended.stdout.contains("set `repeats"), "{}", ended.stdout);
    let ended = sandbox.run(&["compare", &old, &slow]).exits(3);
    ended.prints(&["regressed", "draw/matern32/pathwise/cg/2 seeds", "seconds", "× 10.00", ": 1 failing, "]);
    sandbox.run(&["compare", &old, &slow, "--allow-undecided"]).exits(3);
    // The measures of the last run, and the reason beside them.
    let bmf =
        sandbox.run(&["compare", &old, &slow, "--format", "bmf"]).exits(3).says(&["regressed", "× 10.00"]);
    let seconds = bmf.json()["draw/matern32/cg"]["seconds"]["value"].as_f64().expect("a value");
    assert!((seconds - 1.1).abs() < 1e-9, "{seconds}");
}

#[test]
fn a_history_is_a_file_of_sessions() {
    let sandbox = with_baseline();
    let check = ["check", "spec.toml", "--history", "kept/seconds.toml"];
    let first = sandbox.run(&check).exits(3);
    first
        .prints(&["seconds of 2 solvers are undecided: no earlier session has them"])
        .says(&["kept/seconds.toml: "]);
    sandbox.run(&[&check[..], &["--allow-undecided"]].concat()).exits(0);
    // A run folder holds one session alone.
    sandbox.run(&[&check[..], &["--baseline", "reports/gate/latest"]].concat()).exits(2).says(&["--history"]);
    sandbox.write("broken.toml", "schema = 1\n[[sessions]]\n");
    let broken = sandbox.run(&["check", "spec.toml", "--history", "broken.toml"]).exits(2);
    broken.says(&["broken.toml:2:3: error: unknown key `sessions`; did you mean `session`?"]);
    // A baseline is not overwritten by a history.
    for words in [&["--history", BASELINE][..], &["--update", "--history", BASELINE]] {
        let refused = sandbox.run(&[&["check", "spec.toml"][..], words].concat()).exits(2);
        refused.says(&["baselines/spec.toml is a baseline; `--history` takes a file of its own"]);
    }
    sandbox.write("empty.toml", "");
    let empty = sandbox.run(&["check", "spec.toml", "--history", "empty.toml", "--allow-undecided"]);
    empty.exits(0).says(&["empty.toml: "]);
    sandbox.run(&["check", "spec.toml", "--update", "--history", "kept/seconds.toml"]).exits(0);
}

#[test]
fn measures_for_bencher_are_those_of_a_run() {
    let sandbox = with_baseline();
    let json = sandbox.run(&["report", "latest", "--format", "bmf"]).exits(0).json();
    assert!(json["draw/matern32/cg"]["epochs"]["value"].is_number(), "{json}");
    let checked = sandbox.run(&["check", "spec.toml", "--format", "bmf"]).exits(0).says(&["2 cases matched"]);
    assert!(checked.json()["draw/matern32/cholesky"]["test_rmse"]["value"].is_number());
    sandbox.run(&["list", "runs", "--format", "bmf"]).exits(2).says(&["--format bmf"]);
}
