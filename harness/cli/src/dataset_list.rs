//! The listing of data sets: `gpbench data list` and `gpbench list datasets`.

use gpbench_data::locate::{self, SearchPlaces};
use gpbench_data::registry::{self, RegistryEntry};
use gpbench_data::{Duplicates, copy, synthetic};
use gpbench_import::ImportSource;
use serde_json::{Value, json};

use crate::args::{FormatArg, Global};
use crate::dataset;
use crate::exit::{OK, Outcome};
use crate::output::{Listing, versioned};

/// Prints the data sets of the registry, and the built-in ones.
pub(crate) fn print(global: &Global, output: FormatArg) -> Outcome {
    let places = dataset::places(global)?;
    let registered: Vec<(&RegistryEntry, State)> =
        registry::all().iter().map(|entry| (entry, State::of(entry, &places))).collect();
    let mut json: Vec<Value> = registered.iter().map(|(entry, state)| state.json(entry)).collect();
    json.extend(
        synthetic::TOYS.iter().map(|toy| json!({ "name": toy.name, "n": toy.n, "d": 1, "doc": toy.doc })),
    );
    for (name, doc) in DRAWN {
        json.push(json!({ "name": name, "n": null, "d": null, "doc": doc }));
    }

    let header = ["data set", "rows", "inputs", "repeated inputs", "test rows also in training", "where"];
    let mut listing = Listing::new(&header, versioned("datasets", json))
        .major(&["where"])
        .minor(&["repeated inputs", "test rows also in training"]);
    for (entry, state) in &registered {
        listing.row(state.cells(entry));
    }
    let built_in = |name: &str, n: String, d: &str| {
        vec![name.to_owned(), n, d.to_owned(), String::new(), String::new(), "built in".to_owned()]
    };
    for toy in synthetic::TOYS {
        listing.row(built_in(toy.name, toy.n.to_string(), "1"));
    }
    for (name, _) in DRAWN {
        listing.row(built_in(name, "any".to_owned(), "any"));
    }
    listing.print(output)?;
    Ok(OK)
}

/// Sets of any size that are drawn from a Gaussian process.
const DRAWN: [(&str, &str); 2] = [
    ("gp-draw", "a draw from a Gaussian process"),
    ("objective", "a draw from a Gaussian process that task `thompson` asks again along the run"),
];

/// The state of a registered set on this machine.
struct State {
    place: String,
    /// Rates of repeated inputs in split 0, of a set that is found and can be read.
    duplicates: Option<Duplicates>,
}

impl State {
    fn of(entry: &RegistryEntry, places: &SearchPlaces) -> State {
        let Ok(found) = locate::locate(entry, places) else {
            let pinned = if entry.is_pinned() { "" } else { ", checksum unknown before the first download" };
            return State { place: format!("to fetch{pinned}"), duplicates: None };
        };
        let binary = dataset::copy(&ImportSource::Collection(&found, entry), places);
        let table = binary
            .map_err(|e| e.to_string())
            .and_then(|binary| copy::read(&binary.path).map_err(|e| e.to_string()));
        match table {
            Ok(table) => State { place: found.place.to_string(), duplicates: table.duplicates(0).ok() },
            Err(error) => State { place: format!("{}, unreadable: {error}", found.place), duplicates: None },
        }
    }

    fn cells(&self, entry: &RegistryEntry) -> Vec<String> {
        let rate = |pick: fn(&Duplicates) -> f64| {
            self.duplicates.as_ref().map_or(String::new(), |d| format!("{:.1} %", 100.0 * pick(d)))
        };
        vec![
            entry.name.clone(),
            entry.n.to_string(),
            entry.d.to_string(),
            rate(|d| d.train_rate),
            rate(|d| d.test_rate),
            self.place.clone(),
        ]
    }

    fn json(&self, entry: &RegistryEntry) -> Value {
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
