//! Rules with name, text and test, and the macro that declares a list of rules.

use super::{Finding, Subject};

/// One rule, with its test.
#[derive(Debug)]
pub struct Rule {
    /// Stable name.
    pub name: &'static str,
    /// The rule in one line.
    pub doc: &'static str,
    /// Whether its test needs a process of its own in every program, because it may hang or crash, or measures the
    /// process.
    pub alone: bool,
    test: fn(&Subject<'_>) -> Result<(), Finding>,
}

/// A rule that can be tested in the same process as others.
pub(super) const fn here(
    name: &'static str,
    doc: &'static str,
    test: fn(&Subject<'_>) -> Result<(), Finding>,
) -> Rule {
    Rule { name, doc, alone: false, test }
}

/// A rule whose test needs a process of its own.
pub(super) const fn alone(
    name: &'static str,
    doc: &'static str,
    test: fn(&Subject<'_>) -> Result<(), Finding>,
) -> Rule {
    Rule { name, doc, alone: true, test }
}

impl Rule {
    /// Tests a subject; `Ok` if it keeps the rule.
    ///
    /// # Errors
    /// If it does not, or the rule does not apply to it.
    pub fn run(&self, subject: &Subject<'_>) -> Result<(), Finding> {
        match subject.expect.except.iter().find(|(rule, _)| *rule == self.name) {
            Some((_, why)) => Err(Finding::Skipped((*why).into())),
            None => (self.test)(subject),
        }
    }
}

/// Declares the list of rules, and a macro that makes a `#[test]` of each. After the name of a rule, [`here`] or
/// [`alone`] states where it is tested. The first argument is a dollar sign, which the generated macro needs for its
/// own argument.
macro_rules! rules {
    (
        $dollar:tt
        $(#[$list_doc:meta])* $list:ident
        $(#[$tests_doc:meta])* $tests:ident
        $($test_name:ident ($name:literal, $place:ident) = $test:path, $doc:literal;)+
    ) => {
        $(#[$list_doc])*
        pub const $list: &[$crate::rules::Rule] = &[$($place($name, $doc, $test)),+];

        $(#[$tests_doc])*
        #[macro_export]
        macro_rules! $tests {
            ($dollar tested:expr) => {
                $(
                    #[test]
                    fn $test_name() {
                        let path = concat!(module_path!(), "::", stringify!($test_name));
                        $crate::rules::check(&$dollar tested, $crate::rules::$list, $name, path);
                    }
                )+
            };
        }
    };
}
pub(super) use rules;
