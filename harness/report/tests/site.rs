//! A web site of several runs.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::ZlibDecoder;
use gpbench_record::{Environment, ParamValue, Row, Source};
use gpbench_report::{ArchivedRun, Error, Run, Verification, WebSite, WrittenSite};
use serde_json::Value;

use crate::support::run;

/// A run at a place of an archive, which nobody has verified.
pub(crate) fn archived(run: Run, place: &str) -> ArchivedRun {
    ArchivedRun { run, place: place.to_owned(), verification: Verification::None }
}

/// Writes the site of some runs.
pub(crate) fn write(runs: Vec<ArchivedRun>, folder: &Path) -> WrittenSite {
    let mut site = WebSite::default();
    runs.into_iter().for_each(|run| site.add(run).unwrap());
    site.write(folder).unwrap()
}

/// The files of a site, by path, with the blocks of their pages unpacked.
fn files(folder: &Path) -> BTreeMap<String, String> {
    let list = fs::read_to_string(folder.join("files.txt")).unwrap();
    let read = |path: &str| unpacked(&fs::read_to_string(folder.join(path)).unwrap());
    list.lines().map(|path| (path.to_owned(), read(path))).collect()
}

/// A page with the text of its compressed blocks in their place.
fn unpacked(page: &str) -> String {
    const PACKED: &str = " data-packed>";
    let Some((before, rest)) = page.split_once(PACKED) else { return page.to_owned() };
    let (block, after) = rest.split_once("</script>").unwrap();
    let bytes = STANDARD.decode(block).unwrap();
    let mut text = String::new();
    ZlibDecoder::new(bytes.as_slice()).read_to_string(&mut text).unwrap();
    format!("{before}>{text}</script>{}", unpacked(after))
}

/// The stored run, as another one on another machine, in which cg has another rank.
fn elsewhere() -> Run {
    let mut run = run();
    run.record.name = "theirs".to_owned();
    run.record.environments =
        vec![Environment { cpu: "Xeon".to_owned(), threads: 4, ..Environment::default() }];
    for row in run.record.rows.iter_mut().filter(|row| row.labels.solver == "cg") {
        row.case.solver.params.insert("rank".to_owned(), ParamValue::Int(500));
    }
    run
}

/// Adds the cases on pol as those on other data sets.
pub(crate) fn add_datasets(run: &mut Run, names: &[&str]) {
    let of_pol = run.record.rows.iter().filter(|row| row.labels.dataset == "pol");
    let of_pol: Vec<Row> = of_pol.cloned().collect();
    for name in names {
        run.record.rows.extend(of_pol.iter().cloned().map(|mut row| {
            row.labels.dataset = (*name).to_owned();
            row.case.dataset.name = (*name).to_owned();
            row.case.dataset.source = Source::Registry { name: (*name).to_owned() };
            row.id = format!("{name}-{}", row.id);
            row
        }));
    }
}

#[test]
fn every_link_leads_to_a_page_and_equal_runs_give_equal_bytes() {
    let [one, other] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let runs = || vec![archived(run(), "uci/a"), archived(elsewhere(), "uci/b")];
    let written = write(runs(), one.path());
    write(runs(), other.path());
    let files_of_one = files(one.path());
    assert_eq!(files_of_one, files(other.path()));
    assert_eq!((written.files, written.cases), (files_of_one.len(), 36));
    for (path, page) in files_of_one.iter().filter(|(path, _)| path.ends_with(".html")) {
        let folder = one.path().join(path);
        let links = ["href=\"", "src=\""].into_iter().flat_map(|name| page.split(name).skip(1));
        for link in links.map(|rest| rest.split('"').next().unwrap()) {
            match link.strip_prefix('#') {
                Some(id) => assert!(page.contains(&format!("id=\"{id}\"")), "{path} has no {link}"),
                None => assert!(folder.parent().unwrap().join(link).is_file(), "{path} links {link}"),
            }
        }
    }
    let paths: Vec<&str> = files_of_one.keys().map(String::as_str).collect();
    let expected = [
        "datasets/draw.html",
        "datasets/pol.html",
        "index.html",
        "runs/uci-a.html",
        "runs/uci-b.html",
        "site.css",
        "site.js",
        "solvers/cg-2.html",
        "solvers/cg.html",
        "solvers/cholesky.html",
        "solvers/jacobi.html",
    ];
    assert_eq!(paths, expected);
}

