//! The content of a file decides whether its binary copy is used, and not its times.

use std::fs::{self, File, FileTimes};
use std::io::Write;
use std::path::Path;

use flate2::{Compression, write::GzEncoder};
use gpbench_data::copy;
use gpbench_data::locate::{self, SearchPlaces};
use gpbench_data::registry::{self, RegistryEntry, RemoteFile};
use gpbench_data::{Sha256Hex, Table};
use gpbench_import::{ImportSource, materialise};
use gpbench_record::ReadOptions;

fn gzip(content: &str) -> Vec<u8> {
    // Equal lengths of the texts below are equal lengths of the files.
    let mut encoder = GzEncoder::new(Vec::new(), Compression::none());
    encoder.write_all(content.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

/// Ways to give a file another content of the same length, with its time of modification.
const WAYS: [fn(&Path, &[u8]); 2] = [edit_in_place, put_in_its_place];

fn edit_in_place(file: &Path, content: &[u8]) {
    let time = fs::metadata(file).unwrap().modified().unwrap();
    fs::write(file, content).unwrap();
    File::open(file).unwrap().set_times(FileTimes::new().set_modified(time)).unwrap();
}

fn put_in_its_place(file: &Path, content: &[u8]) {
    let other = file.with_extension("other");
    fs::write(&other, content).unwrap();
    let time = fs::metadata(file).unwrap().modified().unwrap();
    File::open(&other).unwrap().set_times(FileTimes::new().set_modified(time)).unwrap();
    fs::rename(other, file).unwrap();
}

/// The table that a source has, through its copy.
fn table(path: &Path, copies: &Path) -> Table {
    let options = ReadOptions::default();
    copy::read(&materialise(&ImportSource::File { path, options: &options }, copies).unwrap().path).unwrap()
}

#[test]
fn a_table_of_the_same_size_and_time_is_read_anew() {
    for change in WAYS {
        let folder = tempfile::tempdir().unwrap();
        let (file, copies) = (folder.path().join("a.csv"), folder.path().join("copies"));
        fs::write(&file, "a,y\n1,2\n3,4\n").unwrap();
        assert_eq!(table(&file, &copies).y.to_vec(), [2.0, 4.0]);
        change(&file, b"a,y\n1,2\n3,9\n");
        assert_eq!(table(&file, &copies).y.to_vec(), [2.0, 9.0]);
        // The first content has its copy still.
        change(&file, b"a,y\n1,2\n3,4\n");
        let options = ReadOptions::default();
        let back = materialise(&ImportSource::File { path: &file, options: &options }, &copies).unwrap();
        assert!(!back.is_new && copy::read(&back.path).unwrap().y.to_vec() == [2.0, 4.0]);
    }
}

#[test]
fn data_and_masks_of_a_folder_are_read_anew() {
    for change in WAYS {
        let folder = tempfile::tempdir().unwrap();
        let (set, copies) = (folder.path().join("set"), folder.path().join("copies"));
        fs::create_dir(&set).unwrap();
        let (data, mask) = (set.join("data.csv.gz"), set.join("test_mask.csv.gz"));
        fs::write(&data, gzip("1,2\n3,4\n5,6\n")).unwrap();
        let drawn = table(&set, &copies);
        fs::write(&mask, gzip("0\n1\n0\n")).unwrap();
        let first = table(&set, &copies);
        assert!(drawn.test_masks.is_empty() && first.test_masks == [[false, true, false]]);
        change(&mask, &gzip("1\n0\n0\n"));
        assert_eq!(table(&set, &copies).test_masks, [[true, false, false]]);
        change(&data, &gzip("1,2\n3,4\n5,7\n"));
        assert_eq!(table(&set, &copies).y.to_vec(), [2.0, 4.0, 7.0]);
        // A mask that leads nowhere is not a set without masks.
        fs::remove_file(&mask).unwrap();
        std::os::unix::fs::symlink("nowhere", &mask).unwrap();
        let options = ReadOptions::default();
        let error = materialise(&ImportSource::File { path: &set, options: &options }, &copies).unwrap_err();
        assert!(error.to_string().contains("test_mask.csv.gz: cannot be read"), "{error}");
    }
}

#[test]
fn a_registered_set_with_other_masks_is_read_anew_and_says_so() {
    for change in WAYS {
        let folder = tempfile::tempdir().unwrap();
        let set = folder.path().join("made");
        fs::create_dir(&set).unwrap();
        let (data, masks) = (gzip("1,2\n3,4\n5,6\n"), gzip("0\n1\n0\n"));
        fs::write(set.join("data.csv.gz"), &data).unwrap();
        fs::write(set.join("test_mask.csv.gz"), &masks).unwrap();
        let file = |name: &str, content: &[u8]| RemoteFile {
            name: name.into(),
            bytes: None,
            sha256: Some(Sha256Hex::of_bytes(content)),
        };
        let entry = RegistryEntry {
            name: "made".into(),
            n: 3,
            d: 1,
            files: vec![file("data.csv.gz", &data), file("test_mask.csv.gz", &masks)],
            ..registry::find("pol").unwrap().clone()
        };
        let places = SearchPlaces {
            data_dir: Some(folder.path().into()),
            env: None,
            cache: folder.path().join("cache"),
            mirror: None,
        };
        let found = locate::locate(&entry, &places).unwrap();
        let made = || materialise(&ImportSource::Collection(&found, &entry), &places.copies()).unwrap();
        let first = made();
        assert_eq!(first.warnings, Vec::<String>::new());
        change(&set.join("test_mask.csv.gz"), &gzip("1\n0\n0\n"));
        let second = made();
        assert_ne!(second.sha256, first.sha256);
        assert!(
            second.warnings[0].contains("test_mask.csv.gz is not the registered file"),
            "{:?}",
            second.warnings
        );
    }
}
