//! The known name nearest to an unknown one.

/// The candidate closest to `name`, if one differs from it by few letters.
pub(crate) fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = name.to_lowercase();
    let length = wanted.chars().count();
    let distance = |candidate: &'a str| {
        let letters = candidate.chars().count();
        let most = (letters.max(3) / 3).max(1);
        // The distance of long texts takes long to compute.
        let is_near = length.abs_diff(letters) <= most;
        let distance = is_near.then(|| strsim::damerau_levenshtein(&wanted, &candidate.to_lowercase()))?;
        (distance <= most).then_some((distance, candidate))
    };
    candidates.into_iter().filter_map(distance).min_by_key(|(distance, _)| *distance).map(|(_, c)| c)
}

/// A hint that names the nearest candidate, or all of them if none is near.
pub(crate) fn hint<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let candidates: Vec<&str> = candidates.into_iter().collect();
    if let Some(near) = nearest(name, candidates.iter().copied()) {
        return Some(format!("did you mean `{near}`?"));
    }
    list(candidates)
}

/// A hint that names all candidates.
pub(crate) fn list<'a>(candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
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
    fn a_typing_error_is_corrected_and_an_unrelated_name_is_not() {
        let names = ["cholesky", "cg", "ap"];
        assert_eq!(nearest("cholseky", names), Some("cholesky"));
        assert_eq!(nearest("CG", names), Some("cg"));
        assert_eq!(nearest("cgg", names), Some("cg"));
        assert_eq!(nearest("lanczos", names), None);
        assert_eq!(hint("lanczos", names).as_deref(), Some("known are `cholesky`, `cg`, `ap`"));
    }
}
