//! The plan of a run, compared with what its spec means here.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;

use gpbench_record::{Case, Labels, PlannedCase, case_digest};
use gpbench_runs::{PlanFile, RunRecord};
use gpbench_spec::SpecCase;
use serde_json::{Value, json};

use super::check::Check;
use super::here::{Wanted, outside};
use crate::args::{Filter, Global, SpecArgs};
use crate::prepare::{self, Placement};
use crate::spec_files::Reading;

/// Most cases that a sentence names.
const MOST_NAMED: usize = 3;

/// Compares the plan of a run in a folder with the cases of its spec, as this version of gpbench and the plugins that
/// are here resolve it.
pub(crate) fn of_spec(
    global: &Global,
    folder: &Path,
    wanted: &Wanted<'_>,
    run: &RunRecord,
    plan: &PlanFile,
) -> Check {
    let check = Check { what: "spec", of: plan.cases.len(), ..Check::default() };
    if !plan.merged.is_empty() {
        let detail = "a merged run has the spec of its first run alone".to_owned();
        return Check { detail, ..check };
    }
    let cases = match resolved(global, folder, wanted) {
        Ok(cases) => cases,
        Err(why) => return Check { detail: format!("it cannot be resolved here: {why}"), ..check },
    };
    let versions: BTreeSet<&str> = run.environments.iter().map(|known| known.gpbench.as_str()).collect();
    let is_same_version = versions.iter().all(|version| *version == env!("CARGO_PKG_VERSION"));
    let Compared { same, differences, explained } = compare(&cases, plan, is_same_version);
    let not_planned = not_planned(&cases, plan);
    let detail = format!(
        "planned cases with what the spec means here{}{}",
        named("not compared, since gpbench, a plugin or data are others here", &explained),
        named("left out of the plan, as by `-s`, `-d` or `--shard`", &not_planned)
    );
    Check { checked: same + differences.len(), detail, differences, ..check }
}

/// The cases of the spec in a folder, or why they are not known. Its solvers are those of this machine, and data sets
/// that are not here are skipped.
fn resolved(global: &Global, folder: &Path, wanted: &Wanted<'_>) -> Result<Vec<SpecCase>, String> {
    let args = SpecArgs {
        spec: folder.join("spec.toml"),
        sets: Vec::new(),
        libraries: wanted.libraries.to_vec(),
        filter: Filter { solvers: Vec::new(), datasets: Vec::new() },
        skip_missing: true,
        threads: None,
    };
    let first_line = |text: String| {
        let text = text.replace(&format!("{}/", folder.display()), "");
        text.lines().next().unwrap_or_default().to_owned()
    };
    let typed = gpbench_spec::load(&args.spec, &[]).map_err(|error| first_line(error.to_string()))?;
    let (quiet, typed) = (Global { quiet: true, ..global.clone() }, typed.as_foreign());
    if let Some(path) = typed.file_outside().filter(|_| wanted.is_packed) {
        return Err(outside(&path));
    }
    let checked = prepare::check_typed(&quiet, typed, &args, &Placement::default(), Reading::Files);
    checked.map(|checked| checked.plan.cases).map_err(|failure| first_line(failure.text))
}

/// The cases of a plan, compared with those of its spec.
#[derive(Debug, Default, PartialEq, Eq)]
struct Compared {
    /// Cases that both have.
    same: usize,
    /// Cases that the spec does not have, or has otherwise.
    differences: Vec<String>,
    /// Such cases for which another version of gpbench, another plugin or absent data may be the reason.
    explained: Vec<String>,
}

fn compare(cases: &[SpecCase], plan: &PlanFile, is_same_version: bool) -> Compared {
    let digests: HashSet<String> = cases.iter().map(|case| case_digest(&case.case)).collect();
    let by_labels: HashMap<Labels, &SpecCase> = cases.iter().map(|case| (case.case.labels(), case)).collect();
    let mut compared = Compared::default();
    for entry in &plan.cases {
        if digests.contains(&entry.digest()) {
            compared.same += 1;
            continue;
        }
        let meant = by_labels.get(&entry.labels).copied();
        let is_explained = meant.is_some_and(|case| {
            // How the rows of a user's own file are divided depends on the file.
            let lacks_data = case.own_files.is_some() && case.n.is_none();
            lacks_data || case.plugin_sha256 != entry.fingerprint.plugin_sha256
        });
        let list = match is_same_version && !is_explained {
            true => &mut compared.differences,
            false => &mut compared.explained,
        };
        list.push(difference(entry, meant.map(|case| &case.case)));
    }
    compared
}

/// How a planned case differs from what the spec means.
fn difference(entry: &PlannedCase, meant: Option<&Case>) -> String {
    match meant {
        None => format!("{}: its spec has no such case", entry.labels),
        Some(meant) => {
            let fields = differing(&json!(entry.case), &json!(meant), "");
            format!("{}: its spec has it with another {}", entry.labels, fields.join(", "))
        }
    }
}

/// The paths of the fields in which two values differ.
fn differing(one: &Value, other: &Value, path: &str) -> Vec<String> {
    let (Value::Object(a), Value::Object(b)) = (one, other) else {
        return if one == other { Vec::new() } else { vec![path.to_owned()] };
    };
    let keys: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    let at = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    let absent = Value::Null;
    let below = |key: &String| {
        let [one, other] = [a, b].map(|of| of.get(key).unwrap_or(&absent));
        differing(one, other, &at(key))
    };
    keys.into_iter().flat_map(below).collect()
}

/// The cases of the spec that neither the plan nor the other shards of it have.
fn not_planned(cases: &[SpecCase], plan: &PlanFile) -> Vec<String> {
    let own = plan.cases.iter().map(PlannedCase::digest);
    let others = plan.part.iter().flat_map(|part| part.others.iter().cloned());
    let planned: HashSet<String> = own.chain(others).collect();
    let absent = cases.iter().filter(|case| !planned.contains(&case_digest(&case.case)));
    // A case that is planned otherwise is named as such.
    let labels: HashSet<&Labels> = plan.cases.iter().map(|entry| &entry.labels).collect();
    let absent = absent.map(|case| case.case.labels()).filter(|absent| !labels.contains(absent));
    absent.map(|labels| labels.to_string()).collect()
}

/// A clause that counts and names texts; empty where there are none.
fn named(what: &str, texts: &[String]) -> String {
    let more = match texts.len().saturating_sub(MOST_NAMED) {
        _ if texts.is_empty() => return String::new(),
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    let first = texts.iter().take(MOST_NAMED).cloned().collect::<Vec<_>>().join(", ");
    format!("; {what} ({}): {first}{more}", texts.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_that_differ_are_named_by_their_paths() {
        let case = json!({ "budget": { "tolerance": 0.01 }, "solver": { "params": { "rank": 1 } } });
        let other =
            json!({ "budget": { "tolerance": 0.1 }, "solver": { "params": { "rank": 1, "block": 2 } } });
        assert_eq!(differing(&case, &other, ""), ["budget.tolerance", "solver.params.block"]);
        assert_eq!(differing(&case, &case, ""), [""; 0]);
    }

    #[test]
    fn lists_are_cut() {
        let texts = |count: usize| (0..count).map(|number| number.to_string()).collect::<Vec<_>>();
        assert_eq!(named("x", &texts(0)), "");
        assert_eq!(named("x", &texts(2)), "; x (2): 0, 1");
        assert_eq!(named("x", &texts(5)), "; x (5): 0, 1, 2, and 2 more");
    }
}
