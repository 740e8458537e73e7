//! The data sets and plugins of a run, compared with those that are here.

use std::collections::{BTreeMap, BTreeSet};

use gpbench_record::PlannedCase;
use gpbench_runs::short_sha256;

use super::check::Check;
use super::here::{DataHere, Here};

/// The data sets of a run by their content.
pub(crate) fn data_sets(here: &Here<'_>, cases: &[PlannedCase]) -> Check {
    let mut planned: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for PlannedCase { case, fingerprint, .. } in cases {
        planned.entry(&case.dataset.name).or_default().extend(fingerprint.dataset_sha256.as_deref());
    }
    let (mut checked, mut drawn, mut absent, mut differences) = (0, 0, Vec::new(), Vec::new());
    for (name, data) in here.data() {
        let contents = &planned[name.as_str()];
        match data {
            DataHere::Drawn => drawn += 1,
            DataHere::Absent(why) => absent.push(format!("not checked: {why}")),
            // Skipped cases have none.
            DataHere::Copy(_) if contents.is_empty() => absent.push(format!("the run did not read `{name}`")),
            DataHere::Copy(copy) => {
                checked += 1;
                for content in contents.iter().filter(|content| **content != copy.sha256.as_str()) {
                    differences.push(format!(
                        "`{name}` has another content here: SHA-256 of its copy {}, and {} in the run",
                        short_sha256(copy.sha256.as_str()),
                        short_sha256(content)
                    ));
                }
            }
        }
    }
    let drawn = match drawn {
        0 => String::new(),
        drawn => format!("; drawn from seeds, without a content: {drawn}"),
    };
    let absent = absent.iter().map(|text| format!("; {text}")).collect::<String>();
    let detail = format!("content with that of the data sets here{drawn}{absent}");
    Check { what: "data sets", checked, of: here.data().len(), detail, differences, ..Check::default() }
}

/// The plugins of a run by their identity. Another build is no contradiction: it says that cases ran with other
/// programs.
pub(crate) fn plugins(here: &Here<'_>, cases: &[PlannedCase]) -> Check {
    let (mut same, mut others, mut absent) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for entry in cases {
        let id = entry.case.solver.plugin.as_str();
        match here.library(entry) {
            None => absent.insert(id),
            Some(library) if library.sha256 == entry.fingerprint.plugin_sha256 => same.insert(id),
            Some(_) => others.insert(id),
        };
    }
    let listed = |names: &BTreeSet<&str>, what: &str| match names.is_empty() {
        true => String::new(),
        false => format!("; {what}: {}", names.iter().copied().collect::<Vec<_>>().join(", ")),
    };
    let of = same.union(&others).chain(&absent).collect::<BTreeSet<_>>().len();
    let (others, absent) = (listed(&others, "here in another build"), listed(&absent, "not here"));
    let detail = format!("identity with that of the plugins here{others}{absent}");
    Check { what: "plugins", checked: same.len(), of, detail, ..Check::default() }
}
