//! The plugin interface has one host: the tables that plugins are given are made in `harness/host` alone.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};
use syn::{ExprStruct, ItemUse, UseTree};

use crate::support::sources::rust_files;

/// Tables of the C interface that a host makes.
const TABLES: [&str; 16] = [
    "Block",
    "Columns",
    "Features",
    "Fit",
    "FitTrace",
    "Host",
    "Inputs",
    "Operator",
    "ParallelFor",
    "Problem",
    "Rows",
    "State",
    "Store",
    "Targets",
    "Trace",
    "Volatile",
];

/// Where else they are made: a test of the SDK calls a plugin without any host.
const ALSO: &str = "harness/sdk/tests/wall.rs";

#[test]
fn the_interface_has_one_host() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut makers: BTreeMap<&str, Vec<PathBuf>> = BTreeMap::new();
    for file in ["harness", "plugins", "fuzz"].iter().flat_map(|folder| rust_files(&root.join(folder))) {
        let text = std::fs::read_to_string(&file).expect("readable source");
        let parsed = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let mut made = Tables::default();
        made.visit_file(&parsed);
        let name = file.strip_prefix(&root).expect("a file of the tree").to_owned();
        for table in
            TABLES.iter().filter(|table| made.literals.iter().any(|path| is_of_abi(path, table, &made)))
        {
            makers.entry(table).or_default().push(name.clone());
        }
    }
    for (table, files) in &makers {
        let others: Vec<_> = files
            .iter()
            .filter(|file| !file.starts_with("harness/host/src") && *file != Path::new(ALSO))
            .collect();
        assert!(others.is_empty(), "`{table}` is made outside of the host, in {others:?}");
    }
    let unmade: Vec<_> = TABLES.iter().filter(|table| !makers.contains_key(*table)).collect();
    assert!(unmade.is_empty(), "no host makes {unmade:?}: the list is out of date");
}

/// Paths of a file's struct literals, and what its imports stand for.
#[derive(Default)]
struct Tables {
    literals: Vec<Vec<String>>,
    imports: BTreeMap<String, Vec<String>>,
}

impl<'ast> Visit<'ast> for Tables {
    fn visit_expr_struct(&mut self, literal: &'ast ExprStruct) {
        self.literals.push(literal.path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        visit::visit_expr_struct(self, literal);
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        import(&item.tree, &mut Vec::new(), &mut self.imports);
    }
}

fn import(tree: &UseTree, prefix: &mut Vec<String>, into: &mut BTreeMap<String, Vec<String>>) {
    match tree {
        UseTree::Path(path) => {
            prefix.push(path.ident.to_string());
            import(&path.tree, prefix, into);
            prefix.pop();
        }
        UseTree::Name(name) => {
            let path = prefix.iter().cloned().chain([name.ident.to_string()]).collect();
            into.insert(name.ident.to_string(), path);
        }
        UseTree::Rename(name) => {
            let path = prefix.iter().cloned().chain([name.ident.to_string()]).collect();
            into.insert(name.rename.to_string(), path);
        }
        UseTree::Group(group) => group.items.iter().for_each(|tree| import(tree, prefix, into)),
        UseTree::Glob(_) => {}
    }
}

/// Whether a path of a literal names this table of the C interface.
fn is_of_abi(path: &[String], table: &str, file: &Tables) -> bool {
    let (first, rest) = path.split_first().expect("a path has a segment");
    let mut whole = file.imports.get(first).cloned().unwrap_or_else(|| vec![first.clone()]);
    whole.extend_from_slice(rest);
    let in_abi = whole.iter().any(|segment| segment == "abi" || segment == "gpbench_abi");
    in_abi && whole.last().is_some_and(|last| last == table)
}
