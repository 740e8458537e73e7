//! Links OpenBLAS, which the feature `blas` needs: that of the system, or the `libopenblas.so` in the folder that
//! `GPBENCH_OPENBLAS_DIR` names.
//!
//! The crate `openblas-src` would do the same, but brings a downloader and a builder of OpenBLAS, which every plugin
//! would compile.

const FOLDER: &str = "GPBENCH_OPENBLAS_DIR";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed={FOLDER}");
    if std::env::var_os("CARGO_FEATURE_BLAS").is_some() {
        if let Ok(folder) = std::env::var(FOLDER) {
            println!("cargo:rustc-link-search=native={folder}");
        }
        println!("cargo:rustc-link-lib=dylib=openblas");
    }
}
