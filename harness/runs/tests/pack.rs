//! Packed runs: what is packed comes back, and what a stranger may have made of it is refused.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use gpbench_files::checksum::seal;
use gpbench_record::CaseStatus;
use gpbench_runs::{
    PACK_FORMAT, PackFault, PackManifest, RunError, RunRecord, copy_solutions, kept_solutions, list_runs,
    pack, packed_entries, read_manifest, resolve_run, unpack,
};
use tar::{Builder, EntryType, Header};
use tempfile::TempDir;

use crate::arbitrary_pack;
use crate::merge::run;
use crate::record::plan;

const ID: &str = "20260102T120000Z-aaaaaa";

const A: &[u8] = b"a";
const NOTHING: &[u8] = b"";

/// A run of two cases with a chart and a solution, to be packed.
struct Place {
    output: TempDir,
    folder: PathBuf,
}

impl Place {
    fn new() -> Place {
        let output = tempfile::tempdir().unwrap();
        let rows = [("cg", CaseStatus::Ok), ("ap", CaseStatus::Ok)];
        let folder = run(&output.path().join("reports"), &plan(&["cg", "ap"]), &rows);
        for name in ["figures", "solutions", "logs"] {
            fs::create_dir_all(folder.join(name)).unwrap();
        }
        fs::write(folder.join(format!("figures/{}.svg", "x".repeat(150))), "<svg/>").unwrap();
        fs::write(folder.join("solutions/cg.safetensors"), "numbers").unwrap();
        fs::write(folder.join("logs/cg.log"), "a log").unwrap();
        fs::write(folder.join("index.html"), "page").unwrap();
        Place { output, folder }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.output.path().join(name)
    }

    fn pack(&self, name: &str) -> PackManifest {
        pack(&self.folder, about(), &self.at(name)).unwrap()
    }

    /// The fault of a packed run, of which nothing is left.
    #[track_caller]
    fn refused(&self, name: &str) -> PackFault {
        let into = self.at("into/here");
        let error = unpack(&self.at(name), &into).unwrap_err();
        let left: Vec<_> = fs::read_dir(self.at("into")).into_iter().flatten().flatten().collect();
        assert!(!into.exists() && left.is_empty(), "{left:?}");
        assert!(error.is_users(), "{error}");
        let RunError::Packed { fault, .. } = error else { panic!("{error}") };
        fault
    }

    /// Writes an archive with these entries, the manifest first.
    fn write(&self, name: &str, manifest: &PackManifest, entries: &[(&str, EntryType, &[u8])]) {
        let text = seal(&serde_json::to_vec(manifest).unwrap());
        let all = [("gpbench-pack.json", EntryType::Regular, &*text)];
        self.write_raw(name, all.iter().chain(entries));
    }

    fn write_raw<'e>(
        &self,
        name: &str,
        entries: impl IntoIterator<Item = &'e (&'e str, EntryType, &'e [u8])>,
    ) {
        let mut archive = Builder::new(Vec::new());
        for (path, kind, content) in entries {
            let mut header = Header::new_gnu();
            // The writer of archives refuses such paths by itself.
            header.as_gnu_mut().unwrap().name[..path.len()].copy_from_slice(path.as_bytes());
            header.set_entry_type(*kind);
            header.set_size(content.len() as u64);
            header.set_mode(0o644);
            header.set_cksum();
            archive.append(&header, *content).unwrap();
        }
        let archive = archive.into_inner().unwrap();
        fs::write(self.at(name), zstd::encode_all(&*archive, 1).unwrap()).unwrap();
    }
}

fn about() -> PackManifest {
    PackManifest {
        format: PACK_FORMAT,
        gpbench: "0.1.0".into(),
        name: "toy".into(),
        run: ID.into(),
        entries: Vec::new(),
    }
}

/// A manifest of files with this content.
fn listing(files: &[(&str, &[u8])]) -> PackManifest {
    let entry = |(path, content): &(&str, &[u8])| gpbench_runs::PackedEntry {
        path: (*path).to_owned(),
        bytes: content.len() as u64,
        sha256: gpbench_record::sha256_hex(*content).unwrap(),
    };
    PackManifest { entries: files.iter().map(entry).collect(), ..about() }
}

#[test]
fn a_packed_run_comes_back() {
    let place = Place::new();
    let manifest = place.pack("a.gpbench");
    assert_eq!((manifest.solutions(), manifest.entries.len()), (1, 7), "{manifest:?}");
    assert!(!manifest.entries.iter().any(|entry| entry.path.contains("log")), "{manifest:?}");
    assert_eq!(read_manifest(&place.at("a.gpbench")).unwrap(), manifest);
    let into = place.at("back");
    assert_eq!(unpack(&place.at("a.gpbench"), &into).unwrap(), manifest);
    let names = |folder: &Path| packed_entries(folder).unwrap();
    assert_eq!(names(&into), names(&place.folder));
    let [old, new] = [&place.folder, &into].map(|folder| RunRecord::open(folder).unwrap());
    assert_eq!(RunRecord { folder: old.folder.clone(), ..new }, old);
    assert_eq!(kept_solutions(&into).into_keys().collect::<Vec<_>>(), ["cg"]);
    let copied = place.at("copied");
    copy_solutions(kept_solutions(&into).values().map(PathBuf::as_path), &copied).unwrap();
    assert_eq!(fs::read_to_string(copied.join("solutions/cg.safetensors")).unwrap(), "numbers");
}

