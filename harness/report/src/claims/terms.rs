//! Words of the field that the page explains at its end, and links to them where it first has them.

use std::fmt::Write as _;

use super::list::Term;
use crate::escape::markdown;
use crate::slug::slug;

/// Links the first place of each word to its explanation.
pub(super) struct Terms<'c> {
    terms: &'c [Term],
    /// Whether each has its link.
    is_linked: Vec<bool>,
}

/// A place of a word in a text, in bytes.
struct Place {
    start: usize,
    end: usize,
    /// Which word it is.
    term: usize,
}

impl<'c> Terms<'c> {
    pub(super) fn new(terms: &'c [Term]) -> Terms<'c> {
        Terms { terms, is_linked: vec![false; terms.len()] }
    }

    /// Markdown of one line, whose escaped text is given, with links at words that have none yet.
    pub(super) fn linked(&mut self, escaped: &str) -> String {
        let mut out = String::with_capacity(escaped.len());
        let mut from = 0;
        for Place { start, end, term } in self.places(escaped) {
            let _ = write!(
                out,
                "{}[{}](#{})",
                &escaped[from..start],
                &escaped[start..end],
                anchor(&self.terms[term])
            );
            self.is_linked[term] = true;
            from = end;
        }
        out + &escaped[from..]
    }

    /// The first places of words without a link, in the order of the text. Of two that overlap, the longer stays.
    fn places(&self, text: &str) -> Vec<Place> {
        let unlinked = (0..self.terms.len()).filter(|&term| !self.is_linked[term]);
        let mut found: Vec<Place> = unlinked.filter_map(|term| self.first_place(text, term)).collect();
        found.sort_by_key(|place| (place.start, std::cmp::Reverse(place.end)));
        let mut end = 0;
        found.retain(|place| {
            let is_free = place.start >= end;
            if is_free {
                end = place.end;
            }
            is_free
        });
        found
    }

    /// Where a text first has a word, in any of its forms.
    fn first_place(&self, text: &str, term: usize) -> Option<Place> {
        let Term { name, forms, .. } = &self.terms[term];
        let places = [name].into_iter().chain(forms).filter_map(|form| {
            let start = first_whole(text, form)?;
            Some(Place { start, end: start + form.len(), term })
        });
        places.min_by_key(|place| (place.start, std::cmp::Reverse(place.end)))
    }

    /// The explanations, each with the anchor that links lead to.
    pub(super) fn glossary(&self) -> String {
        let mut out = String::new();
        for term in self.terms {
            let (name, meaning) = (markdown(&term.name), markdown(term.meaning.trim()));
            let _ = writeln!(out, "- <a id=\"{}\"></a>**{name}**: {meaning}", anchor(term));
        }
        out
    }
}

/// The anchor of a word's explanation.
fn anchor(term: &Term) -> String {
    format!("term-{}", slug(&term.name))
}

/// Where a text first has a word that is no part of another, whatever the case of its ASCII letters.
fn first_whole(text: &str, word: &str) -> Option<usize> {
    // Lower-case ASCII leaves all bytes in their places.
    let (text, word) = (text.to_ascii_lowercase(), word.to_ascii_lowercase());
    let is_letter = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '-');
    let is_whole = |at: &usize| {
        !is_letter(text[..*at].chars().next_back()) && !is_letter(text[at + word.len()..].chars().next())
    };
    text.match_indices(word.as_str()).map(|(at, _)| at).find(is_whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn term(name: &str, forms: &[&str]) -> Term {
        let forms = forms.iter().map(|form| (*form).to_owned()).collect();
        Term { name: name.to_owned(), forms, meaning: "It means *that*.".to_owned() }
    }

    #[test]
    fn the_first_whole_word_is_linked_once() {
        let terms = [term("CG", &["conjugate gradients"]), term("RR-CG", &[]), term("epoch", &["epochs"])];
        let mut terms = Terms::new(&terms);
        assert_eq!(
            terms.linked("Conjugate gradients take ten epochs, and CG too."),
            "[Conjugate gradients](#term-cg) take ten [epochs](#term-epoch), and CG too."
        );
        assert_eq!(terms.linked("RR-CG and CG: epochs."), "[RR-CG](#term-rr-cg) and CG: epochs.");
        assert_eq!(
            terms.glossary().lines().next(),
            Some("- <a id=\"term-cg\"></a>**CG**: It means \\*that\\*.")
        );
    }
}
