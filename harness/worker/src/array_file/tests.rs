use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use gpbench_files::{Durability, replace_sealed, unseal};
use gpbench_host::Arrays;
use ndarray::{Array2, ArrayView2, ShapeBuilder, array};
use proptest::prelude::*;
use safetensors::{Dtype, SafeTensors};

use super::*;

const KIND: &str = "test";

/// Writes a file with a state, numbers and bytes into a new folder; returns it, the file and its bytes.
fn written() -> (tempfile::TempDir, PathBuf, Vec<u8>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("arrays");
    let numbers = array![[1.0, -0.0, f64::NAN]];
    let file = ArrayWriter::new(KIND, &("text", 1.0 / 3.0)).array("numbers", numbers.view());
    file.bytes("solver/\"\n", b"abc").write(&path, Durability::ThisRun).unwrap();
    let bytes = fs::read(&path).unwrap();
    (folder, path, bytes)
}

fn read(path: &Path) -> Result<ArrayFile, FileError> {
    ArrayFile::read(path, KIND, 64)
}

/// The error of reading the file.
fn failure(path: &Path) -> FileError {
    read(path).map(drop).unwrap_err()
}

/// The error of a file with this header and this number of bytes before the checksum.
fn failure_of(header: &str, bytes: usize) -> FileError {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("arrays");
    let content = [&(header.len() as u64).to_le_bytes(), header.as_bytes(), &vec![0; bytes]].concat();
    replace_sealed(&path, Durability::ThisRun, |out| out.write_all(&content)).unwrap();
    failure(&path)
}

/// The file is a valid file of the public format.
#[test]
fn a_file_is_one_of_the_public_format() {
    let (_folder, _, bytes) = written();
    let file = SafeTensors::deserialize(&bytes).unwrap();
    let mut names = file.names();
    names.sort_unstable();
    assert_eq!(names, ["numbers", "sha256", "solver/\"\n"]);
    let numbers = file.tensor("numbers").unwrap();
    assert_eq!((numbers.dtype(), numbers.shape()), (Dtype::F64, &[1, 3][..]));
    let (last, [one, ..]) = (file.tensor("sha256").unwrap(), [1.0_f64, -0.0]);
    assert_eq!((last.dtype(), last.shape()), (Dtype::U8, &[32][..]));
    assert!(bytes.ends_with(last.data()) && unseal(&bytes).is_some());
    assert_eq!(numbers.data()[..8], one.to_le_bytes());
    let (length, header) = SafeTensors::read_metadata(&bytes).unwrap();
    assert_eq!(length % 8, 0, "numbers are aligned");
    let metadata = header.metadata().as_ref().unwrap();
    assert_eq!(metadata.len(), 1);
    let state = "[\"text\",0.3333333333333333]";
    assert_eq!(metadata["gpbench"], format!("{{\"kind\":\"test\",\"version\":1,\"state\":{state}}}"));
}

#[test]
fn every_flipped_bit_and_every_cut_is_found() {
    let (_folder, path, good) = written();
    let file = read(&path).unwrap();
    assert_eq!(file.state::<(String, f64)>().unwrap(), ("text".to_owned(), 1.0 / 3.0));
    assert_eq!(file.names("solver"), ["\"\n"]);
    assert_eq!(file.bytes("solver/\"\n").unwrap(), b"abc");
    for bit in 0..8 * good.len() {
        let mut bad = good.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        fs::write(&path, bad).unwrap();
        assert!(matches!(failure(&path), FileError::Damaged { .. }), "bit {bit}");
    }
    for length in 0..good.len() {
        fs::write(&path, &good[..length]).unwrap();
        assert!(matches!(failure(&path), FileError::Damaged { .. }), "{length} bytes");
    }
}

