//! The table of crates and the rules of harness/ARCHITECTURE.md, checked against what cargo resolves.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::support::sources::rust_files;
use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Node, Package, PackageId};

/// The crates of the workspace that a crate may use, tests aside.
const EDGES: &[(&str, &[&str])] = &[
    ("gpbench-abi", &[]),
    ("gpbench-terms", &["gpbench-abi"]),
    ("gpbench-numerics", &["gpbench-terms"]),
    ("gpbench-sdk", &["gpbench-abi", "gpbench-numerics", "gpbench-terms"]),
    ("gpbench-bridge-py", &["gpbench-abi"]),
    ("gpbench-bridge-stub", &["gpbench-sdk"]),
    ("gpbench-plugin-*", &["gpbench-sdk"]),
    ("gpbench-hostile", &["gpbench-sdk"]),
    ("gpbench-learners", &["gpbench-sdk"]),
    ("gpbench-mutants", &["gpbench-sdk"]),
    ("gpbench-template", &["gpbench-sdk"]),
    ("gpbench-template-learner", &["gpbench-sdk"]),
    ("gpbench-record", &["gpbench-terms"]),
    ("gpbench-files", &["gpbench-processes"]),
    ("gpbench-processes", &[]),
    ("gpbench-gp", &["gpbench-numerics", "gpbench-record", "gpbench-statistics"]),
    ("gpbench-data", &["gpbench-files", "gpbench-gp", "gpbench-numerics", "gpbench-record"]),
    ("gpbench-import", &["gpbench-data", "gpbench-processes", "gpbench-record"]),
    ("gpbench-runs", &["gpbench-files", "gpbench-record"]),
    ("gpbench-spec", &["gpbench-record"]),
    ("gpbench-statistics", &[]),
    ("gpbench-testkit", &["gpbench-numerics"]),
    ("gpbench-host", &["gpbench-abi", "gpbench-numerics", "gpbench-terms"]),
    ("gpbench-testing", &["gpbench-abi", "gpbench-host", "gpbench-numerics", "gpbench-sdk", "gpbench-terms"]),
    (
        "gpbench-worker",
        &[
            "gpbench-data",
            "gpbench-files",
            "gpbench-gp",
            "gpbench-host",
            "gpbench-numerics",
            "gpbench-processes",
            "gpbench-record",
            "gpbench-sdk",
            "gpbench-statistics",
            "gpbench-terms",
            "gpbench-testing",
        ],
    ),
    ("gpbench-engine", &["gpbench-files", "gpbench-processes", "gpbench-record", "gpbench-runs"]),
    ("gpbench-cluster", &["gpbench-files", "gpbench-processes", "gpbench-record"]),
    (
        "gpbench-node",
        &["gpbench-cluster", "gpbench-engine", "gpbench-files", "gpbench-record", "gpbench-runs"],
    ),
    ("gpbench-report", &["gpbench-record", "gpbench-runs", "gpbench-statistics"]),
    (
        "gpbench",
        &[
            "gpbench-cluster",
            "gpbench-data",
            "gpbench-engine",
            "gpbench-files",
            "gpbench-import",
            "gpbench-processes",
            "gpbench-record",
            "gpbench-report",
            "gpbench-runs",
            "gpbench-spec",
            "gpbench-statistics",
        ],
    ),
];

/// Crates that a program must not link, directly or through others: (program, crate).
const NEVER: &[(&str, &str)] = &[
    ("gpbench-worker", "polars"),
    ("gpbench-worker", "plotters"),
    ("gpbench-worker", "clap"),
    ("gpbench", "libloading"),
    ("gpbench", "gpbench-worker"),
    ("gpbench-cluster", "polars"),
    ("gpbench-cluster", "clap"),
    ("gpbench-node", "polars"),
    ("gpbench-node", "clap"),
];

/// Crates that may contain `unsafe`. `gpbench` has one static, which looks at standard output before `main`.
const UNSAFE: &[&str] = &[
    "gpbench",
    "gpbench-abi",
    "gpbench-sdk",
    "gpbench-host",
    "gpbench-testing",
    "gpbench-worker",
    "gpbench-numerics",
    "gpbench-gp",
    "gpbench-hostile",
    "gpbench-mutants",
    "gpbench-bridge-py",
    "gpbench-bridge-stub",
];

/// What cargo resolves for this platform. Without the filter, `cargo metadata` would need the crates of other
/// platforms, which a build does not download.
fn metadata() -> Metadata {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.toml");
    let filter = ["--filter-platform".into(), env!("GPBENCH_TARGET").into(), "--locked".into()];
    MetadataCommand::new().manifest_path(root).other_options(filter).exec().expect("cargo metadata")
}

fn members(metadata: &Metadata) -> Vec<&Package> {
    metadata.workspace_packages()
}

