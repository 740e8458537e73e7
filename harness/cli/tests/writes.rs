//! Standard output and standard error that are full, closed or no longer read: a run never ends early, and a result
//! that could not be written is never passed over in silence.

use std::fs::OpenOptions;
use std::io::{BufRead as _, BufReader};
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
            if (args.as_slice(), streams) == (["report", "latest"].as_slice(), ">&-") {
                assert_eq!(ended.code, 0, "its tables are in the files of the report: {}", ended.stderr);
                continue;
            }
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
    // 70 where a table of results that somebody wanted is lost; the report has it too.
    for (name, streams, code) in [
        ("full-output", "> /dev/full", 70),
        ("full-error", "2> /dev/full", 0),
        ("both-full", "> /dev/full 2> /dev/full", 70),
        ("closed-output", ">&-", 0),
        ("closed-error", "2>&-", 0),
        ("all-closed", "<&- >&- 2>&-", 0),
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
    // A file beyond RLIMIT_FSIZE is then an error, as on a full disk.
    let script = "trap '' XFSZ; ulimit -f 1; exec \"$@\"";
    let args = ["-c", script, "sh", env!("CARGO_BIN_EXE_gpbench"), "report", "latest"];
    let ended = Ended::of(&mut sandbox.command_of("sh", &args)).exits(0).prints(&["cholesky"]);
    ended.says(&["the report in the run folder was not rebuilt", "results.parquet", "File too large"]);
    assert_eq!(sandbox.cases().len(), 2);
}

#[test]
fn a_report_writes_inside_of_its_folder_alone() {
    let sandbox = Sandbox::with_spec(&spec("links", &[]));
    sandbox.run(&["run", "spec.toml"]).exits(0);
    let own = sandbox.path("own");
    std::fs::create_dir(&own).unwrap();
    for name in ["mine.svg", "page.html", "table.csv"] {
        std::fs::write(own.join(name), "my own").unwrap();
    }
    let run = std::fs::canonicalize(sandbox.path("reports/links/latest")).unwrap();
    // A chart of the user's beside those of the report stays too.
    std::fs::write(run.join("figures/mine.svg"), "my own").unwrap();
    sandbox.run(&["report"]).exits(0);
    assert_eq!(std::fs::read_to_string(run.join("figures/mine.svg")).unwrap(), "my own");
    for (name, target) in [("figures", ""), ("index.html", "page.html"), ("results.csv", "table.csv")] {
        let (path, aside) = (run.join(name), run.join("aside"));
        std::fs::rename(&path, &aside).unwrap();
        std::os::unix::fs::symlink(own.join(target), &path).unwrap();
        let page = std::fs::read(run.join("report.md")).unwrap();
        let ended = sandbox.run(&["report"]).exits(0).prints(&["cholesky"]);
        ended.says(&["was not rebuilt", name, "it is a link"]);
        assert_eq!(std::fs::read(run.join("report.md")).unwrap(), page, "no part of the report is new");
        std::fs::remove_file(&path).unwrap();
        std::fs::rename(&aside, &path).unwrap();
    }
    for name in ["mine.svg", "page.html", "table.csv"] {
        assert_eq!(std::fs::read_to_string(own.join(name)).unwrap(), "my own", "{name}");
    }
    assert_eq!(std::fs::read_dir(&own).unwrap().count(), 3);
}

