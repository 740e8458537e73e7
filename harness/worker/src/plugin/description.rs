//! Reads a plugin's description of itself, and checks it before anything is used.

use std::cell::Cell;
use std::collections::HashSet;
use std::mem::{MaybeUninit, offset_of};

use gpbench_abi::{Learner, Param, Plugin, Solver, Str, Value, value_kind};
use gpbench_terms::{Capabilities, ParamKind, ParamSchema, ParamValue, SolverInfo, SolverKind};

/// Most entries of a list; no library has as many.
const MAX_ENTRIES: i64 = 4096;

/// Bytes of all texts of a description, and 64 for each of its entries. Without it a few tables that are
/// listed repeatedly would fill any memory.
const MAX_BYTES: usize = 16 << 20;

/// A solver of a loaded library: its functions, all checked to be there, and its schema.
#[derive(Debug)]
pub struct SolverEntry {
    pub(super) table: Solver,
    /// Id, documentation and parameters.
    pub info: SolverInfo,
}

impl SolverEntry {
    /// What of the table differs from this version's, each a sentence.
    pub(super) fn oddities(&self) -> Vec<String> {
        let Solver { size, reserved, capabilities, .. } = self.table;
        oddities(size_of::<Solver>(), size, reserved, capabilities)
    }
}

/// A learner of a loaded library: its table, and its schema.
#[derive(Debug)]
pub struct LearnerEntry {
    /// Its functions are null if the schema says [`listed_only`](SolverInfo::listed_only), or else all that are required are there.
    pub(super) table: Learner,
    /// Id, documentation and parameters.
    pub info: SolverInfo,
}

impl LearnerEntry {
    /// What of the table differs from this version's, each a sentence.
    pub(super) fn oddities(&self) -> Vec<String> {
        let Learner { size, reserved, capabilities, .. } = self.table;
        oddities(size_of::<Learner>(), size, reserved, capabilities)
    }
}

fn oddities(expected: usize, size: u32, reserved: u32, capabilities: u64) -> Vec<String> {
    let unknown = Capabilities::from_number(capabilities).unknown();
    let mut oddities = Vec::new();
    if size as usize != expected {
        oddities.push(format!("the table gives its size as {size} bytes, not {expected}"));
    }
    if reserved != 0 {
        oddities.push(format!("the reserved field holds {reserved}, not 0"));
    }
    if unknown != 0 {
        oddities.push(format!("capabilities has the unknown bits {unknown:#x}"));
    }
    oddities
}

/// A library's description, checked.
#[derive(Debug)]
pub(super) struct Description {
    pub(super) name: String,
    pub(super) version: String,
    pub(super) minor: u32,
    pub(super) solvers: Vec<SolverEntry>,
    pub(super) learners: Vec<LearnerEntry>,
}

/// Reads and checks a plugin's description.
///
/// # Safety
/// `plugin` is null or points to a table that begins with its true size and
/// whose pointers are null or point to as many entries as it says.
pub(super) unsafe fn read(plugin: *const Plugin) -> Result<Description, String> {
    let room = &Room(Cell::new(MAX_BYTES));
    // SAFETY: every call below passes on pointers of the description, which are valid by this
    // function's contract.
    unsafe {
        let plugin = table(plugin, size_of::<Plugin>(), "the description of the library")?;
        let name = room.text(plugin.name, "the name of the library")?;
        if name.is_empty() {
            return Err("the library has no name".into());
        }
        let version = room.text(plugin.version, "the version of the library")?;
        let solvers = (plugin.solvers, plugin.n_solvers, plugin.solver_stride);
        let solvers = entries(solvers, offset_of!(Solver, source), "solver", |table, place| {
            read_solver(table, place, room)
        })?;
        let learners = (plugin.learners, plugin.n_learners, plugin.learner_stride);
        let learners = entries(learners, offset_of!(Learner, source), "learner", |table, place| {
            read_learner(table, place, room)
        })?;
        let mut seen = HashSet::new();
        for info in infos(&solvers, &learners) {
            if !seen.insert(&info.id) {
                return Err(format!("the library offers `{}` twice", info.id));
            }
        }
        Ok(Description { name, version, minor: plugin.minor, solvers, learners })
    }
}