/// Names of the crates that `package` itself depends on, tests aside.
fn direct(package: &Package) -> BTreeSet<String> {
    let normal = package.dependencies.iter().filter(|d| d.kind != DependencyKind::Development);
    normal.map(|d| d.name.clone()).collect()
}

#[test]
fn every_crate_uses_only_what_it_may() {
    let metadata = metadata();
    let ours: BTreeSet<String> = members(&metadata).iter().map(|p| p.name.to_string()).collect();
    for package in members(&metadata) {
        let name = package.name.to_string();
        let (_, allowed) = EDGES
            .iter()
            .find(|(n, _)| *n == name || n.strip_suffix('*').is_some_and(|prefix| name.starts_with(prefix)))
            .unwrap_or_else(|| panic!("{name} has no line in EDGES: add it there and to ARCHITECTURE.md"));
        for used in direct(package).intersection(&ours) {
            assert!(allowed.contains(&used.as_str()), "{name} must not depend on {used}");
        }
    }
}

#[test]
fn the_interface_depends_on_nothing() {
    let metadata = metadata();
    let abi =
        members(&metadata).into_iter().find(|p| p.name.as_str() == "gpbench-abi").expect("abi is a member");
    assert!(direct(abi).is_empty(), "gpbench-abi depends on {:?}", direct(abi));
}

#[test]
fn programs_do_not_link_what_they_must_not() {
    let metadata = metadata();
    let name_of: BTreeMap<&PackageId, &str> =
        metadata.packages.iter().map(|p| (&p.id, p.name.as_str())).collect();
    let graph = metadata.resolve.as_ref().expect("cargo resolves the workspace");
    let nodes: BTreeMap<&PackageId, &Node> = graph.nodes.iter().map(|node| (&node.id, node)).collect();
    for (program, forbidden) in NEVER {
        let start = members(&metadata).into_iter().find(|p| p.name.as_str() == *program).expect("a member");
        let mut seen = BTreeSet::from([&start.id]);
        let mut open = vec![&start.id];
        while let Some(id) = open.pop() {
            let linked = nodes[id]
                .deps
                .iter()
                .filter(|d| d.dep_kinds.iter().any(|k| k.kind == DependencyKind::Normal));
            open.extend(linked.map(|d| &d.pkg).filter(|id| seen.insert(id)));
        }
        assert!(!seen.iter().any(|id| name_of[id] == *forbidden), "{program} links {forbidden}");
    }
}

#[test]
fn unsafe_code_is_forbidden_where_it_is_not_needed() {
    let metadata = metadata();
    for package in members(&metadata) {
        let name = package.name.to_string();
        if UNSAFE.contains(&name.as_str()) || name.starts_with("gpbench-plugin-") {
            continue;
        }
        let source = package.manifest_path.parent().expect("a manifest lies in a folder").join("src");
        let root = [source.join("lib.rs"), source.join("main.rs")].into_iter().find(|p| p.exists());
        let text = std::fs::read_to_string(root.expect("a crate has a root")).expect("readable source");
        // ndarray's `s!`, which new plugins use, allows it in its own expansion.
        let lint = if name.starts_with("gpbench-template") { "deny" } else { "forbid" };
        assert!(text.contains(&format!("#![{lint}(unsafe_code)]")), "{name} does not {lint} unsafe code");
    }
}

#[test]
fn only_the_command_line_prints_or_exits() {
    let harness = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for krate in [
        "abi",
        "numerics",
        "sdk",
        "terms",
        "host",
        "testing",
        "record",
        "files",
        "processes",
        "gp",
        "data",
        "import",
        "runs",
        "spec",
        "statistics",
        "engine",
        "cluster",
        "report",
        "testkit",
    ] {
        for file in rust_files(&harness.join(krate).join("src")) {
            let text = std::fs::read_to_string(&file).expect("readable source");
            let code = text.lines().filter(|l| !l.trim_start().starts_with("//"));
            for line in code {
                let line = line.replace("eprint", "");
                let bad = ["println!(", "print!(", "process::exit("].iter().any(|p| line.contains(p));
                assert!(!bad, "{} prints or exits: {line}", file.display());
            }
        }
    }
}

#[test]
fn a_plugin_without_factorisations_links_no_blas() {
    let metadata = metadata();
    for name in ["gpbench-sdk", "gpbench-numerics"] {
        let package = members(&metadata).into_iter().find(|p| p.name.as_str() == name).expect("a member");
        for dependency in &package.dependencies {
            let needs_blas = ["cblas-sys", "lapack-sys"].contains(&dependency.name.as_str());
            assert!(!needs_blas || dependency.optional, "{} must be optional", dependency.name);
            assert!(!dependency.features.iter().any(|feature| feature == "blas"), "{}", dependency.name);
            assert!(!dependency.name.ends_with("-src"), "{} brings a builder of BLAS", dependency.name);
        }
    }
}
