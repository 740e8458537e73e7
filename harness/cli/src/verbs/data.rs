//! `gpbench data`: lists, downloads, verifies and imports data sets.

mod import;

use clap::Subcommand;
use gpbench_data::fetch;
use gpbench_data::locate::{self, Found, SearchPlace};
use gpbench_data::registry::{self, RegistryEntry};
use gpbench_data::verify::{self, Expected};

use crate::args::{FormatArg, Global};
use crate::exit::{CASE_FAILED, Failure, OK, Outcome};
use crate::notice::{fail, say};
use crate::{dataset, dataset_list, output};

/// `gpbench data`.
#[derive(Debug, Subcommand)]
pub(crate) enum Data {
    /// List the registry: sizes, rates of repeated rows, and where each set was found.
    List(FormatArg),
    /// Download data sets into the cache, unless they are in --data-dir or $GPBENCH_DATA.
    Fetch {
        /// Data sets of the registry.
        #[arg(required = true)]
        names: Vec<String>,
    },
    /// Verify the checksums of data sets; of all that are found by default.
    Verify {
        /// Data sets of the registry.
        names: Vec<String>,
    },
    /// Read and check a CSV or Parquet file, and print what was understood: columns, rows, repeated inputs and the split.
    Import(import::Import),
}

pub(crate) fn data(global: &Global, verb: &Data) -> Outcome {
    match verb {
        Data::List(output) => dataset_list::print(global, *output),
        Data::Fetch { names } => fetch(global, names),
        Data::Verify { names } => verify(global, names),
        Data::Import(args) => import::import(global, args),
    }
}

fn fetch(global: &Global, names: &[String]) -> Outcome {
    let places = dataset::places(global)?;
    let mut code = OK;
    // Files are downloaded even where nothing can be printed.
    let mut printed = Ok(());
    for entry in find_all(names)? {
        if let Some(found) =
            locate::locate(entry, &places).ok().filter(|found| found.place != SearchPlace::Cache)
        {
            let Found { place, folder, .. } = found;
            let line = format!("{}: {} (found in {place}, not downloaded)", entry.name, folder.display());
            printed = printed.and(output::print(&line));
            continue;
        }
        match dataset::with_bar(global, entry, |show| fetch::fetch(entry, &places, show)) {
            Ok(found) => {
                let line = format!("{}: {}", entry.name, found.folder.display());
                printed = printed.and(output::print(&line));
            }
            Err(error) => {
                fail(global, format_args!("{}: {error}", entry.name));
                code = CASE_FAILED;
            }
        }
    }
    if code != OK {
        say("try again (a download continues where it stopped), or set GPBENCH_DATA to a folder that holds \
             NAME/data.csv.gz and NAME/test_mask.csv.gz");
    }
    printed.map(|()| code)
}

fn verify(global: &Global, names: &[String]) -> Outcome {
    let places = dataset::places(global)?;
    let entries = if names.is_empty() { registry::all().iter().collect() } else { find_all(names)? };
    let mut code = OK;
    let mut verified = 0;
    for entry in entries {
        let found = match locate::locate(entry, &places) {
            Ok(found) => found,
            Err(_) if names.is_empty() => continue,
            Err(missing) => return Err(Failure::usage(missing)),
        };
        for file in verify::verify(entry, &found).map_err(Failure::internal)? {
            let result = match (file.is_good(), &file.expected) {
                (Some(true), Expected::Registered(_)) => "good",
                (Some(true), _) => "unchanged since the first download",
                (Some(false), _) => "BAD: the checksum is wrong",
                (None, _) => "no checksum is known",
            };
            if file.is_good() == Some(false) {
                code = CASE_FAILED;
            }
            output::print(&format!("{}: {result}", file.path.display()))?;
            verified += 1;
        }
    }
    if verified == 0 {
        return Err(Failure::nothing("no data set was found; `gpbench data list` shows their sources"));
    }
    Ok(code)
}

fn find_all(names: &[String]) -> Result<Vec<&'static RegistryEntry>, Failure> {
    names.iter().map(|name| registry::find(name).map_err(Failure::usage)).collect()
}
