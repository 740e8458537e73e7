//! Paths of the pages of a site.

use std::collections::BTreeSet;

use crate::slug::slug;

/// Most bytes of a page's name that come from the words of users.
const LONGEST: usize = 100;

/// Paths that are taken.
#[derive(Default)]
pub(super) struct Paths {
    taken: BTreeSet<String>,
}

impl Paths {
    /// The path of a page in a folder, named after some words: `runs/uci.html`, or `runs/uci-2.html` where that is
    /// taken.
    pub(super) fn unique(&mut self, folder: &str, words: &str) -> String {
        let words = slug(words.get(..words.floor_char_boundary(LONGEST)).unwrap_or(words));
        let words = words.trim_matches(['.', '-']);
        let words = if words.is_empty() { "page" } else { words };
        let mut path = format!("{folder}/{words}.html");
        let mut count = 1;
        while !self.taken.insert(path.clone()) {
            count += 1;
            path = format!("{folder}/{words}-{count}.html");
        }
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_have_paths_of_their_own_within_their_folder() {
        let mut paths = Paths::default();
        let mut path = |words: &str| paths.unique("runs", words);
        assert_eq!(path("uci/20260101T000000Z-aa"), "runs/uci-20260101t000000z-aa.html");
        assert_eq!(
            [path("pol"), path("POL"), path("pol")],
            ["runs/pol.html", "runs/pol-2.html", "runs/pol-3.html"]
        );
        assert_eq!([path("../.."), path("データ")], ["runs/page.html", "runs/page-2.html"]);
    }
}
