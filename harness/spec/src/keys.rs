//! Declarations of keys.
//!
//! A table of a spec is read by one function, in which every key is one expression: its name, its type with the
//! range and the check, its default, and its documentation. The same function describes the table: it runs on
//! an empty table and records the keys that it requests. So a key that is read is documented, and a documented key is read.
//! (Attributes on serde structs would need a second place for the checks, and lose the places of values.)

mod kinds;
mod range;
mod reference;

pub(crate) use kinds::{
    Kind, WrongType, any_table, choice, choice_of_version, column, count, fraction, list, memory, name,
    number, text, time, truth, whole,
};
pub use range::Range;
pub(crate) use range::{ANY, COUNT_OR_ZERO, EVEN_COUNT, FRACTION, NOT_NEGATIVE, POSITIVE, SEVERAL, between};
pub use reference::{SpecKey, ValueType};

use kinds::KeyPath;

use crate::error::Mistakes;
use crate::nearest;
use crate::source::{At, Location, START};
use crate::tree::{Node, Table, Value};

/// A value of a key that has a default.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Setting<T> {
    pub(crate) value: T,
    /// Where it is written; `None` for the default.
    pub(crate) at: Option<Location>,
}

/// The tables of one kind, by their names.
#[derive(Debug, Clone)]
pub(crate) struct Tables<T> {
    entries: Vec<(At<String>, T)>,
    /// The table of an entry that has none.
    absent: T,
}

impl<T> Tables<T> {
    /// The table of an entry, where there is one.
    pub(crate) fn find(&self, name: &str) -> Option<&T> {
        self.entries.iter().find(|(entry, _)| entry.value == name).map(|(_, table)| table)
    }

    /// The table of an entry, or one without keys.
    pub(crate) fn get(&self, name: &str) -> &T {
        self.find(name).unwrap_or(&self.absent)
    }

    /// The names of the tables that there are.
    pub(crate) fn names(&self) -> impl Iterator<Item = &At<String>> {
        self.entries.iter().map(|(entry, _)| entry)
    }

    /// The tables that there are.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.entries.iter().map(|(_, table)| table)
    }
}

/// A table of a spec being read.
pub(crate) struct Keys<'a> {
    table: &'a Table,
    /// The table's name in messages.
    of: String,
    /// Where the table is written.
    at: Location,
    /// Every key that was requested.
    names: Vec<&'static str>,
    /// The requested keys with their documentation, where the table is read for its description.
    described: Option<Vec<SpecKey>>,
    mistakes: &'a mut Mistakes,
}

impl<'a> Keys<'a> {
    /// Reads a table by `read`; reports the keys that `read` does not request.
    pub(crate) fn read<T>(
        table: &Table,
        of: String,
        at: &Location,
        mistakes: &mut Mistakes,
        read: fn(&mut Keys<'_>) -> T,
    ) -> T {
        let mut keys = Keys { table, of, at: at.clone(), names: Vec::new(), described: None, mistakes };
        let value = read(&mut keys);
        keys.report_unknown();
        value
    }

    /// The keys that `read` requests.
    pub(crate) fn describe<T>(of: String, read: fn(&mut Keys<'_>) -> T) -> Vec<SpecKey> {
        let (table, mut mistakes) = (Table::default(), Mistakes::default());
        let described = Some(Vec::new());
        let mut keys =
            Keys { table: &table, of, at: START, names: Vec::new(), described, mistakes: &mut mistakes };
        read(&mut keys);
        keys.described.unwrap_or_default()
    }

    /// A key that may be left out.
    pub(crate) fn optional<T: 'static>(
        &mut self,
        name: &'static str,
        kind: Kind<T>,
        doc: &'static str,
    ) -> Option<At<T>> {
        self.declare(name, &kind, doc);
        self.take(name, &kind)
    }

    /// A key whose default follows from something else, which `default` states in words.
    pub(crate) fn derived<T: 'static>(
        &mut self,
        name: &'static str,
        kind: Kind<T>,
        default: &'static str,
        doc: &'static str,
    ) -> Option<At<T>> {
        if let Some(key) = self.declare(name, &kind, doc) {
            key.default_rule = Some(default);
        }
        self.take(name, &kind)
    }

