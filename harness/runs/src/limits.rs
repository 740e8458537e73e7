//! Limits of what is read of a run, which a stranger may have written.
//!
//! A value of JSON may have one byte, and takes a hundred times as much memory until it is part of a row. So values are
//! counted before a text is parsed.

/// Limits of the lines of a journal.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LineLimits {
    /// Most bytes of a line: twice as many as traces, steps and predictions of a case ever have.
    pub(crate) bytes: usize,
    /// Most values of a line.
    pub(crate) values: usize,
    /// Most lines: a million cases, each of which ended twice.
    pub(crate) lines: usize,
}

/// Limits of the lines of every journal.
pub(crate) const LINES: LineLimits = LineLimits { bytes: 128 << 20, values: 8 << 20, lines: 2 << 20 };

/// Most values of a file of JSON in a packed run. Its numbers have about 18 bytes each, so that only its size bounds a
/// file that gpbench wrote.
pub(crate) const PACKED_VALUES: usize = 32 << 20;

/// A bound of the number of values in a part of a JSON text: each but the first of a list or an object has a comma
/// before it.
pub(crate) fn values(text: &[u8]) -> usize {
    text.iter().filter(|byte| matches!(byte, b',' | b'[' | b'{')).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_has_more_values_than_are_counted() {
        for (text, count) in [("", 0), ("{}", 1), ("[0,0,[]]", 4), (r#"{"a":[1],"b":"x,y"}"#, 4)] {
            assert_eq!(values(text.as_bytes()), count, "{text}");
        }
    }
}