#[test]
fn a_file_that_is_too_long_is_not_read() {
    let (_folder, path, _) = written();
    let large = Array2::zeros((10_000, 1));
    ArrayWriter::new(KIND, &()).array("a", large.view()).write(&path, Durability::ThisRun).unwrap();
    assert!(failure(&path).to_string().ends_with(" bytes, more than the 16480 that it can need"));
    // A sparse file, larger than any memory.
    fs::File::options().write(true).open(&path).unwrap().set_len(1 << 42).unwrap();
    assert!(matches!(failure(&path), FileError::Mismatch { .. }));
}

#[test]
fn what_is_not_a_regular_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let fifo = folder.path().join("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    for path in [&fifo, folder.path(), Path::new("/dev/zero")] {
        let error = failure(path);
        assert!(matches!(error, FileError::Io { .. }), "{error}");
        assert!(error.to_string().ends_with(": it is not a regular file"), "{error}");
    }
}

#[test]
fn causes_are_told_apart() {
    let (folder, path, good) = written();
    assert!(matches!(failure(&folder.path().join("none")), FileError::Missing { .. }));
    assert!(matches!(failure(folder.path()), FileError::Io { .. }));
    fs::write(&path, &good[..good.len() - 1]).unwrap();
    assert!(matches!(failure(&path), FileError::Damaged { .. }));
    fs::write(&path, &good).unwrap();
    let other = ArrayFile::read(&path, "other", 64).map(drop).unwrap_err();
    assert!(matches!(other, FileError::Version { .. }), "{other}");
    let ends = "is not a file of kind `other` and of this version (it is of kind `test`, version 1): another version \
                wrote it, or it is damaged";
    assert!(other.to_string().ends_with(ends), "{other}");
    let file = read(&path).unwrap();
    assert!(matches!(file.state::<u64>(), Err(FileError::Mismatch { .. })));
    let said = |error: FileError| error.to_string();
    assert!(said(file.vector("none").unwrap_err()).ends_with(": it lacks `none`"));
    let of_numbers = said(file.vector("numbers").unwrap_err());
    assert!(of_numbers.ends_with("`numbers` is F64 [1, 3], not F64 of 1 dimensions"), "{of_numbers}");
    let of_bytes = said(file.vector("solver/\"\n").unwrap_err());
    assert!(of_bytes.ends_with("is U8 [3], not F64 of 1 dimensions"), "{of_bytes}");
    let nowhere = folder.path().join("none/arrays");
    let unwritten = ArrayWriter::new(KIND, &()).write(&nowhere, Durability::ThisRun).unwrap_err();
    assert!(matches!(unwritten, FileError::Io { .. }), "{unwritten}");
}

