//! Generates `include/gpbench.h` and compares it with the committed file, which also has to compile
//! as C and as C++. `UPDATE_HEADER=1` rewrites it.
//!
//! cbindgen makes the types. It ignores Rust's modules, so this test reads the constants, whose groups are
//! modules (`capability::EXACT` is `GPB_CAPABILITY_EXACT` in C), from the source.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Source files in the order in which C needs their types.
const SOURCES: [&str; 6] =
    ["lib.rs", "plugin.rs", "operator.rs", "extension.rs", "host_extension.rs", "learner.rs"];

const TYPES: &str = "Status Str Mat Value Param Host Part Facts Plugin Shape Solver Learner Operator Problem Report Rows Columns \
                     Block Inputs Features Targets State Volatile Trace ParallelFor Script Process Parts Fit Network Store FitTrace EntryFn";

const INTRODUCTION: &str = "\
/* The C interface between gpbench and its solver plugins.
 *
 * Generated from harness/abi/src: `UPDATE_HEADER=1 cargo test --release -p gpbench-abi` rewrites it.
 *
 * A plugin is a shared library that exports the function gpbench_plugin_v1, declared at the end.
";

const ENTRY: &str = "\
#ifdef __cplusplus
extern \"C\" {
#endif

/**
 * The one function that a plugin exports, see `GpbEntryFn`.
 */
const GpbPlugin *gpbench_plugin_v1(const GpbHost *host);

#ifdef __cplusplus
}
#endif

#endif /* GPBENCH_H */
";

fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn source(file: &str) -> String {
    std::fs::read_to_string(folder().join("src").join(file)).unwrap()
}

/// The `# Rules` of the crate's documentation as a comment, and the include guard, which cbindgen
/// would close before the entry's prototype.
fn rules() -> String {
    let lib = source("lib.rs");
    let lines =
        lib.lines().filter_map(|line| line.strip_prefix("//!")).skip_while(|line| *line != " # Rules");
    let mut comment = String::from(INTRODUCTION);
    for line in lines.take_while(|line| !line.starts_with(" The C form")) {
        let line = line.replace("**", "").replace("# Rules", "Rules:");
        comment += format!(" *{line}").trim_end();
        comment.push('\n');
    }
    comment.trim_end_matches(" *\n").to_owned() + " */\n\n#ifndef GPBENCH_H\n#define GPBENCH_H"
}

/// Every public constant as a macro: GPB_<module>_<name>, with its documentation.
fn constants() -> String {
    let mut out = String::new();
    for file in SOURCES {
        let (mut group, mut doc) = (String::new(), Vec::new());
        for line in source(file).lines().map(str::trim) {
            if let Some(text) = line.strip_prefix("///") {
                doc.push(text.trim().to_owned());
                continue;
            }
            if let Some(module) = line.strip_prefix("pub mod ").and_then(|rest| rest.strip_suffix(" {")) {
                group = format!("{}_", module.to_uppercase());
                writeln!(out, "/* {} */\n", doc.join("\n * ").replace(" * \n", " *\n")).unwrap();
            } else if line == "impl Status {" {
                group = "STATUS_".to_owned();
                out += "/* Values of GpbStatus. */\n\n";
            } else if line == "}" {
                group.clear();
            } else if let Some(constant) =
                line.strip_prefix("pub const ").filter(|rest| !rest.starts_with("fn"))
            {
                write_constant(&mut out, &group, constant, &doc);
            }
            doc.clear();
        }
    }
    out
}

/// `NAME: type = value;` as a macro.
fn write_constant(out: &mut String, group: &str, constant: &str, doc: &[String]) {
    let (name, rest) = constant.split_once(": ").unwrap();
    let (kind, value) = rest.trim_end_matches(';').split_once(" = ").unwrap();
    let value = match kind {
        "u64" => format!("UINT64_C({value})"),
        "Status" => value.replace("Status", ""),
        "&CStr" => value.replace("c\"", "\""),
        _ => value.to_owned(),
    };
    let doc = doc.iter().map(|line| format!(" * {line}\n")).collect::<String>().replace(" * \n", " *\n");
    writeln!(out, "/**\n{doc} */\n#define GPB_{group}{name} {value}\n").unwrap();
}

/// The header that belongs to the source.
fn generate() -> String {
    let mut config = cbindgen::Config {
        language: cbindgen::Language::C,
        cpp_compat: true,
        header: Some(rules()),
        after_includes: Some(format!("\n{}", constants().trim_end())),
        trailer: Some(ENTRY.into()),
        usize_is_size_t: true,
        no_includes: true,
        sys_includes: vec!["stdint.h".into()],
        documentation_style: cbindgen::DocumentationStyle::Doxy,
        style: cbindgen::Style::Both,
        line_length: 110,
        tab_width: 4,
        ..cbindgen::Config::default()
    };
    config.export.prefix = Some("Gpb".into());
    config.export.item_types = vec![cbindgen::ItemType::Structs, cbindgen::ItemType::Typedefs];
    config.export.include = TYPES.split_whitespace().map(str::to_owned).collect();
    config.export.exclude = vec!["ExtensionFn".into()];
    config.function.args = cbindgen::Layout::Auto;
    let mut builder = cbindgen::Builder::new().with_config(config);
    for file in SOURCES {
        builder = builder.with_src(folder().join("src").join(file));
    }
    let mut bytes = Vec::new();
    builder.generate().unwrap().write(&mut bytes);
    tidy(&String::from_utf8(bytes).unwrap())
}

