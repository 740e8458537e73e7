//! `[thompson]`: how an objective is searched.

use gpbench_record::{Ascent, Candidates, Exploit, WarmStart};

use super::replay::{Replay, replay};
use crate::keys::{
    COUNT_OR_ZERO, Keys, POSITIVE, Setting, between, choice, count, inner, number, truth, whole,
};
use crate::source::At;

#[derive(Debug, Clone)]
pub(crate) struct Thompson {
    pub(crate) steps: Setting<u64>,
    pub(crate) candidates: Option<At<Candidates>>,
    pub(crate) ascent: Option<At<Ascent>>,
    pub(crate) warm_start: Setting<WarmStart>,
    pub(crate) share_features: Setting<bool>,
    pub(crate) replay: Option<At<Replay>>,
}

/// Where samples are looked at, unless the spec says otherwise.
pub(crate) const CANDIDATES: Candidates =
    Candidates { rounds: 5, points: 2000, explore: 0.1, nearby: 0.5, exploit: Exploit::Shifted };

/// How the best candidates are improved, unless the spec says otherwise.
pub(crate) const ASCENT: Ascent = Ascent { steps: 100, learning_rate: 1e-3 };

pub(crate) fn read(keys: &mut Keys<'_>) -> Thompson {
    Thompson {
        steps: keys.or("steps", count(), 10, "Outer steps; each one acquires as many points as the estimator has probes."),
        candidates: keys.optional(
            "candidates",
            inner(candidates),
            "Random points at which all samples of a step are evaluated, in rounds.",
        ),
        ascent: keys.optional("ascent", inner(ascent), "How the best candidate of each round is improved."),
        warm_start: keys.or(
            "warm_start",
            choice("warm start", WarmStart::ALL),
            "none",
            "Where a step's solve starts: \"none\" (at zero, with fresh prior draws), \"mean\" (y at its last solution), or \
             \"all\" (all at their last solutions, with prior draws that are kept, which makes samples biased).",
        ),
        share_features: keys.or(
            "share_features",
            truth(),
            false,
            "Whether prior draws are made of the objective's own frequencies, as in the public code of 2023.",
        ),
        replay: keys.optional(
            "replay",
            replay(),
            "A run whose points are acquired in every case, so that all solvers solve the same systems; the points that \
             samples choose are judged only: the run's folder, or a table.",
        ),
    }
}

fn candidates(keys: &mut Keys<'_>) -> Candidates {
    let Candidates { rounds, points, explore, nearby, .. } = CANDIDATES;
    Candidates {
        rounds: keys.or("rounds", count(), rounds, "Rounds; the best candidate of each one starts an ascent.").value,
        points: keys.or("points", count(), points, "Candidates of a round.").value,
        explore: keys
            .or(
                "explore",
                number(between(0.0, 1.0)),
                explore,
                "Share of the candidates that are uniform on the unit cube; the others are near training rows.",
            )
            .value,
        nearby: keys
            .or("nearby", number(POSITIVE), nearby, "Standard deviation of the distance to such a row, in length scales.")
            .value,
        exploit: keys
            .or(
                "exploit",
                choice("law of exploitation", Exploit::ALL),
                "shifted",
                "How such rows are chosen: with probabilities proportional to y - min(y), or \"public-2023\": to y + min(y) \
                 over its sum, which prefers low values.",
            )
            .value,
    }
}

fn ascent(keys: &mut Keys<'_>) -> Ascent {
    let Ascent { steps, learning_rate } = ASCENT;
    Ascent {
        steps: keys.or("steps", whole(COUNT_OR_ZERO), steps, "Steps of Adam from each start; 0 keeps the start.").value,
        learning_rate: keys.or("learning_rate", number(POSITIVE), learning_rate, "Learning rate of Adam.").value,
    }
}