/// What the entries are, solvers first.
pub(super) fn infos<'e>(
    solvers: &'e [SolverEntry],
    learners: &'e [LearnerEntry],
) -> impl Iterator<Item = &'e SolverInfo> {
    solvers.iter().map(|solver| &solver.info).chain(learners.iter().map(|learner| &learner.info))
}

/// The bytes left of [`MAX_BYTES`].
struct Room(Cell<usize>);

impl Room {
    fn take(&self, bytes: usize) -> Result<(), String> {
        let left = self.0.get().checked_sub(bytes + 64);
        self.0.set(left.ok_or_else(|| format!("the description takes more than {MAX_BYTES} bytes"))?);
        Ok(())
    }

    /// A copy of a text, if there is room for it.
    ///
    /// # Safety
    /// If `text.ptr` is not null it points to `text.len` bytes.
    unsafe fn text(&self, text: Str, name: &str) -> Result<String, String> {
        // SAFETY: by this function's contract.
        let text = unsafe { super::views::text(text, name)? };
        self.take(text.len())?;
        Ok(text)
    }
}

/// Copies a foreign table that begins with its size and has at least `least` bytes, those of version 1.0. What a
/// later version has appended is zero if the table does not have all of it; what is unknown here is cut off.
///
/// # Safety
/// `table` is null or points to a table that begins with its true size. `T` holds
/// only integers, pointers and optional functions.
unsafe fn table<T>(table: *const T, least: usize, what: &str) -> Result<T, String> {
    if table.is_null() {
        return Err(format!("{what} is a null pointer"));
    }
    if !table.is_aligned() {
        return Err(format!("{what} is a misaligned pointer"));
    }
    // SAFETY: not null and aligned; begins with its size by this function's contract.
    let size = unsafe { table.cast::<u32>().read() } as usize;
    if size < least {
        return Err(format!("{what} has {size} bytes, fewer than the {least} of version 1.0"));
    }
    let known = if size < size_of::<T>() { least } else { size_of::<T>() };
    let mut copy = MaybeUninit::<T>::zeroed();
    // SAFETY: the table has so many bytes, by its own size, and the copy has room for them; all bit patterns are
    // values of such a table.
    unsafe {
        copy.as_mut_ptr().cast::<u8>().copy_from_nonoverlapping(table.cast(), known);
        Ok(copy.assume_init())
    }
}

/// Reads `count` tables of at least `least` bytes at a distance of `stride` bytes.
///
/// # Safety
/// As for [`table`], for each of them.
unsafe fn entries<T, E>(
    (first, count, stride): (*const T, i64, i64),
    least: usize,
    what: &str,
    read: impl Fn(T, &str) -> Result<E, String>,
) -> Result<Vec<E>, String> {
    if count == 0 {
        return Ok(Vec::new());
    }
    if !(1..=MAX_ENTRIES).contains(&count) {
        return Err(format!("the library lists {count} {what}s"));
    }
    let Some(stride) = usize::try_from(stride).ok().filter(|&stride| (least..1 << 20).contains(&stride))
    else {
        return Err(format!(
            "the {what}s are at a distance of {stride} bytes, where each has at least {least}"
        ));
    };
    let mut out = Vec::new();
    for index in 0..count as usize {
        let place = format!("{what} number {}", index + 1);
        let entry = first.wrapping_byte_add(index * stride);
        // SAFETY: one of the `count` tables, or null with the first.
        let entry = unsafe { table(if first.is_null() { first } else { entry }, least, &place) }?;
        out.push(read(entry, &place)?);
    }
    Ok(out)
}

