//! Kinds of values: how a key's value is read, checked and described in the reference.

use super::range::{ANY, COUNT, Range};
use super::reference::{SpecKey, ValueType};
use crate::error::Mistakes;
use crate::nearest;
use crate::source::At;
use crate::tree::{Node, Table, Value};
use crate::units::{parse_memory, parse_percent, parse_time};

/// A kind of value.
///
/// A value of the right type that is not allowed is reported, and an allowed one replaces it where there is one,
/// so that no later check reports it again.
pub(crate) struct Kind<T> {
    /// What the key takes, as in "`steps` takes a whole number".
    takes: String,
    types: Vec<ValueType>,
    is_list: bool,
    range: Option<Range>,
    choices: Vec<&'static str>,
    /// Added to the message about a number outside the range.
    hint: Option<&'static str>,
    /// The keys of a table, given the table's name.
    keys: Option<Box<Describe>>,
    parse: Box<Parse<T>>,
}

type Describe = dyn Fn(&str) -> Vec<SpecKey>;
type Parse<T> = dyn Fn(&Node, KeyPath<'_>, &mut Mistakes) -> Parsed<T>;

/// A value that was read; `None` for one that has been reported.
type Parsed<T> = Result<Option<T>, WrongType>;

/// A value has another type than its key.
pub(crate) struct WrongType;

/// A key and the table that it is in, as messages name them.
#[derive(Clone, Copy)]
pub(crate) struct KeyPath<'p> {
    /// The key.
    pub(crate) key: &'p str,
    /// The table, such as `[train]`.
    pub(crate) of: &'p str,
    hint: Option<&'static str>,
}

impl<'p> KeyPath<'p> {
    pub(crate) fn new(key: &'p str, of: &'p str) -> Self {
        KeyPath { key, of, hint: None }
    }

    /// The name of a table that is the key's value.
    fn table(self) -> String {
        format!("`{}` of {}", self.key, self.of)
    }

    /// Reports a number outside the range.
    fn check(self, number: f64, range: Range, is_whole: bool, node: &Node, mistakes: &mut Mistakes) {
        if !range.contains(number) {
            let value = if is_whole { String::new() } else { format!(", not {number}") };
            let demand = match range.maximum {
                Some(bound) if is_whole && number > bound => format!("be at most {bound}"),
                _ => range.demand(is_whole),
            };
            let what = format!("`{}` must {demand}{value}", self.key);
            mistakes.add(&node.at, what, self.hint.map(str::to_owned));
        }
    }
}

impl<T: 'static> Kind<T> {
    pub(crate) fn new(
        takes: impl Into<String>,
        of: ValueType,
        parse: impl Fn(&Node, KeyPath<'_>, &mut Mistakes) -> Parsed<T> + 'static,
    ) -> Self {
        Kind {
            takes: takes.into(),
            types: vec![of],
            is_list: false,
            range: None,
            choices: Vec::new(),
            hint: None,
            keys: None,
            parse: Box::new(parse),
        }
    }

    /// Values of one type.
    fn of_type(takes: &str, of: ValueType, convert: fn(&Value) -> Option<T>) -> Self {
        Kind::new(takes, of, move |node, _, _| convert(&node.value).map(Some).ok_or(WrongType))
    }

    /// Adds a hint to the message about a number outside the range.
    pub(crate) fn hint(self, hint: &'static str) -> Self {
        Kind { hint: Some(hint), ..self }
    }

    /// Replaces the description of the permitted values in messages.
    pub(crate) fn takes(self, takes: &str) -> Self {
        Kind { takes: takes.to_owned(), ..self }
    }

    fn parse(&self, node: &Node, place: KeyPath<'_>, mistakes: &mut Mistakes) -> Parsed<T> {
        (self.parse)(node, KeyPath { hint: self.hint.or(place.hint), ..place }, mistakes)
    }

    /// Reads a value; reports one of another type.
    pub(crate) fn read(&self, node: &Node, place: KeyPath<'_>, mistakes: &mut Mistakes) -> Option<T> {
        self.parse(node, place, mistakes).unwrap_or_else(|WrongType| {
            let what = format!("`{}` takes {}, not {}", place.key, self.takes, node.value.kind());
            mistakes.add(&node.at, what, None);
            None
        })
    }

    /// Adds the types, names and ranges of the kind to a key of the reference.
    pub(crate) fn describe(&self, key: &mut SpecKey) {
        key.takes.clone_from(&self.takes);
        key.types.clone_from(&self.types);
        key.list = self.is_list;
        key.range = self.range;
        key.choices.clone_from(&self.choices);
        if let Some(keys) = &self.keys {
            key.keys = keys(&KeyPath::new(key.name, &key.table).table());
        }
    }

    /// Values that are mapped to others.
    pub(crate) fn map<U: 'static>(self, meaning: fn(At<T>) -> U) -> Kind<U> {
        let Kind { takes, types, is_list, range, choices, hint, keys, parse } = self;
        let parse = move |node: &Node, place: KeyPath<'_>, mistakes: &mut Mistakes| {
            let value = parse(node, place, mistakes)?;
            Ok(value.map(|value| meaning(At { value, at: node.at.clone() })))
        };
        Kind { takes, types, is_list, range, choices, hint, keys, parse: Box::new(parse) }
    }

    /// Values of this kind or of another; messages say that the key takes `takes`.
    pub(crate) fn or(mut self, mut other: Kind<T>, takes: &str) -> Kind<T> {
        let (range, choices) = (self.range.xor(other.range), [&self.choices[..], &other.choices].concat());
        let keys = self.keys.take().or(other.keys.take());
        let (types, is_list) = ([&self.types[..], &other.types].concat(), self.is_list || other.is_list);
        let parse = move |node: &Node, place: KeyPath<'_>, mistakes: &mut Mistakes| {
            self.parse(node, place, mistakes).or_else(|WrongType| other.parse(node, place, mistakes))
        };
        Kind { types, is_list, range, choices, keys, ..Kind::new(takes, ValueType::Object, parse) }
    }
}

