//! `gpbench bench`: what it prints, never how fast anything is.

use crate::support::{Ended, Sandbox, checkout, has_python, library};

use safetensors::{Dtype, SafeTensors};
use serde_json::Value;

const KEYS: [&str; 9] =
    ["n", "d", "rhs", "precision", "seconds", "entries_per_second", "gemm_gflops", "dgemm_gflops", "ratio"];

/// Options for the shortest timing.
const SHORT: [&str; 4] = ["--seconds", "0.001", "--dgemm-order", "64"];

/// Times a small product.
fn bench(args: &[&str]) -> Value {
    let size = ["--n", "300", "--d", "3", "--rhs", "5", "--format", "json"];
    Sandbox::new().run(&[&["bench"], args, &size, &SHORT].concat()).exits(0).json()
}

/// Asserts the arithmetic, and that the rates follow from the seconds, for a product with `rows` x 300 entries.
fn check(timing: &Value, precision: &str, rows: f64) {
    let number = |key: &str| timing[key].as_f64().unwrap_or_else(|| panic!("{key} in {timing}"));
    assert_eq!(["n", "d", "rhs"].map(number), [300.0, 3.0, 5.0]);
    let is = |key: &str, expected: f64| {
        let found = number(key);
        assert!(found > 0.0 && (found / expected - 1.0).abs() < 1e-12, "{key}: {found}, not {expected}");
    };
    is("entries_per_second", rows * 300.0 / number("seconds"));
    is("gemm_gflops", 2.0 * number("entries_per_second") * (3.0 + 5.0) / 1e9);
    is("ratio", number("gemm_gflops") / number("dgemm_gflops"));
    assert_eq!(timing["precision"], precision);
}

#[test]
fn mixed_products_are_compared_with_sgemm_too() {
    for product in ["operator", "gradient"] {
        let json = bench(&[product, "--precision", "mixed"]);
        assert!(json["sgemm_gflops"].as_f64().is_some_and(|gflops| gflops > 0.0), "{json}");
    }
}

#[test]
fn products_with_all_entries_have_nine_numbers() {
    for product in ["operator", "gradient"] {
        let json = bench(&[product, "--threads", "1"]);
        let keys: Vec<&str> = json.as_object().expect("an object").keys().map(String::as_str).collect();
        assert_eq!(keys, KEYS);
        check(&json, "f64", 300.0);
    }
}

#[test]
fn blocks_of_rows_and_columns_are_compared_with_the_whole() {
    let json = bench(&["rows", "--rows", "20", "--kernel", "rbf", "--precision", "mixed"]);
    check(&json, "mixed", 20.0);
    check(&json["fused"], "mixed", 20.0);
    check(&json["columns"], "mixed", 40.0);
    check(&json["operator"], "mixed", 300.0);
    assert_eq!((&json["block"], &json["columns"]["block"]), (&20.into(), &40.into()));
    let per_entry = |timing: &Value| 1.0 / timing["entries_per_second"].as_f64().expect("a number");
    let ratio = per_entry(&json) / per_entry(&json["operator"]);
    let said = json["seconds_per_entry_to_operator"].as_f64().expect("a number");
    assert!((said / ratio - 1.0).abs() < 1e-12, "{said}, not {ratio}");
}

#[test]
fn parts_of_an_acquisition_are_compared_with_the_whole() {
    let sizes = ["--candidates", "40", "--starts", "7", "--features", "20", "--threads", "2"];
    let json = bench(&[&["acquire"][..], &sizes].concat());
    check(&json["operator"], "f64", 300.0);
    check(&json["kernel"], "f64", 40.0);
    let number = |part: &str, key: &str| json[part][key].as_f64().expect("a number");
    // Entries, and multiply-adds for a point, with d = 3, s = 5, n = 300 and m = 20.
    let of_candidates = (320.0, 300.0 * 8.0 + 20.0 * 6.5);
    for (part, points, (entries, multiply_adds)) in [
        ("candidates", 40.0, of_candidates),
        ("features", 40.0, (20.0, 20.0 * 6.5)),
        ("gradients", 7.0, (320.0, 300.0 * 8.0 + 20.0 * 5.0)),
    ] {
        assert_eq!(number(part, "points"), points);
        let is = |key: &str, expected: f64| {
            let found = number(part, key);
            assert!((found / expected - 1.0).abs() < 1e-12, "{part}, {key}: {found}, not {expected}");
        };
        is("entries_per_second", points * entries / number(part, "seconds"));
        is("gemm_gflops", 2.0 * points * multiply_adds / number(part, "seconds") / 1e9);
        is("ratio_to_operator", number(part, "ratio") / number("operator", "ratio"));
    }
}

