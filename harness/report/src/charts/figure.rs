//! A chart with its words, and how solvers look in all charts.

use gpbench_record::text;

use super::style::{Entry, Look};
use crate::results::Results;

/// A chart with its words.
#[derive(Debug, Clone)]
pub(crate) struct Figure {
    /// File name.
    pub(crate) file: String,
    /// What it shows.
    pub(crate) title: String,
    /// How to read it.
    pub(crate) caption: String,
    /// The drawing.
    pub(crate) svg: String,
    /// The paper that its method rests on.
    pub(crate) paper: Option<&'static str>,
}

impl Figure {
    /// A chart whose file is named after `kind` and `what`, words that users chose.
    pub(super) fn new(
        kind: &str,
        what: &str,
        title: String,
        caption: impl Into<String>,
        svg: String,
    ) -> Figure {
        let title = text::cut(&title, text::NAME).into_owned();
        Figure { file: file_name(kind, what), title, caption: caption.into(), svg, paper: None }
    }
}

/// What a chart returns: nothing where the data cannot fill it.
pub(crate) type Drawn = Result<Option<Figure>, Box<dyn std::error::Error>>;

/// Colour and marker of a solver, the same in every chart.
pub(super) fn look(results: &Results<'_>, solver: &str) -> Look {
    Look::nth(results.run.solvers().iter().position(|other| *other == solver).unwrap_or_default())
}

/// A legend with one entry a solver, of those that `shown` admits.
pub(super) fn solvers(results: &Results<'_>, shown: impl Fn(&str) -> bool) -> Vec<Entry> {
    let names = results.run.solvers().into_iter().filter(|solver| shown(solver));
    names.map(|solver| Entry::solver(solver, look(results, solver))).collect()
}

/// Largest number of bytes of the words in a file name; a file system takes 255 for the whole.
const LONGEST: usize = 120;

/// A file name from words that users chose.
fn file_name(kind: &str, what: &str) -> String {
    let word = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c.to_ascii_lowercase() } else { '-' };
    let what = what.get(..what.floor_char_boundary(LONGEST)).unwrap_or(what);
    let mut name: String = format!("{kind}-{what}").chars().map(word).collect();
    while name.contains("--") {
        name = name.replace("--", "-");
    }
    format!("{}.svg", name.trim_matches('-'))
}