/// A text.
pub(crate) fn text() -> Kind<String> {
    Kind::of_type("a text in quotes", ValueType::String, |value| {
        if let Value::Text(text) = value { Some(text.clone()) } else { None }
    })
}

/// The name of something.
pub(crate) fn name() -> Kind<String> {
    text().takes("a name in quotes")
}

/// `true` or `false`.
pub(crate) fn truth() -> Kind<bool> {
    Kind::of_type("true or false", ValueType::Boolean, |value| {
        if let Value::Bool(truth) = value { Some(*truth) } else { None }
    })
}

/// A table with arbitrary keys: those of a plugin's parameters, or names.
pub(crate) fn any_table() -> Kind<Table> {
    Kind::of_type("a table", ValueType::Object, |value| {
        if let Value::Table(table) = value { Some(table.clone()) } else { None }
    })
}

/// A whole number in a range, which fits `T`.
pub(crate) fn whole<T: TryFrom<i64> + 'static>(range: Range) -> Kind<T> {
    let bound = |bound: Option<f64>, otherwise| bound.map_or(otherwise, |bound| bound as i64);
    let (low, high) = (bound(range.minimum, i64::MIN), bound(range.maximum, i64::MAX));
    let parse = move |node: &Node, place: KeyPath<'_>, mistakes: &mut Mistakes| {
        let Value::Int(number) = node.value else { return Err(WrongType) };
        place.check(number as f64, range, true, node, mistakes);
        Ok(T::try_from(number.clamp(low, high)).ok())
    };
    Kind {
        range: (range != Range::default()).then_some(range),
        ..Kind::new("a whole number", ValueType::Integer, parse)
    }
}

/// A positive whole number.
pub(crate) fn count<T: TryFrom<i64> + 'static>() -> Kind<T> {
    whole(COUNT)
}

/// A column of a file: its name or its 0-based index.
pub(crate) fn column() -> Kind<String> {
    let index = whole::<i64>(ANY).map(|index| index.value.to_string());
    text().or(index, "a text in quotes or a whole number")
}

/// A number in a range, written with or without a decimal point.
pub(crate) fn number(range: Range) -> Kind<f64> {
    let parse = move |node: &Node, place: KeyPath<'_>, mistakes: &mut Mistakes| {
        let number = match node.value {
            Value::Int(int) => int as f64,
            Value::Float(float) => float,
            _ => return Err(WrongType),
        };
        place.check(number, range, false, node, mistakes);
        Ok(Some(number))
    };
    Kind { range: Some(range), ..Kind::new("a number", ValueType::Number, parse) }
}

