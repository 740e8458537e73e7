//! The catalogue that test specs are checked against.

pub(crate) mod plans;

use std::path::{Path, PathBuf};

use gpbench_record::{
    Capability, Composition, Facts, LibraryInfo, ParamKind, ParamSchema, ParamValue, SolverInfo, SolverKind,
};
use gpbench_spec::{Catalog, Checked, KnownDataset, SpecErrors, load};

/// Plugins as they are, a library that offers a solver `twice`, and another that does too.
pub(crate) fn catalog() -> Catalog {
    let cg = solver(
        "cg",
        &[],
        vec![
            ParamSchema {
                choices: vec!["none".into(), "pivoted_cholesky".into()],
                ..text("preconditioner", "none")
            },
            int("rank", 100, 1.0, 10_000.0),
            int("max_iterations", 1_000_000, 1.0, 1e9),
            ParamSchema {
                kind: ParamKind::Float,
                default: ParamValue::Float(0.0),
                ..int("shift", 0, 0.0, 1.0)
            },
        ],
    );
    let sgd_rff = solver(
        "sgd-rff",
        &[Capability::Randomized, Capability::WarmStart, Capability::Inducing],
        vec![int("max_iterations", 100_000, 0.0, 1e9), int("gradient_variance", 0, 0.0, 1e9)],
    );
    let early = SolverInfo {
        kind: SolverKind::Learner,
        listed_only: true,
        ..solver("early", &[Capability::Kernel], vec![])
    };
    let libraries = vec![
        library("cholesky", vec![solver("cholesky", &[Capability::Exact], vec![])]),
        library("cholesky-mixed", vec![solver("cholesky-mixed", &[Capability::Dense], vec![])]),
        library("cg", vec![cg]),
        library("sgd-rff", vec![sgd_rff]),
        library("learners", learners()),
        LibraryInfo { abi: "1.1".into(), ..library("early", vec![early]) },
        library("first", vec![solver("twice", &[], vec![])]),
        library("second", vec![solver("twice", &[], vec![])]),
    ];
    Catalog { libraries, datasets: datasets(), ..Catalog::default() }
}

/// Learners as they are to be, with fewer parameters.
fn learners() -> Vec<SolverInfo> {
    use Capability::{Finite, Inducing, Kernel, Mean, Network};
    let params = || {
        vec![
            int("batch", 32, 1.0, 1e9),
            ParamSchema {
                kind: ParamKind::Float,
                default: ParamValue::Float(0.01),
                ..int("learning_rate", 0, 0.0, 1e6)
            },
            ParamSchema { choices: vec!["adam".into(), "adadelta".into()], ..text("optimiser", "adam") },
        ]
    };
    let learner = |id, capabilities: &[Capability], params| SolverInfo {
        kind: SolverKind::Learner,
        ..solver(id, capabilities, params)
    };
    let average = ParamSchema {
        kind: ParamKind::Float,
        default: ParamValue::Float(0.9),
        ..int("average", 0, 0.0, 1.0)
    };
    vec![
        learner("scgd", &[Network, Finite, Mean], params().into_iter().chain([average]).collect()),
        learner("svgp", &[Network, Kernel, Inducing, Mean], params()),
        learner("poe", &[Kernel, Mean], vec![int("points", 1024, 1.0, 1e9)]),
        learner("bsgd", &[Network, Kernel, Mean], params()),
        learner("minimax", &[Network, Finite, Mean], params()),
        learner("plain", &[Kernel], vec![]),
    ]
}

fn datasets() -> Vec<KnownDataset> {
    let sets = [
        ("pol", 15_000, 26),
        ("elevators", 16_599, 18),
        ("bike", 17_379, 17),
        ("protein", 45_730, 9),
        ("keggdirected", 48_827, 20),
        ("3droad", 434_874, 3),
        ("song", 515_345, 90),
        ("buzz", 583_250, 77),
        ("houseelectric", 2_049_280, 11),
        ("yacht", 308, 6),
    ];
    let registered = sets.map(|(name, n, d)| KnownDataset {
        name: name.into(),
        aliases: if name == "houseelectric" { vec!["houseelec".into()] } else { vec![] },
        n: Some(n),
        d: Some(d),
        toy: false,
        splits: Some(10),
    });
    let toy =
        KnownDataset { name: "toy-sine".into(), n: Some(1000), d: Some(1), toy: true, ..Default::default() };
    registered.into_iter().chain([toy]).collect()
}

pub(crate) fn library(name: &str, solvers: Vec<SolverInfo>) -> LibraryInfo {
    LibraryInfo {
        name: name.into(),
        version: "0.1.0".into(),
        file: PathBuf::from(format!("tests/mistakes/lib/{name}.so")),
        sha256: name.into(),
        abi: "1.0".into(),
        solvers,
        composition: Composition::default(),
    }
}

pub(crate) fn solver(id: &str, capabilities: &[Capability], params: Vec<ParamSchema>) -> SolverInfo {
    SolverInfo {
        id: id.into(),
        kind: SolverKind::Solver,
        doc: String::new(),
        source: None,
        facts: Facts::default(),
        capabilities: capabilities.to_vec(),
        params,
        listed_only: false,
    }
}

pub(crate) fn int(name: &str, default: i64, min: f64, max: f64) -> ParamSchema {
    ParamSchema {
        name: name.into(),
        kind: ParamKind::Int,
        doc: String::new(),
        default: ParamValue::Int(default),
        min: Some(min),
        max: Some(max),
        choices: vec![],
    }
}

fn text(name: &str, default: &str) -> ParamSchema {
    ParamSchema {
        kind: ParamKind::Text,
        default: ParamValue::Text(default.into()),
        min: None,
        max: None,
        ..int(name, 0, 0.0, 0.0)
    }
}

/// Loads and checks a spec against [`catalog`].
pub(crate) fn check(path: &Path, sets: &[&str]) -> Result<Checked, SpecErrors> {
    check_against(path, sets, &catalog())
}

/// Loads and checks a spec against a catalogue.
fn check_against(path: &Path, sets: &[&str], catalog: &Catalog) -> Result<Checked, SpecErrors> {
    let sets: Vec<String> = sets.iter().map(|s| (*s).to_owned()).collect();
    load(path, &sets)?.check(catalog)
}

/// Does the same as [`check`] for the text of a spec.
pub(crate) fn check_text(text: &str, sets: &[&str]) -> Result<Checked, SpecErrors> {
    check_text_against(text, sets, &catalog())
}

/// Does the same as [`check_text`] against a catalogue.
pub(crate) fn check_text_against(
    text: &str,
    sets: &[&str],
    catalog: &Catalog,
) -> Result<Checked, SpecErrors> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("spec.toml");
    std::fs::write(&path, text).expect("a file in it");
    check_against(&path, sets, catalog)
}
