//! Seconds: slower, not slower, or undecided, which fails.

use gpbench_record::{CaseStatus, Environment};
use gpbench_report::baseline::{
    Baseline, BaselineSession, Check, CheckOutcome, SecondsAsked, against, check, check_seconds,
    extended_history, update, update_with_seconds,
};
use gpbench_report::{Frame, Run, bmf, step_summary};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde_json::json;

use crate::timed::{QUIET, once_more, slow_down, timed, timed_as};

fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// Two timings of one program.
fn pair(run: &Run, seed: u64) -> (Run, Run) {
    let mut rng = rng(seed);
    (once_more(run, QUIET, &mut rng), once_more(run, QUIET, &mut rng))
}

fn read(text: &str) -> Result<Baseline, String> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("baseline.toml");
    std::fs::write(&path, text).unwrap();
    Baseline::read(&path).map_err(|error| error.to_string())
}

fn count(check: &Check, outcome: CheckOutcome) -> usize {
    check.findings.iter().filter(|found| found.outcome == outcome).count()
}

/// Asserts that nothing but `undecided` groups fails, and that the check passes where they are allowed.
#[track_caller]
fn is_undecided(mut check: Check, undecided: usize, remark: &str, detail: &str) {
    assert_eq!((check.failing(), check.undecided(), check.exit_code()), (undecided, undecided, 3));
    assert!(
        remark.is_empty() || check.remarks.iter().any(|text| text.starts_with(remark)),
        "{:?}",
        check.remarks
    );
    assert!(check.findings.iter().any(|found| found.detail == detail), "{:?}", check.findings);
    assert!(check.count().contains(&format!("({undecided} undecided)")), "{}", check.count());
    assert!(step_summary("gpbench check a.toml", &check).contains(": undecided\n"));
    check.allow_undecided = true;
    assert_eq!((check.failing(), check.exit_code()), (0, 0));
}

#[test]
fn three_repeats_of_two_seeds_decide_for_two_solvers() {
    // 400 orders are enough for two groups of 1 in 200, of which floats once said otherwise.
    let mut run = timed_as(2, 3);
    run.record.rows.retain(|row| row.labels.dataset == "pol" && ["cg", "ap"].contains(&&*row.labels.solver));
    let (old, mut new) = pair(&run, 1);
    let same = against(&new, &old).unwrap();
    assert_eq!((same.exit_code(), same.remarks), (0, Vec::new()));
    slow_down(&mut new, "pol", "cg", 2.0);
    let slower = against(&new, &old).unwrap();
    assert_eq!((count(&slower, CheckOutcome::Regressed), slower.exit_code()), (1, 3));
}

#[test]
fn too_few_repeats_are_undecided_and_the_advice_is_enough() {
    let (old, new) = pair(&timed_as(2, 3), 2);
    let remark = "seconds of 8 of 8 solvers are undecided: 3 repeats of 2 seeds cannot tell a change from chance; \
                  set `repeats = 4`";
    is_undecided(against(&new, &old).unwrap(), 8, remark, "too few repeats");
    let (old, new) = pair(&timed_as(2, 4), 2);
    assert_eq!(against(&new, &old).unwrap().exit_code(), 0);
}

#[test]
fn the_side_with_too_few_repeats_is_named() {
    let (old, new) =
        (once_more(&timed_as(2, 3), QUIET, &mut rng(2)), once_more(&timed_as(2, 4), QUIET, &mut rng(3)));
    let remark = "seconds of 8 of 8 solvers are undecided: 3 repeats of 2 seeds cannot tell a change from chance; \
                  record the earlier times anew with `repeats = 4`";
    is_undecided(against(&new, &old).unwrap(), 8, remark, "too few repeats");
    let (old, new) = (new, old);
    let remark = "seconds of 8 of 8 solvers are undecided: 3 repeats of 2 seeds cannot tell a change from chance; \
                  set `repeats = 4`";
    is_undecided(against(&new, &old).unwrap(), 8, remark, "too few repeats");
}

