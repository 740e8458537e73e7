//! Blocks of a page: its content and the cases of its chart. A long block is compressed, and the browser decompresses
//! it by itself (`DecompressionStream`, in all browsers since 2023).
//!
//! Tables of many cases repeat themselves, so that a site takes a small part of the bytes. Pages that are compressed
//! as files would need a server that declares them.

use std::io::Read;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::bufread::ZlibEncoder;
use maud::{Markup, PreEscaped};

/// Most bytes of a block that stands in its page as it is.
const MOST_PLAIN: usize = 1 << 16;

/// A block as a page has it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum PageBlock {
    /// Its text.
    Plain(String),
    /// Its text compressed by zlib (RFC 1950), in base64.
    Packed(String),
}

impl PageBlock {
    /// A block, compressed where it is long.
    pub(super) fn new(text: String) -> PageBlock {
        if text.len() <= MOST_PLAIN { PageBlock::Plain(text) } else { PageBlock::Packed(packed(&text)) }
    }

    /// Whether it is compressed.
    pub(super) fn is_packed(&self) -> bool {
        matches!(self, PageBlock::Packed(_))
    }

    /// The text that the page has.
    pub(super) fn text(&self) -> Markup {
        let (PageBlock::Plain(text) | PageBlock::Packed(text)) = self;
        PreEscaped(text.clone())
    }
}

fn packed(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut encoder = ZlibEncoder::new(text.as_bytes(), Compression::best());
    encoder.read_to_end(&mut bytes).expect("reading from memory does not fail");
    STANDARD.encode(bytes)
}

#[cfg(test)]
mod tests {
    use flate2::bufread::ZlibDecoder;

    use super::*;

    #[test]
    fn long_blocks_are_compressed_and_short_ones_are_not() {
        let short = "<td>±</td>".to_owned();
        assert_eq!(PageBlock::new(short.clone()), PageBlock::Plain(short.clone()));
        let long = short.repeat(MOST_PLAIN / short.len() + 1);
        let block = PageBlock::new(long.clone());
        let text = block.text().into_string();
        assert!(block.is_packed() && text.len() < long.len() / 50, "{}", text.len());
        let bytes = STANDARD.decode(text).unwrap();
        let mut back = String::new();
        ZlibDecoder::new(bytes.as_slice()).read_to_string(&mut back).unwrap();
        assert_eq!(back, long);
    }
}
