//! A part of a plan, for a run that is divided among several computers or jobs.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Case;
use crate::hash::hash_json;

/// One of several parts of equal size, written as `3/16`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Shard {
    /// Its number, from 1 to `count`.
    pub number: usize,
    /// The number of parts.
    pub count: usize,
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.count)
    }
}

impl FromStr for Shard {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (number, count) = text.split_once('/').ok_or(EXPECTED)?;
        let parse = |text: &str| text.parse::<usize>().map_err(|_| EXPECTED);
        let shard = Shard { number: parse(number)?, count: parse(count)? };
        if (1..=shard.count).contains(&shard.number) { Ok(shard) } else { Err(EXPECTED) }
    }
}

const EXPECTED: &str = "expected a number and a count, such as `3/16`, with the number from 1 to the count";

/// The place of a partial run within the whole plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartOfPlan {
    /// The shard; absent if several shards, but not all, were merged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
    /// Digest of the whole plan, from [`plan_digest`].
    pub plan: String,
    /// Digests of the cases of the whole plan that the part lacks, from [`case_digest`].
    #[serde(default)]
    pub others: Vec<String>,
}

/// Digest of a case of a plan: 16 hexadecimal digits. It excludes programs, machines and the content of data, so that it is
/// the same on every computer, also on one without the data. Whoever unites cases by it compares their contents by
/// [`crate::Fingerprint`].
pub fn case_digest(case: &Case) -> String {
    hash_json(case)
}

/// Digest of the cases of a plan, independent of their order: 16 hexadecimal digits of a hash of all their digests. Equal
/// plans may be of different data and plugins.
pub fn plan_digest<'a>(cases: impl IntoIterator<Item = &'a Case>) -> String {
    let mut digests: Vec<String> = cases.into_iter().map(case_digest).collect();
    digests.sort_unstable();
    hash_json(&digests)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shard_is_written_as_it_is_read() {
        let shard = Shard { number: 3, count: 16 };
        assert_eq!("3/16".parse(), Ok(shard));
        assert_eq!(shard.to_string(), "3/16");
        for text in ["", "3", "0/4", "5/4", "1/0", "-1/4", "a/4", "1/2/3", "1/"] {
            assert_eq!(text.parse::<Shard>(), Err(EXPECTED), "{text}");
        }
    }
}
