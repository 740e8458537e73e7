//! What is executed and loaded is what was planned.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use gpbench_engine::{End, EngineError, Executor, Interrupt, Outcome, Plan, WorkItem};
use gpbench_files::process_tag;
use gpbench_record::{
    ComposedLibrary, Composition, Environment, Message, Part, PartKind, Program, ProgramError, StopReason,
};
use gpbench_runs::read_journal;

use crate::support::{Mock, change, options, plan, run, solved, verified};

/// A plan of one case, with a library in a folder.
fn plan_with(library: &Path, content: &str) -> Plan {
    fs::write(library, content).unwrap();
    let mut plan = plan(&["cg"]);
    plan.files[0].plugin_file = library.to_owned();
    let sha256 = Program::of(library).unwrap().sha256;
    change(&mut plan.file.cases[0], |_, fingerprint| fingerprint.plugin_sha256 = sha256);
    plan
}

#[test]
fn a_case_gets_its_library_in_the_run_folder() {
    let folder = tempfile::tempdir().unwrap();
    let (library, elsewhere) = (folder.path().join("library.so"), folder.path().join("elsewhere.so"));
    for (content, is_kept) in [("code", true), ("runpath ${ORIGIN}/lib", false), ("$ORIGIN", false)] {
        let plan = plan_with(&elsewhere, content);
        let _ = fs::remove_file(&library);
        // A link of the file system is followed.
        std::os::unix::fs::symlink(&elsewhere, &library).unwrap();
        let mock = Mock::default();
        let summary = run(&mock, &plan, &options(folder.path())).unwrap().0;
        let plugin = mock.jobs.lock().unwrap()["cg"].plugin.clone();
        let sha256 = &plan.file.cases[0].fingerprint.plugin_sha256;
        let kept = summary.folder.join("programs").join(process_tag()).join(sha256).join("elsewhere.so");
        assert_eq!(plugin.file, if is_kept { kept } else { elsewhere.canonicalize().unwrap() }, "{content}");
        assert_eq!(&plugin.sha256, sha256);
        assert!(!summary.folder.join("programs").exists(), "the programs are removed at the end");
    }
}

#[test]
fn a_library_that_changed_since_it_was_planned_is_refused_before_any_case_runs() {
    let folder = tempfile::tempdir().unwrap();
    let library = folder.path().join("library.so");
    let plan = plan_with(&library, "code");
    let mock = Mock::default();
    let refused = |mock: &Mock| run(mock, &plan, &options(folder.path())).unwrap_err();
    fs::write(&library, "other code").unwrap();
    let error = refused(&mock);
    assert!(matches!(error, EngineError::Program(ProgramError::Changed { .. })), "{error}");
    let text = error.to_string();
    assert!(text.contains("library.so has changed") && text.contains("run the same again"), "{text}");
    fs::remove_file(&library).unwrap();
    assert!(matches!(refused(&mock), EngineError::Program(ProgramError::Unreadable { .. })));
    assert!(mock.asked().is_empty());
    // Cases without anything to run need no library.
    fs::write(&library, "code").unwrap();
    let summary = run(&mock, &plan, &options(folder.path())).unwrap().0;
    fs::remove_file(&library).unwrap();
    assert_eq!(run(&mock, &plan, &options(folder.path())).unwrap().0.folder, summary.folder);
}

/// Writes another library over the one of the case, or puts another in its place, while the case runs.
struct Builder<'a> {
    library: &'a Path,
    in_place: bool,
}

impl Executor for Builder<'_> {
    fn machine(&self) -> Environment {
        Environment::default()
    }

    fn run(&self, item: &WorkItem, _log: &Path, _interrupt: &Interrupt, _seen: &dyn Fn(&Message)) -> Outcome {
        let message = match item {
            WorkItem::Case(_) if self.in_place => {
                fs::write(self.library, "other code").unwrap();
                solved(StopReason::Converged, &[0.004, 0.009], 3.0)
            }
            WorkItem::Case(job) => {
                let built = self.library.with_extension("new");
                fs::write(&built, "other code").unwrap();
                fs::rename(&built, self.library).unwrap();
                assert_eq!(fs::read_to_string(&job.plugin.file).unwrap(), "code");
                solved(StopReason::Converged, &[0.004, 0.009], 3.0)
            }
            _ => verified(0.005, 0.01),
        };
        Outcome { messages: vec![message], ..Outcome::of(End::Exited(0)) }
    }
}