#[test]
fn steps_of_a_script_are_timed_too() {
    if !has_python() {
        return;
    }
    library("gpbench_bridge_py");
    let script = |name: &str| checkout(&format!("plugins/python/bridge/tests/zoo/{name}.py"));
    let line = script("learner");
    let line = line.to_str().expect("UTF-8");
    let json =
        bench(&["learner", line, "--learner", "line", "--batch", "20", "--points", "0", "--threads", "1"]);
    assert_eq!([&json["n"], &json["d"], &json["batch"], &json["points"]], [&300, &3, &20, &0]);
    assert!(json["step_seconds"].as_f64().is_some_and(|seconds| seconds > 0.0), "{json}");
    let solver = script("cg");
    let args = ["bench", "learner", solver.to_str().expect("UTF-8"), "--n", "30", "--d", "2"];
    Sandbox::new().run(&args).exits(2).says(&["offers no learner, whose steps are timed here"]);
}

#[test]
fn a_block_has_at_most_all_rows() {
    let json = bench(&["rows", "--rows", "200"]);
    assert_eq!((&json["block"], &json["columns"]["block"]), (&200.into(), &300.into()));
}

/// Asserts which pieces of work there are, and that their ratios follow from the rates.
fn check_works(json: &Value, expected: &[&str]) {
    let works = json["works"].as_array().expect("a list");
    let names: Vec<&str> = works.iter().filter_map(|work| work["work"].as_str()).collect();
    assert_eq!(names, expected);
    for work in works {
        let number = |key: &str| work[key].as_f64().unwrap_or_else(|| panic!("{key} in {work}"));
        let rate = if work["bound"] == "memory" { "gigabytes_per_second" } else { "gflops" };
        let ratio = number(rate) / number("limit");
        assert!(ratio > 0.0 && (number("ratio") / ratio - 1.0).abs() < 1e-12, "{work}");
    }
}

#[test]
fn dense_algebra_is_compared_with_what_bounds_it() {
    let factor = bench(&["factor", "--threads", "1"]);
    check_works(&factor, &["factor, double", "factor, single", "solve, double", "solve, single"]);
    assert_eq!([&factor["n"], &factor["rhs"], &factor["rank"]], [&300, &5, &0]);
    let low_rank = bench(&["precondition", "--rank", "400"]);
    check_works(&low_rank, &["build", "apply, double", "apply, single"]);
    assert_eq!([&low_rank["n"], &low_rank["rhs"], &low_rank["rank"]], [&300, &5, &300], "at most n");
}

/// The shortest `bench all`, with some of its works.
fn all(works: &str, format: &str) -> Ended {
    library("gpbench_plugin_svgp");
    let size = ["--n", "300", "--d", "10", "--threads", "1", "--only", works, "--format", format];
    Sandbox::new().run(&[&["bench", "all"], &size[..], &SHORT].concat()).exits(0)
}

#[test]
fn all_works_have_one_form() {
    let ended = all("svgp,product-f32,blocks,factor,samples", "json");
    let json = ended.json();
    let known = "schema processor cores instruction_set blas blas_core threads gpbench load works left_out \
                 remarks";
    let keys =
        |value: &Value| -> Vec<String> { value.as_object().expect("an object").keys().cloned().collect() };
    assert_eq!(keys(&json).join(" "), known);
    assert_eq!((&json["threads"], &json["left_out"]), (&1.into(), &Value::Array(Vec::new())));
    let works = json["works"].as_array().expect("a list");
    let names: Vec<&str> = works.iter().filter_map(|work| work["work"].as_str()).collect();
    let expected = [
        "product, f32",
        "rows",
        "rows, forward and back",
        "columns",
        "Cholesky factor, f64",
        "Cholesky factor, f32",
        "solves, f64",
        "solves, f32",
        "gradients of posterior samples",
        "svgp, a step",
    ];
    assert_eq!(names, expected, "in the order of the table, whatever the order of the options");
    let known = "work n d rhs size seconds gflops of limit ratio expected expected_from allowed falls_short \
                 dgemm_operations";
    for work in works {
        assert_eq!(keys(work).join(" "), known);
        assert!(work["seconds"].as_f64().is_some_and(|seconds| seconds > 0.0), "{work}");
        assert_eq!(work["ratio"].is_null(), work["work"] == "svgp, a step", "{work}");
    }
    let single = &works[0];
    let number = |key: &str| single[key].as_f64().unwrap_or_else(|| panic!("{key} in {single}"));
    assert_eq!(single["of"], "sgemm");
    assert!((number("ratio") * number("limit") / number("gflops") - 1.0).abs() < 1e-12, "{single}");
    ended.says(&["1 of 5: product-f32", "5 of 5: svgp"]);
}