/// One of several names, each with its value; messages call it `noun`.
pub(crate) fn choice<T: Clone + 'static>(
    noun: &'static str,
    names: impl Into<Vec<(&'static str, T)>>,
) -> Kind<T> {
    choice_of_version(noun, names, &[])
}

/// One of several names, as [`choice`], with names that are `reserved` for a later version.
pub(crate) fn choice_of_version<T: Clone + 'static>(
    noun: &'static str,
    names: impl Into<Vec<(&'static str, T)>>,
    reserved: &'static [&'static str],
) -> Kind<T> {
    let meanings: Vec<(&'static str, T)> = names.into();
    let choices: Vec<&'static str> = meanings.iter().map(|(name, _)| *name).collect();
    let known = choices.clone();
    let parse = move |node: &Node, _: KeyPath<'_>, mistakes: &mut Mistakes| {
        let Value::Text(text) = &node.value else { return Err(WrongType) };
        let known = || known.iter().copied();
        let found = meanings.iter().find(|(name, _)| name == text);
        if reserved.contains(&text.as_str()) {
            let what = format!("{noun} \"{text}\" is not available in this version");
            mistakes.add(&node.at, what, nearest::list(known()));
        } else if found.is_none() {
            mistakes.add(&node.at, format!("unknown {noun} \"{text}\""), nearest::hint(text, known()));
        }
        Ok(found.or(meanings.first()).map(|(_, meaning)| meaning.clone()))
    };
    Kind { choices, ..Kind::new("a text in quotes", ValueType::String, parse) }
}

/// A list; a single entry stands for a list of one.
pub(crate) fn list<T: 'static>(mut of: Kind<T>) -> Kind<Vec<At<T>>> {
    let takes = format!("{}, or a list of these", of.takes);
    let (types, range, choices, keys) = (of.types.clone(), of.range, of.choices.clone(), of.keys.take());
    let parse = move |node: &Node, place: KeyPath<'_>, mistakes: &mut Mistakes| {
        let items = match &node.value {
            Value::Array(items) => items.as_slice(),
            _ => std::slice::from_ref(node),
        };
        let place = KeyPath { hint: of.hint, ..place };
        let entry = |item: &Node| Some(At { value: of.read(item, place, mistakes)?, at: item.at.clone() });
        let list: Vec<_> = items.iter().filter_map(entry).collect();
        // A list that lost entries would mislead later checks.
        Ok((list.len() == items.len()).then_some(list))
    };
    Kind { types, is_list: true, range, choices, keys, ..Kind::new(takes, ValueType::Object, parse) }
}

/// A time, in seconds.
pub(crate) fn time() -> Kind<f64> {
    with_unit("1h30m", parse_time)
}

/// An amount of memory, in bytes.
pub(crate) fn memory() -> Kind<u64> {
    with_unit("8GiB", parse_memory)
}

/// A percentage, as a fraction.
pub(crate) fn fraction() -> Kind<f64> {
    with_unit("1%", parse_percent)
}

fn with_unit<T: 'static>(example: &'static str, convert: fn(&str) -> Result<T, String>) -> Kind<T> {
    let parse = move |node: &Node, place: KeyPath<'_>, mistakes: &mut Mistakes| {
        let Value::Text(text) = &node.value else { return Err(WrongType) };
        let hint = || format!("write, for instance, \"{example}\"");
        let report = |what| mistakes.add(&node.at, format!("`{}`: {what}", place.key), hint());
        Ok(convert(text).map_err(report).ok())
    };
    Kind::new(format!("a text with a unit, such as \"{example}\""), ValueType::String, parse)
}

/// A table, read by `read`; `describe` lists its keys, given its name. Without a name of its own, the key and the table
/// around it name it.
pub(super) fn table<T: 'static>(
    name: Option<String>,
    read: impl Fn(&Table, String, &Node, &mut Mistakes) -> T + 'static,
    describe: impl Fn(String) -> Vec<SpecKey> + 'static,
) -> Kind<T> {
    let own = name.clone();
    let parse = move |node: &Node, place: KeyPath<'_>, mistakes: &mut Mistakes| {
        let Value::Table(table) = &node.value else { return Err(WrongType) };
        Ok(Some(read(table, own.clone().unwrap_or_else(|| place.table()), node, mistakes)))
    };
    let keys = move |given: &str| describe(name.clone().unwrap_or_else(|| given.to_owned()));
    Kind { keys: Some(Box::new(keys)), ..Kind::new("a table", ValueType::Object, parse) }
}
