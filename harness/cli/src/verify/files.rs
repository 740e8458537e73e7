//! The files of a run, compared with each other.

use gpbench_runs::{PackFault, PackManifest, PlanFile, RunAudit, RunError, RunRecord};

use super::check::Check;

/// That a packed run is what its manifest states.
pub(crate) fn of_pack(manifest: &PackManifest) -> Check {
    let entries = manifest.entries.len();
    let detail = "each entry with its length and SHA-256 in the manifest".to_owned();
    Check { what: "packed file", checked: entries, of: entries, detail, ..Check::default() }
}

/// That a packed run is not what it states.
pub(crate) fn content_of_pack(fault: &PackFault) -> Check {
    let detail = "nothing else was checked".to_owned();
    Check { what: "packed file", of: 1, detail, differences: vec![fault.to_string()], ..Check::default() }
}

/// That the plan cannot be read, so that nothing can be compared with it.
pub(crate) fn damaged_plan(error: &RunError) -> Check {
    let detail = "nothing else was checked".to_owned();
    Check { what: "files", of: 1, detail, differences: vec![error.to_string()], ..Check::default() }
}

/// The checks of journal, plan and environments.
pub(crate) fn of_run(run: &RunRecord, plan: &PlanFile) -> [Check; 4] {
    let RunAudit { files, cases, rows, ids, unknown_ids } = RunAudit::of(run, plan);
    let lines = run.rows.len() + run.damaged.len();
    let others = match run.unlisted {
        0 => String::new(),
        others => format!("; cases of other shards, which are not here: {others}"),
    };
    let unknown = match unknown_ids {
        0 => String::new(),
        unknown => {
            format!("; other names or neutral paths, so that the hash is unknown: {unknown}")
        }
    };
    [
        Check {
            what: "files",
            checked: run.rows.len(),
            of: lines,
            detail: "lines of the journal, plan and environments with their checksums".to_owned(),
            differences: files,
            ..Check::default()
        },
        Check {
            what: "cases",
            checked: plan.cases.len(),
            of: plan.cases.len(),
            detail: format!("planned cases with rows{others}"),
            differences: cases,
            ..Check::default()
        },
        Check {
            what: "rows",
            checked: run.rows.len(),
            of: run.rows.len(),
            detail: "rows with the planned cases, and their statuses with residuals and targets".to_owned(),
            differences: rows,
            ..Check::default()
        },
        Check {
            what: "ids",
            checked: plan.cases.len() - unknown_ids,
            of: plan.cases.len(),
            detail: format!("ids with the hashes of cases, plugins, data and numerics{unknown}"),
            differences: ids,
            ..Check::default()
        },
    ]
}
