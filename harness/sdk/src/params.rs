//! Typed parameters: one declaration gives the struct, its defaults, the schema that specs are
//! checked against, and the conversion of values.

use std::ops::{RangeFrom, RangeInclusive, RangeToInclusive};

use gpbench_abi as abi;
use gpbench_abi::value_kind;
use gpbench_terms::ParamValue;

use crate::error::{Error, Result};

/// A solver's parameters. Implemented by [`params!`](crate::params).
pub trait Params: Sized {
    /// Descriptions, in the order of [`from_values`](Self::from_values). Leaks its texts, so it is to be called once.
    fn schema() -> Vec<abi::Param>;

    /// Reads one value a parameter. Kinds, ranges and choices are checked again.
    fn from_values(values: &[ParamValue]) -> Result<Self>;
}

/// The parameters of a solver that has none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NoParams;

impl Params for NoParams {
    fn schema() -> Vec<abi::Param> {
        Vec::new()
    }

    fn from_values(_values: &[ParamValue]) -> Result<Self> {
        Ok(NoParams)
    }
}

/// A type that a parameter can have.
pub trait Parameter: Sized + PartialOrd + Clone {
    /// Its value.
    fn value(&self) -> ParamValue;

    /// The reverse of [`value`](Self::value); none if the value's kind or size does not fit.
    fn read(value: &ParamValue) -> Option<Self>;

    /// Permitted texts, for types that are choices; of a whole number, words that it takes beside numbers.
    fn choices() -> &'static [&'static str] {
        &[]
    }

    /// Smallest value of the type, where that is a restriction.
    fn least() -> Option<Self> {
        None
    }
}

impl Parameter for bool {
    fn value(&self) -> ParamValue {
        ParamValue::Bool(*self)
    }

    fn read(value: &ParamValue) -> Option<Self> {
        if let ParamValue::Bool(b) = value { Some(*b) } else { None }
    }
}

impl Parameter for i64 {
    fn value(&self) -> ParamValue {
        ParamValue::Int(*self)
    }

    fn read(value: &ParamValue) -> Option<Self> {
        if let ParamValue::Int(i) = value { Some(*i) } else { None }
    }
}

impl Parameter for usize {
    fn value(&self) -> ParamValue {
        ParamValue::Int(i64::try_from(*self).unwrap_or(i64::MAX))
    }

    fn read(value: &ParamValue) -> Option<Self> {
        if let ParamValue::Int(i) = value { usize::try_from(*i).ok() } else { None }
    }

    fn least() -> Option<Self> {
        Some(0)
    }
}

impl Parameter for f64 {
    fn value(&self) -> ParamValue {
        ParamValue::Float(*self)
    }

    fn read(value: &ParamValue) -> Option<Self> {
        if let ParamValue::Float(f) = value { Some(*f).filter(|f| !f.is_nan()) } else { None }
    }
}

impl Parameter for String {
    fn value(&self) -> ParamValue {
        ParamValue::Text(self.clone())
    }

    fn read(value: &ParamValue) -> Option<Self> {
        if let ParamValue::Text(s) = value { Some(s.clone()) } else { None }
    }
}

/// Ranges of a parameter: `1..=10`, `1..`, `..=10`. The interface's bounds are
/// inclusive, so `1..10` is not among them.
pub trait Bounds<T> {
    /// Smallest and largest permitted value.
    fn bounds(self) -> (Option<T>, Option<T>);
}

impl<T> Bounds<T> for RangeInclusive<T> {
    fn bounds(self) -> (Option<T>, Option<T>) {
        let (min, max) = self.into_inner();
        (Some(min), Some(max))
    }
}

impl<T> Bounds<T> for RangeFrom<T> {
    fn bounds(self) -> (Option<T>, Option<T>) {
        (Some(self.start), None)
    }
}

impl<T> Bounds<T> for RangeToInclusive<T> {
    fn bounds(self) -> (Option<T>, Option<T>) {
        (None, Some(self.end))
    }
}

/// One declared parameter, for [`params!`](crate::params) alone.
#[doc(hidden)]
pub struct Field<T> {
    name: &'static str,
    default: T,
    min: Option<T>,
    max: Option<T>,
}

impl<T: Parameter> Field<T> {
    pub fn new(name: &'static str, default: T) -> Self {
        Field { name, default, min: T::least(), max: None }
    }

    pub fn within(mut self, bounds: impl Bounds<T>) -> Self {
        let (min, max) = bounds.bounds();
        self.min = min.or(self.min);
        self.max = max.or(self.max);
        self
    }

    pub fn describe(&self, doc: &[&str]) -> abi::Param {
        let lines: Vec<&str> = doc.iter().map(|line| line.trim()).filter(|line| !line.is_empty()).collect();
        let doc: &'static str = lines.join(" ").leak();
        let raw = |value: &Option<T>| match value {
            Some(value) => lasting(value.value()),
            None => abi::Value { kind: value_kind::NONE, ..ParamValue::Int(0).to_abi() },
        };
        let choices: Vec<abi::Str> = T::choices().iter().map(|choice| abi::Str::new(choice)).collect();
        let n_choices = choices.len() as i64;
        abi::Param {
            name: abi::Str::new(self.name),
            doc: abi::Str::new(doc),
            default: lasting(self.default.value()),
            min: raw(&self.min),
            max: raw(&self.max),
            choices: if n_choices == 0 { std::ptr::null() } else { choices.leak().as_ptr() },
            n_choices,
        }
    }

