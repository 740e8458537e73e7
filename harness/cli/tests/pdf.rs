//! Charts as PDF, by a program that may be absent.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::support::{Ended, Sandbox, spec};

#[test]
fn charts_are_written_as_pdf_where_the_converter_is_installed() {
    let sandbox = Sandbox::with_spec(&spec("pdf", &[]));
    sandbox.run(&["run", "spec.toml"]).exits(0);
    let report = |converter: &str| {
        // A folder of programs with a converter or without any.
        let programs = sandbox.path("programs");
        fs::create_dir_all(&programs).expect("a folder");
        let file = programs.join("rsvg-convert");
        let _ = fs::remove_file(&file);
        if !converter.is_empty() {
            fs::write(&file, converter).expect("a file");
            fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("its owner's");
        }
        let mut command = sandbox.command(&["report", "pdf", "--pdf"]);
        Ended::of(command.env("PATH", &programs))
    };
    report("").exits(2).says(&["`--pdf` needs the program rsvg-convert", "librsvg2-bin"]);
    report("#!/bin/sh\necho no memory >&2\nexit 1\n").exits(70).says(&["cannot convert", "no memory"]);

    // --format pdf SVG
    let written = report("#!/bin/sh\nwhile read -r line; do echo \"$line\"; done < \"$3\"\n").exits(0);
    written.says(&["\nchart: ", ".pdf"]);
    let figures = || {
        let folder = fs::read_dir(sandbox.path("reports/pdf/latest/figures")).expect("charts");
        folder.map(|entry| entry.expect("a chart").path()).collect::<Vec<_>>()
    };
    let count = |extension: &str| {
        figures().iter().filter(|path| path.extension() == Some(extension.as_ref())).count()
    };
    assert!(count("svg") > 0);
    assert_eq!(count("svg"), count("pdf"));

    // Those of an earlier report are no charts of this one.
    sandbox.run(&["report", "pdf"]).exits(0);
    assert_eq!(count("pdf"), 0);
}
