//! Neutral names in place of those of a machine and its user, in the files of a run that others will read.

use std::path::Path;

use gpbench_files::checksum::{seal, without_checksum};

use crate::layout::SPEC;

/// Fewest letters of a name that is replaced: shorter ones are parts of other words.
const FEWEST: usize = 3;

/// Names of a machine and its user, and what stands in their place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NeutralNames {
    /// Name and neutral name, the longest name first: the home folder may hold the working folder.
    names: Vec<(String, String)>,
}

/// A name that was replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplacedName {
    /// The name.
    pub name: String,
    /// What stands in its place.
    pub by: String,
    /// How often.
    pub count: usize,
}

impl NeutralNames {
    /// In the place of the working folder.
    pub const WORK: &str = "<work>";
    /// In the place of the home folder.
    pub const HOME: &str = "~";
    /// In the place of the folder of temporary files.
    pub const TEMPORARY: &str = "<tmp>";
    /// In the place of the host's name.
    pub const HOST: &str = "<host>";

    /// Whether a path has a neutral name.
    pub fn are_in(path: &str) -> bool {
        path.starts_with(Self::HOME)
            || [Self::WORK, Self::TEMPORARY, Self::HOST].iter().any(|name| path.contains(name))
    }

    /// Names with their neutral ones. Those of fewer than three letters, and `localhost`, stay.
    pub fn new(names: impl IntoIterator<Item = (String, String)>) -> Self {
        let is_telling = |name: &str| name.len() >= FEWEST && name != "localhost";
        let mut names: Vec<(String, String)> =
            names.into_iter().filter(|(name, _)| is_telling(name)).collect();
        names.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        Self { names }
    }

    /// The content of a file of a run with neutral names. Each JSON object gets its checksum anew; one with a wrong
    /// checksum stays wrong. Replaced names are added to `replaced`.
    pub fn neutral(&self, file: &Path, content: &[u8], replaced: &mut Vec<ReplacedName>) -> Vec<u8> {
        let is_lines = file.extension().is_some_and(|end| end == "jsonl");
        if file.file_name().is_some_and(|name| name == SPEC) {
            self.text(content, false, replaced)
        } else if is_lines {
            let lines = content.split(|&byte| byte == b'\n');
            lines.map(|line| self.object(line, replaced)).collect::<Vec<_>>().join(&b'\n')
        } else {
            self.object(content, replaced)
        }
    }

    /// The text of a JSON object.
    fn object(&self, object: &[u8], replaced: &mut Vec<ReplacedName>) -> Vec<u8> {
        match without_checksum(object) {
            Some(text) => seal(&self.text(&text, true, replaced)),
            None => self.text(object, true, replaced),
        }
    }

    fn text(&self, text: &[u8], is_json: bool, replaced: &mut Vec<ReplacedName>) -> Vec<u8> {
        // No file of a run has other bytes, unless it is damaged.
        let Ok(text) = str::from_utf8(text) else { return text.to_vec() };
        let mut text = text.to_owned();
        for (name, by) in &self.names {
            let [written, neutral] =
                [name, by].map(|name| if is_json { escaped(name) } else { name.clone() });
            let (new, count) = replace_words(&text, &written, &neutral);
            text = new;
            match replaced.iter_mut().find(|known| known.name == *name) {
                Some(known) => known.count += count,
                None if count > 0 => {
                    replaced.push(ReplacedName { name: name.clone(), by: by.clone(), count });
                }
                None => {}
            }
        }
        text.into_bytes()
    }
}

/// A text as it stands within quotation marks in JSON.
fn escaped(text: &str) -> String {
    let quoted = serde_json::to_string(text).expect("a text always serialises");
    quoted[1..quoted.len() - 1].to_owned()
}

/// Replaces a name where it is no part of a longer one; how often it was.
fn replace_words(text: &str, name: &str, by: &str) -> (String, usize) {
    let is_of_word = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '-';
    let (mut out, mut end, mut count) = (String::new(), 0, 0);
    for (at, _) in text.match_indices(name) {
        let (before, after) = (&text[..at], &text[at + name.len()..]);
        // Before a name there may be a line feed, which JSON writes as two letters.
        let is_escape = ["\\n", "\\t", "\\r"].iter().any(|escape| before.ends_with(escape));
        let begins = is_escape || !before.ends_with(is_of_word);
        if begins && !after.starts_with(is_of_word) {
            out += &text[end..at];
            out += by;
            (end, count) = (at + name.len(), count + 1);
        }
    }
    (out + &text[end..], count)
}

#[cfg(test)]
mod tests {
    use gpbench_files::checksum::{Checksum, verify};

    use super::*;

    fn names() -> NeutralNames {
        let names = [("/home/ann", "~"), ("/home/ann/work", "<work>"), ("lab7", "<host>"), ("/", "<root>")];
        NeutralNames::new(names.map(|(name, by)| (name.to_owned(), by.to_owned())))
    }

    #[test]
    fn whole_names_are_replaced_the_longest_first() {
        let mut replaced = Vec::new();
        let text = b"path = \"/home/ann/work/a.csv\" # of lab7, not lab72; /home/anna, /home/ann.";
        let found = names().neutral(Path::new("spec.toml"), text, &mut replaced);
        assert_eq!(
            String::from_utf8(found).unwrap(),
            "path = \"<work>/a.csv\" # of <host>, not lab72; /home/anna, ~."
        );
        let counts: Vec<(&str, usize)> =
            replaced.iter().map(|found| (found.name.as_str(), found.count)).collect();
        assert_eq!(counts, [("/home/ann/work", 1), ("/home/ann", 1), ("lab7", 1)]);
    }

    #[test]
    fn each_object_is_sealed_again_and_damaged_ones_stay_damaged() {
        let good = seal(b"{\"log\":\"in\\n/home/ann/x\",\"at\":1e-05}");
        let mut damaged = seal(b"{\"log\":\"lab7\"}");
        damaged[12] ^= 1;
        let cut = b"{\"che".to_vec();
        let content = [good, damaged, cut].join(&b'\n');
        let found = names().neutral(Path::new("journal.jsonl"), &content, &mut Vec::new());
        let lines: Vec<&[u8]> = found.split(|&byte| byte == b'\n').collect();
        assert_eq!(without_checksum(lines[0]).as_deref(), Some(&b"{\"log\":\"in\\n~/x\",\"at\":1e-05}"[..]));
        assert_eq!((verify(lines[1]), lines[2]), (Checksum::Wrong, &b"{\"che"[..]));
        // Without names nothing changes.
        assert_eq!(
            NeutralNames::default().neutral(Path::new("plan.json"), &content, &mut Vec::new()),
            content
        );
    }
}
