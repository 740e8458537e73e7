//! `gpbench data`: the registry, downloads, checksums, and the user's own files.

use std::path::Path;

use gpbench_data::fetch::{self, Progress};
use gpbench_data::locate::{self, Found, Places};
use gpbench_data::registry::{self, Entry};
use gpbench_data::synthetic;
use gpbench_data::verify::{self, Expected};
use gpbench_import::Materialised;
use gpbench_record::Source;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};

use crate::args::{Data, Format, Global};
use crate::exit::{CASE_FAILED, Failure, OK, Outcome};
use crate::output::{self, Listing, Styles};

pub(crate) fn data(global: &Global, verb: &Data) -> Outcome {
    match verb {
        Data::List { format } => list(global, *format),
        Data::Fetch { names } => fetch(global, names),
        Data::Verify { names } => verify(global, names),
        Data::Import { file, target } => import(global, file, target.as_deref()),
    }
}

/// A data set that could not be brought to hand.
pub(crate) struct Missing {
    /// Why, and what to do.
    pub(crate) text: String,
    /// Whether it is merely absent, rather than there and bad.
    pub(crate) is_absent: bool,
}

/// Brings the rows of a source to hand as a binary copy: finds, downloads, reads.
pub(crate) fn obtain(
    global: &Global,
    places: &Places,
    source: &Source,
    path: Option<&Path>,
    offline: bool,
) -> Result<Materialised, Missing> {
    let bad = |text: String| Missing { text, is_absent: false };
    match (source, path) {
        (Source::Registry { name }, _) => {
            let entry = registry::find(name).map_err(|e| bad(e.to_string()))?;
            let found = if offline {
                locate::locate(entry, places).map_err(|e| e.to_string())
            } else {
                download(global, entry, places)
            };
            let found = found.map_err(|text| Missing { text, is_absent: true })?;
            gpbench_import::materialise(&gpbench_import::Origin::Collection(&found, entry), &places.copies())
                .map_err(|e| bad(e.to_string()))
        }
        (Source::File { target, .. }, Some(path)) => {
            let origin = gpbench_import::Origin::File { path, target: target.as_deref() };
            let is_absent = !path.exists();
            gpbench_import::materialise(&origin, &places.copies())
                .map_err(|e| Missing { text: e.to_string(), is_absent })
        }
        _ => Err(bad("this source has no file".to_owned())),
    }
}

/// Finds a set, or downloads it with a progress bar.
fn download(global: &Global, entry: &Entry, places: &Places) -> Result<Found, String> {
    let bar = bar(global);
    let found = fetch::obtain(entry, places, &mut |progress| show(&bar, &entry.name, progress));
    bar.finish_and_clear();
    found.map_err(|e| e.to_string())
}

fn bar(global: &Global) -> ProgressBar {
    let template = "{msg} {bar:30} {bytes}/{total_bytes} {eta}";
    let style = ProgressStyle::with_template(template).expect("the template is constant and valid");
    let bar = if global.quiet { ProgressBar::hidden() } else { ProgressBar::new(0) };
    bar.with_style(style)
}

fn show(bar: &ProgressBar, name: &str, progress: Progress<'_>) {
    bar.set_message(format!("{name}/{}", progress.file));
    if let Some(total) = progress.total {
        bar.set_length(total);
    }
    bar.set_position(progress.done);
}

/// `gpbench data list`, and `gpbench list datasets`.
pub(crate) fn list(global: &Global, format: Format) -> Outcome {
    let places = Places::from_env(global.data_dir.clone()).map_err(Failure::usage)?;
    let entries: Vec<(&Entry, Standing)> =
        registry::all().iter().map(|e| (e, Standing::of(e, &places))).collect();
    let mut json: Vec<Value> = entries.iter().map(|(entry, standing)| standing.as_json(entry)).collect();
    json.extend(
        synthetic::TOYS.iter().map(|toy| json!({ "name": toy.name, "n": toy.n, "d": 1, "doc": toy.doc })),
    );
    json.push(json!({ "name": "gp-draw", "n": null, "d": null, "doc": "a draw from a Gaussian process" }));

    let header = ["data set", "rows", "inputs", "repeated inputs", "test rows seen in training", "where"];
    let mut listing = Listing::new(&header, json!({ "schema": gpbench_record::SCHEMA, "datasets": json }));
    for (entry, standing) in &entries {
        let rate = |pick: fn(&gpbench_data::Duplicates) -> f64| {
            standing.duplicates.as_ref().map_or(String::new(), |d| format!("{:.1} %", 100.0 * pick(d)))
        };
        listing.row(vec![
            entry.name.clone(),
            entry.n.to_string(),
            entry.d.to_string(),
            rate(|d| d.train_rate),
            rate(|d| d.test_rate),
            standing.place.clone(),
        ]);
    }
    for toy in synthetic::TOYS {
        let blank = String::new;
        listing.row(vec![
            toy.name.into(),
            toy.n.to_string(),
            "1".into(),
            blank(),
            blank(),
            "built in".into(),
        ]);
    }
    let any = || "any".to_owned();
    listing.row(vec!["gp-draw".into(), any(), any(), String::new(), String::new(), "built in".into()]);
    listing.print(format);
    Ok(OK)
}