#[test]
fn the_table_of_all_works_names_the_machine_and_its_columns() {
    let ended = all("product", "md");
    let header = "| work | n | d | columns | size | seconds | Gflop/s | of | its rate | ratio | expected | \
                  allowed | remark |";
    let line = "| product, f64 | 300 | 10 | 65 |";
    let ended = ended.prints(&["; BLAS core ", "; threads 1", header, line, "- allowed: "]);
    assert!(!ended.stdout.contains("| rows |"), "{}", ended.stdout);
    all("product", "table").prints(&["BLAS core", "ratio", "allowed: what the operations allow"]);
}

#[test]
fn doctor_remarks_an_old_core_and_names_the_measurement() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command(&["doctor", "--format", "json"]);
    let json = Ended::of(command.env("OPENBLAS_CORETYPE", "Prescott")).exits(0).json();
    let remarks = json["speed_remarks"].as_array().expect("a list");
    let machine = &json["environment"];
    // An OpenBLAS for one processor has no choice, and an old processor none that is better.
    if machine["blas_core"] == "Prescott" && machine["cpu_dispatch"] != "portable" {
        let is_said =
            |text: &Value| text.as_str().is_some_and(|text| text.contains("remove OPENBLAS_CORETYPE"));
        assert!(remarks.iter().any(is_said), "{remarks:?}");
    }
    sandbox.run(&["doctor"]).exits(0).prints(&["`gpbench bench all` compares this machine"]);
}

#[test]
fn the_parts_of_a_tile_are_timed() {
    for precision in ["f64", "mixed"] {
        let json = bench(&["tile", "--precision", precision, "--threads", "2"]);
        assert_eq!([&json["tile"], &json["d"], &json["rhs"], &json["threads"]], [&128, &3, &5, &2]);
        let parts = json["parts"].as_array().expect("a list");
        let names: Vec<&str> = parts.iter().filter_map(|part| part["part"].as_str()).collect();
        let expected = [
            "entries",
            "entries without square root",
            "entries without exponential",
            "squared distances",
            "product",
            "transposed product",
            "packing",
            "multiply-adds in registers",
        ];
        assert_eq!(names, expected);
        for part in parts {
            let number = |key: &str| part[key].as_f64().unwrap_or_else(|| panic!("{key} in {part}"));
            assert!(number("nanoseconds") > 0.0, "{part}");
            let ratio = number("gflops") / json["gemm_gflops"].as_f64().expect("a number");
            assert!((number("ratio") - ratio).abs() <= 1e-12 * ratio, "{part}");
        }
    }
}

