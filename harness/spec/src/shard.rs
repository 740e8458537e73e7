//! Shards: parts of a plan of about equal size.

use std::collections::BTreeMap;

use gpbench_record::{Labels, PartOfPlan, Shard, case_digest, plan_digest};
use sha2::{Digest as _, Sha256};

use crate::SpecPlan;

impl SpecPlan {
    /// The cases of one shard, in their order, and what the shard knows of the whole plan. Blocks ([`Labels::block`]) are
    /// assigned to the shards in turn, in the order of a hash of their names: numbers of blocks differ between shards by at most
    /// one.
    pub fn part(&self, shard: Shard) -> (SpecPlan, PartOfPlan) {
        let labels: Vec<Labels> = self.cases.iter().map(|planned| planned.case.labels()).collect();
        let mut blocks: Vec<_> = labels.iter().map(Labels::block).collect();
        blocks.sort_unstable();
        blocks.dedup();
        blocks.sort_by_cached_key(|block| <[u8; 32]>::from(Sha256::digest(format!("{block:?}"))));
        let numbers: BTreeMap<_, _> = blocks.into_iter().zip((1..=shard.count).cycle()).collect();
        let is_own = |labels: &Labels| numbers[&labels.block()] == shard.number;
        let (own, others): (Vec<_>, Vec<_>) =
            self.cases.iter().zip(&labels).partition(|(_, labels)| is_own(labels));
        let part =
            SpecPlan { cases: own.into_iter().map(|(planned, _)| planned.clone()).collect(), ..self.clone() };
        let plan = plan_digest(self.cases.iter().map(|planned| &planned.case));
        let others = others.into_iter().map(|(planned, _)| case_digest(&planned.case)).collect();
        (part, PartOfPlan { shard: Some(shard), plan, others })
    }
}
