//! Data sets of a plan: subsamples, fractions, duplicates, and files beside the spec.

use gpbench_record::{Fractions, ReadOptions, Source, Subsample};

use crate::common::check;
use crate::common::plans::{SMALL, cases, planned};

#[test]
fn a_subsample_is_a_count_or_a_share() {
    let subsample = |value: &str| {
        let plan = planned(&format!("{SMALL}[dataset.pol]\nsubsample = {value}\n"), &[]);
        let pol = plan.cases.iter().find(|p| p.case.dataset.name == "pol").expect("planned").clone();
        (pol.case.dataset.subsample, pol.n)
    };
    assert_eq!(subsample("500"), (Some(Subsample::Rows(500)), Some(500)));
    assert_eq!(subsample("0.05"), (Some(Subsample::Fraction(0.05)), Some(675)));
}

#[test]
fn fractions_draw_any_number_of_splits() {
    let text = format!("{SMALL}[dataset.pol]\nfractions = {{ train = 0.64, test = 0.2 }}\nsplit = 40\n");
    let plan = planned(&text, &[]);
    let pol = plan.cases.iter().find(|p| p.case.dataset.name == "pol").expect("planned");
    assert_eq!(pol.case.dataset.fractions, Some(Fractions { train: 0.64, test: 0.2 }));
    assert_eq!((pol.case.dataset.split, pol.n), (40, Some(9600)));
    // Without them a data set is written, and so identified, as if there were no such thing.
    let json =
        serde_json::to_value(&cases(&planned(SMALL, &[]), "pol", "cg")[0].dataset).expect("serialises");
    assert!(json.get("fractions").is_none());
}

#[test]
fn duplicates_are_collapsed_on_request() {
    let text = format!("{SMALL}[dataset.pol]\ncollapse_duplicates = true\n");
    let dataset = |sets: &[&str], name: &str| cases(&planned(&text, sets), name, "cg")[0].dataset.clone();
    assert!(dataset(&[], "pol").collapse_duplicates);
    assert!(!dataset(&["dataset.pol.collapse_duplicates = false"], "pol").collapse_duplicates);
    assert!(dataset(&["dataset.gp-draw.collapse_duplicates = true"], "gp-draw").collapse_duplicates);

    // Another plan, and where nothing is collapsed the case is written as if there were no such thing.
    assert_ne!(planned(&text, &[]), planned(SMALL, &[]));
    let json = |name| serde_json::to_value(dataset(&[], name)).expect("serialises");
    assert_eq!(json("pol")["collapse_duplicates"], true);
    assert!(json("gp-draw").get("collapse_duplicates").is_none());
}

#[test]
fn paths_are_relative_to_the_spec() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("s.toml");
    let text =
        SMALL.replace("\"pol\"", "\"mine\"") + "[dataset.mine]\npath = \"data/mine.csv\"\ntarget = 2\n";
    std::fs::write(&path, text).expect("a file in it");
    let plan = check(&path, &[]).unwrap_or_else(|errors| panic!("{errors}")).plan();
    let mine = plan.cases.iter().find(|p| p.case.dataset.name == "mine").expect("planned");
    let own = mine.own_files.as_ref().expect("the user's own file");
    assert_eq!((&own.data, &own.test), (&folder.path().join("data/mine.csv"), &None));
    let source = Source::File {
        path: "data/mine.csv".into(),
        options: ReadOptions { target: Some("2".into()), ..ReadOptions::default() },
    };
    assert_eq!(mine.case.dataset.source, source);
    assert_eq!(mine.cost(2), None);
}
