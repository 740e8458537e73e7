//! Types of keys: each reads a value, checks it, and describes itself to the reference.

use std::fmt::Display;
use std::marker::PhantomData;

use super::range::{COUNT, Range};
use super::reference::Key;
use crate::error::Mistakes;
use crate::nearest;
use crate::source::At;
use crate::tree::{Node, Table, Value};
use crate::units::{parse_memory, parse_time};

/// A key and the table that it is in, as messages name them.
#[derive(Clone, Copy)]
pub(crate) struct Place<'p> {
    /// The key.
    pub(crate) key: &'p str,
    /// The table, such as `[train]`.
    pub(crate) of: &'p str,
}

/// A value has another type than its key.
pub(crate) struct WrongType;

/// A value that was read; `None` for one that has been reported.
pub(crate) type Parsed<T> = Result<Option<T>, WrongType>;

/// The type of a key.
///
/// A value of the right type that is not allowed is reported, and an allowed one stands in for it where there is one,
/// so that no later check reports it again.
pub(crate) trait Type {
    /// A value that was read.
    type Value;

    /// What the key takes, as in "`steps` takes a whole number".
    fn takes(&self) -> String;

    /// Reads a value.
    fn parse(&self, node: &Node, place: Place<'_>, mistakes: &mut Mistakes) -> Parsed<Self::Value>;

    /// Adds range, choices and the keys of tables inside to the reference's entry.
    fn describe(&self, _key: &mut Key) {}

    /// Reads a value; reports one of another type.
    fn read(&self, node: &Node, place: Place<'_>, mistakes: &mut Mistakes) -> Option<Self::Value> {
        self.parse(node, place, mistakes).unwrap_or_else(|WrongType| {
            let what = format!("`{}` takes {}, not {}", place.key, self.takes(), node.value.kind());
            mistakes.add(&node.at, what, None);
            None
        })
    }
}

/// A type whose keys have defaults.
pub(crate) trait Shown: Type {
    /// A value as a spec writes it.
    fn show(&self, value: &Self::Value) -> String;
}

/// A text, which messages call so.
#[derive(Clone, Copy)]
pub(crate) struct Text(&'static str);

/// A text.
pub(crate) const TEXT: Text = Text("a text in quotes");
/// The name of something.
pub(crate) const NAME: Text = Text("a name in quotes");

impl Type for Text {
    type Value = String;

    fn takes(&self) -> String {
        self.0.to_owned()
    }

    fn parse(&self, node: &Node, _: Place<'_>, _: &mut Mistakes) -> Parsed<String> {
        let Value::Text(text) = &node.value else { return Err(WrongType) };
        Ok(Some(text.clone()))
    }
}

/// `true` or `false`.
pub(crate) struct Truth;

impl Type for Truth {
    type Value = bool;

    fn takes(&self) -> String {
        "true or false".to_owned()
    }

    fn parse(&self, node: &Node, _: Place<'_>, _: &mut Mistakes) -> Parsed<bool> {
        let Value::Bool(truth) = node.value else { return Err(WrongType) };
        Ok(Some(truth))
    }
}

impl Shown for Truth {
    fn show(&self, value: &bool) -> String {
        value.to_string()
    }
}

/// A whole number in a range, which fits `T`.
pub(crate) struct Whole<T> {
    range: Range,
    hint: Option<&'static str>,
    fits: PhantomData<T>,
}

/// A whole number in a range.
pub(crate) fn whole<T>(range: Range) -> Whole<T> {
    Whole { range, hint: None, fits: PhantomData }
}

/// A positive whole number.
pub(crate) fn count<T>() -> Whole<T> {
    whole(COUNT)
}

impl<T> Whole<T> {
    /// Adds a hint to the message about a number outside the range.
    pub(crate) fn hint(self, hint: &'static str) -> Whole<T> {
        Whole { hint: Some(hint), ..self }
    }
}

impl<T: TryFrom<i64>> Type for Whole<T> {
    type Value = T;

    fn takes(&self) -> String {
        "a whole number".to_owned()
    }

    fn parse(&self, node: &Node, place: Place<'_>, mistakes: &mut Mistakes) -> Parsed<T> {
        let Value::Int(number) = node.value else { return Err(WrongType) };
        if !self.range.contains(number as f64) {
            let what = format!("`{}` must {}", place.key, self.range.demand(true));
            mistakes.add(&node.at, what, self.hint.map(str::to_owned));
        }
        let bound = |bound: Option<f64>, otherwise| bound.map_or(otherwise, |bound| bound as i64);
        let (low, high) = (bound(self.range.minimum, i64::MIN), bound(self.range.maximum, i64::MAX));
        Ok(T::try_from(number.clamp(low, high)).ok())
    }

    fn describe(&self, key: &mut Key) {
        key.range = (self.range != Range::default()).then_some(self.range);
    }
}

impl<T: TryFrom<i64> + Display> Shown for Whole<T> {
    fn show(&self, value: &T) -> String {
        value.to_string()
    }
}

/// A number in a range, written with or without a decimal point.
#[derive(Clone, Copy)]
pub(crate) struct Number {
    range: Range,
    hint: Option<&'static str>,
}

/// A number in a range.
pub(crate) fn number(range: Range) -> Number {
    Number { range, hint: None }
}

impl Number {
    /// Adds a hint to the message about a number outside the range.
    pub(crate) fn hint(self, hint: &'static str) -> Number {
        Number { hint: Some(hint), ..self }
    }
}

impl Type for Number {
    type Value = f64;

    fn takes(&self) -> String {
        "a number".to_owned()
    }

    fn parse(&self, node: &Node, place: Place<'_>, mistakes: &mut Mistakes) -> Parsed<f64> {
        let number = match node.value {
            Value::Int(int) => int as f64,
            Value::Float(float) => float,
            _ => return Err(WrongType),
        };
        if !self.range.contains(number) {
            let what = format!("`{}` must {}, not {number}", place.key, self.range.demand(false));
            mistakes.add(&node.at, what, self.hint.map(str::to_owned));
        }
        Ok(Some(number))
    }

    fn describe(&self, key: &mut Key) {
        key.range = Some(self.range);
    }
}

impl Shown for Number {
    fn show(&self, value: &f64) -> String {
        value.to_string()
    }
}

/// One of several names, each with what it stands for.
pub(crate) struct Choice<T> {
    /// What messages call it.
    noun: &'static str,
    names: Vec<(&'static str, T)>,
    reserved: &'static [&'static str],
}

/// One of several names, each with what it stands for; messages call it `noun`.
pub(crate) fn choice<T>(noun: &'static str, names: impl Into<Vec<(&'static str, T)>>) -> Choice<T> {
    Choice { noun, names: names.into(), reserved: &[] }
}

impl<T> Choice<T> {
    /// Adds names to which a later version gives a meaning.
    pub(crate) fn reserved(self, reserved: &'static [&'static str]) -> Choice<T> {
        Choice { reserved, ..self }
    }
}

