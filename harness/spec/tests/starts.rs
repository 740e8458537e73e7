//! Hyperparameters from the data: where a spec gets them, and what it may say of them.

use gpbench_record::{DataStart, Kernel, OriginBase, Scale};
use gpbench_spec::SpecPlan;

use crate::common::check_text;

/// A spec of a task on a file of the user's own and on a data set of the registry.
fn spec(task: &str, rest: &str) -> String {
    let solver = if task == "learn" { "poe" } else { "cholesky" };
    format!(
        "schema = 1\nname = \"starts\"\ntask = \"{task}\"\n[matrix]\ndataset = [\"mine\", \"pol\"]\nkernel = [\"rbf\"]\n\
         solver = [\"{solver}\"]\n[dataset.mine]\npath = \"mine.csv\"\n{rest}"
    )
}

fn planned(task: &str, rest: &str) -> SpecPlan {
    check_text(&spec(task, rest), &[]).unwrap_or_else(|errors| panic!("{errors}")).plan()
}

fn kernel<'p>(plan: &'p SpecPlan, dataset: &str) -> &'p Kernel {
    let found = plan.cases.iter().find(|planned| planned.case.dataset.name == dataset);
    &found.expect("a case of the data set").case.kernel
}

fn default_start() -> DataStart {
    DataStart { restarts: DataStart::RESTARTS, keep: Vec::new() }
}

#[test]
fn files_of_the_user_start_from_their_data() {
    for task in ["train", "learn", "posterior", "solve"] {
        let plan = planned(task, "");
        let (mine, pol) = (kernel(&plan, "mine"), kernel(&plan, "pol"));
        assert_eq!((&mine.start, &mine.origin.base), (&Some(default_start()), &OriginBase::Data), "{task}");
        assert_eq!((&pol.start, &pol.origin.base), (&None, &OriginBase::Ones), "{task}");
        // What the spec says holds for both.
        let plan = planned(task, "[kernel.rbf]\nhyperparameters = \"ones\"\n");
        assert_eq!((&kernel(&plan, "mine").start, kernel(&plan, "mine")), (&None, kernel(&plan, "pol")));
        let plan = planned(task, "[kernel.rbf]\nhyperparameters = \"data\"\n");
        assert_eq!(kernel(&plan, "pol").start, Some(default_start()), "{task}");
    }
    let plan = planned("train", "[train]\ninitial = \"ones\"\n");
    assert_eq!(kernel(&plan, "mine").start, None);
}

#[test]
fn a_table_says_how_many_starts_there_are_and_keeps_its_scales() {
    let table = "{ from = \"data\", restarts = 60, noise_scale = 0.2, length_scale = \"shared\" }";
    let plan = planned("train", &format!("[train]\ninitial = {table}\n"));
    let kernel = kernel(&plan, "pol");
    assert_eq!(kernel.start, Some(DataStart { restarts: 60, keep: vec![Scale::NoiseScale] }));
    assert_eq!(kernel.noise_scale, 0.2);
    assert_eq!(kernel.origin.to_string(), "from the data, noise_scale = 0.2");
}

#[test]
fn starts_without_data_are_refused() {
    let refused = |task: &str, rest: &str, expected: &str| {
        let errors =
            check_text(&spec(task, rest).replace("poe", "bsgd"), &[]).map(|_| ()).unwrap_err().to_string();
        assert!(errors.contains(expected), "{errors}");
    };
    refused(
        "train",
        "[train]\ninitial = { from = \"ones\", restarts = 3 }\n",
        "`restarts` has no effect without `from`; add from = \"data\"",
    );
    let network = "[kernel.rbf]\nhyperparameters = \"data\"\nnetwork = { widths = [4] }\n";
    refused(
        "learn",
        network,
        "kernel `rbf` is not on the inputs, from whose distances length scales are made",
    );
    let search = "schema = 1\nname = \"s\"\ntask = \"thompson\"\n[matrix]\ndataset = [\"objective\"]\n\
                  kernel = [\"matern32\"]\nsolver = [\"cg\"]\n[kernel.matern32]\nhyperparameters = \"data\"\n\
                  [budget]\nmax_epochs = 10\n";
    let errors = check_text(search, &[]).map(|_| ()).unwrap_err().to_string();
    assert!(errors.contains("a search has no data before it begins"), "{errors}");
}