/// What is known of a set on this machine.
struct Standing {
    place: String,
    /// Rates of repeated inputs in split 0, if the set is at hand and readable.
    duplicates: Option<gpbench_data::Duplicates>,
}

impl Standing {
    fn of(entry: &Entry, places: &Places) -> Standing {
        let Ok(found) = locate::locate(entry, places) else {
            let pinned = if entry.is_pinned() { "" } else { ", checksum unknown before the first download" };
            return Standing { place: format!("to fetch{pinned}"), duplicates: None };
        };
        let origin = gpbench_import::Origin::Collection(&found, entry);
        let copy = gpbench_import::materialise(&origin, &places.copies()).map_err(|e| e.to_string());
        let table = copy.and_then(|copy| gpbench_data::copy::read(&copy.path).map_err(|e| e.to_string()));
        match table {
            Ok(table) => Standing { place: found.place.to_string(), duplicates: table.duplicates(0).ok() },
            Err(error) => {
                Standing { place: format!("{}, unreadable: {error}", found.place), duplicates: None }
            }
        }
    }

    fn as_json(&self, entry: &Entry) -> Value {
        json!({
            "name": entry.name,
            "aliases": entry.aliases,
            "n": entry.n,
            "d": entry.d,
            "url": entry.url,
            "pinned": entry.is_pinned(),
            "licence": entry.licence,
            "where": self.place,
            "duplicate_train_rate": self.duplicates.as_ref().map(|d| d.train_rate),
            "duplicate_test_rate": self.duplicates.as_ref().map(|d| d.test_rate),
        })
    }
}

fn fetch(global: &Global, names: &[String]) -> Outcome {
    let places = Places::from_env(global.data_dir.clone()).map_err(Failure::usage)?;
    let entries = find_all(names)?;
    let mut code = OK;
    for entry in entries {
        let bar = bar(global);
        let fetched = fetch::fetch(entry, &places, &mut |progress| show(&bar, &entry.name, progress));
        bar.finish_and_clear();
        match fetched {
            Ok(found) => output::print(&format!("{}: {}", entry.name, found.folder.display())),
            Err(error) => {
                eprintln!("{} {}: {error}", Styles::new(global.color).bad("gpbench:"), entry.name);
                code = CASE_FAILED;
            }
        }
    }
    if code != OK {
        eprintln!(
            "try again (a download goes on where it stopped), or set GPBENCH_DATA to a folder that holds \
             NAME/data.csv.gz and NAME/test_mask.csv.gz"
        );
    }
    Ok(code)
}

fn verify(global: &Global, names: &[String]) -> Outcome {
    let places = Places::from_env(global.data_dir.clone()).map_err(Failure::usage)?;
    let entries = if names.is_empty() { registry::all().iter().collect() } else { find_all(names)? };
    let mut code = OK;
    let mut checked = 0;
    for entry in entries {
        let found = match locate::locate(entry, &places) {
            Ok(found) => found,
            Err(_) if names.is_empty() => continue,
            Err(missing) => return Err(Failure::usage(missing)),
        };
        for check in verify::verify(entry, &found).map_err(Failure::internal)? {
            let verdict = match (check.is_good(), &check.expected) {
                (Some(true), Expected::Registered(_)) => "good",
                (Some(true), _) => "same as when first downloaded",
                (Some(false), _) => "BAD: not the file that it should be",
                (None, _) => "no checksum is known",
            };
            if check.is_good() == Some(false) {
                code = CASE_FAILED;
            }
            output::print(&format!("{}: {verdict}", check.path.display()));
            checked += 1;
        }
    }
    if checked == 0 {
        return Err(Failure::nothing(
            "no data set is at hand; `gpbench data list` shows where each would come from",
        ));
    }
    Ok(code)
}

fn find_all(names: &[String]) -> Result<Vec<&'static Entry>, Failure> {
    names.iter().map(|name| registry::find(name).map_err(Failure::usage)).collect()
}

fn import(global: &Global, file: &Path, target: Option<&str>) -> Outcome {
    let places = Places::from_env(global.data_dir.clone()).map_err(Failure::usage)?;
    let origin = gpbench_import::Origin::File { path: file, target };
    let copy = gpbench_import::materialise(&origin, &places.copies()).map_err(Failure::usage)?;
    let styles = Styles::new(global.color);
    for warning in &copy.warnings {
        eprintln!("{} {warning}", styles.warning("warning:"));
    }
    let Materialised { path, n, d, .. } = &copy;
    output::print(&format!("{}: {n} rows, {d} inputs\nbinary copy: {}", file.display(), path.display()));
    Ok(OK)
}