#[test]
fn many_undecided_solvers_are_one_row() {
    let (old, new) = pair(&timed_as(1, 1), 2);
    let check = against(&new, &old).unwrap();
    let table = check.table();
    assert_eq!((check.failing(), table.rows.len()), (8, 1));
    let text = table.text();
    assert!(text.contains("8 solvers on problems") && text.contains("too few repeats"), "{text}");
    assert_eq!(check.json()["verdicts"].as_array().map(Vec::len), Some(8));
}

#[test]
fn files_of_earlier_versions_hold_no_seconds() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../ci/baselines/regression.toml");
    let old = Baseline::read(file).unwrap();
    assert_eq!((old.cases.len(), old.sessions.len()), (8, 0));
}

#[test]
fn a_tenfold_slowdown_never_passes() {
    let mut rng = rng(3);
    for solvers in [&["cg"][..], &["cg", "ap"], &["cholesky", "cg", "ap", "sgd"]] {
        let mut run = timed_as(2, 3);
        run.record.rows.retain(|row| solvers.contains(&&*row.labels.solver));
        for round in 0..200 {
            let (mut old, mut new) = (once_more(&run, QUIET, &mut rng), once_more(&run, QUIET, &mut rng));
            slow_down(&mut new, "pol", "cg", 10.0);
            if round % 10 == 0 {
                hold_up(&mut old, "cg");
            }
            let check = against(&new, &old).unwrap();
            assert_eq!(check.exit_code(), 3, "{:?}", check.findings);
        }
    }
}

/// Makes the first time of a solver thirty times as long.
fn hold_up(run: &mut Run, solver: &str) {
    let row = run.record.rows.iter_mut().find(|row| row.labels.solver == solver).unwrap();
    let seconds = row.metrics.get("seconds").unwrap();
    row.metrics.insert("seconds", 30.0 * seconds);
}

#[test]
fn an_outlier_does_not_make_a_tenfold_slowdown_pass() {
    // Two groups are decided by ranks, but one old time exceeds all new ones.
    let mut run = timed_as(2, 3);
    run.record.rows.retain(|row| row.labels.dataset == "pol" && ["cg", "ap"].contains(&&*row.labels.solver));
    let (mut old, mut new) = pair(&run, 4);
    slow_down(&mut new, "pol", "cg", 10.0);
    hold_up(&mut old, "cg");
    let check = against(&new, &old).unwrap();
    assert_eq!((check.exit_code(), check.failing(), check.undecided()), (3, 1, 1), "{:?}", check.findings);
    assert!(check.findings[0].detail.contains("though ranks do not rule out chance"), "{:?}", check.findings);
}

#[test]
fn other_machines_and_other_programs_leave_seconds_undecided() {
    let (old, new) = pair(&timed(), 5);
    let with = |change: fn(&mut Environment)| {
        let mut new = new.clone();
        change(new.record.environments.first_mut().unwrap());
        against(&new, &old).unwrap()
    };
    let elsewhere = "another machine";
    type Change = fn(&mut Environment);
    let changes: [(Change, &str); 3] = [
        (|e| e.cpu = "Another CPU".to_owned(), "seconds are undecided: they are of different machines"),
        (|e| e.threads += 1, "seconds are undecided: they are of different machines"),
        (|e| e.blas_core = "Haswell".to_owned(), "seconds are undecided: they used different instructions"),
    ];
    for (change, remark) in changes {
        is_undecided(with(change), 8, remark, elsewhere);
    }
    let mut unknown = new.clone();
    unknown.record.environments.clear();
    let remark = "seconds are undecided: a run does not name its machine";
    is_undecided(against(&unknown, &old).unwrap(), 8, remark, elsewhere);
    let remark = "seconds are undecided: other programs used 30 % of the processors";
    is_undecided(with(|e| e.other_load = Some(0.3)), 8, remark, "beside other programs");
    let remark = "seconds are undecided: what other programs used of the processors is not known";
    is_undecided(with(|e| e.other_load = None), 8, remark, "unknown load of other programs");
    // Load explains a doubling, not more.
    let mut slow = new.clone();
    slow.record.environments[0].other_load = Some(0.3);
    slow_down(&mut slow, "pol", "cg", 10.0);
    let check = against(&slow, &old).unwrap();
    assert_eq!((count(&check, CheckOutcome::Regressed), check.undecided()), (1, 7));
}

