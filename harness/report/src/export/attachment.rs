//! Files within a page: links with their content (RFC 2397), which a browser saves without asking any server.

use std::fmt::Write as _;

/// Characters that stand for themselves in an address, beside letters and digits.
const PLAIN: &[u8] = b"-_.~!*();:@$,/?=+";

/// A file within a page.
pub(crate) struct Attachment {
    /// Name under which it is saved.
    pub(crate) name: String,
    /// Its content as an address.
    pub(crate) address: String,
}

impl Attachment {
    /// A file of text of a media type.
    pub(crate) fn new(name: &str, media: &str, content: &str) -> Attachment {
        let mut address = format!("data:{media};charset=utf-8,");
        for byte in content.bytes() {
            if byte.is_ascii_alphanumeric() || PLAIN.contains(&byte) {
                address.push(byte.into());
            } else {
                let _ = write!(address, "%{byte:02X}");
            }
        }
        Attachment { name: name.to_owned(), address }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_holds_the_content() {
        let file = Attachment::new("a.csv", "text/csv", "a,b\n\"1 %\",<é>&#\n");
        assert_eq!(file.name, "a.csv");
        let address = "data:text/csv;charset=utf-8,a,b%0A%221%20%25%22,%3C%C3%A9%3E%26%23%0A";
        assert_eq!(file.address, address);
    }
}
