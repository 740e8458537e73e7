//! `gpbench list`: solvers and learners, data sets, kernels, runs.

use clap::{Args, ValueEnum};
use gpbench_record::{Family, LibraryInfo, SolverInfo};
use serde_json::{Value, json};

use crate::args::{Format, FormatArg, Global};
use crate::catalog::{self, Libraries};
use crate::exit::{Failure, OK, Outcome};
use crate::notice::warn;
use crate::output::{Listing, json_path, versioned};
use crate::worker::Worker;
use crate::{dataset_list, params};

/// `gpbench list`.
#[derive(Debug, Args)]
pub(crate) struct List {
    /// What to list.
    #[arg(value_enum, default_value_t = Listed::Solvers)]
    what: Listed,
    #[command(flatten)]
    output: FormatArg,
}

/// What `gpbench list` lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Listed {
    /// Solvers and learners of all plugins found.
    #[value(alias = "learners")]
    Solvers,
    /// Data sets of the registry, and built-in ones.
    Datasets,
    /// Kernel families.
    Kernels,
    /// Runs under the output folder.
    Runs,
}

pub(crate) fn list(global: &Global, args: &List) -> Outcome {
    let format = args.output.format;
    match args.what {
        Listed::Solvers => solvers(global, format),
        Listed::Datasets => dataset_list::print(global, format),
        Listed::Kernels => kernels(format),
        Listed::Runs => runs(global, format),
    }
}

fn solvers(global: &Global, format: Format) -> Outcome {
    let Libraries { usable, unusable } = catalog::libraries(&Worker::locate()?, &[])?;
    for text in unusable {
        warn(global, text);
    }
    let all: Vec<(&LibraryInfo, &SolverInfo)> =
        usable.iter().flat_map(|library| library.solvers.iter().map(move |s| (library, s))).collect();
    let json: Vec<Value> = all.iter().map(|(library, solver)| as_json(library, solver)).collect();
    let header = if global.verbose {
        ["name", "parameter", "default", "range", "documentation"]
    } else {
        ["name", "kind", "plugin", "version", "documentation"]
    };
    let mut listing = Listing::new(&header, json.into());
    for (library, solver) in all {
        let SolverInfo { id, doc, .. } = solver;
        if global.verbose {
            listing.row(vec![id.clone(), String::new(), String::new(), String::new(), doc.clone()]);
            params::rows(solver).for_each(|row| listing.row(row));
        } else {
            let LibraryInfo { name, version, .. } = library;
            listing.row([id, solver.kind.as_str(), name, version, doc].map(str::to_owned).to_vec());
        }
    }
    listing.print(format)?;
    Ok(OK)
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

fn kernels(format: Format) -> Outcome {
    let json = |family: Family| json!({ "id": family, "formula": family.formula() });
    let header = ["kernel", "k(r), with r scaled by one length scale for each input"];
    let mut listing = Listing::new(&header, versioned("kernels", Family::ALL.map(json).to_vec()));
    for family in Family::ALL {
        listing.row(vec![family.to_string(), family.formula().to_owned()]);
    }
    listing.print(format)?;
    Ok(OK)
}

fn runs(global: &Global, format: Format) -> Outcome {
    let folders = gpbench_runs::list_runs(&global.output_dir);
    if folders.is_empty() && format == Format::Table {
        return Err(Failure::nothing(format!("there are no runs under {}", global.output_dir.display())));
    }
    let json: Vec<Value> = folders.iter().map(|folder| json_path(folder)).collect();
    let mut listing = Listing::new(&["run"], versioned("runs", json));
    for folder in folders {
        listing.row(vec![folder.display().to_string()]);
    }
    listing.print(format)?;
    Ok(OK)
}
