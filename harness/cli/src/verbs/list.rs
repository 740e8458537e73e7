//! `gpbench list`: solvers, data sets, kernels, runs.

use gpbench_record::{LibraryInfo, SolverInfo};
use serde_json::{Value, json};

use super::plugin::{range, value};
use crate::args::{Format, Global, List, Listed};
use crate::catalog;
use crate::exit::{Failure, OK, Outcome};
use crate::output::{Listing, Styles};
use crate::worker::Worker;

/// Kernel families and their formulae, with a_nu = sqrt(2 nu) r and r the scaled distance.
const KERNELS: [(&str, &str); 4] = [
    ("rbf", "exp(-r^2 / 2)"),
    ("matern12", "exp(-r)"),
    ("matern32", "(1 + a) exp(-a), a = sqrt(3) r"),
    ("matern52", "(1 + a + a^2 / 3) exp(-a), a = sqrt(5) r"),
];

pub(crate) fn list(global: &Global, args: &List) -> Outcome {
    match args.what {
        Listed::Solvers => solvers(global, args.format),
        Listed::Datasets => super::data::list(global, args.format),
        Listed::Kernels => {
            kernels(args.format);
            Ok(OK)
        }
        Listed::Runs => runs(global, args.format),
    }
}

fn solvers(global: &Global, format: Format) -> Outcome {
    let (libraries, unusable) = catalog::libraries(&Worker::locate()?, &[])?;
    let styles = Styles::new(global.color);
    for text in unusable {
        eprintln!("{} {text}", styles.warning("warning:"));
    }
    let all: Vec<(&LibraryInfo, &SolverInfo)> =
        libraries.iter().flat_map(|l| l.solvers.iter().map(move |s| (l, s))).collect();
    let json: Vec<Value> = all.iter().map(|(library, solver)| as_json(library, solver)).collect();
    let header: &[&str] = if global.verbose {
        &["solver", "parameter", "default", "range", "what it is"]
    } else {
        &["solver", "kind", "plugin", "version", "what it is"]
    };
    let mut listing = Listing::new(header, json.into());
    for (library, solver) in all {
        if !global.verbose {
            let kind = kind(solver);
            let LibraryInfo { name, version, .. } = library;
            listing.row([&solver.id, &kind, name, version, &solver.doc].map(String::clone).to_vec());
            continue;
        }
        let blank = String::new;
        listing.row(vec![solver.id.clone(), blank(), blank(), blank(), solver.doc.clone()]);
        for p in &solver.params {
            listing.row(vec![blank(), p.name.clone(), value(&p.default), range(p), p.doc.clone()]);
        }
    }
    listing.print(format);
    Ok(OK)
}

fn kind(solver: &SolverInfo) -> String {
    match solver.kind {
        gpbench_record::SolverKind::Solver => "solver".to_owned(),
        gpbench_record::SolverKind::Learner => "learner".to_owned(),
    }
}

fn as_json(library: &LibraryInfo, solver: &SolverInfo) -> Value {
    json!({
        "id": solver.id,
        "kind": solver.kind,
        "plugin": library.name,
        "version": library.version,
        "doc": solver.doc,
        "capabilities": solver.capabilities,
        "params": solver.params,
    })
}

fn kernels(format: Format) {
    let json: Vec<Value> =
        KERNELS.iter().map(|(id, formula)| json!({ "id": id, "formula": formula })).collect();
    let mut listing = Listing::new(
        &["kernel", "k(r), with r scaled by one length scale an input"],
        versioned("kernels", json),
    );
    for (id, formula) in KERNELS {
        listing.row(vec![id.to_owned(), formula.to_owned()]);
    }
    listing.print(format);
}

fn runs(global: &Global, format: Format) -> Outcome {
    let folders = gpbench_engine::list_runs(&global.output_dir);
    if folders.is_empty() && format == Format::Table {
        return Err(Failure::nothing(format!("there are no runs under {}", global.output_dir.display())));
    }
    let json: Vec<Value> = folders.iter().map(|f| json!(f)).collect();
    let mut listing = Listing::new(&["run"], versioned("runs", json));
    for folder in folders {
        listing.row(vec![folder.display().to_string()]);
    }
    listing.print(format);
    Ok(OK)
}

/// `{"schema": 1, NAME: LIST}`.
fn versioned(name: &str, list: Vec<Value>) -> Value {
    json!({ "schema": gpbench_record::SCHEMA, name: list })
}
