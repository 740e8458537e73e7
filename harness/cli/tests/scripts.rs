//! Libraries that are scripts, by the bridge of `testkit/bridge`: identity, parts, time, memory, and what is absent.

use serde_json::Value;

use crate::support::{Ended, Sandbox, built, library, spec};

/// A sandbox with a script `s.stub` of these lines, and a spec that names it.
fn sandbox(script: &str) -> Sandbox {
    library("gpbench_bridge_stub");
    let sandbox = Sandbox::with_spec(&spec_of("library = \"s.stub\""));
    sandbox.write("s.stub", script);
    sandbox
}

fn spec_of(table: &str) -> String {
    let solvers = ("solver = [\"cholesky\", \"cg\"]", "solver = [\"cg\", \"stub\"]");
    spec("scripts", &[solvers]) + "\n[solver.stub]\n" + table + "\n"
}

fn run(sandbox: &Sandbox) -> Vec<Value> {
    sandbox.run(&["run", "spec.toml"]).exits(0);
    sandbox.cases()
}

fn of_stub(cases: &[Value]) -> &Value {
    cases.iter().find(|case| case["solver"] == "stub").expect("a case of the script")
}

fn metric(case: &Value, name: &str) -> f64 {
    case["metrics"][name].as_f64().unwrap_or_else(|| panic!("no {name} in {case}"))
}

/// The id of the script's case after `change`.
fn id_after(sandbox: &Sandbox, change: impl FnOnce(&Sandbox)) -> String {
    change(sandbox);
    let cases = run(sandbox);
    of_stub(&cases)["id"].as_str().expect("an id").to_owned()
}

#[test]
fn a_script_is_a_solver_and_its_times_are_apart() {
    let sandbox = sandbox("starts 0.11\nwarms 0.12\nburns 0.31\nholds 64\n");
    let cases = run(&sandbox);
    let case = of_stub(&cases);
    assert_eq!(case["status"], "ok", "{case}");
    assert!(metric(case, "seconds_import") >= 0.11, "{case}");
    assert!(metric(case, "seconds_warm_up") >= 0.12, "{case}");
    assert!(metric(case, "seconds_solve") >= 0.31, "{case}");
    // The child's time of the solve is in the row, and that of import and warm-up is not.
    let cpu = metric(case, "cpu_seconds");
    assert!((0.31..0.5).contains(&cpu), "{case}");
    assert!(metric(case, "memory_import_bytes") >= f64::from(64 << 20), "{case}");
    assert!(metric(case, "peak_memory_bytes") >= f64::from(64 << 20), "{case}");
}

#[test]
fn a_child_that_was_not_adopted_is_in_the_row_too() {
    let sandbox = sandbox("orphan\nburns 0.31\nholds 64\n");
    let cases = run(&sandbox);
    let case = of_stub(&cases);
    // As long as its end takes, up to 0.05 s, is free.
    assert!(metric(case, "cpu_seconds") >= 0.26, "{case}");
    assert!(metric(case, "peak_memory_bytes") >= f64::from(64 << 20), "{case}");
}

#[test]
fn the_identity_of_a_script_is_that_of_its_parts() {
    let sandbox = sandbox("uses helper.txt\npackage numbers 1.0 LIST\n");
    sandbox.write("helper.txt", "1");
    sandbox.write("LIST", "a,b");
    let mut ids = vec![id_after(&sandbox, |_| ())];
    // Neither another file nor a time is part of it.
    assert_eq!(id_after(&sandbox, |s| drop(s.write("other.txt", "2"))), ids[0]);
    assert_eq!(id_after(&sandbox, |s| drop(s.write("helper.txt", "1"))), ids[0]);
    ids.push(id_after(&sandbox, |s| drop(s.write("helper.txt", "2"))));
    ids.push(id_after(&sandbox, |s| drop(s.write("LIST", "a,c"))));
    let script = "uses helper.txt\npackage numbers 1.1 LIST\n";
    ids.push(id_after(&sandbox, |s| drop(s.write("s.stub", script))));
    ids.push(id_after(&sandbox, |s| drop(s.write("s.stub", &format!("{script}# a remark\n")))));
    let runtime = spec_of("library = \"s.stub\"\npython = \"./runtime\"");
    sandbox.write("runtime", "#!");
    ids.push(id_after(&sandbox, |s| drop(s.write("spec.toml", &runtime))));
    ids.push(id_after(&sandbox, |s| drop(s.write("runtime", "#!!"))));
    let mut distinct = ids.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), ids.len(), "{ids:?}");
}

#[test]
fn rows_are_used_again_until_a_part_is_edited() {
    let sandbox = sandbox("uses helper.txt\n");
    sandbox.write("helper.txt", "1");
    let first = of_stub(&run(&sandbox))["id"].clone();
    let reused = |sandbox: &Sandbox| {
        sandbox.write("spec.toml", &spec_of("library = \"s.stub\"").replace("\"scripts\"", "\"again\""));
        let cases = run(sandbox);
        (of_stub(&cases)["id"].clone(), of_stub(&cases)["reused_from"].is_string())
    };
    assert_eq!(reused(&sandbox), (first.clone(), true));
    sandbox.write("helper.txt", "2");
    let (second, was_reused) = reused(&sandbox);
    assert!(second != first && !was_reused);
}