#[test]
fn equal_files_give_equal_bytes() {
    let place = Place::new();
    place.pack("a.gpbench");
    let page = place.folder.join("index.html");
    File::options().append(true).open(&page).unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
    place.pack("b.gpbench");
    let read = |name: &str| fs::read(place.at(name)).unwrap();
    assert!(read("a.gpbench") == read("b.gpbench"));
    fs::write(page, "other").unwrap();
    place.pack("b.gpbench");
    assert!(read("a.gpbench") != read("b.gpbench"));
}

#[test]
fn a_packed_run_is_found_by_its_path_and_is_no_run_of_a_name() {
    let place = Place::new();
    place.pack("a.gpbench");
    let (output, file) = (place.at("reports"), place.at("a.gpbench"));
    let runs = list_runs(&output);
    let found = resolve_run(&output, file.to_str().unwrap()).unwrap();
    assert!(found.ends_with(format!("toy/{ID}")) && found.starts_with(output.join(".unpacked")), "{found:?}");
    assert_eq!(RunRecord::open(&found).unwrap().rows.len(), 2);
    assert_eq!(resolve_run(&output, file.to_str().unwrap()).unwrap(), found);
    assert_eq!(list_runs(&output), runs);
    // Another file of the same name is another run.
    fs::write(place.folder.join("index.html"), "other").unwrap();
    place.pack("a.gpbench");
    assert_ne!(resolve_run(&output, file.to_str().unwrap()).unwrap(), found);
    fs::write(&file, "nothing").unwrap();
    let refused = resolve_run(&output, file.to_str().unwrap()).unwrap_err().to_string();
    assert!(refused.ends_with("it is no packed run; `gpbench pack RUN -o FILE` writes one"), "{refused}");
}

#[test]
fn other_files_and_later_versions_are_refused() {
    let place = Place::new();
    let file: &[u8] = b"{}";
    for content in [&b""[..], b"(\xb5", b"PK\x03\x04 and so on"] {
        fs::write(place.at("a"), content).unwrap();
        assert!(matches!(place.refused("a"), PackFault::NotPacked), "{content:?}");
    }
    // An archive of something else.
    place.write_raw("a", &[("plan.json", EntryType::Regular, file)]);
    assert!(matches!(place.refused("a"), PackFault::NotPacked));
    place.write("a", &PackManifest { format: PACK_FORMAT + 1, ..about() }, &[]);
    let newer = place.refused("a");
    assert!(!newer.is_of_content());
    assert_eq!(
        newer.to_string(),
        "it has format 2, which is newer than this gpbench reads (1); use a newer gpbench"
    );
    place.write_raw("a", &[("gpbench-pack.json", EntryType::Regular, file)]);
    assert!(place.refused("a").to_string().contains("it has no `format`"));
    // A manifest without its checksum.
    let bare = serde_json::to_vec(&about()).unwrap();
    place.write_raw("a", &[("gpbench-pack.json", EntryType::Regular, &*bare)]);
    assert!(place.refused("a").to_string().contains("its checksum is wrong"));
    place.write("a", &PackManifest { run: "../..".into(), ..about() }, &[]);
    assert!(place.refused("a").to_string().contains("`../..` cannot name a run"));
}

#[test]
fn entries_lead_nowhere_else() {
    let place = Place::new();
    let content: &[u8] = b"x";
    for path in ["/tmp/x.md", "../x.md", "figures/../../x.md", "logs/x.md", ".x.md", "x.so"] {
        place.write("a", &listing(&[(path, content)]), &[(path, EntryType::Regular, content)]);
        assert!(matches!(place.refused("a"), PackFault::Path { .. }), "{path}");
        // The manifest lists a harmless one.
        place.write("a", &listing(&[("x.md", content)]), &[(path, EntryType::Regular, content)]);
        assert!(matches!(place.refused("a"), PackFault::Path { .. }), "{path}");
    }
    for kind in
        [EntryType::Symlink, EntryType::Link, EntryType::Directory, EntryType::Fifo, EntryType::XHeader]
    {
        place.write("a", &listing(&[("x.md", NOTHING)]), &[("x.md", kind, NOTHING)]);
        assert!(matches!(place.refused("a"), PackFault::NotAFile { .. }), "{kind:?}");
    }
}

