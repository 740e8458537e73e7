//! Run folders that earlier programs wrote, in `earlier_runs`: they are read, reported and compared with new runs.

use std::collections::BTreeMap;
use std::path::Path;

use crate::support::{Sandbox, library};

/// The folder of an earlier run, copied to where `gpbench` may write the report. It has `results.csv` as the earlier
/// program wrote it.
fn earlier(sandbox: &Sandbox, name: &str) -> String {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/earlier_runs").join(name);
    let copy = sandbox.path("earlier").join(name);
    std::fs::create_dir_all(&copy).expect("a writable folder");
    for entry in std::fs::read_dir(kept).expect("a kept run folder") {
        let file = entry.expect("a folder entry").path();
        std::fs::copy(&file, copy.join(file.file_name().expect("a file"))).expect("a writable folder");
    }
    copy.display().to_string()
}

/// The cells of a table in CSV, by its columns.
fn columns(text: &str) -> BTreeMap<String, Vec<String>> {
    let mut table = csv::Reader::from_reader(text.as_bytes());
    let names: Vec<String> = table.headers().expect("a header").iter().map(str::to_owned).collect();
    let mut columns: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in table.records() {
        for (name, cell) in names.iter().zip(&row.expect("a row")) {
            columns.entry(name.clone()).or_default().push(cell.to_owned());
        }
    }
    columns
}

#[test]
fn an_earlier_run_is_read_and_reported_as_its_own_program_did() {
    let sandbox = Sandbox::new();
    for name in ["solvers", "learners", "training"] {
        let folder = earlier(&sandbox, name);
        let printed = std::fs::read_to_string(Path::new(&folder).join("results.csv")).expect("a table");
        sandbox.run(&["report", &folder, "--format", "md"]).exits(0);
        let written = std::fs::read_to_string(Path::new(&folder).join("results.csv")).expect("a table");
        // Later programs add columns.
        let mut found = columns(&written);
        let expected = columns(&printed);
        found.retain(|column, _| expected.contains_key(column));
        assert_eq!(found, expected, "{name}");
        let has_learned = columns(&written).contains_key("learned.noise_scale");
        assert_eq!(has_learned, name != "solvers", "{name}");
    }
}

#[test]
fn an_earlier_run_is_compared_with_itself_and_with_a_new_run() {
    let sandbox = Sandbox::new();
    library("gpbench_plugin_sgd");
    let folder = earlier(&sandbox, "solvers");
    sandbox.run(&["compare", &folder, &folder, "--exact"]).exits(0);
    let spec = format!("{folder}/spec.toml");
    // SGD diverges with the rate that was its default.
    sandbox.run(&["run", &spec, "--set", "solver.sgd.params={ learning_rate = 30 }"]).exits(1);
    let ended = sandbox.run(&["compare", &folder, "solvers", "--allow-undecided"]).exits(0);
    ended.prints(&["6 cases matched, ", ": 0 failing"]);
}