#[test]
fn a_repeat_without_a_time_leaves_its_solver_undecided() {
    let (old, new) = pair(&timed(), 6);
    let mut stopped = new.clone();
    stopped.record.rows.iter_mut().for_each(|row| row.reproducible = false);
    is_undecided(against(&stopped, &old).unwrap(), 8, "", "a time limit ended a repeat");
    // What a clock stopped in both runs measures nothing.
    let mut both = old.clone();
    both.record.rows.iter_mut().for_each(|row| row.reproducible = false);
    assert_eq!(against(&stopped, &both).unwrap().exit_code(), 0);

    let mut failed = new;
    failed.record.rows[0].status = CaseStatus::Crashed;
    let check = against(&failed, &old).unwrap();
    assert_eq!((count(&check, CheckOutcome::NewlyFailed), check.undecided(), check.exit_code()), (1, 1, 3));
    assert!(check.findings.iter().any(|found| found.detail == "a repeat failed"), "{:?}", check.findings);
}

#[test]
fn times_of_one_measurement_are_not_slower() {
    let run = timed_as(1, 1);
    let check = against(&run, &run.clone()).unwrap();
    assert_eq!((check.exit_code(), check.remarks), (0, Vec::new()));
}

#[test]
fn a_baseline_without_seconds_says_so_once_and_is_undecided_on_request() {
    let run = timed();
    let bare = read(&update(&run, None).unwrap()).unwrap();
    let quiet = check(&run, &bare).unwrap();
    let said = "the baseline holds no seconds, so none were compared; `gpbench check --update --with-seconds` records them";
    assert_eq!((quiet.exit_code(), quiet.remarks), (0, vec![said.to_owned()]));
    let asked = SecondsAsked { required: true, history: &[] };
    let check = check_seconds(&run, &bare, &asked).unwrap();
    is_undecided(
        check,
        8,
        "seconds of 8 solvers are undecided: no earlier session has them",
        "no earlier seconds",
    );
}

#[test]
fn a_baseline_holds_seconds_with_repeats_machine_and_session() {
    let (old, mut new) = pair(&timed(), 7);
    let text = update_with_seconds(&old, None).unwrap();
    let baseline = read(&text).unwrap();
    let [session] = &baseline.sessions[..] else { panic!("{} sessions", baseline.sessions.len()) };
    assert!(session.id.contains('/'), "{}", session.id);
    assert_eq!(
        (session.machine.cpu.as_str(), session.machine.threads, session.cases.len()),
        ("Example CPU", 2, 24)
    );
    assert!(session.cases.iter().all(|case| case.repeats.len() == 5 && case.repeats.contains(&case.median)));
    assert!(text.contains("\ncase = [\n  { dataset = \"bike\", kernel = "), "{text}");
    assert_eq!(update_with_seconds(&old, Some(&baseline)).unwrap(), text);

    let same = check(&new, &baseline).unwrap();
    assert_eq!((same.exit_code(), same.remarks), (0, Vec::new()));
    // Sessions differ: a tenth more is no regression, half as much again is one.
    slow_down(&mut new, "pol", "cg", 1.15);
    assert_eq!(check(&new, &baseline).unwrap().exit_code(), 0);
    slow_down(&mut new, "pol", "cg", 1.4);
    let slower = check(&new, &baseline).unwrap();
    assert_eq!((slower.failing(), slower.exit_code()), (1, 3));
    let found = &slower.findings[0];
    assert_eq!((found.outcome, found.metric.as_deref()), (CheckOutcome::Regressed, Some("seconds")));
    assert!((found.limit.unwrap() / found.baseline.unwrap() - 1.25).abs() < 1e-9);
    // The file may state another tolerance.
    let wide = text.replace("[tolerance]\n", "[tolerance]\nseconds = { relative = 1.0 }\n");
    assert_eq!(check(&new, &read(&wide).unwrap()).unwrap().exit_code(), 0);
}

