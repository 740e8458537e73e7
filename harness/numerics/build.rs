//! Links the OpenBLAS of the system, which the feature `blas` needs.
//!
//! The crate `openblas-src` would do the same, but brings a downloader and a builder of OpenBLAS, which every plugin
//! would compile.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var_os("CARGO_FEATURE_BLAS").is_some() {
        println!("cargo:rustc-link-lib=dylib=openblas");
    }
}