impl<T: Clone> Type for Choice<T> {
    type Value = T;

    fn takes(&self) -> String {
        TEXT.takes()
    }

    fn parse(&self, node: &Node, _: Place<'_>, mistakes: &mut Mistakes) -> Parsed<T> {
        let Value::Text(text) = &node.value else { return Err(WrongType) };
        let names = || self.names.iter().map(|(name, _)| *name);
        let known = self.names.iter().find(|(name, _)| name == text);
        if self.reserved.contains(&text.as_str()) {
            let what = format!("{} \"{text}\" is not available in this version", self.noun);
            mistakes.add(&node.at, what, nearest::list(names()));
        } else if known.is_none() {
            mistakes.add(&node.at, format!("unknown {} \"{text}\"", self.noun), nearest::hint(text, names()));
        }
        Ok(known.or(self.names.first()).map(|(_, meaning)| meaning.clone()))
    }

    fn describe(&self, key: &mut Key) {
        key.choices = self.names.iter().map(|(name, _)| (*name).to_owned()).collect();
    }
}

impl<T: Clone + PartialEq> Shown for Choice<T> {
    fn show(&self, value: &T) -> String {
        let name = self.names.iter().find(|(_, meaning)| meaning == value).map_or("", |(name, _)| name);
        format!("{name:?}")
    }
}

/// A list; a single entry stands for a list of one.
pub(crate) struct List<K>(pub(crate) K);

