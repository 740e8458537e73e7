//! From right specs to plans: the shipped specs, defaults, overrides, order and filters.

use std::collections::BTreeSet;
use std::path::Path;

use gpbench_record::{
    Axes, Family, Frequencies, Inducing, Margin, OriginBase, ParamValue, PartOfPlan, PathwiseTargets,
    Posterior, PriorSource, ProbeDistribution, Probes, ReportOptions, Shard, Source, StandardProbes,
    TargetBound, TargetReference, Task, case_digest,
};
use gpbench_spec::{NamedLibrary, SpecCase, SpecPlan, load};

use crate::common::plans::{SMALL, cases, planned};
use crate::common::{self, check};

fn shipped(name: &str, sets: &[&str]) -> SpecPlan {
    let root = Path::new("../..");
    check(&root.join(name), sets).unwrap_or_else(|errors| panic!("{errors}")).plan()
}

#[test]
fn shipped_specs_are_right() {
    let counts = [
        ("benchmarks/quickstart.toml", 30),
        ("benchmarks/uci.toml", 18),
        ("benchmarks/lin2023/table1.toml", 2 * (9 * 5 - 1 - 2)),
        ("benchmarks/lin2023/low-noise.toml", 3 * (9 * 5 - 1 - 2)),
        ("ci/regression.toml", 8),
    ];
    for (name, count) in counts {
        let plan = shipped(name, &[]);
        assert_eq!(plan.cases.len(), count, "{name}");
        assert!(plan.cases.iter().all(|p| p.cost(2).is_some()), "{name}");
    }
}

#[test]
fn published_hyperparameters_are_those_of_the_split() {
    let plan = shipped("benchmarks/uci.toml", &[]);
    let pol = cases(&plan, "pol", "cg");
    assert_eq!(pol.len(), 3);
    let first = pol.iter().find(|c| c.seed == 0).expect("seed 0");
    assert_eq!(
        (first.kernel.noise_scale, first.kernel.signal_scale),
        (0.03674088791012764, 0.40082889795303345)
    );
    assert_eq!(first.kernel.length_scale.len(), 26);
    assert!(pol.iter().all(|c| u64::from(c.dataset.split) == c.seed));
    let low = shipped("benchmarks/lin2023/low-noise.toml", &[]);
    assert!(low.cases.iter().all(|p| p.case.kernel.noise_scale == 1e-3));
    assert_eq!(
        low.cases[0].case.kernel.origin.to_string(),
        "published (Lin et al. 2023), noise_scale = 0.001"
    );
}

#[test]
fn a_parameter_may_depend_on_the_data_set() {
    let plan = shipped("benchmarks/lin2023/table1.toml", &[]);
    assert_eq!(cases(&plan, "pol", "cg")[0].solver.params["max_iterations"], ParamValue::Int(1000));
    assert_eq!(cases(&plan, "buzz", "cg")[0].solver.params["max_iterations"], ParamValue::Int(100));
}

#[test]
fn a_list_of_values_makes_an_entry_of_each() {
    let sets = ["solver.cg.params={ rank = [50, 500], preconditioner = [\"none\", \"pivoted_cholesky\"] }"];
    let plan = planned(SMALL, &sets);
    let entries: Vec<&str> = plan.axes.solver.iter().map(String::as_str).collect();
    let points = [
        "cg@preconditioner=none,rank=50",
        "cg@preconditioner=none,rank=500",
        "cg@preconditioner=pivoted_cholesky,rank=50",
        "cg@preconditioner=pivoted_cholesky,rank=500",
    ];
    assert_eq!(entries, [&["cholesky"], &points[..]].concat());
    let case = cases(&plan, "pol", points[1])[0];
    assert_eq!(case.solver.params["rank"], ParamValue::Int(500));
    let grid = case.grid().expect("a point of a grid");
    assert_eq!((grid.entry.as_str(), grid.name().as_str()), ("cg", points[1]));
    assert_eq!(cases(&plan, "pol", "cholesky")[0].grid(), None);
    let chosen = plan.filter(&["cg".into()], &["pol".into()]).expect("both exist").cases;
    assert!(chosen.iter().all(|planned| planned.case.solver.plugin == "cg") && chosen.len() >= 4);
}