#[test]
fn seconds_that_cannot_be_meant_are_refused() {
    let text = update_with_seconds(&timed(), None).unwrap();
    for (old, new, said) in [
        ("repeats = [", "repeats = [-1.0, ", "must be positive numbers"),
        ("repeats = [", "repeats = [inf, ", "must be positive numbers"),
        ("median = ", "mean = ", "unknown key `mean`"),
        ("cpu = ", "cpus = ", "unknown key `cpus`; did you mean `cpu`?"),
    ] {
        let error = read(&text.replacen(old, new, 1)).unwrap_err();
        assert!(error.contains(said), "{error}");
    }
    let line = text.lines().find(|line| line.starts_with("  { dataset")).unwrap();
    let error = read(&text.replacen(line, &format!("{line}\n{line}"), 1)).unwrap_err();
    assert!(error.contains("is listed twice"), "{error}");
}

/// Sessions whose times share an effect, and the history that they leave.
fn sessions(effects: &[f64], history: &mut Vec<BaselineSession>) -> Run {
    let mut rng = rng(8);
    let mut last = timed();
    for (number, effect) in effects.iter().enumerate() {
        last = once_more(&timed(), QUIET, &mut rng);
        last.record.folder.set_file_name(format!("session{number}"));
        for row in &mut last.record.rows {
            let seconds = row.metrics.get("seconds").unwrap();
            row.metrics.insert("seconds", effect * seconds);
        }
        let extended = extended_history(history, &last, None).unwrap();
        *history = read(&extended.text.unwrap()).unwrap().sessions;
    }
    last
}

#[test]
fn five_sessions_give_a_limit() {
    let mut history = Vec::new();
    let run = sessions(&[1.0, 1.1, 0.9, 1.1, 0.9], &mut history);
    let bare = read(&update(&run, None).unwrap()).unwrap();
    let against_history = |run: &Run, history: &[BaselineSession]| {
        check_seconds(run, &bare, &SecondsAsked { required: true, history }).unwrap()
    };
    let mut new = once_more(&timed(), QUIET, &mut rng(9));
    // Four sessions: the newest ones count, with the tolerance of another session.
    let few = against_history(&new, &history[..4]);
    assert!(few.remarks[0].starts_with("the history has 4 of the 5 sessions"), "{:?}", few.remarks);
    let check = against_history(&new, &history);
    assert_eq!(check.exit_code(), 0, "{:?}", check.findings);
    assert!(
        check.remarks[0].starts_with("seconds of 8 of 8 solvers are compared with earlier sessions"),
        "{:?}",
        check.remarks
    );
    // Larger than the session effect of a tenth by far.
    slow_down(&mut new, "pol", "cg", 2.0);
    let slower = against_history(&new, &history);
    assert_eq!((count(&slower, CheckOutcome::Regressed), slower.exit_code()), (1, 3));
    assert!(slower.findings[0].detail.contains("of 5 sessions"), "{:?}", slower.findings);
    // A session that regressed would hide the next one.
    let left_out = extended_history(&history, &new, Some(&slower)).unwrap();
    assert_eq!(left_out.text, None);
    assert!(left_out.remark.contains("the check failed"), "{}", left_out.remark);
}

