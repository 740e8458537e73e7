//! `gpbench verify`: what agrees, what could not be checked, and one test for each kind of forgery.
//!
//! A forger packs again what was changed, with all checksums made anew, unless a test says otherwise.

use std::fs;
use std::path::PathBuf;

use gpbench_files::checksum::{seal, without_checksum};
use gpbench_runs::{PACK_FORMAT, PackManifest, pack, unpack};
use serde_json::Value;

use crate::support::{Ended, Sandbox, spec};

const TWO_SEEDS: (&str, &str) = ("seeds = [0]", "seeds = [0, 1]");

/// A packed run of a spec with all of its solutions, as `a.gpbench`, and unpacked in `run`.
pub(crate) struct Published {
    pub(crate) sandbox: Sandbox,
}

impl Published {
    fn of(replacements: &[(&str, &str)]) -> Published {
        Published::in_sandbox(Sandbox::with_spec(&spec("public", replacements)))
    }

    pub(crate) fn in_sandbox(sandbox: Sandbox) -> Published {
        Published::with(sandbox, &[])
    }

    /// The same with further options of `run`.
    pub(crate) fn with(sandbox: Sandbox, options: &[&str]) -> Published {
        sandbox.run(&[&["run", "spec.toml", "--keep-solutions", "9"][..], options].concat()).exits(0);
        sandbox.run(&["pack", "public", "-o", "a.gpbench", "--solutions", "9"]).exits(0);
        let published = Published { sandbox };
        published.restore();
        published
    }

    /// Unpacks the run as it was packed.
    pub(crate) fn restore(&self) {
        let _ = fs::remove_dir_all(self.at(""));
        unpack(&self.sandbox.path("a.gpbench"), &self.sandbox.path("run")).unwrap();
    }

    fn at(&self, name: &str) -> PathBuf {
        self.sandbox.path(&format!("run/{name}"))
    }

    fn read(&self, name: &str) -> String {
        self.sandbox.read(&format!("run/{name}"))
    }

    /// Changes the row of a solver with seed 0; a row that becomes null is removed.
    pub(crate) fn edit_row(&self, solver: &str, change: impl Fn(&mut Value)) {
        let journal = self.read("journal.jsonl");
        let line = |line: &str| {
            let mut row = object(line.as_bytes());
            if row["labels"]["solver"] == solver && row["labels"]["seed"] == 0 {
                change(&mut row);
            }
            if row.is_null() {
                Vec::new()
            } else {
                [seal(row.to_string().as_bytes()), b"\n".to_vec()].concat()
            }
        };
        fs::write(self.at("journal.jsonl"), journal.lines().flat_map(line).collect::<Vec<u8>>()).unwrap();
    }

    /// Replaces a text of a file once, without a new checksum.
    fn edit_text(&self, file: &str, old: &str, new: &str) {
        let text = self.read(file);
        assert!(text.contains(old), "`{old}` is not in {file}");
        fs::write(self.at(file), text.replacen(old, new, 1)).unwrap();
    }

    /// Changes the plan.
    fn edit_plan(&self, change: impl Fn(&mut Value)) {
        let mut plan = object(&fs::read(self.at("plan.json")).unwrap());
        change(&mut plan);
        fs::write(self.at("plan.json"), seal(plan.to_string().as_bytes())).unwrap();
    }

    /// The id of the case of a solver with seed 0.
    fn id(&self, solver: &str) -> String {
        let plan = object(&fs::read(self.at("plan.json")).unwrap());
        let is_it = |case: &&Value| case["labels"]["solver"] == solver && case["labels"]["seed"] == 0;
        let case = plan["cases"].as_array().unwrap().iter().find(is_it).unwrap();
        case["id"].as_str().unwrap().to_owned()
    }

    pub(crate) fn solution(&self, solver: &str) -> PathBuf {
        self.at(&format!("solutions/{}.safetensors", self.id(solver)))
    }

    /// Packs the changed run again, and verifies it.
    pub(crate) fn verify(&self, args: &[&str]) -> Ended {
        let about = PackManifest {
            format: PACK_FORMAT,
            gpbench: "0.1.0".into(),
            name: "public".into(),
            run: "20260102T120000Z-aaaaaa".into(),
            entries: Vec::new(),
        };
        pack(&self.at(""), about, &self.sandbox.path("forged.gpbench")).unwrap();
        self.sandbox.run(&[&["verify", "forged.gpbench"][..], args].concat())
    }

