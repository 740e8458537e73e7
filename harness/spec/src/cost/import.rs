//! Memory that a script takes before it has a problem: its interpreter, and the packages that it imports.
//!
//! A row has the measured bytes (`memory_import_bytes`), which are known only after a case has run.

use gpbench_record::{Composition, Part, PartKind};

const MIB: f64 = 1048576.0;

/// An interpreter with numpy.
const INTERPRETER: f64 = 28.0 * MIB;

/// What packages add when they are imported, as far as it is much, with what they import in their turn; each measured in a
/// process of its own (`plugins/python/contestants/README.md`).
const PACKAGES: [(&str, f64); 5] = [
    ("scipy", 32.0 * MIB),
    ("scikit-learn", 60.0 * MIB),
    ("jax", 138.0 * MIB),
    ("torch", 499.0 * MIB),
    ("cola-ml", 200.0 * MIB),
];

/// About how much memory a library takes before it has a problem: nothing beside that of the worker for a shared object.
pub(crate) fn import_bytes(composition: &Composition) -> f64 {
    if composition.bridge.is_none() {
        return 0.0;
    }
    let is_imported = |name: &str| {
        let is_it = |part: &Part| part.kind == PartKind::Package && part.name.eq_ignore_ascii_case(name);
        composition.parts.iter().any(is_it)
    };
    let packages = PACKAGES.iter().filter(|(name, _)| is_imported(name));
    INTERPRETER + packages.map(|(_, bytes)| bytes).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_takes_what_its_packages_take() {
        let package = |name: &str| Part {
            kind: PartKind::Package,
            name: name.to_owned(),
            version: "1.0".to_owned(),
            path: "/packages/RECORD".into(),
            sha256: String::new(),
        };
        let of = |packages: &[&str]| {
            let parts = packages.iter().map(|name| package(name)).collect();
            import_bytes(&Composition { bridge: Some("/bridge.so".into()), parts, ..Composition::default() })
        };
        assert_eq!(import_bytes(&Composition::default()), 0.0);
        assert_eq!(of(&["numpy"]), 28.0 * MIB);
        assert_eq!(of(&["numpy", "torch", "gpytorch"]), 527.0 * MIB);
    }
}
