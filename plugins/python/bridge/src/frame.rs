//! The frames between bridge and child, one datagram each; PROTOCOL.md lists them.
//!
//! The decoder distrusts the child: a frame of a wrong length, an unknown kind, unknown flags or malformed JSON is a
//! [`Wrong`] frame. What the numbers of a frame mean is checked where it is served.

use serde_json::{Map, Value};
use thiserror::Error;

/// Bytes of the header: kind u16, flags u16, status i32, sequence u64.
const HEADER: usize = 16;

/// Integers of a hot frame.
pub const INTEGERS: usize = 14;

/// Real numbers of a hot frame.
pub const REALS: usize = 2;

/// Bytes of a hot frame.
pub const HOT: usize = HEADER + 8 * (INTEGERS + REALS);

/// Most bytes of the text of a JSON frame.
pub const MOST_JSON: usize = 64 << 10;

/// Most bytes of a frame.
pub const MOST: usize = HEADER + MOST_JSON;

/// Kinds of frames. Those of calls are sent by the bridge, answers and requests by the child.
pub mod kind {
    #![expect(missing_docs, reason = "PROTOCOL.md lists them")]
    pub const CREATE: u16 = 1;
    pub const WARM: u16 = 2;
    pub const PROBLEM: u16 = 3;
    pub const PREPARE: u16 = 4;
    pub const SOLVE: u16 = 5;
    pub const ESTIMATE: u16 = 6;
    pub const FITDATA: u16 = 7;
    pub const BEGIN: u16 = 8;
    pub const FIT: u16 = 9;
    pub const PREDICT: u16 = 10;
    pub const MODEL: u16 = 11;
    pub const SAVE: u16 = 12;
    pub const LOAD: u16 = 13;
    pub const DROP: u16 = 14;
    pub const END: u16 = 15;
    pub const RELEASE: u16 = 16;
    pub const REPLY: u16 = 20;
    pub const TRANSFORM: u16 = 21;
    pub const READY: u16 = 40;
    pub const SPACE: u16 = 41;
    pub const DONE: u16 = 42;
    pub const FAIL: u16 = 43;
    pub const TRANSFORMED: u16 = 44;
    pub const APPLY: u16 = 50;
    pub const ROWS: u16 = 51;
    pub const FUSED: u16 = 52;
    pub const COLUMNS: u16 = 53;
    pub const BLOCK: u16 = 54;
    pub const DIAG: u16 = 55;
    pub const FEATURES: u16 = 56;
    pub const FEATURES_T: u16 = 57;
    pub const CHARGE: u16 = 58;
    pub const OBSERVE: u16 = 59;
    pub const NOTE: u16 = 60;
    pub const LOG: u16 = 61;
    pub const INPUTS: u16 = 62;
    pub const TARGETS: u16 = 63;
    pub const LOAD_STATE: u16 = 64;
    pub const SAVE_STATE: u16 = 65;
    pub const BATCH: u16 = 66;
    pub const PUT: u16 = 67;
    pub const GET: u16 = 68;
    pub const KEEP: u16 = 69;
    pub const TAKE: u16 = 70;
}

/// Bits of a frame's flags.
pub mod flag {
    /// Of a product: in mixed precision. Of `PREDICT`: the inputs are in their place.
    pub const MIXED: u16 = 1;
    /// Of `FUSED`: there is a transform.
    pub const TRANSFORM: u16 = 2;
    /// Of `PREDICT`: the inputs are in their place.
    pub const FILLED: u16 = 1;
}

/// A frame of the child.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    /// One of [`kind`].
    pub kind: u16,
    /// Bits of [`flag`].
    pub flags: u16,
    /// A status of the interface.
    pub status: i32,
    /// Number of the call that it answers, or of the request.
    pub sequence: u64,
    /// Content.
    pub body: Body,
}

/// Content of a frame.
#[derive(Debug, Clone, PartialEq)]
pub enum Body {
    /// Of a hot frame.
    Numbers([i64; INTEGERS], [f64; REALS]),
    /// Of a JSON frame.
    Object(Map<String, Value>),
}

/// Why a frame was refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct Wrong(pub String);

/// Forms of the frames that a child may send, with the flags that they may have.
fn form(kind: u16) -> Option<(bool, u16)> {
    const HOT: bool = true;
    const JSON: bool = false;
    Some(match kind {
        kind::READY | kind::DONE | kind::FAIL => (JSON, 0),
        kind::SPACE | kind::TRANSFORMED => (HOT, 0),
        kind::APPLY | kind::ROWS | kind::COLUMNS => (HOT, flag::MIXED),
        kind::FUSED => (HOT, flag::MIXED | flag::TRANSFORM),
        kind::BLOCK..=kind::OBSERVE | kind::INPUTS | kind::TARGETS | kind::BATCH => (HOT, 0),
        kind::NOTE | kind::LOG | kind::LOAD_STATE | kind::SAVE_STATE => (JSON, 0),
        kind::PUT | kind::GET | kind::KEEP | kind::TAKE => (JSON, 0),
        _ => return None,
    })
}

