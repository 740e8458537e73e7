//! `gpbench doctor`: what this machine and this installation offer.

use std::path::Path;

use gpbench_data::locate::{self, Places};
use gpbench_data::registry;
use serde_json::json;

use crate::args::{Doctor, Global};
use crate::catalog;
use crate::exit::{CASE_FAILED, Failure, OK, Outcome};
use crate::output::{self, Listing};
use crate::prepare;
use crate::worker::Worker;

pub(crate) fn doctor(global: &Global, args: &Doctor) -> Outcome {
    let worker = Worker::locate()?;
    let environment = prepare::environment(&worker.numerics()?, prepare::default_threads());
    let (libraries, unusable) = catalog::libraries(&worker, &[])?;
    let places = Places::from_env(global.data_dir.clone()).map_err(Failure::usage)?;
    let (found, missing): (Vec<_>, Vec<_>) =
        registry::all().iter().partition(|e| locate::locate(e, &places).is_ok());
    let names =
        |entries: &[&registry::Entry]| entries.iter().map(|e| e.name.as_str()).collect::<Vec<_>>().join(", ");

    let json = json!({
        "schema": gpbench_record::SCHEMA,
        "environment": environment,
        "worker": worker.file,
        "plugins": libraries,
        "unusable_plugins": unusable,
        "data_found": found.iter().map(|e| &e.name).collect::<Vec<_>>(),
        "data_missing": missing.iter().map(|e| &e.name).collect::<Vec<_>>(),
        "cache": places.cache,
    });
    let mut listing = Listing::new(&["what", "found"], json);
    let mut line = |what: &str, found: String| listing.row(vec![what.to_owned(), found]);
    line("gpbench", environment.gpbench.clone());
    line("system", environment.os.clone());
    line("processor", format!("{}, {} logical processors", environment.cpu, environment.cores));
    line("instruction set", environment.cpu_dispatch.clone());
    line("memory", output::bytes(environment.memory_bytes as f64));
    line("threads a case", environment.threads.to_string());
    line("BLAS", environment.blas.clone());
    line("BLAS core type", environment.blas_core.clone());
    line("worker", worker.file.display().to_string());
    for library in &libraries {
        let solvers: Vec<&str> = library.solvers.iter().map(|s| s.id.as_str()).collect();
        let solvers = solvers.join(", ");
        line("plugin", format!("{} {}, interface {}: {solvers}", library.name, library.version, library.abi));
    }
    for text in &unusable {
        line("unusable plugin", text.clone());
    }
    line("data found", if found.is_empty() { "none".to_owned() } else { names(&found) });
    line("data to fetch", if missing.is_empty() { "none".to_owned() } else { names(&missing) });
    line("GPBENCH_DATA", places.env.as_deref().map_or("not set".to_owned(), folder));
    line("cache", places.cache.display().to_string());
    listing.print(args.format);

    Ok(if libraries.is_empty() || !unusable.is_empty() { CASE_FAILED } else { OK })
}

/// A folder, and whether there is one.
fn folder(path: &Path) -> String {
    let absent = if path.is_dir() { "" } else { ", which is no folder" };
    format!("{}{absent}", path.display())
}
