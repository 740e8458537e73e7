//! The papers' claims beside published runs.

use std::fs;
use std::path::{Path, PathBuf};

use gpbench_report::{ClaimsPage, claims};

use crate::coverage::{publish, run};

/// A folder with a list of claims, a spec and published runs.
struct Claims {
    dir: tempfile::TempDir,
}

/// The head of a claim that is tested by `spec.toml`.
const CLAIM: &str = "[[claim]]\npaper = 'lin2024'\nclaim = 'Warm is faster.'\nmade_in = 'Table 1'\npublished = '72'\nspec = 'spec.toml'\n\
                     options = '-s ap'\nwhy = 'A part was run.'\ntake = 'Start warm.'\n";

/// Evidence: a ratio of epochs.
const EVIDENCE: &str = "[[claim.evidence]]\nwhat = 'epochs, cold over warm'\nruns = ['small']\ndatasets = ['pol']\nmetric = 'epochs'\n\
                        compute = 'ratio'\nof = { solvers = ['ap'], estimator = 'cold' }\nto = { solvers = ['ap'], estimator = 'warm' }\n";

impl Claims {
    /// Published is one run with cold and warm solves of 3 seeds; cold ones end at their limit.
    fn new() -> Claims {
        let claims = Claims { dir: tempfile::tempdir().unwrap() };
        let group = |estimator: &str, n_ok: usize, epochs: f64, seconds: f64| {
            format!(
                "{{\"dataset\": \"pol\", \"kernel\": \"k\", \"estimator\": \"{estimator}\", \"solver\": \"ap\", \"n\": 3, \
                 \"n_ok\": {n_ok}, \"metrics\": {{\"epochs\": {{\"mean\": {epochs}, \"stderr\": 8.0, \"seeds\": 3}}, \
                 \"seconds\": {{\"mean\": {seconds}, \"stderr\": null, \"seeds\": 1}}}}}}"
            )
        };
        let groups = [group("cold", 1, 800.0, 60.0), group("warm", 3, 100.0, 5.0)].join(", ");
        claims.write("published/small/summary.json", &format!("{{\"schema\": 1, \"groups\": [{groups}]}}"));
        claims.write("benchmarks/spec.toml", "");
        claims
    }

    fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn list(&self) -> PathBuf {
        self.path("benchmarks/reference/claims.toml")
    }

    fn page(&self, list: &str) -> gpbench_report::Result<ClaimsPage> {
        self.write("benchmarks/reference/claims.toml", list);
        claims(&self.path("published"), &self.list())
    }

    /// The faults of a list, without the file's name.
    fn faults(&self, list: &str) -> Vec<String> {
        let file = format!("{}:", self.list().display());
        let faults = self.page(list).unwrap().faults;
        faults.iter().map(|fault| fault.strip_prefix(&file).unwrap().to_owned()).collect()
    }
}

