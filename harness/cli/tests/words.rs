//! A word has one meaning: a public type has a name of its own, unless `shared_words.txt` says why two share it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::support::sources::{entries, rust_files};
use syn::{Item, Visibility};

#[test]
fn a_word_has_one_meaning() {
    let mut crates: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (krate, name) in public_types() {
        crates.entry(name).or_default().insert(krate);
    }
    let shared: BTreeMap<&str, &BTreeSet<String>> =
        crates.iter().filter(|(_, of)| of.len() > 1).map(|(name, of)| (name.as_str(), of)).collect();
    let listed: BTreeMap<&str, &str> = include_str!("shared_words.txt")
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| line.split_once(": ").unwrap_or_else(|| panic!("`{line}` is not `NAME: REASON`")))
        .collect();
    for (name, of) in &shared {
        assert!(listed.contains_key(name), "{name} is a public type of {of:?}: rename one of them");
    }
    for name in listed.keys() {
        assert!(shared.contains_key(name), "{name} is a public type of one crate: take it off the list");
    }
}

/// The folder of the crate and the name of each plain `pub` type.
fn public_types() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = Vec::new();
    for folder in ["harness", "harness/testkit", "plugins"] {
        for krate in entries(&root.join(folder)) {
            let source = krate.join("src");
            if source.is_dir() {
                let name = format!("{folder}/{}", krate.file_name().expect("a name").display());
                let files = rust_files(&source);
                found.extend(files.iter().flat_map(|file| types_of(file)).map(|word| (name.clone(), word)));
            }
        }
    }
    found
}

fn types_of(file: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(file).expect("readable source");
    let parsed = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    public_of(&parsed.items)
}

fn public_of(items: &[Item]) -> Vec<String> {
    let mut names = Vec::new();
    for item in items {
        let (visibility, name) = match item {
            Item::Struct(item) => (&item.vis, &item.ident),
            Item::Enum(item) => (&item.vis, &item.ident),
            Item::Trait(item) => (&item.vis, &item.ident),
            Item::Type(item) => (&item.vis, &item.ident),
            Item::Mod(module) => {
                names.extend(module.content.iter().flat_map(|(_, items)| public_of(items)));
                continue;
            }
            // `words! { pub enum NAME .. }`; the macro's own definition has a name.
            Item::Macro(call) if call.ident.is_none() => {
                names.extend(declared_by(&call.mac.tokens.to_string()));
                continue;
            }
            _ => continue,
        };
        if matches!(visibility, Visibility::Public(_)) {
            names.push(name.to_string());
        }
    }
    names
}

/// Public types in the text of a macro call.
fn declared_by(tokens: &str) -> Vec<String> {
    let words: Vec<&str> = tokens.split_whitespace().collect();
    let declarations =
        words.windows(3).filter(|three| three[0] == "pub" && ["struct", "enum"].contains(&three[1]));
    declarations.map(|three| three[2].trim_end_matches([':', '{']).to_owned()).collect()
}
