//! A misbehaving learner costs no row and changes no other result.

use crate::support::zoo::{Expected, by_solver, files, run, survivors, temporary, unmet};
use crate::support::{Sandbox, library, reproducible};

const ACTS: &[Expected] = &[
    ("fit_well", "ok", ""),
    ("print_stdout", "ok", ""),
    ("escape_unmarked", "ok", ""),
    ("exhaust_threads", "ok", ""),
    ("remove_checkpoint", "ok", ""),
    ("cut_checkpoint", "ok", ""),
    ("ask_wildly", "ok", ""),
    ("put_wildly", "ok", ""),
    ("no_model", "ok", ""),
    ("no_predictions", "ok", ""),
    ("panic_in_begin", "crashed", "panic"),
    ("panic_in_step", "crashed", "panic"),
    ("panic_in_model", "crashed", "panic"),
    ("panic_in_save", "crashed", "panic"),
    ("panic_in_predict", "crashed", "panic"),
    ("abort_in_predict", "crashed", "SIGABRT"),
    ("segfault", "crashed", "SIGSEGV"),
    ("exit_in_model", "crashed", "exited with status 0"),
    ("exit_in_destroy", "crashed", "exited with status 0"),
    ("hang_in_step", "timeout", "killed"),
    ("hang_in_predict", "timeout", "killed"),
    ("draw_for_ever", "timeout", "killed"),
    ("hang_without_leader", "timeout", "killed"),
    ("go_on", "invalid", "took 5 steps after it was told to stop"),
    ("stop_untold", "invalid", "says that it was stopped, which it was not"),
    ("jump_ahead", "invalid", "`step` is 7, where step 1 is the next"),
    ("observe_nan", "invalid", "`objective` is NaN"),
    ("wrong_report", "invalid", "reason -77"),
    ("unknown_status", "invalid", "gave no reason"),
    ("error", "invalid", "as told"),
    ("foreign_text", "invalid", "end of foreign text"),
    ("write_targets", "invalid", "wrote into the targets"),
    ("write_inputs", "invalid", "wrote into the inputs"),
    ("nothing_at_all", "invalid", "predict failed: no predictions"),
    ("no_kind", "invalid", "no `kind`"),
    ("unknown_kind", "invalid", "no `kind`"),
    ("wrong_shape", "invalid", "length_scale"),
    ("negative_noise", "invalid", "noise_scale"),
    ("other_model", "invalid", "predicts otherwise than its model"),
    ("negative_variances", "invalid", "predicts otherwise than its model"),
    ("forge_trace", "invalid", ""),
    ("nan_objective", "diverged", "divergence"),
    ("nan_model", "diverged", ""),
    ("nan_predictions", "diverged", "not finite"),
    ("nan_variances", "diverged", "variances are not finite"),
    ("infinite_variance", "diverged", "variances are not finite"),
    ("put_without_end", "out_of_memory", "killed"),
    ("allocate_memfd", "out_of_memory", "killed"),
    ("allocate_in_predict", "out_of_memory", "killed"),
];

/// A spec of a learner that keeps every rule, and of acts.
fn spec(acts: &[Expected]) -> String {
    let names: String = acts.iter().map(|(name, ..)| format!(", \"{name}\"")).collect();
    let hostile = library("gpbench_hostile");
    let table = |(name, status, _): &Expected| {
        let time = if *status == "timeout" { "" } else { "budget.time = \"1h\"\n" };
        let file = hostile.display();
        format!(
            "\n[solver.{name}]\nplugin = \"hostile-learner\"\nlibrary = \"{file}\"\nparams.act = \"{name}\"\n{time}"
        )
    };
    let tables: String = acts.iter().map(table).collect();
    let honest = library("gpbench_learners");
    format!(
        r#"schema = 1
name = "zoo"
task = "learn"
seeds = [0]

[matrix]
dataset = ["draw"]
kernel = ["matern32"]
solver = ["descent"{names}]

[dataset.draw]
from = "gp-draw"
n = 60
d = 1

[kernel.matern32]
hyperparameters = {{ signal_scale = 1.0, noise_scale = 0.3, length_scale = 1.0 }}

[learn]
epochs = 4
every = 1

[budget]
memory = "300MiB"

[solver.descent]
plugin = "scale-descent"
library = "{}"
{tables}"#,
        honest.display()
    )
}

#[test]
fn no_act_of_a_learner_loses_a_row_or_changes_another() {
    let alone = Sandbox::with_spec(&spec(&[]));
    run(&alone, &["-j", "4"]).exits(0);
    let quiet = alone.cases();

    let sandbox = Sandbox::with_spec(&spec(ACTS));
    run(&sandbox, &["-j", "4", "--kill-after", "4"]).exits(1);
    let cases = sandbox.cases();
    assert_eq!(cases.len(), ACTS.len() + 1);
    let found = by_solver(&cases);
    let wrong = unmet(&found, ACTS);
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(found["descent"]["status"], "ok");
    assert_eq!(reproducible(found["descent"]), reproducible(&quiet[0]), "the metrics of descent changed");
    let well = reproducible(found["fit_well"]);
    // Without a model or predictions, metrics are missing.
    let is_whole = |name: &str| !["no_model", "no_predictions"].contains(&name);
    for (name, ..) in ACTS.iter().filter(|(name, status, _)| *status == "ok" && is_whole(name)) {
        assert_eq!(reproducible(found[name]), well, "{name} changed its own result");
    }
    assert_eq!(survivors(&sandbox.path(".")), [0; 0], "no process is left");
    assert_eq!(temporary(&files(&sandbox.path("reports"))), None, "no temporary file is left");
}

#[test]
fn work_of_a_learner_in_any_call_counts() {
    // A learner without a model may fit when it predicts.
    let acts = ["work_in_model", "work_in_save", "work_in_predict"];
    let all = [&acts[..], &["work_in_create"]].concat();
    let all: Vec<_> = all.into_iter().map(|act| (act, "ok", "")).collect();
    let sandbox = Sandbox::with_spec(&spec(&all));
    run(&sandbox, &["-j", "4"]).exits(0);
    let cases = sandbox.cases();
    let found = by_solver(&cases);
    // There is no data yet: it is shown apart.
    let import = &found["work_in_create"]["metrics"]["seconds_import"];
    assert!(import.as_f64().is_some_and(|seconds| seconds > 1.3), "{import}");
    for act in acts {
        let metrics = &found[act]["metrics"];
        let seconds =
            |name: &str| metrics[name].as_f64().unwrap_or_else(|| panic!("{act}: {name} is measured"));
        let (counted, free) = (seconds("seconds"), seconds("seconds_iterates"));
        // The act takes 1.5 s, of which 0.05 s and a twentieth of the counted time are free.
        assert!(counted > 1.3 && free <= 0.05 + 0.05 * counted + 1e-9, "{act}: {metrics}");
    }
}
