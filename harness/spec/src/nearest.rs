//! The known name nearest to an unknown one.

/// Names that other programs and papers use for the same thing.
const SYNONYMS: &[&[&str]] = &[
    &["epochs", "max_epochs", "passes", "max_passes"],
    &["iterations", "max_iterations", "iters", "max_iters"],
    &["learning_rate", "lr", "step_size", "eta"],
    &["batch", "batch_size", "minibatch", "minibatch_size"],
    &["points", "inducing_points", "num_inducing", "m"],
    &["noise_scale", "noise", "likelihood_noise"],
    &["signal_scale", "outputscale", "output_scale", "amplitude"],
    &["length_scale", "lengthscale", "length_scales", "lengthscales"],
    &["time", "max_time", "time_limit", "timeout"],
    &["memory", "max_memory", "memory_limit"],
    &["tolerance", "tol", "rtol"],
    &["patience", "early_stopping"],
];

/// The candidate closest to `name`: a synonym, or else one that differs from it by few letters.
pub(crate) fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let candidates: Vec<&str> = candidates.into_iter().collect();
    synonym(name, &candidates).or_else(|| similar(name, &candidates))
}

/// The candidate that is a synonym of `name`.
fn synonym<'a>(name: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let name = name.to_lowercase();
    let group = SYNONYMS.iter().find(|group| group.contains(&name.as_str()))?;
    candidates.iter().copied().find(|candidate| group.contains(candidate))
}

/// The candidate that differs from `name` by the fewest letters, if they are few.
fn similar<'a>(name: &str, candidates: &[&'a str]) -> Option<&'a str> {
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
    candidates.iter().copied().filter_map(distance).min_by_key(|(distance, _)| *distance).map(|(_, c)| c)
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

    #[test]
    fn another_word_for_a_name_finds_it() {
        assert_eq!(nearest("passes", ["params", "epochs"]), Some("epochs"));
        assert_eq!(nearest("epochs", ["max_epochs", "time"]), Some("max_epochs"));
        assert_eq!(nearest("lr", ["batch", "learning_rate"]), Some("learning_rate"));
        assert_eq!(nearest("lr", ["batch"]), None);
    }
}
