//! Files, names and folders that no tool writes: each works, or is one error that says what to do.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{Ended, Sandbox, library, spec};

/// A Parquet file without rows whose schema is `depth` groups, one in the other, around one column.
///
/// The footer is Thrift's compact protocol: a field's byte is the distance from the field before and the type.
fn nested_parquet(depth: usize) -> Vec<u8> {
    let mut footer = vec![0x15, 2, 0x19]; // version = 1 (zigzag); schema, a list
    footer.push(0xfc); // 15 or more elements, structures
    varint(&mut footer, depth + 2);
    let group = [0x48, 1, b'g', 0x15, 2, 0]; // name "g", one child
    footer.extend(group); // the root
    for _ in 0..depth {
        footer.extend([0x35, 0, 0x18, 1, b'g', 0x15, 2, 0]); // required, name "g", one child
    }
    footer.extend([0x15, 10, 0x25, 0, 0x18, 1, b'y', 0]); // double, required, name "y"
    footer.extend([0x16, 0, 0x19, 0x0c, 0]); // no rows, no row groups
    let length = u32::try_from(footer.len()).unwrap().to_le_bytes();
    [b"PAR1", footer.as_slice(), &length, b"PAR1"].concat()
}

fn varint(bytes: &mut Vec<u8>, mut number: usize) {
    while number > 127 {
        bytes.push(number as u8 | 128);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// One error, which is a message and not a panic.
#[track_caller]
fn refuses(ended: Ended, texts: &[&str]) {
    let ended = ended.exits(2).says(texts);
    assert!(!ended.stderr.contains("panicked") && !ended.stderr.contains("bug"), "{}", ended.stderr);
}

#[test]
fn a_parquet_file_of_10_000_nested_groups_is_one_error() {
    let sandbox = Sandbox::new();
    for depth in [1_000, 10_000, 1_000_000] {
        fs::write(sandbox.path("deep.parquet"), nested_parquet(depth)).unwrap();
        refuses(sandbox.run(&["data", "import", "deep.parquet"]), &["gpbench: deep.parquet: ", "; "]);
    }
    let ended = sandbox.run(&["data", "import", "deep.parquet"]);
    refuses(ended, &["nested too deeply; write a table of plain columns, or save it as CSV"]);
    let text = spec("deep", &[("from = \"gp-draw\"\nn = 60\nd = 2", "path = \"deep.parquet\"")]);
    sandbox.write("spec.toml", &text);
    for verb in ["plan", "run"] {
        refuses(
            sandbox.run(&[verb, "spec.toml"]),
            &["data set `draw`: ", "deep.parquet", "nested too deeply"],
        );
    }
}

#[test]
fn files_that_are_no_tables_are_refused() {
    let sandbox = Sandbox::new();
    let file = |name: &str, bytes: &[u8]| fs::write(sandbox.path(name), bytes).unwrap();
    file("zeros.csv", &[0; 100]);
    file("zeros.parquet", &[0; 100]);
    file("utf16.csv", b"\xff\xfea\0,\0b\0\n\x001\0,\x002\0\n\0");
    file("empty.csv", b"");
    fs::create_dir(sandbox.path("folder.csv")).unwrap();
    for (name, texts) in [
        ("zeros.csv", &["zeros.csv:1: ", "one column"][..]),
        ("zeros.parquet", &["cannot be read as Parquet"]),
        ("utf16.csv", &["UTF-16", "save it as UTF-8"]),
        ("empty.csv", &["the file is empty"]),
        ("folder.csv", &["the folder has no data.csv.gz"]),
        ("/dev/zero", &["not a regular file"]),
        ("missing.csv", &["cannot be read", "check the path"]),
    ] {
        refuses(sandbox.run(&["data", "import", name]), texts);
    }
    file("bom.csv", b"\xef\xbb\xbfa,b\n1,2\n3,5\n");
    sandbox.run(&["data", "import", "bom.csv"]).exits(0).prints(&["2 rows"]);
}

#[test]
fn files_that_are_no_specs_or_baselines_are_refused() {
    let sandbox = Sandbox::with_spec(&spec("odd", &[]));
    let file = |name: &str, bytes: &[u8]| fs::write(sandbox.path(name), bytes).unwrap();
    file("utf16.toml", b"\xff\xfes\0");
    file("empty.toml", b"");
    fs::create_dir(sandbox.path("folder.toml")).unwrap();
    for (name, texts) in [
        ("utf16.toml", &["utf16.toml", "not UTF-8; save the file as UTF-8"][..]),
        ("empty.toml", &["empty.toml", "`schema`"]),
        ("folder.toml", &["cannot read this spec", "directory"]),
        ("/dev/zero", &["longer than 16 MiB"]),
        ("missing.toml", &["cannot read this spec"]),
    ] {
        refuses(sandbox.run(&["plan", name]), texts);
    }
    for name in ["utf16.toml", "empty.toml"] {
        refuses(sandbox.run(&["check", "spec.toml", "--baseline", name]), &[name]);
    }
    file("bom.toml", &[b"\xef\xbb\xbf", spec("bom", &[]).as_bytes()].concat());
    sandbox.run(&["plan", "bom.toml"]).exits(0);
}

#[test]
fn names_of_any_length_work_or_are_refused_at_their_place() {
    let long = "n".repeat(300);
    let sandbox = Sandbox::with_spec(&spec(&long, &[]));
    refuses(sandbox.run(&["run", "spec.toml"]), &["spec.toml:2:8", "300 letters", "at most 255"]);
    let name = "d".repeat(400);
    let text = spec(
        "long",
        &[("\"draw\"", &format!("\"{name}\"")), ("[dataset.draw]", &format!("[dataset.{name}]"))],
    );
    let text = text.replace("seeds = [0]", "seeds = [0, 1]");
    sandbox.write("spec.toml", &text);
    sandbox.run(&["run", "spec.toml"]).exits(0);
    let charts: Vec<_> = fs::read_dir(sandbox.path("reports/long/latest/figures")).unwrap().collect();
    assert!(!charts.is_empty());
    let edge = "e".repeat(255);
    sandbox.write("spec.toml", &spec(&edge, &[]));
    sandbox.run(&["run", "spec.toml"]).exits(0);
    let file = format!("{}.csv", "f".repeat(300));
    refuses(sandbox.run(&["data", "import", &file]), &["File name too long"]);
}

#[test]
fn sizes_that_overflow_are_refused() {
    let sandbox = Sandbox::with_spec(&spec("large", &[("n = 60", "n = 1000000000000000000")]));
    refuses(sandbox.run(&["plan", "spec.toml"]), &["spec.toml:", "`n` must be at most 4294967295"]);
    let huge = [("n = 60\nd = 2", "n = 4294967295\nn_test = 4294967295\nd = 4294967295")];
    sandbox.write("spec.toml", &spec("larger", &huge));
    sandbox.run(&["plan", "spec.toml"]).exits(0).prints(&["4294967295"]);
    let most = usize::MAX.to_string();
    sandbox.write("spec.toml", &spec("limit", &[]));
    sandbox.run(&["run", "spec.toml", "--exact-limit", &most]).exits(0);
}

/// A name that is not UTF-8.
fn strange(begin: &str, end: &str) -> OsString {
    OsString::from_vec([begin.as_bytes(), b"\xff\xfe'\\ ", end.as_bytes()].concat())
}

#[test]
fn folders_and_files_that_are_not_utf_8_work() {
    let sandbox = Sandbox::new();
    let folder = sandbox.path("x").with_file_name(strange("folder", ""));
    fs::create_dir(&folder).unwrap();
    let spec_file = folder.join(strange("spec", ".toml"));
    let table = "path = \"table.csv\"";
    fs::write(folder.join("table.csv"), rows()).unwrap();
    fs::write(&spec_file, spec("utf", &[("from = \"gp-draw\"\nn = 60\nd = 2", table)])).unwrap();
    let command = |args: &[&OsStr]| {
        let mut command = sandbox.command(&[]);
        command.args(args).current_dir(&folder).env("GPBENCH_CACHE", folder.join("cache"));
        command
    };
    let runs = folder.join("runs");
    let all = |verb: &str| {
        let mut words: Vec<OsString> = verb.split(' ').map(OsString::from).collect();
        let has_runs = ["run", "report", "list", "clean", "check"].iter().any(|name| words[0] == *name);
        words.extend(
            has_runs.then(|| [OsString::from("--output-dir"), runs.clone().into()]).into_iter().flatten(),
        );
        words
    };
    let run = |verb: &str, last: Option<&Path>| {
        let words = all(verb);
        let mut words: Vec<&OsStr> = words.iter().map(OsString::as_os_str).collect();
        words.extend(last.map(Path::as_os_str));
        Ended::of(&mut command(&words))
    };
    run("run", Some(&spec_file)).exits(0).says(&["report: "]);
    let cases = run("report latest --format json", None).exits(0).json();
    assert!(cases["cases"].as_array().unwrap().iter().all(|case| case["status"] == "ok"), "{cases}");
    run("plan", Some(&spec_file)).exits(0);
    run("list runs", None).exits(0);
    assert!(run("list runs --format json", None).exits(0).json()["runs"][0]["path"].is_array());
    run("doctor --format json", None).exits(0).json();
    run("data list", None).exits(0);
    run("clean", None).exits(0);
    run("data import", Some(&folder.join("table.csv"))).exits(0).prints(&["60 rows"]);
    let update = format!("check --update --baseline {}", sandbox.path("base.toml").display());
    run(&update, Some(&spec_file)).exits(0);

    // A plugin whose path is not UTF-8 can be inspected and tested; a spec cannot name it.
    let plugin = folder.join("libgpbench_plugin_cg.so");
    fs::copy(library("gpbench_plugin_cg"), &plugin).unwrap();
    run("plugin inspect --format json", Some(&plugin)).exits(0).json();
    run("plugin test", Some(&plugin)).exits(0);
    let named = format!("run --library {}", "libgpbench_plugin_cg.so");
    refuses(run(&named, Some(&spec_file)), &["--library", "not UTF-8", "another folder"]);
}

/// Rows of a small table.
fn rows() -> String {
    let row = |k: i32| format!("{},{},{}\n", k * 37 % 101, k * 53 % 97, k * 29 % 89);
    format!("a,b,y\n{}", (0..60).map(row).collect::<String>())
}

#[test]
fn what_is_in_the_place_of_latest_is_kept() {
    let sandbox = Sandbox::with_spec(&spec("link", &[]));
    let latest = sandbox.path("reports/link/latest");
    for make in [|path: &Path| fs::create_dir_all(path), |path: &Path| fs::write(path, "mine")] {
        fs::create_dir_all(latest.parent().unwrap()).unwrap();
        make(&latest).unwrap();
        let ended = sandbox.run(&["run", "spec.toml"]);
        assert_ne!(ended.code, 0);
        ended.says(&["reports/link/latest is not a link", "rename it or move it away"]);
        assert!(!latest.is_symlink() && latest.exists());
        if latest.is_dir() {
            fs::remove_dir(&latest).unwrap()
        } else {
            fs::remove_file(&latest).unwrap()
        }
        sandbox.run(&["run", "spec.toml"]).exits(0);
        assert!(latest.is_symlink());
        fs::remove_file(&latest).unwrap();
    }
    // A broken link, and one that leads to itself, are replaced.
    for target in ["nowhere", "latest"] {
        symlink(target, &latest).unwrap();
        sandbox.run(&["report", "link"]).exits(0);
        sandbox.run(&["run", "spec.toml"]).exits(0);
        sandbox.run(&["report", "link"]).exits(0);
        fs::remove_file(&latest).unwrap();
    }
}

#[test]
fn folders_that_are_none_are_refused() {
    let sandbox = Sandbox::with_spec(&spec("folders", &[]));
    sandbox.write("file", "");
    let file =
        |option: &str| vec!["run", "spec.toml", option, "file"].into_iter().map(str::to_owned).collect();
    let ended = |args: Vec<String>| sandbox.run(&args.iter().map(String::as_str).collect::<Vec<_>>());
    let output = ended(file("--output-dir"));
    assert_ne!(output.code, 0);
    output.says(&["cannot create", "file/folders"]);
    let without_home = |command: &mut Command| {
        Ended::of(command.env_remove("GPBENCH_CACHE").env_remove("HOME").env_remove("XDG_CACHE_HOME"))
    };
    // Without HOME, the home folder is that of the system's user list.
    let ended = without_home(&mut sandbox.command(&["clean", "--dry-run"]));
    assert!([0, 2].contains(&ended.code), "{}", ended.stderr);
    let mut relative = sandbox.command(&["clean", "--dry-run"]);
    let relative = relative.env_remove("GPBENCH_CACHE").env("HOME", "").env("XDG_CACHE_HOME", "relative");
    let relative = Ended::of(relative);
    assert!(relative.code == 2 || !relative.stdout.contains("relative"), "{}", relative.stdout);
    assert!(!PathBuf::from("relative").exists());
}
