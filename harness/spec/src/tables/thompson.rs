//! `[thompson]`: how an objective is searched.

use gpbench_record::{Ascent, Candidates, Exploit, WarmStart};

use super::replay::{Replay, replay};
use crate::keys::{COUNT_OR_ZERO, Keys, POSITIVE, Setting, between, choice, count, number, truth, whole};
use crate::source::At;

#[derive(Debug, Clone)]
pub(crate) struct Thompson {
    pub(crate) steps: Setting<u64>,
    pub(crate) candidates: Setting<Candidates>,
    pub(crate) ascent: Setting<Ascent>,
    pub(crate) warm_start: Setting<WarmStart>,
    pub(crate) share_features: Setting<bool>,
    pub(crate) replay: Option<At<Replay>>,
}

pub(crate) fn read(keys: &mut Keys<'_>) -> Thompson {
    Thompson {
        steps: keys.or("steps", count(), 10, "Outer steps; each one acquires as many points as the estimator has probes."),
        candidates: keys.part("candidates", candidates,
            "Random points at which all samples of a step are evaluated, in rounds.",
        ),
        ascent: keys.part("ascent", ascent, "How the best candidate of each round is improved."),
        warm_start: keys.or(
            "warm_start",
            choice("warm start", WarmStart::ALL.map(|start| (start.as_str(), start))),
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
    Candidates {
        rounds: keys.or("rounds", count(), 5, "Rounds; the best candidate of each one starts an ascent.").value,
        points: keys.or("points", count(), 2000, "Candidates of a round.").value,
        explore: keys
            .or(
                "explore",
                number(between(0.0, 1.0)),
                0.1,
                "Share of the candidates that are uniform on the unit cube; the others are near training rows.",
            )
            .value,
        nearby: keys
            .or("nearby", number(POSITIVE), 0.5, "Standard deviation of the offset from such a row in each input, in length scales.")
            .value,
        exploit: keys
            .or(
                "exploit",
                choice("law of exploitation", Exploit::ALL.map(|law| (law.as_str(), law))),
                "shifted",
                "How such rows are chosen: with probabilities proportional to y - min(y), or \"public-2023\": to y + min(y) \
                 over its sum, which prefers low values.",
            )
            .value,
    }
}

fn ascent(keys: &mut Keys<'_>) -> Ascent {
    Ascent {
        steps: keys
            .or("steps", whole(COUNT_OR_ZERO), 100, "Steps of Adam from each start; 0 keeps the start.")
            .value,
        learning_rate: keys.or("learning_rate", number(POSITIVE), 0.001, "Learning rate of Adam.").value,
    }
}
