//! The JSON Schema and the page of keys: shipped specs are accepted, mistakes that a schema can know are refused, and the
//! files beside the specs are up to date.

use std::path::{Path, PathBuf};

use boon::{Compiler, SchemaIndex, Schemas};
use gpbench_spec::{json_schema, reference_page};
use serde_json::Value;

fn benchmarks() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benchmarks")
}

/// The schema, ready to check.
fn compiled() -> (Schemas, SchemaIndex) {
    let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
    compiler.add_resource("spec.schema.json", json_schema()).expect("a resource");
    let index = compiler.compile("spec.schema.json", &mut schemas).expect("a JSON Schema");
    (schemas, index)
}

/// The files of this folder and those below that end in `.toml`, without published figures.
fn specs(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("readable").path());
    let (folders, files): (Vec<PathBuf>, Vec<PathBuf>) = entries.partition(|path| path.is_dir());
    let mut found: Vec<PathBuf> =
        files.into_iter().filter(|path| path.extension().is_some_and(|e| e == "toml")).collect();
    let below =
        folders.iter().filter(|folder| !folder.ends_with("reference") && !folder.ends_with("baselines"));
    found.extend(below.flat_map(|folder| specs(folder)));
    found
}

fn read(path: &Path) -> Option<Value> {
    let table: toml::Table = std::fs::read_to_string(path).ok()?.parse().ok()?;
    serde_json::to_value(table).ok()
}

#[test]
fn shipped_specs_are_accepted_and_name_their_schema() {
    let (schemas, index) = compiled();
    let specs = specs(&benchmarks());
    assert!(specs.len() > 30, "{specs:?}");
    for path in specs {
        let spec = read(&path).expect("TOML");
        if let Err(error) = schemas.validate(&spec, index) {
            panic!("{}: {error:#}", path.display());
        }
        let text = std::fs::read_to_string(&path).expect("a spec");
        let named = text.lines().next().and_then(|line| line.strip_prefix("#:schema ")).unwrap_or_default();
        let schema = path.parent().expect("a folder").join(named);
        assert!(schema.is_file() && named.ends_with("spec.schema.json"), "{}: `{named}`", path.display());
    }
}

#[test]
fn mistakes_that_a_schema_can_know_are_refused() {
    let (schemas, index) = compiled();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mistakes");
    let refused = |name: &str| {
        let mistake = read(&folder.join(format!("{name}.toml"))).expect("TOML");
        schemas.validate(&mistake, index).is_err()
    };
    let known = [
        "impossible_budget",
        "many_at_once",
        "missing_keys",
        "precision",
        "probes",
        "report",
        "schema_number",
    ];
    for name in known {
        assert!(refused(name), "{name}");
    }
    // What only plugins and data sets tell.
    for name in ["unknown_solver", "unknown_dataset", "not_published"] {
        assert!(!refused(name), "{name}");
    }
}

#[test]
fn the_files_beside_the_specs_are_up_to_date() {
    let schema = format!("{}\n", serde_json::to_string_pretty(&json_schema()).expect("plain data"));
    for (name, command, text) in [
        ("spec.schema.json", "gpbench schema", schema),
        ("SPEC.md", "gpbench schema --format md", reference_page()),
    ] {
        let stored = std::fs::read_to_string(benchmarks().join(name)).unwrap_or_default();
        assert!(stored == text, "benchmarks/{name} is out of date: write the output of `{command}` to it");
    }
}