#[test]
fn arrays_are_written_for_other_programs() {
    let sandbox = Sandbox::new();
    let args = ["bench", "operator", "--n", "3", "--d", "2", "--rhs", "1", "--kernel", "matern12"];
    let ended = sandbox.run(&[&args[..], &SHORT, &["--arrays", "arrays"]].concat());
    ended.exits(0).prints(&["dgemm Gflop/s"]);
    let bytes = std::fs::read(sandbox.path("arrays/arrays.safetensors")).expect("a file");
    let arrays = SafeTensors::deserialize(&bytes).expect("the public format");
    assert_eq!(arrays.len(), 4, "three and the checksum");
    let array = |name: &str, columns: usize| -> Vec<f64> {
        let array = arrays.tensor(name).expect("an array");
        assert_eq!((array.dtype(), array.shape()), (Dtype::F64, &[3, columns][..]));
        array.data().as_chunks().0.iter().map(|number| f64::from_le_bytes(*number)).collect()
    };
    let (x, v, product) = (array("x", 2), array("v", 1), array("product", 1));
    for i in 0..3 {
        let entry = |j: usize| {
            let distance = (x[2 * i] - x[2 * j]).hypot(x[2 * i + 1] - x[2 * j + 1]) / 2.0_f64.sqrt();
            (-distance).exp() + f64::from(u8::from(i == j))
        };
        let expected: f64 = (0..3).map(|j| entry(j) * v[j]).sum();
        assert!((product[i] - expected).abs() < 1e-12, "{}, not {expected}", product[i]);
    }
    let kernel: Value = serde_json::from_str(&sandbox.read("arrays/kernel.json")).expect("JSON");
    assert_eq!((&kernel["family"], &kernel["noise_scale"]), (&"matern12".into(), &1.0.into()));
}

#[test]
fn wrong_usage_is_reported() {
    let sandbox = Sandbox::new();
    let mut wrong = vec![
        (vec!["bench"], "operator"),
        (vec!["bench", "operator"], "--dataset"),
        (vec!["bench", "factor", "--n", "10", "--d", "2", "--precision", "mixed"], "both precisions"),
        (vec!["bench", "acquire", "--n", "10", "--d", "2", "--features", "3"], "pairs"),
        (vec!["bench", "acquire", "--n", "10", "--d", "2", "--precision", "mixed"], "f64"),
        (vec!["bench", "tile", "--n", "10", "--d", "2", "--kernel", "rbf"], "matern32"),
        (vec!["bench", "all", "--only", "products"], "product-f32"),
        (vec!["bench", "all", "--seconds", "0"], "--seconds"),
        (vec!["bench", "operator", "--n", "10"], "--d"),
        (vec!["bench", "operator", "--dataset", "pol", "--n", "10", "--d", "2"], "--dataset"),
        (vec!["bench", "operator", "--dataset", "poll"], "pol"),
        (vec!["bench", "operator", "--dataset", "pol", "--offline"], "gpbench data fetch pol"),
    ];
    let drawn = |rest: &[&'static str]| [&["bench", "rows", "--n", "10", "--d", "2"], rest].concat();
    wrong.extend([
        (drawn(&["--rhs", "0"]), "--rhs"),
        (drawn(&["--rows", "0"]), "--rows"),
        (drawn(&["--kernel", "matern"]), "matern32"),
        (drawn(&["--precision", "f16"]), "f64"),
        (drawn(&["--seconds", "-1"]), "--seconds"),
        (drawn(&["--threads", "0"]), "--threads"),
    ]);
    for (args, word) in wrong {
        sandbox.run(&args).exits(2).says(&[word]);
    }
}

#[test]
fn what_does_not_fit_into_memory_is_refused_before_it_starts() {
    let sandbox = Sandbox::new();
    let huge = "4294967296";
    let small = ["--n", "300", "--d", "3"];
    for args in [
        &["operator", "--n", huge, "--d", "100"][..],
        &["operator", "--n", "18446744073709551615", "--d", "18446744073709551615"],
        &[&["operator", "--rhs", "18446744073709551615"], &small[..]].concat(),
        &[&["operator", "--dgemm-order", huge], &small[..]].concat(),
        &["factor", "--n", "10000000", "--d", "1"],
        &["all", "--n", huge, "--only", "product"],
        &[&["acquire", "--candidates", "18446744073709551615"], &small[..]].concat(),
    ] {
        let ended = sandbox.run(&[&["bench"], args].concat()).exits(2);
        ended.says(&["this takes at least ", "this machine has "]);
    }
    // A block is of all rows at most.
    bench(&["rows", "--rows", "18446744073709551615"]);
}

#[test]
fn an_unknown_instruction_set_is_refused() {
    let sandbox = Sandbox::new();
    for args in [&["bench", "operator", "--n", "30", "--d", "3"][..], &["list"]] {
        let mut command = sandbox.command(args);
        let ended = Ended::of(command.env("GPBENCH_SIMD", "avx2x")).exits(2);
        ended.says(&["GPBENCH_SIMD=avx2x names no instruction set; there are avx512, avx2, portable"]);
    }
}