#[test]
fn a_site_replaces_an_earlier_one_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    write(vec![archived(run(), "uci/a"), archived(elsewhere(), "uci/b")], folder.path());
    fs::write(folder.path().join("notes.txt"), "mine").unwrap();
    write(vec![archived(run(), "uci/a")], folder.path());
    assert!(
        !folder.path().join("runs/uci-b.html").exists() && folder.path().join("runs/uci-a.html").exists()
    );
    assert!(folder.path().join("notes.txt").exists());
    let foreign = tempfile::tempdir().unwrap();
    fs::write(foreign.path().join("index.html"), "mine").unwrap();
    let refused = WebSite::default().write(foreign.path()).unwrap_err();
    assert!(matches!(refused, Error::Format { .. }) && refused.to_string().contains("give another folder"));
    // A list that was changed leads to no file outside.
    let list = folder.path().join("files.txt");
    fs::write(&list, "../runs\n/etc/hostname\nnotes.txt/..\n").unwrap();
    write(vec![archived(run(), "uci/a")], folder.path());
    assert!(folder.path().join("notes.txt").exists());
}

#[test]
fn times_of_different_machines_never_share_a_table() {
    let folder = tempfile::tempdir().unwrap();
    write(vec![archived(run(), "ours"), archived(elsewhere(), "theirs")], folder.path());
    let files = files(folder.path());
    for page in ["datasets/pol.html", "solvers/cholesky.html"] {
        let mut machines = BTreeSet::new();
        for table in files[page].split("<h3>Times on ").skip(1) {
            let (machine, table) = table.split_once("</h3>").unwrap();
            let table = table.split("</table>").next().unwrap();
            let has = |run: &str| table.contains(&format!("../runs/{run}.html"));
            assert!(has("ours") != has("theirs"), "{page}, {machine}: {table}");
            assert_eq!(machine.starts_with("Xeon"), has("theirs"), "{page}");
            machines.insert(machine);
        }
        assert_eq!(machines.len(), 2, "{page}");
        // Qualities do not depend on the machine.
        let quality = files[page].split("<h3>Results</h3>").nth(1).unwrap().split("</table>").next().unwrap();
        assert!(quality.contains("test RMSE") && !quality.contains("[s]"), "{page}: {quality}");
        assert!(
            ["ours", "theirs"].iter().all(|run| quality.contains(&format!("../runs/{run}.html"))),
            "{page}"
        );
    }
}

#[test]
fn ratios_to_the_fastest_have_intervals_over_seeds() {
    let folder = tempfile::tempdir().unwrap();
    write(vec![archived(run(), "ours")], folder.path());
    let page = fs::read_to_string(folder.path().join("datasets/draw.html")).unwrap();
    let table = page.split("<h3>Times on ").nth(1).unwrap().split("</p>").next().unwrap();
    // The fastest is the baseline of the run's report, where cg has a speed-up of 0.65 [0.49, 0.87] over it.
    assert!(table.contains("<td class=\"number\">1×</td>"), "{table}");
    assert!(table.contains("<td class=\"number\">1.5× <small>[1.1, 2.0]</small></td>"), "{table}");
    assert!(table.contains("brackets are 95 % t intervals over seeds, from three"), "{table}");
}

#[test]
fn a_name_means_one_thing() {
    let folder = tempfile::tempdir().unwrap();
    write(vec![archived(run(), "ours"), archived(elsewhere(), "theirs")], folder.path());
    let files = files(folder.path());
    let of_cg = &files["solvers/cg.html"];
    assert!(of_cg.contains("rank = 100") && !of_cg.contains("rank = 500"));
    assert!(files["solvers/cg-2.html"].contains("rank = 500"));
    assert!(files.contains_key("solvers/cholesky.html") && !files.contains_key("solvers/cholesky-2.html"));
    // A run of the same name again.
    write(vec![archived(run(), "a"), archived(run(), "b")], folder.path());
    let front = fs::read_to_string(folder.path().join("index.html")).unwrap();
    assert!(front.contains(">example<") && front.contains(">b<"));
}