    pub fn read(self, value: Option<&ParamValue>) -> Result<T> {
        let name = self.name;
        let value =
            value.ok_or_else(|| Error::InvalidArgument(format!("no value for the parameter `{name}`")))?;
        // A word beside numbers has no place in their order.
        let is_word = matches!(value, ParamValue::Text(_));
        let in_range = |read: &T| {
            self.min.as_ref().is_none_or(|min| read >= min) && self.max.as_ref().is_none_or(|max| read <= max)
        };
        let read = T::read(value).filter(|read| is_word || in_range(read));
        read.ok_or_else(|| {
            let mut text = format!("the parameter `{name}` cannot be {value:?}");
            if let Some(min) = &self.min {
                text += &format!(", the least is {:?}", min.value());
            }
            if let Some(max) = &self.max {
                text += &format!(", the greatest is {:?}", max.value());
            }
            if !T::choices().is_empty() {
                let beside = if self.min.is_some() || self.max.is_some() { "or it is" } else { "only" };
                text += &format!(", {beside} {}", T::choices().join(", "));
            }
            Error::InvalidArgument(text)
        })
    }
}

/// The value as it crosses the interface; its text lives until the process ends.
fn lasting(value: ParamValue) -> abi::Value {
    match value {
        ParamValue::Text(text) => {
            abi::Value { s: abi::Str::new(text.leak()), ..ParamValue::Text(String::new()).to_abi() }
        }
        other => other.to_abi(),
    }
}

/// Declares a solver's parameters: a struct whose every field has a documentation line, a type, a
/// default and, if wanted, a range.
///
/// Types are `bool`, `i64`, `usize`, `f64`, `String` and enums made by
/// [`choices!`](crate::choices). Real numbers are finite, the default included. The documentation is what `gpbench list solvers --verbose` prints.
///
/// ```
/// gpbench_sdk::params! {
///     /// Parameters of gradient descent.
///     pub struct DescentParams {
///         /// Length of a step.
///         pub step: f64 = 0.5, in 0.0..=2.0;
///         /// Steps between two computations of the residual.
///         pub period: usize = 10, in 1..;
///         /// Whether to average the iterates.
///         pub average: bool = false;
///     }
/// }
/// assert_eq!(DescentParams::default().period, 10);
/// ```
#[macro_export]
macro_rules! params {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident {
            $(
                $(#[doc = $doc:expr])+
                $field_vis:vis $field:ident: $type:ty = $default:expr $(, in $range:expr)?;
            )+
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq)]
        $vis struct $name {
            $( $(#[doc = $doc])+ $field_vis $field: $type, )+
        }

        impl ::std::default::Default for $name {
            fn default() -> Self {
                Self { $( $field: $default, )+ }
            }
        }

        impl $crate::Params for $name {
            fn schema() -> ::std::vec::Vec<$crate::abi::Param> {
                ::std::vec![$(
                    $crate::Field::<$type>::new(::std::stringify!($field), $default)
                        $(.within($range))?
                        .describe(&[$($doc),+]),
                )+]
            }

            fn from_values(values: &[$crate::ParamValue]) -> $crate::Result<Self> {
                let mut values = values.iter();
                // Fields are read in the order in which they are written.
                Ok(Self { $(
                    $field: $crate::Field::<$type>::new(::std::stringify!($field), $default)
                        $(.within($range))?
                        .read(values.next())?,
                )+ })
            }
        }
    };
}

/// Declares an enum that a parameter can be: a choice between texts.
///
/// ```
/// gpbench_sdk::choices! {
///     /// How to start.
///     pub enum Start {
///         /// From zero.
///         Zero = "zero",
///         /// From the diagonal's solution.
///         Diagonal = "diagonal",
///     }
/// }
/// ```
#[macro_export]
macro_rules! choices {
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident { $( $(#[$variant_meta:meta])* $variant:ident = $text:expr ),+ $(,)? }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
        $vis enum $name { $( $(#[$variant_meta])* $variant, )+ }

        impl $crate::Parameter for $name {
            fn value(&self) -> $crate::ParamValue {
                $crate::ParamValue::from(match self { $( $name::$variant => $text, )+ })
            }

            fn read(value: &$crate::ParamValue) -> ::std::option::Option<Self> {
                let $crate::ParamValue::Text(text) = value else { return ::std::option::Option::None };
                $( if text == $text { return ::std::option::Option::Some($name::$variant); } )+
                ::std::option::Option::None
            }

            fn choices() -> &'static [&'static str] {
                &[$($text),+]
            }
        }
    };
}