#[test]
fn defaults_are_filled_in() {
    let plan = planned(SMALL, &[]);
    let case = cases(&plan, "gp-draw", "cg")[0];
    let prior = PriorSource::Features { features: 2000, frequencies: Frequencies::MultivariateT };
    let targets = PathwiseTargets { probes: 64, prior };
    let estimator = "pathwise".to_owned();
    assert_eq!(case.task, Task::Posterior(Posterior { estimator, targets, inducing: None }));
    assert_eq!(case.kernel.origin, OriginBase::Ones.into());
    assert_eq!(case.solver.params["rank"], ParamValue::Int(100));
    let Source::GpDraw(draw) = &case.dataset.source else { panic!("a draw") };
    assert_eq!((draw.n, draw.n_test, draw.kernel), (1000, 100, Family::Matern32));
    let solve = planned(SMALL, &["task=solve"]);
    let probes = Probes::Standard(StandardProbes { probes: 64, distribution: ProbeDistribution::Normal });
    assert_eq!(solve.cases[0].case.task.probes(), Some(probes));
    let repeated = planned(
        "schema = 1\nname = \"s\"\ntask = \"posterior\"\nmatrix = { dataset = \"gp-draw\", kernel = \"rbf\", solver = \"cholesky\" }",
        &[],
    );
    assert_eq!((repeated.cases.len(), repeated.cases[0].case.seed), (1, 0));
}

#[test]
fn generating_hyperparameters_are_in_units_of_the_draw() {
    let plan = shipped("benchmarks/quickstart.toml", &[]);
    let kernel = &cases(&plan, "gp-draw", "cg")[0].kernel;
    assert_eq!((kernel.signal_scale, kernel.noise_scale, &kernel.length_scale[..]), (1.0, 0.05, &[0.5][..]));
    assert_eq!(kernel.origin, OriginBase::Drawn.into());
}

#[test]
fn budgets_are_overridden_key_by_key() {
    let plan =
        planned(SMALL, &["budget.time=10m", "solver.cg.budget={ tolerance = 0.1, memory = \"1GiB\" }"]);
    let budget = cases(&plan, "pol", "cg")[0].budget;
    assert_eq!(
        (budget.tolerance, budget.seconds, budget.memory_bytes),
        (Some(0.1), Some(600.0), Some(1 << 30))
    );
    assert_eq!(cases(&plan, "pol", "cholesky")[0].budget.tolerance, Some(0.01));
}

#[test]
fn a_narrowed_matrix_leaves_tables_and_excludes_alone() {
    let plan =
        shipped("benchmarks/lin2023/table1.toml", &["matrix.dataset=[\"pol\", \"bike\"]", "seeds=[0]"]);
    assert_eq!(plan.cases.len(), 4);
}

#[test]
fn the_order_is_a_stored_shuffle_with_repeats_interleaved() {
    let plan = planned(SMALL, &["repeats=2"]);
    let labels = |p: &SpecPlan| p.cases.iter().map(|c| c.case.labels().to_string()).collect::<Vec<_>>();
    assert_eq!(plan.cases.len(), 24);
    let (first, second) = plan.cases.split_at(12);
    assert!(first.iter().all(|c| c.case.repeat == 0) && second.iter().all(|c| c.case.repeat == 1));
    assert_eq!(plan, planned(SMALL, &["repeats=2"]));
    let sorted: Vec<String> = labels(&plan).into_iter().collect::<BTreeSet<_>>().into_iter().collect();
    assert_ne!(labels(&plan), sorted);
    let other = planned(SMALL, &["repeats=2", "order_seed=1"]);
    assert_ne!(labels(&plan), labels(&other));
    // Leaving out a data set does not move the rest.
    let fewer = planned(SMALL, &["matrix.dataset=pol"]);
    let kept: Vec<String> =
        labels(&planned(SMALL, &[])).into_iter().filter(|l| l.starts_with("pol")).collect();
    assert_eq!(labels(&fewer), kept);
}

#[test]
fn inducing_points_belong_to_a_solver() {
    let text = SMALL.replace("\"cholesky\", \"cg\"", "\"cg\", \"by-count\", \"by-distance\", \"all\"")
        + "[solver.by-count]\nplugin = \"sgd-rff\"\ninducing = { select = \"kmeans\", points = 50 }\n"
        + "[solver.by-distance]\nplugin = \"sgd-rff\"\ninducing = { select = \"neighbours\", distance = 1 }\n"
        + "[solver.all]\nplugin = \"sgd-rff\"\n";
    let inducing =
        |sets: &[&str], solver: &str| cases(&planned(&text, sets), "pol", solver)[0].task.inducing();
    assert_eq!(inducing(&[], "by-count"), Some(Inducing::Kmeans { points: 50 }));
    let near = Inducing::Neighbours { distance: 1.0, neighbours: 100 };
    assert_eq!(inducing(&[], "by-distance"), Some(near));
    assert_eq!((inducing(&[], "all"), inducing(&[], "cg")), (None, None));
    let sets = ["solver.by-count.inducing.select=subset", "solver.by-count.inducing.points=7"];
    assert_eq!(inducing(&sets, "by-count"), Some(Inducing::Subset { points: 7 }));
}

