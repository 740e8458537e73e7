//! Single bits that flip in what a run keeps: no report shows a changed value, and the same command gives the rows
//! of a quiet run again.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use crate::support::sources::entries;
use crate::support::{Sandbox, reproducible, spec};
use gpbench_record::Row;
use gpbench_runs::{PlanFile, RunRecord};
use serde_json::Value;

/// Flips of the journal and of the plan that are read by the library.
const FLIPS: usize = 300;
/// Rounds of flips after which the program runs.
const ROUNDS: usize = 3;

/// SplitMix64: the same numbers on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % bound as u64) as usize
    }

    /// `bytes` with one bit flipped.
    fn flip(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        let bit = self.below(8 * bytes.len());
        bytes[bit / 8] ^= 1 << (bit % 8);
        bytes
    }
}

/// A run of four cases on rows of a file, which has ended.
fn quiet() -> Sandbox {
    let sandbox = Sandbox::with_spec(&spec(
        "flips",
        &[("seeds = [0]", "seeds = [0, 1]"), ("from = \"gp-draw\"\nn = 60\nd = 2", "path = \"rows.csv\"")],
    ));
    let row =
        |i: usize| format!("{},{},{}\n", (0.7 * i as f64).sin(), (0.3 * i as f64).cos(), (i as f64).sin());
    sandbox.write("rows.csv", &(0..60).map(row).collect::<String>());
    sandbox.run(&["run", "spec.toml"]).exits(0);
    sandbox
}

fn folder(sandbox: &Sandbox) -> PathBuf {
    fs::canonicalize(sandbox.path("reports/flips/latest")).expect("a run")
}

/// What does not depend on the machine, of each case by its id.
fn results(cases: &[Value]) -> BTreeMap<String, (Value, Vec<(String, Value)>)> {
    let result = |case: &Value| {
        let id = case["id"].as_str().expect("an id").to_owned();
        (id, (case["status"].clone(), reproducible(case)))
    };
    cases.iter().map(result).collect()
}

#[test]
fn no_flip_changes_a_row_or_the_plan() {
    let sandbox = quiet();
    let folder = folder(&sandbox);
    let whole = RunRecord::open(&folder).expect("a run");
    let plan = PlanFile::read(&folder).expect("a plan");
    let rows: BTreeMap<&str, &Row> = whole.rows.iter().map(|row| (row.id.as_str(), row)).collect();
    let [journal, stored] = ["journal.jsonl", "plan.json"].map(|name| folder.join(name));
    let [good_journal, good_plan] = [&journal, &stored].map(|path| fs::read(path).expect("a file"));
    let mut random = Random(7);
    for flip in 0..FLIPS {
        fs::write(&journal, random.flip(&good_journal)).expect("a writable folder");
        fs::write(&stored, random.flip(&good_plan)).expect("a writable folder");
        let read = RunRecord::open(&folder).expect("a journal");
        assert!(read.rows.len() + 2 >= rows.len(), "flip {flip}");
        for row in &read.rows {
            assert_eq!(Some(&row), rows.get(row.id.as_str()), "flip {flip}");
        }
        match PlanFile::read(&folder) {
            Ok(read) => assert_eq!(read, plan, "flip {flip}"),
            Err(_) => assert_eq!(read.warnings().iter().filter(|text| text.contains("plan.json")).count(), 1),
        }
    }
}

#[test]
fn a_run_with_flips_is_reported_and_continued_like_a_quiet_one() {
    let sandbox = quiet();
    let folder = folder(&sandbox);
    let quiet = sandbox.sorted_cases();
    let [journal, plan] = ["journal.jsonl", "plan.json"].map(|name| folder.join(name));
    let [good_journal, good_plan] = [&journal, &plan].map(|path| fs::read(path).expect("a file"));
    let mut random = Random(8);
    for round in 0..ROUNDS {
        // Two of the four lines, and the plan after its checksum.
        let mut lines: Vec<Vec<u8>> =
            good_journal.split_inclusive(|&byte| byte == b'\n').map(Vec::from).collect();
        for line in [round % 4, (round + 2) % 4] {
            let end = lines[line].len() - 1;
            let flipped = random.flip(&lines[line][..end]);
            lines[line][..end].copy_from_slice(&flipped);
        }
        fs::write(&journal, lines.concat()).expect("a writable folder");
        let flipped = random.flip(&good_plan[40..]);
        fs::write(&plan, [&good_plan[..40], &flipped].concat()).expect("a writable folder");

        let reported = sandbox.run(&["report", "flips", "--format", "json"]).exits(0);
        for damaged in ["plan.json is damaged", "journal.jsonl line"] {
            assert!(reported.stderr.contains(damaged), "{}", reported.stderr);
        }
        let cases = reported.json()["cases"].as_array().expect("a list of cases").clone();
        assert!((2..4).contains(&cases.len()), "round {round}");
        for case in &cases {
            assert!(quiet.contains(case), "round {round}: {case}");
        }

        // In the first round, the store of finished cases restores the rows; in the others, their cases run again.
        if round > 0 {
            fs::remove_dir_all(sandbox.path("reports/.finished")).expect("a store of finished cases");
        }
        let run = sandbox.run(&["run", "spec.toml"]).exits(0).says(&["it is written again"]);
        assert_eq!(run.stderr.contains("of 4 cases are done"), round > 0, "{}", run.stderr);
        assert_eq!(run.stderr.matches("plan.json is damaged").count(), 1, "{}", run.stderr);
        assert_eq!(fs::canonicalize(sandbox.path("reports/flips/latest")).expect("a run"), folder);
        assert_eq!(results(&sandbox.cases()), results(&quiet), "round {round}");
        // To the second, by the folder's name.
        let repaired = PlanFile::read(&folder).expect("a plan").created;
        assert_eq!(repaired[..19], created(&good_plan)[..19]);
    }
}

/// When the run of a plan began.
fn created(plan: &[u8]) -> String {
    let plan: Value = serde_json::from_slice(plan).expect("JSON");
    plan["created"].as_str().expect("a time").to_owned()
}

#[test]
fn flipped_caches_are_made_anew() {
    let sandbox = quiet();
    let quiet = results(&sandbox.cases());
    let mut cached: Vec<PathBuf> =
        ["exact", "copies"].iter().flat_map(|name| entries(&sandbox.path("cache").join(name))).collect();
    // Beside copies there is a folder of digests of source files, once these have not changed for some time.
    cached.retain(|path| path.is_file());
    assert_eq!(cached.len(), 3, "two exact references and a copy: {cached:?}");
    let mut random = Random(9);
    for round in 0..ROUNDS {
        for path in &cached {
            let flipped = random.flip(&fs::read(path).expect("a cached file"));
            fs::write(path, flipped).expect("a writable folder");
        }
        sandbox.run(&["run", "spec.toml", "--fresh"]).exits(0);
        assert_eq!(results(&sandbox.cases()), quiet, "round {round}");
    }
}