#[test]
fn marks_of_addresses_and_pages_in_a_name_stay_what_they_are() {
    const NAME: &str = r#"a|b, c&d#e%20f"g'h<i>+j;k=l?m\n"#;
    let mut run = run();
    for row in run.record.rows.iter_mut().filter(|row| row.labels.solver == "cg") {
        row.labels.solver = NAME.to_owned();
        row.case.solver.name = NAME.to_owned();
    }
    let folder = tempfile::tempdir().unwrap();
    write(vec![archived(run, "ours")], folder.path());
    let page = &files(folder.path())["datasets/pol.html"];
    let data = chart(page);
    assert!(data["solvers"].as_array().unwrap().iter().any(|solver| solver[0] == NAME), "{data}");
    let escaped = [('&', "&amp;"), ('"', "&quot;"), ('<', "&lt;"), ('>', "&gt;")];
    let escaped = escaped.iter().fold(NAME.to_owned(), |name, (mark, by)| name.replace(*mark, by));
    assert!(page.contains(&format!("<option value=\"{escaped}\"")), "{page}");
}

/// The data of a page's chart.
fn chart(page: &str) -> Value {
    let text = page.split("<script id=\"cases\" type=\"application/json\">").nth(1).expect("a chart");
    serde_json::from_str(text.split("</script>").next().unwrap()).unwrap()
}

/// A list of numbers.
fn numbers(list: &Value) -> Vec<usize> {
    list.as_array().unwrap().iter().map(|number| number.as_u64().unwrap() as usize).collect()
}

#[test]
fn a_chart_has_every_answer_with_its_seed() {
    let folder = tempfile::tempdir().unwrap();
    write(vec![archived(run(), "ours")], folder.path());
    let data = chart(&files(folder.path())["datasets/pol.html"]);
    let ids = data["cases"]["id"].as_array().unwrap().iter();
    let ids: BTreeSet<String> = ids.map(|id| id.as_str().unwrap().to_owned()).collect();
    let run = run();
    let of_pol = run.record.rows.iter().filter(|row| row.labels.dataset == "pol" && row.status.is_answer());
    assert_eq!(ids, of_pol.map(|row| row.id.clone()).collect::<BTreeSet<String>>());
    // As many numbers in each column as there are points.
    let length = |list: &Value| list.as_array().unwrap().len();
    for (columns, of_metrics, points) in [("along", "traced", "along"), ("ends", "metrics", "ends")] {
        let points: usize = numbers(&data["cases"][points]).iter().sum();
        assert_eq!(length(&data[columns]), length(&data["clocks"]) + length(&data[of_metrics]), "{columns}");
        assert!(data[columns].as_array().unwrap().iter().all(|column| length(column) == points), "{columns}");
    }
    assert_eq!(length(&data["cases"]["seed"]), ids.len());
    for series in numbers(&data["cases"]["series"]) {
        let [solver, setting, run, machine] =
            [0, 1, 2, 3].map(|at| data["series"][series][at].as_u64().unwrap() as usize);
        assert!(data["solvers"][solver][1].as_str().unwrap().starts_with("../solvers/"));
        assert!(data["settings"][setting].as_str().unwrap().starts_with("posterior: matern32"));
        assert_eq!(data["runs"][run][1], "../runs/ours.html");
        assert!(data["machines"][machine][0].as_str().unwrap().starts_with("Example CPU, 8 cores"));
    }
}