/// # Safety
/// The table's pointers are null or point to as many entries as it says.
unsafe fn read_solver(table: Solver, place: &str, room: &Room) -> Result<SolverEntry, String> {
    // SAFETY: by this function's contract.
    let mut info = unsafe {
        let texts = (table.id, table.doc);
        read_info(SolverKind::Solver, texts, table.capabilities, (table.params, table.n_params), place, room)?
    };
    // SAFETY: by this function's contract.
    info.source = unsafe { read_source(table.source, &info.id, room) }?;
    let functions = [
        ("create", table.create.is_some()),
        ("solve", table.solve.is_some()),
        ("destroy", table.destroy.is_some()),
    ];
    all_there("solver", &info.id, &functions)?;
    Ok(SolverEntry { table, info })
}

/// # Safety
/// The table's pointers are null or point to as many entries as it says.
unsafe fn read_learner(table: Learner, place: &str, room: &Room) -> Result<LearnerEntry, String> {
    let texts = (table.id, table.doc);
    let params = (table.params, table.n_params);
    // SAFETY: by this function's contract.
    let mut info = unsafe { read_info(SolverKind::Learner, texts, table.capabilities, params, place, room) }?;
    // SAFETY: by this function's contract.
    info.source = unsafe { read_source(table.source, &info.id, room) }?;
    let functions = [
        ("create", table.create.is_some()),
        ("begin", table.begin.is_some()),
        ("fit", table.fit.is_some()),
        ("predict", table.predict.is_some()),
        ("destroy", table.destroy.is_some()),
    ];
    info.listed_only = lacks_functions(&table);
    if !info.listed_only {
        all_there("learner", &info.id, &functions)?;
        if table.save.is_some() != table.load.is_some() {
            return Err(format!("learner `{}` has one of the functions `save` and `load`", info.id));
        }
    }
    Ok(LearnerEntry { table, info })
}

/// Whether a learner's table ends before its functions, which minor version 2 has added. [`table`] has then read them as null.
fn lacks_functions(table: &Learner) -> bool {
    (table.size as usize) < size_of::<Learner>()
}

/// # Safety
/// The text is null or as long as it says.
unsafe fn read_source(source: Str, id: &str, room: &Room) -> Result<Option<String>, String> {
    // SAFETY: by this function's contract.
    let source = unsafe { room.text(source, &format!("the source of `{id}`")) }?;
    Ok(Some(source).filter(|source| !source.is_empty()))
}

fn all_there(kind: &str, id: &str, functions: &[(&str, bool)]) -> Result<(), String> {
    match functions.iter().find(|(_, there)| !there) {
        Some((missing, _)) => Err(format!("{kind} `{id}` has no function `{missing}`")),
        None => Ok(()),
    }
}

/// # Safety
/// The texts are null or as long as they say; so are the parameters.
unsafe fn read_info(
    kind: SolverKind,
    (id, doc): (Str, Str),
    capabilities: u64,
    (params, n_params): (*const Param, i64),
    place: &str,
    room: &Room,
) -> Result<SolverInfo, String> {
    // SAFETY: by this function's contract.
    let (id, doc) = unsafe {
        (room.text(id, &format!("the id of {place}"))?, room.text(doc, &format!("the doc of {place}"))?)
    };
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if id.is_empty() || !id.chars().all(plain) {
        return Err(format!("{place} has the id `{id}`; ids are lower-case letters, digits and hyphens"));
    }
    if !(0..=MAX_ENTRIES).contains(&n_params) || (params.is_null() && n_params > 0) || !params.is_aligned() {
        return Err(format!("`{id}` lists {n_params} parameters at {params:?}"));
    }
    let mut infos: Vec<ParamSchema> = Vec::new();
    for index in 0..n_params as usize {
        // SAFETY: one of the `n_params` parameters.
        let info = unsafe { read_param(&*params.add(index), index, room) }
            .map_err(|wrong| format!("`{id}`: {wrong}"))?;
        if infos.iter().any(|other| other.name == info.name) {
            return Err(format!("`{id}` has two parameters `{}`", info.name));
        }
        infos.push(info);
    }
    Ok(SolverInfo {
        id,
        kind,
        doc,
        source: None,
        capabilities: Capabilities::from_number(capabilities).iter().collect(),
        params: infos,
        listed_only: false,
    })
}