    /// Asserts that the forgery is found by a check, with these words.
    #[track_caller]
    pub(crate) fn is_found(&self, args: &[&str], check: &str, words: &str) {
        let ended = self.verify(args).exits(3);
        let begin = format!("{check} differs: ");
        let is_found = ended.stdout.lines().any(|line| line.starts_with(&begin) && line.contains(words));
        assert!(is_found, "`{begin}` with `{words}` is missing:\n{}", ended.stdout);
    }
}

/// A sealed object without its checksum.
fn object(text: &[u8]) -> Value {
    serde_json::from_slice(&without_checksum(text).expect("a sealed object")).expect("an object")
}

/// Nothing runs again.
pub(crate) const STORED: &[&str] = &["--rerun", "0"];

/// Everything runs again, as chosen by a seed.
const ALL_AGAIN: &[&str] = &["--rerun", "9", "--seed", "7"];

/// A check, as JSON has it.
pub(crate) fn found(ended: &Ended, check: &str) -> Value {
    let json = ended.json();
    let found = json["checks"].as_array().unwrap().iter().find(|found| found["check"] == check);
    found.unwrap_or_else(|| panic!("no check `{check}`: {json}")).clone()
}

/// For programs.
pub(crate) const JSON: &[&str] = &["--format", "json"];

/// The result of a check, and how many of how many things it checked.
pub(crate) fn result(ended: &Ended, check: &str) -> (String, u64, u64) {
    let found = found(ended, check);
    let count = |name: &str| found[name].as_u64().unwrap();
    (found["result"].as_str().unwrap().to_owned(), count("checked"), count("of"))
}

#[test]
fn a_run_that_is_what_it_states_agrees() {
    let published = Published::of(&[TWO_SEEDS]);
    let ended = published.verify(&[ALL_AGAIN, JSON].concat()).exits(0);
    for (check, expected) in [
        ("files", ("agrees", 4, 4)),
        ("cases", ("agrees", 4, 4)),
        ("rows", ("agrees", 4, 4)),
        ("ids", ("agrees", 4, 4)),
        ("spec", ("agrees", 4, 4)),
        ("data sets", ("not checked", 0, 1)),
        ("plugins", ("agrees", 2, 2)),
        ("solutions", ("agrees", 4, 4)),
        ("run again", ("agrees", 4, 4)),
        ("times", ("not checked", 0, 4)),
    ] {
        let (word, checked, of) = expected;
        assert_eq!(result(&ended, check), (word.to_owned(), checked, of), "{check}");
    }
    // A run folder is verified as well; what cannot be recomputed is not checked.
    let sandbox = &published.sandbox;
    let ended =
        sandbox.run(&["verify", "public", "--rerun", "1", "--seed", "1", "--format", "json"]).exits(0);
    assert_eq!(result(&ended, "run again"), ("agrees".to_owned(), 1, 4));
    fs::remove_dir_all(published.at("solutions")).unwrap();
    published.verify(STORED).exits(4).prints(&["not checked", "times and memory are never verified"]);
    sandbox.run(&["verify", "nowhere"]).exits(2).says(&["there is no run `nowhere`"]);
    sandbox.run(&["verify", "spec.toml"]).exits(2).says(&["it is no packed run"]);
}

#[test]
fn a_file_that_was_changed_after_it_was_packed_is_found() {
    let published = Published::of(&[]);
    let file = published.sandbox.path("a.gpbench");
    let mut bytes = fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&file, bytes).unwrap();
    published.sandbox.run(&["verify", "a.gpbench"]).exits(3).prints(&["packed file differs: "]);
}

/// What is forged, the check that finds it, and its words.
type Forgery = (fn(&Published), &'static str, &'static str);

