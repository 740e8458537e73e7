//! Numbers of things in words.

/// A number and its noun, such as `1 seed` or `3 seeds`. The plural of the noun ends in s.
pub fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn one_thing_has_no_plural() {
        let texts = [0, 1, 2].map(|count| counted(count, "data set"));
        assert_eq!(texts, ["0 data sets", "1 data set", "2 data sets"]);
    }
}