#[test]
fn filters_select_and_report_unknown_names() {
    let plan = planned(SMALL, &[]);
    let only = plan.filter(&["cg".into()], &["pol".into()]).expect("both exist");
    assert_eq!(only.cases.len(), 3);
    assert_eq!(plan.filter(&[], &[]).expect("everything"), plan);
    let error = plan.filter(&["cgg".into()], &[]).unwrap_err().to_string();
    assert_eq!(error, "no solver `cgg` in this plan; did you mean `cg`?");
    let quickstart = shipped("benchmarks/quickstart.toml", &[]);
    assert!(quickstart.filter(&[], &["pol".into()]).is_err());
}

#[test]
fn archives_are_found_from_the_specs_folder_and_enter_no_id() {
    let text = format!("{SMALL}[report]\ncompare = [\"archive\", \"far/a.gpbench\"]\n");
    let line = text.lines().count();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("spec.toml");
    std::fs::write(&path, &text).expect("a writable folder");
    let typed = load(&path, &[]).expect("TOML");
    let found = typed.archives();
    assert_eq!(found[1], ("far/a.gpbench".to_owned(), folder.path().join("far/a.gpbench")));
    let plan = typed.check(&common::catalog()).unwrap_or_else(|errors| panic!("{errors}")).plan();
    let [archive, packed] = &plan.report.compare[..] else { panic!("{:?}", plan.report) };
    assert_eq!((&archive.path, &packed.path), (&folder.path().join("archive"), &found[1].1));
    assert_eq!(archive.at, format!("{}:{line}:12", path.display()));
    assert_eq!(packed.at, format!("{}:{line}:23", path.display()));
    let digests = |plan: &SpecPlan| -> Vec<String> {
        plan.cases.iter().map(|planned| case_digest(&planned.case)).collect()
    };
    assert_eq!(digests(&plan), digests(&planned(SMALL, &[])));

    let mut catalog = common::catalog();
    catalog.unreadable_archives.insert("far/a.gpbench".to_owned(), "it is no packed run".to_owned());
    let errors = typed.check(&catalog).map(|_| ()).unwrap_err().to_string();
    let told = "cannot compare with `far/a.gpbench`: it is no packed run; name a packed run, ";
    assert!(errors.contains(&format!("spec.toml:{line}:23: error: {told}")), "{errors}");
    // A spec of somebody else is resolved without its archives.
    assert!(typed.as_foreign().archives().is_empty());
}