/// A file that another program wrote may have a valid checksum.
#[test]
fn what_does_not_parse_is_of_another_version() {
    let description = r#""__metadata__":{"gpbench":"{\"kind\":\"test\",\"version\":1,\"state\":null}"}"#;
    let arrays = |a: &str, sha256: &str| {
        format!(
            r#"{{{description},"a":{{"dtype":"F64","shape":{a}}},"sha256":{{"dtype":"U8","shape":{sha256}}}}}"#
        )
    };
    let sound = arrays(r#"[2],"data_offsets":[0,16]"#, r#"[32],"data_offsets":[16,48]"#);
    for (header, bytes, reason) in [
        ("GPBTRAI5 and so on".to_owned(), 16, "invalid JSON in header"),
        (sound.clone(), 15, "incomplete metadata, file not fully covered"),
        (sound.clone(), 17, "incomplete metadata, file not fully covered"),
        (sound.replace("[2]", "[3]"), 16, "invalid shape, data type, or offset for tensor"),
        (sound.replace("[2]", "[2305843009213693953, 8]"), 16, "overflow computing buffer size"),
        (sound.replace("[0,16]", "[8,16]"), 16, "invalid offset for tensor `a`"),
        (sound.replace("gpbench", "format"), 16, "it has no `gpbench`"),
        (sound.replace(r#"version\":1"#, r#"version\":2"#), 16, "it is of kind `test`, version 2"),
        (sound.replace(r#",\"state\":null"#, ""), 16, "missing field `state`"),
    ] {
        let error = failure_of(&header, bytes);
        assert!(matches!(error, FileError::Version { .. }), "{error}");
        assert!(error.to_string().contains(&format!("({reason}")), "{error}, not {reason}");
    }
}

#[test]
fn a_header_that_readers_refuse_is_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("arrays");
    let error =
        ArrayWriter::new(KIND, &"x".repeat(100_000_000)).write(&path, Durability::ThisRun).unwrap_err();
    assert!(error.to_string().ends_with("bytes, more than 100000000"), "{error}");
    assert!(!path.exists());
}

#[test]
fn seeds_of_the_fuzzer_are_files() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/arrays");
    let copy = tempfile::tempdir().unwrap();
    let sealed = |name: &str| {
        let (path, content) = (copy.path().join(name), fs::read(folder.join(name)).unwrap());
        replace_sealed(&path, Durability::ThisRun, |out| out.write_all(&content)).unwrap();
        path
    };
    assert_eq!(crate::solution::read(&sealed("solution"), 3, 2).unwrap().dim(), (3, 2));
    for (name, has_curve) in [("exact", false), ("exact-curve", true)] {
        assert_eq!(crate::exact_file::read(&sealed(name), 3, 2).unwrap().curve.is_some(), has_curve);
    }
}

/// Bits of the entries, row by row.
fn bits(matrix: ArrayView2<f64>) -> ((usize, usize), Vec<u64>) {
    (matrix.dim(), matrix.iter().map(|number| number.to_bits()).collect())
}

proptest! {
    #![proptest_config(gpbench_testkit::proptest_config!(64))]

    /// Matrices with arbitrary bits, empty ones included, in both memory layouts, and bytes.
    #[test]
    fn arrays_survive_the_file_bit_by_bit(
        sizes in prop::collection::vec((0_usize..4, 0_usize..4), 0..5),
        bytes in prop::collection::vec(any::<u8>(), 0..20),
        numbers in prop::collection::vec(any::<u64>(), 16),
    ) {
        const SPECIAL: [f64; 5] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 1e-310];
        let number = |i: usize| SPECIAL.get(i % 16).copied().unwrap_or(f64::from_bits(numbers[i % 16]));
        let matrices = sizes.iter().enumerate().map(|(k, &size)| {
            let entry = |(i, j): (usize, usize)| number(k + 4 * i + j);
            let matrix =
                if k % 2 == 0 { Array2::from_shape_fn(size, entry) } else { Array2::from_shape_fn(size.f(), entry) };
            (format!("m{k}"), matrix)
        });
        let matrices: Arrays = matrices.collect();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("arrays");
        let vector: ndarray::Array1<f64> = (0..sizes.len()).map(number).collect();
        let writer = ArrayWriter::new(KIND, &()).group("group", &matrices).array("vector", vector.view());
        writer.bytes("bytes", &bytes).write(&path, Durability::ThisRun).unwrap();

        let file = ArrayFile::read(&path, KIND, usize::MAX).unwrap();
        let found = file.group("group").unwrap();
        prop_assert_eq!(found.keys().collect::<Vec<_>>(), matrices.keys().collect::<Vec<_>>());
        for (name, matrix) in &matrices {
            prop_assert_eq!(bits(found[name].view()), bits(matrix.view()));
            prop_assert!(found[name].t().is_standard_layout(), "column by column");
            let by_rows = file.row_major(&format!("group/{name}")).unwrap();
            prop_assert_eq!(bits(by_rows.view()), bits(matrix.view()));
            prop_assert!(by_rows.is_standard_layout());
        }
        let found = file.vector("vector").unwrap();
        prop_assert!(found.iter().zip(&vector).all(|(a, b)| a.to_bits() == b.to_bits()));
        prop_assert_eq!((found.len(), file.bytes("bytes").unwrap()), (vector.len(), &bytes[..]));
        prop_assert!(file.has("vector") && !file.has("group") && file.group("none").unwrap().is_empty());
        SafeTensors::deserialize(&fs::read(&path).unwrap()).unwrap();
    }
}
