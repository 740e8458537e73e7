//! Names of solvers and data sets in runs of several plans.

use std::fs;
use std::path::PathBuf;

use gpbench_record::{Case, CaseStatus, ParamValue, PartOfPlan, PlannedCase, Task, case_digest, plan_digest};
use gpbench_runs::PlanFile;

use crate::merge::{merged, run};
use crate::record::plan;

/// A plan of one case of solver `cg`, with an id of its own.
fn one(id: &str, change: impl FnOnce(&mut Case)) -> PlanFile {
    let mut plan = plan(&["cg"]);
    let entry = &mut plan.cases[0];
    change(&mut entry.case);
    (entry.id, entry.labels) = (id.into(), entry.case.labels());
    let Case { dataset, solver, .. } = &entry.case;
    plan.axes.dataset = vec![dataset.name.clone()];
    plan.axes.solver = vec![solver.name.clone()];
    plan
}

fn with_rank(case: &mut Case, rank: i64) {
    case.solver.params.insert("rank".into(), ParamValue::Int(rank));
}

fn on_another_set(case: &mut Case) {
    case.dataset.name = "other".into();
    case.dataset.split = 7;
}

/// The names of data sets and solvers of plans of one case each, merged.
fn names(plans: &[PlanFile]) -> Vec<(String, String)> {
    let output = tempfile::tempdir().unwrap();
    let run = |plan: &PlanFile| run(output.path(), plan, &[(plan.cases[0].id.as_str(), CaseStatus::Ok)]);
    let runs: Vec<PathBuf> = plans.iter().map(run).collect();
    let (_, record) = merged(output.path(), &runs.iter().collect::<Vec<_>>());
    let of_plan = |plan: &PlanFile| {
        let row = record.rows.iter().find(|row| row.id == plan.cases[0].id).unwrap();
        (row.labels.dataset.clone(), row.labels.solver.clone())
    };
    plans.iter().map(of_plan).collect()
}

#[test]
fn plans_without_a_common_case_are_told_apart_too() {
    let first = one("first", |case| with_rank(case, 10));
    let at_seed = |id: &str, change: fn(&mut Case)| {
        one(id, |case| {
            (case.seed, case.dataset.split) = (1, 1);
            change(case);
        })
    };
    let same = at_seed("same", |case| with_rank(case, 10));
    let ranked = at_seed("ranked", |case| with_rank(case, 20));
    let budget = one("budget", |case| {
        on_another_set(case);
        with_rank(case, 10);
        case.budget.max_epochs = Some(7.0);
    });
    let elsewhere = one("elsewhere", |case| {
        on_another_set(case);
        with_rank(case, 20);
    });
    let noisy = at_seed("noisy", |case| {
        with_rank(case, 10);
        case.kernel.noise_scale *= 2.0;
    });
    let probes = at_seed("probes", |case| {
        case.solver.name = "sdd".into();
        let Task::Posterior(posterior) = &mut case.task else { panic!() };
        posterior.targets.probes += 1;
    });
    let found = names(&[first, same, ranked, budget, elsewhere, noisy, probes]);
    let expected = [
        ("draw", "cg"),
        ("draw", "cg"),
        ("draw", "cg [2]"),
        ("other", "cg [3]"),
        // The solver of the third plan has a name.
        ("other", "cg [2]"),
        ("draw [2]", "cg"),
        ("draw [3]", "sdd"),
    ];
    assert_eq!(found, expected.map(|(dataset, solver)| (dataset.to_owned(), solver.to_owned())));
}

#[test]
fn a_parameter_by_data_set_may_differ_between_data_sets() {
    let output = tempfile::tempdir().unwrap();
    let here = run(output.path(), &one("here", |case| with_rank(case, 10)), &[("here", CaseStatus::Ok)]);
    let there = one("there", |case| {
        on_another_set(case);
        with_rank(case, 20);
    });
    let there = run(output.path(), &there, &[("there", CaseStatus::Ok)]);
    let solvers = |runs: &[&PathBuf]| merged(output.path(), runs).1.axes.solver;
    assert_eq!(solvers(&[&here, &there]), ["cg", "cg [2]"]);
    for run in [&here, &there] {
        fs::write(run.join("spec.toml"), "[solver.cg.params]\nrank = { draw = 10, other = 20 }\n").unwrap();
    }
    assert_eq!(solvers(&[&here, &there]), ["cg"]);
}

#[test]
fn cases_under_new_names_are_known_in_later_merges() {
    let output = tempfile::tempdir().unwrap();
    let output = output.path();
    let ranked = one("ranked", |case| with_rank(case, 20));
    let digest = plan_digest(ranked.cases.iter().chain(&plan(&["d"]).cases).map(|entry| &entry.case));
    let part = |other: &PlannedCase| {
        Some(PartOfPlan { shard: None, plan: digest.clone(), others: vec![case_digest(&other.case)] })
    };
    let first = run(output, &one("plain", |_| ()), &[("plain", CaseStatus::Ok)]);
    let second = PlanFile { part: part(&plan(&["d"]).cases[0]), ..ranked.clone() };
    let second = run(output, &second, &[("ranked", CaseStatus::Ok)]);
    let third = PlanFile { part: part(&ranked.cases[0]), ..plan(&["d"]) };
    let third = run(output, &third, &[("d", CaseStatus::Ok)]);
    let (two, record) = merged(output, &[&first, &second]);
    assert_eq!((two.missing, record.axes.solver), (1, vec!["cg".to_owned(), "cg [2]".to_owned()]));
    assert_eq!(merged(output, &[&two.folder, &third]).0.missing, 0);
    assert_eq!(merged(output, &[&two.folder, &second]).1.rows.len(), 2);
}
