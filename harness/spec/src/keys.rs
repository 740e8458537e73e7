//! Declarations of keys.
//!
//! A table of a spec is read by one function, in which every key is one expression: its name, its type with the
//! range and the check, its default, and its documentation. The same function describes the table: it runs on
//! an empty table and notes what it asks for. So a key that is read is documented, and a documented key is read.
//! (Attributes on serde structs would need a second place for the checks, and lose the places of values.)

mod range;
mod reference;
mod types;

pub use range::Range;
pub(crate) use range::{ANY, COUNT_OR_ZERO, EVEN_COUNT, FRACTION, NOT_NEGATIVE, POSITIVE, SEVERAL, between};
pub use reference::Key;
pub(crate) use types::{
    AnyTable, Choice, List, MEMORY, NAME, Parsed, Place, Shown, TEXT, TIME, Truth, Type, WrongType, choice,
    count, either, map, number, whole,
};

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
    /// What a table without keys says.
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
    /// Every key that was asked for.
    names: Vec<&'static str>,
    /// The same with their documentation, where the table is read for its description.
    described: Option<Vec<Key>>,
    mistakes: &'a mut Mistakes,
}

impl<'a> Keys<'a> {
    /// Reads a table by `read`; reports the keys that it does not ask for.
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

    /// The keys that `read` asks for.
    pub(crate) fn describe<T>(of: String, read: fn(&mut Keys<'_>) -> T) -> Vec<Key> {
        let (table, mut mistakes) = (Table::default(), Mistakes::default());
        let described = Some(Vec::new());
        let mut keys =
            Keys { table: &table, of, at: START, names: Vec::new(), described, mistakes: &mut mistakes };
        read(&mut keys);
        keys.described.unwrap_or_default()
    }

    /// A key that may be left out.
    pub(crate) fn optional<K: Type>(
        &mut self,
        name: &'static str,
        of: K,
        doc: &'static str,
    ) -> Option<At<K::Value>> {
        self.declare(name, &of, None, false, doc);
        self.take(name, &of)
    }

    /// A key whose default follows from something else, as `default` says.
    pub(crate) fn derived<K: Type>(
        &mut self,
        name: &'static str,
        of: K,
        default: &'static str,
        doc: &'static str,
    ) -> Option<At<K::Value>> {
        self.declare(name, &of, Some(default.to_owned()), false, doc);
        self.take(name, &of)
    }

    /// A key with a default.
    pub(crate) fn or<K: Shown>(
        &mut self,
        name: &'static str,
        of: K,
        default: K::Value,
        doc: &'static str,
    ) -> Setting<K::Value> {
        self.declare(name, &of, Some(of.show(&default)), false, doc);
        match self.take(name, &of) {
            Some(At { value, at }) => Setting { value, at: Some(at) },
            None => Setting { value: default, at: None },
        }
    }

    /// A key that has to be given; `hint` tells what to write.
    pub(crate) fn required<K: Type>(
        &mut self,
        name: &'static str,
        of: K,
        hint: &str,
        doc: &'static str,
    ) -> Option<At<K::Value>> {
        self.declare(name, &of, None, true, doc);
        if self.table.get(name).is_none() {
            self.mistakes.add(&self.at, format!("{} lacks `{name}`", self.of), hint.to_owned());
        }
        self.take(name, &of)
    }

    /// A table of keys with defaults.
    pub(crate) fn table<T>(
        &mut self,
        name: &'static str,
        read: fn(&mut Keys<'_>) -> T,
        doc: &'static str,
    ) -> Setting<T> {
        let of = Inner { name: Some(format!("[{name}]")), takes: "a table", read };
        self.declare(name, &of, None, false, doc);
        match self.take(name, &of) {
            Some(At { value, at }) => Setting { value, at: Some(at) },
            None => Setting { value: of.absent(self.mistakes), at: None },
        }
    }

    /// The tables `[name.NAME]`.
    pub(crate) fn tables<T>(
        &mut self,
        name: &'static str,
        read: fn(&mut Keys<'_>) -> T,
        doc: &'static str,
    ) -> Tables<T> {
        let of = |entry: &str| Inner { name: Some(format!("[{name}.{entry}]")), takes: "a table", read };
        self.declare(name, &of("NAME"), None, false, doc);
        if let Some(key) = self.described.as_mut().and_then(|keys| keys.last_mut()) {
            key.named = true;
        }
        let tables = self.take(name, &AnyTable).map(|tables| tables.value.0).unwrap_or_default();
        let mut entries = Vec::new();
        for (entry, node) in tables {
            let key = format!("{name}.{}", entry.value);
            let place = Place { key: &key, of: &self.of };
            let table = of(&entry.value).read(&node, place, self.mistakes);
            entries.extend(table.map(|table| (entry, table)));
        }
        Tables { entries, absent: of("NAME").absent(&mut Mistakes::default()) }
    }

    /// The keys that the table gives, with the places of their values.
    pub(crate) fn written(&self) -> Vec<At<String>> {
        let key = |(key, node): &(At<String>, Node)| At { value: key.value.clone(), at: node.at.clone() };
        self.table.0.iter().map(key).collect()
    }

    /// Reports something that the keys of a table say together.
    pub(crate) fn report(&mut self, at: &Location, what: &str, hint: Option<&str>) {
        self.mistakes.add(at, what, hint.map(str::to_owned));
    }

    fn take<K: Type>(&mut self, name: &'static str, of: &K) -> Option<At<K::Value>> {
        let node = self.table.get(name)?;
        let place = Place { key: name, of: &self.of };
        Some(At { value: of.read(node, place, self.mistakes)?, at: node.at.clone() })
    }

    fn declare<K: Type>(
        &mut self,
        name: &'static str,
        of: &K,
        default: Option<String>,
        required: bool,
        doc: &'static str,
    ) {
        self.names.push(name);
        if let Some(described) = &mut self.described {
            let (table, takes) = (self.of.clone(), of.takes());
            let (range, choices, named, keys) = (None, Vec::new(), false, Vec::new());
            let mut key = Key { table, name, takes, default, required, range, choices, doc, named, keys };
            of.describe(&mut key);
            described.push(key);
        }
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

/// A table whose keys `read` declares.
pub(crate) struct Inner<T> {
    /// Its name in messages; without one, the key and the table around it name it.
    name: Option<String>,
    takes: &'static str,
    read: fn(&mut Keys<'_>) -> T,
}

/// A table that is the value of a key.
pub(crate) fn inner<T>(read: fn(&mut Keys<'_>) -> T) -> Inner<T> {
    Inner { name: None, takes: "a table", read }
}

/// The tables `[[name]]`.
pub(crate) fn inner_list<T>(name: &str, takes: &'static str, read: fn(&mut Keys<'_>) -> T) -> List<Inner<T>> {
    List(Inner { name: Some(format!("[[{name}]]")), takes, read })
}

impl<T> Inner<T> {
    /// What a table without keys says.
    fn absent(&self, mistakes: &mut Mistakes) -> T {
        Keys::read(&Table::default(), self.name.clone().unwrap_or_default(), &START, mistakes, self.read)
    }
}

impl<T> Type for Inner<T> {
    type Value = T;

    fn takes(&self) -> String {
        self.takes.to_owned()
    }

    fn parse(&self, node: &Node, place: Place<'_>, mistakes: &mut Mistakes) -> Parsed<T> {
        let Value::Table(table) = &node.value else { return Err(WrongType) };
        let name = self.name.clone().unwrap_or_else(|| table_name(place.key, place.of));
        Ok(Some(Keys::read(table, name, &node.at, mistakes, self.read)))
    }

    fn describe(&self, key: &mut Key) {
        let name = self.name.clone().unwrap_or_else(|| table_name(key.name, &key.table));
        key.keys = Keys::describe(name, self.read);
    }
}

/// The name of a table that is the value of a key.
fn table_name(key: &str, of: &str) -> String {
    format!("`{key}` of {of}")
}