#[test]
fn a_library_replaced_during_a_run_is_not_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let library = folder.path().join("library.so");
    let plan = plan_with(&library, "code");
    let builder = Builder { library: &library, in_place: false };
    let summary = run(&builder, &plan, &options(folder.path())).unwrap().0;
    assert!(summary.is_complete() && summary.failures() == 0);
}

#[test]
fn no_row_is_of_a_library_overwritten_during_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let library = folder.path().join("library.so");
    let plan = plan_with(&library, "code");
    let builder = Builder { library: &library, in_place: true };
    let summary = run(&builder, &plan, &options(folder.path())).unwrap().0;
    assert!(!summary.is_complete());
    assert!(read_journal(&summary.folder).unwrap().rows.is_empty());
}

#[test]
fn a_full_disk_is_no_fault_of_the_library() {
    let copied = |kind: ErrorKind| {
        let (file, folder) = ("library.so".into(), "reports/toy".into());
        EngineError::from(ProgramError::NotCopied { file, folder, source: kind.into() })
    };
    for kind in [ErrorKind::StorageFull, ErrorKind::QuotaExceeded] {
        let text = copied(kind).to_string();
        assert!(
            text.starts_with("no room in reports/toy: ")
                && text.ends_with("make room, then run the same again"),
            "{text}"
        );
    }
    let text = copied(ErrorKind::PermissionDenied).to_string();
    assert!(text.starts_with("library.so cannot be copied to reports/toy: permission denied"), "{text}");
}

/// A plan of one case, with a script that consists of itself and a helper.
fn plan_with_parts(folder: &Path) -> Plan {
    let (script, helper) = (folder.join("script.stub"), folder.join("helper.txt"));
    let mut plan = plan_with(&script, "script");
    fs::write(&helper, "helper").unwrap();
    let part = |path: &Path| Part {
        kind: PartKind::File,
        name: path.file_name().unwrap().to_str().unwrap().to_owned(),
        version: String::new(),
        path: path.to_owned(),
        sha256: Program::of(path).unwrap().sha256,
    };
    let composition = Composition { parts: vec![part(&script), part(&helper)], ..Composition::default() };
    let sha256 = composition.identity("");
    change(&mut plan.file.cases[0], |_, fingerprint| fingerprint.plugin_sha256.clone_from(&sha256));
    plan.libraries.push(ComposedLibrary { file: script, sha256, composition });
    plan
}

#[test]
fn a_script_stays_where_it_is_with_its_parts() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan_with_parts(folder.path());
    let mock = Mock::default();
    assert!(run(&mock, &plan, &options(folder.path())).unwrap().0.is_complete());
    let job = mock.jobs.lock().unwrap()["cg"].clone();
    assert_eq!(job.plugin.file, folder.path().join("script.stub"));
    let parts: Vec<_> = job.plugin_parts.parts.iter().map(|part| part.file.file_name().unwrap()).collect();
    assert_eq!(parts, ["script.stub", "helper.txt"]);
}

#[test]
fn a_part_that_changed_since_it_was_planned_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan_with_parts(folder.path());
    fs::write(folder.path().join("helper.txt"), "other").unwrap();
    let mock = Mock::default();
    let error = run(&mock, &plan, &options(folder.path())).unwrap_err();
    assert!(error.to_string().contains("helper.txt has changed"), "{error}");
    assert!(mock.asked().is_empty());
}

#[test]
fn no_row_is_of_a_part_overwritten_during_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan_with_parts(folder.path());
    let builder = Builder { library: &folder.path().join("helper.txt"), in_place: true };
    let summary = run(&builder, &plan, &options(folder.path())).unwrap().0;
    assert!(!summary.is_complete());
    let reason = &summary.without_rows[0].reason;
    assert!(reason.contains("helper.txt has changed"), "{reason}");
}
