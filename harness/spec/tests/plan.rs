//! From right specs to plans: the shipped specs, defaults, overrides, order and filters.

use crate::common;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::common::{check, check_text};
use gpbench_record::{
    Axes, Case, Family, FeatureEstimator, FinalPrediction, Fractions, Frequencies, GradientEstimator,
    Inducing, LikelihoodEstimator, Margin, Metrics, OriginBase, ParamValue, PartOfPlan, PathwiseTargets,
    Posterior, PriorSource, ProbeDistribution, Probes, Quadrature, RateSchedule, ReadOptions, ReportOptions,
    Shard, Source, StandardProbes, Start, Step, StopReason, Subsample, Subset, TargetBound, TargetReference,
    Task, TaskKind, TaskOutput, Training, TrainingOutput, case_digest, testing,
};
use gpbench_spec::{Catalog, NamedLibrary, SpecCase, SpecPlan, load};

fn shipped(name: &str, sets: &[&str]) -> SpecPlan {
    let root = Path::new("../..");
    check(&root.join(name), sets).unwrap_or_else(|errors| panic!("{errors}")).plan()
}

fn planned(text: &str, sets: &[&str]) -> SpecPlan {
    check_text(text, sets).unwrap_or_else(|errors| panic!("{errors}")).plan()
}

/// What a training case asks for.
fn training(case: &Case) -> &Training {
    let Task::Train(training) = &case.task else { panic!("a training case") };
    training
}

fn cases<'a>(plan: &'a SpecPlan, dataset: &str, solver: &str) -> Vec<&'a Case> {
    let wanted = |c: &&Case| c.dataset.name == dataset && c.solver.name == solver;
    plan.cases.iter().map(|p| &p.case).filter(wanted).collect()
}

const SMALL: &str = r#"
schema = 1
name = "small"
task = "posterior"
seeds = [0, 1, 2]
[matrix]
dataset = ["gp-draw", "pol"]
kernel = ["matern32"]
solver = ["cholesky", "cg"]
[budget]
tolerance = 0.01
"#;

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
fn training_is_resolved() {
    let text = r#"
schema = 1
name = "t"
task = "train"
[matrix]
dataset = ["gp-draw", "pol"]
kernel = ["matern32", "shared"]
estimator = ["pathwise", "warm", "exact"]
solver = ["cg"]
[kernel.shared]
family = "rbf"
hyperparameters = { from = "ones", noise_scale = 0.5, length_scale = "shared" }
[estimator.warm]
method = "standard"
probes = 8
probe_distribution = "rademacher"
warm_start = true
[train]
steps = 20
schedule = { milestones = [10], factor = 0.5 }
initial = { signal_scale = 2, noise_scale = 0.1, length_scale = 3 }
[budget]
tolerance = 0.01
"#;
    let plan = planned(text, &[]);
    assert_eq!((plan.task, plan.cases.len()), (TaskKind::Train, 12));
    let named = |kernel: &str, estimator: &str| {
        let found = cases(&plan, "pol", "cg");
        let wanted = |c: &&Case| c.kernel.name == kernel && c.task.estimator() == Some(estimator);
        let case = found.into_iter().find(wanted).expect("a case");
        (case.kernel.clone(), training(case).clone())
    };
    let (kernel, first) = named("matern32", "pathwise");
    let prior = PriorSource::Features { features: 2000, frequencies: Frequencies::MultivariateT };
    let targets = PathwiseTargets { probes: 64, prior };
    let probes = Probes::Pathwise(targets);
    let expected = Training {
        estimator: "pathwise".to_owned(),
        gradient: GradientEstimator::Solutions { probes, second_solve: false, start: Start::Cold },
        steps: 20,
        learning_rate: 0.1,
        schedule: RateSchedule::MultiStep { milestones: vec![10], factor: 0.5 },
        shared_length_scale: false,
        replay: vec![],
        fixed: vec![],
        subset: None,
        landscape: None,
        optimum: false,
        prediction: FinalPrediction { targets, params: BTreeMap::new() },
    };
    assert_eq!(first, expected);
    assert!((kernel.signal_scale, kernel.length_scale) == (2.0, vec![3.0]));
    assert_eq!(kernel.mean, None);
    let (kernel, warm) = named("shared", "warm");
    assert!(warm.shared_length_scale);
    assert_eq!((kernel.noise_scale, kernel.signal_scale), (0.5, 1.0));
    let probes = Probes::Standard(StandardProbes { probes: 8, distribution: ProbeDistribution::Rademacher });
    let gradient = GradientEstimator::Solutions { probes, second_solve: false, start: Start::Warm };
    assert_eq!(warm.gradient, gradient);
    assert_eq!(warm.prediction.targets, PathwiseTargets { probes: 8, prior });
    assert_eq!(named("matern32", "exact").1.gradient, GradientEstimator::Exact);
    let with_mean = planned(text, &["train.mean=constant"]);
    assert!(with_mean.cases.iter().all(|planned| planned.case.kernel.mean == Some(0.0)));
    let parts = planned(text, &["train.initial={ fit = \"subset\", centroids = 3 }"]);
    let fitted = training(cases(&parts, "pol", "cg")[0]).subset;
    assert_eq!(
        fitted,
        Some(Subset { centroids: 3, size: 10_000, steps: 200, learning_rate: 0.1, tolerance: 1e-3 })
    );
    let one = planned(text, &["train.steps=1"]);
    let seconds = |plan: &SpecPlan| plan.cases[0].cost(1).expect("rows are known").seconds;
    assert_eq!(seconds(&plan), 20.0 * seconds(&one));
    // The factor and the inverse of exact training.
    let memory = |estimator: &str| {
        let wanted = |p: &&SpecCase| p.case.task.estimator() == Some(estimator) && p.n == Some(13_500);
        plan.cases.iter().find(wanted).expect("planned").cost(1).expect("rows are known").memory_bytes
    };
    assert!(memory("exact") - memory("pathwise") > 15.0 * 13_500_f64.powi(2));
}

