//! `gpbench plugin`: writes new plugins; inspects and tests plugin libraries in separate processes.

mod new;
mod template;
mod test;

use std::path::{Path, PathBuf};

use clap::Subcommand;
use gpbench_record::{Capability, Composition, LibraryInfo, Part, SolverInfo};

use crate::args::{Format, FormatArg, Global};
use crate::exit::{Failure, OK, Outcome};
use crate::output::{self, Listing, versioned};
use crate::worker::Worker;
use crate::{catalog, params};

/// `gpbench plugin`.
#[derive(Debug, Subcommand)]
pub(crate) enum Plugin {
    /// Write a complete small solver, or learner, as a starting point: it builds, passes `plugin test` and runs.
    New(new::New),
    /// Print the solvers and learners of a library and their parameters.
    Inspect {
        /// The library.
        file: PathBuf,
        #[command(flatten)]
        output: FormatArg,
    },
    /// Test every solver and learner of a library with the conformance suite: results, never speeds.
    Test(test::Test),
}

pub(crate) fn plugin(global: &Global, verb: &Plugin) -> Outcome {
    match verb {
        Plugin::New(args) => new::new(args),
        Plugin::Test(args) => test::test(global, args),
        Plugin::Inspect { file, output } => inspect(file, *output),
    }
}

fn inspect(file: &Path, wanted: FormatArg) -> Outcome {
    catalog::require_file(file)?;
    let described = Worker::locate()?.describe(&[file.to_owned()])?.pop();
    let described = described.ok_or_else(|| Failure::internal("the worker described nothing"))?;
    show(&catalog::usable(described)?, wanted).map(|()| OK)
}

/// A line for each part, with the first digits of its hash.
fn parts(composition: &Composition) -> String {
    let line = |part: &Part| {
        let digits = part.sha256.get(..12).unwrap_or(&part.sha256);
        format!("  {digits}  {}, {}\n", part.called(), part.path.display())
    };
    match &composition.parts[..] {
        [] => String::new(),
        parts => format!("parts:\n{}", parts.iter().map(line).collect::<String>()),
    }
}

fn show(library: &LibraryInfo, wanted: FormatArg) -> Result<(), Failure> {
    if wanted.format == Format::Table {
        let LibraryInfo { name, version, file, sha256, abi, .. } = library;
        // A script has no version of its own.
        let title = format!("{name} {version}");
        let title = title.trim_end();
        output::print(&format!("{title}, interface {abi}\n{}\nsha256 {sha256}\n", file.display()))?;
        output::print(&parts(&library.composition))?;
    }
    let json = serde_json::to_value(library).expect("plain data serialises");
    let header = ["name", "parameter", "default", "range", "documentation"];
    let mut listing =
        Listing::new(&header, versioned("library", json)).major(&["parameter", "documentation"]);
    for solver in &library.solvers {
        let SolverInfo { id, doc, capabilities, .. } = solver;
        let capabilities: Vec<&str> = capabilities.iter().copied().map(Capability::as_str).collect();
        listing.row(vec![id.clone(), String::new(), String::new(), capabilities.join(", "), doc.clone()]);
        params::rows(solver).for_each(|row| listing.row(row));
    }
    listing.print(wanted)
}