#[test]
fn a_run_writes_and_removes_inside_of_its_folder_alone() {
    let sandbox = Sandbox::with_spec(&spec("inside", &[]));
    sandbox.run(&["run", "spec.toml"]).exits(0);
    let run = std::fs::canonicalize(sandbox.path("reports/inside/latest")).unwrap();
    let own = sandbox.path("own");
    std::fs::create_dir(&own).unwrap();
    std::fs::write(own.join("notes"), "my own").unwrap();
    for name in ["scratch", "programs", "checkpoints", "logs", "journal.jsonl", "attempts.jsonl"] {
        let (path, aside) = (run.join(name), run.join("aside"));
        let was_there = std::fs::rename(&path, &aside).is_ok();
        let target = if name.ends_with("jsonl") { own.join("notes") } else { own.clone() };
        std::os::unix::fs::symlink(target, &path).unwrap();
        sandbox.run(&["run", "spec.toml"]).exits(2).says(&[name, "it is a link"]);
        std::fs::remove_file(&path).unwrap();
        if was_there {
            std::fs::rename(&aside, &path).unwrap();
        }
        assert_eq!(std::fs::read_to_string(own.join("notes")).unwrap(), "my own", "{name}");
        assert_eq!(std::fs::read_dir(&own).unwrap().count(), 1, "{name}");
    }
    sandbox.run(&["run", "spec.toml"]).exits(0).says(&["nothing was left to run"]);
}

#[test]
fn a_journal_that_another_program_empties_ends_no_run_well() {
    let sandbox = Sandbox::with_spec(&spec("emptied", &[("seeds = [0]", "seeds = [0, 1, 2, 3, 4, 5]")]));
    let mut command = sandbox.command(&["run", "spec.toml", "-v", "-t", "1"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    let mut said: Vec<String> = Vec::new();
    // Once two cases have their rows.
    while !said.last().is_some_and(|line| line.contains("[2/12]")) {
        said.push(lines.next().expect("a second case ends"));
    }
    OpenOptions::new()
        .write(true)
        .truncate(true)
        .open(sandbox.path("reports/emptied/latest/journal.jsonl"))
        .unwrap();
    said.extend(lines);
    let said = said.join("\n");
    assert_eq!(child.wait().unwrap().code(), Some(70), "{said}");
    assert!(
        said.contains("rows of this run are no longer in") && said.contains("run the same again"),
        "{said}"
    );
    sandbox.run(&["run", "spec.toml"]).exits(0);
    assert_eq!(sandbox.cases().len(), 12);
}

/// Runs the spec on disks of these sizes in KiB, twice, then once with room. It prints the size and the three exit codes.
const FULL_DISKS: &str = r#"
mkdir disk
for size in 24 40 64 128 200 320; do
    mount -t tmpfs -o size=${size}k none disk || exit 77
    codes=
    for room in $size $size 16384; do
        mount -o remount,size=${room}k none disk || exit 77
        "$1" run spec.toml -t 1 --output-dir disk/reports
        codes="$codes $?"
    done
    echo "disk $size$codes $(cat disk/reports/full/latest/journal.jsonl | wc -l)"
    umount disk
done
"#;

#[test]
fn a_run_goes_on_after_any_full_disk() {
    let sandbox = Sandbox::with_spec(&spec("full", &[]));
    let args = ["--mount", "--map-root-user", "sh", "-c", FULL_DISKS, "sh", env!("CARGO_BIN_EXE_gpbench")];
    let ended = Ended::of(&mut sandbox.command_of("unshare", &args));
    if !ended.stdout.contains("disk 24") && ended.code != 0 {
        println!("skipped: this user cannot mount a small disk: {}", ended.stderr);
        return;
    }
    assert!(
        !ended.stderr.contains("panicked") && !ended.stderr.contains("cannot be read"),
        "{}",
        ended.stderr
    );
    let lines: Vec<&str> = ended.stdout.lines().filter(|line| line.starts_with("disk ")).collect();
    assert_eq!(lines.len(), 6, "{}", ended.stdout);
    for line in lines {
        let numbers: Vec<u32> = line.split(' ').skip(1).map(|number| number.parse().unwrap()).collect();
        assert!(numbers[1..3].iter().all(|code| [0, 70].contains(code)), "{line}: {}", ended.stderr);
        assert_eq!(numbers[3..], [0, 2], "{line}: with room, every case has its row: {}", ended.stderr);
    }
    ended.says(&["make room, then run the same again", "nothing was left to run"]);
}
