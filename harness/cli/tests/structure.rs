//! No circle among the files of a crate: what a file imports never leads back to it, so that every crate can be
//! read from the bottom up.
//!
//! A file imports another where a path in its code (`use` or not) leads to an item that the other defines;
//! re-exports are followed to the definition. Unit tests are left out.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};
use syn::{Attribute, Item, ItemMod, ItemUse, UseTree, Visibility};

/// Crates that are checked, by their folder in `harness`.
const CRATES: &[&str] = &[
    "cli",
    "cluster",
    "engine",
    "files",
    "host",
    "worker",
    "numerics",
    "processes",
    "record",
    "report",
    "runs",
    "spec",
    "statistics",
    "terms",
    "testing",
];

#[test]
fn no_file_imports_itself_through_others() {
    let harness = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let circles: Vec<String> =
        CRATES.iter().flat_map(|name| circles(&harness.join(name).join("src"))).collect();
    assert!(circles.is_empty(), "circles of imports:\n{}", circles.join("\n"));
}

/// The circles of a crate, each as a line of file names.
fn circles(source: &Path) -> Vec<String> {
    let root = ["lib.rs", "main.rs"].map(|name| source.join(name)).into_iter().find(|path| path.exists());
    let mut tree = Tree::default();
    tree.add(Vec::new(), &root.expect("a crate has a root"));
    let graph = tree.imports();
    let short = |file: &Path| file.strip_prefix(source).expect("a file of the crate").display().to_string();
    let reaches = |from: &PathBuf, to: &PathBuf| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
        while let Some(file) = open.pop() {
            open.extend(graph.get(file).into_iter().flatten().filter(|next| seen.insert(*next)));
        }
        seen.contains(to)
    };
    // Files of one circle reach the same files: each circle is listed once, by its first file.
    let on_circle: Vec<&PathBuf> = graph.keys().filter(|file| reaches(file, file)).collect();
    let mut listed: BTreeSet<&PathBuf> = BTreeSet::new();
    let mut lines = Vec::new();
    for file in &on_circle {
        if listed.contains(file) {
            continue;
        }
        let circle: Vec<&PathBuf> =
            on_circle.iter().copied().filter(|other| reaches(file, other) && reaches(other, file)).collect();
        let krate = source.parent().and_then(Path::file_name).expect("a crate has a folder").display();
        lines.push(format!("{krate}: {}", circle.iter().map(|f| short(f)).collect::<Vec<_>>().join(" <-> ")));
        listed.extend(circle);
    }
    lines
}

/// The modules of a crate by their paths.
#[derive(Default)]
struct Tree {
    modules: BTreeMap<Vec<String>, Module>,
}

/// A module: its file, and the names that it imports, with the paths behind them.
struct Module {
    file: PathBuf,
    imports: BTreeMap<String, Vec<String>>,
    globs: Vec<Vec<String>>,
    /// Every path in its code.
    paths: Vec<Vec<String>>,
}

impl Tree {
    /// Reads a module and those below it.
    fn add(&mut self, path: Vec<String>, file: &Path) {
        let text =
            std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let parsed = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        self.add_items(path, file, &parsed.items);
    }

    fn add_items(&mut self, path: Vec<String>, file: &Path, items: &[Item]) {
        let mut module =
            Module { file: file.to_owned(), imports: BTreeMap::new(), globs: Vec::new(), paths: Vec::new() };
        for item in items.iter().filter(|item| !is_for_tests(attributes(item))) {
            match item {
                Item::Mod(child) => self.add_child(&path, file, child),
                Item::Use(ItemUse { tree, vis, .. }) => {
                    let is_private = matches!(vis, Visibility::Inherited);
                    module.flatten(tree, &mut Vec::new(), is_private);
                }
                item => Paths(&mut module.paths).visit_item(item),
            }
        }
        self.modules.insert(path, module);
    }

    fn add_child(&mut self, path: &[String], file: &Path, child: &ItemMod) {
        let mut below = path.to_vec();
        below.push(child.ident.to_string());
        if let Some((_, items)) = &child.content {
            return self.add_items(below, file, items);
        }
        let stem = file.file_stem().expect("a file has a name");
        let is_root = ["lib", "main", "mod"].iter().any(|name| stem == *name);
        let folder =
            if is_root { file.parent().expect("a folder").to_owned() } else { file.with_extension("") };
        let name = child.ident.to_string();
        let files = [folder.join(format!("{name}.rs")), folder.join(&name).join("mod.rs")];
        let found =
            files.iter().find(|file| file.exists()).unwrap_or_else(|| panic!("no file of `mod {name}`"));
        self.add(below, found);
    }

