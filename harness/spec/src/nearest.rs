//! The nearest right name to a wrong one.

/// The candidate closest to `name`, if any is close enough to be what was meant.
pub(crate) fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = name.to_lowercase();
    candidates
        .into_iter()
        .map(|c| (strsim::damerau_levenshtein(&wanted, &c.to_lowercase()), c))
        .filter(|(distance, c)| *distance <= (c.chars().count().max(3) / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, c)| c)
}

/// A hint that names the nearest candidate, or all of them if none is near.
pub(crate) fn hint<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str> + Clone) -> Option<String> {
    if let Some(near) = nearest(name, candidates.clone()) {
        return Some(format!("did you mean `{near}`?"));
    }
    let mut all: Vec<String> = Vec::new();
    for candidate in candidates {
        let quoted = format!("`{candidate}`");
        if !all.contains(&quoted) {
            all.push(quoted);
        }
    }
    (!all.is_empty()).then(|| format!("known are {}", all.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_finger_is_found_and_a_stranger_is_not() {
        let names = ["cholesky", "cg", "ap"];
        assert_eq!(nearest("cholseky", names), Some("cholesky"));
        assert_eq!(nearest("CG", names), Some("cg"));
        assert_eq!(nearest("cgg", names), Some("cg"));
        assert_eq!(nearest("lanczos", names), None);
        assert_eq!(hint("lanczos", names).as_deref(), Some("known are `cholesky`, `cg`, `ap`"));
    }
}