    /// A key with a default, given as TOML.
    pub(crate) fn or<T: 'static>(
        &mut self,
        name: &'static str,
        kind: Kind<T>,
        default: impl Into<Value>,
        doc: &'static str,
    ) -> Setting<T> {
        let default = At { value: default.into(), at: START };
        if let Some(key) = self.declare(name, &kind, doc) {
            key.default = Some(default.value.to_string());
        }
        match self.take(name, &kind) {
            Some(At { value, at }) => Setting { value, at: Some(at) },
            None => {
                let value = kind.read(&default, KeyPath::new(name, &self.of), &mut Mistakes::default());
                Setting { value: value.expect("a default is of its key's kind"), at: None }
            }
        }
    }

    /// A required key; `hint` states what to write.
    pub(crate) fn required<T: 'static>(
        &mut self,
        name: &'static str,
        kind: Kind<T>,
        hint: &str,
        doc: &'static str,
    ) -> Option<At<T>> {
        if let Some(key) = self.declare(name, &kind, doc) {
            key.required = true;
        }
        if self.table.get(name).is_none() {
            self.mistakes.add(&self.at, format!("{} lacks `{name}`", self.of), hint.to_owned());
        }
        self.take(name, &kind)
    }

    /// A table of keys with defaults.
    pub(crate) fn table<T: 'static>(
        &mut self,
        name: &'static str,
        read: fn(&mut Keys<'_>) -> T,
        doc: &'static str,
    ) -> Setting<T> {
        self.table_called(format!("[{name}]"), name, read, doc)
    }

    /// A table of keys with defaults within this one.
    pub(crate) fn part<T: 'static>(
        &mut self,
        name: &'static str,
        read: fn(&mut Keys<'_>) -> T,
        doc: &'static str,
    ) -> Setting<T> {
        self.table_called(format!("`{name}` of {}", self.of), name, read, doc)
    }

    fn table_called<T: 'static>(
        &mut self,
        of: String,
        name: &'static str,
        read: fn(&mut Keys<'_>) -> T,
        doc: &'static str,
    ) -> Setting<T> {
        let kind = table(Some(of.clone()), read);
        self.declare(name, &kind, doc);
        match self.take(name, &kind) {
            Some(At { value, at }) => Setting { value, at: Some(at) },
            None => {
                Setting { value: Keys::read(&Table::default(), of, &START, self.mistakes, read), at: None }
            }
        }
    }

    /// The tables `[name.NAME]`.
    pub(crate) fn tables<T: 'static>(
        &mut self,
        name: &'static str,
        read: fn(&mut Keys<'_>) -> T,
        doc: &'static str,
    ) -> Tables<T> {
        let of = |entry: &str| format!("[{name}.{entry}]");
        let table_of = |entry: &str| table(Some(of(entry)), read);
        if let Some(key) = self.declare(name, &table_of("NAME"), doc) {
            key.named = true;
        }
        let tables = self.take(name, &any_table()).map(|tables| tables.value.0).unwrap_or_default();
        let mut entries = Vec::new();
        for (entry, node) in tables {
            let key = format!("{name}.{}", entry.value);
            let table = table_of(&entry.value).read(&node, KeyPath::new(&key, &self.of), self.mistakes);
            entries.extend(table.map(|table| (entry, table)));
        }
        let absent = Keys::read(&Table::default(), of("NAME"), &START, &mut Mistakes::default(), read);
        Tables { entries, absent }
    }

    /// The keys that the table gives, with the places of their values.
    pub(crate) fn written(&self) -> Vec<At<String>> {
        let key = |(key, node): &(At<String>, Node)| At { value: key.value.clone(), at: node.at.clone() };
        self.table.0.iter().map(key).collect()
    }

    /// Reports a mistake in the combination of keys of a table.
    pub(crate) fn report(&mut self, at: &Location, what: &str, hint: Option<&str>) {
        self.mistakes.add(at, what, hint.map(str::to_owned));
    }

    /// Reports a mistake of the table as a whole.
    pub(crate) fn report_table(&mut self, what: &str, hint: &str) {
        self.mistakes.add(&self.at, format!("{} {what}", self.of), hint.to_owned());
    }

    fn take<T: 'static>(&mut self, name: &'static str, kind: &Kind<T>) -> Option<At<T>> {
        let node = self.table.get(name)?;
        Some(At { value: kind.read(node, KeyPath::new(name, &self.of), self.mistakes)?, at: node.at.clone() })
    }

    /// Records a key; its description, where the table is read for that.
    fn declare<T: 'static>(
        &mut self,
        name: &'static str,
        kind: &Kind<T>,
        doc: &'static str,
    ) -> Option<&mut SpecKey> {
        self.names.push(name);
        let described = self.described.as_mut()?;
        let mut key = SpecKey { table: self.of.clone(), name, doc, ..SpecKey::default() };
        kind.describe(&mut key);
        described.push(key);
        described.last_mut()
    }

    fn report_unknown(self) {
        for (key, _) in &self.table.0 {
            if !self.names.contains(&key.value.as_str()) {
                let what = format!("unknown key `{}` in {}", key.value, self.of);
                self.mistakes.add(&key.at, what, nearest::hint(&key.value, self.names.iter().copied()));
            }
        }
    }
}

/// A table that is the value of a key.
pub(crate) fn inner<T: 'static>(read: fn(&mut Keys<'_>) -> T) -> Kind<T> {
    table(None, read)
}

/// A table that is the value of several keys, which messages and the reference call `name`.
pub(crate) fn shared_inner<T: 'static>(name: &str, read: fn(&mut Keys<'_>) -> T) -> Kind<T> {
    table(Some(name.to_owned()), read)
}

/// The tables `[[name]]`.
pub(crate) fn inner_list<T: 'static>(name: &str, read: fn(&mut Keys<'_>) -> T) -> Kind<Vec<At<T>>> {
    list(table(Some(format!("[[{name}]]")), read).takes(&format!("tables, each written under [[{name}]]")))
}

fn table<T: 'static>(name: Option<String>, read: fn(&mut Keys<'_>) -> T) -> Kind<T> {
    kinds::table(
        name,
        move |table, name, node, mistakes| Keys::read(table, name, &node.at, mistakes, read),
        move |name| Keys::describe(name, read),
    )
}