/// Removes what cbindgen leaves: Rust's links, names and escapes in comments, and associated constants.
fn tidy(text: &str) -> String {
    let mut out = String::new();
    let mut associated = false;
    for line in text.lines() {
        // The constants of `Status` follow its definition; `constants` has written them in C's form.
        associated = line == "typedef int32_t GpbStatus;" || (associated && !line.is_empty());
        if !associated || line.starts_with("typedef") {
            out += c_names(line).trim_end();
            out.push('\n');
        }
    }
    while out.contains("\n\n\n") {
        out = out.replace("\n\n\n", "\n\n");
    }
    out
}

/// Replaces Rust's names in a comment by C's.
fn c_names(line: &str) -> String {
    let mut line = line.replace("[`", "`").replace("`]", "`").replace("\\[", "[").replace("\\]", "]");
    line = line.replace("`crate::", "`").replace("`i64`", "`int64_t`").replace("`ENTRY`", "`GPB_ENTRY`");
    for group in [
        "Status",
        "capability",
        "reason",
        "value_kind",
        "log_level",
        "family",
        "id",
        "fit_flag",
        "stream",
        "activation",
        "part_kind",
        "model_kind",
    ] {
        let prefix = format!("`GPB_{}_", group.to_uppercase());
        line = line.replace(&format!("`{group}::"), &prefix);
        if group != "Status" {
            line = line.replace(&format!("`{group}`"), &format!("{prefix}*`"));
        }
    }
    for name in TYPES.split_whitespace() {
        line = line.replace(&format!("`{name}`"), &format!("`Gpb{name}`"));
        line = line.replace(&format!("`{name}::"), &format!("`Gpb{name}."));
    }
    line
}

fn header() -> PathBuf {
    folder().join("include/gpbench.h")
}

#[test]
fn the_committed_header_is_the_generated_one() {
    let generated = generate();
    if std::env::var_os("UPDATE_HEADER").is_some() {
        std::fs::create_dir_all(folder().join("include")).unwrap();
        std::fs::write(header(), &generated).unwrap();
    }
    let committed = std::fs::read_to_string(header()).unwrap_or_default();
    let different =
        generated.lines().zip(committed.lines()).find(|(generated, committed)| generated != committed);
    assert!(
        generated == committed,
        "include/gpbench.h is not what src generates; `UPDATE_HEADER=1 cargo test --release -p gpbench-abi` \
         rewrites it; first difference: {different:?}"
    );
}

/// Compiles the header and a use of it; prints a line and passes if there is no such compiler.
fn compiles(compiler: &str, language: &str, standard: &str) {
    let program = "#include <gpbench.h>\n\
        static GpbStatus stop(void) { return GPB_STATUS_STOPPED; }\n\
        static const GpbPlugin plugin = {sizeof(GpbPlugin), GPB_MINOR, {\"x\", 1}, {\"1\", 1}, 0, 0, 0, 0, 0, 0, 0, 0, 0};\n\
        const GpbPlugin *gpbench_plugin_v1(const GpbHost *host) {\n\
          const GpbStr id = {GPB_ID_PARALLEL_FOR, sizeof(GPB_ID_PARALLEL_FOR) - 1};\n\
          if (host->size < sizeof(GpbHost) || host->extension(host, &id) || stop() != 1) return 0;\n\
          return (GPB_CAPABILITY_EXACT | GPB_CAPABILITY_DENSE) == 17 ? &plugin : 0;\n\
        }\n";
    let file =
        std::env::temp_dir().join(format!("gpbench-header-{}{standard}.{language}", std::process::id()));
    std::fs::write(&file, program).unwrap();
    let outcome = Command::new(compiler)
        .args([standard, "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", "-I"])
        .arg(folder().join("include"))
        .arg(&file)
        .output();
    std::fs::remove_file(&file).unwrap();
    match outcome {
        Ok(outcome) => assert!(outcome.status.success(), "{}", String::from_utf8_lossy(&outcome.stderr)),
        Err(error) => eprintln!("SKIPPED: no `{compiler}` to compile the header with ({error})"),
    }
}

#[test]
fn the_header_compiles_as_c99() {
    compiles("cc", "c", "-std=c99");
}

#[test]
fn the_header_compiles_as_c11() {
    compiles("cc", "c", "-std=c11");
}

#[test]
fn the_header_compiles_as_cpp17() {
    compiles("c++", "cpp", "-std=c++17");
}
