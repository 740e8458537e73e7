//! Files of named matrices with a text beside them: a [`binary`] file of the length of a header, the header as JSON,
//! and the matrices, column by column.

use std::collections::BTreeMap;
use std::path::Path;

use gpbench_files::Durability;
use ndarray::{Array2, ShapeBuilder};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::binary::{self, FileError};
use crate::plugin::Arrays;

/// What stands before the matrices.
#[derive(Serialize, Deserialize)]
struct Header<T> {
    text: T,
    /// Groups of matrices: name, rows and columns of each.
    arrays: BTreeMap<String, Vec<(String, usize, usize)>>,
}

/// Groups of matrices, by the names of the groups.
pub(crate) type Groups = BTreeMap<String, Arrays>;

/// Writes a text and groups of matrices.
pub(crate) fn write<T: Serialize>(
    path: &Path,
    durability: Durability,
    magic: &[u8; 8],
    text: &T,
    groups: &[(&str, &Arrays)],
) -> Result<(), FileError> {
    let shape = |(name, array): (&String, &Array2<f64>)| (name.clone(), array.nrows(), array.ncols());
    let arrays = groups
        .iter()
        .map(|(group, arrays)| ((*group).to_owned(), arrays.iter().map(shape).collect()))
        .collect();
    let header = serde_json::to_vec(&Header { text, arrays }).expect("plain data with text keys serialises");
    // In the order of the header, which is sorted.
    let mut sorted = groups.to_vec();
    sorted.sort_by_key(|(group, _)| *group);
    binary::replace(path, durability, magic, |out| {
        out.write_all(&(header.len() as u64).to_le_bytes())?;
        out.write_all(&header)?;
        let arrays = sorted.iter().flat_map(|(_, arrays)| arrays.values());
        arrays.flat_map(|array| array.t()).try_for_each(|number| out.write_all(&number.to_le_bytes()))
    })
}

/// Reads a file that [`write`] wrote.
pub(crate) fn read<T: DeserializeOwned>(
    path: &Path,
    magic: &[u8; 8],
    longest: usize,
) -> Result<(T, Groups), FileError> {
    binary::read(path, magic, longest, |content| {
        parse(content).map_err(|what| FileError::mismatch(path, what))
    })
}

/// The text and the matrices of a file's content, or what is wrong with it.
fn parse<T: DeserializeOwned>(content: &[u8]) -> Result<(T, Groups), String> {
    let (length, rest) = content.split_first_chunk().ok_or("it ends before its header")?;
    let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
    let (header, mut rest) = rest.split_at_checked(length).ok_or("it ends in its header")?;
    let Header { text, arrays } = serde_json::from_slice(header).map_err(|error| error.to_string())?;
    let mut groups = Groups::new();
    for (group, shapes) in arrays {
        let group = groups.entry(group).or_default();
        for (name, rows, cols) in shapes {
            let bytes = rows.checked_mul(cols).and_then(|entries| entries.checked_mul(8));
            let parts = bytes.and_then(|bytes| rest.split_at_checked(bytes));
            let (numbers, after) = parts.ok_or_else(|| format!("it ends in `{name}`"))?;
            rest = after;
            let number = |word: &[u8]| f64::from_le_bytes(word.try_into().expect("a chunk of eight bytes"));
            let numbers = numbers.chunks_exact(8).map(number).collect();
            let array = Array2::from_shape_vec((rows, cols).f(), numbers).expect("as many as the shape says");
            group.insert(name, array);
        }
    }
    if rest.is_empty() { Ok((text, groups)) } else { Err("it continues after its end".into()) }
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    const MAGIC: &[u8; 8] = b"GPBTEST1";

    #[test]
    fn matrices_survive_the_file_bit_by_bit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("arrays.bin");
        let first = Arrays::from([
            ("b".to_owned(), array![[1.0, -0.0, 3.0], [f64::NAN, 1e-310, f64::INFINITY]]),
            ("a".to_owned(), Array2::zeros((0, 4))),
        ]);
        let second = Arrays::from([("a".to_owned(), array![[7.0]])]);
        let groups = [("z", &first), ("c", &second), ("empty", &Arrays::new())];
        write(&path, Durability::ThisRun, MAGIC, &("text", 1.0 / 3.0), &groups).unwrap();
        let (text, found): ((String, f64), Groups) = read(&path, MAGIC, usize::MAX).unwrap();
        assert_eq!(text, ("text".to_owned(), 1.0 / 3.0));
        let bits = |arrays: &Arrays| -> Vec<_> {
            let of =
                |array: &Array2<f64>| (array.dim(), array.mapv(f64::to_bits).t().iter().copied().collect());
            arrays.iter().map(|(name, array)| (name.clone(), of(array))).collect::<Vec<(_, (_, Vec<u64>))>>()
        };
        assert_eq!(found.keys().collect::<Vec<_>>(), ["c", "empty", "z"]);
        assert_eq!([bits(&found["z"]), bits(&found["c"])], [bits(&first), bits(&second)]);
        assert_eq!(found["z"]["b"].strides(), [1, 2]);
    }

    #[test]
    fn flipped_bits_and_cuts_are_errors() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("arrays.bin");
        let arrays = Arrays::from([("a".to_owned(), array![[1.0, 2.0]])]);
        write(&path, Durability::ThisRun, MAGIC, &(), &[("model", &arrays)]).unwrap();
        let good = std::fs::read(&path).unwrap();
        for byte in 0..good.len() {
            let mut bad = good.clone();
            bad[byte] ^= 1 << (byte % 8);
            std::fs::write(&path, &bad).unwrap();
            assert!(read::<()>(&path, MAGIC, usize::MAX).is_err(), "byte {byte}");
            std::fs::write(&path, &good[..byte]).unwrap();
            assert!(read::<()>(&path, MAGIC, usize::MAX).is_err(), "{byte} bytes");
        }
    }

    #[test]
    fn sizes_that_do_not_fit_are_named() {
        let content = |header: &str, numbers: usize| {
            let mut content = (header.len() as u64).to_le_bytes().to_vec();
            content.extend(header.bytes());
            content.extend(vec![0; 8 * numbers]);
            content
        };
        let parsed = |header: &str, numbers: usize| parse::<()>(&content(header, numbers)).map(|_| ());
        let of = |rows: usize| format!(r#"{{"text":null,"arrays":{{"m":[["a",{rows},2]]}}}}"#);
        assert_eq!(parsed(&of(3), 6), Ok(()));
        assert_eq!(parsed(&of(3), 5).unwrap_err(), "it ends in `a`");
        assert_eq!(parsed(&of(usize::MAX), 5).unwrap_err(), "it ends in `a`");
        assert_eq!(parsed(&of(3), 7).unwrap_err(), "it continues after its end");
    }
}
