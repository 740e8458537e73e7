//! `[report] compare`: archived results in the report of a run.

use std::fs;

use crate::support::{Sandbox, spec};

/// A folder with the packed run `archive/a.gpbench` of the spec `public`, and the spec `ours.toml`, which compares
/// with it.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::with_spec(&spec("public", &[]));
    sandbox.run(&["run", "spec.toml"]).exits(0);
    fs::create_dir(sandbox.path("archive")).unwrap();
    sandbox.run(&["pack", "public", "-o", "archive/a.gpbench"]).exits(0);
    // Ours has one solver of the archive and another one.
    let ours = spec("ours", &[("[\"cholesky\", \"cg\"]", "[\"cg\", \"ap\"]")]);
    sandbox.write("ours.toml", &format!("{ours}\n[report]\ncompare = [\"archive\"]\n"));
    sandbox
}

/// Where `ours.toml` names the archive.
fn place(sandbox: &Sandbox) -> String {
    format!("ours.toml:{}:12", sandbox.read("ours.toml").lines().count())
}

#[test]
fn archived_results_are_in_the_report_of_a_run() {
    let sandbox = sandbox();
    let ran = sandbox.run(&["run", "ours.toml"]).exits(0);
    let told = ["Beside the archive", "cg (archive public)", "cholesky (archive public)"];
    ran.prints(&told);
    let page = sandbox.read("reports/ours/latest/report.md");
    assert!(page.contains("| cg (archive public) |"), "{page}");
    for chart in ["(figures/archive-residual-y.svg)", "(figures/archive-seconds.svg)"] {
        assert!(page.contains(chart), "{chart}: {page}");
    }
    let chart = sandbox.read("reports/ours/latest/figures/archive-residual-y.svg");
    assert!(chart.contains("cholesky (archive)") && chart.contains("public (archive)"), "{chart}");
    let html = sandbox.read("reports/ours/latest/index.html");
    assert!(html.contains("<section id=\"archive\">") && html.contains("href=\"#archive\""));
    sandbox.run(&["report", "ours", "--format", "md"]).exits(0).prints(&["## Beside the archive"]);
    sandbox.run(&["report", "ours", "--format", "latex"]).exits(0).prints(&["cg (archive public)"]);

    // It is the spec that names the archive: a run that is continued gets the archive of the spec as it is now.
    let folder = fs::canonicalize(sandbox.path("reports/ours/latest")).unwrap();
    let text = sandbox.read("ours.toml").replace("[\"archive\"]", "[\"reports/public/latest\"]");
    sandbox.write("folder.toml", &text);
    sandbox.run(&["run", "folder.toml"]).exits(0).prints(&["cg (archive public)"]);
    assert_eq!(fs::canonicalize(sandbox.path("reports/ours/latest")).unwrap(), folder);

    // A packed run leaves its archive behind.
    sandbox.run(&["pack", "ours", "-o", "b.gpbench"]).exits(0);
    sandbox.run(&["unpack", "b.gpbench", "-o", "back"]).exits(0);
    assert!(!sandbox.read("back/report.md").contains("Beside the archive"));
    let packed = sandbox.run(&["report", "b.gpbench"]).exits(0).says(&["are not here, and not shown"]);
    let shown = packed.stdout;
    assert!(shown.contains("cg") && !shown.contains("Beside the archive"), "{shown}");
    sandbox.run(&["verify", "b.gpbench", "--rerun", "1", "--seed", "1"]).exits(0);
}

#[test]
fn an_archive_of_other_problems_is_named() {
    let sandbox = sandbox();
    let ran = sandbox.run(&["run", "ours.toml", "--set", "seeds=[5]"]).exits(0);
    ran.prints(&["No case of the archive (public) is of a problem of this run."]);
    assert!(!sandbox.read("reports/ours/latest/report.md").contains("Beside the archive"));
}

#[test]
fn a_spec_names_archives_that_can_be_read() {
    let sandbox = sandbox();
    let place = place(&sandbox);
    let hint = "name a packed run, a run folder or a folder of packed runs, relative to the spec";
    let refused = |what: &str| {
        for verb in [&["run", "ours.toml"][..], &["plan", "ours.toml"]] {
            let told = sandbox.run(verb).exits(2);
            told.says(&[&format!("{place}: error: cannot compare with `archive`: "), what, hint]);
        }
        assert!(!sandbox.path("reports/ours").exists());
    };
    fs::write(sandbox.path("archive/a.gpbench"), "nothing").unwrap();
    refused("it is no packed run");
    fs::remove_file(sandbox.path("archive/a.gpbench")).unwrap();
    refused("there is no run");
    fs::remove_dir(sandbox.path("archive")).unwrap();
    refused("No such file or directory");
}

#[test]
fn an_archive_that_is_damaged_or_gone_costs_no_result() {
    let sandbox = sandbox();
    let shown = format!("{}: error: archived results cannot be shown: ", place(&sandbox));
    let is_whole = || {
        let page = sandbox.read("reports/ours/latest/report.md");
        assert!(page.contains("| cg |") && !page.contains("Beside the archive"), "{page}");
    };
    // What is damaged behind the manifest is seen when the run has ended.
    let packed = fs::read(sandbox.path("archive/a.gpbench")).unwrap();
    let mut damaged = packed.clone();
    let at = damaged.len() - damaged.len() / 8;
    damaged[at] ^= 0x55;
    fs::write(sandbox.path("archive/a.gpbench"), &damaged).unwrap();
    let ran = sandbox.run(&["run", "ours.toml"]).exits(2).says(&[&shown, "a.gpbench: "]);
    assert!(ran.stdout.contains("cg"), "{}", ran.stdout);
    is_whole();
    let again = sandbox.run(&["report", "ours"]).exits(2).says(&[&shown]);
    assert!(again.stdout.contains("cg"), "{}", again.stdout);

    fs::remove_dir_all(sandbox.path("archive")).unwrap();
    sandbox.run(&["report", "ours"]).exits(2).says(&[&shown, "No such file or directory"]);
    is_whole();
    // What is there again is shown again.
    fs::create_dir(sandbox.path("archive")).unwrap();
    fs::write(sandbox.path("archive/a.gpbench"), packed).unwrap();
    sandbox.run(&["report", "ours"]).exits(0).prints(&["cg (archive public)"]);
}
