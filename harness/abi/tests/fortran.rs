//! `include/gpbench.f90`, which is written by hand, mirrors `include/gpbench.h`, which is generated.
//!
//! The module need not have every table of the header, but its tables must have the header's fields.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// Fields by struct, each as Fortran declares it.
type Structs = BTreeMap<String, Vec<String>>;

fn include(file: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("include").join(file)).unwrap()
}

/// The header's structs, as Fortran declares them.
fn structs_of_header() -> Structs {
    let mut structs = Structs::new();
    let mut open: Option<(String, String)> = None;
    for line in include("gpbench.h").lines().map(str::trim) {
        if let Some(name) = line.strip_prefix("typedef struct ").and_then(|rest| rest.strip_suffix(" {")) {
            open = Some((name.replace("Gpb", "gpb_").to_lowercase(), String::new()));
        } else if line.starts_with("} ") {
            let (name, body) = open.take().unwrap();
            let fields = body.split(';').filter(|field| !field.trim().is_empty());
            structs.insert(name, fields.map(fortran_field).collect());
        } else if let Some((_, body)) = &mut open
            && !line.starts_with(['/', '*'])
        {
            *body += line;
        }
    }
    structs
}

/// `int64_t rows` as `integer(c_int64_t) :: rows`.
fn fortran_field(field: &str) -> String {
    if let Some((_, rest)) = field.split_once("(*") {
        return format!("type(c_funptr) :: {}", rest.split_once(')').unwrap().0);
    }
    let (kind, name) = field.rsplit_once([' ', '*']).unwrap();
    let kind = kind.trim().trim_start_matches("struct ");
    let kind = match kind {
        _ if field.contains('*') => "type(c_ptr)".to_owned(),
        "int32_t" | "uint32_t" => "integer(c_int32_t)".to_owned(),
        "int64_t" | "uint64_t" => "integer(c_int64_t)".to_owned(),
        "double" => "real(c_double)".to_owned(),
        other => format!("type({})", other.replace("Gpb", "gpb_").to_lowercase()),
    };
    format!("{kind} :: {name}")
}

/// The module's types, without the fields' defaults.
fn structs_of_module() -> Structs {
    let mut structs = Structs::new();
    let mut open = None;
    for line in include("gpbench.f90").lines().map(str::trim) {
        if let Some(name) = line.strip_prefix("type, bind(c) :: ") {
            open = Some((name.to_owned(), Vec::new()));
        } else if line == "end type" {
            let (name, fields) = open.take().unwrap();
            structs.insert(name, fields);
        } else if let Some((_, fields)) = &mut open {
            fields.push(line.split(" = ").next().unwrap().to_owned());
        }
    }
    structs
}

#[test]
fn every_type_has_the_headers_fields() {
    let (header, module) = (structs_of_header(), structs_of_module());
    assert!(module.len() > 10, "only {} types were found", module.len());
    for (name, fields) in &module {
        assert_eq!(Some(fields), header.get(name), "{name} in gpbench.f90 against gpbench.h");
    }
    let needed = ["host", "operator", "problem", "report", "solver", "plugin", "learner", "fit", "store"];
    for name in needed.map(|name| format!("gpb_{name}")) {
        assert!(module.contains_key(&name), "{name} is missing in gpbench.f90");
    }
}

#[test]
fn every_constant_has_the_headers_value() {
    let header: BTreeMap<String, String> = include("gpbench.h")
        .lines()
        .filter_map(|line| line.strip_prefix("#define ")?.split_once(' '))
        .map(|(name, value)| {
            let value = value.trim_start_matches("UINT64_C").trim_start_matches('(').trim_end_matches(')');
            (name.to_owned(), value.to_owned())
        })
        .collect();
    let module = include("gpbench.f90");
    let constants = module.lines().filter_map(|line| line.split_once("parameter :: ")?.1.split_once(" = "));
    let mut count = 0;
    for (name, value) in constants {
        assert_eq!(Some(value), header.get(name).map(String::as_str), "{name}");
        count += 1;
    }
    assert!(count > 30, "only {count} constants were found");
}

/// Prints a line and passes if there is no Fortran compiler.
#[test]
fn the_module_compiles_as_fortran_2018() {
    let modules = std::env::temp_dir().join(format!("gpbench-fortran-{}", std::process::id()));
    std::fs::create_dir_all(&modules).unwrap();
    let outcome = Command::new("gfortran")
        .args(["-std=f2018", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", "-J"])
        .arg(&modules)
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("include/gpbench.f90"))
        .output();
    std::fs::remove_dir_all(&modules).unwrap();
    match outcome {
        Ok(outcome) => assert!(outcome.status.success(), "{}", String::from_utf8_lossy(&outcome.stderr)),
        Err(error) => eprintln!("SKIPPED: no `gfortran` to compile the module with ({error})"),
    }
}
