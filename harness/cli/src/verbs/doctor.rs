//! `gpbench doctor`: shows this machine, the plugins and the data sets found.

use std::path::Path;

use clap::Args;
use gpbench_data::locate;
use gpbench_data::registry::{self, RegistryEntry};
use gpbench_engine::{Executor, LocalExecutor};
use serde_json::json;

use crate::args::{FormatArg, Global};
use crate::catalog::{self, Libraries};
use crate::exit::{CASE_FAILED, Failure, OK, Outcome};
use crate::output::{self, Listing};
use crate::python::Python;
use crate::worker::Worker;
use crate::{dataset, environment, units};

/// What no look at the system can tell.
const MEASURED: &str =
    "`gpbench bench all` compares this machine with others of its kind, in about two minutes";

/// `gpbench doctor`.
#[derive(Debug, Args)]
pub(crate) struct Doctor {
    #[command(flatten)]
    output: FormatArg,
}

pub(crate) fn doctor(global: &Global, args: &Doctor) -> Outcome {
    let worker = Worker::locate()?;
    let executor =
        LocalExecutor::open(&worker.file, environment::processors(), 1).map_err(Failure::internal)?;
    let machine = environment::with_program(executor.machine());
    let remarks = executor.speed_remarks();
    let Libraries { usable, unusable, .. } = catalog::libraries(&worker, &[])?;
    let places = dataset::places(global)?;
    let (found, missing): (Vec<&RegistryEntry>, Vec<&RegistryEntry>) =
        registry::all().iter().partition(|entry| locate::locate(entry, &places).is_ok());
    let names =
        |entries: &[&RegistryEntry]| entries.iter().map(|entry| entry.name.clone()).collect::<Vec<_>>();
    let (found, missing) = (names(&found), names(&missing));

    let python = Python::find();
    let json = json!({
        "schema": output::SCHEMA,
        "environment": machine,
        "speed_remarks": remarks,
        "worker": output::json_path(&worker.file),
        "plugins": usable,
        "unusable_plugins": unusable,
        "python": python.as_ref().ok(),
        "python_missing": python.as_ref().err(),
        "data_found": found,
        "data_missing": missing,
        "cache": output::json_path(&places.cache),
    });
    let mut listing = Listing::new(&["what", "found"], json).major(&["found"]);
    let mut line = |what: &str, found: String| listing.row(vec![what.to_owned(), found]);
    line("gpbench", machine.gpbench.clone());
    line("system", machine.os.clone());
    line("processor", format!("{}, {} logical processors", machine.cpu, machine.cores));
    line("instruction set", machine.cpu_dispatch.clone());
    line("memory", units::bytes(machine.memory_bytes as f64));
    line("threads of a case", machine.threads.to_string());
    line("BLAS", machine.blas.clone());
    line("BLAS core type", machine.blas_core.clone());
    for remark in remarks.into_iter().chain([MEASURED.to_owned()]) {
        line("speed", remark);
    }
    line("worker", worker.file.display().to_string());
    for library in &usable {
        let solvers: Vec<&str> = library.solvers.iter().map(|s| s.id.as_str()).collect();
        let solvers = solvers.join(", ");
        line("plugin", format!("{} {}, interface {}: {solvers}", library.name, library.version, library.abi));
    }
    for text in &unusable {
        line("unusable plugin", text.clone());
    }
    match &python {
        Ok(python) => {
            line("Python of scripts", python.line());
            python.warning().into_iter().for_each(|text| line("Python module `gpbench`", text));
        }
        Err(why) => line("Python of scripts", why.clone()),
    }
    let list = |names: &[String]| if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    line("data sets found", list(&found));
    line("data sets to fetch", list(&missing));
    line("GPBENCH_DATA", places.env.as_deref().map_or("not set".to_owned(), folder));
    line("cache", places.cache.display().to_string());
    listing.print(args.output)?;

    Ok(if usable.is_empty() || !unusable.is_empty() { CASE_FAILED } else { OK })
}

/// A path, and a note if it is not a folder.
fn folder(path: &Path) -> String {
    let note = if path.is_dir() { "" } else { " (not a folder)" };
    format!("{}{note}", path.display())
}