#[test]
fn verdicts_are_shown_with_their_checks() {
    let answer = serde_json::json!({
        "schema": 1, "gpbench": "0.1.0", "verified": "2026-11-26T09:00:00Z", "journal_sha256": "aa",
        "checks": [
            {
                "check": "solutions", "result": "agrees", "checked": 7, "of": 18, "detail": "of the rows with the smallest ids",
                "differences": [], "recomputes": true,
            },
            {
                "check": "times", "result": "not checked", "checked": 0, "of": 18, "detail": "never verified",
                "differences": [], "recomputes": false,
            },
        ],
    });
    let folder = tempfile::tempdir().unwrap();
    let verified = ArchivedRun {
        verification: Verification::parse(&answer.to_string(), "aa").unwrap(),
        ..archived(run(), "ours")
    };
    let without = ArchivedRun { verification: Verification::Impossible, ..archived(elsewhere(), "theirs") };
    write(vec![verified, without], folder.path());
    let files = files(folder.path());
    assert!(
        files["index.html"].contains("agrees, 7 recomputed")
            && files["index.html"].contains("not verifiable")
    );
    let page = &files["runs/ours.html"];
    assert!(page.contains("7 of 18") && page.contains("never verified"));
    assert!(page.contains("id=\"results\""));
    // Without a journal, the page has the conditions and no tables of results.
    let page = &files["runs/theirs.html"];
    assert!(page.contains("cannot be verified") && page.contains("Xeon") && !page.contains("id=\"results\""));
}

#[test]
fn text_of_others_forms_no_tags() {
    for hostile in
        ["</script><script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "\u{202e}\u{1b}[2J"]
    {
        let mut run = run();
        run.record.name = hostile.to_owned();
        run.record.sources.insert("cg".to_owned(), hostile.to_owned());
        run.record.environments[0].cpu = hostile.to_owned();
        for row in &mut run.record.rows {
            row.labels.dataset += hostile;
            row.labels.kernel += hostile;
            row.labels.solver += hostile;
            row.case.solver.name += hostile;
            row.case.dataset.name += hostile;
            row.reason = hostile.to_owned();
            row.finished = hostile.to_owned();
        }
        let folder = tempfile::tempdir().unwrap();
        write(vec![archived(run, hostile)], folder.path());
        for (path, page) in files(folder.path()).iter().filter(|(path, _)| path.ends_with(".html")) {
            assert!(!page.contains("<img") && !page.contains("<script>"), "{path} of {hostile:?}");
            assert!(
                page.matches("<script").count() <= 3 && !page.contains('\u{202e}'),
                "{path} of {hostile:?}"
            );
            if page.contains("id=\"cases\"") {
                // The script shows texts of the chart as they are.
                assert!(!chart(page).to_string().contains('\u{202e}'), "{path} of {hostile:?}");
            }
        }
    }
}

#[test]
fn long_pages_are_compressed_and_the_front_page_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let mut ours = run();
    let names: Vec<String> = (0..120).map(|number| format!("data-{number}")).collect();
    add_datasets(&mut ours, &names.iter().map(String::as_str).collect::<Vec<_>>());
    write(vec![archived(ours, "ours")], folder.path());
    let read = |path: &str| fs::read_to_string(folder.path().join(path)).unwrap();
    let page = read("solvers/cholesky.html");
    assert!(page.contains("<script id=\"content\" type=\"text/plain\" data-packed>"), "{page}");
    assert!(page.contains("<noscript>") && !page.contains("<table>"));
    let whole = unpacked(&page);
    assert!(whole.contains("../datasets/data-119.html") && page.len() * 3 < whole.len());
    let front = read("index.html");
    assert!(front.contains("datasets/data-119.html") && !front.contains("data-packed"));
    // A short page is as it is.
    assert!(read("datasets/data-3.html").contains("<table>"));
}

#[test]
fn the_scripts_are_small_and_ask_nobody() {
    let folder = tempfile::tempdir().unwrap();
    write(vec![archived(run(), "ours")], folder.path());
    let files = files(folder.path());
    assert!(files["site.js"].len() < 40_000, "{}", files["site.js"].len());
    for (path, text) in &files {
        for words in
            ["href=\"http", "src=\"http", "fetch(", "XMLHttpRequest", "import(", "@import", "url(http"]
        {
            assert!(!text.contains(words), "{path} has {words}");
        }
    }
}
