//! Descendants of a process.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use crate::stat::Stat;

/// The descendants of a process, without the process itself. They include processes that have ended and were not
/// waited for.
pub fn descendants(root: u32) -> Vec<u32> {
    if threads_list_children() {
        return walk(root, |parent| children_of_threads(*parent));
    }
    let families = families();
    walk(root, |parent| families.get(parent).cloned().unwrap_or_default())
}

/// The children of a process.
pub(crate) fn children(parent: u32) -> Vec<u32> {
    if threads_list_children() {
        return children_of_threads(parent);
    }
    families().remove(&parent).unwrap_or_default()
}

fn walk(root: u32, children: impl Fn(&u32) -> Vec<u32>) -> Vec<u32> {
    let mut seen = BTreeSet::from([root]);
    let mut found = Vec::new();
    let mut open = vec![root];
    while let Some(parent) = open.pop() {
        for child in children(&parent) {
            // A number may be reused between two reads, so that the tree seems to have a cycle.
            if seen.insert(child) {
                found.push(child);
                open.push(child);
            }
        }
    }
    found
}

/// Whether this system lists the children of each thread.
fn threads_list_children() -> bool {
    static LISTS: OnceLock<bool> = OnceLock::new();
    *LISTS.get_or_init(|| Path::new("/proc/thread-self/children").exists())
}

fn children_of_threads(parent: u32) -> Vec<u32> {
    let threads = fs::read_dir(format!("/proc/{parent}/task")).into_iter().flatten().flatten();
    let lists = threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    lists.flat_map(|list| numbers(&list)).collect()
}

fn numbers(list: &str) -> Vec<u32> {
    list.split_ascii_whitespace().filter_map(|number| number.parse().ok()).collect()
}

/// The children of every process of the machine.
fn families() -> BTreeMap<u32, Vec<u32>> {
    let mut families: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    for process in entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()) {
        if let Some(stat) = Stat::read(process) {
            families.entry(stat.parent).or_default().push(process);
        }
    }
    families
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_tree_is_walked_to_its_leaves_and_never_twice() {
        let children = |parent: &u32| match parent {
            1 => vec![2, 3],
            3 => vec![4],
            4 => vec![1, 3],
            _ => vec![],
        };
        let mut found = walk(1, children);
        found.sort_unstable();
        assert_eq!(found, [2, 3, 4]);
    }

    #[test]
    fn both_ways_find_a_child() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let here = std::process::id();
        assert!(families()[&here].contains(&child.id()));
        assert!(children_of_threads(here).contains(&child.id()));
        assert!(descendants(here).contains(&child.id()));
        drop(child.stdin.take());
        child.wait().unwrap();
        assert!(!children(here).contains(&child.id()));
    }
}
