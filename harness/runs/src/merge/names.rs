//! Names of cases of different plans and contents: where a name stands for something else than in earlier cases, it gets a
//! number.

use std::collections::{BTreeMap, BTreeSet};

use gpbench_record::{Axes, Case, PlannedCase};

use super::meaning::{Meanings, Specified, of_datasets, of_solvers};
use crate::contents::{NameKind, OtherContent};

/// New names of data sets and solvers of a plan.
#[derive(Debug)]
pub(super) struct NewNames {
    datasets: Renamed,
    solvers: Renamed,
}

impl NewNames {
    /// The names that the cases of a plan need beside `earlier` ones. Where the parameters or the budget of a solver
    /// `cg` are others, it is `cg [2]`; where the systems are others, the data set `pol` is `pol [2]`. So is a name whose
    /// content is another: of the data, or of the plugin's library. A plan may have another number where `[2]` stands for
    /// something else too. Plans with other seeds or other data sets are told apart as well.
    pub(super) fn of<'a>(own: &[Specified<'a>], earlier: &[Specified<'a>]) -> Self {
        let datasets = Renamed::new(NameKind::Dataset, own, &of_datasets(own), &of_datasets(earlier));
        let (own_meaning, earlier) = (
            of_solvers(own, |entry| datasets.of(entry)),
            of_solvers(earlier, |entry| entry.case.dataset.name.as_str()),
        );
        Self { solvers: Renamed::new(NameKind::Solver, own, &own_meaning, &earlier), datasets }
    }

    /// A case under its new names. The points of a grid that has to be renamed are no longer a grid.
    pub(super) fn rename(&self, entry: &PlannedCase) -> Case {
        let mut case = entry.case.clone();
        case.dataset.name = self.datasets.of(entry).to_owned();
        let solver = self.solvers.of(entry);
        if solver != case.solver.name {
            case.solver.name = solver.to_owned();
            case.solver.grid = None;
        }
        case
    }

    /// The names of the axes of a run with these cases, with the new ones in the place of the old.
    pub(super) fn axes(&self, axes: &Axes, cases: &[PlannedCase]) -> Axes {
        Axes {
            dataset: self.datasets.axis(&axes.dataset, cases),
            solver: self.solvers.axis(&axes.solver, cases),
            ..axes.clone()
        }
    }

    /// The names whose content alone differs from that of others: those found here, and those that an earlier merge found.
    pub(super) fn other_contents(&self, known: &[OtherContent]) -> Vec<OtherContent> {
        let renamed = |known: &OtherContent| {
            let names = match known.kind {
                NameKind::Dataset => &self.datasets,
                NameKind::Solver => &self.solvers,
            };
            let of = |name: &str, content: &str| names.named(name, Some(content)).unwrap_or(name).to_owned();
            OtherContent {
                name: of(&known.name, &known.sha256),
                beside: of(&known.beside, &known.beside_sha256),
                ..known.clone()
            }
        };
        let known = known.iter().map(renamed);
        self.datasets.others.iter().chain(&self.solvers.others).cloned().chain(known).collect()
    }
}

/// A name in a plan, and the content that it stands for.
type Content<'a> = (&'a str, Option<&'a str>);

/// New names of one kind.
#[derive(Debug)]
struct Renamed {
    kind: NameKind,
    /// The new name of each name and content, where it has one.
    new: BTreeMap<(String, Option<String>), String>,
    /// Those whose content alone differs.
    others: Vec<OtherContent>,
}

impl Renamed {
    /// The names of those cases that stand for something else in earlier ones. Equal names of one plan differ in nothing
    /// but their content.
    fn new(kind: NameKind, own: &[Specified<'_>], meanings: &Meanings, earlier: &Meanings) -> Self {
        let mut renamed = Self { kind, new: BTreeMap::new(), others: Vec::new() };
        let mut given: BTreeMap<String, Option<&str>> = BTreeMap::new();
        let mut seen: BTreeSet<Content<'_>> = BTreeSet::new();
        for (entry, _) in own {
            let (name, content) = (kind.name(entry), kind.content(entry));
            if !seen.insert((name, content)) {
                continue;
            }
            let differs = |other: Option<&str>| content.zip(other).is_some_and(|(own, other)| own != other);
            let mut beside = None;
            let mut is_free = |candidate: &String| {
                let other = earlier.get(candidate);
                if other.is_some_and(|other| !other.agrees_with(&meanings[name])) {
                    return false;
                }
                let known = other.and_then(|other| other.content());
                let taken = [known, given.get(candidate).copied().flatten()]
                    .into_iter()
                    .find(|known| differs(*known));
                if let Some(Some(content)) = taken {
                    beside.get_or_insert((candidate.clone(), content.to_owned()));
                }
                taken.is_none()
            };
            let numbered = (2..).map(|number| format!("{name} [{number}]"));
            let numbered = numbered.filter(|name| !meanings.contains_key(name));
            let mut candidates = [name.to_owned()].into_iter().chain(numbered);
            let Some(new) = candidates.find(|candidate| is_free(candidate)) else { continue };
            if let (Some((beside, beside_sha256)), Some(content)) = (beside, content) {
                let (name, sha256) = (new.clone(), content.to_owned());
                renamed.others.push(OtherContent {
                    kind,
                    name,
                    sha256,
                    beside,
                    beside_sha256,
                    runs: Vec::new(),
                });
            }
            let known = given.entry(new.clone()).or_default();
            *known = known.or(content);
            if new != name {
                renamed.new.insert((name.to_owned(), content.map(str::to_owned)), new);
            }
        }
        renamed
    }

    fn named(&self, name: &str, content: Option<&str>) -> Option<&str> {
        self.new.get(&(name.to_owned(), content.map(str::to_owned))).map(String::as_str)
    }

    /// The name of a case.
    fn of<'n>(&'n self, entry: &'n PlannedCase) -> &'n str {
        let name = self.kind.name(entry);
        self.named(name, self.kind.content(entry)).unwrap_or(name)
    }

    /// The names on an axis of a run with these cases.
    fn axis(&self, axis: &[String], cases: &[PlannedCase]) -> Vec<String> {
        let mut contents: BTreeMap<&str, BTreeSet<Option<&str>>> = BTreeMap::new();
        for entry in cases {
            contents.entry(self.kind.name(entry)).or_default().insert(self.kind.content(entry));
        }
        let names = axis.iter().flat_map(|name| {
            let contents = contents.get(name.as_str()).cloned().unwrap_or_else(|| [None].into());
            let names: BTreeSet<&str> =
                contents.into_iter().map(|content| self.named(name, content).unwrap_or(name)).collect();
            names.into_iter().map(str::to_owned)
        });
        names.collect()
    }
}
