//! The table `[dataset.NAME]` for a user's own file.

use std::path::Path;

use gpbench_record::ReadOptions;
use toml::{Table, Value};

/// The table of a file that is read with these options, as TOML. A path that is not UTF-8 is shown with replacement characters.
pub fn dataset_table(name: &str, path: &Path, options: &ReadOptions) -> String {
    let ReadOptions { target, drop, categories, separator, header } = options;
    let list = |names: &[String]| (!names.is_empty()).then(|| Value::from(names.to_vec()));
    let keys = [
        ("path", Some(Value::from(path.to_string_lossy().into_owned()))),
        ("target", target.clone().map(Value::from)),
        ("drop", list(drop)),
        ("categories", list(categories)),
        ("separator", separator.map(|separator| Value::from(separator.to_string()))),
        ("header", header.map(Value::from)),
    ];
    let of = |key: &str, table: Table| Table::from_iter([(key.to_owned(), Value::Table(table))]);
    let table = keys.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect();
    of("dataset", of(name, table)).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_options_that_are_set_are_keys() {
        let file = Path::new("data/my file.csv");
        let text = dataset_table("mine", file, &ReadOptions::default());
        assert_eq!(text, "[dataset.mine]\npath = \"data/my file.csv\"\n");
        let options = ReadOptions {
            target: Some("price".to_owned()),
            drop: vec!["id".to_owned(), "3".to_owned()],
            categories: vec!["colour".to_owned()],
            separator: Some('\t'),
            header: Some(true),
        };
        let expected = "[dataset.\"a b\"]\npath = \"a.csv\"\ntarget = \"price\"\ndrop = [\"id\", \"3\"]\n\
            categories = [\"colour\"]\nseparator = \"\\t\"\nheader = true\n";
        assert_eq!(dataset_table("a b", Path::new("a.csv"), &options), expected);
    }
}