#[test]
fn a_solve_costs_its_budget_or_what_a_tolerance_is_likely_to_take() {
    let text = SMALL.replace("\"cholesky\", \"cg\"", "\"cholesky-mixed\", \"cg\"");
    let cost = |solver: &str, sets: &[&str]| {
        let plan = planned(&text, sets);
        let wanted = |p: &&SpecCase| p.case.solver.name == solver && p.n == Some(13_500);
        plan.cases.iter().find(wanted).expect("planned").cost(1).expect("rows are known")
    };
    let seconds = |sets: &[&str]| cost("cg", sets).seconds;
    let epoch = seconds(&["budget={ max_epochs = 1 }"]);
    assert_eq!(seconds(&["budget={ max_epochs = 4000 }"]), 4000.0 * epoch);
    assert_eq!(seconds(&["budget={ tolerance = 0.1, max_epochs = 4000 }"]), 100.0 * epoch);
    assert_eq!(seconds(&["budget={ tolerance = 0.1, max_epochs = 10 }"]), 10.0 * epoch);
    // An iteration of `cg` is an epoch.
    assert_eq!(seconds(&["budget={ max_epochs = 4000 }", "solver.cg.params.max_iterations=7"]), 7.0 * epoch);
    // A preconditioner that is a factor of the whole matrix: few epochs, and n^2 numbers of four bytes.
    let [factor, none] = ["cholesky-mixed", "cg"].map(|solver| cost(solver, &["budget={ tolerance = 0.1 }"]));
    assert!(factor.seconds < 0.5 * none.seconds, "{factor:?} {none:?}");
    assert_eq!(factor.memory_bytes - none.memory_bytes, 4.0 * 13_500_f64.powi(2));
}

#[test]
fn training_on_random_features_costs_what_was_measured() {
    let text = SMALL.replace("\"posterior\"", "\"train\"").replace("\"cholesky\", \"cg\"", "\"cholesky\"")
        + "[train]\nsteps = 1500\n[estimator.rff]\nfeatures = 1000\n[dataset.pol]\nsubsample = 9600\n";
    let text = text.replace("[budget]", "estimator = [\"rff\"]\n[budget]");
    let plan = planned(&text, &[]);
    let wanted = |p: &&SpecCase| p.n == Some(9600);
    let seconds = plan.cases.iter().find(wanted).expect("planned").cost(2).expect("rows are known").seconds;
    // Twenty steps with 1000 features and 9600 rows took 11.8 s on two threads.
    let measured = 1500.0 / 20.0 * 11.8;
    assert!((measured / 3.0..measured * 3.0).contains(&seconds), "{seconds}, not {measured}");
}

