//! A spec from standard input.

use std::io::Write as _;
use std::process::Stdio;

use crate::support::{Ended, Sandbox, spec};

/// Runs the program with a text on its standard input.
fn fed(sandbox: &Sandbox, args: &[&str], text: &str) -> Ended {
    let mut command = sandbox.command(args);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    // The program may have ended without reading.
    let _ = child.stdin.take().expect("a pipe").write_all(text.as_bytes());
    let output = child.wait_with_output().expect("the program ends");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    Ended {
        code: output.status.code().unwrap_or(-1),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    }
}

#[test]
fn a_spec_is_read_from_standard_input() {
    let sandbox = Sandbox::new();
    let rows: String = (0..40).map(|i| format!("{i},{}\n", (f64::from(i) / 5.0).sin())).collect();
    sandbox.write("mine.csv", &format!("a,y\n{rows}"));
    // Its paths are relative to the current folder, and its name is that of the run.
    let text = spec("piped", &[("from = \"gp-draw\"\nn = 60\nd = 2", "path = \"mine.csv\"")]);
    fed(&sandbox, &["plan", "-"], &text).exits(0).prints(&["draw", "cholesky"]);
    fed(&sandbox, &["run", "-"], &text).exits(0).prints(&["piped: 2 ok"]);
    assert_eq!(sandbox.read("reports/piped/latest/spec.toml"), text);
    fed(&sandbox, &["run", "-"], &text).exits(0).says(&["nothing was left to run"]);

    fed(&sandbox, &["check", "-"], &text).exits(2).says(&["name one with `--baseline FILE`"]);
    fed(&sandbox, &["check", "-", "--baseline", "b.toml", "--update"], &text).exits(0);
    fed(&sandbox, &["check", "-", "--baseline", "b.toml"], &text).exits(0);
}

#[test]
fn mistakes_name_standard_input() {
    let sandbox = Sandbox::new();
    let text = spec("wrong", &[("\"cg\"]", "\"cgg\"]")]);
    for verb in ["run", "plan", "check"] {
        let args = [verb, "-", "--baseline", "b.toml", "--update"];
        let args = if verb == "check" { &args[..] } else { &args[..2] };
        fed(&sandbox, args, &text).exits(2).says(&["<stdin>:10:", "cgg", "`cg`"]);
    }
    fed(&sandbox, &["run", "-"], "schema = ").exits(2).says(&["<stdin>:1:"]);
    fed(&sandbox, &["run", "-"], "").exits(2).says(&["<stdin>:1:1"]);
}

#[test]
fn the_command_that_continues_reads_the_stored_spec() {
    let out_of_memory = "tolerance = 0.01\nmemory = \"1MiB\"";
    let text = spec("again", &[("tolerance = 0.01", out_of_memory)]);
    let sandbox = Sandbox::new();
    let ended = fed(&sandbox, &["run", "-", "--fail-fast"], &text).exits(1);
    let command = ended.stderr.split("to continue: ").nth(1).expect("a command").trim();
    assert!(command.contains(" run - ") && command.contains(" < /"), "{command}");
    let ended = Ended::of(&mut sandbox.command_of("sh", &["-c", command])).exits(1);
    assert!(!ended.stderr.contains("is new"), "{}", ended.stderr);
    assert_eq!(sandbox.cases().len(), 2);
}
