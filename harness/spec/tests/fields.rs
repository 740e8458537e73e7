//! Every field of a spec, with every kind of value that is wrong there: the outcome is a plan or a list of
//! mistakes, never a panic, and never more memory than the size of the spec explains.

use crate::common;
use std::fmt::Write as _;

use gpbench_record::LibraryInfo;
use gpbench_spec::{Checked, SpecErrors, load};
use rustix::process::{Resource, Rlimit, setrlimit};
use toml::{Table, Value};

/// Every key of the format, in specs that are right.
const POSTERIOR: &str = include_str!("../../../fuzz/seeds/spec/posterior.toml");

const TRAIN: &str = include_str!("../../../fuzz/seeds/spec/train.toml");
const LIKELIHOOD: &str = include_str!("../../../fuzz/seeds/spec/likelihood.toml");
const LEARN: &str = include_str!("../../../fuzz/seeds/spec/learn.toml");

/// The place of a value: keys of tables and indices of lists.
type Path = Vec<String>;

/// All places, those of tables and lists too.
fn places(value: &Value, path: &Path, out: &mut Vec<Path>) {
    let inner: Vec<(String, &Value)> = match value {
        Value::Table(table) => table.iter().map(|(key, value)| (key.clone(), value)).collect(),
        Value::Array(items) => items.iter().enumerate().map(|(k, item)| (k.to_string(), item)).collect(),
        _ => Vec::new(),
    };
    for (key, value) in inner {
        let path = [path.clone(), vec![key]].concat();
        out.push(path.clone());
        places(value, &path, out);
    }
}

/// The table or list that holds the value at a place.
fn holder<'a>(root: &'a mut Value, path: &Path) -> &'a mut Value {
    path[..path.len() - 1].iter().fold(root, |value, key| match value {
        Value::Table(table) => &mut table[key.as_str()],
        Value::Array(items) => &mut items[key.parse::<usize>().expect("a place in a list")],
        _ => unreachable!("the path leads through tables and lists"),
    })
}

fn put(root: &mut Value, path: &Path, new: Value) {
    let last = &path[path.len() - 1];
    match holder(root, path) {
        Value::Table(table) => drop(table.insert(last.clone(), new)),
        Value::Array(items) => items[last.parse::<usize>().expect("a place in a list")] = new,
        _ => unreachable!("a value is in a table or a list"),
    }
}

fn take(root: &mut Value, path: &Path) -> Value {
    let last = &path[path.len() - 1];
    match holder(root, path) {
        Value::Table(table) => table.remove(last).expect("it is there"),
        Value::Array(items) => items.remove(last.parse().expect("a place in a list")),
        _ => unreachable!("a value is in a table or a list"),
    }
}

/// Values that are wrong everywhere, or in most places.
fn wrong_values() -> Vec<Value> {
    let table = |text: &str| Value::Table(text.parse::<Table>().expect("TOML"));
    let texts = [
        "",
        "\0",
        "ü",
        "../../etc",
        "a\nb",
        "pol",
        "cg",
        "shared",
        "published",
        "generating",
        "1e999h",
        "-5GiB",
        "latest",
        "{}",
    ];
    let mut values: Vec<Value> = [i64::MIN, -1, 0, 1, 1 << 32, i64::MAX].map(Value::Integer).into();
    values.extend([0.0, 0.5, -1.5, 1e308, f64::NAN, f64::INFINITY].map(Value::Float));
    values.extend(texts.map(|text| Value::String(text.to_owned())));
    values.push(Value::Boolean(true));
    values.push(Value::String("x".repeat(10_000)));
    values.push(Value::Datetime("1979-05-27T07:32:00Z".parse().expect("a date")));
    values.extend([Value::Array(vec![]), Value::Array(vec![Value::Array(vec![])]), table("")]);
    values.push(Value::Array(vec![Value::Integer(0); 300]));
    values.push(Value::Array(vec![Value::String("pol".into()), Value::Integer(1), table("a = 1")]));
    values.extend([
        table("a = 1"),
        table("\"\" = {}"),
        table("from = \"ones\"\nn = 1"),
        table("pol = 1\ndraw = nan"),
    ]);
    values.push((0..40).fold(Value::Integer(1), |inner, _| Value::Array(vec![inner])));
    values.push(
        (0..40)
            .fold(table("z = 1"), |inner, _| Value::Table([("a".to_owned(), inner)].into_iter().collect())),
    );
    values
}

#[test]
fn seeds_of_the_fuzzer_are_checked_too() {
    with_bounded_memory();
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/spec");
    let (mut tried, mut right) = (0, 0);
    for file in std::fs::read_dir(folder).expect("the seeds") {
        let bytes = std::fs::read(file.expect("readable").path()).expect("a seed");
        tried += 1;
        right += usize::from(survives(&String::from_utf8_lossy(&bytes)));
    }
    println!("{tried} seeds: {right} plans, {} lists of mistakes", tried - right);
    assert!(right >= 3 && tried > right + 3);
}

/// Checks a text against the common catalogue and a library that a spec names by its path.
fn check(text: &str) -> Result<Checked, SpecErrors> {
    let third = common::library("third", vec![common::solver("third", &[], vec![])]);
    let mut catalog = common::catalog();
    catalog.libraries.push(LibraryInfo { file: "/nowhere/third.so".into(), ..third });
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    std::fs::write(file.path(), text).expect("a writable file");
    load(file.path(), &[])?.check(&catalog)
}