/// Forgeries of a run with two cases, whose solutions are packed.
const FORGERIES: [Forgery; 13] = [
    // A smaller residual, prediction error, and one of the cases that did worse.
    (|run| run.edit_row("cg", scaled("residual_y", 0.5)), "solutions", "residual_y is"),
    (|run| run.edit_row("cholesky", scaled("test_rmse", 0.99)), "solutions", "test_rmse is"),
    (|run| run.edit_row("cg", |row| *row = Value::Null), "cases", "cg/seed 0: it is planned and has no row"),
    // Of another case: a solution, a row, and a solution of none.
    (
        |run| {
            fs::copy(run.solution("cholesky"), run.solution("cg")).unwrap();
        },
        "solutions",
        "cg/seed 0: ",
    ),
    (
        |run| run.edit_row("cg", |row| row["case"]["seed"] = 1.into()),
        "rows",
        "of another case than the plan's",
    ),
    (
        |run| {
            fs::copy(run.solution("cg"), run.at("solutions/00ff.safetensors")).unwrap();
        },
        "solutions",
        "00ff: a solution is kept, and no case of the run has this id",
    ),
    // A looser tolerance, which the ids and the spec contradict.
    (loosen, "ids", "is that of another case"),
    (loosen, "spec", "its spec has it with another budget.tolerance"),
    (
        |run| run.edit_text("spec.toml", "probes = 2", "probes = 3"),
        "spec",
        "its spec has it with another task.targets.probes",
    ),
    // What contradicts itself.
    (
        |run| run.edit_row("cg", |row| row["metrics"]["residual_probes"] = 0.2_f64.into()),
        "rows",
        "it is `ok` with a residual of 2.00e-1",
    ),
    (
        |run| {
            run.edit_row("cg", |row| {
                row["metrics"].as_object_mut().unwrap().remove("residual_y");
            });
        },
        "rows",
        "it is `ok` without its residuals",
    ),
    // A worse end of another's solver.
    (
        |run| run.edit_row("cg", |row| row["status"] = "not_converged".into()),
        "rows",
        "it is `not_converged` with a residual of",
    ),
    (
        |run| run.edit_text("journal.jsonl", "\"iterations\":", "\"iterations\":1"),
        "files",
        "cannot be read (its checksum is wrong)",
    ),
];

/// A plan and rows of a looser tolerance.
fn loosen(run: &Published) {
    let loosen = |case: &mut Value| case["case"]["budget"]["tolerance"] = 0.1_f64.into();
    run.edit_plan(|plan| plan["cases"].as_array_mut().unwrap().iter_mut().for_each(loosen));
    for solver in ["cg", "cholesky"] {
        run.edit_row(solver, loosen);
    }
}

#[test]
fn each_forgery_is_found() {
    let published = Published::of(&[]);
    for (forge, check, words) in FORGERIES {
        published.restore();
        forge(&published);
        published.is_found(STORED, check, words);
    }
    // As the page of a job of CI shows it.
    let page = published.verify(&[STORED, &["--format", "md"][..]].concat()).exits(3);
    page.prints(&["| what differs |", "| files differs: journal.jsonl line "]);
    published.restore();
    published.edit_text("plan.json", "\"created\"", "\"creates\"");
    published.is_found(STORED, "files", "plan.json is damaged (its checksum is wrong)");
    // A case that the plan does not have is said, since `-s` may have left it out; and times are nobody's to verify.
    published.restore();
    published.edit_text("spec.toml", "[\"cholesky\", ", "[\"ap\", \"cholesky\", ");
    published.edit_row("cg", scaled("seconds_solve", 0.1));
    let ended = published.verify(&[ALL_AGAIN, JSON].concat()).exits(0);
    let told = "left out of the plan, as by `-s`, `-d` or `--shard` (1): draw/matern32/pathwise/ap/seed 0";
    let detail = found(&ended, "spec")["detail"].as_str().unwrap().to_owned();
    assert!(detail.ends_with(told), "{detail}");
    // No file that came with the spec is loaded.
    published.restore();
    fs::write(published.at("figures/x.svg"), "no library").unwrap();
    published.edit_text("spec.toml", "[budget]", "[solver.cg]\nlibrary = \"figures/x.svg\"\n\n[budget]");
    let ended = published.verify(&[STORED, JSON].concat()).exits(0);
    assert_eq!(result(&ended, "spec"), ("agrees".to_owned(), 2, 2));
    assert!(!ended.stderr.contains("x.svg"), "{}", ended.stderr);
}

#[test]
fn a_forged_row_without_its_solution_is_found_where_the_case_runs_again() {
    let published = Published::of(&[]);
    published.edit_row("cg", scaled("iterations", 0.5));
    // Solutions say nothing of iterations.
    published.verify(STORED).exits(0);
    fs::remove_dir_all(published.at("solutions")).unwrap();
    published.is_found(ALL_AGAIN, "run again", "metrics/iterations is");
    // Where nothing is recomputed, nothing is claimed.
    published.verify(STORED).exits(4);
}

