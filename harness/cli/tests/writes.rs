//! Standard output and standard error that are full, closed or no longer read: a run never ends early, and a result
//! that could not be written is never passed over in silence.

// clippy.toml allows `unwrap` in tests; helpers need it too.
#![allow(clippy::unwrap_used)]

use std::fs::OpenOptions;
use std::process::{Command, Stdio};

use crate::support::{Ended, Sandbox, built, library, spec};

/// A file in which there is never room.
fn full() -> Stdio {
    OpenOptions::new().write(true).open("/dev/full").unwrap().into()
}

/// A command in a shell, with what is done to its streams.
fn redirected(sandbox: &Sandbox, args: &[&str], streams: &str) -> Ended {
    let script = format!("exec \"$@\" {streams}");
    let all = [&["-c", &script, "sh", env!("CARGO_BIN_EXE_gpbench")], args].concat();
    Ended::of(&mut sandbox.command_of("sh", &all))
}

/// Every verb whose point is its output.
fn printing_verbs() -> Vec<Vec<String>> {
    let plugin = library("gpbench_plugin_cg").display().to_string();
    let texts = [
        "report latest",
        "report latest --format json",
        "report latest --format csv",
        "list",
        "list --format json",
        "list runs --format json",
        "list kernels",
        "plan spec.toml",
        "plan spec.toml --format md",
        "compare latest latest --exact",
        "compare latest latest",
        "data list --format json",
        "completions bash",
        "doctor --format json",
        "bench operator --n 50 --d 2 --rhs 2 --seconds 0.01 --dgemm-order 32",
        "clean --dry-run",
        "data import table.csv",
        "--help",
        "--version",
        "run --help",
    ];
    let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let mut verbs: Vec<Vec<String>> = texts.into_iter().map(words).collect();
    verbs.push(vec!["plugin".into(), "inspect".into(), plugin]);
    let learner = library("gpbench_plugin_svgp").display().to_string();
    let mut bench = words("bench learner --n 50 --d 2 --batch 9 --points 5 --seconds 0.01 --dgemm-order 32");
    bench.push(learner);
    verbs.push(bench);
    verbs
}

#[test]
fn a_result_that_cannot_be_written_is_an_error() {
    let sandbox = Sandbox::with_spec(&spec("full", &[]));
    sandbox.write("table.csv", "a,b\n1,2\n3,5\n4,4\n");
    sandbox.run(&["run", "spec.toml"]).exits(0);
    for verb in printing_verbs() {
        let args: Vec<&str> = verb.iter().map(String::as_str).collect();
        for (streams, why) in [("> /dev/full", "No space left"), (">&-", "it is closed")] {
            let ended = redirected(&sandbox, &args, streams);
            assert_eq!(ended.code, 70, "{args:?} {streams}: {}", ended.stderr);
            ended.says(&["standard output cannot be written", why, "redirect it"]);
        }
        // Nobody reads what it says beside its result.
        let expected = sandbox.run(&args);
        for streams in ["2> /dev/full", "2>&-"] {
            let ended = redirected(&sandbox, &args, streams);
            assert_eq!(ended.code, expected.code, "{args:?} {streams}");
            assert_eq!(ended.stdout.is_empty(), expected.stdout.is_empty(), "{args:?} {streams}");
        }
        let ended = Ended::of(sandbox.command(&args).stderr(pipe_without_reader()));
        assert_eq!(ended.code, expected.code, "{args:?}");
        // The reader of a pipe has read enough.
        let ended = Ended::of(sandbox.command(&args).stdout(pipe_without_reader()));
        assert_eq!((ended.code, ended.stderr.contains("cannot be written")), (0, false), "{args:?}");
    }
    sandbox.run(&["report", "latest"]).exits(0).prints(&["cholesky"]);
}

fn pipe_without_reader() -> Stdio {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    writer.into()
}

#[test]
fn no_state_of_the_streams_ends_a_run() {
    // 70 where the table of results is lost: all else is stored.
    for (name, streams, code) in [
        ("full-output", "> /dev/full", 70),
        ("full-error", "2> /dev/full", 0),
        ("both-full", "> /dev/full 2> /dev/full", 70),
        ("closed-output", ">&-", 70),
        ("closed-error", "2>&-", 0),
        ("all-closed", "<&- >&- 2>&-", 70),
    ] {
        let sandbox = Sandbox::with_spec(&spec(name, &[]));
        let args = ["run", "spec.toml", "--verbose"];
        let ended = redirected(&sandbox, &args, streams);
        assert_eq!(ended.code, code, "{streams}: {}", ended.stderr);
        assert!(sandbox.path(&format!("reports/{name}/latest/index.html")).is_file(), "{streams}");
        let cases = sandbox.cases();
        assert_eq!(cases.len(), 2, "{streams}");
        assert!(cases.iter().all(|case| case["status"] == "ok"), "{streams}: {cases:?}");
        // Every line of the journal is whole: nothing was printed into it.
        sandbox.run(&["report", "latest"]).exits(0).prints(&["cg"]);
    }
}

