//! The table `[dataset.NAME]` for a user's own file.

use std::path::Path;

use gpbench_record::{Missing, ReadOptions, TimeUnit};
use toml::{Table, Value};

/// The table of a file that is read with these options, as TOML. A path that is not UTF-8 is shown with replacement characters.
pub fn dataset_table(name: &str, path: &Path, options: &ReadOptions) -> String {
    let ReadOptions {
        test,
        target,
        id,
        drop,
        categories,
        separator,
        header,
        group,
        split_by: _,
        missing,
        decimal,
        comment,
        time_unit,
        time_origin,
    } = options;
    let text = |character: &Option<char>| character.map(|character| Value::from(character.to_string()));
    let list = |names: &[String]| (!names.is_empty()).then(|| Value::from(names.to_vec()));
    let keys = [
        ("path", Some(Value::from(path.to_string_lossy().into_owned()))),
        ("test", test.clone().map(Value::from)),
        ("target", target.clone().map(Value::from)),
        ("id", id.clone().map(Value::from)),
        ("drop", list(drop)),
        ("categories", list(categories)),
        ("group", group.clone().map(Value::from)),
        ("separator", text(separator)),
        ("header", header.map(Value::from)),
        ("decimal", text(decimal)),
        ("comment", text(comment)),
        ("missing", (*missing != Missing::default()).then(|| Value::from(missing.as_str()))),
        ("time_unit", (*time_unit != TimeUnit::default()).then(|| Value::from(time_unit.as_str()))),
        ("time_origin", time_origin.clone().map(Value::from)),
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
            test: Some("b.csv".to_owned()),
            target: Some("price".to_owned()),
            drop: vec!["id".to_owned(), "3".to_owned()],
            categories: vec!["colour".to_owned()],
            separator: Some('\t'),
            header: Some(true),
            ..ReadOptions::default()
        };
        let expected = "[dataset.\"a b\"]\npath = \"a.csv\"\ntest = \"b.csv\"\ntarget = \"price\"\ndrop = [\"id\", \"3\"]\n\
            categories = [\"colour\"]\nseparator = \"\\t\"\nheader = true\n";
        assert_eq!(dataset_table("a b", Path::new("a.csv"), &options), expected);
        let options = ReadOptions {
            group: Some("site".to_owned()),
            missing: Missing::Drop,
            decimal: Some(','),
            comment: Some('#'),
            time_unit: TimeUnit::Hours,
            time_origin: Some("2020-01-01".to_owned()),
            ..ReadOptions::default()
        };
        let expected = "[dataset.a]\npath = \"a.csv\"\ngroup = \"site\"\ndecimal = \",\"\ncomment = \"#\"\nmissing = \"drop\"\n\
            time_unit = \"hours\"\ntime_origin = \"2020-01-01\"\n";
        assert_eq!(dataset_table("a", Path::new("a.csv"), &options), expected);
    }
}
