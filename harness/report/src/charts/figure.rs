//! A chart with its words, and how solvers look in all charts.

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

/// Letters of the longest name of a chart; a longer one is cut and gets a hash. A file's name has 255 at most.
const LONGEST: usize = 150;

/// FNV-1a: the same number for the same text, everywhere.
fn hash(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

/// A file name from words that users chose.
fn file_name(kind: &str, what: &str) -> String {
    let word = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c.to_ascii_lowercase() } else { '-' };
    let mut name: String = format!("{kind}-{what}").chars().map(word).collect();
    while name.contains("--") {
        name = name.replace("--", "-");
    }
    let name = name.trim_matches('-');
    match name.len() {
        0..=LONGEST => format!("{name}.svg"),
        // Every character is one byte.
        _ => format!("{}-{:016x}.svg", &name[..LONGEST], hash(&format!("{kind}-{what}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_chart_fits_into_a_file_name() {
        assert_eq!(file_name("scale", "my set / CG"), "scale-my-set-cg.svg");
        let long = |end: &str| file_name("scale", &format!("{}{end}", "a".repeat(300)));
        assert!(long("b").len() < 200 && long("b") != long("c"), "{}", long("b"));
    }
}