#[test]
fn a_claim_shows_its_verdict_its_numbers_and_its_command() {
    let list = format!(
        "{CLAIM}verdict = 'holds in part'\nmissing = 'all rows.'\nhours = 1.5\n{EVIDENCE}published = '126'\nholds = '> 2'\n"
    );
    let ClaimsPage { text, faults } = Claims::new().page(&list).unwrap();
    assert_eq!(faults, [""; 0]);
    for part in [
        "| Lin et al. 2024 | 1 | 0 | 1 | 0 | 0 | 2 |",
        "| all | 1 | 0 | 1 | 0 | 0 | 2 |",
        "### 1. Warm is faster.\n\n**holds in part**. A part was run.",
        "Of 1 claims: 0 **holds**, 1 **holds in part**, 0 **does not hold here**, 0 **not measured**.",
        "| [Lin et al. 2024, 1](#lin2024-1) | Warm is faster. | **holds in part** | 1 of 1; a part was not measured |",
        "<a id=\"lin2024-1\"></a>\n\n### 1. Warm is faster.",
        "| epochs, cold over warm | at least 8× ± 0.645, unpaired | 3 | 126 | above 2: 1 of 1 |",
        "- Not measured: all rows. About 1.5 hours.",
        "- Runs: [small](../small/report.md)",
        "- Command: `gpbench run benchmarks/spec.toml -s ap`",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn words_are_explained_at_the_end_and_linked_where_they_come_first() {
    let term = "[[term]]\nname = 'warm start'\nforms = ['warm']\nmeaning = 'A solve that begins at an earlier one.'\n";
    let list = format!("{CLAIM}verdict = 'not measured'\nmissing = 'all'\nhours = 2\n{term}");
    let text = Claims::new().page(&list).unwrap().text;
    let line =
        "(#lin2024-1) | [Warm](#term-warm-start) is faster. | **not measured** | about 2 hours to run |";
    assert!(text.contains(line), "{text}");
    let meaning = "- <a id=\"term-warm-start\"></a>**warm start**: A solve that begins at an earlier one.\n";
    assert!(text.ends_with(meaning), "{text}");
    assert_eq!(text.matches("](#term-").count(), 1);
}

#[test]
fn a_comparison_is_judged_by_the_tolerance_of_its_metric() {
    let claims = Claims::new();
    let with =
        |verdict: &str, rule: &str| format!("{CLAIM}verdict = '{verdict}'\n{EVIDENCE}holds = '{rule}'\n");
    let page = claims.page(&with("holds", "more")).unwrap();
    assert_eq!(page.faults, [""; 0]);
    assert!(page.text.contains("| more by over 10 %: 1 of 1 |"), "{}", page.text);
    assert_eq!(claims.faults(&with("does not hold here", "equal")), [""; 0]);
    let of_value = with("holds", "more")
        .replacen("to = { solvers = ['ap'], estimator = 'warm' }\n", "", 1)
        .replacen("'ratio'", "'value'", 1);
    let reason = "needs a difference or a ratio of a metric that has a tolerance; write a range";
    assert_eq!(claims.faults(&of_value), [format!("18:9: error: `more` {reason}")]);
}

#[test]
fn folders_that_keep_their_cases_are_compared_in_pairs_of_one_seed() {
    let claims = Claims::new();
    let published = claims.path("published");
    publish(&published, "first", &run("cg", &[0.11, 0.22, 0.33]));
    publish(&published, "second", &run("cg", &[0.10, 0.20, 0.30]));
    let evidence = "[[claim.evidence]]\nwhat = 'test RMSE'\nruns = ['first']\ndatasets = ['pol']\nmetric = 'test_rmse'\n\
                    compute = 'ratio'\nof = { solvers = ['cg'] }\nto = { solvers = ['cg'], runs = ['second'] }\n";
    let list = format!("{CLAIM}verdict = 'holds'\n{evidence}holds = 'more'\nreason = 'any loss'\n");
    let ClaimsPage { text, faults } = claims.page(&list).unwrap();
    assert_eq!(faults, [""; 0]);
    // Errors of independent sides would be larger than the ratio's distance from 1.
    let row = "| test RMSE | 1.10× \\[1.10, 1.10\\] | 3 |  | \
               more by over 0.0001 or 0.5 % (any loss): 1 of 1, 1 of 1 intervals |";
    assert!(text.contains(row), "{text}");
}

#[test]
fn a_claim_of_which_some_numbers_hold_holds_in_part() {
    let claims = Claims::new();
    let second = EVIDENCE.replacen("['ap'], estimator = 'cold'", "['ap'], estimator = 'warm'", 1);
    let both = |verdict: &str| {
        claims.faults(&format!(
            "{CLAIM}verdict = '{verdict}'\n{EVIDENCE}holds = 'more'\n{second}holds = 'more'\n"
        ))
    };
    assert_eq!(both("holds in part"), [""; 0]);
    let against = "10:11: error: the verdict `holds` contradicts the rule of \"epochs, cold over warm\"";
    assert_eq!(both("holds"), [against]);
}

#[test]
fn a_verdict_that_contradicts_its_rules_is_a_fault_with_its_place() {
    let claims = Claims::new();
    let of = |verdict: &str, rest: &str| claims.faults(&format!("{CLAIM}verdict = '{verdict}'\n{rest}"));
    let above = |rule: &str| format!("{EVIDENCE}holds = '{rule}'\n");
    let fault = |reason: &str| vec![format!("10:11: error: the verdict {reason}")];
    assert_eq!(of("holds", &above("> 2")), [""; 0]);
    assert_eq!(
        of("holds", &above("< 2")),
        fault("`holds` contradicts the rule of \"epochs, cold over warm\"")
    );
    let against = "`does not hold here` contradicts the rule of \"epochs, cold over warm\"";
    assert_eq!(of("does not hold here", &above("> 2")), fault(against));
    let in_part = "`holds in part` needs evidence that breaks its rule, or `missing`";
    assert_eq!(of("holds in part", &above("> 2")), fault(in_part));
    assert_eq!(of("holds", EVIDENCE), fault("`holds` needs evidence with a rule (`holds`)"));
    assert_eq!(of("not measured", ""), fault("`not measured` needs `missing` and `hours`"));
    assert_eq!(of("not measured", "missing = 'all'\nhours = 2\n"), [""; 0]);
    // The cold solves ended at their limit: the ratio may be larger than 9.
    let unknown = "19:9: error: the rule cannot be judged on pol: a solve ended at the limit of its budget";
    assert_eq!(of("holds", &above("> 9")), [unknown]);
}

#[test]
fn names_that_no_run_has_are_faults_with_their_places() {
    let claims = Claims::new();
    let whole = format!("{CLAIM}verdict = 'holds'\n{EVIDENCE}holds = '> 2'\n");
    let with = |old: &str, new: &str| claims.faults(&whole.replacen(old, new, 1));
    for (old, new, fault) in [
        ("'small'", "'smal'", "13:9: error: no published folder `smal` with a summary.json"),
        ("['pol']", "['pool']", "14:13: error: no run has `epochs` for `ap` on `pool`"),
        ("'epochs'\n", "'epoch'\n", "15:10: error: unknown metric `epoch`; `gpbench list metrics` names all"),
        (
            "['ap'], estimator = 'cold'",
            "['ap']",
            "17:6: error: `small` has several `ap` on `pol`; add `estimator` or `kernel`",
        ),
        ("'ratio'", "'value'", "16:11: error: a value has one side; leave `to` out"),
        (
            "'> 2'",
            "'2'",
            "19:9: error: `2` is no rule; write `> 1`, `< 0.5`, `0.9 to 1.1`, `equal`, `more`, `less`, `not more` or \
             `not less`",
        ),
        (
            "'lin2024'",
            "'lin2025'",
            "2:9: error: unknown paper; known are lin2023, lin2024, rtgps2021, shoham2025",
        ),
    ] {
        assert_eq!(with(old, new), [fault]);
    }
    let spec = with("'spec.toml'", "'other.toml'").remove(0);
    assert!(spec.starts_with("6:8: error: there is no spec `other.toml` in "), "{spec}");
}

#[test]
fn seconds_count_from_quiet_runs_alone() {
    let claims = Claims::new();
    let list = format!("{CLAIM}verdict = 'holds'\n{EVIDENCE}holds = '> 2'\n").replacen(
        "'epochs'\n",
        "'seconds'\n",
        1,
    );
    let loaded = |load: &str| {
        claims.write("published/small/environment.json", &format!("{{\"other_load\": {load}}}"));
        claims.faults(&list)
    };
    let refused = |faults: Vec<String>| {
        assert!(faults[0].starts_with("15:10: error: `seconds` of `small` cannot be evidence"), "{faults:?}");
    };
    refused(claims.faults(&list));
    refused(loaded("0.5"));
    assert_eq!(loaded("0.01"), [""; 0]);
}

#[test]
fn a_list_of_another_form_is_refused_with_the_place() {
    let claims = Claims::new();
    for (list, place) in [
        (format!("{CLAIM}verdict = 'true'\n"), "claims.toml:10:11: error: unknown variant `true`"),
        (format!("{CLAIM}verdict = 'holds'\nrule = 1\n"), "claims.toml:11:1: error: unknown field `rule`"),
        (format!("{CLAIM}verdict = \n"), "claims.toml:10:"),
    ] {
        let error = claims.page(&list).unwrap_err().to_string();
        assert!(error.contains(place), "{error}");
    }
}

#[test]
fn the_published_page_follows_from_the_published_runs() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let published = root.join("reports/published");
    let page = claims(&published, &root.join("benchmarks/reference/claims.toml")).unwrap();
    assert_eq!(page.faults, [""; 0]);
    let text = fs::read_to_string(published.join("claims/README.md")).unwrap();
    assert!(page.text == text, "`gpbench claims` writes it again");
}