#[test]
fn a_history_forgets_what_is_no_longer_so() {
    let mut history = Vec::new();
    let run = sessions(&[1.0; 25], &mut history);
    assert_eq!(history.len(), 20, "the oldest sessions are dropped");
    assert!(history[0].id.ends_with("session5") && history[19].id.ends_with("session24"));
    // Elsewhere there are no sessions yet.
    let bare = read(&update(&run, None).unwrap()).unwrap();
    let asked = SecondsAsked { required: true, history: &history };
    let mut elsewhere = once_more(&timed(), QUIET, &mut rng(10));
    elsewhere.record.environments[0].cpu = "Another CPU".to_owned();
    let check = check_seconds(&elsewhere, &bare, &asked).unwrap();
    is_undecided(check, 8, "seconds are undecided: they are of different machines", "another machine");
    // A solver that got faster begins anew.
    let mut faster = once_more(&timed(), QUIET, &mut rng(11));
    faster.record.folder.set_file_name("faster");
    slow_down(&mut faster, "pol", "cg", 0.5);
    let check = check_seconds(&faster, &bare, &asked).unwrap();
    assert_eq!((count(&check, CheckOutcome::Improved), check.exit_code()), (1, 0));
    let kept =
        read(&extended_history(&history, &faster, Some(&check)).unwrap().text.unwrap()).unwrap().sessions;
    let with_cg = |session: &BaselineSession| {
        session
            .cases
            .iter()
            .any(|case| (case.key.dataset.as_str(), case.key.solver.as_str()) == ("pol", "cg"))
    };
    assert_eq!((kept.len(), kept.iter().filter(|session| with_cg(session)).count()), (20, 1));
    // Times beside other programs are not kept.
    faster.record.environments[0].other_load = Some(0.5);
    assert_eq!(extended_history(&history, &faster, None).unwrap().text, None);
    faster.record.environments[0].other_load = None;
    let left_out = extended_history(&history, &faster, None).unwrap();
    assert!(left_out.text.is_none() && left_out.remark.contains("is not known"), "{}", left_out.remark);
}

#[test]
fn measures_are_those_of_bencher() {
    let mut run = timed_as(3, 1);
    run.record.rows.retain(|row| row.labels.dataset == "pol");
    for row in &mut run.record.rows {
        row.metrics.insert("seconds", [1.0, 2.0, 4.0][row.labels.seed as usize]);
    }
    let measures = |run: &Run| bmf(&Frame::new(run).unwrap());
    let all = measures(&run);
    assert_eq!(all.as_object().unwrap().len(), 4);
    let seconds = &all["pol/matern32/cg"]["seconds"];
    assert!((seconds["value"].as_f64().unwrap() - 2.0).abs() < 1e-12, "{seconds}");
    // t(2) = 4.3027, and the standard deviation of the logarithms is ln 2.
    let factor = (4.302_652_729_9 * 2f64.ln() / 3f64.sqrt()).exp();
    assert!((seconds["upper_value"].as_f64().unwrap() / (2.0 * factor) - 1.0).abs() < 1e-6, "{seconds}");
    assert!((seconds["lower_value"].as_f64().unwrap() * factor / 2.0 - 1.0).abs() < 1e-6, "{seconds}");
    // Two seeds have no bounds, and a failed case no measures.
    run.record.rows.retain(|row| row.labels.seed < 2);
    let cg = run.record.rows.iter_mut().find(|row| row.labels.solver == "cg").unwrap();
    cg.status = CaseStatus::Crashed;
    let two = measures(&run);
    assert!(two.get("pol/matern32/cg").is_none());
    assert!((two["pol/matern32/ap"]["seconds"]["value"].as_f64().unwrap() - 2f64.sqrt()).abs() < 1e-12);
    assert_eq!(two["pol/matern32/ap"]["seconds"].as_object().unwrap().len(), 1);
    // Estimators are named where there are several.
    let other = run.record.rows.iter_mut().find(|row| row.labels.solver == "sgd").unwrap();
    other.labels.estimator = Some("standard".to_owned());
    assert!(measures(&run).get("pol/matern32/pathwise/ap").is_some());
    run.record.rows.clear();
    assert_eq!(measures(&run), json!({}));
}
