//! Enums whose variants have texts.

use std::fmt;

/// The error that a text is not in a list of words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownWord {
    /// Name of the list, such as `kernel family`.
    pub of: &'static str,
    /// The text as given.
    pub text: String,
    /// The words of the list.
    pub known: &'static [&'static str],
}

impl fmt::Display for UnknownWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown {} `{}`; known are {}", self.of, self.text, self.known.join(", "))
    }
}

impl std::error::Error for UnknownWord {}

/// Declares an enum whose variants have texts: the list of variants, their texts, `Display`, and with the feature
/// `serde` of this crate the JSON form, which is the text. If the list has a name, `FromStr` reads texts.
///
/// ```
/// gpbench_terms::words! {
///     /// How a solve starts.
///     #[derive(Default)]
///     pub enum Start: "start" {
///         /// From zero.
///         #[default]
///         Cold = "cold",
///         /// From the last solution.
///         Warm = "warm",
///     }
/// }
/// assert_eq!(Start::ALL.map(Start::as_str), ["cold", "warm"]);
/// assert_eq!("warm".parse(), Ok(Start::Warm));
/// assert_eq!("hot".parse::<Start>().unwrap_err().to_string(), "unknown start `hot`; known are cold, warm");
/// ```
#[macro_export]
macro_rules! words {
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident $(: $of:literal)? {
            $( $(#[$variant_meta:meta])* $variant:ident = $text:literal ),+ $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        $vis enum $name { $( $(#[$variant_meta])* $variant, )+ }

        impl $name {
            /// Every variant, in the order of their definition.
            pub const ALL: [$name; [$($text),+].len()] = [$($name::$variant),+];

            /// The texts, in the same order.
            pub const TEXTS: [&'static str; [$($text),+].len()] = [$($text),+];

            /// The text: its JSON form, and its name in specs and tables.
            pub const fn as_str(self) -> &'static str {
                match self { $( $name::$variant => $text ),+ }
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        $(
            impl ::std::str::FromStr for $name {
                type Err = $crate::UnknownWord;

                fn from_str(text: &str) -> ::std::result::Result<Self, $crate::UnknownWord> {
                    let found = $name::ALL.into_iter().find(|word| word.as_str() == text);
                    let (of, known) = ($of, &$name::TEXTS);
                    found.ok_or_else(|| $crate::UnknownWord { of, text: text.to_owned(), known })
                }
            }
        )?

        $crate::json_of_words! { $name }
    };
}

/// The JSON form of [`words!`], which is the same as for an enum of unit variants.
#[cfg(feature = "serde")]
#[doc(hidden)]
#[macro_export]
macro_rules! json_of_words {
    ($name:ident) => {
        impl $crate::serde::Serialize for $name {
            fn serialize<S: $crate::serde::Serializer>(
                &self,
                serializer: S,
            ) -> ::std::result::Result<S::Ok, S::Error> {
                serializer.serialize_unit_variant(::std::stringify!($name), *self as u32, self.as_str())
            }
        }

        impl<'de> $crate::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> ::std::result::Result<Self, D::Error> {
                $crate::read_word(deserializer, ::std::stringify!($name), &$name::TEXTS, &$name::ALL)
            }
        }
    };
}

#[cfg(not(feature = "serde"))]
#[doc(hidden)]
#[macro_export]
macro_rules! json_of_words {
    ($name:ident) => {};
}

/// Reads a unit variant of the enum `name` by its text.
#[cfg(feature = "serde")]
#[doc(hidden)]
pub fn read_word<'de, D: serde::Deserializer<'de>, T: Copy>(
    deserializer: D,
    name: &'static str,
    texts: &'static [&'static str],
    all: &'static [T],
) -> Result<T, D::Error> {
    use serde::de::{DeserializeSeed, EnumAccess, Error, VariantAccess, Visitor};

    /// The position of a text in the list. The deserializer looks the text up, so that an error contains the position
    /// in the document.
    struct Word {
        texts: &'static [&'static str],
    }

    impl<'de> DeserializeSeed<'de> for Word {
        type Value = usize;

        fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<usize, D::Error> {
            deserializer.deserialize_identifier(self)
        }
    }

    impl Visitor<'_> for Word {
        type Value = usize;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "one of {}", self.texts.join(", "))
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<usize, E> {
            let found = self.texts.iter().position(|known| *known == text);
            found.ok_or_else(|| E::unknown_variant(text, self.texts))
        }
    }

    struct Variants<T: 'static> {
        texts: &'static [&'static str],
        all: &'static [T],
    }

    impl<'de, T: Copy> Visitor<'de> for Variants<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "one of {}", self.texts.join(", "))
        }

        fn visit_enum<A: EnumAccess<'de>>(self, data: A) -> Result<T, A::Error> {
            let (found, variant) = data.variant_seed(Word { texts: self.texts })?;
            variant.unit_variant()?;
            Ok(self.all[found])
        }
    }

    deserializer.deserialize_enum(name, texts, Variants { texts, all })
}