#[test]
fn a_file_that_is_not_described_is_named_and_the_case_runs_again() {
    let sandbox = sandbox("reports later.txt\n");
    sandbox.write("later.txt", "1");
    let cases = run(&sandbox);
    let reason = of_stub(&cases)["reason"].as_str().expect("a reason");
    assert!(reason.contains("later.txt, which its description does not name"), "{reason}");
    sandbox.write("spec.toml", &spec_of("library = \"s.stub\"").replace("\"scripts\"", "\"again\""));
    let cases = run(&sandbox);
    assert!(!of_stub(&cases)["reused_from"].is_string(), "{}", of_stub(&cases));
}

#[test]
fn parts_are_printed_and_recorded() {
    let sandbox = sandbox("uses helper.txt\npackage numbers 1.0 LIST\n");
    sandbox.write("helper.txt", "1");
    sandbox.write("LIST", "a,b");
    let shown = sandbox.run(&["plugin", "inspect", "s.stub"]).exits(0).stdout;
    for part in
        ["package `numbers` 1.0", "file `helper.txt`", "file `s.stub`", "file `libgpbench_bridge_stub"]
    {
        assert!(shown.contains(part), "{part} in {shown}");
    }
    run(&sandbox);
    let environment: Value = serde_json::from_str(&sandbox.read("reports/scripts/latest/environment.json"))
        .expect("an environment in JSON");
    let environment = environment.get(0).unwrap_or(&environment);
    let names: Vec<&str> = environment["plugin_parts"]["s.stub"]
        .as_array()
        .unwrap_or_else(|| panic!("no parts in {environment}"))
        .iter()
        .filter_map(|part| part["name"].as_str())
        .collect();
    assert_eq!(names[..3], ["helper.txt", "numbers", "s.stub"]);
}

#[test]
fn what_is_absent_is_one_error_or_leaves_an_optional_solver_out() {
    let sandbox = sandbox("needs torch\n");
    let refused = sandbox.run(&["run", "spec.toml"]);
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    assert!(refused.stderr.contains("cannot be used: needs torch"), "{}", refused.stderr);
    assert!(refused.stderr.contains("optional = true"), "{}", refused.stderr);
    sandbox.write("spec.toml", &spec_of("library = \"s.stub\"\noptional = true"));
    let ran = sandbox.run(&["run", "spec.toml"]).exits(0);
    assert!(ran.stderr.contains("solver `stub` is left out: needs torch"), "{}", ran.stderr);
    assert_eq!(sandbox.cases().len(), 1);
    // Once it is there, the solver takes part.
    sandbox.write("torch", "");
    sandbox.run(&["run", "spec.toml"]).exits(0);
    assert_eq!(sandbox.cases().len(), 2);
}

#[test]
fn a_script_without_its_bridge_or_with_an_error_is_one_clear_error() {
    let sandbox = sandbox("fails line 3: no such thing\n");
    let refused = |sandbox: &Sandbox| sandbox.run(&["run", "spec.toml"]).exits(2).stderr;
    let text = refused(&sandbox);
    assert!(text.contains("line 3: no such thing") && text.matches("error:").count() == 1, "{text}");
    sandbox.write("spec.toml", &spec_of("library = \"s.nobody\""));
    sandbox.write("s.nobody", "x");
    let text = refused(&sandbox);
    assert!(text.contains("its bridge `libgpbench_bridge_nobody.so` is in none of the folders"), "{text}");
}

#[test]
fn a_script_is_named_on_the_command_line_and_tested() {
    let sandbox = sandbox("id mine\n");
    sandbox.write("spec.toml", &spec("named", &[]));
    sandbox.run(&["run", "spec.toml", "--library", "s.stub"]).exits(0);
    let named = sandbox.cases().iter().any(|case| case["solver"] == "mine");
    assert!(named, "{:?}", sandbox.cases());
    let tested = sandbox.run(&["plugin", "test", "s.stub", "--format", "json"]).json();
    let failed: Vec<&Value> = tested["checks"]
        .as_array()
        .expect("a list of checks")
        .iter()
        .filter(|check| check["status"] == "failed")
        .collect();
    assert!(failed.is_empty(), "{failed:?}");
}

/// A program that finds its libraries from its own folder is not run from a link in the run folder, where it would end
/// with status 127.
#[test]
fn a_worker_with_a_search_path_of_its_own_runs_where_it_is() {
    let sandbox = Sandbox::with_spec(&spec("origin", &[]));
    let folder = sandbox.path("programs");
    std::fs::create_dir_all(folder.join("lib")).expect("a folder");
    std::fs::copy(built("gpbench"), folder.join("gpbench")).expect("a copy");
    let worker = built("gpbench-worker").display().to_string();
    sandbox.write("own.c", "int own(void) { return 0; }\n");
    let main = format!(
        "#include <unistd.h>\nint own(void);\n\
         int main(int n, char **words) {{ (void)n; return own() ? 1 : execv(\"{worker}\", words); }}\n"
    );
    sandbox.write("main.c", &main);
    let compile = |arguments: &[&str]| {
        let compiled =
            std::process::Command::new("cc").current_dir(sandbox.path("")).args(arguments).status();
        compiled.is_ok_and(|status| status.success())
    };
    if !compile(&["-shared", "-fPIC", "-o", "programs/lib/libown.so", "own.c"]) {
        eprintln!("SKIPPED: no `cc` to compile a worker with");
        return;
    }
    let path =
        ["-o", "programs/gpbench-worker", "main.c", "-Lprograms/lib", "-lown", "-Wl,-rpath,$ORIGIN/lib"];
    assert!(compile(&path), "the worker was not compiled");
    let program = folder.join("gpbench").display().to_string();
    Ended::of(&mut sandbox.command_of(&program, &["run", "spec.toml"])).exits(0);
    assert_eq!(sandbox.cases().len(), 2);
}