#[test]
fn solutions_that_somebody_may_have_chosen_are_told() {
    let published = Published::of(&[]);
    let mut files = ["cg", "cholesky"].map(|solver| published.solution(solver));
    files.sort();
    for (file, is_told) in files.iter().zip([true, false]) {
        published.restore();
        fs::remove_file(file).unwrap();
        let ended = published.verify(&[STORED, JSON].concat()).exits(0);
        let detail = found(&ended, "solutions")["detail"].to_string();
        assert_eq!(detail.contains("they are not those of the smallest ids"), is_told, "{detail}");
    }
}

#[test]
fn a_solution_of_other_data_is_found() {
    // The same shape, of another draw; and another shape.
    let other = Published::of(&[("d = 2", "d = 3")]);
    let smaller = Published::of(&[("n = 60", "n = 50")]);
    let published = Published::of(&[]);
    fs::copy(other.solution("cg"), published.solution("cg")).unwrap();
    published.is_found(STORED, "solutions", "residual_y is");
    fs::copy(smaller.solution("cg"), published.solution("cg")).unwrap();
    published.is_found(STORED, "solutions", "the kept solution is not its");
}

#[test]
fn a_strangers_file_is_not_read_outside_the_current_folder() {
    let sandbox = Sandbox::new();
    let path = format!("path = \"{}\"", sandbox.write("mine.csv", &csv(1.0)).display());
    sandbox.write("spec.toml", &spec("public", &[("from = \"gp-draw\"\nn = 60\nd = 2", &path)]));
    sandbox.run(&["run", "spec.toml", "--keep-solutions", "9"]).exits(0);
    sandbox.run(&["pack", "public", "-o", "a.gpbench", "--keep-paths", "--solutions", "9"]).exits(0);
    let verify = |run: &str| sandbox.run(&["verify", run, "--rerun", "0", "--format", "json"]);
    let told = "is outside the current folder; of a packed run, no such file is read";
    let ended = verify("a.gpbench").exits(4);
    for check in ["spec", "data sets", "solutions"] {
        let detail = found(&ended, check)["detail"].to_string();
        assert!(detail.contains(told), "{check}: {detail}");
    }
    // A run of one's own may name any file.
    verify("public").exits(0);
}

/// A file of 60 rows, whose targets have this factor.
fn csv(factor: f64) -> String {
    let row = |number: u32| {
        let at = f64::from(number);
        let (x, z) = ((0.61 * at).fract(), (0.37 * at).fract());
        format!("{x},{z},{}\n", factor * (6.0 * x).sin() + z + 0.1 * (17.0 * at).cos())
    };
    "x,z,y\n".to_owned() + &(0..60).map(row).collect::<String>()
}

/// A published run of a user's own file, of which predictions are kept.
fn of_own_file() -> Published {
    let sandbox =
        Sandbox::with_spec(&spec("public", &[("from = \"gp-draw\"\nn = 60\nd = 2", "path = \"mine.csv\"")]));
    sandbox.write("mine.csv", &csv(1.0));
    Published::in_sandbox(sandbox)
}

#[test]
fn another_data_set_under_the_same_name_and_forged_predictions_are_found() {
    let published = of_own_file();
    let agrees = published.verify(&[STORED, JSON].concat()).exits(0);
    assert_eq!(result(&agrees, "data sets"), ("agrees".to_owned(), 1, 1));
    published.edit_row("cg", |row| {
        let mean = row["predictions"]["mean"].as_array_mut().expect("predictions");
        mean[0] = (mean[0].as_f64().expect("a number") + 0.01).into();
    });
    published.is_found(STORED, "solutions", "its predictions are not those of its solution");

    published.restore();
    published.sandbox.write("mine.csv", &csv(2.0));
    published.is_found(STORED, "data sets", "`draw` has another content here: SHA-256 of its copy ");
    published.is_found(STORED, "solutions", "cg/seed 0: ");
    // Without the data, solutions are not checked.
    fs::remove_file(published.sandbox.path("mine.csv")).unwrap();
    let absent = published.verify(&[STORED, JSON].concat()).exits(4);
    assert_eq!(result(&absent, "solutions"), ("not checked".to_owned(), 0, 2));
}

/// Multiplies a metric of a row.
pub(crate) fn scaled(metric: &str, factor: f64) -> impl Fn(&mut Value) + use<'_> {
    move |row| {
        let value = row["metrics"][metric].as_f64().expect("a metric");
        row["metrics"][metric] = (factor * value).into();
    }
}
