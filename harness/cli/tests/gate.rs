//! `gpbench check` as a gate: what it does not compare, it does not pass.

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
