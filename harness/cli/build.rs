//! Tells the program which compiler built it, and for which platform.

use std::process::Command;

fn main() {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let answer = Command::new(rustc).arg("--version").output().ok();
    let version = answer.and_then(|output| String::from_utf8(output.stdout).ok()).unwrap_or_default();
    println!("cargo::rustc-env=GPBENCH_RUSTC={}", version.trim());
    let target = std::env::var("TARGET").unwrap_or_default();
    println!("cargo::rustc-env=GPBENCH_TARGET={target}");
    println!("cargo::rerun-if-changed=build.rs");
}