/// # Safety
/// The parameter's texts are null or as long as they say.
unsafe fn read_param(param: &Param, index: usize, room: &Room) -> Result<ParamSchema, String> {
    // SAFETY: by this function's contract.
    let name = unsafe { room.text(param.name, &format!("the name of parameter {}", index + 1))? };
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if name.is_empty() || !name.chars().all(plain) {
        return Err(format!(
            "a parameter is named `{name}`; names are lower-case letters, digits and underscores"
        ));
    }
    let wrong = |what: String| format!("parameter `{name}`: {what}");
    // SAFETY: by this function's contract.
    let (doc, default, min, max, choices) = unsafe {
        (
            room.text(param.doc, "its doc").map_err(wrong)?,
            value(&param.default, "its default", room).map_err(wrong)?,
            value(&param.min, "its min", room).map_err(wrong)?,
            value(&param.max, "its max", room).map_err(wrong)?,
            read_choices(param, room).map_err(wrong)?,
        )
    };
    let default = default.ok_or_else(|| wrong("its default has no value".into()))?;
    let kind = default.kind();
    let bound = |value: Option<ParamValue>, what: &str| match value {
        None => Ok(None),
        Some(ParamValue::Int(bound)) if kind == ParamKind::Int => Ok(Some(bound as f64)),
        Some(ParamValue::Float(bound)) if kind == ParamKind::Float => Ok(Some(bound)),
        Some(_) => Err(wrong(format!("its {what} is not a number of its own kind"))),
    };
    if !choices.is_empty() && kind != ParamKind::Text {
        return Err(wrong("it has choices but is not a text".into()));
    }
    let info =
        ParamSchema { kind, doc, default, min: bound(min, "min")?, max: bound(max, "max")?, choices, name };
    admits(&info, &info.default)
        .map_err(|refusal| format!("parameter `{}`: its default {refusal}", info.name))?;
    Ok(info)
}

/// # Safety
/// The value's text is null or as long as it says.
unsafe fn value(value: &Value, what: &str, room: &Room) -> Result<Option<ParamValue>, String> {
    if value.kind == value_kind::NONE {
        return Ok(None);
    }
    // SAFETY: by this function's contract.
    let read = ParamValue::from_abi(value, |text| unsafe { room.text(text, what) })?;
    read.map(Some).ok_or_else(|| format!("{what} is of kind {}, which version 1 does not have", value.kind))
}

/// # Safety
/// The parameter's choices are null or as many as it says.
unsafe fn read_choices(param: &Param, room: &Room) -> Result<Vec<String>, String> {
    let Param { choices, n_choices, .. } = *param;
    if choices.is_null() {
        return Ok(Vec::new());
    }
    if !(0..=MAX_ENTRIES).contains(&n_choices) || !choices.is_aligned() {
        return Err(format!("it lists {n_choices} choices at {choices:?}"));
    }
    // SAFETY: one of the `n_choices` texts.
    (0..n_choices as usize).map(|index| unsafe { room.text(*choices.add(index), "a choice") }).collect()
}

/// Whether a parameter may take a value of its own kind; if not, why, as the end of a sentence.
pub(super) fn admits(info: &ParamSchema, value: &ParamValue) -> Result<(), String> {
    let number = match value {
        ParamValue::Bool(_) => return Ok(()),
        ParamValue::Text(text) if info.choices.is_empty() || info.choices.contains(text) => return Ok(()),
        ParamValue::Text(text) => return Err(format!("`{text}` is none of {}", info.choices.join(", "))),
        ParamValue::Int(number) => *number as f64,
        ParamValue::Float(number) => *number,
    };
    if number.is_nan() {
        return Err("is not a number".into());
    }
    match (info.min, info.max) {
        (Some(min), _) if number < min => Err(format!("{number} is below {min}")),
        (_, Some(max)) if number > max => Err(format!("{number} is above {max}")),
        _ => Ok(()),
    }
}
