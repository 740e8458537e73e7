//! Names over several runs, in which one word may stand for different things.

/// Things that specs name. Where a name stands for different things, the later ones have a number: `pol (2)`, or the
/// next one that no other thing has.
pub(super) struct Names<T> {
    all: Vec<Named<T>>,
}

/// A thing with its name.
pub(super) struct Named<T> {
    /// The name, which no other thing has.
    pub(super) name: String,
    pub(super) thing: T,
    /// The name in the specs.
    pub(super) given: String,
}

impl<T> Default for Names<T> {
    fn default() -> Self {
        Names { all: Vec::new() }
    }
}

impl<T> Names<T> {
    /// The place of a thing. `absorb` tells whether a known thing of this name is the same, and adds to it what is
    /// new.
    pub(super) fn place(&mut self, given: &str, thing: T, absorb: impl Fn(&mut T, &T) -> bool) -> usize {
        for (place, known) in self.all.iter_mut().enumerate().filter(|(_, known)| known.given == given) {
            if absorb(&mut known.thing, &thing) {
                return place;
            }
        }
        let mut name = given.to_owned();
        let mut count = 1;
        while self.all.iter().any(|known| known.name == name) {
            count += 1;
            name = format!("{given} ({count})");
        }
        self.all.push(Named { name, thing, given: given.to_owned() });
        self.all.len() - 1
    }

    /// The thing at a place.
    pub(super) fn at(&self, place: usize) -> &Named<T> {
        &self.all[place]
    }

    /// All names, by place.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.all.iter().map(|named| named.name.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_thing_of_the_same_name_has_a_number() {
        let mut names = Names::default();
        let mut place = |given: &str, thing: u8| names.place(given, thing, |known, other| known == other);
        assert_eq!([place("pol", 1), place("bike", 1), place("pol", 2), place("pol", 1)], [0, 1, 2, 0]);
        assert_eq!(names.names().collect::<Vec<_>>(), ["pol", "bike", "pol (2)"]);
    }

    #[test]
    fn a_name_with_a_number_of_its_own_is_told_apart_too() {
        let mut names = Names::default();
        let mut place = |given: &str, thing: u8| names.place(given, thing, |known, other| known == other);
        assert_eq!([place("cg (2)", 1), place("cg", 2), place("cg", 3), place("cg (2)", 4)], [0, 1, 2, 3]);
        assert_eq!([place("cg (2)", 1), place("cg", 3)], [0, 2]);
        assert_eq!(names.names().collect::<Vec<_>>(), ["cg (2)", "cg", "cg (3)", "cg (2) (2)"]);
    }
}