#[test]
fn estimates_of_the_likelihood_are_resolved() {
    let text = r#"
schema = 1
name = "t"
task = "likelihood"
[matrix]
dataset = ["gp-draw"]
kernel = ["rbf"]
estimator = ["standard", "rff", "single"]
solver = ["cg", "cg-5"]
[estimator.standard]
second_solve = true
[estimator.single]
method = "ss-rff"
features = 20
step = 10
[solver.cg]
quadrature = { min = 3, rate = 0.5 }
[solver.cg-5]
plugin = "cg"
quadrature = 5
[budget]
max_epochs = 20
"#;
    let plan = planned(text, &[]);
    assert_eq!((plan.task, plan.cases.len()), (TaskKind::Likelihood, 6));
    let of = |estimator: &str, solver: &str| {
        let wanted = |c: &&Case| c.task.estimator() == Some(estimator);
        let case = cases(&plan, "gp-draw", solver).into_iter().find(wanted).expect("a case").clone();
        let Task::Likelihood(study) = case.task else { panic!("a likelihood") };
        (study.repetitions, study.method)
    };
    let probes = Probes::Standard(StandardProbes { probes: 64, distribution: ProbeDistribution::Normal });
    let standard = |quadrature| LikelihoodEstimator::Solutions { probes, second_solve: true, quadrature };
    let random = Quadrature::Random { min: 3, rate: 0.5 };
    assert_eq!(of("standard", "cg"), (100, standard(Some(random))));
    assert_eq!(of("standard", "cg-5"), (100, standard(Some(Quadrature::Fixed { nodes: 5 }))));
    let frequencies = Frequencies::MultivariateT;
    let rff = FeatureEstimator::Rff { features: 2000, frequencies };
    assert_eq!(of("rff", "cg").1, LikelihoodEstimator::Features(rff));
    let single = FeatureEstimator::SsRff { features: 20, step: 10, frequencies };
    assert_eq!(of("single", "cg").1, LikelihoodEstimator::Features(single));
}

#[test]
fn a_study_of_features_predicts_with_features_of_its_own() {
    let text = r#"
schema = 1
name = "t"
task = "train"
[matrix]
dataset = ["gp-draw"]
kernel = ["rbf"]
estimator = ["few"]
solver = ["cg"]
[estimator.few]
method = "rff"
features = 20
frequencies = "product_t"
[solver.cg]
prediction = { rank = 7 }
[budget]
tolerance = 0.01
"#;
    let plan = planned(text, &[]);
    let training = training(&plan.cases[0].case);
    let frequencies = Frequencies::ProductT;
    let few = FeatureEstimator::Rff { features: 20, frequencies };
    assert_eq!(training.gradient, GradientEstimator::Features(few));
    let prior = PriorSource::Features { features: 2000, frequencies };
    assert_eq!(training.prediction.targets, PathwiseTargets { probes: 64, prior });
    assert_eq!(training.prediction.params, [("rank".to_owned(), ParamValue::Int(7))].into());
}

#[test]
fn the_steps_of_an_earlier_run_are_replayed() {
    let text = r#"
schema = 1
name = "t"
task = "train"
[matrix]
dataset = ["gp-draw"]
kernel = ["rbf"]
estimator = ["pathwise"]
solver = ["cg"]
[train]
steps = 3
[budget]
tolerance = 0.01
"#;
    let scales = |noise: f64| -> BTreeMap<String, f64> {
        [("noise_scale", noise), ("signal_scale", 1.0), ("length_scale", 2.0)]
            .into_iter()
            .map(|(name, scale)| (name.to_owned(), scale))
            .collect()
    };
    let step = |count: u64| Step {
        step: count,
        hyperparameters: scales(count as f64 + 1.0),
        reason: StopReason::Converged,
        metrics: Metrics::default(),
    };
    let mut row = testing::row(planned(text, &[]).cases.remove(0).case, &[]);
    row.output = TaskOutput::Train(Box::new(TrainingOutput {
        steps: (0..3).map(step).collect(),
        hyperparameters: scales(9.0),
        ..TrainingOutput::default()
    }));
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("spec.toml");
    std::fs::write(&path, text).expect("a writable folder");
    let check = |sets: &[&str], replayed| {
        let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
        let typed = load(&path, &sets).unwrap_or_else(|errors| panic!("{errors}"));
        assert_eq!(typed.replayed_run(), Some(folder.path().join("earlier")));
        let catalog = Catalog { replayed: Some(replayed), ..common::catalog() };
        typed.check(&catalog).map(|checked| checked.plan())
    };
    let path_of = |sets: &[&str]| {
        let plan = check(sets, Ok(vec![row.clone()])).unwrap_or_else(|errors| panic!("{errors}"));
        let training = training(&plan.cases[0].case);
        let noises: Vec<f64> = training.replay.iter().map(|scales| scales["noise_scale"]).collect();
        (training.steps, noises)
    };
    let replay = "train.replay=earlier";
    assert_eq!(path_of(&[replay]), (3, vec![1.0, 2.0, 3.0, 9.0]));
    assert_eq!(path_of(&[replay, "train.steps=2"]), (2, vec![1.0, 2.0, 3.0]));
    let other = "train.replay={ run = \"earlier\", solver = \"ap\" }";
    let errors = check(&[other], Ok(vec![row.clone()])).unwrap_err().to_string();
    assert!(errors.contains("0 cases of that run that can be replayed"), "{errors}");
    let errors = check(&[replay], Err("no such folder".to_owned())).unwrap_err().to_string();
    assert!(errors.contains("cannot replay run `earlier`: no such folder"), "{errors}");
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