#[test]
fn entries_are_those_of_the_manifest() {
    let place = Place::new();
    let plan = |content: &'static [u8]| ("plan.json", EntryType::Regular, content);
    let page = |content: &'static [u8]| ("index.html", EntryType::Regular, content);
    let manifest = listing(&[("index.html", A), ("plan.json", A)]);
    place.write("a", &manifest, &[page(A), plan(A)]);
    unpack(&place.at("a"), &place.at("whole")).unwrap();
    for (entries, what) in [
        (vec![page(b"b"), plan(A)], "its entry `index.html` has another content than its manifest states"),
        (vec![page(b"aa"), plan(A)], "its entry `index.html` has another content than its manifest states"),
        (vec![page(A)], "its entry `plan.json` is missing"),
        (vec![plan(A), page(A)], "its entry `plan.json` is not in its manifest, or not in this place"),
        (vec![page(A), page(A)], "its entry `index.html` is not in its manifest, or not in this place"),
        (
            vec![page(A), plan(A), plan(A)],
            "its entry `plan.json` is not in its manifest, or not in this place",
        ),
    ] {
        place.write("a", &manifest, &entries);
        let fault = place.refused("a");
        assert!(fault.is_of_content());
        assert_eq!(fault.to_string(), what);
    }
    // Two entries of one name: readers would differ in which one they take.
    place.write("a", &listing(&[("plan.json", A), ("plan.json", A)]), &[plan(A), plan(A)]);
    let fault = place.refused("a");
    assert!(fault.is_of_content());
    assert_eq!(fault.to_string(), "its manifest is damaged (it lists `plan.json` twice)");
}

#[test]
fn what_is_too_large_is_not_unpacked() {
    let place = Place::new();
    let mut manifest = listing(&[("index.html", A)]);
    manifest.entries[0].bytes = 1 << 40;
    place.write("a", &manifest, &[("index.html", EntryType::Regular, A)]);
    assert!(place.refused("a").to_string().contains("has 1099511627776 bytes, more than the 1073741824"));
    // Few bytes of an archive, and many values in memory.
    let many = vec![b','; (32 << 20) + 1];
    place.write("a", &listing(&[("plan.json", &*many)]), &[("plan.json", EntryType::Regular, &*many)]);
    assert!(fs::metadata(place.at("a")).unwrap().len() < 1 << 16);
    let fault = place.refused("a");
    assert!(fault.is_of_content());
    assert_eq!(
        fault.to_string(),
        "its entry `plan.json` has more than 33554432 values, the most that are unpacked"
    );
    // A path that is longer than any of a run.
    let long = vec![b'x'; 1 << 20];
    place.write("a", &listing(&[("index.html", A)]), &[("L", EntryType::GNULongName, &*long)]);
    assert!(place.refused("a").to_string().starts_with("a path has 1048576 bytes"));
}

#[test]
fn every_flipped_byte_and_every_cut_is_found() {
    let place = Place::new();
    place.write("a", &listing(&[("index.html", A)]), &[("index.html", EntryType::Regular, A)]);
    let whole = fs::read(place.at("a")).unwrap();
    for at in 0..whole.len() {
        let mut bad = whole.clone();
        bad[at] ^= 0x11;
        fs::write(place.at("bad"), &bad).unwrap();
        if unpack(&place.at("bad"), &place.at("unpacked")).is_ok() {
            // Bits that say nothing of the content.
            assert_eq!(fs::read(place.at("unpacked/index.html")).unwrap(), b"a", "byte {at}");
            fs::remove_dir_all(place.at("unpacked")).unwrap();
        }
    }
    // The end of an archive is followed by zeros alone.
    for length in 0..whole.len() / 2 {
        File::create(place.at("bad")).unwrap().write_all(&whole[..length]).unwrap();
        place.refused("bad");
    }
}

#[test]
fn seeds_of_the_fuzzer_are_read_too() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/unpack");
    let folder = tempfile::tempdir().unwrap();
    let (mut whole, mut refused) = (Vec::new(), 0);
    for seed in fs::read_dir(seeds).unwrap() {
        let seed = seed.unwrap();
        match arbitrary_pack::read(&fs::read(seed.path()).unwrap(), folder.path()) {
            Ok(_) => whole.push(seed.file_name().into_string().unwrap()),
            Err(error) => {
                assert!(matches!(error, RunError::Packed { .. }), "{:?}: {error}", seed.file_name());
                refused += 1;
            }
        }
    }
    whole.sort();
    assert_eq!(whole, ["archive", "empty", "entries", "file", "long-path"]);
    assert!(refused >= 15, "{refused}");
}

/// Every byte of a seed is changed in turn: a run comes back whole, or nothing does.
#[test]
fn changed_seeds_leave_a_whole_run_or_nothing() {
    let seed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/unpack/entries");
    let (seed, folder) = (fs::read(seed).unwrap(), tempfile::tempdir().unwrap());
    for (at, change) in (1..seed.len()).flat_map(|at| [(at, 0x01), (at, 0x20)]) {
        let mut changed = seed.clone();
        changed[at] ^= change;
        let _ = arbitrary_pack::read(&changed, folder.path());
    }
}