#[test]
fn a_plan_has_axes_and_report_options() {
    let text = format!(
        "{}[report]\nreference = \"lin2023\"\ncolumns = [\"test_rmse\", \"epochs\"]\n",
        SMALL.replace("[\"cholesky\", \"cg\"]", "\"cg\"")
    );
    let plan = planned(&text, &[]);
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let axes = Axes {
        dataset: names(&["gp-draw", "pol"]),
        kernel: names(&["matern32"]),
        estimator: names(&["pathwise"]),
        solver: names(&["cg"]),
    };
    assert_eq!(plan.axes, axes);
    let columns = names(&["test_rmse", "epochs"]);
    let report = ReportOptions { reference: Some("lin2023".to_owned()), columns, ..ReportOptions::default() };
    assert_eq!(plan.report, report);

    let mut catalog = common::catalog();
    for library in &mut catalog.libraries {
        library.solvers.iter_mut().for_each(|solver| solver.source = Some(format!("{} (1999)", solver.id)));
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("spec.toml");
    std::fs::write(&path, &text).expect("a writable folder");
    let typed = load(&path, &[]).unwrap_or_else(|errors| panic!("{errors}"));
    let plan = typed.check(&catalog).unwrap_or_else(|errors| panic!("{errors}")).plan();
    assert_eq!(plan.sources, [("cg".to_owned(), "cg (1999)".to_owned())].into());
}

#[test]
fn a_target_is_timed_and_changes_cases_only_where_they_stop_there() {
    let target = |text: &str| planned(&format!("{SMALL}[target]\n{text}\n"), &[]);
    let bound = |text: &str| target(text).report.target.expect("a target").bound;
    let exact = TargetReference::Exact;
    let cg = TargetReference::Solver("cg".to_owned());
    for (text, expected) in [
        ("test_rmse = 0.3", TargetBound::Value(0.3)),
        ("rmse_to_exact = \"1%\"", TargetBound::Within(Margin::Fraction(0.01), exact.clone())),
        ("test_nll = { within = 0.05 }", TargetBound::Within(Margin::Absolute(0.05), exact)),
        ("residual_y = { within = \"50%\", of = \"cg\" }", TargetBound::Within(Margin::Fraction(0.5), cg)),
    ] {
        assert_eq!(bound(text), expected, "{text}");
    }
    assert_eq!(target("test_rmse = 0.3").cases, planned(SMALL, &[]).cases);
    let stopping = target("test_rmse = 0.3\nstop = true");
    assert!(stopping.cases.iter().all(|planned| planned.case.stop_at == stopping.report.target));
}

#[test]
fn a_library_is_chosen_by_path() {
    let text =
        SMALL.replace("\"cholesky\", \"cg\"", "\"twice\"") + "[solver.twice]\nlibrary = \"second.so\"\n";
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("s.toml");
    std::fs::write(&path, text).expect("a file in it");
    let typed = load(&path, &[]).unwrap_or_else(|errors| panic!("{errors}"));
    let named = NamedLibrary { file: folder.path().join("second.so"), runtime: None };
    assert_eq!(typed.libraries(), [named]);
    let mut catalog = common::catalog();
    let second = catalog.libraries.iter_mut().find(|l| l.name == "second").expect("there");
    second.file = typed.libraries().remove(0).file;
    let plan = typed.check(&catalog).unwrap_or_else(|errors| panic!("{errors}")).plan();
    assert_eq!(plan.cases[0].plugin_sha256, "second");
}

#[test]
fn a_text_with_overrides_written_into_it_means_the_same() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("spec.toml");
    let text = format!("# Ours.\n{SMALL}[[exclude]]\nseed = 1\n[report]\nbaseline = \"cg\"\n");
    std::fs::write(&path, &text).expect("a writable folder");
    let sets = ["name=other", "seeds=[1, 2]", "solver.cg.params.rank=7", "budget.time=10m"].map(String::from);
    let key = |sets: &[String]| {
        let typed = load(&path, sets).unwrap_or_else(|errors| panic!("{errors}"));
        let checked = typed.check(&common::catalog()).unwrap_or_else(|errors| panic!("{errors}"));
        (typed.text(), checked.plan())
    };
    assert_eq!(key(&[]).0, text);
    let (written, meant) = key(&sets);
    std::fs::write(&path, &written).expect("a writable folder");
    assert_eq!(key(&[]).1, meant, "{written}");
}

#[test]
fn shards_divide_a_plan_by_blocks() {
    let whole = planned(SMALL, &["repeats=2"]);
    let block = |p: &SpecCase| {
        let labels = p.case.labels();
        (labels.dataset, labels.kernel, labels.estimator, labels.seed)
    };
    let blocks: BTreeSet<_> = whole.cases.iter().map(block).collect();
    let all: BTreeSet<String> = whole.cases.iter().map(|planned| case_digest(&planned.case)).collect();
    for count in [1, 2, 3, blocks.len(), blocks.len() + 2] {
        let parts: Vec<(SpecPlan, PartOfPlan)> =
            (1..=count).map(|number| whole.part(Shard { number, count })).collect();
        let mut cases = 0;
        let mut seen = BTreeSet::new();
        for (plan, part) in &parts {
            let own: BTreeSet<_> = plan.cases.iter().map(block).collect();
            assert!((blocks.len() / count..=blocks.len().div_ceil(count)).contains(&own.len()));
            assert!(own.is_disjoint(&seen), "a block is divided");
            seen.extend(own);
            cases += plan.cases.len();
            assert_eq!(part.plan, parts[0].1.plan);
            let digests =
                plan.cases.iter().map(|planned| case_digest(&planned.case)).chain(part.others.clone());
            assert_eq!(digests.collect::<BTreeSet<_>>(), all, "own cases and others are the whole plan");
            // The order is that of the whole plan.
            let mut rest = whole.cases.iter();
            assert!(plan.cases.iter().all(|case| rest.any(|other| other == case)));
        }
        assert_eq!((cases, &seen), (whole.cases.len(), &blocks));
    }
    // Other cases are another plan, whatever their order.
    let digest = |plan: &SpecPlan| plan.part(Shard { number: 1, count: 1 }).1.plan;
    assert_eq!(digest(&whole), digest(&planned(SMALL, &["repeats=2", "order_seed=1"])));
    assert_ne!(digest(&whole), digest(&planned(SMALL, &["repeats=2", "budget.tolerance=0.5"])));
}
