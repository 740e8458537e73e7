//! The table of faults, which `ci/cluster-faults` publishes.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::cluster::{lines, shell};
use super::parts::Instant;
use super::strike::Fault;

/// What is left of a run with a fault.
#[derive(Debug)]
pub struct Round {
    pub fault: Fault,
    /// Where the attempt was that it happened to.
    pub instant: Instant,
    /// How often the command was given.
    pub commands: usize,
    /// Attempts at tasks that were sent.
    pub attempts: usize,
    /// Rows that came a second time.
    pub duplicates: usize,
    /// Rows of the journal.
    pub rows: usize,
    /// Cases without a row in the journal.
    pub lost: usize,
    /// Rows of the journal beyond the first of a case.
    pub twice: usize,
    /// Rows whose metrics, seconds and memory aside, differ from those of a local run.
    pub wrong: usize,
    pub seconds: f64,
}

/// Where rounds were run.
pub struct Origin {
    date: String,
    slurm: String,
    revision: String,
    seed: u64,
}

impl Origin {
    /// This program, with a seed.
    pub fn here(seed: u64) -> Origin {
        Origin {
            date: shell("date --utc +%F"),
            slurm: shell("sinfo --version"),
            revision: shell("git describe --always --dirty --exclude='*'"),
            seed,
        }
    }
}

const TITLE: &str = "\
# Faults of a cluster

Each round is a run of eight cases, as four tasks on two virtual nodes with a Slurm of their own, that meets one fault at an
instant from a seeded generator. The same command is given again where the front has ended with cases left. In the end, the
journal is compared with that of a local run. These commands write this page from the rounds in
[`cluster-faults.jsonl`](cluster-faults.jsonl), which each call adds to:

```
rm reports/published/trust/cluster-faults.jsonl
ci/cluster-faults ROUNDS SEED...
```

";

const EXPLANATION: &str = "
- The instant is that of the attempt that the fault happens to; of one of those that run where it happens to all or to none.
- *Attempts* counts tasks that were sent, four where nothing fails; *commands* how often the command was given; *twice computed*
  the rows that a second attempt wrote again, of which the journal takes the first.
- *Lost*, *doubled* and *changed* are rows of the journal: missing, there twice, and with metrics, seconds and memory aside, that
  differ in a bit from those of the local run.
";

/// Adds a round to the records, and writes the table of all of them beside it. Does nothing unless `GPBENCH_FAULT_RECORDS` names
/// the file of the records.
pub fn record(origin: &Origin, place: u64, round: &Round) {
    let Some(records) = std::env::var_os("GPBENCH_FAULT_RECORDS").map(PathBuf::from) else { return };
    let Origin { date, slurm, revision, seed } = origin;
    let Round { fault, instant, commands, attempts, duplicates, rows, lost, twice, wrong, seconds } = round;
    let line = json!({
        "date": date, "slurm": slurm, "revision": revision, "seed": seed, "round": place, "fault": fault.name(),
        "instant": instant.name(), "commands": commands, "attempts": attempts, "duplicates": duplicates, "rows": rows,
        "lost": lost, "twice": twice, "wrong": wrong, "seconds": (seconds * 10.0).round() / 10.0,
    });
    let mut file =
        fs::OpenOptions::new().append(true).create(true).open(&records).expect("the file of the records");
    writeln!(file, "{line}").expect("room on the disk");
    fs::write(records.with_extension("md"), page(&lines(&records))).expect("room on the disk");
}

/// The page of all rounds.
fn page(rounds: &[Value]) -> String {
    let distinct = |key: &str| {
        let values: BTreeSet<String> =
            rounds.iter().map(|round| round[key].to_string().replace('"', "")).collect();
        values.into_iter().collect::<Vec<_>>().join(", ")
    };
    let mut text = format!(
        "{TITLE}{} rounds; dates: {}; {}; git revision: {}; seeds: {}.\n\n",
        rounds.len(),
        distinct("date"),
        distinct("slurm"),
        distinct("revision"),
        distinct("seed"),
    );
    let instants: Vec<&str> = Instant::ALL.iter().map(|instant| instant.name()).collect();
    let counted = ["attempts", "commands", "rows", "duplicates", "lost", "twice", "wrong"];
    let heads = "attempts | commands | rows | twice computed | lost | doubled | changed";
    let _ = writeln!(text, "| fault | rounds | {} | {heads} | seconds, mean |", instants.join(" | "));
    let _ = writeln!(text, "|---|{}", "---|".repeat(2 + instants.len() + counted.len()));
    let mut row = |name: &str, rounds: &[&Value]| {
        let at = |instant: &&str| rounds.iter().filter(|round| round["instant"] == **instant).count();
        let sum = |key: &&str| {
            rounds.iter().map(|round| round[*key].as_u64().unwrap_or_default()).sum::<u64>().to_string()
        };
        let seconds: f64 = rounds.iter().filter_map(|round| round["seconds"].as_f64()).sum();
        let instants: Vec<String> = instants.iter().map(|instant| at(instant).to_string()).collect();
        let counts: Vec<String> = counted.iter().map(sum).collect();
        let mean = seconds / rounds.len().max(1) as f64;
        let (count, instants, counts) = (rounds.len(), instants.join(" | "), counts.join(" | "));
        let _ = writeln!(text, "| {name} | {count} | {instants} | {counts} | {mean:.1} |");
    };
    for fault in Fault::ALL.map(Fault::name) {
        let of_fault: Vec<&Value> = rounds.iter().filter(|round| round["fault"] == fault).collect();
        if !of_fault.is_empty() {
            row(fault, &of_fault);
        }
    }
    row("all", &rounds.iter().collect::<Vec<_>>());
    text + EXPLANATION
}
