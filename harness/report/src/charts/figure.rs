//! A chart with its words, and the series of all charts.

use gpbench_record::text;

use super::legend::Entry;
use super::series::{Look, Series};
use crate::results::Results;
use crate::slug::slug;

/// A chart with its words.
#[derive(Debug, Clone)]
pub(crate) struct Figure {
    /// File name.
    pub(crate) file: String,
    /// Title.
    pub(crate) title: String,
    /// Caption.
    pub(crate) caption: String,
    /// The drawing.
    pub(crate) svg: String,
    /// The paper to cite for its method.
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

/// A drawn chart; none where the data cannot fill it.
pub(crate) type Drawn = Result<Option<Figure>, Box<dyn std::error::Error>>;

/// A solver, with its colour and marker: the same in every chart, whether or not the others before it have results.
pub(super) fn series(results: &Results<'_>, solver: &str) -> Series {
    let cases = &results.cases;
    let of_spec = cases.axis.iter().position(|other| *other == solver);
    let place = of_spec.or_else(|| cases.solvers().iter().position(|other| *other == solver));
    Series::new(solver, Look::nth(place.unwrap_or_default()))
}

/// A method of several solvers, named after their plugin: it looks like the first of them.
pub(super) fn method(results: &Results<'_>, plugin: &str) -> Series {
    let first = results.cases.solvers().into_iter().find(|solver| {
        results.cases.iter().any(|case| case.solver() == *solver && case.case().solver.plugin == plugin)
    });
    Series::new(plugin, series(results, first.unwrap_or_default()).look)
}

/// The `i`-th of some series that are no solvers: none looks like a solver.
pub(super) fn other(results: &Results<'_>, i: usize, name: &str) -> Series {
    let solvers = results.cases.axis.len().max(results.cases.solvers().len());
    Series::new(name, Look::nth(solvers + i))
}

/// A legend with one entry a solver, of those that `shown` admits.
pub(super) fn solvers(results: &Results<'_>, shown: impl Fn(&str) -> bool) -> Vec<Entry> {
    let names = results.cases.solvers().into_iter().filter(|solver| shown(solver));
    names.map(|solver| Entry::Series(series(results, solver))).collect()
}

/// Largest number of bytes of the words in a file name; a file system takes 255 for the whole.
const LONGEST: usize = 120;

/// A file name from words that users chose.
fn file_name(kind: &str, what: &str) -> String {
    let what = what.get(..what.floor_char_boundary(LONGEST)).unwrap_or(what);
    format!("{}.svg", slug(&format!("{kind}-{what}")))
}
