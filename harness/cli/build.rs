//! Tells the program which compiler it was built with.

use std::process::Command;

fn main() {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let answer = Command::new(rustc).arg("--version").output().ok();
    let version = answer.and_then(|output| String::from_utf8(output.stdout).ok()).unwrap_or_default();
    println!("cargo::rustc-env=GPBENCH_RUSTC={}", version.trim());
    println!("cargo::rerun-if-changed=build.rs");
}