#[test]
fn a_table_that_cannot_be_printed_hides_no_failure() {
    let out_of_memory = "tolerance = 0.01\nmemory = \"1MiB\"";
    let sandbox = Sandbox::with_spec(&spec("failing", &[("tolerance = 0.01", out_of_memory)]));
    redirected(&sandbox, &["run", "spec.toml"], "> /dev/full").exits(1).says(&[
        "warning: standard output cannot be written",
        "failed cases: 2",
        "report: ",
    ]);
    // Where no table is wanted, none is lost.
    let sandbox = Sandbox::with_spec(&spec("quiet", &[]));
    redirected(&sandbox, &["run", "spec.toml", "--quiet"], "> /dev/full").exits(0);
    let ended = redirected(&sandbox, &["run", "spec.toml"], "> /dev/full").exits(70);
    ended.says(&["standard output cannot be written", "report: "]);
}

#[test]
fn a_check_whose_result_cannot_be_written_does_not_pass() {
    let sandbox = Sandbox::with_spec(&spec("gate", &[]));
    sandbox.run(&["check", "spec.toml", "--update"]).exits(0);
    let mut command = sandbox.command(&["check", "spec.toml", "--step-summary"]);
    let page = sandbox.path("page.md");
    Ended::of(command.stdout(full()).env("GITHUB_STEP_SUMMARY", &page))
        .exits(70)
        .says(&["standard output cannot be written"]);
    // The page of the CI job has the result.
    assert!(sandbox.read("page.md").contains("gpbench check"));
}

#[test]
fn wrong_usage_keeps_its_exit_code_without_a_standard_error() {
    let sandbox = Sandbox::new();
    for streams in ["2> /dev/full", "2>&-", "2> /dev/full > /dev/full"] {
        redirected(&sandbox, &["run"], streams).exits(2);
        redirected(&sandbox, &["run", "missing.toml"], streams).exits(2);
        redirected(&sandbox, &["report", "nothing"], streams).exits(2);
    }
}

#[test]
fn a_full_log_is_no_verdict() {
    // The worker's log is the file that its standard error is; `/dev/full` stands for a full disk.
    let sandbox = Sandbox::new();
    let worker = built("gpbench-worker");
    let mut command = Command::new(worker);
    let plugin = library("gpbench_plugin_cg");
    let ended = Ended::of(sandbox_less(command.arg("conform").arg(&plugin)).stderr(full())).exits(0);
    assert!(ended.stdout.contains("passed") && !ended.stdout.contains("failed"), "{}", ended.stdout);
    drop(sandbox);
}

fn sandbox_less(command: &mut Command) -> &mut Command {
    command.stdin(Stdio::null()).stdout(Stdio::piped())
}

#[test]
fn a_worker_without_standard_streams_answers_or_fails() {
    let sandbox = Sandbox::new();
    let worker = built("gpbench-worker").display().to_string();
    for (streams, answers) in [("<&- 2>&-", true), ("<&- >&- 2>&-", false)] {
        let script = format!("exec \"$1\" environment {streams}");
        let ended = Ended::of(&mut sandbox.command_of("sh", &["-c", &script, "sh", &worker])).exits(0);
        assert_eq!(ended.stdout.starts_with('{'), answers, "{streams}: {}", ended.stdout);
    }
}

#[test]
fn a_report_on_a_full_disk_names_the_file_and_keeps_the_rows() {
    let sandbox = Sandbox::with_spec(&spec("disk", &[]));
    sandbox.run(&["run", "spec.toml"]).exits(0);
    let page = sandbox.path("reports/disk/latest/report.md");
    std::fs::remove_file(&page).unwrap();
    std::os::unix::fs::symlink("/dev/full", &page).unwrap();
    let ended = sandbox.run(&["report", "latest"]).exits(0).prints(&["cholesky"]);
    ended.says(&["the report in the run folder was not rebuilt", "report.md", "No space left"]);
    assert_eq!(sandbox.cases().len(), 2);
}
