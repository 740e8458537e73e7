//! Escapes hidden characters in foreign text: names, reasons, logs and files that come from plugins and data sets.
//!
//! Control characters change terminals, and other characters hide text or change its direction. This module replaces
//! them by visible escapes. Characters with a meaning in HTML or Markdown are escaped by the writers of those
//! formats.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Largest number of bytes of a reason.
pub const REASON: usize = 2000;

/// Largest number of bytes of the last lines of a log.
pub const LOG: usize = 4096;

/// Largest number of bytes of a name, and of a cell of a table.
pub const NAME: usize = 200;

/// The text as several lines: line feeds and tabs stay, and every other hidden character is escaped, as in `\u{1b}`.
pub fn plain(text: &str) -> Cow<'_, str> {
    replaced(text, |c| is_hidden(c) && !matches!(c, '\n' | '\t'), write_out)
}

/// The text as one line: like [`plain`], but line feeds and tabs become spaces.
pub fn line(text: &str) -> Cow<'_, str> {
    replaced(text, is_hidden, |c, out| match c {
        '\t' | '\n' => out.push(' '),
        _ => write_out(c, out),
    })
}

/// At most the first `most` bytes of the text, and a note on how much was left out.
pub fn cut(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most {
        return Cow::Borrowed(text);
    }
    let end = text.floor_char_boundary(most);
    Cow::Owned(format!("{}… ({} bytes left out)", &text[..end], text.len() - end))
}

/// A JSON document of the same value, with the hidden characters of its texts escaped as in `\u001b`.
pub fn json(document: &str) -> Cow<'_, str> {
    // In JSON, control characters below U+0020 occur only between texts, as white space.
    replaced(
        document,
        |c| is_hidden(c) && c >= ' ',
        |c, out| {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        },
    )
}

/// Whether a character controls a terminal, changes the direction of text, ends a line, or is invisible.
///
/// These are the control characters, the separators of lines and paragraphs, the characters that Unicode lists as
/// `Default_Ignorable_Code_Point` (directions, characters of no width, variation selectors, tags), annotations, and
/// two numbers that are no characters and that XML forbids.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            | '\u{fffe}'..='\u{ffff}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}

/// The text with each character that `is_meant` selects replaced by what `write` adds.
fn replaced(text: &str, is_meant: impl Fn(char) -> bool, write: impl Fn(char, &mut String)) -> Cow<'_, str> {
    let Some(first) = text.find(&is_meant) else { return Cow::Borrowed(text) };
    let mut out = String::with_capacity(text.len() + 16);
    out.push_str(&text[..first]);
    for c in text[first..].chars() {
        if is_meant(c) { write(c, &mut out) } else { out.push(c) }
    }
    Cow::Owned(out)
}

fn write_out(c: char, out: &mut String) {
    out.extend(c.escape_default());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_that_a_terminal_obeys_are_written_out() {
        for (text, shown) in [
            ("\x1b[31mred\x1b[0m", r"\u{1b}[31mred\u{1b}[0m"),
            ("\x1b]52;c;aGk=\x07", r"\u{1b}]52;c;aGk=\u{7}"),
            ("\u{9b}2J\u{9d}0;title\u{9c}", r"\u{9b}2J\u{9d}0;title\u{9c}"),
            ("ok\r\u{8}\u{7f}\0", r"ok\r\u{8}\u{7f}\u{0}"),
            ("safe\u{202e}cod.exe\u{2066}\u{200f}", r"safe\u{202e}cod.exe\u{2066}\u{200f}"),
            ("a\u{2028}b\u{2029}c\u{85}d", r"a\u{2028}b\u{2029}c\u{85}d"),
            ("a\u{200b}b\u{feff}c\u{e0041}d", r"a\u{200b}b\u{feff}c\u{e0041}d"),
        ] {
            assert_eq!(plain(text), shown);
            assert_eq!(line(text), shown);
        }
    }

    #[test]
    fn other_text_stays() {
        for text in ["", "H = K(X, X) + σ²I → ok", "naïve e\u{301} 漢字 हिन्दी עברית 🙂", "a  b", "\u{fffd}"]
        {
            assert!(matches!(plain(text), Cow::Borrowed(same) if same == text));
            assert!(matches!(line(text), Cow::Borrowed(same) if same == text));
        }
    }

    #[test]
    fn a_line_has_no_line_feeds() {
        assert_eq!(plain("a\n\tb\r\n"), "a\n\tb\\r\n");
        assert_eq!(line("a\n\tb\n"), "a  b ");
    }

    #[test]
    fn long_text_is_cut_between_characters_and_says_so() {
        assert_eq!(cut("σσσ", 6), "σσσ");
        assert_eq!(cut("σσσ", 5), "σσ… (2 bytes left out)");
        assert_eq!(cut("abc", 0), "… (3 bytes left out)");
        assert_eq!(cut(&"a".repeat(1 << 20), 3), "aaa… (1048573 bytes left out)");
    }

    #[test]
    fn json_keeps_its_value() {
        let value = serde_json::json!({ "k\u{7f}\u{9b}": ["\x1b[0m\n", "\u{202e}", "\u{e0041}σ\\\""] });
        for document in [value.to_string(), format!("{value:#}")] {
            let shown = json(&document);
            assert!(!shown.chars().any(|c| is_hidden(c) && c != '\n'), "{shown}");
            assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
        }
    }
}