/// Checks a text and plans it if it is right; whether it is.
fn survives(text: &str) -> bool {
    match check(text) {
        Ok(checked) => {
            let plan = checked.plan();
            assert!(!plan.cases.is_empty());
            assert!(plan.cases.iter().all(|case| case.cost(1).is_none_or(|e| e.memory_bytes > 0.0)));
            true
        }
        Err(errors) => {
            let shown = errors.to_string();
            assert!(!shown.is_empty() && shown.len() < 1 << 20, "{} bytes", shown.len());
            false
        }
    }
}

/// An allocation beyond this ends the test's process.
fn with_bounded_memory() {
    let limit = Some(2 << 30);
    setrlimit(Resource::As, Rlimit { current: limit, maximum: limit }).expect("a limit on one's own memory");
}

#[test]
fn any_value_in_any_field_is_a_plan_or_a_mistake() {
    with_bounded_memory();
    let wrong_values = wrong_values();
    let (mut tried, mut right) = (0, 0);
    for spec in [POSTERIOR, TRAIN, LIKELIHOOD, LEARN] {
        if let Err(errors) = check(spec) {
            panic!("the spec to begin with is right: {errors}");
        }
        let root = Value::Table(spec.parse::<Table>().expect("TOML"));
        let mut all = Vec::new();
        places(&root, &Vec::new(), &mut all);
        for place in &all {
            for wrong in &wrong_values {
                let mut changed = root.clone();
                put(&mut changed, place, wrong.clone());
                tried += 1;
                right += usize::from(survives(&toml::to_string(&changed).expect("any table is TOML")));
            }
            // Gone, under another name, inside itself, and a second time elsewhere.
            let mut without = root.clone();
            let value = take(&mut without, place);
            let mut renamed = without.clone();
            if let Value::Table(table) = holder(&mut renamed, place) {
                table.insert(format!("{}x", place[place.len() - 1]), value.clone());
            }
            let mut nested = root.clone();
            let key = place[place.len() - 1].clone();
            put(&mut nested, place, Value::Table([(key.clone(), value.clone())].into_iter().collect()));
            let mut moved = without.clone();
            if let Value::Table(table) = &mut moved {
                table.insert(key, value);
            }
            for changed in [without, renamed, nested, moved] {
                tried += 1;
                right += usize::from(survives(&toml::to_string(&changed).expect("any table is TOML")));
            }
        }
    }
    println!("{tried} specs with one field spoilt: {right} plans, {} lists of mistakes", tried - right);
    assert!(tried > 5000 && right > 100 && right < tried / 4, "{tried} {right}");
}

#[test]
fn large_specs_take_no_more_than_their_size() {
    with_bounded_memory();
    let list = |of: &dyn Fn(usize) -> String, n: usize| {
        (0..n).fold(String::new(), |mut text, k| {
            let _ = write!(text, "{}, ", of(k));
            text
        })
    };
    let small = |seeds: String, solvers: String, rest: &str| {
        format!(
            "schema = 1\nname = \"large\"\ntask = \"solve\"\nseeds = [{seeds}]\n[matrix]\ndataset = [\"gp-draw\"]\n\
             kernel = [\"rbf\"]\nestimator = [\"pathwise\"]\nsolver = [{solvers}]\n[kernel.rbf]\nhyperparameters = \"ones\"\n\
             [budget]\ntolerance = 0.1\n{rest}"
        )
    };
    let learners = |entries: usize, values: String| {
        let names = list(&|k| format!("\"p{k}\""), entries);
        let tables = (0..entries).map(|k| format!("[solver.p{k}]\nplugin = \"scgd\"\n"));
        format!(
            "schema = 1\nname = \"large\"\ntask = \"learn\"\n[matrix]\ndataset = [\"gp-draw\"]\nkernel = [\"k\"]\n\
             solver = [{names}]\n[kernel.k]\nfamily = \"linear\"\nnetwork = {{ widths = 8 }}\n\
             [learn.params]\nlearning_rate = {{ grid = [{values}] }}\n{}",
            tables.collect::<String>()
        )
    };
    assert!(survives(&learners(2, list(&|k| format!("{k}.5"), 1000))));
    let cg = || "\"cg\"".to_owned();
    assert!(survives(&small(list(&|k| k.to_string(), 2000), cg(), "")));
    for hostile in [
        // Every seed wrong, all on one line; every seed twice; more cases than can be planned.
        small(list(&|k| format!("-{k}"), 30_000), cg(), ""),
        small(list(&|_| "7".to_owned(), 30_000), cg(), ""),
        small(list(&|k| k.to_string(), 100_001), cg(), ""),
        small("0".to_owned(), list(&|k| format!("\"s{k}\""), 2_000), ""),
        small("0".to_owned(), cg(), &list(&|k| format!("\n[solver.s{k}]\nrank = 1\n#"), 2_000)),
        small("0".to_owned(), cg(), &format!("x = {}1{}", "[".repeat(20_000), "]".repeat(20_000))),
        small("0".to_owned(), cg(), &format!("{} = 1", vec!["a"; 10_000].join("."))),
        "=\n".repeat(10_000),
        // Grids that multiply: in one entry, and along the axis.
        learners(1, list(&|k| k.to_string(), 30_000)),
        learners(3000, list(&|k| format!("{k}.5"), 1000)),
    ] {
        assert!(!survives(&hostile));
    }
}
