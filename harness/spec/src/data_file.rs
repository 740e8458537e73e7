//! A file of data in the place of a spec.

use std::path::Path;

/// Ends of names of files with data, in small letters.
const ENDS: [&str; 16] = [
    ".csv", ".tsv", ".gz", ".parquet", ".pq", ".xlsx", ".xls", ".ods", ".zip", ".feather", ".arrow", ".npy",
    ".npz", ".h5", ".arff", ".data",
];

/// What to do with a file that is no spec, where its name or its text is that of a table.
pub(crate) fn advice(path: &Path, text: Option<&str>) -> Option<String> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let is_named = ENDS.iter().any(|end| name.ends_with(end));
    (is_named || text.is_some_and(is_table)).then(|| {
        format!(
            "`gpbench data import {}` reads a file of data, and prints the table of a spec that uses it",
            path.display()
        )
    })
}

/// Whether the first lines of a text are cells with a separator, as many in each, and none of them is a key or a table of TOML.
fn is_table(text: &str) -> bool {
    let lines = || text.lines().filter(|line| !line.trim().is_empty()).take(5);
    let cells = |line: &str| line.split([',', ';', '\t']).count();
    let count = lines().next().map_or(0, cells);
    count > 1 && lines().all(|line| cells(line) == count && !line.contains(['=', '[', '#']))
}
