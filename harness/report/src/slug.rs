//! File names from words that users chose.

/// The words in lower-case letters, digits, points and single hyphens; may be empty.
pub(crate) fn slug(words: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c.to_ascii_lowercase() } else { '-' };
    let mut slug: String = words.chars().map(letter).collect();
    while slug.contains("--") {
        slug = slug.replace("--", "-");
    }
    slug.trim_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slug_has_plain_letters() {
        for (words, expected) in [
            ("CG, rank 50", "cg-rank-50"),
            ("a/../b", "a-..-b"),
            ("--", ""),
            ("データ", ""),
            ("pol (2)", "pol-2"),
        ] {
            assert_eq!(slug(words), expected);
        }
    }
}
