//! The second stage: a spec with every name resolved.
//!
//! Names are looked up, and each cell of the product of the axes becomes a [`gpbench_record::Case`] with nothing left
//! to decide.

use std::collections::{BTreeMap, HashSet};

use gpbench_record::{Axes as Names, ReportOptions, TaskKind};
use sha2::{Digest, Sha256};

use crate::axes::Axes;
use crate::catalog::Catalog;
use crate::error::{Mistakes, SpecErrors};
use crate::exclude;
use crate::product;
use crate::report;
use crate::source::{At, START};
use crate::spec_case::SpecCase;
use crate::tables::root::Root;
use crate::target;
use crate::task_keys::TaskKey;
use crate::tasks::rules::Rules;
use crate::typed::Typed;

/// A spec without mistakes: every cell of its matrix resolved.
#[derive(Debug, Clone)]
pub struct Checked {
    pub(crate) name: String,
    pub(crate) task: TaskKind,
    pub(crate) threads: Option<usize>,
    pub(crate) repeats: u32,
    pub(crate) order_seed: u64,
    pub(crate) axes: Names,
    pub(crate) report: ReportOptions,
    pub(crate) sources: BTreeMap<String, String>,
    /// The cases, as their first repeats.
    pub(crate) cases: Vec<SpecCase>,
}

impl Checked {
    /// The spec's name.
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// Looks up every name of a spec of one task, and takes the product of the axes.
pub(crate) fn check<'a, R: Rules<'a>>(typed: &'a Typed, catalog: &'a Catalog) -> Result<Checked, SpecErrors> {
    let root = &typed.root;
    let mut mistakes = typed.mistakes.clone();
    let name = spec_name(root, &mut mistakes);
    let seeds = seeds(root, &mut mistakes);
    R::KEYS.check(TaskKey::Train, root.train.at.as_ref(), &mut mistakes);
    R::KEYS.check(TaskKey::Likelihood, root.likelihood.at.as_ref(), &mut mistakes);
    R::KEYS.check(TaskKey::Learn, root.learn.at.as_ref(), &mut mistakes);
    R::KEYS.check(TaskKey::Thompson, root.thompson.at.as_ref(), &mut mistakes);
    let rules = R::new(typed, catalog, &mut mistakes);
    let axes = Axes::resolve(typed, catalog, R::KEYS, R::ESTIMATORS, &mut mistakes);
    rules.check_axes(&axes, &mut mistakes);
    let report = report::resolve(typed, catalog, R::KEYS.task, &axes.names, &mut mistakes);
    let target = target::resolve(typed, R::KEYS.task, &axes.names, &mut mistakes);
    let stop_at = target.as_ref().filter(|(_, stop)| *stop).map(|(target, _)| target.clone());
    let report = ReportOptions { target: target.map(|(target, _)| target), ..report };
    let excludes = exclude::resolve(typed, &axes, &seeds, &mut mistakes);
    let repeats = root.repeats.value;
    let cases = match product::is_bounded(&axes, seeds.len(), repeats, &mut mistakes) {
        true => product::cells(typed, &rules, &axes, &seeds, &excludes, stop_at.as_ref(), &mut mistakes),
        false => Vec::new(),
    };
    if !mistakes.is_empty() {
        return Err(mistakes.into_errors(&typed.sources));
    }
    let order_seed = root.order_seed.as_ref().map_or_else(|| hash(&name), |seed| seed.value as u64);
    let threads = root.threads.as_ref().map(|threads| threads.value);
    let sources = axes.solvers.iter().filter_map(|solver| solver.source()).collect();
    Ok(Checked {
        name,
        task: R::KEYS.task,
        threads,
        repeats,
        order_seed,
        axes: axes.names,
        report,
        sources,
        cases,
    })
}

/// The mistakes of a spec whose task is missing or unknown, which is one of them. What many keys mean depends on the task:
/// checked for another, right keys would be reported.
pub(crate) fn check_without_task(typed: &Typed, catalog: &Catalog) -> SpecErrors {
    let mut mistakes = typed.mistakes.clone();
    spec_name(&typed.root, &mut mistakes);
    seeds(&typed.root, &mut mistakes);
    Axes::check_names(typed, catalog, &mut mistakes);
    mistakes.into_errors(&typed.sources)
}

/// Length of the longest folder name on common file systems.
const LONGEST_NAME: usize = 255;

/// The spec's name, checked: it becomes a folder under the output directory.
fn spec_name(root: &Root, mistakes: &mut Mistakes) -> String {
    let Some(name) = &root.name else { return String::new() };
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let text = &name.value;
    if text.is_empty() || text.starts_with('.') || !text.chars().all(fits) {
        let hint = "use letters, digits, `-`, `_` and `.`".to_owned();
        mistakes.add(&name.at, format!("`{text}` cannot name a run's folder"), hint);
    } else if text.len() > LONGEST_NAME {
        let what = format!("`name` has {} letters, more than a folder's name can have", text.len());
        mistakes.add(&name.at, what, format!("use at most {LONGEST_NAME}"));
    } else if text == "latest" {
        mistakes.add(&name.at, "`latest` is reserved: it stands for the newest run", None);
    } else if text == "published" {
        mistakes.add(&name.at, "`published` is reserved: it is the folder of published runs", None);
    }
    text.clone()
}

/// The distinct seeds; 0 if the spec gives none.
fn seeds(root: &Root, mistakes: &mut Mistakes) -> Vec<At<u64>> {
    let Some(typed) = &root.seeds else {
        return vec![At { value: 0, at: START }];
    };
    if typed.value.is_empty() {
        mistakes.add(&typed.at, "`seeds` is empty", "give at least one, as in seeds = [0]".to_owned());
    }
    let mut seen = HashSet::new();
    let mut seeds = Vec::new();
    for seed in &typed.value {
        if seen.insert(seed.value) {
            seeds.push(seed.clone());
        } else if !mistakes.is_reported(&seed.at) {
            let hint = "to time a case several times, set `repeats`".to_owned();
            mistakes.add(&seed.at, format!("seed {} occurs twice", seed.value), hint);
        }
    }
    seeds
}

/// The first 64 bits of the text's SHA-256.
fn hash(text: &str) -> u64 {
    let digest = Sha256::digest(text.as_bytes());
    u64::from_le_bytes(digest[..8].try_into().expect("a SHA-256 has 32 bytes"))
}