/// Reads a frame of the child.
pub fn decode(bytes: &[u8]) -> Result<Frame, Wrong> {
    let Some((header, rest)) = bytes.split_first_chunk::<HEADER>() else {
        return Err(Wrong(format!("a frame of {} bytes has no header", bytes.len())));
    };
    let number = u64::from_le_bytes(*header.first_chunk().expect("8 of 16 bytes"));
    let sequence = u64::from_le_bytes(*header.last_chunk().expect("8 of 16 bytes"));
    let (kind, flags, status) = (number as u16, (number >> 16) as u16, (number >> 32) as u32 as i32);
    let Some((is_hot, permitted)) = form(kind) else {
        return Err(Wrong(format!("a frame of the unknown kind {kind}")));
    };
    if flags & !permitted != 0 {
        return Err(Wrong(format!("a frame of kind {kind} has the unknown flags {:#x}", flags & !permitted)));
    }
    let body = if is_hot { numbers(kind, rest)? } else { object(kind, rest)? };
    Ok(Frame { kind, flags, status, sequence, body })
}

fn numbers(kind: u16, bytes: &[u8]) -> Result<Body, Wrong> {
    if bytes.len() != HOT - HEADER {
        return Err(Wrong(format!(
            "a frame of kind {kind} has {} bytes, not {HOT}",
            HEADER.saturating_add(bytes.len())
        )));
    }
    let (mut integers, mut reals) = ([0; INTEGERS], [0.0; REALS]);
    let (words, _) = bytes.as_chunks::<8>();
    let (first, last) = words.split_at(INTEGERS);
    integers.iter_mut().zip(first).for_each(|(number, word)| *number = i64::from_le_bytes(*word));
    reals.iter_mut().zip(last).for_each(|(number, word)| *number = f64::from_le_bytes(*word));
    Ok(Body::Numbers(integers, reals))
}

fn object(kind: u16, text: &[u8]) -> Result<Body, Wrong> {
    if !(1..=MOST_JSON).contains(&text.len()) {
        let most = MOST_JSON;
        return Err(Wrong(format!(
            "a frame of kind {kind} has {} bytes of text, not 1 to {most}",
            text.len()
        )));
    }
    let object = serde_json::from_slice(text);
    object.map(Body::Object).map_err(|error| Wrong(format!("a frame of kind {kind} is no object: {error}")))
}

/// Writes a frame of numbers.
pub fn encode(
    kind: u16,
    flags: u16,
    status: i32,
    sequence: u64,
    integers: &[i64],
    reals: &[f64],
) -> [u8; HOT] {
    let mut bytes = [0; HOT];
    bytes[..HEADER].copy_from_slice(&header(kind, flags, status, sequence));
    let (words, _) = bytes[HEADER..].as_chunks_mut::<8>();
    for (word, number) in words.iter_mut().zip(integers.iter().take(INTEGERS)) {
        *word = number.to_le_bytes();
    }
    for (word, number) in words[INTEGERS..].iter_mut().zip(reals) {
        *word = number.to_le_bytes();
    }
    bytes
}

/// Writes a frame with a text.
pub fn encode_text(kind: u16, sequence: u64, text: &str) -> Vec<u8> {
    let mut bytes = header(kind, 0, 0, sequence).to_vec();
    bytes.extend_from_slice(text.as_bytes());
    bytes
}

fn header(kind: u16, flags: u16, status: i32, sequence: u64) -> [u8; HEADER] {
    let first = u64::from(kind) | u64::from(flags) << 16 | u64::from(status as u32) << 32;
    let mut bytes = [0; HEADER];
    bytes[..8].copy_from_slice(&first.to_le_bytes());
    bytes[8..].copy_from_slice(&sequence.to_le_bytes());
    bytes
}

impl Frame {
    /// The numbers of a hot frame.
    pub fn integers(&self) -> &[i64; INTEGERS] {
        const NONE: [i64; INTEGERS] = [0; INTEGERS];
        match &self.body {
            Body::Numbers(integers, _) => integers,
            Body::Object(_) => &NONE,
        }
    }

    /// The first real number of a hot frame.
    pub fn real(&self) -> f64 {
        match &self.body {
            Body::Numbers(_, reals) => reals[0],
            Body::Object(_) => 0.0,
        }
    }

    /// A field of a JSON frame.
    pub fn field(&self, name: &str) -> Option<&Value> {
        match &self.body {
            Body::Numbers(..) => None,
            Body::Object(object) => object.get(name),
        }
    }

    /// A text of a JSON frame.
    pub fn text(&self, name: &str) -> Result<&str, Wrong> {
        self.field(name).and_then(Value::as_str).ok_or_else(|| self.lacks(name, "text"))
    }

    /// A whole number of a JSON frame.
    pub fn integer(&self, name: &str) -> Result<i64, Wrong> {
        self.field(name).and_then(Value::as_i64).ok_or_else(|| self.lacks(name, "whole number"))
    }

    /// A number of a JSON frame.
    pub fn number(&self, name: &str) -> Result<f64, Wrong> {
        self.field(name).and_then(Value::as_f64).ok_or_else(|| self.lacks(name, "number"))
    }

    fn lacks(&self, name: &str, what: &str) -> Wrong {
        Wrong(format!("a frame of kind {} has no {what} `{name}`", self.kind))
    }
}