impl<K: Type> Type for List<K> {
    type Value = Vec<At<K::Value>>;

    fn takes(&self) -> String {
        format!("{}, or a list of these", self.0.takes())
    }

    fn parse(&self, node: &Node, place: Place<'_>, mistakes: &mut Mistakes) -> Parsed<Self::Value> {
        let items = match &node.value {
            Value::Array(items) => items.as_slice(),
            _ => std::slice::from_ref(node),
        };
        let entry =
            |item: &Node| Some(At { value: self.0.read(item, place, mistakes)?, at: item.at.clone() });
        let list: Vec<_> = items.iter().filter_map(entry).collect();
        // A list that lost entries would mislead later checks.
        Ok((list.len() == items.len()).then_some(list))
    }

    fn describe(&self, key: &mut Key) {
        self.0.describe(key);
    }
}

/// A text with a unit.
pub(crate) struct Unit<T> {
    example: &'static str,
    convert: fn(&str) -> Result<T, String>,
}

/// A time, in seconds.
pub(crate) const TIME: Unit<f64> = Unit { example: "1h30m", convert: parse_time };
/// An amount of memory, in bytes.
pub(crate) const MEMORY: Unit<u64> = Unit { example: "8GiB", convert: parse_memory };

impl<T> Type for Unit<T> {
    type Value = T;

    fn takes(&self) -> String {
        format!("a text with a unit, such as \"{}\"", self.example)
    }

    fn parse(&self, node: &Node, place: Place<'_>, mistakes: &mut Mistakes) -> Parsed<T> {
        let Value::Text(text) = &node.value else { return Err(WrongType) };
        let hint = || format!("write, for instance, \"{}\"", self.example);
        let report = |what| mistakes.add(&node.at, format!("`{}`: {what}", place.key), hint());
        Ok((self.convert)(text).map_err(report).ok())
    }
}

/// A table whose keys only a plugin knows, or whose keys are names.
pub(crate) struct AnyTable;

impl Type for AnyTable {
    type Value = Table;

    fn takes(&self) -> String {
        "a table".to_owned()
    }

    fn parse(&self, node: &Node, _: Place<'_>, _: &mut Mistakes) -> Parsed<Table> {
        let Value::Table(table) = &node.value else { return Err(WrongType) };
        Ok(Some(table.clone()))
    }
}

/// A type whose values stand for others.
pub(crate) struct Map<K: Type, U> {
    of: K,
    meaning: fn(At<K::Value>) -> U,
}

/// A type whose values stand for others.
pub(crate) fn map<K: Type, U>(of: K, meaning: fn(At<K::Value>) -> U) -> Map<K, U> {
    Map { of, meaning }
}

impl<K: Type, U> Type for Map<K, U> {
    type Value = U;

    fn takes(&self) -> String {
        self.of.takes()
    }

    fn parse(&self, node: &Node, place: Place<'_>, mistakes: &mut Mistakes) -> Parsed<U> {
        let value = self.of.parse(node, place, mistakes)?;
        Ok(value.map(|value| (self.meaning)(At { value, at: node.at.clone() })))
    }

    fn describe(&self, key: &mut Key) {
        self.of.describe(key);
    }
}

/// A value of one type or of another.
pub(crate) struct Either<A, B> {
    takes: &'static str,
    first: A,
    second: B,
}

/// A value of one type or of another; messages say that the key takes `takes`.
pub(crate) fn either<A, B>(takes: &'static str, first: A, second: B) -> Either<A, B> {
    Either { takes, first, second }
}

impl<A: Type, B: Type<Value = A::Value>> Type for Either<A, B> {
    type Value = A::Value;

    fn takes(&self) -> String {
        self.takes.to_owned()
    }

    fn parse(&self, node: &Node, place: Place<'_>, mistakes: &mut Mistakes) -> Parsed<A::Value> {
        let first = self.first.parse(node, place, mistakes);
        first.or_else(|WrongType| self.second.parse(node, place, mistakes))
    }

    fn describe(&self, key: &mut Key) {
        self.first.describe(key);
        self.second.describe(key);
    }
}

impl<A: Shown, B: Type<Value = A::Value>> Shown for Either<A, B> {
    fn show(&self, value: &A::Value) -> String {
        self.first.show(value)
    }
}