    /// Which files each file imports.
    fn imports(&self) -> BTreeMap<PathBuf, BTreeSet<PathBuf>> {
        let mut graph: BTreeMap<PathBuf, BTreeSet<PathBuf>> = BTreeMap::new();
        for (path, module) in &self.modules {
            let found = module.paths.iter().filter_map(|used| self.file_of(path, used, 0));
            let others = found.filter(|file| *file != module.file);
            graph.entry(module.file.clone()).or_default().extend(others);
        }
        graph
    }

    /// The file that defines what a path names, seen from a module; none for other crates.
    fn file_of(&self, from: &[String], path: &[String], depth: usize) -> Option<PathBuf> {
        let mut at = from.to_vec();
        let mut rest = path;
        while let [first, tail @ ..] = rest {
            match first.as_str() {
                "crate" => at.clear(),
                "super" => drop(at.pop()),
                "self" => {}
                _ => break,
            }
            rest = tail;
        }
        let is_ours = rest.len() < path.len();
        let [first, ..] = rest else { return Some(self.modules.get(&at)?.file.clone()) };
        let known = self.defines(&at, first);
        if !is_ours && !known {
            return None;
        }
        self.walk(at, rest, depth)
    }

    /// Whether a module has a child or an import of this name.
    fn defines(&self, module: &[String], name: &str) -> bool {
        let mut child = module.to_vec();
        child.push(name.to_owned());
        self.modules.contains_key(&child) || self.modules[module].imports.contains_key(name)
    }

    fn walk(&self, mut at: Vec<String>, names: &[String], depth: usize) -> Option<PathBuf> {
        assert!(depth < 20, "a path that leads nowhere: {names:?}");
        for (index, name) in names.iter().enumerate() {
            let module = self.modules.get(&at)?;
            let mut child = at.clone();
            child.push(name.clone());
            if self.modules.contains_key(&child) {
                at = child;
                continue;
            }
            if let Some(behind) = module.imports.get(name) {
                let mut behind = behind.clone();
                behind.extend_from_slice(&names[index + 1..]);
                return self.file_of(&at, &behind, depth + 1);
            }
            let exported = module.globs.iter().find_map(|glob| {
                let mut behind = glob.clone();
                behind.push(name.clone());
                self.file_of(&at, &behind, depth + 1)
            });
            return exported.filter(|_| !module.globs.is_empty()).or_else(|| Some(module.file.clone()));
        }
        Some(self.modules.get(&at)?.file.clone())
    }
}

impl Module {
    /// Splits a `use` into its names. A private one uses what it names; a public one only passes it on.
    fn flatten(&mut self, tree: &UseTree, prefix: &mut Vec<String>, is_private: bool) {
        match tree {
            UseTree::Path(path) => {
                prefix.push(path.ident.to_string());
                self.flatten(&path.tree, prefix, is_private);
                prefix.pop();
            }
            UseTree::Name(name) => {
                self.import(&name.ident.to_string(), &name.ident.to_string(), prefix, is_private)
            }
            UseTree::Rename(name) => {
                self.import(&name.ident.to_string(), &name.rename.to_string(), prefix, is_private);
            }
            UseTree::Glob(_) => {
                self.globs.push(prefix.clone());
                self.paths.push(prefix.clone());
            }
            UseTree::Group(group) => {
                group.items.iter().for_each(|tree| self.flatten(tree, prefix, is_private))
            }
        }
    }

    fn import(&mut self, name: &str, alias: &str, prefix: &[String], is_private: bool) {
        let mut path = prefix.to_vec();
        if name != "self" {
            path.push(name.to_owned());
        }
        let known_as =
            if alias == "self" { path.last().cloned().unwrap_or_default() } else { alias.to_owned() };
        if is_private {
            self.paths.push(path.clone());
        }
        // `use serde;` would lead from the name to itself.
        if path != [known_as.as_str()] {
            self.imports.insert(known_as, path);
        }
    }
}

/// Collects the paths in code.
struct Paths<'a>(&'a mut Vec<Vec<String>>);

impl<'ast> Visit<'ast> for Paths<'_> {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        // A single name is defined here or imported by a `use`, which is counted.
        if names.len() > 1 && path.leading_colon.is_none() {
            self.0.push(names);
        }
        visit::visit_path(self, path);
    }
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Mod(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        _ => &[],
    }
}

/// Whether an item is compiled for tests alone.
fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.meta.require_list().is_ok_and(|list| list.tokens.to_string() == "test")
    })
}
